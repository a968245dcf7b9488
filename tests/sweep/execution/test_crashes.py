"""Real processes that are stopped and killed, on the real physics: every row is there once, and the same to the last bit."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.sweep.execution.processes import assert_same_bits, read, shards, start, wait_for_shards, write_study
from tribosweep.sweep import load, run
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.lock import holders
from tribosweep.sweep.execution.shard_check import inspect_run

QUICK = """
[output]
shard_points = 64
[sweep]
design = "sobol"
count = 100_000
[sweep.axes]
a0 = { from = 0.5, to = 20.0 }
"""


@pytest.mark.slow
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


def kill_at_random_moments(study: Path, out: Path, times: int) -> list[str]:
    """Start and kill a run until it has been killed so many times, and then let it end; what the processes said."""
    chance = random.Random(20261122)
    begin = time.monotonic()
    with start("run", study, "--out", out.with_name("timed")) as process:
        assert process.wait(300) == 0
    longest = time.monotonic() - begin  # a busy machine takes much longer until a run has written anything
    kills, said = 0, []
    while kills < times:
        begun = ["resume", out], ["check", out, "--repair"], ["run", study, "--out", out]
        words = chance.choice(begun) if (out / "manifest.json").exists() else ["run", study, "--out", out]
        with start(*words) as process:
            try:
                process.wait(chance.uniform(0.03, 0.9) * longest)
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


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("times", [5, pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_random_moments_a_run_ends_with_the_same_bits(tmp_path: Path, times: int) -> None:
    study = write_study(tmp_path / "study.toml", 3_000, 32)
    expected = run(study, tmp_path / "whole")
    said = kill_at_random_moments(study, tmp_path / "out", times)
    assert not any("Traceback" in words or "computed again" in words for words in said)
    assert (tmp_path / "out" / "_SUCCESS").exists()
    assert not list((tmp_path / "out").rglob("*.tmp"))
    assert [path.name for path in shards(tmp_path / "out")] == [path.name for path in shards(tmp_path / "whole")]
    assert_same_bits(read(tmp_path / "out"), read(tmp_path / "whole"))
    assert read(tmp_path / "out").column("point").to_pylist() == list(range(expected.config.design.count))


@pytest.mark.long
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
