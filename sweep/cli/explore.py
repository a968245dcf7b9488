"""`tribosweep explore`: a run in the browser."""

from __future__ import annotations

import html
import os
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from tribosweep.sweep.cli.arguments import RunFolder
from tribosweep.sweep.cli.terminal import emit, progress, say


def explore(
    directory: RunFolder,
    column: Annotated[
        list[str] | None, typer.Option(help="Column that is shown first; default the swept ones and the first results. Can be repeated.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a page without a server instead, .html: the counts of all rows, to pass on.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port on this machine; 0 takes a free one.")] = 0,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser of this machine.")] = False,
) -> None:
    """Show the rows of a run in the browser as linked views: brushes and filters over any columns, and the trace of any row."""
    names = column or []
    if out is not None:
        write(directory, out, names)
        return
    from tribosweep.sweep.execution.directory import RunDirectory
    from tribosweep.sweep.explore.page import facts_of
    from tribosweep.sweep.explore.rows import Rows
    from tribosweep.sweep.explore.server import Answers, Server

    rows = Rows(directory)
    server = Server(Answers(directory, rows, facts_of(RunDirectory(directory), rows, names)), port)
    said = "all are shown" if rows.every == 1 else f"a sample of one in {rows.every:,} is shown first"
    say(f"{rows.count:,} rows, {said}. The page is only for this machine, and whoever has the address can read the run. Ctrl-C ends it.")
    emit(server.address)
    with opened(server.address) if show else nullcontext():
        server.serve()


@contextmanager
def opened(address: str) -> Iterator[None]:
    """Open a page in the browser of this machine; the context lasts as long as the page.

    All users of a machine can read the arguments of a browser. So it does not get the address with the token, but a file that leads there,
    which this user alone can read.
    """
    with tempfile.TemporaryDirectory(prefix="tribosweep-", ignore_cleanup_errors=True) as folder:
        page, target = Path(folder) / "explore.html", html.escape(address)
        with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write('<!doctype html>\n<meta charset="utf-8">\n<meta name="referrer" content="no-referrer">\n')
            file.write(f'<meta http-equiv="refresh" content="0; url={target}">\n<a href="{target}">The page of the run</a>\n')
        webbrowser.open(page.as_uri())
        yield


def write(directory: Path, out: Path, names: list[str]) -> None:
    """Write a page without a server."""
    from tribosweep.sweep.explore.still import write_still

    with progress("shards") as update:
        size, held = write_still(directory, out, names, update)
    say(f"{held} {size / 1e6:.1f} MB.")
    emit(str(out))
