"""The benchmark of accelerators: a dry run on the CPU measures, compares and writes what it should, and no failure stops it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import accelerator
from benchmarks.accelerator import ACCELERATOR, CPU, ENGINES, SMALL, Device, Found, Job, Meter, found_by, report
from tribosweep.kernels.batch import program_key, solve
from tribosweep.kernels.models import MODELS

ROOT = Path(__file__).parents[2]


def cells(text: str, engine: str) -> list[list[str]]:
    """The cells of the lines of an engine."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith(f"| {engine} |")]


def dry_run(out: Path, seconds: float, *engines: str) -> str:
    """The file that a dry run of some engines writes."""
    chosen = [word for engine in engines for word in ("--engine", engine)]
    command = [sys.executable, "-m", "benchmarks.accelerator", "--dry-run", "--seconds", str(seconds), "--out", str(out), *chosen]
    subprocess.run(command, cwd=ROOT, check=True, timeout=seconds + 30)
    return out.read_text(encoding="utf-8")


def check(text: str, engine: str) -> None:
    """All that was asked for is in the tables."""
    (first, *_), *_ = [cells(text, engine)]
    name, what, lanes, steps, compiling, *rates, _, cpu, times, off, differ, failed = first
    assert (name, what, lanes, steps) == (engine, "as set", str(SMALL.lanes[0]), str(SMALL.steps[0]))
    assert all(float(each.replace(",", "")) > 0.0 for each in (compiling, *rates[:2], cpu, times))
    assert float(off.split()[0]) < 1e-6
    assert (differ, failed.split()[0]) == ("0", "0")


@pytest.mark.long
@pytest.mark.slow
def test_a_dry_run_writes_rates_the_best_lanes_and_how_far_the_results_lie_apart(tmp_path: Path) -> None:
    engine = "exact, k = c = 0"
    text = dry_run(tmp_path / "found.md", 120.0, engine)
    check(text, engine)
    lanes = cells(text.partition("## Lanes")[2], engine)
    assert int(lanes[0][-1]) in SMALL.lanes
    assert text.rstrip().endswith("Nothing.")


@pytest.mark.long
@pytest.mark.slow
def test_a_dry_run_of_every_kind_of_loop(tmp_path: Path) -> None:
    engines = "euler", "stop", "structures", "rk54"
    text = dry_run(tmp_path / "found.md", 600.0, *engines)
    assert text.rstrip().endswith("Nothing."), text
    for engine in engines:
        check(text, engine)


@pytest.mark.parametrize("name", [name for name, engine in ENGINES.items() if engine.case is not None])
@pytest.mark.parametrize("short", [False, True], ids=["", "short"])
def test_the_rows_of_an_engine_are_accepted_and_share_a_program(name: str, short: bool) -> None:
    engine = ENGINES[name].short() if short else ENGINES[name]
    case, count, rows = engine.case, 100, engine.case.columns(100)
    model = MODELS[case.model]
    steady = {"end": 1.0, "window_end": 1.0} if case.window else {}
    resolved = {name: np.asarray(value) for name, value in {**model.resolve(rows), **steady}.items()}
    assert not solve.check(model, case.scheme, resolved, rows, {}, count).any()
    precision = np.dtype(engine.dtype).name
    assert len(program_key.groups(model, case.scheme, case.window, resolved, np.arange(count), precision=precision)) == 1


def test_what_failed_is_said_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    good, stuck, wrong = "euler", "stop", "rk54"
    for name, kind in ((good, "rate"), (stuck, "compiled")):
        line = {"kind": kind, "what": "as set", "lanes": 4, "steps": 1, "rows": 64, "seconds": 0.5, "whole": 1.0}
        lines = [{**line, "kind": "compiled"}, line] if kind == "rate" else [line]
        (tmp_path / f"{name}, {ACCELERATOR}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / f"{wrong}, {ACCELERATOR}.log").write_text("...\nout of memory\n")
    ended = {good: 0, stuck: -9, wrong: 1}
    every = {}
    for name, status in ended.items():
        job = Job(name, ACCELERATOR, process=SimpleNamespace(returncode=status))
        job.ended = "not done when its time was up" if name == stuck else ""
        every[name] = found_by(job, tmp_path), found_by(Job(name, CPU), tmp_path)
    text = report(every, SMALL, ["About."])
    assert cells(text, good)[0][5] == "128"
    assert f"- {stuck}, accelerator: not done when its time was up" in text
    assert f"- {wrong}, accelerator: ended with status 1: out of memory" in text
    assert f"- {good}, cpu: not begun: the time was up" in text
    assert f"- {good}, accelerator" not in text


def test_a_process_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "GRACE", 0.2)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    job = Job("euler", CPU, until=time.time() + 0.5, process=process)
    begun = time.time()
    while job.runs(begun + 60.0):
        time.sleep(0.02)
    assert 0.5 < time.time() - begun < 10.0
    assert job.ended
    assert found_by(job, tmp_path).wrong == job.ended


class Clockwork:
    """An engine whose runs take as long as it says."""

    def __init__(self, seconds_of_a_block: float, lanes: int) -> None:
        self.each, self.lanes = seconds_of_a_block, lanes

    def run(self, count: int, _first: int, _room: int) -> SimpleNamespace:
        return SimpleNamespace(run_seconds=self.each * -(-count // self.lanes), compile_seconds=0.0)


def test_rows_stop_growing_where_the_next_number_would_take_too_long() -> None:
    told: list[dict[str, object]] = []
    meter = Meter(Clockwork(2.0, 64), SMALL, lambda kind, **fields: told.append({"kind": kind, **fields}), time.time() + 10.0)
    meter.lanes, meter.steps = 64, 1
    meter.grow("as set", SMALL.rows[-1])  # 1, 4 and 16 blocks: 2, 8 and 32 s
    assert [each["rows"] for each in told] == [64]


def test_a_device_is_held_by_one_process_at_a_time_and_may_be_taken_again(tmp_path: Path) -> None:
    one, other, order = Device(tmp_path / "lock"), Device(tmp_path / "lock"), []

    def waits() -> None:
        with other:
            order.append("other")

    with one:
        thread = threading.Thread(target=waits)
        thread.start()
        with one:
            time.sleep(0.2)
        order.append("one")
    thread.join(timeout=10.0)
    assert order == ["one", "other"]


def test_a_found_rate_belongs_to_its_setting() -> None:
    lines = [
        {"kind": "compiled", "lanes": 4, "steps": 1},
        {"kind": "rate", "lanes": 4, "steps": 1, "rows": 10, "seconds": 1.0},
        {"kind": "rate", "lanes": 8, "steps": 1, "rows": 10, "seconds": 0.5},
        {"kind": "best", "lanes": 8, "steps": 1},
    ]
    found = Found(lines, {"status": np.zeros(10)}, "")
    assert (found.rates("as set"), found.rates("best")) == ({10: 10.0}, {10: 20.0})
