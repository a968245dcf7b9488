"""Two processes on one directory of results, results of several kinds in one, and studies that are edited between extensions."""

from __future__ import annotations

import hashlib
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sweep.execution.processes import start, wait_for_shards
from tests.sweep.execution.scenarios import CHOICE, FIT, install, plane
from tests.sweep.execution.scenarios import write as write_toml
from tribosweep.sweep import calibrate, open_run, optimise
from tribosweep.sweep.analysis.branching import analysis as branching
from tribosweep.sweep.analysis.branching.results import block_table
from tribosweep.sweep.analysis.calibration import analysis as fits
from tribosweep.sweep.analysis.calibration.posterior.smc import Particles, SmcSettings, Stage
from tribosweep.sweep.analysis.calibration.posterior.smc_stages import StageFiles
from tribosweep.sweep.analysis.optimisation import analysis as searches
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.directory import is_temporary
from tribosweep.sweep.execution.lock import hold, holders
from tribosweep.sweep.io import system

PATIENCE = 300.0  # s
FITTED = (0, 3)  # exit statuses of fits to made up data, which need not converge
ALONG = {"along": {"mu": {"from": 0.1, "to": 0.5}}}
STUDIES: dict[str, dict[str, Any]] = {
    "run": plane(2),
    "calibrate": FIT,
    "optimise": CHOICE,
    "branches": {"study": {"name": "slides"}, "parameters": {"a0": 5.0, "k": 1.0}, "branches": ALONG},
}  # command that writes a directory of its own -> its study
STUDY = """
[study]
name = "study"
scheme = "euler"
[parameters]
k_t = 9e6
k = {k}
[time]
end = 2.0
[output]
shard_points = 16
[sweep]
design = "sobol"
count = {count}
seed = {seed}
[sweep.axes]
a0 = {{ from = 0.5, to = 20.0 }}
mu = {{ from = 0.02, to = 0.5, spacing = "log" }}
"""


def write(path: Path, count: int, seed: int = 1, k: float = 3e-5) -> Path:
    """A study; one with a larger count extends it."""
    path.write_text(STUDY.format(count=count, seed=seed, k=k))
    return path


def end(process: subprocess.Popen[str], allowed: tuple[int, ...] = (0, 2)) -> tuple[int, str]:
    """The exit status of a command, one of those that are allowed, and what it said."""
    out, told = process.communicate(timeout=PATIENCE)
    assert process.returncode in allowed, (process.returncode, told)
    assert "Traceback" not in out + told
    return process.returncode, told


def content(directory: Path) -> dict[str, str]:
    """The digests of all files of a run."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.rglob("*") if path.is_file()
    }


def same_rows(one: Path, other: Path) -> bool:
    """Whether two complete runs have the same rows, bit by bit."""
    runs = [open_run(path) for path in (one, other)]
    assert all(run.complete for run in runs)
    return bool(runs[0].to_arrow().equals(runs[1].to_arrow()))


@pytest.mark.long
@pytest.mark.slow
def test_a_study_that_was_edited_between_extensions_is_refused_or_right(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert end(start("run", write(tmp_path / "a.toml", 24), "--out", run))[0] == 0
    process = start("run", write(tmp_path / "b.toml", 40_000), "--out", run, "--extend")
    wait_for_shards(process, run, 4)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = content(run)
    others = {
        "other points": write(tmp_path / "points.toml", 50_000, seed=2),
        "other physics": write(tmp_path / "physics.toml", 50_000, k=3e-4),
        "fewer points": write(tmp_path / "fewer.toml", 30),
    }
    for what, study in others.items():
        status, told = end(start("run", study, "--out", run, "--extend"))
        assert status == 2, what
        assert "another study" in told or "does not extend" in told, told
        assert content(run) == before, what
    assert end(start("run", write(tmp_path / "c.toml", 96), "--out", tmp_path / "short"))[0] == 0
    assert end(start("run", write(tmp_path / "d.toml", 160), "--out", tmp_path / "short", "--extend"))[0] == 0
    assert end(start("run", tmp_path / "d.toml", "--out", tmp_path / "fresh"))[0] == 0
    assert same_rows(tmp_path / "short", tmp_path / "fresh")


@pytest.mark.long
@pytest.mark.slow
def test_a_study_that_is_edited_while_it_is_extended_does_not_change_its_rows(tmp_path: Path) -> None:
    run, study = tmp_path / "run", write(tmp_path / "study.toml", 16)
    assert end(start("run", study, "--out", run))[0] == 0
    process = start("run", write(study, 4_000), "--out", run, "--extend")
    wait_for_shards(process, run, 3)
    write(study, 4_000, seed=2, k=3e-4)
    assert end(process)[0] == 0
    assert end(start("run", write(tmp_path / "whole.toml", 4_000), "--out", tmp_path / "fresh"))[0] == 0
    assert same_rows(run, tmp_path / "fresh")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False])
def test_of_two_processes_on_one_directory_one_writes_and_the_other_says_who(same: bool, tmp_path: Path) -> None:
    studies = [write(tmp_path / "one.toml", 800), write(tmp_path / "other.toml", 800, seed=1 if same else 2)]
    fresh = [tmp_path / "fresh 0", tmp_path / "fresh 1"]
    for study, path in zip(studies, fresh, strict=True):
        assert end(start("run", study, "--out", path))[0] == 0
    rng = random.Random(0)
    for attempt in range(4):
        run = tmp_path / f"run {attempt}"
        processes = []
        for study in studies:
            processes.append(start("run", study, "--out", run))
            time.sleep(rng.choice([0.0, 0.0, 0.3, 1.0]))
        ends = [end(process) for process in processes]
        assert 0 in [status for status, _ in ends]
        for status, told in ends:
            assert status == 0 or "is being written by process" in told or "another study" in told, told
        winner = next(place for place, (status, _) in enumerate(ends) if status == 0)
        assert same_rows(run, fresh[winner])
        assert end(start("check", run))[0] == 0
        assert not [path for path in run.rglob("*") if path.name.startswith(".")]


@pytest.mark.long
@pytest.mark.slow
def test_of_two_calibrations_in_one_directory_one_writes_and_the_other_says_who(tmp_path: Path) -> None:
    (tmp_path / "slides.csv").write_text("a0,wear_power\n3.0,1.0\n4.0,2.0\n5.0,3.0\n")
    study = write_toml(tmp_path / "fit.toml", {**FIT, "calibration": {**FIT["calibration"], "data": str(tmp_path / "slides.csv")}})
    words = [["calibrate", study, "--set", f"parameters.omega={omega}", "--out"] for omega in (6.0, 7.0)]
    fresh = [tmp_path / "fresh 0", tmp_path / "fresh 1"]
    for each, path in zip(words, fresh, strict=True):
        end(start(*each, path), FITTED)
    wanted = [content(path) for path in fresh]
    assert wanted[0] != wanted[1]
    for first in (0, 1):
        out = tmp_path / f"out {first}"
        process = start(*words[first], out)
        deadline = time.monotonic() + PATIENCE
        while not (out / ".lock").exists() or not holders(out):
            assert process.poll() is None, "it ended before it was seen to hold the directory"
            assert time.monotonic() < deadline
            time.sleep(0.002)
        process.send_signal(signal.SIGSTOP)
        try:
            assert [one["pid"] for one in holders(out)] == [process.pid]
            status, told = end(start(*words[1 - first], out))
        finally:
            process.send_signal(signal.SIGCONT)
        assert status == 2
        assert f"is being written by process {process.pid}" in told
        end(process, FITTED)
        assert content(out) == wanted[first]


@pytest.fixture
def studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files of `STUDIES`; their physics have stand-ins."""
    (tmp_path / "slides.csv").write_text("a0,wear_power\n3.0,1.0\n4.0,2.0\n5.0,3.0\n")
    monkeypatch.chdir(tmp_path)
    install(monkeypatch)  # of the test itself, which replaces some stand-ins once more: all are undone in reverse
    monkeypatch.setattr(branching, "block_tables", lambda study, number: {"points": block_table(study, points_of(study, number), [])})
    return {command: write_toml(tmp_path / f"{command}.toml", study) for command, study in STUDIES.items()}


def points_of(study: Any, number: int) -> Any:
    """The points of a block of branches."""
    return study.config.design.points(number, number + 1)


@pytest.mark.parametrize("command", STUDIES)
def test_no_command_writes_a_directory_that_another_one_writes(
    command: str, studies: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with hold(out):
        assert main([command, studies[command], "--out", str(out)]) == 2
        assert "is being written by process" in capsys.readouterr().err
        assert [*content(out)] == [".lock"]
    assert not out.exists()
    assert main([command, studies[command], "--out", str(out)]) in (0, 3)
    assert ".lock" not in content(out)


def stages(words: list[str], out: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What `out` has after each change of a file by a command, in folders of `kept`: what an interruption there leaves."""
    found = dict[tuple[str, ...], Path]()
    with monkeypatch.context() as patch:
        for call in ("replace", "remove", "make_folder"):
            patch.setattr(system, call, followed_by(getattr(system, call), lambda: keep(out, kept, found)))
        assert main(words) in (0, 3)
    return [*found.values()]


def followed_by(call: Callable[..., Any], look: Callable[[], None]) -> Callable[..., Any]:
    """A call after which somebody looks."""

    def both(*given: Any) -> Any:
        result = call(*given)
        look()
        return result

    return both


def keep(out: Path, kept: Path, found: dict[tuple[str, ...], Path]) -> None:
    """Copy a directory, without what only a running process has there, if its files have other names than those of copies before."""
    names = tuple(sorted(name for name in content(out) if not is_temporary(Path(name))))
    if names and names not in found:
        found[names] = kept / str(len(found))
        shutil.copytree(out, found[names], ignore=lambda _, names: [name for name in names if is_temporary(Path(name))])


@pytest.mark.parametrize("first", STUDIES)
def test_a_directory_has_results_of_one_kind_begun_or_ended(
    first: str, studies: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = stages([first, studies[first], "--out", str(tmp_path / "out")], tmp_path / "out", tmp_path / "kept", monkeypatch)
    if first == "calibrate":
        found += stages_of_samples(tmp_path / "samples")
    assert len(found) > 2
    for out in found:
        before = content(out)
        for command, study in studies.items():
            if command != first:
                assert main([command, study, "--out", str(out)]) == 2, (command, [*before])
                assert content(out) == before, (command, [*before])
        assert main([first, studies[first], "--out", str(out)]) in (0, 3), [*before]


def stages_of_samples(folder: Path) -> list[Path]:
    """A directory of a calibration that was interrupted while it drew samples, which no stand-in does."""
    ones = np.ones(2)
    particles = Particles(np.ones((2, 1)), ones, ones, np.zeros(2, dtype=int), 1.0, (Stage(0.5, 2.0, 0.0, 1, 0.5, 2, 2),))
    StageFiles(folder, "other", SmcSettings(), 1).save(0, particles)
    return [folder]


def test_a_study_beside_which_results_go_stays(studies: dict[str, str], tmp_path: Path) -> None:
    for command, study in studies.items():
        out = tmp_path / f"out {command}"
        out.mkdir()
        (out / "config.toml").write_text("# why\n[parameters]\na0 = 5.0\n")
        before = content(out)
        assert main([command, study, "--out", str(out)]) == 2
        assert content(out) == before, command


@pytest.mark.parametrize(("module", "call", "study"), [(fits, calibrate, FIT), (searches, optimise, CHOICE)], ids=["fits", "searches"])
def test_a_directory_is_held_while_its_results_are_computed(
    module: Any, call: Callable[..., Any], study: dict[str, Any], studies: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, compute = list[int](), module.carry_out

    def watched(*given: Any) -> Any:
        seen.append(len(holders(tmp_path / "out")))
        return compute(*given)

    monkeypatch.setattr(module, "carry_out", watched)
    call(study, tmp_path / "out", progress=False)
    command = "calibrate" if study is FIT else "optimise"
    assert main([command, studies[command], "--out", str(tmp_path / "out")]) == 0
    assert seen == [1, 1]
