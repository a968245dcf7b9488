"""Nothing is lost and nothing is there twice: faulty shards, two writers, parts, extensions, full disks, other versions."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep import sweep
from tribosweep.sweep import ConfigError, Share, load, resume, run
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution import lock

ROOT = Path(__file__).parents[3]
STUDY: dict[str, Any] = {"sweep": {"axes": {"a0": {"from": 1.0, "to": 2.0, "count": 45}}}}
SOBOL: dict[str, Any] = {"design": "sobol", "count": 45, "axes": {"a0": {"from": 1.0, "to": 2.0}, "mu": [0.1, "default"]}}
Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("small_shards")


def shard(directory: Path, number: int) -> Path:
    """The file of a shard."""
    return directory / "points" / f"part-{number:06d}.parquet"


def flip(path: Path) -> None:
    """Change one bit among the rows of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 4] ^= 4
    path.write_bytes(data)


def cut(path: Path) -> None:
    """Take the end off a file."""
    path.write_bytes(path.read_bytes()[:-100])


def replace_by_foreign(path: Path) -> None:
    """Put a Parquet file of somebody else in its place."""
    pq.write_table(pa.table({"point": [1, 2, 3]}), path)


def replace_by_neighbour(path: Path) -> None:
    """Put the next shard of the same run in its place."""
    shutil.copy(path.with_name("part-000003.parquet"), path)


FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a flipped bit": (flip, "part-000002.parquet: its bytes are not those that were written (the checksum differs)"),
    "a shard cut short": (cut, "part-000002.parquet: it is cut short, or no Parquet file"),
    "a foreign file": (replace_by_foreign, "part-000002.parquet: it was not written by tribosweep"),
    "a shard of other points": (replace_by_neighbour, "part-000002.parquet: it holds other points"),
    "an empty file": (lambda path: path.write_bytes(b""), "part-000002.parquet: it is cut short, or no Parquet file"),
    "a shard that is gone": (Path.unlink, ""),
}


@pytest.mark.parametrize(("harm", "sentence"), FAULTS.values(), ids=FAULTS.keys())
def test_a_faulty_shard_is_named_and_computed_again_and_no_other(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, harm: Callable[[Path], None], sentence: str
) -> None:
    finished = run(STUDY, tmp_path / "a")
    whole, stamps = finished.to_arrow(), {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "points").iterdir()}
    harm(shard(tmp_path / "a", 2))
    fake.calls.clear()
    assert main(["resume", str(tmp_path / "a")]) == 0
    told = capsys.readouterr().err
    assert (sentence in told) if sentence else ("computed again" not in told)
    assert fake.calls == [10]
    assert run(STUDY, tmp_path / "a").to_arrow().equals(whole)
    changed = {path.name for path, stamp in stamps.items() if path.stat().st_mtime_ns != stamp}
    assert changed == {"part-000002.parquet"}


def test_a_file_that_readers_would_take_for_rows_is_set_aside(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    whole = run(STUDY, tmp_path / "a").to_arrow()
    fake.calls.clear()
    shutil.copy(shard(tmp_path / "a", 0), shard(tmp_path / "a", 7))
    shutil.copy(shard(tmp_path / "a", 0), tmp_path / "a" / "points" / "copy.parquet")
    assert main(["show", str(tmp_path / "a"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["faulty"].keys() == {"part-000007.parquet", "copy.parquet"}
    assert main(["resume", str(tmp_path / "a")]) == 0
    assert "copy.parquet: not of this run; it is set aside as .copy.parquet.foreign." in capsys.readouterr().err
    assert run(STUDY, tmp_path / "a").to_arrow().equals(whole)
    assert fake.calls == []
    assert (tmp_path / "a" / "points" / ".part-000007.parquet.foreign").exists()


def test_a_mark_that_is_missing_is_written_without_computing(fake: FakeKernels, tmp_path: Path) -> None:
    run(STUDY, tmp_path / "a")
    (tmp_path / "a" / "_SUCCESS").unlink()
    (tmp_path / "a" / "points" / ".part-000001.parquet.12.tmp").write_bytes(b"PAR1")
    fake.calls.clear()
    assert resume(tmp_path / "a").complete
    assert fake.calls == []
    assert (tmp_path / "a" / "_SUCCESS").exists()
    assert sorted(path.name for path in (tmp_path / "a" / "points").iterdir()) == [f"part-{number:06d}.parquet" for number in range(5)]


def test_there_must_be_a_run_to_resume_and_its_study_must_be_readable(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    assert main(["resume", str(tmp_path / "nowhere")]) == 2
    assert "holds no run of tribosweep" in capsys.readouterr().err
    (tmp_path / "points.csv").write_text("a0\n1.0\n")
    run({"sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}, tmp_path / "a")
    (tmp_path / "points.csv").write_text("a0\n2.0\n")
    assert main(["resume", str(tmp_path / "a")]) == 2
    assert "content of the file of points has changed" in capsys.readouterr().err
    (tmp_path / "points.csv").unlink()
    assert main(["resume", str(tmp_path / "a")]) == 2
    assert "cannot read" in capsys.readouterr().err
    manifest = tmp_path / "a" / "manifest.json"
    manifest.write_text(manifest.read_text()[:40])
    shard(tmp_path / "a", 0).unlink()
    assert main(["resume", str(tmp_path / "a")]) == 2
    assert "manifest.json: 1 problem\n  holds no run of tribosweep, or is damaged" in capsys.readouterr().err
    assert fake.calls == [1]


def test_an_edited_copy_of_the_study_does_not_change_the_run(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    whole = run(STUDY, tmp_path / "a").to_arrow()
    copy = tmp_path / "a" / "config.toml"
    copy.write_text(copy.read_text().replace("45", "46"))
    shard(tmp_path / "a", 1).unlink()
    assert main(["resume", str(tmp_path / "a")]) == 0
    assert "config.toml differs from the study of this run and is ignored" in capsys.readouterr().err
    assert run(STUDY, tmp_path / "a").to_arrow().equals(whole)
    assert sum(fake.calls) == 55


def test_a_run_of_a_newer_schema_is_refused_with_both_versions(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    run(STUDY, tmp_path / "a")
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    (tmp_path / "a" / "manifest.json").write_text(json.dumps({**manifest, "schema_version": 99, "version": "7.0"}))
    (tmp_path / "study.toml").write_text(load(STUDY).to_toml())
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for words in (["resume"], ["show"], ["map"], ["run", str(tmp_path / "study.toml"), "--out"]):
        assert main([*words, str(tmp_path / "a")]) == 2
        told = capsys.readouterr().err
        assert "schema version 99 (tribosweep 7.0), which is newer" in told
        assert f"this is tribosweep {sweep.__version__} with schema version 3" in told
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert len(fake.calls) == 5


# ---------------------------------------------------------------------------------------------------------------------
# Two writers, and parts


HOLDER = (
    "import sys, time; from pathlib import Path\n"
    "from tribosweep.sweep.execution.lock import hold; from tribosweep.sweep.execution.job_share import Share\n"
    "with hold(Path(sys.argv[1]), Share.parse(sys.argv[2]) if len(sys.argv) > 2 else None):\n print('held', flush=True); time.sleep(60)"
)


def hold_elsewhere(directory: Path, *words: str) -> subprocess.Popen[str]:
    """A process that writes to a directory, as far as others can see."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(directory), *words], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_is_told_who_writes_and_a_dead_one_is_no_writer(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    fake.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        run(STUDY, tmp_path / "a")
    fake.fail_at = -1
    with hold_elsewhere(tmp_path / "a") as other:
        assert main(["resume", str(tmp_path / "a")]) == 2
        told = capsys.readouterr().err
        assert re.search(rf"is being written by process {other.pid} on \S+ since \d{{4}}-\S+; wait until that ends, or stop it", told)
        assert main(["resume", str(tmp_path / "a"), "--shard", "1/2"]) == 2
        assert f"process {other.pid}" in capsys.readouterr().err
        assert main(["show", str(tmp_path / "a")]) == 0
        assert "running: 20 of 45 points" in (out := capsys.readouterr().out)
        assert f"process {other.pid}" in out
        other.kill()
    assert (tmp_path / "a" / ".lock").exists()  # left by the one that was killed
    assert main(["resume", str(tmp_path / "a")]) == 0
    assert not list((tmp_path / "a").glob(".lock*"))
    assert sum(fake.calls) == 45


def test_a_directory_that_was_locked_and_left_empty_goes_again(tmp_path: Path) -> None:
    with lock.hold(tmp_path / "runs" / "a"):
        assert [one["pid"] for one in lock.holders(tmp_path / "runs" / "a")] == [os.getpid()]
    assert list(tmp_path.iterdir()) == []


def test_the_parts_are_the_run(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    whole = run(STUDY, tmp_path / "a").to_arrow()
    fake.calls.clear()
    for index in (3, 1, 2):
        assert not (tmp_path / "b" / "_SUCCESS").exists()
        finished = run(STUDY, tmp_path / "b", share=Share(index, 3))
    assert finished.complete
    assert sorted(fake.calls) == [5, 10, 10, 10, 10]
    assert run(STUDY, tmp_path / "b").to_arrow().equals(whole)
    assert not list((tmp_path / "b").glob(".lock*"))
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    assert (manifest["statuses"], manifest["shards"]) == ({"ok": 45}, 5)
    assert main(["resume", str(tmp_path / "b"), "--shard", "2/3"]) == 0
    assert "already complete" in capsys.readouterr().err


def test_a_part_says_what_is_missing_and_does_nothing_twice(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "study.toml").write_text(load(STUDY).to_toml())
    command = ["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "a"), "--shard", "2/2"]
    assert main(command) == 0
    assert "Other parts are missing: 20 of 45 points are there." in capsys.readouterr().err
    assert main(command) == 0
    told = capsys.readouterr().err
    assert "This part was already complete: nothing was computed." in told
    assert fake.calls == [10, 10]
    assert main(["resume", str(tmp_path / "a")]) == 0
    assert sum(fake.calls) == 45


def test_parts_run_beside_each_other_but_not_beside_another_division_or_the_whole(fake: FakeKernels, tmp_path: Path) -> None:
    with hold_elsewhere(tmp_path / "a", "1/2") as other:
        run(STUDY, tmp_path / "a", share=Share(2, 2))
        for share in (Share(1, 2), Share(2, 3), None):
            with pytest.raises(ConfigError, match=rf"process {other.pid} on .* \(share 1/2\)"):
                run(STUDY, tmp_path / "a", share=share)
        other.kill()
    assert run(STUDY, tmp_path / "a").complete
    assert sum(fake.calls) == 45


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("5/4", "'5/4' is no part of the run: the parts of 4 are 1/4 to 4/4"),
        ("0/4", "'0/4' is no part of the run"),
        ("1/0", "'1/0' is no part of the run"),
        ("two", "'two' must be i/n, such as 1/4"),
    ],
)
def test_a_part_that_is_none_is_refused(tmp_path: Path, capsys: Captured, text: str, sentence: str) -> None:
    (tmp_path / "study.toml").write_text("")
    assert main(["run", str(tmp_path / "study.toml"), "--shard", text]) == 2
    assert sentence in capsys.readouterr().err
    assert not Path("runs").exists()


def test_a_convergence_study_has_no_parts(tmp_path: Path) -> None:
    study = {"study": {"scheme": "euler"}, "parameters": {"k_t": 9e6}, "sweep": {"design": "convergence", "axes": {"a0": [1.0]}}}
    with pytest.raises(ConfigError, match="goes level by level"):
        run(study, tmp_path / "a", share=Share(1, 2))


# ---------------------------------------------------------------------------------------------------------------------
# Extending


def test_a_longer_sobol_design_extends_a_run_and_keeps_its_whole_shards(fake: FakeKernels, tmp_path: Path) -> None:
    short, long = {"sweep": SOBOL}, {"sweep": {**SOBOL, "count": 72}}
    run(short, tmp_path / "a")
    stamps = {number: shard(tmp_path / "a", number).stat().st_mtime_ns for number in range(4)}
    with pytest.raises(ConfigError, match=r"sweep.count: 45 there, 72 here(\n.*)*extend=True keeps them"):
        run(long, tmp_path / "a")
    fake.calls.clear()
    finished = run(long, tmp_path / "a", extend=True)
    assert sum(fake.calls) == 72 - 40  # the shard that was not full is computed again
    assert {number: shard(tmp_path / "a", number).stat().st_mtime_ns for number in range(4)} == stamps
    assert finished.to_arrow().equals(run(long, tmp_path / "b").to_arrow())
    fake.calls.clear()
    assert run(long, tmp_path / "a", extend=True).computed == run(long, tmp_path / "a").computed == resume(tmp_path / "a").computed == 0
    with pytest.raises(ConfigError, match=r"sweep\.count: 72 there, 45 here"):
        run(short, tmp_path / "a", extend=True)


def test_an_extension_that_was_stopped_goes_on(fake: FakeKernels, tmp_path: Path) -> None:
    long = {"sweep": {**SOBOL, "count": 95}}
    run({"sweep": SOBOL}, tmp_path / "a")
    fake.fail_at = 7
    with pytest.raises(KeyboardInterrupt):
        run(long, tmp_path / "a", extend=True)
    fake.fail_at = -1
    longer = {"sweep": {**SOBOL, "count": 120}}
    assert resume(tmp_path / "a").complete
    assert run(longer, tmp_path / "a", extend=True).to_arrow().equals(run(longer, tmp_path / "b").to_arrow())


@pytest.mark.parametrize(
    "more",
    [
        [{"axes": {"a0": [1.0, 2.0, 3.0], "mu": [0.1, 0.2]}}, {"design": "sobol", "count": 30, "axes": SOBOL["axes"]}],
        {"axes": {"a0": [1.0, 2.0, 3.0, 4.0], "mu": [0.1, 0.2]}},
    ],
)
def test_any_design_that_begins_with_the_points_extends_a_run(fake: FakeKernels, tmp_path: Path, more: Any) -> None:
    run({"sweep": {"axes": {"a0": [1.0, 2.0, 3.0], "mu": [0.1, 0.2]}}}, tmp_path / "a")
    assert run({"sweep": more}, tmp_path / "a", extend=True).to_arrow().equals(run({"sweep": more}, tmp_path / "b").to_arrow())
    assert len(fake.calls) > 1


def test_a_table_with_more_rows_extends_a_run(fake: FakeKernels, tmp_path: Path) -> None:
    study = {"sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}
    rows = [f"{1.0 + 0.01 * row}" for row in range(32)]
    (tmp_path / "points.csv").write_text("\n".join(["a0", *rows[:20]]))
    run(study, tmp_path / "a")
    (tmp_path / "points.csv").write_text("\n".join(["a0", *rows]))
    fake.calls.clear()
    frame = run(study, tmp_path / "a", extend=True).to_pandas()
    assert fake.calls == [10, 2]
    np.testing.assert_allclose(frame["a0"], [float(row) for row in rows])


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        ({"sweep": {**SOBOL, "count": 72, "seed": 1}}, "part-000000.parquet holds other points than points 0 to 9"),
        ({"sweep": {**SOBOL, "count": 72, "design": "latin_hypercube"}}, "which a Latin hypercube cannot do"),
        ({"sweep": {**SOBOL, "count": 72}, "parameters": {"k": 1.0}}, "parameters.k: not set there, 1.0 here"),
        ({"sweep": {**SOBOL, "count": 72}, "output": {"shard_points": 20}}, "output.shard_points: not set there, 20 here"),
    ],
)
def test_what_has_other_points_or_another_physics_is_no_extension(
    fake: FakeKernels, tmp_path: Path, study: dict[str, Any], sentence: str
) -> None:
    run({"sweep": SOBOL}, tmp_path / "a")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "a").rglob("*")}
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        run(study, tmp_path / "a", extend=True)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "a").rglob("*")} == before
    assert len(fake.calls) == 5


def test_extending_is_for_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="one process extends a run"):
        run({"sweep": SOBOL}, tmp_path / "a", extend=True, share=Share(1, 2))


# ---------------------------------------------------------------------------------------------------------------------
# Disks


def test_a_full_disk_loses_nothing(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    # a bound on the size of a file stands for a full disk: root is not spared it
    large = {"sweep": {"axes": {"a0": {"from": 1.0, "to": 2.0, "count": 45}}}, "output": {"shard_points": 9}}
    (tmp_path / "study.toml").write_text(load(large).to_toml())
    command = ["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "a")]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, before[1]))
    try:
        assert main(command) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    told = capsys.readouterr().err
    assert re.search(
        rf"{tmp_path}/a/points/part-00000\d.parquet: File too large. What is written is whole; to go on:\n  tribosweep resume", told
    )
    assert list((tmp_path / "a" / "points").iterdir()) == []
    assert main(["resume", str(tmp_path / "a")]) == 0
    assert run(large, tmp_path / "a").to_arrow().num_rows == 45
    assert len(fake.calls) >= 5


@pytest.mark.parametrize("number", [13, 28, 30])
def test_a_directory_that_cannot_be_written_is_a_sentence(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    # the system's answer is made up: root may write to a read-only directory
    (tmp_path / "study.toml").write_text(load(STUDY).to_toml())
    command = ["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "ro" / "a")]
    real = os.open

    def refuse(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if str(path).startswith(str(tmp_path / "ro")) and flags & os.O_CREAT:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    assert main(command) == 2
    assert os.strerror(number) in capsys.readouterr().err
    assert not (tmp_path / "ro").exists()
    assert fake.calls == []


def test_a_file_in_the_way_of_the_directory_is_a_sentence(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "study.toml").write_text("")
    assert main(["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "study.toml" / "a")]) == 2
    assert "Not a directory" in capsys.readouterr().err
    assert fake.calls == []


# ---------------------------------------------------------------------------------------------------------------------
# Executors


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--workers", "2"], "--workers: 2 needs --executor dask"),
        (["--scheduler", "tcp://h:1"], "--scheduler: tcp://h:1 needs --executor dask"),
        (["--executor", "dask", "--workers", "0"], "--workers: 0 is out of bounds: must be >= 1"),
        (["--executor", "dask", "--workers", "2", "--scheduler", "tcp://h:1"], "give either --workers or --scheduler"),
        (["--executor", "dask", "--scheduler", "nonsense"], "nonsense: no Dask scheduler answers there within 5 s"),
    ],
)
def test_executors_that_cannot_be_are_refused(tmp_path: Path, capsys: Captured, words: list[str], sentence: str) -> None:
    (tmp_path / "study.toml").write_text("")
    assert main(["run", str(tmp_path / "study.toml"), *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not Path("runs").exists()


def test_without_dask_the_command_that_installs_it_is_told(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    (tmp_path / "study.toml").write_text("")
    assert main(["run", str(tmp_path / "study.toml"), "--executor", "dask"]) == 2
    assert "pip install 'tribosweep[dask]'" in capsys.readouterr().err


def test_a_study_travels_as_its_document(tmp_path: Path) -> None:
    import pickle

    (tmp_path / "points.csv").write_text("a0\n1.0\n")
    config = load({"sweep": {"design": "table", "file": str(tmp_path / "points.csv")}})
    packed = pickle.dumps(config)
    (tmp_path / "points.csv").write_text("a0\n2.0\n")
    with pytest.raises(ConfigError, match="the content of its files differs"):
        pickle.loads(packed)
    (tmp_path / "points.csv").write_text("a0\n1.0\n")
    assert pickle.loads(packed).digest == config.digest


@pytest.mark.slow
@pytest.mark.shapes
def test_any_executor_gives_the_same_rows(tmp_path: Path) -> None:
    study = {"sweep": {**SOBOL, "count": 300}, "output": {"shard_points": 100}}
    whole = run(study, tmp_path / "a").to_arrow()
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert run(study, tmp_path / "b", executor=pool, workers=2).to_arrow().equals(whole)


def test_a_study_of_several_designs_is_extended_or_refused_with_a_sentence(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    for count in (45, 50):
        run_of = {"sweep": [{**SOBOL, "count": count}, {"axes": {"a0": [15.0, 1.5], "mu": [0.1, 0.2]}}]}
        (tmp_path / f"{count}.toml").write_text(load(run_of).to_toml())
    assert main(["run", str(tmp_path / "45.toml"), "--out", str(tmp_path / "a")]) == 0
    assert main(["run", str(tmp_path / "50.toml"), "--out", str(tmp_path / "a"), "--extend"]) in (0, 2)
    assert "Please report" not in capsys.readouterr().err
