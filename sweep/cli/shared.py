"""Common parts of the commands: options, exit statuses and error messages."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout instead of tables.")]
At = Annotated[list[str] | None, typer.Option(help="Hold another parameter at its value nearest to this one: mu=0.2. Can be repeated.")]
AreasName = Annotated[
    str | None, typer.Option("--areas", help="Observable whose words or whole numbers are the areas; default regime, or wall_regime.")
]

BAD_CONFIG, FAILED_ROWS, FAILED_CHECK, OUR_FAULT, INTERRUPTED, TERMINATED = 2, 3, 4, 70, 130, 143


class Terminated(KeyboardInterrupt):
    """Raised by SIGTERM; it ends a run as Ctrl-C does."""


def reason(error: Exception) -> str:
    """The message of an error; for a file error, its name and the message of the system."""
    return f"{error.filename or 'tribosweep'}: {error.strerror or error}" if isinstance(error, OSError) else str(error)
