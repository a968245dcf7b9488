"""Real processes that are stopped and killed, on the real physics: every row is there once, and the same to the last bit."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sweep import load, run
from sweep.execution.directory import RunDirectory
from sweep.execution.lock import holders
from sweep.execution.shard_check import inspect_run
from tests.sweep.conftest import COMMAND

ROOT = Path(__file__).parents[3]
KILLS = 40
STUDY = """
[study]
scheme = "euler"
[parameters]
k = 3e-5
k_t = 9e6
[time]
end = 6.0
window = [4.0, 6.0]
[output]
shard_points = {shard_points}
[[sweep]]
design = "sobol"
count = {count}
[sweep.axes]
a0 = {{ from = 0.5, to = 20.0 }}
mu = {{ from = 0.02, to = 0.5, spacing = "log" }}
scheme = ["euler", "devogelaere"]
[[sweep]]
[sweep.axes]
a0 = [15.0, 1.5, 1.01, 0.99]
"""
QUICK = """
[output]
shard_points = 64
[sweep]
design = "sobol"
count = 100_000
[sweep.axes]
a0 = { from = 0.5, to = 20.0 }
"""


def write_study(path: Path, count: int, shard_points: int) -> Path:
    """A study of two schemes and two designs."""
    path.write_text(STUDY.format(count=count, shard_points=shard_points))
    return path


def start(*words: object) -> subprocess.Popen[str]:
    """The command, in a process group of its own."""
    command = [sys.executable, "-c", COMMAND, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True)


def shards(directory: Path) -> list[Path]:
    """The files that a reader sees."""
    return sorted((directory / "points").glob("part-*.parquet"))


def wait_for_shards(process: subprocess.Popen[str], directory: Path, count: int) -> None:
    """Wait until that many shards are written."""
    deadline = time.monotonic() + 120.0
    while len(shards(directory)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def read(directory: Path) -> pa.Table:
    """All rows, without what the schema says of where they were computed."""
    return pa.concat_tables([pq.ParquetFile(path).read().replace_schema_metadata(None) for path in shards(directory)])


def assert_same_bits(found: pa.Table, expected: pa.Table) -> None:
    """Column by column, as bytes: NaN and signed zeros count."""
    assert found.column_names == expected.column_names
    for name in expected.column_names:
        one, other = found.column(name).combine_chunks(), expected.column(name).combine_chunks()
        if pa.types.is_dictionary(one.type):
            assert one.to_pylist() == other.to_pylist(), name
        else:
            assert one.null_count == other.null_count, name
            assert one.fill_null(0).to_numpy().tobytes() == other.fill_null(0).to_numpy().tobytes(), name


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_at_once_with_the_line_that_resumes_it(tmp_path: Path, number: int, status: int) -> None:
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(QUICK)
    with start("run", study, "--out", out) as process:
        wait_for_shards(process, out, 2)
        assert holders(out)[0]["pid"] == process.pid
        process.send_signal(number)
        begun = time.monotonic()
        _, told = process.communicate(timeout=20)
    assert process.returncode == status
    assert time.monotonic() - begun < 5.0
    assert f"Interrupted. What is written is whole; to go on:\n  tribosweep resume {out}\n" in told
    assert "Traceback" not in told
    config = load(study)
    found = inspect_run(RunDirectory(out), config)
    assert not found.faulty
    assert 2 <= len(found.whole) < config.shards
    assert not list(out.rglob("*.tmp"))
    assert not holders(out)


def kill_at_random_moments(study: Path, out: Path) -> list[str]:
    """Start and kill a run until it has been killed KILLS times, and then let it end; what the processes said."""
    chance = random.Random(20261122)
    kills, said = 0, []
    while kills < KILLS:
        words = ["resume", out] if (out / "manifest.json").exists() else ["run", study, "--out", out]
        with start(*words) as process:
            try:
                process.wait(chance.uniform(0.1, 3.0))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                kills += 1
            said.append(process.communicate()[1])
        assert process.returncode in (0, -signal.SIGKILL), said[-1]
        if process.returncode == 0:  # done before it was killed: what is lost otherwise is found as well
            for path in chance.sample(shards(out), len(shards(out)) // 2):
                path.unlink()
    with start("resume", out) as process:
        said.append(process.communicate(timeout=300)[1])
    assert process.returncode == 0, said[-1]
    return said


@pytest.mark.slow
def test_killed_at_forty_moments_a_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study.toml", 3_000, 32)
    expected = run(study, tmp_path / "whole")
    said = kill_at_random_moments(study, tmp_path / "out")
    assert not any("Traceback" in words or "computed again" in words for words in said)
    assert (tmp_path / "out" / "_SUCCESS").exists()
    assert not list((tmp_path / "out").rglob("*.tmp"))
    assert [path.name for path in shards(tmp_path / "out")] == [path.name for path in shards(tmp_path / "whole")]
    assert_same_bits(read(tmp_path / "out"), read(tmp_path / "whole"))
    assert read(tmp_path / "out").column("point").to_pylist() == list(range(expected.config.design.count))


def children(process: int) -> list[int]:
    """The processes that a process has started, and so on."""
    own = [int(word) for path in Path(f"/proc/{process}/task").glob("*/children") for word in path.read_text().split()]
    return own + [found for child in own for found in children(child)]


def workers_of(process: int) -> list[int]:
    """The workers of a cluster: what computes."""
    return [child for child in children(process) if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def wait_for_worker(address: str) -> None:
    """Wait until a scheduler has a worker."""
    script = "import sys, distributed; distributed.Client(sys.argv[1]).wait_for_workers(1, timeout=60)"
    subprocess.run([sys.executable, "-c", script, address], check=True, capture_output=True)


@pytest.mark.slow
def test_dask_with_a_worker_killed_gives_the_same_bits(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 2_500, 64), tmp_path / "out"
    run(study, tmp_path / "whole")
    with start("run", study, "--out", out, "--executor", "dask", "--workers", "3") as process:
        wait_for_shards(process, out, 5)
        workers = workers_of(process.pid)
        assert len(workers) == 3
        os.kill(workers[1], signal.SIGKILL)
        _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    assert "Traceback" not in told
    assert_same_bits(read(out), read(tmp_path / "whole"))


@pytest.mark.slow
def test_a_dask_run_is_stopped_by_a_signal_to_all_its_processes_and_by_the_loss_of_its_scheduler(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 2_500, 64), tmp_path / "out"
    with start("run", study, "--out", out, "--executor", "dask", "--workers", "2") as process:
        wait_for_shards(process, out, 3)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"tribosweep resume {out} --executor dask --workers 2" in told
    assert "Traceback" not in told

    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1"],
        stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    try:
        assert scheduler.stderr is not None
        address = next(match[1] for line in scheduler.stderr if (match := re.search(r"Scheduler at: +(tcp://\S+)", line)))
        with start("resume", out, "--executor", "dask", "--scheduler", address) as process:
            assert f"{address}: the scheduler has no worker" in process.communicate(timeout=60)[1]
        assert process.returncode == 2
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard", "--nworkers", "1", "--nthreads", "1"]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=tmp_path, env=environment) as worker:
            wait_for_worker(address)
            with start("resume", out, "--executor", "dask", "--scheduler", address) as process:
                wait_for_shards(process, out, len(shards(out)) + 3)
                scheduler.kill()
                _, told = process.communicate(timeout=120)
            worker.terminate()
    finally:
        scheduler.kill()
        scheduler.communicate()
    assert process.returncode == 2, told
    assert "What is written is whole; to go on:" in told
    assert "Traceback" not in told
    run(study, tmp_path / "whole")
    assert run(study, out).complete
    assert_same_bits(read(out), read(tmp_path / "whole"))


@pytest.mark.slow
def test_parts_that_run_side_by_side_are_the_run(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 2_000, 64), tmp_path / "out"
    run(study, tmp_path / "whole")
    jobs = [start("run", study, "--out", out, "--shard", f"{index}/3") for index in (1, 2, 3)]
    said = [job.communicate(timeout=300)[1] for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0, 0], said
    assert (out / "_SUCCESS").exists()
    assert_same_bits(read(out), read(tmp_path / "whole"))
    with start("resume", out) as process:
        assert "already complete" in process.communicate(timeout=60)[1]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mount") is None or os.geteuid() != 0, reason="a file system of its own needs root and mount")
def test_a_file_system_that_fills_up_loses_nothing(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(small)], check=False, capture_output=True).returncode:
        pytest.skip("this machine does not let root mount a file system")
    try:
        study = write_study(tmp_path / "study.toml", 2_000, 64)
        with start("run", study, "--out", small / "out") as process:
            _, told = process.communicate(timeout=120)
        assert process.returncode == 2
        assert "No space left on device. What is written is whole; to go on:" in told
        subprocess.run(["mount", "-o", "remount,size=100m", str(small)], check=True)
        with start("resume", small / "out") as process:
            _, told = process.communicate(timeout=120)
        assert process.returncode == 0, told
        run(study, tmp_path / "whole")
        assert_same_bits(read(small / "out"), read(tmp_path / "whole"))
    finally:
        subprocess.run(["umount", str(small)], check=True)
