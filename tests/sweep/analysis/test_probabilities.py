"""Probabilities of events: walls that buckle or do not, against a count of its own; rows without a value count as without the event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import beta

from tribosweep import sweep
from tribosweep.kernels.models import BUCKLING_WALL, MODELS
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.analyses.sensitivity.analysis import analyse
from tribosweep.sweep.analyses.sensitivity.request import SensitivityRequest
from tribosweep.sweep.analyses.sensitivity.result import UNCERTAINTY
from tribosweep.sweep.analysis.group_map import CHANCE, FREQUENCIES, Statistic, read_groups
from tribosweep.sweep.analysis.group_numbers import Groups, probabilities_of
from tribosweep.sweep.analysis.group_statistics import group_statistics
from tribosweep.sweep.cli import main
from tribosweep.sweep.study.event import Comparison, read_events

CONFIG = Path(__file__).parents[3] / "configs" / "chance_of_buckling.toml"


@pytest.fixture(scope="module")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of 1,024 walls."""
    directory = tmp_path_factory.mktemp("chances") / "run"
    sweep.run(str(CONFIG), directory)
    return directory


def truth(draws: int = 4_000_000) -> float:
    """The probability that m v0^2 k_n >= f_crit^2 with v0 > 0, from draws of this test's own."""
    rng = np.random.default_rng(1)
    spread = np.log(1.0 + 0.2**2)
    k_n = np.exp(rng.normal(-0.5 * spread, np.sqrt(spread), draws))
    return float(np.mean(rng.normal(1.15, 0.25, draws) * np.sqrt(k_n) >= rng.uniform(0.7, 1.3, draws)))


@pytest.mark.slow
def test_the_chance_of_buckling_is_that_of_an_independent_count(walls: Path) -> None:
    texts = ("buckled=1", "buckling_time>0", "buckling_time>=0.8", "buckling_time<0.8", "wall_regime=elastic", "peak_force<1e9")
    config = load(str(CONFIG))
    request = SensitivityRequest(observables=("max_compression",), chances=texts)
    found = analyse(walls, config, request)
    chances = {f"{line.observable} {line.estimate.measure}": line for line in found.lines[UNCERTAINTY] if "P(" in line.estimate.measure}
    rows = pq.ParquetDataset(walls / "points").read().to_pandas()
    buckles = rows["v0"] ** 2 * rows["k_n"] >= rows["f_crit"] ** 2
    assert len(rows) == 1024
    assert (buckles == (rows["buckled"] == 1)).all()
    for name in ("buckled P(= 1)", "buckling_time P(> 0)"):
        line = chances[name]
        assert line.groups == 1024
        assert line.estimate.value == np.count_nonzero(buckles) / 1024
        assert line.estimate.low < truth() < line.estimate.high
    later, sooner = chances["buckling_time P(>= 0.8)"].estimate.value, chances["buckling_time P(< 0.8)"].estimate.value
    assert later + sooner == pytest.approx(chances["buckled P(= 1)"].estimate.value, abs=1e-15)  # neither happens where nothing buckles
    assert chances["wall_regime P(= elastic)"].estimate.value == pytest.approx(1.0 - np.mean(buckles), abs=1e-15)
    assert chances["peak_force P(< 1e+09)"].estimate.value == 1.0
    assert found.without["buckling_time > 0"] == 1024 - np.count_nonzero(buckles)


@pytest.mark.slow
def test_an_observable_that_never_has_a_value_has_the_chance_zero(tmp_path: Path) -> None:
    document: dict[str, Any] = {
        "study": {"model": "buckling_wall", "name": "calm"}, "parameters": {"k_post": 1.0, "f_post": 0.3}, "time": {"end": 1.0},
        "sweep": {"design": "sobol", "count": 64, "axes": {"v0": {"from": 0.1, "to": 0.5}}},
    }  # fmt: skip
    config = load(document)
    sweep.run(config, tmp_path / "run")
    found = analyse(tmp_path / "run", config, SensitivityRequest(chances=("buckling_time > 0",)))
    (line,) = [line for line in found.lines[UNCERTAINTY] if line.observable == "buckling_time"]
    assert (line.estimate.value, line.estimate.low, line.groups) == (0.0, 0.0, 64)
    assert 0.0 < line.estimate.high < 0.06


@pytest.mark.slow
def test_the_command_says_in_the_table_what_counts(walls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["sensitivity", str(walls), "--exceeds", "buckling_time=0", "--exceeds", "wall_regime=elastic", "--chance", "buckled=1"]) == 0
    )
    said = capsys.readouterr().out
    assert "such a row counts as one without the event" in said
    rows = [line.split() for line in said.splitlines()]
    shown = {" ".join(row[:3]): row[3] for row in rows if len(row) > 3 and row[1] in (">", "=")}
    assert shown["buckling_time > 0"] == shown["buckled = 1"] != "1"
    assert shown.keys() >= {"wall_regime = elastic"}


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Walls on a grid of speeds and stiffnesses, each with five forces at which it may buckle."""
    directory = tmp_path_factory.mktemp("chances") / "grid"
    axes = {"v0": [0.5, 0.9, 1.1, 1.6], "k_n": [0.8, 1.0, 1.2], "f_crit": [0.7, 0.85, 1.0, 1.15, 1.3]}
    known = {"k_post": 1.0, "f_post": 0.3}
    sweep.run({"study": {"model": "buckling_wall"}, "parameters": known, "time": {"end": 4.0}, "sweep": {"axes": axes}}, directory)
    return directory


def expected(v0: float, k_n: float) -> float:
    """The part of the five walls that buckle."""
    return float(np.mean([v0 * np.sqrt(k_n) >= force for force in (0.7, 0.85, 1.0, 1.15, 1.3)]))


@pytest.mark.slow
def test_chances_over_a_parameter_are_counts(grid: Path) -> None:
    table = group_statistics(grid, "f_crit", chances=["buckled=1", "buckling_time>0.6", "wall_regime=no contact"]).to_pylist()
    assert len(table) == 3 * 12
    for row in table:
        if row["observable"] == "buckled = 1":
            assert row["mean"] == expected(row["v0"], row["k_n"])
            assert row["lower"] <= row["mean"] <= row["upper"]
            assert (row["rows"], row["void"]) == (5, 0)
        elif row["observable"] == "buckling_time > 0.6":
            assert row["rows"] == 5
            assert row["void"] == round(5 * (1.0 - expected(row["v0"], row["k_n"])))
        else:
            assert row["mean"] == 0.0
    plain = group_statistics(grid, "f_crit", ["buckling_time"]).to_pylist()
    assert all(row["rows"] + row["void"] == 5 for row in plain)


@pytest.mark.slow
def test_a_map_of_chances_has_their_values(grid: Path) -> None:
    drawn = read_groups(grid, Statistic(CHANCE, "buckled=1"), ["f_crit"])
    assert drawn.gridded
    assert drawn.shades is not None
    for i, k_n in enumerate(drawn.y_values):
        for j, v0 in enumerate(drawn.x_values):
            chance = expected(v0, k_n)
            assert drawn.shades[i, j] == chance
            assert FREQUENCIES[drawn.regimes[i, j]] == ("never" if chance == 0.0 else "always" if chance == 1.0 else "sometimes")


@pytest.mark.slow
def test_a_map_of_chances_is_drawn_and_bad_events_are_refused(grid: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "map.png"
    assert main(["map", str(grid), "--chance", "buckled=1", "--over", "f_crit", "--out", str(picture)]) == 0
    assert picture.stat().st_size > 10_000
    for arguments, said in (
        (["--chance", "bucled=1", "--over", "f_crit"], "did you mean 'buckled'"),
        (["--chance", "buckled=1", "--over", "f_crt"], "did you mean 'f_crit'"),
        (["--mean", "--std", "--over", "f_crit"], "one statistic"),
        (["--chance", "buckled=1", "--color", "peak_force"], "needs no --color"),
    ):
        assert main(["map", str(grid), *arguments]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.slow
def test_the_boundary_of_buckling_is_that_of_the_energy(tmp_path: Path) -> None:
    document = {
        "study": {"model": "buckling_wall"}, "parameters": {"k_post": 1.0, "f_post": 0.3}, "time": {"end": 4.0},
        "sweep": {"design": "boundary", "observable": "buckled", "width": 1e-6, "halvings": 2,
                  "axes": {"v0": {"from": 0.5, "to": 1.5, "count": 9}, "f_crit": {"from": 0.7, "to": 1.3, "count": 9}}},
    }  # fmt: skip
    found = sweep.run(document, tmp_path / "run").boundaries().to_pydict()
    assert len(found["v0"]) > 10
    np.testing.assert_allclose(found["v0"], found["f_crit"], rtol=2e-6)


@pytest.mark.parametrize(
    "text", ["impacts", "buckled=one", "buckled=nan", "wall_regime=softend", "wall_regime>elastic", "poincare=1", "=1"]
)
def test_an_event_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--chance"):
        read_events("--chance", [text], BUCKLING_WALL)


def test_a_value_that_could_not_be_computed_is_neither_with_the_event_nor_without_it() -> None:
    happened, missing = np.array([1, 1, 0, 0, 0, 1, 0], dtype=bool), np.array([0, 0, 0, 0, 1, 0, 1], dtype=bool)
    groups = Groups(np.array([0, 0, 0, 0, 0, 1, 2]), 3, np.ones(7, dtype=bool))
    found = probabilities_of(happened, groups, 0.9, missing)
    assert found.value[:2].tolist() == [0.5, 1.0]
    assert np.isnan(found.value[2])
    # of five rows two or three have the event; of the only row of the last group nothing is known
    for group, low, high in ((0, (2, 3), (3, 2)), (1, (1, 0), (1, 0))):
        assert found.lower[group] == pytest.approx(beta.ppf(0.05, low[0], low[1] + 1), rel=1e-12)
        assert found.upper[group] == pytest.approx(beta.ppf(0.95, high[0] + 1, high[1]) if high[1] else 1.0, rel=1e-12)
    assert (found.lower[2], found.upper[2]) == (0.0, 1.0)


def test_every_observable_that_may_be_missing_says_which_kind_of_missing_it_is() -> None:
    kinds: dict[str, set[bool]] = {}
    for quantity in (q for model in MODELS.values() for q in model.observables if q.optional):
        kinds.setdefault(quantity.name.removeprefix("left_").removeprefix("right_"), set()).add(quantity.unknown)
    laws = {"wear_volume", "wear_depth", "wear_volume_edf_mz", "wear_depth_edf_mz"}
    steady = {"multiplier_1", "multiplier_2", "multiplier_angle_1", "multiplier_angle_2", "stability", "period", "shakedown"}
    events = {
        "first_contact_time",
        "first_contact_velocity",
        "rebound_velocity",
        "separation_time",
        "exit_time",
        "return_time",
        "buckling_time",
    }
    assert kinds == {name: {True} for name in laws | steady} | {name: {False} for name in events}
    for model in MODELS.values():
        for quantity in model.observables:
            event, values = Comparison(quantity.name, ">", 1.0), np.array([np.nan, 2.0])
            assert event.outcome(quantity, values).unknown.tolist() == [quantity.unknown, False]
