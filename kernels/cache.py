"""Compiled programs are kept between processes, by JAX's persistent compilation cache.

They lie in XDG_CACHE_HOME/tribosweep (~/.cache where that is not set), which is for its owner alone, for what lies there is run; below, one
folder for every kind of CPU, for a program made for one may not run on another. Where JAX's own variables say something else, or nothing
can be kept there, this does nothing.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

WORTH_KEEPING = 0.2  # s of compiling; JAX would keep what takes 1 s
JAX_VARIABLES = ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE")
# XLA asks LLVM not to prefer gather and scatter instructions, and notes that among the features of the CPU that a program needs. When it
# loads the program it misses them among the features of the host, which lists no preferences, and warns of crashes in two lines of 3 kB
# each (jax issue 38445). A feature that is really missing is named in a line of its own, which is not held back.
# It also calls a program that takes two minutes to compile very slow, in a box of asterisks: on a busy machine those of walls are.
FALSE_ALARM = re.compile(
    rb"cpu_aot_loader\.cc:\d+\] .*Target machine feature \+prefer-no-(gather|scatter) is not +supported"
    rb"|slow_operation_alarm\.cc:\d+\]|^\*{32}$|Very slow compile\?"
)
STDERR = 2
FLUSHING = 2.0  # s that a process about to end waits for what it still has to say
_held: list[tuple[int, threading.Thread]] = []  # while stderr is filtered: where it goes, and who forwards it


@functools.lru_cache(maxsize=1)
def use() -> Path | None:
    """Keep the programs that this process compiles from now on, and take those that are there; where that is, None for nowhere."""
    import jax

    if any(name in os.environ for name in JAX_VARIABLES) or jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        return None
    folder = private_folder(cache_home() / "tribosweep", cpu())
    if folder is not None:
        jax.config.update("jax_compilation_cache_dir", str(folder))
        if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
            jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING)
    return folder


def cache_home() -> Path:
    """Where programs of this user keep what can be made again (XDG Base Directory Specification 0.8: a relative path is ignored)."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return Path(home) if Path(home).is_absolute() else Path.home() / ".cache"


def private_folder(parent: Path, name: str) -> Path | None:
    """A folder in `parent`, both made where they are not there; None where `parent` is not this user's alone, or cannot be written."""
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = parent.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return None
        parent.chmod(0o700)
        folder = parent / name
        folder.mkdir(mode=0o700, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        return None
    return folder if os.access(folder, os.R_OK | os.W_OK | os.X_OK) else None


def cpu() -> str:
    """A short name for this kind of CPU: equal where model and features are."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    told = sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part", "CPU implementer"))})
    text = "\n".join([platform.system(), platform.machine(), platform.processor(), *told])
    return f"{platform.machine()}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@contextmanager
def without_false_alarm() -> Iterator[None]:
    """Hold back XLA's false alarms; every other line of stderr passes, as it comes."""
    import jax

    if not jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        yield
        return
    try:
        original = os.dup(STDERR)
    except OSError:  # nobody listens
        yield
        return
    end, begin = os.pipe()

    def forward() -> None:
        with os.fdopen(end, "rb", buffering=0) as lines:
            rest = b""
            while chunk := lines.read(65536):
                *whole, rest = (rest + chunk).split(b"\n")
                write_all(original, b"".join(line + b"\n" for line in whole if not FALSE_ALARM.search(line)))
            write_all(original, rest)

    reader = threading.Thread(target=forward, name="stderr", daemon=True)
    reader.start()
    os.dup2(begin, STDERR)
    os.close(begin)
    _held.append((original, reader))
    try:
        yield
    finally:
        os.dup2(original, STDERR)  # which closes the pipe
        reader.join()
        _held.remove((original, reader))
        os.close(original)


def flush_stderr() -> None:
    """Let everything that was written to stderr reach it, for a process that ends without leaving `without_false_alarm`."""
    for original, reader in reversed(_held):
        with suppress(OSError):  # it was left meanwhile
            os.dup2(original, STDERR)
            reader.join(FLUSHING)


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything, in as many pieces as it takes; nothing where nobody listens."""
    with suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]
