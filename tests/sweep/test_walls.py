"""Studies of models with a wall: tables, words and whole numbers from file to dataset, and results that are missing for a reason."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.models import BUCKLING_WALL
from tribosweep.kernels.models.status import Status
from tribosweep.sweep import ConfigError, load, run
from tribosweep.sweep.analysis.map_areas import FAILED, VOID
from tribosweep.sweep.analysis.regime_map import read_map
from tribosweep.sweep.cli import main

Captured = pytest.CaptureFixture[str]
TABLES = {"post_set": [2, 3, 4, 5], "post_stiffness": [0.2, 0.15, 0.125, 0.1]}
WALL: dict[str, Any] = {
    "study": {"name": "wall", "model": "buckling_wall"},
    "parameters": {**TABLES, "plateau": 1, "softening": 1, "damping_criterion": "excluded", "k_n": 1.0},
    "sweep": {"axes": {"v0": {"from": 1, "to": 2, "count": 3}, "c_n": [0, 1]}},
}
STOP: dict[str, Any] = {"study": {"name": "stop", "model": "stop"}, "sweep": {"axes": {"sides": [1, "default", 2], "gap": [0.0, 0.1]}}}
LISTED: dict[str, Any] = {
    **WALL,
    "parameters": {},
    "sweep": {
        "design": "zip",
        "axes": {
            "post_set": [[2, 3], "default", [2, 3, 4]],
            "post_stiffness": [[0.2, 0.15], [], [0.2, 0.15, 0.125]],
            "k_post": ["default", 0.5, "default"],
            "damping_criterion": ["excluded", "default", "included"],
        },
    },
}
NAN = np.nan


@pytest.mark.parametrize("study", [WALL, STOP, LISTED], ids=["wall", "stop", "listed"])
def test_the_resolved_study_reads_back_as_itself(study: dict[str, Any], tmp_path: Path) -> None:
    config = load(study)
    (tmp_path / "config.toml").write_text(config.to_toml())
    again = load(tmp_path / "config.toml")
    assert (again.document, again.digest, again.to_toml()) == (config.document, config.digest, config.to_toml())


def test_a_study_says_words_tables_and_whole_numbers_as_they_were_given() -> None:
    parameters = load(WALL).document["parameters"]
    assert parameters["post_set"] == [2.0, 3.0, 4.0, 5.0]
    assert parameters["damping_criterion"] == "excluded"
    assert load({**STOP, "sweep": None, "parameters": {"sides": 2.0}} | {"sweep": {"axes": {"gap": [0.0]}}}).document["parameters"] == {
        "sides": 2
    }
    axes = load(LISTED).document["sweep"]["axes"]
    assert axes["post_set"] == [[2.0, 3.0], "default", [2.0, 3.0, 4.0]]
    assert axes["post_stiffness"] == [[0.2, 0.15], [], [0.2, 0.15, 0.125]]
    assert axes["damping_criterion"] == ["excluded", "default", "included"]
    assert repr(load(STOP).document["sweep"]["axes"]["sides"]) == "[1, 'default', 2]"
    defaults = load({"study": {"model": "buckling_wall"}, "parameters": {"k_post": 0.5}}).to_toml()
    assert "# default: post_set = []\n" in defaults.replace(" m\n", "\n")
    assert '# default: damping_criterion = "included"\n' in defaults
    assert "# default: sides = 1\n" in load(STOP | {"sweep": {"axes": {"gap": [0.0]}}}).to_toml()


def test_the_digest_knows_tables_and_words_apart() -> None:
    digests = {
        load(WALL, settings).digest
        for settings in (
            [],
            ["parameters.damping_criterion=included"],
            ["parameters.post_set=[2, 3, 4, 5.5]"],
            ["parameters.post_set=[2, 3, 4]", "parameters.post_stiffness=[0.2, 0.15, 0.125]"],
        )
    }
    assert len(digests) == 4
    arrays = {**WALL, "parameters": {**WALL["parameters"], "post_set": np.arange(2, 6), "post_stiffness": tuple(TABLES["post_stiffness"])}}
    assert load(arrays).digest == load(WALL).digest == load(WALL, ["parameters.post_set=[2.0, 3.0, 4.0, 5.0]"]).digest


def test_tables_and_words_are_axes() -> None:
    points = load(LISTED).design.points(0, 3)
    np.testing.assert_array_equal(points.columns["post_set"], [[2, 3, NAN], [NAN] * 3, [2, 3, 4]])
    assert points.absent["post_set"].tolist() == [False, True, False]
    np.testing.assert_array_equal(points.columns["post_stiffness"], [[0.2, 0.15, NAN], [NAN] * 3, [0.2, 0.15, 0.125]])
    assert "post_stiffness" not in points.absent
    np.testing.assert_array_equal(points.columns["damping_criterion"], [1, NAN, 0])
    grid = load({**STOP, "sweep": {"axes": {"sides": {"from": 1, "to": 2, "count": 2}, "gap": [0.0, 0.1, 0.2]}}}).design.points(2, 4)
    assert grid.columns["sides"].tolist() == [1.0, 2.0]


def test_csv_and_parquet_tables_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(
        "post_set,post_stiffness,post_damping,k_post,damping_criterion,c_n\n"
        '2;3, 0.2 ; 0.15 ,,,excluded,1\n,,,0.5,,2\n"2;3;4",0.2;0.15;0.125,1;2;3,default, included ,3\ndefault,default,,1,default,\n'
    )
    table = {
        "post_set": pa.array([[2, 3], None, [2, 3, 4], None]),
        "post_stiffness": pa.array([[0.2, 0.15], None, [0.2, 0.15, 0.125], None], pa.large_list(pa.float32())),
        "post_damping": pa.array([None, None, [1.0, 2.0, 3.0], None]),
        "k_post": pa.array([None, 0.5, None, 1.0]),
        "damping_criterion": pa.array(["excluded", None, "included", None]).dictionary_encode(),
        "c_n": pa.array([1, 2, 3, None]),
    }
    pq.write_table(pa.table(table), tmp_path / "points.parquet")
    read = [
        load({"study": {"model": "buckling_wall"}, "sweep": {"design": "table", "file": str(tmp_path / name)}}).design.points(0, 4)
        for name in ("points.csv", "points.parquet")
    ]
    for points in read:
        np.testing.assert_allclose(points.columns["post_set"], [[2, 3, NAN], [NAN] * 3, [2, 3, 4], [NAN] * 3])
        np.testing.assert_allclose(points.columns["post_stiffness"][2], [0.2, 0.15, 0.125], rtol=1e-7)
        np.testing.assert_array_equal(points.columns["damping_criterion"], [1, NAN, 0, NAN])
        assert points.absent["post_damping"].tolist() == [True, True, False, True]
    assert read[0].absent.keys() == read[1].absent.keys()


def test_kernels_get_padded_arrays_and_codes(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def solve(model: Any, scheme: str, columns: dict[str, Any], *rest: Any, **asked: Any) -> Any:
        given.update(columns)
        return fake.solve(model, scheme, columns, *rest, **asked)

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", solve)
    run(WALL, tmp_path / "a")
    np.testing.assert_array_equal(given["post_set"], [2, 3, 4, 5])
    assert (given["damping_criterion"], given["c_n"].shape) == (1.0, (6,))
    run(LISTED, tmp_path / "b")
    assert given["post_set"].shape == given["post_stiffness"].shape == (3, 3)
    assert fake.calls == [6, 3]


def test_omitted_tables_are_resolved_beside_given_ones() -> None:
    points = load(LISTED).design.points(0, 3)
    resolved = BUCKLING_WALL.resolve({**points.columns, "c_buckled": np.array([7.0, 8.0, 9.0])}, points.absent)
    np.testing.assert_array_equal(resolved["post_set"], [[2, 3, NAN], [NAN] * 3, [2, 3, 4]])
    np.testing.assert_array_equal(resolved["post_damping"], [[7, 7, NAN], [NAN] * 3, [9, 9, 9]])
    np.testing.assert_array_equal(resolved["k_post"], [NAN, 0.5, NAN])
    mixed = BUCKLING_WALL.resolve({"post_damping": np.array([[NAN], [1.0]]), **TABLES}, {"post_damping": np.array([True, False])})
    np.testing.assert_array_equal(mixed["post_damping"], [[0, 0, 0, 0], [1, NAN, NAN, NAN]])


def test_the_dataset_holds_lists_words_and_whole_numbers(fake: FakeKernels, tmp_path: Path) -> None:
    listed, fixed, stop = (run(study, tmp_path / name) for study, name in ((LISTED, "a"), (WALL, "b"), (STOP, "c")))
    table = listed.to_arrow()
    kinds = {name: str(table.schema.field(name).type) for name in ("post_set", "k_post", "damping_criterion", "impacts", "regime")}
    words = "dictionary<values=string, indices=int32, ordered=0>"
    assert kinds == {
        "post_set": "list<element: double>",
        "k_post": "double",
        "damping_criterion": words,
        "impacts": "int64",
        "regime": words,
    }
    assert table.column("post_set").to_pylist() == [[2.0, 3.0], None, [2.0, 3.0, 4.0]]
    assert table.column("post_stiffness").to_pylist() == [[0.2, 0.15], [], [0.2, 0.15, 0.125]]
    assert table.column("damping_criterion").to_pylist() == ["excluded", None, "included"]
    metadata = table.schema.field("post_set").metadata
    assert (metadata[b"unit"], metadata[b"description"]) == (b"m", b"plastic set at the nodes of the table")
    assert fixed.to_arrow().column("post_set").to_pylist() == [[2.0, 3.0, 4.0, 5.0]] * 6
    assert fixed.to_arrow().column("damping_criterion").to_pylist() == ["excluded"] * 6
    assert str(stop.to_arrow().schema.field("sides").type) == "int64"
    assert stop.to_arrow().column("sides").to_pylist() == [1, 1, None, None, 2, 2]

    points = listed.directory / "points"
    frame = pd.read_parquet(points)
    pd.testing.assert_frame_equal(frame, listed.to_pandas())
    assert frame["post_set"][2].tolist() == [2.0, 3.0, 4.0]
    rows = duckdb.sql(
        f"select post_set, len(post_stiffness), damping_criterion, post_set[2] from '{points}/*.parquet' order by point"
    ).fetchall()
    assert rows == [([2.0, 3.0], 2, "excluded", 3.0), (None, 0, None, None), ([2.0, 3.0, 4.0], 3, "included", 3.0)]
    assert fake.calls == [3, 6, 6]


def test_a_table_whose_rows_have_no_whole_number_gives_them_a_status(fake: FakeKernels, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("sides,a0\n2,1\nnan,nan\n,1\n")
    table = run({**STOP, "sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}, tmp_path / "a").to_arrow()
    assert table.column("sides").to_pylist() == [2, None, None]
    assert fake.calls == [3]


@pytest.fixture
def shocked(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> FakeKernels:
    """Kernels in which row 0 never rebounds, row 1 goes beyond its table, row 2 fails, and nothing rubs."""

    def solve(*arguments: Any, **asked: Any) -> Any:
        solution = fake.solve(*arguments, **asked)
        status = solution.status.copy()
        status[1:3] = (Status.BEYOND_TABLE, Status.TOO_MANY_EVENTS)[: len(status) - 1]
        failed = status == Status.TOO_MANY_EVENTS
        found = {name: np.where(failed, NAN, values) for name, values in solution.observables.items() if values.dtype != np.int8}
        found["rebound_velocity"][0] = NAN
        found["peak_force"] += np.arange(len(status))
        found["time_reached"] = np.where(failed, 0.5, 12.0)
        return replace(
            solution, observables={**found, **dict.fromkeys(("regime", "wall_regime"), np.full(len(status), -1, np.int8))}, status=status
        )

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", solve)
    return fake


def test_what_did_not_happen_is_empty_and_no_failure(shocked: FakeKernels, tmp_path: Path) -> None:
    finished = run(WALL, tmp_path / "a")
    rows = finished.to_arrow().to_pydict()
    assert [value is None for value in rows["rebound_velocity"]] == [True, False, True, False, False, False]
    assert rows["regime"] == [None] * 6
    assert rows["impacts"][2] is None
    assert rows["impacts"][1] is not None
    assert rows["time_reached"] == [12.0, 12.0, 0.5, 12.0, 12.0, 12.0]
    beyond = Status.BEYOND_TABLE.sentence
    assert rows["status"][:3] == ["ok", beyond, Status.TOO_MANY_EVENTS.sentence]
    assert (finished.failed, finished.remarks) == (1, {beyond: 1})
    assert shocked.calls == [6]


def test_a_remark_is_said_and_is_no_failure(shocked: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "wall.toml").write_text(load(WALL, ["sweep.axes.v0=[1.0]"]).to_toml())
    assert main(["run", str(tmp_path / "wall.toml")]) == 0  # two rows: one ok, one with a remark
    said = capsys.readouterr()
    assert "1 of 2 rows have results with a remark in their column `status`: the wall was pressed beyond" in said.err
    assert "failed" not in said.err
    assert "Note: friction of this model acts along the impact" in said.err
    assert "max_compression" in said.out
    assert "wear_power" not in said.out
    assert said.out.split("\n")[0].split()[:2] == ["point", "c_n"]
    assert main(["show", "runs/wall", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["statuses"] == {"ok": 1, Status.BEYOND_TABLE.sentence: 1}
    assert main(["show", "runs/wall"]) == 0
    said = capsys.readouterr()
    assert "beyond the last node" in " ".join(said.out.split())
    assert "its impacts cause no wear" in " ".join(said.err.split())
    assert main(["run", str(tmp_path / "wall.toml"), "--set", "sweep.axes.v0=[1.0, 2.0]", "--out", "runs/more", "--json"]) == 3
    printed = json.loads(capsys.readouterr().out)
    assert (printed["failed"], len(printed["statuses"])) == (1, 3)
    assert shocked.calls == [2, 4]


def test_a_dry_run_shows_tables_and_words(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "listed.toml").write_text(load(LISTED).to_toml())
    assert main(["run", str(tmp_path / "listed.toml"), "--dry-run"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["sweep"] == load(LISTED).document["sweep"]
    assert main(["run", str(tmp_path / "listed.toml"), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["config"]["sweep"]["axes"]["post_set"][2] == [2.0, 3.0, 4.0]
    assert main(["run", str(tmp_path / "listed.toml")]) == 0
    assert "2;3;4" in capsys.readouterr().out
    assert fake.calls == [3]


@pytest.mark.slow
def test_a_map_of_a_wall_has_no_regime_but_a_shade(shocked: FakeKernels, tmp_path: Path) -> None:
    directory = run(WALL, tmp_path / "a").directory
    drawn = read_map(directory)
    assert drawn.shade is not None
    assert (drawn.shade.name, drawn.words[-1], drawn.fixed["damping_criterion"]) == ("peak_force", "no friction", "excluded")
    last = len(drawn.words) - 1
    assert drawn.regimes.tolist() == [[last, FAILED, last], [last, last, last]]
    assert read_map(directory, color="rebound_velocity").regimes.tolist() == [[VOID, FAILED, last], [last, last, last]]
    for options in (["--color", "rebound_velocity"], ["--color", "none"]):
        assert main(["map", str(directory), *options]) == 0
    assert shocked.calls == [6]


def test_tables_and_words_are_no_axes_of_a_map(fake: FakeKernels, tmp_path: Path) -> None:
    axes = {"post_set": [[2, 3, 4, 5], [2.5, 3, 4, 5]], "damping_criterion": ["included", "excluded"], "v0": [1.0, 2.0]}
    study = {**WALL, "parameters": {"post_stiffness": TABLES["post_stiffness"]}, "sweep": {"axes": axes}}
    directory = run(study, tmp_path / "a").directory
    with pytest.raises(ConfigError, match="a map needs two parameters that vary; this run varies v0"):
        read_map(directory)
    more = run({**study, "sweep": {"axes": {**axes, "c_n": [0.0, 1.0, 2.0]}}}, tmp_path / "b").directory
    with pytest.raises(ConfigError, match=r"--at: post_set has several values too \(2.5;3;4;5, 2;3;4;5\)") as refused:
        read_map(more)
    assert "--at: damping_criterion has several values too (excluded, included)" in str(refused.value)
    drawn = read_map(more, at=["post_set=2;3;4;5", "damping_criterion=included"])
    assert (drawn.x.name, drawn.y.name, drawn.rows, drawn.fixed["post_set"]) == ("v0", "c_n", 6, [2.0, 3.0, 4.0, 5.0])
    for name, held in (("post_set", "tables"), ("damping_criterion", "words")):
        with pytest.raises(ConfigError, match=f"--y: '{name}' holds {held}; .*Known: v0, c_n"):
            read_map(more, y=name)
    assert fake.calls == [8, 24]


def test_a_point_at_which_a_thing_never_happens_is_settled(
    fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def solve(*arguments: Any, **asked: Any) -> Any:
        solution = fake.solve(*arguments, **asked)
        v0 = np.broadcast_to(arguments[2]["v0"], solution.status.shape)
        solution.observables["rebound_velocity"][:] = np.where(v0 > 1.0, NAN, -1.0)
        solution.observables["accepted_steps"][:] = np.round(1e3 / arguments[2].get("step", 1.0))  # of exact any number
        solution.status[:] = np.where(v0 > 2.0, Status.BEYOND_TABLE, Status.OK)
        return solution

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", solve)
    axes = {"v0": [1.0, 2.0, 3.0], "post_set": [TABLES["post_set"]], "damping_criterion": ["excluded"]}
    sweep = {"design": "convergence", "observable": "rebound_velocity", "halvings": 4, "axes": axes}
    parameters = {name: value for name, value in WALL["parameters"].items() if name not in axes}
    study = {"study": {"model": "buckling_wall", "scheme": "euler"}, "parameters": parameters, "sweep": sweep}
    finished = run(study, tmp_path / "a")
    table = finished.convergence().to_pydict()
    assert table["verdict"] == ["settled"] * 3
    assert table["halvings"] == [2] * 3
    assert (table["post_set"][0], table["damping_criterion"][0]) == ([2.0, 3.0, 4.0, 5.0], "excluded")
    assert table["rebound_velocity"] == [-1.0, None, None]
    assert main(["show", str(tmp_path / "a")]) == 0
    assert "settled" in capsys.readouterr().out
    assert load({**study, "sweep": {**sweep, "observable": None}}).document["sweep"]["observable"] == "peak_force"
    assert fake.calls == [3, 3, 3, 3]
