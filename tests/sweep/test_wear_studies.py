"""Studies of wear over a service time, of block means and of statistics: keys, columns, messages, and the study of configs/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as ds
import pytest

from tribosweep.kernels.models.outputs import Asked
from tribosweep.sweep import load, run
from tribosweep.sweep.analysis.regime_map import read_map
from tribosweep.sweep.analysis.run_notes import notes_on
from tribosweep.sweep.io.errors import ConfigError

CONFIGS = Path(__file__).parents[2] / "configs"
SERVICE = {"service_time": "1 year", "archard_k": 2e-14, "contact_area": "1 cm^2"}
YEAR = 365.25 * 86400.0
WORN = ["wear_volume", "wear_depth", "wear_volume_edf_mz", "wear_depth_edf_mz"]


def study(parameters: dict[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    """A small study of the rubbing mass."""
    axes = {"design": "grid", "axes": {"a0": [15.0, 1.5, 1.01, 0.99]}}
    return {"parameters": parameters or {}, "time": {"window": [4.0, 12.0]}, "sweep": axes, **sections}


def test_a_study_has_columns_of_what_it_gives_and_asks_for_and_no_others() -> None:
    names = lambda raw: [quantity.name for quantity in load(raw).returns]  # noqa: E731
    plain = names(study())
    assert names(study(SERVICE)) == [*plain[:10], *WORN, *plain[10:]]
    assert names(study({"service_time": 1e7}))[10:11] == ["wear_volume_edf_mz"]
    asked = study(time={"window": [4.0, 12.0], "blocks": 8}, output={"statistics": True})
    assert {*names(asked)} - {*plain} >= {"wear_power_blocks", "wear_power_scatter", "wear_power_error", "x_rms", "friction_force_max"}
    assert load(asked).asked == Asked(8, statistics=True)
    swept = study({"service_time": 1e7}, sweep={"design": "grid", "axes": {"archard_k": [1e-14, 2e-14]}})
    assert "wear_volume" in names(swept)
    assert "wear_depth" not in names(swept)


def test_a_study_that_asks_for_nothing_is_the_same_study_as_ever() -> None:
    plain = load(study())
    assert load(study(output={"statistics": False})).digest == plain.digest
    assert load(study(output={"statistics": True})).digest != plain.digest
    assert load(study(time={"window": [4.0, 12.0], "blocks": 8})).digest != load(study(time={"window": [4.0, 12.0], "blocks": 4})).digest
    again = load(load(study(SERVICE, time={"window": [4.0, 12.0], "blocks": 8}, output={"statistics": True})).document)
    assert again.asked == Asked(8, statistics=True)


def test_a_law_without_a_service_time_is_said_to_be_ignored() -> None:
    assert load(study({"archard_k": 1e-14, "edf_b": 1.1})).ignored == ["parameters.archard_k", "parameters.edf_b"]
    assert load(study({"service_time": 1e7, "edf_b": 1.1})).ignored == []
    assert load(study(SERVICE)).ignored == []


@pytest.mark.parametrize(
    ("raw", "path", "words"),
    [
        (study(time={"blocks": 1}), "time.blocks", "1 is out of bounds: must be a whole number from 2 to 64"),
        (study(time={"blocks": 100}), "time.blocks", "100 is out of bounds"),
        (study(time={"blocks": 2.5}), "time.blocks", "must be a whole number"),
        (study(time={"window": "steady", "blocks": 8}), "time.blocks", "needs a window [start, end]"),
        (study(time={"window": "steady"}, output={"statistics": True}), "output.statistics", "needs a window [start, end]"),
        (study(output={"multipliers": True}), "output.multipliers", "it needs the window 'steady'"),
        (study(output={"statistics": "yes"}), "output.statistics", "must be true or false"),
        (study({"blocks": 8}), "parameters.blocks", "belongs in [time], as time.blocks"),
        (study({"statistics": True}), "parameters.statistics", "belongs in [output], as output.statistics"),
        (study({"service_time": -1.0}), "parameters.service_time", "must be >= 0 (time in service"),
        (study({"contact_area": 0.0}), "parameters.contact_area", "unit m^2"),
        (study({"archard_k": "3 m"}), "parameters.archard_k", "1/Pa"),
        (study({"archard": 1e-14}), "parameters.archard", "archard_k"),
        (
            {
                "sweep": {
                    "design": "boundary",
                    "observable": "wear_depth",
                    "level": 1e-3,
                    "axes": {"a0": {"from": 1.0, "to": 9.0, "count": 3}, "mu": {"from": 0.1, "to": 0.5, "count": 3}},
                }
            },
            "sweep.observable",
            "parameters.service_time and parameters.archard_k and parameters.contact_area",
        ),
    ],
)
def test_what_cannot_be_is_said_with_its_key(raw: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(raw)
    found = [f"{problem.path}: {problem.message}" for problem in error.value.problems]
    assert any(line.startswith(f"{path}: ") and words in line for line in found), found


def test_volumes_are_columns_with_units_and_empty_where_a_row_has_no_service(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("a0,service_time\n15.0,31557600\n1.5,\n1.01,31557600\n0.99,31557600\n", encoding="utf-8")
    raw = study({"archard_k": 2e-14, "contact_area": 1e-4}, sweep={"design": "table", "file": str(tmp_path / "points.csv")})
    found = run(raw, tmp_path / "run")
    frame = found.to_pandas()
    assert (frame["status"] == "ok").all()
    power = frame["wear_power"].to_numpy()
    assert frame["wear_volume"].to_numpy()[[0, 2, 3]] == pytest.approx(2e-14 * YEAR * power[[0, 2, 3]], rel=1e-15, abs=0.0)
    assert frame["wear_depth"].to_numpy()[0] == pytest.approx(1e4 * frame["wear_volume"][0], rel=1e-15)
    assert np.isnan(frame["wear_volume"][1])
    assert np.isnan(frame["wear_volume_edf_mz"].to_numpy()).tolist() == [False, True, True, False]  # no service; 0.2 mW is too little
    schema = ds.dataset(tmp_path / "run" / "points").schema
    assert schema.field("wear_volume_edf_mz").metadata[b"unit"] == b"m^3"


def test_depths_that_no_contact_survives_have_a_note(tmp_path: Path) -> None:
    rows = run(study({"service_time": "1 year", "archard_k": 1e-9, "contact_area": 1e-6}), tmp_path / "deep").to_pandas()
    deep = int((rows["wear_depth"] > 0.01).sum())
    assert 0 < deep < 4
    assert f"{deep} of 4 rows have a wear_depth above 10 mm, which is implausible in service" in notes_on(tmp_path / "deep")[0]
    run(study({**SERVICE, "service_time": "1 hour"}), tmp_path / "plausible")
    assert notes_on(tmp_path / "plausible") == []


@pytest.mark.slow
def test_the_study_of_service_life_runs_and_is_drawn(tmp_path: Path) -> None:
    raw = load(CONFIGS / "service_life.toml").document
    raw["sweep"]["axes"] = {"a0": {"from": 0.5, "to": 20.0, "count": 6, "spacing": "log"}, "mu": {"from": 0.05, "to": 0.8, "count": 5}}
    frame = run(raw, tmp_path / "run").to_pandas()
    assert (frame["status"] == "ok").all()
    blocks = np.stack(frame["wear_power_blocks"].to_numpy())
    assert blocks.shape == (30, 8)
    np.testing.assert_allclose(blocks.mean(axis=1), frame["wear_power"], rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(frame["x_rms"] ** 2, frame["x_mean"] ** 2 + frame["x_std"] ** 2, rtol=1e-12)
    assert (frame["friction_force_max"] <= 2.0 * frame["mu"] * (1.0 + 1e-12)).all()
    drawn = read_map(tmp_path / "run", color="wear_depth")
    assert drawn.shade is not None
    assert drawn.shade.unit == "m"
    grid = {"a0": [15.0, 1.5], "mu": [0.1, 0.2]}
    plain = run(study(sweep={"design": "grid", "axes": grid}), tmp_path / "plain")
    with pytest.raises(ConfigError, match=r"parameters\.service_time and parameters\.archard_k"):
        read_map(plain.directory, x="a0", y="mu", color="wear_volume")
