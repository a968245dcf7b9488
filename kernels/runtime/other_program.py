"""Running another program, such as a compiler or a browser, for a limited time."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress


def run(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a command without input until it ends, or stop it and everything that it started.

    `subprocess.run` stops only the command itself, and then waits for those that it started, because they hold the same pipes: a compiler
    that is a shell script would keep its caller as long as what the script calls.

    Args:
        command: the program and its arguments. seconds: how long it may take [s].

    Returns:
        The finished process with what it printed; bytes that are no text of this system are replaced.

    Raises:
        subprocess.TimeoutExpired: it did not end in time. OSError: it cannot be started.
    """
    with subprocess.Popen(  # noqa: S603 - the caller chooses the command
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException:  # Ctrl-C too: a session of its own does not get it from the terminal
            _stop(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _stop(process: subprocess.Popen[str]) -> None:
    """Kill a process with its session; where there are no sessions, alone."""
    with suppress(OSError):  # it has just ended
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
