"""How a command ends: its exit status, and an error in words."""

from __future__ import annotations

BAD_CONFIG, FAILED_ROWS, FAILED_CHECK, OUR_FAULT, INTERRUPTED, TERMINATED = 2, 3, 4, 70, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a run as Ctrl-C does."""


def reason(error: Exception) -> str:
    """An error in words: for one of a file, its name and what the system says."""
    return f"{error.filename or 'tribosweep'}: {error.strerror or error}" if isinstance(error, OSError) else str(error)
