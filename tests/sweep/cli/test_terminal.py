"""What commands say of their progress."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from tribosweep.kernels.runtime import compiling
from tribosweep.sweep.analysis.calibration import fitting
from tribosweep.sweep.api.progress import described
from tribosweep.sweep.cli import terminal
from tribosweep.sweep.cli.terminal import describe_progress, progress
from tribosweep.sweep.io.pace import Pace

PROGRAMS = ["exact, no friction, stop", "euler in lockstep, penalised friction"]


class Clock:
    """A clock that tests set."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        """Stand in for the monotonic clock; nothing has been compiled."""
        self.now = 0.0
        patch.setattr(time, "monotonic", lambda: self.now)
        patch.setattr(compiling, "_ended", [0.0])

    def pace(self, updates: Sequence[tuple[float, int, int]], compiled: float = 0.0) -> Pace:
        """A pace after updates (when, done, total); the last program was compiled at a time."""
        pace = Pace()
        for self.now, done, total in updates:
            compiling._ended[0] = compiled if compiled <= self.now else 0.0  # noqa: SLF001
            pace.goes_on(done, total)
        return pace


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still."""
    return Clock(monkeypatch)


@pytest.mark.parametrize(
    ("known", "elapsed", "line"),
    [
        ([], 5.2, "5 s: computing"),
        ([(0.5, 0, 8)], 5.2, "5 s: computing"),
        ([(0.5, 4, 8), (3.0, 4, 8)], 10.4, "10 s: computing"),  # four were there before
        ([(1.0, 0, 3000), (11.0, 1000, 3000)], 15.0, "15 s: 1,000 of 3,000 points, 33 %, 100 points/s, 0:00:20 left"),
        ([(1.0, 2000, 3000), (6.0, 3000, 3000)], 7.0, "7 s: 3,000 of 3,000 points, 100 %, 200 points/s, 0:00:00 left"),
    ],
)
def test_a_line_of_progress_says_what_is_done_and_what_is_left(
    known: list[tuple[float, int, int]], elapsed: float, line: str, clock: Clock
) -> None:
    assert describe_progress(clock.pace(known), "points", elapsed) == line


def test_a_line_of_progress_says_what_is_compiled(clock: Clock) -> None:
    assert describe_progress(Pace(), "points", 5.2, PROGRAMS) == f"5 s: compiling {'; '.join(PROGRAMS)}"
    half = clock.pace([(0.0, 0, 80), (10.0, 40, 80)])
    assert describe_progress(half, "points", 12.0, PROGRAMS) == f"12 s: 40 of 80 points, 50 %, compiling {'; '.join(PROGRAMS)}"


def test_the_time_left_counts_no_compiling(clock: Clock) -> None:
    """A minute of compiling before the first of a hundred points says nothing about the other points, which take 0.1 s each."""
    first = [(0.0, 0, 100), (60.1, 1, 100)]
    assert describe_progress(clock.pace(first, compiled=60.0), "points", 61.0) == "61 s: 1 of 100 points, 1 %"
    pace = clock.pace([*first, (61.1, 11, 100)], compiled=60.0)
    assert (pace.rate, pace.left) == (pytest.approx(10.0), pytest.approx(8.9))
    assert described(pace, "points", 61.1) == "11 of 100 points, 0:00:09 left"
    later = clock.pace([(0.0, 0, 100), (1.0, 10, 100), (41.0, 20, 100), (42.0, 30, 100)], compiled=40.0)  # a second program
    assert (later.rate, later.left) == (pytest.approx(10.0), pytest.approx(7.0))


def test_the_bar_forgets_the_rate_of_a_compilation(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    bars = []
    monkeypatch.setattr(terminal, "Console", lambda **_: Console(file=io.StringIO(), force_terminal=True, get_time=lambda: clock.now))
    monkeypatch.setattr(terminal, "Progress", lambda *columns, **options: bars.append(Progress(*columns, **options)) or bars[0])
    with progress() as update:
        update(0, 100)
        clock.now, compiling._ended[0] = 60.1, 60.0  # noqa: SLF001
        update(1, 100)
        for tenth in range(10):
            clock.now = 60.2 + 0.1 * tenth
            update(2 + tenth, 100)
        (task,) = bars[0].tasks
        assert (task.completed, task.speed, task.time_remaining) == (11, pytest.approx(10.0), 9.0)
        assert task.description == "11 of 100 points"


def test_the_bar_goes_on_while_a_program_is_compiled() -> None:
    """XLA's alarms are held back then, so that stderr is no terminal for a while."""
    pty = pytest.importorskip("pty")
    code = """
import time
from tribosweep.kernels.runtime.compiling import compiling
from tribosweep.sweep.cli.terminal import progress
with progress(), compiling("rows"):
    time.sleep(1.0)
    print("end")
"""
    terminal_end, command_end = pty.openpty()
    shown, root = b"", Path(__file__).parents[3]
    with os.fdopen(terminal_end, "rb", buffering=0) as terminal:
        with os.fdopen(command_end, "wb", buffering=0) as stderr:
            subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=stderr, cwd=root, timeout=60, check=True)
        with suppress(OSError):  # Linux says so at the end
            while piece := terminal.read(65536):
                shown += piece
    assert shown.count(b"compiling rows") > 3


def test_a_fit_says_that_it_compiles() -> None:
    """Programs with derivatives are compiled by their first call, not by `batch.compile`."""
    seen: list[tuple[str, ...]] = []

    @contextmanager
    def watched(what: str) -> Iterator[None]:
        with compiling.compiling(what):
            seen.append(tuple(terminal.in_work()))
            yield

    with watched("runs with derivatives"), watched("steps of least squares"):
        pass
    assert seen == [("runs with derivatives",), ("runs with derivatives", "steps of least squares")]
    assert terminal.in_work() == ()
    assert fitting.compiling is compiling.compiling
