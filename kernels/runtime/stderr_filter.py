"""A filter that holds back XLA's false alarms from stderr while programs are compiled or loaded."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# XLA tells LLVM to avoid gather and scatter instructions, and lists that preference among the CPU features that a program needs. The
# features of the host list no preferences. So XLA warns of crashes when it loads the program, in two lines of 3 kB each (jax issue 38445).
# A feature that is really missing has a line of its own, which passes the filter. XLA also puts an alarm in a box of asterisks if a program
# takes two minutes to compile, as programs with walls do on a busy machine.
FALSE_ALARM = re.compile(
    rb"cpu_aot_loader\.cc:\d+\] .*Target machine feature \+prefer-no-(gather|scatter) is not +supported"
    rb"|slow_operation_alarm\.cc:\d+\]|^\*{32}$|Very slow compile\?"
)
BEGINS = re.compile(rb"[EWIF\d\[*]")  # what a line begins with that may become one of these
STDERR = 2
FLUSHING = 2.0  # s that an ending process waits for its last lines to be forwarded
_HOLDING = threading.Lock()
_held: list[tuple[int, threading.Thread] | None] = []  # the result of `_hold`, once for each thread in `without_false_alarm`


@contextmanager
def without_false_alarm() -> Iterator[None]:
    """Hold back XLA's false alarms; all other lines on stderr pass in their order.

    Text without the end of its line, such as a bar of progress, passes as it comes, unless it may be the beginning of such an alarm: that
    waits for the end of its line, or of the filter.
    """
    with _HOLDING:  # of simultaneous users the first installs the filter, and the last removes it
        held = _held[-1] if _held else _hold()
        _held.append(held)
    try:
        yield
    finally:
        with _HOLDING:
            _held.remove(held)
            if held and not _held:
                original, reader = held
                os.dup2(original, STDERR)  # which closes the pipe
                reader.join()
                os.close(original)


def _hold() -> tuple[int, threading.Thread] | None:
    """Put a filter before stderr; returns the original descriptor and the thread that forwards to it, or None where stderr is closed."""
    try:
        original = os.dup(STDERR)
    except OSError:
        return None
    end, begin = os.pipe()

    def forward() -> None:
        with os.fdopen(end, "rb", buffering=0) as lines:
            rest = b""
            while chunk := lines.read(65536):
                *whole, rest = (rest + chunk).split(b"\n")
                drawn, end_of_drawn, rest = rest.rpartition(b"\r")
                if not BEGINS.match(rest):
                    drawn, rest = drawn + end_of_drawn + rest, b""
                else:
                    drawn += end_of_drawn
                write_all(original, b"".join(line + b"\n" for line in whole if not FALSE_ALARM.search(line)) + drawn)
            write_all(original, rest)

    reader = threading.Thread(target=forward, name="stderr", daemon=True)
    reader.start()
    os.dup2(begin, STDERR)
    os.close(begin)
    return original, reader


def flush_stderr() -> None:
    """Forward everything that was written to stderr so far, for a process that ends inside `without_false_alarm`."""
    for original, reader in filter(None, _held[:1]):
        with suppress(OSError):  # the filter was removed meanwhile
            os.dup2(original, STDERR)
            reader.join(FLUSHING)


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything, in as many pieces as it takes; a closed descriptor is no error."""
    with suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]
