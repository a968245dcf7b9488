"""Common parts of the commands: options, exit statuses and error messages."""

from __future__ import annotations

import errno
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout instead of tables.")]
At = Annotated[list[str] | None, typer.Option(help="Hold another parameter at its value nearest to this one: mu=0.2. Can be repeated.")]
AreasName = Annotated[
    str | None,
    typer.Option(
        "--areas", help="Observable whose words or whole numbers are the areas; default regime, wall_regime or contact_regime[SUPPORT]."
    ),
]
SupportName = Annotated[str | None, typer.Option("--support", help="Of a structure: the support that is shown.")]

BAD_CONFIG, FAILED_ROWS, FAILED_CHECK, OUR_FAULT, NO_RESOURCES, INTERRUPTED, CLOSED_PIPE, TERMINATED = 2, 3, 4, 70, 71, 130, 141, 143


class Terminated(KeyboardInterrupt):
    """Raised by SIGTERM; it ends a run as Ctrl-C does."""


def reason(error: Exception) -> str:
    """The message of an error; for a file error, its name and the message of the system."""
    return f"{error.filename or 'tribosweep'}: {error.strerror or error}" if isinstance(error, OSError) else str(error)


def shortage(error: BaseException) -> str:
    """What the system does not grant, if that is why something failed: memory or a thread; else empty."""
    words = str(error)
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in words or getattr(error, "errno", None) == errno.ENOMEM:
        return f"there is not enough memory{f' ({words})' if words else ''}"
    thread = "can't start new thread" in words or "can't allocate lock" in words
    forks = getattr(error, "errno", None) == errno.EAGAIN and getattr(error, "filename", None) is None  # not a file that is locked
    if (isinstance(error, RuntimeError) and thread) or forks:
        return f"the system grants no more threads or processes ({words}); the limits of the shell: ulimit -u, ulimit -v"
    return ""
