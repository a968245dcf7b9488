"""Exit statuses of the commands, and messages of errors."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from tribosweep.sweep.cli.terminal import say

BAD_CONFIG, FAILED_ROWS, FAILED_CHECK, OUR_FAULT, NO_RESOURCES, INTERRUPTED, CLOSED_PIPE, TERMINATED = 2, 3, 4, 70, 71, 130, 141, 143
EXIT_STATUSES = {
    0: "done; that stdout or stderr is closed (`>&-`) is no failure",
    BAD_CONFIG: "wrong study, option or file; a file or directory that cannot be read or written; a run that cannot continue",
    FAILED_ROWS: "rows of the run have failed, or points of a convergence study have not settled; their column `status` says why; "
    "data to which no lognormal curve can be fitted (`fragility`), or an event that is not reached (`rare`)",
    FAILED_CHECK: "a check has failed: a published value is missed (`verify`), a file is damaged (`check`), the installation is faulty "
    "(`doctor`)",
    OUR_FAULT: "a defect of the program, with a line that asks to report it",
    NO_RESOURCES: "the system grants no more memory, threads or processes",
    INTERRUPTED: "ended by SIGINT (Ctrl-C). A command that was computing rows of a run prints the line that resumes it; `branches`, "
    "`optimise` and `calibrate --posterior` go on if they are given again; other commands begin anew",
    CLOSED_PIPE: "the reader of stdout has gone away before all was printed, as in `tribosweep list models | head -1`",
    TERMINATED: "ended by SIGTERM; otherwise as 130",
}  # exit status of every command -> what it means


class Terminated(KeyboardInterrupt):
    """Raised by SIGTERM; it ends a run as Ctrl-C does."""


_going_on: list[Callable[[], str]] = []  # of the commands that are carried out: what each says after "Interrupted."


@contextmanager
def interruptible(words: Callable[[], str]) -> Iterator[None]:
    """If a signal ends a command meanwhile, say how it goes on, and end with the status of the signal.

    Args:
        words: how it goes on, as it stands when the signal arrives; empty if there is nothing to say.

    Raises:
        typer.Exit: a signal arrived.
    """
    _going_on.append(words)
    try:
        yield
    except KeyboardInterrupt as error:
        say(interrupted())
        raise typer.Exit(TERMINATED if isinstance(error, Terminated) else INTERRUPTED) from None
    finally:
        _going_on.pop()


def interrupted() -> str:
    """What a command says that a signal ends: that it does, and how it goes on if that is known."""
    try:
        more = [words() for words in _going_on[-1:]]
    except Exception:  # the directory may be in any state, and the command must end
        more = []
    return " ".join(filter(None, ["\nInterrupted.", *more]))


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
