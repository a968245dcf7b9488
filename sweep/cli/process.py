"""The process `tribosweep`: signals, error messages and the exit status.

Exit status: 0 done, 2 wrong configuration or unreadable or unwritable files, 3 failed rows, 4 failed check, 70 internal error,
130 interrupted, 143 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from sweep.cli.app import app
from sweep.cli.shared import BAD_CONFIG, INTERRUPTED, OUR_FAULT, TERMINATED, Terminated, reason
from sweep.cli.terminal import say
from sweep.io.errors import ConfigError, RunError


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM raise Terminated in the main thread, as SIGINT raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the user never sees a traceback.

    Args:
        arguments: replace the arguments of the process.

    Returns:
        The exit status.
    """
    try:
        with terminable():
            app(args=arguments, prog_name="tribosweep")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ConfigError, RunError, OSError) as error:
        say(reason(error))
        return BAD_CONFIG
    except Exception as error:
        if os.environ.get("TRIBOSWEEP_TRACEBACK"):
            traceback.print_exc()
        say(f"tribosweep failed: {type(error).__name__}: {error}. Please report this with the output of TRIBOSWEEP_TRACEBACK=1.")
        return OUR_FAULT
    return 0


def console() -> None:
    """Entry point of the command. It exits at once: a stopped run does not wait for its shards, and Python skips its clean-up (0.2 s)."""
    status = main()
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:  # the reader of a pipe is gone, or the disk is full
        say(reason(error))
        status = BAD_CONFIG
    with suppress(OSError):
        if sys.stderr:
            sys.stderr.flush()
    if stderr_filter := sys.modules.get("kernels.runtime.stderr_filter"):
        stderr_filter.flush_stderr()
    os._exit(status)
