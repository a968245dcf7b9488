"""Studies of structures, from TOML to Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tribosweep import kernels
from tribosweep.sweep import Run, load, resume, run
from tribosweep.sweep.analysis.run_state import model_of
from tribosweep.sweep.cli import main
from tribosweep.sweep.excitation.correlated import Correlated

pytestmark = pytest.mark.slow  # all need programs that take seconds to compile

CONFIGS = Path(__file__).parents[2] / "configs"
STUDY = """
[study]
model = "structure"
scheme = "euler"
[structure]
basis = "row.json"
observed = ["middle"]
[supports.wall]
point = "left"
normal = [-1.0, 0.0, 0.0]
gap = 1e-3
[supports.pair]
point = "left"
other = "middle"
[loads.left]
point = "left"
channel = 0
[loads.middle]
point = "middle"
channel = 1
[excitation.random]
band = [2.0, 20.0]
rms = 300.0
duration = 0.5
interval = 2e-3
correlation = { length = 1.0, positions = [0.0, 0.5] }
[parameters]
k_n = 1e6
c_n = 200.0
gap = 5e-4
[time]
end = 0.5
step = 2e-4
window = [0.1, 0.5]
[sweep.axes]
"k_n[pair]" = [1e5, 1e6]
draw = [3, 8, 11]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the study and its basis."""
    where = tmp_path_factory.mktemp("row")
    (where / "row.json").write_text((CONFIGS / "bases" / "row_of_three.json").read_text())
    (where / "study.toml").write_text(STUDY)
    return where


@pytest.fixture(scope="module")
def done(folder: Path) -> Run:
    """The study, computed once."""
    return run(folder / "study.toml", folder / "run")


def test_rows_are_those_of_single_runs_under_the_same_draws(done: Run, folder: Path) -> None:
    frame = done.to_pandas()
    assert (frame["status"] == "ok").all()
    config = load(folder / "study.toml")
    assert isinstance(config.excitation, Correlated)
    draws = config.excitation.records(12)
    for _, row in frame.iterrows():
        given = dict(config.fixed) | {"k_n[pair]": row["k_n[pair]"], "record": row["draw"]}
        alone = kernels.simulate(config.model.structure.model, given, scheme="euler", records=draws)
        for name in ("impulse[wall]", "normal_force_peak[pair]", "x_end[middle]", "impacts[pair]"):
            assert row[name] == pytest.approx(float(alone[name]), rel=1e-9), name


def test_columns_say_unit_and_support(done: Run) -> None:
    schema = pq.read_schema(next((done.directory / "points").glob("*.parquet")))
    field = schema.field("wear_power[pair]")
    assert field.metadata[b"unit"] == b"W"
    assert field.metadata[b"description"].endswith(b"; at pair")


def test_lists_over_supports_keep_entries_that_are_missing(folder: Path) -> None:
    lists = run(
        folder / "study.toml", folder / "lists", overrides=["output.support_lists=true", "parameters.gap=1.0", "sweep.axes.draw=[3]"]
    )
    frame = lists.to_pandas()
    assert [len(cell) for cell in frame["impact_duration"]] == [2, 2]
    assert np.isnan([cell[1] for cell in frame["impact_duration"]]).all()  # the pair never meets
    assert (np.array([cell[0] for cell in frame["impulse"]]) > 0.0).all()
    assert frame["contact_regime[pair]"].tolist() == ["no contact"] * 2


def test_a_run_is_shown_without_its_basis_and_resumed_only_with_it(done: Run, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = model_of(done.directory)
    (folder / "row.json").rename(folder / "gone.json")
    try:
        stored = model_of(done.directory)
        assert {q.name: q.unit for q in stored.observables} == {q.name: q.unit for q in before.returns(None)}
        assert main(["show", str(done.directory)]) == 0
        assert "wear_power[wall]" in capsys.readouterr().out
        assert main(["resume", str(done.directory)]) == 2
        assert "row.json: No such file" in capsys.readouterr().err
    finally:
        (folder / "gone.json").rename(folder / "row.json")
    assert resume(done.directory).to_pandas().equals(done.to_pandas())


def test_list_tells_of_bodies_and_structures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"body", "structure"} <= {row["model"] for row in listed["models"]}
    assert "gap[SUPPORT]" in {row["parameter"] for row in listed["parameters"]}
    assert "wear_power[SUPPORT]" in {row["observable"] for row in listed["observables"]}
    assert "supports.NAME.obstacle" in {row["key"] for row in listed["structures"]}
