"""Dask workers that die, stop, hang or have other software: no row is lost or doubled, and the user is told in a sentence."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.sweep.execution.processes import ROOT, assert_same_bits, children, read, shards, start, wait_for_shards, write_study
from tribosweep.sweep import run
from tribosweep.sweep.execution.directory import RunDirectory

pytestmark = [pytest.mark.long, pytest.mark.slow]
DEATH = """
import os, signal, time
from pathlib import Path
import tribosweep.sweep.execution.shard as shard

real, notes = getattr(shard, "real", shard.compute_piece), Path({notes!r})  # Dask loads this twice

def compute_piece(config, number, first):
    {body}
    return real(config, number, first)

shard.compute_piece, shard.real = compute_piece, real
"""
OUT_OF_MEMORY_ONCE = """
    if number == 5 and not notes.exists():
        notes.write_text("x")
        held = []
        while True:
            held.append(bytearray(os.urandom(1 << 20)) * 50)
            time.sleep(0.01)
"""
SHARD_5_KILLS = """
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
"""
STOPS_ONCE = """
    piece = real(config, number, first)
    if number >= 5 and not notes.exists():
        notes.write_text(str(number))
        os.kill(os.getpid(), signal.SIGSTOP)
    return piece
"""
SLOW = """
    time.sleep(0.3)
"""


class Cluster:
    """A scheduler and its workers, processes of this machine."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.folder, self.process = folder, process
        assert process.stderr is not None
        self.address = next(match[1] for line in process.stderr if (match := re.search(r"Scheduler at: +(t(?:cp|ls)://\S+)", line)))
        self.workers: list[subprocess.Popen[bytes]] = []

    def work(self, *words: str, path: tuple[Path, ...] = (), body: str = "", wait: bool = True) -> subprocess.Popen[bytes]:
        """Start a worker with options, folders in front of the project's on its path, and lines in front of what computes a shard."""
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            self.address,
            "--no-dashboard",
            "--nworkers",
            "1",
            "--nthreads",
            "1",
        ]
        if body:
            preload = self.folder / f"preload_{len(self.workers)}.py"
            preload.write_text(DEATH.format(notes=str(self.folder / "notes"), body=body.strip()))
            words = (*words, "--preload", str(preload))
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT)))}
        log = (self.folder / f"worker_{len(self.workers)}.log").open("w")
        process = subprocess.Popen([*command, *words], stdout=log, stderr=log, cwd=self.folder, env=environment, start_new_session=True)
        log.close()
        self.workers.append(process)
        if wait:
            script = "import sys, distributed; distributed.Client(sys.argv[1]).wait_for_workers(int(sys.argv[2]), timeout=60)"
            subprocess.run([sys.executable, "-c", script, self.address, str(len(self.workers))], check=True, capture_output=True)
        return process

    def close(self) -> None:
        """Kill all processes."""
        for process in (*self.workers, self.process):
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@contextmanager
def started(folder: Path, protocol: str = "tcp", **environment: str) -> Iterator[Cluster]:
    """A scheduler without workers."""
    words = ["--port", "0", "--no-dashboard", "--host", "127.0.0.1", "--protocol", protocol]
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", *words]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=folder, env=os.environ | environment, start_new_session=True
    )  # fmt: skip
    cluster = Cluster(folder, process)
    try:
        yield cluster
    finally:
        cluster.close()


def workers_of(process: int) -> list[int]:
    """The workers of a cluster on this machine: what computes."""
    return [child for child in children(process) if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_a_killed_worker_of_this_machine_changes_no_bit(tmp_path: Path) -> None:
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


def test_a_run_is_stopped_by_a_signal_to_all_its_processes_and_by_the_loss_of_its_scheduler(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 2_500, 64), tmp_path / "out"
    with start("run", study, "--out", out, "--executor", "dask", "--workers", "2") as process:
        wait_for_shards(process, out, 3)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"tribosweep resume {out} --executor dask --workers 2" in told
    assert "Traceback" not in told

    with started(tmp_path) as cluster:
        with start("resume", out, "--executor", "dask", "--scheduler", cluster.address) as process:
            assert f"{cluster.address}: the scheduler has no worker" in process.communicate(timeout=60)[1]
        assert process.returncode == 2
        cluster.work()
        with start("resume", out, "--executor", "dask", "--scheduler", cluster.address) as process:
            wait_for_shards(process, out, len(shards(out)) + 3)
            cluster.process.kill()
            _, told = process.communicate(timeout=120)
    assert process.returncode == 2, told
    assert "What is written is whole; to go on:" in told
    assert "Traceback" not in told
    run(study, tmp_path / "whole")
    assert run(study, out).complete


def fake_package(folder: Path, name: str, version: str) -> Path:
    """A folder that lets an installed package look as if it had another version."""
    metadata = folder / name / f"{name}-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder / name


def fake_tribosweep(folder: Path, version: str | None) -> Path:
    """A folder with tribosweep of another version, or with a package of that name that is another one."""
    package = folder / f"tribosweep_{version}" / "tribosweep" / "sweep" / "io"
    package.mkdir(parents=True)
    for path in (package.parents[1], package.parent, package):
        (path / "__init__.py").touch()
    if version is not None:
        (package / "version.py").write_text(f"VERSION, SCHEMA_VERSION = {version!r}, 3\n")
    return package.parents[2]


def test_workers_with_other_software_get_no_work_and_are_named(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 640, 64), tmp_path / "out"
    run(study, tmp_path / "whole")
    with started(tmp_path) as cluster:
        cluster.work(path=(fake_tribosweep(tmp_path, "0.0.7"),))
        cluster.work(path=(fake_tribosweep(tmp_path, None),))
        cluster.work(path=(fake_package(tmp_path, "jax", "0.9.9"),))
        with start("run", study, "--out", out, "--executor", "dask", "--scheduler", cluster.address) as process:
            _, told = process.communicate(timeout=120)
        assert process.returncode == 2, told
        assert told.count("gets no work") == 3
        assert not out.exists()
        cluster.work()
        with start("run", study, "--out", out, "--executor", "dask", "--scheduler", cluster.address) as process:
            _, told = process.communicate(timeout=120)
    assert process.returncode == 0, told
    told = " ".join(told.split())
    assert "tribosweep 0.0.7 there, 0.1.0 here" in told
    assert "tribosweep missing there, 0.1.0 here" in told
    assert re.search(r"worker tcp://\S+ on \S+ gets no work: jax 0\.9\.9 there, [\d.]+ here", told)
    assert_same_bits(read(out), read(tmp_path / "whole"))


def test_a_worker_that_is_killed_for_its_memory_is_replaced(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 640, 64), tmp_path / "out"
    run(study, tmp_path / "whole")
    with started(tmp_path) as cluster:
        cluster.work("--memory-limit", "2GB", body=OUT_OF_MEMORY_ONCE)
        with start("run", study, "--out", out, "--executor", "dask", "--scheduler", cluster.address) as process:
            _, told = process.communicate(timeout=200)
    assert process.returncode == 0, told
    assert "exceeded 95% memory budget" in (tmp_path / "worker_0.log").read_text()
    assert_same_bits(read(out), read(tmp_path / "whole"))


def test_a_shard_that_kills_every_worker_is_named_and_all_others_are_written(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 640, 64), tmp_path / "out"
    run(study, tmp_path / "whole")
    with started(tmp_path) as cluster:
        cluster.work(body=SHARD_5_KILLS)
        cluster.work(body=SHARD_5_KILLS)
        with start("run", study, "--out", out, "--executor", "dask", "--scheduler", cluster.address) as process:
            _, told = process.communicate(timeout=200)
    assert process.returncode == 2, told
    told = " ".join(told.split())
    assert f"shard 5 ({RunDirectory(out).shard(5).name}) was lost" in told
    assert "all other shards are computed" in told
    assert f"tribosweep resume {out} --executor dask" in told
    lost = RunDirectory(out).shard(5).name
    assert [path.name for path in shards(out)] == [path.name for path in shards(tmp_path / "whole") if path.name != lost]
    assert run(study, out).complete
    assert_same_bits(read(out), read(tmp_path / "whole"))


def test_a_run_ends_when_its_last_worker_has_been_away_for_too_long(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 1_500, 64), tmp_path / "out"
    impatient = "import tribosweep.sweep.execution.dask_executor as executor; executor.PATIENCE = 5.0"
    with started(tmp_path) as cluster:
        worker = cluster.work("--no-nanny", body=SLOW)
        with start("run", study, "--out", out, "--executor", "dask", "--scheduler", cluster.address, before=impatient) as process:
            wait_for_shards(process, out, 2)
            os.killpg(worker.pid, signal.SIGKILL)
            _, told = process.communicate(timeout=60)
    assert process.returncode == 2, told
    told = " ".join(told.split())
    assert f"the Dask scheduler {cluster.address} has had no worker for this run for 5 s" in told
    assert f"tribosweep resume {out} --executor dask" in told
    assert "Traceback" not in told
    assert RunDirectory(out).shard(0).exists()
    run(study, tmp_path / "whole")
    assert run(study, out).complete
    assert_same_bits(read(out), read(tmp_path / "whole"))


def test_the_late_result_of_a_worker_that_was_thought_dead_doubles_no_row(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "study.toml", 1_500, 64), tmp_path / "out"
    whole = run(study, tmp_path / "whole")
    with started(tmp_path, DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="3s") as cluster:
        late = cluster.work("--no-nanny", body=STOPS_ONCE)
        cluster.work("--no-nanny", body=SLOW)
        with start("run", study, "--out", out, "--executor", "dask", "--scheduler", cluster.address) as process:
            wait_for_shards(process, out, 7)
            number = int((tmp_path / "notes").read_text())
            deadline = time.monotonic() + 120.0
            while not RunDirectory(out).shard(number).exists():
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            late.send_signal(signal.SIGCONT)
            _, told = process.communicate(timeout=200)
    assert process.returncode == 0, told
    assert read(out).column("point").to_pylist() == list(range(whole.config.design.count))
    assert_same_bits(read(out), read(tmp_path / "whole"))
