"""Tables, words and whole numbers in every design, in runs that are interrupted, extended and sent to other processes."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.models.status import Status
from tribosweep.sweep import ConfigError, Share, load, run
from tribosweep.sweep.analysis.regime_map import read_map
from tribosweep.sweep.analysis.study_rows import parameters_of, read_study
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.study import load as loading
from tribosweep.sweep.study.capabilities import EVENTS

Captured = pytest.CaptureFixture[str]
NAN = np.nan
WALL: dict[str, Any] = {"name": "wall", "model": "buckling_wall"}
SETS, STIFFNESSES = [[2, 3], [2, 3, 4], [2, 3, 4, 5]], [[0.2, 0.15], [0.2, 0.15, 0.125], [0.2, 0.15, 0.125, 0.1]]
WORDS = ["excluded", "included"]
ZIP = {"design": "zip", "axes": {"post_set": SETS[:2], "post_stiffness": STIFFNESSES[:2], "damping_criterion": WORDS}}
UNTABLED = {"k_post": {"from": 0.5, "to": 0.9, "count": 2}, "v0": [1.0, 2.0]}


def study(sweep: Any, **sections: Any) -> dict[str, Any]:
    """A study of a wall with that [sweep]."""
    return {"study": WALL, "sweep": sweep, **sections}


def lists(points: Points, name: str) -> list[list[float] | None]:
    """The tables of a parameter as lists, None for the default."""
    absent = points.absent.get(name, np.zeros(points.count, bool))
    return [None if left_out else table[~np.isnan(table)].tolist() for table, left_out in zip(points.columns[name], absent, strict=True)]


def write_table(folder: Path, kind: str) -> dict[str, Any]:
    """A design of two rows from a file."""
    if kind == "csv":
        (folder / "points.csv").write_text("post_set,post_stiffness,k_post,damping_criterion\n2;3,0.2;0.15,,excluded\n,,0.5,\n")
    else:
        columns = {
            "post_set": [[2.0, 3.0], None],
            "post_stiffness": [[0.2, 0.15], None],
            "k_post": [None, 0.5],
            "damping_criterion": ["excluded", None],
        }
        pq.write_table(pa.table(columns), folder / "points.parquet")
    return {"design": "table", "file": str(folder / f"points.{kind}")}


def parts(folder: Path) -> list[dict[str, Any]]:
    """One part of every kind, with tables, without them, and with defaults in their place."""
    post = {"post_set": [[2, 4, 6]], "post_stiffness": [[0.2, 0.1, 0.1]]}
    return [
        {"axes": UNTABLED},
        ZIP,
        {"design": "sobol", "count": 6, "axes": {"damping_criterion": WORDS, **post, "v0": {"from": 1, "to": 2}}},
        {"design": "latin_hypercube", "count": 5, "axes": {"post_set": ["default", []], "k_post": {"from": 0.5, "to": 0.9}}},
        write_table(folder, "csv"),
        {"axes": {"post_set": SETS[2:], "post_stiffness": STIFFNESSES[2:], "c_n": [0.0, 1.0]}},
    ]


DESIGNS: dict[str, Any] = {
    "grid": {"axes": {"damping_criterion": WORDS, "post_set": SETS, "post_stiffness": [STIFFNESSES[1]]}},
    "zip": ZIP,
    "sobol": {"design": "sobol", "count": 40, "axes": {"post_set": SETS, "damping_criterion": [*WORDS, "default"], "v0": [1.0]}},
    "latin_hypercube": {"design": "latin_hypercube", "count": 9, "axes": {"post_set": [*SETS, "default"], "damping_criterion": WORDS}},
}


@pytest.mark.parametrize("name", ["sobol", "latin_hypercube"])
def test_a_design_that_samples_draws_tables_and_words_from_the_list(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "check_rules", lambda _config: [])  # tables of equal length are not drawn together
    design = load(study(DESIGNS[name])).design
    points = design.points(0, design.count)
    drawn = lists(points, "post_set")
    times = [drawn.count(one) for one in SETS]
    assert min(times) >= design.count // len(DESIGNS[name]["axes"]["post_set"]) - 2
    assert sum(times) + drawn.count(None) == design.count
    assert set(points.columns["damping_criterion"][~points.absent.get("damping_criterion", np.zeros(design.count, bool))]) == {0.0, 1.0}


def test_whole_numbers_are_drawn_from_a_range_of_them() -> None:
    sweep = {"design": "sobol", "count": 64, "axes": {"sides": {"from": 1, "to": 2, "spacing": "integer"}, "gap": {"from": 0, "to": 1}}}
    sides = load({"study": {"model": "stop"}, "sweep": sweep}).design.points(0, 64).columns["sides"]
    assert (np.count_nonzero(sides == 1.0), np.count_nonzero(sides == 2.0)) == (32, 32)
    grid = {"axes": {"sides": {"from": 1, "to": 2, "spacing": "integer"}}}
    assert load({"study": {"model": "stop"}, "sweep": grid}).design.points(0, 2).columns["sides"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("model", "axis", "sentence"),
    [
        ("stop", "sides = { from = 1, to = 2 }", "sides: a range that is drawn from does not give whole numbers (1: wall"),
        ("stop", "sides = { from = 1, to = 2, spacing = 'log' }", "or list the values"),
        ("buckling_wall", "post_set = { from = 1, to = 2 }", "post_set: must be a list of lists of numbers"),
        ("buckling_wall", "damping_criterion = { from = 1, to = 2 }", "damping_criterion: must be a list of words"),
        ("buckling_wall", "post_set = 3.0", "post_set: must be a list of lists of numbers, one for each table"),
        ("rubbing_mass", "post_set = [[1.0]]", "no parameter of the model rubbing_mass, but of buckling_wall"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, capsys: Captured, model: str, axis: str, sentence: str) -> None:
    (tmp_path / "study.toml").write_text(f"study.model = '{model}'\n[sweep]\ndesign = 'sobol'\ncount = 4\n[sweep.axes]\n{axis}\n")
    assert main(["run", str(tmp_path / "study.toml")]) == 2
    assert sentence in capsys.readouterr().err


def test_parts_without_a_table_have_the_default_or_what_is_set_as_wide_as_the_widest(tmp_path: Path) -> None:
    config = load(study(parts(tmp_path)))
    points = config.design.points(0, config.design.count)
    assert points.count == 4 + 2 + 6 + 5 + 2 + 2
    assert lists(points, "post_set")[:6] == [None] * 4 + SETS[:2]
    assert lists(points, "post_set")[6:12] == [[2.0, 4.0, 6.0]] * 6
    assert lists(points, "post_set")[17:] == [[2.0, 3.0], None, *SETS[2:] * 2]
    assert sorted(map(repr, lists(points, "post_set")[12:17])) in (["None"] * 2 + ["[]"] * 3, ["None"] * 3 + ["[]"] * 2)
    assert {points.columns[name].shape for name in ("post_set", "post_stiffness")} == {(21, 4)}
    assert points.absent["post_stiffness"].tolist() == [True] * 4 + [False] * 8 + [True] * 5 + [False, True, False, False]
    assert points.absent["damping_criterion"].tolist() == [True] * 4 + [False] * 8 + [True] * 5 + [False] + [True] * 3

    given = {"post_set": [2, 3, 4, 5, 6], "post_stiffness": [0.2, 0.15, 0.125, 0.1, 0.09], "damping_criterion": "excluded"}
    points = load(study([{"axes": {"v0": [1.0]}}, ZIP], parameters=given)).design.points(0, 3)
    assert lists(points, "post_set") == [given["post_set"], *SETS[:2]]
    assert points.columns["damping_criterion"].tolist() == [1.0, 1.0, 0.0]
    assert not points.absent["post_set"].any()


def test_any_block_is_the_same_part_of_the_whole_and_as_wide(tmp_path: Path) -> None:
    design = load(study(parts(tmp_path))).design
    whole = design.points(0, design.count)
    for start, stop in ((0, 4), (3, 5), (4, 6), (5, 13), (12, 17), (16, 21), (20, 21), (7, 7)):
        block = design.points(start, stop)
        assert block.columns.keys() == whole.columns.keys()
        assert block.absent.keys() == whole.absent.keys()
        for name, values in whole.columns.items():
            np.testing.assert_array_equal(block.columns[name], values[start:stop])
            assert block.columns[name].shape[1:] == values.shape[1:]
            np.testing.assert_array_equal(block.absent[name], whole.absent[name][start:stop])


@pytest.mark.parametrize("name", [*DESIGNS, "parts"])
def test_a_study_with_tables_reads_back_as_itself_here_and_elsewhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "check_rules", lambda _config: [])
    monkeypatch.setattr(loading, "RECALLED", {})
    config = load(study(parts(tmp_path) if name == "parts" else DESIGNS[name]))
    (tmp_path / "config.toml").write_text(config.to_toml())
    points = config.design.points(0, config.design.count).digest()
    for again in (load(tmp_path / "config.toml"), pickle.loads(pickle.dumps(config))):
        assert (again.document, again.digest, again.to_toml()) == (config.document, config.digest, config.to_toml())
        assert again.design.points(0, config.design.count).digest() == points


def test_the_hash_of_points_knows_tables_apart_and_not_their_width() -> None:
    def digest(tables: Any) -> str:
        return Points(np.arange(len(tables)), {"post_set": np.array(tables)}, {}, None).digest()

    assert digest([[2.0, NAN], [3.0, 4.0]]) == digest([[2.0, NAN, NAN], [3.0, 4.0, NAN]])
    different = [[[2.0, NAN], [3.0, 4.0]], [[2.0, 3.0], [4.0, NAN]], [[2.0, 3.0], [NAN, 4.0]], [[2.0, 3.0], [4.0, 5.0]]]
    assert len({digest(tables) for tables in different}) == len(different) - 1  # NaN is padding, wherever it stands


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_of_a_file_that_is_read_in_pieces_are_as_wide_as_the_widest(tmp_path: Path, kind: str) -> None:
    rows = 100_000
    sets = [[2.0, 3.0]] * rows + [[2.0, 3.0, 4.0], None, []]
    words = ["included"] * rows + ["excluded", None, "excluded"]
    path = tmp_path / f"points.{kind}"
    if kind == "csv":
        sets.pop()  # a cell cannot say that a table is empty
        lines = [f"{';'.join(map(str, one or []))},{word or ''}" for one, word in zip(sets, words, strict=False)]
        path.write_text("\n".join(["post_set,damping_criterion", *lines]))
    else:
        pq.write_table(pa.table({"post_set": sets, "damping_criterion": words}), path)
    axes = {axis.name: axis for axis in read_axes(path)}
    assert axes["post_set"].values.shape == (len(sets), 3)  # noqa: PD011 - no pandas here
    assert isinstance(axes["post_set"].values, np.memmap)
    tail = np.arange(rows - 1, len(sets))
    expected = [[2, 3, NAN], [2, 3, 4], [NAN] * 3, [NAN] * 3]
    np.testing.assert_array_equal(axes["post_set"].at(tail), expected[: len(tail)])
    assert axes["post_set"].absent[tail].tolist() == [False, False, True, False][: len(tail)]
    np.testing.assert_array_equal(axes["damping_criterion"].at(tail), [0, 1, NAN, 1][: len(tail)])


def read_axes(path: Path) -> Any:
    """The axes of a file of points."""
    from tribosweep.kernels.models import BUCKLING_WALL
    from tribosweep.sweep.study import point_table as tables

    problems: list[Any] = []
    axes = tables.read_points(path, BUCKLING_WALL, "exact", "sweep.file", problems)
    assert problems == []
    return axes


def test_bad_tables_and_words_far_down_a_file_are_named_by_their_row(tmp_path: Path) -> None:
    columns = {"post_set": [[2.0, 3.0]] * 70_000 + [[2.0, -1.0]], "damping_criterion": ["included"] * 70_000 + ["maybe"]}
    pq.write_table(pa.table(columns), tmp_path / "points.parquet")
    with pytest.raises(ConfigError) as caught:
        load(study({"design": "table", "file": str(tmp_path / "points.parquet")}))
    assert "column post_set, row 70001, node 1: -1.0 is out of bounds: must be >= 0" in str(caught.value)
    assert "column damping_criterion, row 70001: 'maybe' is not a word of it" in str(caught.value)


def test_columns_of_nothing_but_defaults_are_read(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("post_set,k_post,damping_criterion\n,0.5,\ndefault,0.6,default\n")
    points = load(study({"design": "table", "file": str(tmp_path / "points.csv")})).design.points(0, 2)
    assert points.columns["post_set"].shape == (2, 0)
    assert points.absent["post_set"].all()
    assert points.absent["damping_criterion"].all()


# ---------------------------------------------------------------------------------------------------------------------
# Runs


def test_the_dataset_of_several_designs_holds_lists_words_and_nulls(fake: FakeKernels, tmp_path: Path) -> None:
    whole = run(study(parts(tmp_path)), tmp_path / "a").to_arrow()
    assert whole.column("post_set").to_pylist()[2:6] == [None, None, *SETS[:2]]
    assert whole.column("post_stiffness").to_pylist()[17:] == [[0.2, 0.15], None, *STIFFNESSES[2:] * 2]
    assert whole.column("damping_criterion").to_pylist()[:6] == [None] * 4 + WORDS
    assert whole.column("damping_criterion").to_pylist()[17:] == ["excluded", None, None, None]
    assert fake.calls == [21]


@pytest.mark.usefixtures("small_shards")
def test_shards_parts_and_resumed_runs_hold_the_same_tables(fake: FakeKernels, tmp_path: Path) -> None:
    asked = study(parts(tmp_path))
    whole = run(asked, tmp_path / "a").to_arrow()
    assert fake.calls == [10, 10, 1]
    for index in (2, 1):
        run(asked, tmp_path / "b", share=Share(index, 2))
    assert run(asked, tmp_path / "b").to_arrow().equals(whole)
    data = bytearray((shard := tmp_path / "b" / "points" / "part-000001.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    fake.calls.clear()
    assert main(["resume", str(tmp_path / "b")]) == 0
    assert fake.calls == [10]
    assert run(asked, tmp_path / "b").to_arrow().equals(whole)


@pytest.mark.usefixtures("small_shards")
def test_a_file_with_more_rows_and_wider_tables_extends_a_run(fake: FakeKernels, tmp_path: Path) -> None:
    rows = ["2;3,0.2;0.15"] * 14
    asked = study({"design": "table", "file": str(tmp_path / "points.csv")})
    (tmp_path / "points.csv").write_text("\n".join(["post_set,post_stiffness", *rows]))
    run(asked, tmp_path / "a")
    fake.calls.clear()
    (tmp_path / "points.csv").write_text("\n".join(["post_set,post_stiffness", *rows, "2;3;4,0.2;0.15;0.125"]))
    finished = run(asked, tmp_path / "a", extend=True)
    assert fake.calls == [5]
    assert finished.to_arrow().equals(run(asked, tmp_path / "b").to_arrow())
    (tmp_path / "points.csv").write_text("\n".join(["post_set,post_stiffness", "2;3.5,0.2;0.15", *rows, "2;3;4,0.2;0.15;0.125"]))
    with pytest.raises(ConfigError, match="holds other points than points 0 to 9"):
        run(asked, tmp_path / "a", extend=True)


@pytest.mark.usefixtures("small_shards")
def test_remarks_are_no_failures_in_shards_lists_and_exit_statuses(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solve(*arguments: Any, **asked: Any) -> Any:
        solution = fake.solve(*arguments, **asked)
        v0 = np.broadcast_to(arguments[2]["v0"], solution.status.shape)
        solution.status[:] = np.where(v0 == 2.0, Status.BEYOND_TABLE, np.where(v0 == 3.0, Status.TOO_MANY_EVENTS, Status.OK))
        return solution

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", solve)
    axes = {"v0": [1.0] * 9 + [2.0], "post_set": SETS[:1], "post_stiffness": STIFFNESSES[:1]}
    (tmp_path / "study.toml").write_text(load(study({"axes": axes})).to_toml())
    assert main(["run", str(tmp_path / "study.toml")]) == 0
    capsys.readouterr()
    assert main(["show", "runs/wall", "--failed"]) == 0
    assert capsys.readouterr() == ("", "0 of 10 rows failed.\n")
    assert main(["resume", "runs/wall"]) == 0
    assert "with a remark" in capsys.readouterr().err

    axes = {"v0": [1.0, 2.0, 3.0], "post_set": SETS, "damping_criterion": WORDS}
    sweeps = [{"axes": {"v0": [1.0] * 10}}, {"design": "zip", "axes": {name: values[:3] for name, values in axes.items()}}]
    sweeps[1]["axes"] |= {"post_stiffness": STIFFNESSES, "damping_criterion": [*WORDS, "default"], "k_post": ["default"] * 3}
    (tmp_path / "study.toml").write_text(load(study(sweeps, parameters={"k_post": 0.5})).to_toml())
    assert main(["run", str(tmp_path / "study.toml"), "--out", "runs/mixed"]) == 3
    assert "1 of 13 rows failed" in capsys.readouterr().err
    assert main(["show", "runs/mixed", "--failed"]) == 0
    said = capsys.readouterr()
    assert said.err == "1 of 13 rows failed.\n"
    assert "12" in said.out
    assert "events" in said.out
    assert main(["show", "runs/mixed", "--failed", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["point"], row["post_set"], row["damping_criterion"], row["k_post"]) == (12, [2.0, 3.0, 4.0, 5.0], None, None)


def test_failed_rows_show_their_tables_as_csv_has_them(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solve(*arguments: Any, **asked: Any) -> Any:
        solution = fake.solve(*arguments, **asked)
        solution.status[:] = Status.TOO_MANY_EVENTS
        return solution

    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", solve)
    assert run(study(ZIP), tmp_path / "a").failed == 2
    assert main(["show", str(tmp_path / "a"), "--failed"]) == 0
    shown = capsys.readouterr().out
    assert "2;3 " in shown
    assert "2;3;4 " in shown


def test_the_study_of_a_run_is_that_of_its_manifest(fake: FakeKernels, tmp_path: Path) -> None:
    config = run(study(parts(tmp_path)), tmp_path / "a").config
    (tmp_path / "a" / "config.toml").write_text("")
    read = read_study(tmp_path / "a")
    assert (read.digest, read.source) == (config.digest, str(tmp_path / "a"))
    with pytest.raises(ConfigError, match="holds no run of tribosweep"):
        read_study(tmp_path)
    assert fake.calls == [21]


def test_the_events_of_a_point_are_those_of_its_row() -> None:
    sweeps = [{"axes": {"v0": [2.0]}}, {**ZIP, "axes": {**ZIP["axes"], "k_post": ["default"] * 2}}]
    config = load(study(sweeps, parameters={"k_post": 0.5, "m": 2.0}))
    assert parameters_of(config, 0, EVENTS) == {"m": 2.0, "k_post": 0.5, "v0": 2.0}
    found = parameters_of(config, 1, EVENTS)
    assert found.keys() == {"m", "post_set", "post_stiffness", "damping_criterion"}
    np.testing.assert_array_equal(found["post_set"], [2, 3, NAN])


def test_what_a_part_sweeps_is_not_fixed_on_a_map(fake: FakeKernels, tmp_path: Path) -> None:
    sweeps = [{"axes": {"a0": [1.0, 2.0], "k": [1.0]}}, {"axes": {"a0": [1.0, 2.0], "mu": [0.3], "k": [2.0]}}]
    loose = read_map(run({"parameters": {"mu": 0.2}, "sweep": sweeps}, tmp_path / "a").directory, "a0", "k")
    assert (loose.loose, "mu" in loose.fixed) == (("mu",), False)
    sweeps = [{"axes": {"a0": [1.0, 2.0]}}, {"axes": {"a0": [1.0, 2.0], "mu": [0.3]}}]
    drawn = read_map(run({"parameters": {"mu": 0.2, "m": 2.0}, "sweep": sweeps}, tmp_path / "b").directory)
    assert drawn.fixed == {"m": 2.0}
    assert (drawn.x.name, drawn.y.name, drawn.y_values.tolist()) == ("a0", "mu", [0.2, 0.3])
    assert fake.calls == [4, 4]


def test_a_run_of_the_first_schema_is_refused_whatever_is_asked_of_it(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    run(study(ZIP), tmp_path / "a")
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    (tmp_path / "a" / "manifest.json").write_text(
        json.dumps({key: manifest[key] for key in ("config_hash", "version")} | {"schema_version": 1})
    )
    for words in (["resume"], ["show"], ["map"], ["events"]):
        assert main([*words, str(tmp_path / "a")]) == 2
        assert "the run has schema version 1" in capsys.readouterr().err
    assert fake.calls == [2]


@pytest.mark.long
@pytest.mark.slow
def test_rows_of_walls_do_not_depend_on_the_size_of_shards_or_on_who_computes_them(tmp_path: Path) -> None:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    asked = study(parts(tmp_path), parameters={"c_n": 0.2}, time={"end": 20.0})
    whole = run(asked, tmp_path / "a")
    assert (whole.failed, sum(whole.statuses.values())) == (0, 21)
    by_four = run(asked | {"output": {"shard_points": 4}}, tmp_path / "b")
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        by_two = run(asked | {"output": {"shard_points": 5}}, tmp_path / "c", executor=pool, workers=2)
    for other in (by_four, by_two):
        pd.testing.assert_frame_equal(other.to_pandas(), whole.to_pandas(), check_exact=True)
