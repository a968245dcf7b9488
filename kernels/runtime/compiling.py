"""What this process traces and compiles now, for those who show progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tribosweep.kernels.runtime.stderr_filter import without_false_alarm

IN_WORK: list[str] = []  # the programs that are traced or compiled now, in words
_ended = [0.0]


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Trace, compile or load a program, `what` in words, without XLA's false alarms."""
    IN_WORK.append(what)
    try:
        with without_false_alarm():
            yield
    finally:
        IN_WORK.remove(what)
        _ended[0] = time.monotonic()


def last() -> float:
    """When this process last compiled: now while it does, else the end of the last program [s of the monotonic clock]; 0 if never."""
    return time.monotonic() if IN_WORK else _ended[0]
