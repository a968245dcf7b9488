"""The terminal: data on stdout, messages and progress on stderr."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tribosweep.sweep.io.pace import Pace
from tribosweep.sweep.io.text import visible, visible_json

PIPE_WIDTH = 100
LINE = 5.0  # s between lines of progress
GAP = 2  # spaces between columns; half as many at either edge


def stdout() -> Console:
    """The console for data; PIPE_WIDTH columns wide if stdout is no terminal."""
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def emit(text: str) -> None:
    """Print lines of text that are no table on stdout; what would command the terminal is shown as an escape."""
    print(visible(text, lines=True))  # noqa: T201 - the place where data leaves


def say(sentence: str) -> None:
    """Print a sentence for the user on stderr, without wrapping, as `emit` does; if nobody can read it any more, the work goes on."""
    with suppress(OSError):
        print(visible(sentence, lines=True), file=sys.stderr, flush=True)  # noqa: T201 - the place where talk leaves


def print_json(data: Any) -> None:
    """Print one JSON value on stdout: every number with all its digits, null for one that is not finite, a data frame as its rows."""
    emit(visible_json(json.dumps(plain(data), indent=2, ensure_ascii=False, default=str, allow_nan=False)))


def plain(data: Any) -> Any:
    """Data of dicts, sequences, arrays and data frames as JSON has them: the numbers are those of Python, which are written exactly."""
    if isinstance(data, float):
        return float(data) if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {str(name): plain(each) for name, each in data.items()}
    if isinstance(data, list | tuple):
        return [plain(each) for each in data]
    if hasattr(data, "to_dict"):
        return plain(data.to_dict(orient="records"))
    return plain(data.tolist()) if hasattr(data, "tolist") else data


def print_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    right: Sequence[str] = (),
    prose: Sequence[str] = (),
    spare: Sequence[str] = (),
    width: int | None = None,
) -> list[str]:
    """Print a table on stdout; return the names of the columns that are left out.

    No word or number is broken; a table may therefore be wider than the terminal.

    Args:
        title: title above the table; may be empty.
        header: names of the columns, which may have a second line.
        rows: the cells; floats are shown with 7 significant digits.
        right: names of the columns that are aligned right.
        prose: names of the columns that may be wrapped between words.
        spare: names of the columns that are left out, in this order, until the table is narrow enough.
        width: width of the table in columns; None for the width of the terminal.
    """
    shown = [[show(cell) for cell in row] for row in rows]
    columns = dict(zip(header, zip(*shown, strict=True) if shown else [()] * len(header), strict=True))
    console = stdout()
    limit = width or console.width
    for name in spare:
        if needed_width(columns, prose) > limit:
            columns.pop(name, None)
    console.width = max(limit, needed_width(columns, prose))
    table = Table(
        title=Text(visible(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        collapse_padding=True,
    )
    widths = prose_widths(columns, prose, console.width)
    for name in columns:
        side: Literal["left", "right"] = "right" if name in right else "left"
        table.add_column(Text(visible(name, lines=True)), justify=side, no_wrap=name not in prose, overflow="fold", width=widths.get(name))
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
    return [name for name in header if name not in columns]


def needed_width(columns: Mapping[str, Sequence[str]], prose: Sequence[str]) -> int:
    """The smallest width of a table: the longest cell of each column, or the longest word of a column that may be wrapped."""
    widths = [
        max(len(part) for cell in (*header.split("\n"), *cells) for part in ([cell] if header not in prose else cell.split() or [""]))
        for header, cells in columns.items()
    ]
    return sum(widths) + GAP * len(widths)


def prose_widths(columns: Mapping[str, Sequence[str]], prose: Sequence[str], width: int) -> dict[str, int]:
    """Widths of the columns that may be wrapped; empty if all text fits without wrapping.

    Each column has room for its longest word, and a share of the remaining width in proportion to its text.
    """
    least = {name: needed_width({name: columns[name]}, prose) - GAP for name in columns}
    wanted = {name: needed_width({name: columns[name]}, ()) - GAP for name in columns}
    room = width - GAP * len(columns) - sum(least.values())
    missing = {name: wanted[name] - least[name] for name in columns if name in prose}
    total = sum(missing.values())
    return {} if total <= room else {name: least[name] + max(0, room) * more // total for name, more in missing.items()}


def show(cell: Any) -> str:
    """A cell as text: 7 significant digits, "-" for a missing value."""
    if cell is None:
        return "-"
    return f"{cell:.7g}" if isinstance(cell, float) else visible(str(cell))


class Doing(ProgressColumn):
    """A progress column that says what is compiled before the first points are done."""

    def render(self, task: Task) -> Text:
        """The description of `task`, or what is compiled."""
        return Text(task.description if task.completed else at_first(in_work()))


class Left(TimeRemainingColumn):
    """A progress column with the time that is left, while nothing is compiled: nobody knows how long that takes."""

    def render(self, task: Task) -> Text:
        """The time that is left for `task`."""
        return Text("") if in_work() else super().render(task)


def in_work() -> Sequence[str]:
    """The programs that are being compiled, in words."""
    from tribosweep.kernels.runtime.compiling import IN_WORK

    return tuple(IN_WORK)


def at_first(compiled: Sequence[str]) -> str:
    """What a run does before its first points are done, from the programs that are being compiled."""
    return f"compiling {'; '.join(compiled)}" if compiled else "computing"


class Rate(ProgressColumn):
    """A progress column with points (or other things) per second."""

    def __init__(self, things: str) -> None:
        """Set the noun of the counted things."""
        super().__init__()
        self.things = things

    def render(self, task: Task) -> Text:
        """The rate of `task`, or nothing before the first points."""
        return Text(f"{task.speed:,.0f} {self.things}/s" if task.speed else "", style="progress.data.speed")


@contextmanager
def progress(things: str = "points") -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how far something is: a bar with rate and remaining time, or a line every few seconds if stderr is no terminal.

    Args:
        things: noun of the counted things.

    Yields:
        A function of (number of things done, total number).
    """
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        with lines_of_progress(things) as update:
            yield update
        return
    console = Console(file=sys.stderr, force_terminal=True)  # stderr is a pipe while programs are compiled: see `stderr_filter`
    columns = (Doing(), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), Rate(things), Left())
    with Progress(*columns, console=console, transient=True) as bar:
        task, pace = bar.add_task("computing", total=None), Pace()

        def show_bar(done: int, total: int) -> None:
            change = bar.update if pace.goes_on(done, total) else bar.reset  # which forgets the rate
            change(task, completed=done, total=total, description=f"{done:,} of {total:,} {things}")

        yield show_bar


@contextmanager
def lines_of_progress(things: str) -> Iterator[Callable[[int, int], None]]:
    """Print a line of progress every LINE seconds, less often in a long run; see `progress`."""
    begun, ended, pace = time.monotonic(), threading.Event(), Pace()

    def update(done: int, total: int) -> None:
        pace.goes_on(done, total)

    def talk() -> None:
        while not ended.wait(max(LINE, 0.01 * (time.monotonic() - begun))):
            say(describe_progress(pace, things, time.monotonic() - begun, in_work()))

    speaker = threading.Thread(target=talk, name="progress", daemon=True)
    try:
        speaker.start()
    except RuntimeError:  # the system grants no more threads
        ended.set()
    try:
        yield update
    finally:
        ended.set()


def describe_progress(pace: Pace, things: str, elapsed: float, compiled: Sequence[str] = ()) -> str:
    """A line of progress after `elapsed` seconds, from what is done and the programs being compiled."""
    if pace.done == pace.first:  # nothing new is done
        return f"{elapsed:.0f} s: {at_first(compiled)}"
    line = f"{elapsed:.0f} s: {pace.done:,} of {pace.total:,} {things}, {int(100.0 * pace.done / pace.total) if pace.total else 0} %"
    if compiled:
        return f"{line}, {at_first(compiled)}"
    if pace.rate is not None and pace.left is not None:
        line += f", {pace.rate:,.3g} {things}/s, {timedelta(seconds=round(pace.left))} left"
    return line


def say_notes(notes: Sequence[str], files: Sequence[Path | None]) -> None:
    """Print notes on a result and the names of the written files on stderr."""
    for note in notes:
        say(f"Note: {note}")
    for file in files:
        if file is not None:
            say(f"Written: {file}")
