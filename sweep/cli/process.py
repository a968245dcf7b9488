"""The process `tribosweep`: signals, error messages and the exit status.

Exit statuses and their meanings are in `shared`.
"""

from __future__ import annotations

import errno
import functools
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

import typer

from tribosweep.sweep.cli.app import app
from tribosweep.sweep.cli.shared import (
    BAD_CONFIG,
    CLOSED_PIPE,
    INTERRUPTED,
    NO_RESOURCES,
    OUR_FAULT,
    TERMINATED,
    Terminated,
    interrupted,
    reason,
    shortage,
)
from tribosweep.sweep.cli.terminal import say
from tribosweep.sweep.io import system
from tribosweep.sweep.io.errors import ConfigError, RunError
from tribosweep.sweep.io.text import visible

STDERR = 2  # its descriptor
UsageError: Any = typer.BadParameter.__base__  # typer has no public name for the base of its errors


@contextmanager
def stoppable() -> Iterator[list[int]]:
    """Let SIGTERM raise Terminated in the main thread, as SIGINT raises KeyboardInterrupt; yield the signals received so far."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        stopped = Terminated() if number == signal.SIGTERM else KeyboardInterrupt()
        if not system.UNDIVIDED.put_off(stopped):
            raise stopped

    numbers = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the user never sees a traceback.

    Args:
        arguments: replace the arguments of the process.

    Returns:
        The exit status.
    """
    received: list[int] = []
    try:
        with stoppable() as received:
            status = run(arguments)
    except KeyboardInterrupt as error:
        say(interrupted())
        status = TERMINATED if isinstance(error, Terminated) else INTERRUPTED
    return 128 + received[0] if received else status  # packages may turn the exception of a signal into another one


def run(arguments: list[str] | None) -> int:
    """Run a command and return its exit status; only signals are not caught."""
    if any("\0" in word for word in arguments or ()):
        say("tribosweep: an argument holds a null character")
        return BAD_CONFIG
    try:
        status = command().main(args=arguments, prog_name="tribosweep", standalone_mode=False)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # typer ends so when the reader of stdout is gone
            return CLOSED_PIPE
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception as error:
        return explain(error)
    return status if isinstance(status, int) else 0


@functools.cache
def command() -> Any:
    """The command line as Click's command, which typer builds from the signatures of all commands (70 ms)."""
    return typer.main.get_command(app)


def explain(error: Exception) -> int:
    """Say why a command failed, and return its exit status."""
    if isinstance(error, UsageError):
        told = io.StringIO()
        error.show(file=told)
        say(told.getvalue().rstrip())
    elif lacking := shortage(error):
        say(f"tribosweep: {lacking}")
        return NO_RESOURCES
    elif isinstance(error, ConfigError | RunError | OSError):
        say(reason(error))
    else:
        if os.environ.get("TRIBOSWEEP_TRACEBACK"):
            traceback.print_exc()
        say(f"tribosweep failed: {type(error).__name__}: {error}. Please report this with the output of TRIBOSWEEP_TRACEBACK=1.")
        return OUR_FAULT
    return BAD_CONFIG


def console() -> None:
    """The process of the command. It exits at once: a stopped run does not wait for its shards, and Python skips its clean-up (0.2 s)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.unraisablehook = stop_or_tell
    status = main()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        sys.stdout.flush()
    except OSError as error:  # the reader of a pipe is gone, or the disk is full
        status = CLOSED_PIPE if error.errno == errno.EPIPE else BAD_CONFIG
        if status == BAD_CONFIG:
            say(f"stdout: {error.strerror}")
    with suppress(OSError):
        sys.stderr.flush()
    leave(status)


def leave(status: int) -> NoReturn:
    """End the process at once, after its locks are gone and what was written to stderr has come through."""
    if lock := sys.modules.get("tribosweep.sweep.execution.lock"):
        lock.release_all()
    if stderr_filter := sys.modules.get("tribosweep.kernels.runtime.stderr_filter"):
        stderr_filter.flush_stderr()
    os._exit(status)


def stop_or_tell(found: Any) -> None:
    """Say so and end the process if a signal arrived where Python cannot raise its exception, as in the clean-up of an object."""
    if isinstance(found.exc_value, KeyboardInterrupt):
        with suppress(OSError):
            # Python's own stream may be in use where the signal arrived
            system.write(STDERR, visible(f"{interrupted()}\n", lines=True).encode())
        leave(TERMINATED if isinstance(found.exc_value, Terminated) else INTERRUPTED)
    sys.__unraisablehook__(found)
