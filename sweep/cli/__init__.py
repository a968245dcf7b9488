"""The command line `tribosweep`."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

__all__ = ["console", "main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, and return its exit status; see `process.main`."""
    from tribosweep.sweep.cli.process import main

    return main(arguments)


def console() -> None:
    """Entry point of the command. While packages are imported, SIGINT and SIGTERM end the process at once, with exit status 130 or 143."""

    def stop(number: int, _frame: FrameType | None) -> None:
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)
    open_closed_streams()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins takes 40 ms
    from tribosweep.sweep.cli.process import console

    console()


def open_closed_streams() -> None:
    """Connect streams that the caller has closed to nothing, or the next file to be opened would take their place."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            setattr(sys, name, os.fdopen(descriptor, "r" if descriptor == 0 else "w", encoding="utf-8", closefd=False))
