"""Runs are finished, resumed, left alone or refused; whatever happens, what is written is whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.sweep.conftest import FakeKernels, install_small_pieces
from tribosweep.sweep import ConfigError, load, resume, run
from tribosweep.sweep.analysis.run_state import state_of
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution import directory as run_directory
from tribosweep.sweep.execution import job, parquet
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.io import system

STUDY = {"sweep": {"axes": {"a0": {"from": 1.0, "to": 2.0, "count": 25}}}}
pytestmark = pytest.mark.usefixtures("small_shards")


def shards(directory: Path) -> list[str]:
    """The files of the dataset, temporary ones included."""
    return sorted(path.name for path in (directory / "points").iterdir())


def test_a_run_leaves_its_study_its_manifest_and_its_mark(fake: FakeKernels) -> None:
    finished = run({"study": {"name": "small"}, **STUDY})
    assert finished.directory == Path("runs/small")
    assert sorted(path.name for path in finished.directory.iterdir()) == ["_SUCCESS", "config.toml", "manifest.json", "points"]
    assert shards(finished.directory) == [f"part-00000{number}.parquet" for number in range(3)]
    manifest = json.loads((finished.directory / "manifest.json").read_text())
    assert (manifest["points"], manifest["shards"], manifest["statuses"]) == (25, 3, {"ok": 25})
    assert manifest["seconds"]["compiling"] == 0.75
    assert manifest["provenance"]["dtype"] == "float64"
    assert fake.calls == [10, 10, 5]


def test_the_resolved_study_runs_again_to_the_same_rows(fake: FakeKernels, tmp_path: Path) -> None:
    first = run(STUDY, tmp_path / "a")
    second = run(first.directory / "config.toml", tmp_path / "b")
    assert second.to_arrow().equals(first.to_arrow())
    assert len(fake.calls) == 6


def test_schemes_are_computed_apart_and_put_back_in_order(fake: FakeKernels, tmp_path: Path) -> None:
    axes = {"a0": [1.0, 2.0, 3.0], "k_t": ["default", 9e6, "default"], "scheme": ["exact", "euler", "exact"]}
    assert run({"parameters": {"mu": 0.0}, "sweep": {"design": "zip", "axes": axes}}, tmp_path / "a").to_pandas()[
        "wear_power"
    ].tolist() == [1.0, 1002.0, 3.0]
    assert fake.calls == [2, 1]


def test_a_complete_run_is_left_as_it_is(fake: FakeKernels, tmp_path: Path) -> None:
    first = run(STUDY, tmp_path / "a")
    stamps = {path: path.stat().st_mtime_ns for path in first.directory.rglob("*")}
    again = run(STUDY, tmp_path / "a")
    assert (again.computed, again.statuses, again.seconds) == (0, first.statuses, first.seconds)
    assert {path: path.stat().st_mtime_ns for path in first.directory.rglob("*")} == stamps
    assert len(fake.calls) == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device"), ValueError("a defect")])
def test_what_stops_a_run_leaves_whole_shards_and_it_goes_on_from_there(fake: FakeKernels, tmp_path: Path, error: BaseException) -> None:
    fake.fail_at, fake.error = 2, error
    with pytest.raises(type(error)):
        run(STUDY, tmp_path / "a")
    assert shards(tmp_path / "a") == ["part-000000.parquet", "part-000001.parquet"]
    assert not (tmp_path / "a" / "_SUCCESS").exists()
    fake.fail_at = -1
    fake.calls.clear()
    finished = run(STUDY, tmp_path / "a")
    assert fake.calls == [5]
    assert (finished.computed, finished.statuses) == (5, {"ok": 25})
    np.testing.assert_array_equal(finished.to_pandas()["a0"], np.linspace(1.0, 2.0, 25))


def test_a_shard_that_is_torn_foreign_or_gone_is_computed_again(fake: FakeKernels, tmp_path: Path) -> None:
    finished = run(STUDY, tmp_path / "a")
    whole = finished.to_arrow()
    other = run({**STUDY, "parameters": {"mu": 0.7}}, tmp_path / "b")
    (other.directory / "points" / "part-000000.parquet").replace(finished.directory / "points" / "part-000000.parquet")
    torn = finished.directory / "points" / "part-000001.parquet"
    torn.write_bytes(torn.read_bytes()[:-9])
    (finished.directory / "points" / "part-000002.parquet").unlink()
    fake.calls.clear()
    assert run(STUDY, tmp_path / "a").to_arrow().equals(whole)
    assert fake.calls == [10, 10, 5]


def test_a_failure_of_the_writer_stops_the_run(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(job, "write_one_of_many", full)
    with pytest.raises(OSError, match="No space left"):
        run(STUDY, tmp_path / "a")
    assert len(fake.calls) <= 3  # the third may have begun when the first could not be written
    assert shards(tmp_path / "a") == []


def test_a_directory_of_another_study_is_refused_with_the_difference(fake: FakeKernels, tmp_path: Path) -> None:
    run({**STUDY, "parameters": {"mu": 0.2, "m": 1.0}}, tmp_path / "a")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(ConfigError) as caught:
        run({**STUDY, "parameters": {"mu": 0.3, "k": 1.0}}, tmp_path / "a")
    lines = [str(problem) for problem in caught.value.problems]
    assert "holds another study" in lines[0]
    assert lines[1:] == [
        "parameters.k: not set there, 1.0 here",
        "parameters.mu: 0.2 there, 0.3 here",
        "parameters.m: 1.0 there, not set here",
    ]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert len(fake.calls) == 3


def test_a_table_whose_content_changed_is_another_study(fake: FakeKernels, tmp_path: Path) -> None:
    study = {"sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}
    (tmp_path / "points.csv").write_text("a0\n1.0\n")
    run(study, tmp_path / "a")
    (tmp_path / "points.csv").write_text("a0\n2.0\n")
    with pytest.raises(ConfigError, match="content of the file of points has changed"):
        run(study, tmp_path / "a")
    assert fake.calls == [1]


@pytest.mark.parametrize("content", ["thesis.tex", "manifest.json"])
def test_a_directory_of_something_else_is_refused(fake: FakeKernels, tmp_path: Path, content: str) -> None:
    (tmp_path / content).write_text("{}")
    with pytest.raises(ConfigError, match="holds no run"):
        run(STUDY, tmp_path)
    with pytest.raises(ConfigError, match="is not a directory"):
        run(STUDY, tmp_path / content)
    assert [path.name for path in tmp_path.iterdir()] == [content]
    assert fake.calls == []


def test_an_incomplete_run_of_another_version_is_refused(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.fail_at = 1
    with pytest.raises(KeyboardInterrupt):
        run(STUDY, tmp_path / "a")
    monkeypatch.setattr(run_directory, "VERSION", "99")
    with pytest.raises(ConfigError, match="begun by tribosweep"):
        run(STUDY, tmp_path / "a")


def test_an_empty_directory_is_used(fake: FakeKernels, tmp_path: Path) -> None:
    assert run({}, tmp_path).computed == 1
    assert fake.calls == [1]


def test_progress_is_told_after_every_shard(fake: FakeKernels, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    run(STUDY, tmp_path / "a", progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 25), (10, 25), (20, 25), (25, 25)]
    assert len(fake.calls) == 3


def test_a_signal_just_after_a_file_was_created_leaves_none(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, taken = system.lock, []

    def interrupted(descriptor: int, alone: bool) -> None:
        taken.append(descriptor)
        if list((tmp_path / "a" / "points").glob("*.tmp")):
            raise KeyboardInterrupt
        lock(descriptor, alone)

    monkeypatch.setattr(system, "lock", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run({"sweep": {"axes": {"a0": [1.0, 2.0]}}}, tmp_path / "a")
    assert len(taken) > 1
    assert not list((tmp_path / "a").rglob("*.tmp"))
    assert fake.calls == [2]


# ---- shards that take long


def test_a_shard_that_takes_long_grows_piece_by_piece(fake: FakeKernels, tmp_path: Path) -> None:
    fake.words_by_value = True
    whole = run(STUDY, tmp_path / "whole")
    for rows in (1, 3, 4, 6):
        told: list[tuple[int, int]] = []
        fake.calls.clear()
        with pytest.MonkeyPatch.context() as patch:
            install_small_pieces(patch, rows)
            finished = run(STUDY, tmp_path / f"{rows}", progress=lambda done, total, told=told: told.append((done, total)))
        assert [done for done, _ in told] == [0, *np.cumsum(fake.calls).tolist()]
        assert len(fake.calls) > 3
        assert finished.computed == 25
        for number in range(3):  # what other programs read is the same file, but for seconds and checksums
            one, other = (
                pq.read_table(each.directory / "points" / f"part-00000{number}.parquet").replace_schema_metadata(None)
                for each in (whole, finished)
            )
            assert one.equals(other, check_metadata=True)
            facts = parquet.read_facts(pq.read_metadata(finished.directory / "points" / f"part-00000{number}.parquet"))
            config = load(STUDY | {"output": {"shard_points": 10}})
            assert facts is not None
            assert facts["points_hash"] == config.design.points(10 * number, min(10 * number + 10, 25)).digest()  # of the whole shard
        assert finished.statuses == whole.statuses
        states = [state_of(each.directory) for each in (whole, finished)]
        assert states[0]["words"] == states[1]["words"]


def test_a_run_that_is_stopped_within_a_shard_keeps_its_rows(
    fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.words_by_value = True
    whole = run(STUDY, tmp_path / "whole")
    install_small_pieces(monkeypatch, 3)
    fake.calls.clear()
    run(STUDY, tmp_path / "all")
    calls = len(fake.calls)
    for stop in range(1, calls):
        out = tmp_path / f"{stop}"
        fake.calls.clear()
        fake.fail_at = stop
        with pytest.raises(KeyboardInterrupt):
            run(STUDY, out)
        fake.fail_at = -1
        kept = sum(fake.calls)
        state = state_of(out)
        assert (state["state"], state["rows"], state["points_done"]) == ("incomplete", kept, kept)
        assert Dataset(out).table().equals(whole.to_arrow().slice(0, kept))
        assert main(["check", str(out)]) == 0
        fake.calls.clear()
        assert resume(out).to_arrow().equals(whole.to_arrow())
        assert sum(fake.calls) == 25 - kept  # nothing is computed twice
    capsys.readouterr()


def test_a_shard_that_changed_while_it_grew_is_noticed(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.words_by_value = True
    install_small_pieces(monkeypatch, 3)
    path = tmp_path / "a" / "points" / "part-000000.parquet"

    def spoil(done: int, _: int) -> None:
        if done == 3:
            path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(OSError, match="changed by somebody else"):
        run(STUDY, tmp_path / "a", progress=spoil)
    whole = run(STUDY, tmp_path / "b")
    assert run(STUDY, tmp_path / "a", tell=lambda _: None).to_arrow().equals(whole.to_arrow())


def test_a_complete_run_with_a_shard_that_ends_early_is_damaged(
    fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.words_by_value = True
    whole = run(STUDY, tmp_path / "a")
    install_small_pieces(monkeypatch, 3)
    fake.fail_at = len(fake.calls) + 2
    with pytest.raises(KeyboardInterrupt):
        run(STUDY, tmp_path / "b")
    fake.fail_at = -1
    name = Path("points/part-000000.parquet")
    rows = whole.to_arrow()
    (whole.directory / name).write_bytes((tmp_path / "b" / name).read_bytes())
    with pytest.raises(ConfigError, match="it ends early"):
        whole.to_arrow()
    assert main(["show", str(whole.directory)]) == 2
    assert main(["check", str(whole.directory)]) == 4
    assert "ends early" in capsys.readouterr().err
    assert main(["check", str(whole.directory), "--repair"]) == 0
    assert whole.to_arrow().equals(rows)
