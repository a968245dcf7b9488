"""What commands share: options, exit statuses, and errors in words."""

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
    """SIGTERM, which ends a run as Ctrl-C does."""


def reason(error: Exception) -> str:
    """An error in words; for a file, its name and the system's message."""
    return f"{error.filename or 'tribosweep'}: {error.strerror or error}" if isinstance(error, OSError) else str(error)
