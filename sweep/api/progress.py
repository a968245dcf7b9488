"""Progress of a call from Python: a bar in Jupyter, a bar on a terminal if it is asked for, else silence."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from tribosweep.sweep.io.pace import Pace

Progress = Callable[[int, int], None]
SELDOM = 0.2  # s between pictures of a bar in Jupyter


@contextmanager
def shown(progress: Progress | bool | None, things: str = "points") -> Iterator[Progress]:
    """Show how far a call is.

    Args:
        progress: a function of (number of things done, total number); True for a bar, False for none; None for a bar in Jupyter only.
        things: noun of the counted things.

    Yields:
        The function to call.
    """
    if callable(progress):
        yield progress
    elif progress is not False and in_jupyter():
        yield from notebook_bar(things)
    elif progress is True:
        yield from terminal_bar(things)
    else:
        yield lambda _done, _total: None


def in_jupyter() -> bool:
    """Whether this process is the kernel of a notebook."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return hasattr(get_ipython(), "kernel")


def terminal_bar(things: str) -> Iterator[Progress]:
    """A bar on stderr, which vanishes in the end."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(things), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task, pace = bar.add_task(things, total=None), Pace()
        yield lambda done, total: (bar.update if pace.goes_on(done, total) else bar.reset)(task, completed=done, total=total)


def notebook_bar(things: str) -> Iterator[Progress]:
    """A bar below the cell of a notebook, which ends as a line; widgets are not needed."""
    from IPython.display import HTML, display

    begun, drawn, pace = time.monotonic(), [0.0], Pace()  # drawn: when the last picture was
    handle: Any = display(HTML("<progress></progress> compiling and computing"), display_id=True)

    def update(done: int, total: int) -> None:
        now = time.monotonic()
        pace.goes_on(done, total)
        if now - drawn[0] > SELDOM:
            handle.update(HTML(f'<progress value="{done}" max="{total}"></progress> {described(pace, things, now - begun)}'))
            drawn[0] = now

    try:
        yield update
    finally:
        handle.update(HTML(described(pace, things, time.monotonic() - begun)))


def described(pace: Pace, things: str, seconds: float) -> str:
    """How far something is after so many seconds: "2,000 of 8,000 points, 0:00:03 left"."""
    line = f"{pace.done:,} of {pace.total:,} {things}"
    if pace.left is not None and pace.done < pace.total:
        return f"{line}, {timedelta(seconds=round(pace.left))} left"
    return f"{line} in {seconds:.2f} s"
