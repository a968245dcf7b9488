"""Store of compiled programs between processes: programs of batches as a whole, all others in JAX's persistent compilation cache.

The programs lie in the user's cache folder (XDG_CACHE_HOME/tribosweep or ~/.cache/tribosweep on Linux). Only its owner may write there,
because its files are executed. Each kind of CPU has a subfolder, because a program is made for one kind. Nothing is kept if JAX's own
variables choose another cache, or if the folder cannot be written.

JAX finds a program by its text, and must trace and lower it first: 1 to 2 s for the programs of a study. The programs of `batch` are found
by their origin instead: the files of this package, versions, options and shapes (`kept`).
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import platform
import secrets
import stat
import sys
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

WORTH_KEEPING = 0.2  # compile time [s] from which a program is kept; the default of JAX is 1 s
JAX_VARIABLES = ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE")
FORGOTTEN = 30 * 86400.0  # time [s] after which an unused program is removed; programs of other versions would stay for ever
HIT = "/jax/compilation_cache/cache_hits"  # the event of JAX when it loads a program from its own cache


@functools.lru_cache(maxsize=1)
def use() -> Path | None:
    """Keep the programs that this process compiles from now on, and load kept ones. Returns their folder; None: nothing is kept."""
    import jax

    if any(name in os.environ for name in JAX_VARIABLES) or jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        return None
    folder = private_folder(cache_home(), cpu())
    if folder is not None:
        jax.config.update("jax_compilation_cache_dir", str(folder))
        if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
            jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING)
    return folder


def kept(key: object, make: Callable[[str], Any], works: Callable[[Any], object]) -> Any:
    """A program, loaded where it is kept; else it is made, and kept if that took longer than WORTH_KEEPING.

    Args:
        key: identifies the program within this package, by its text.
        make: makes the program under a given name: a `jax.stages.Compiled` for all devices.
        works: runs a loaded program on little work; if it raises anything, the program is made again.
    """
    import jax

    folder = use() if use.cache_info().currsize else None  # nothing is kept before `use` is called
    if folder is None or jax.default_backend() != "cpu":  # untested on other devices
        return make("program")
    digest = hashlib.sha256(f"{key}\n{setup()}".encode()).hexdigest()
    file = folder / f"{digest}.program"
    with suppress(Exception):  # missing, cut short, or of a JAX that cannot read it: then it is made again
        program = _read(file)
        works(program)
        os.utime(file)
        return program
    begun, hits = time.perf_counter(), _hits()
    # a unique name: JAX's cache stores the program as well, and must never give it to another version of this package
    program = make(f"program_{digest[:16]}")
    # a program from JAX's cache cannot be serialized again: XLA would leave out functions that it calls
    if time.perf_counter() - begun > WORTH_KEEPING and _hits() == hits:
        with suppress(Exception):
            _write(file, program)
    return program


def _read(file: Path) -> Any:
    from jax.experimental import serialize_executable

    return serialize_executable.deserialize_and_load(*pickle.loads(zlib.decompress(file.read_bytes())))  # noqa: S301 - our owner's alone


def _write(file: Path, program: Any) -> None:
    from jax.experimental import serialize_executable

    data = zlib.compress(pickle.dumps(serialize_executable.serialize(program)), 1)
    temporary = file.with_suffix(f".{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    for other in file.parent.iterdir():
        if other.suffix in (".program", ".tmp") and other.stat().st_mtime < time.time() - FORGOTTEN:
            other.unlink(missing_ok=True)


_told = threading.local()  # number of hits that JAX has reported to this thread


@functools.lru_cache(maxsize=1)
def _listen() -> None:
    import jax

    def listener(event: str, **_: Any) -> None:
        if event == HIT:
            _told.hits = getattr(_told, "hits", 0) + 1

    jax.monitoring.register_event_listener(listener)


def _hits() -> int:
    """How many programs JAX has taken from its own cache for this thread."""
    _listen()
    return getattr(_told, "hits", 0)


def setup() -> str:
    """What every program depends on: the files of this package, versions, options of JAX and XLA, devices."""
    import jax
    import jaxlib.version
    import numpy as np

    options = {name: getattr(jax.config, name, value) for name, value in sorted(jax.config.values.items())}
    versions = (sys.version, jax.__version__, jaxlib.version.__version__, np.__version__)
    devices = [device.device_kind for device in jax.devices()]
    return f"{sources()} {versions} {devices} {os.cpu_count()} {os.environ.get('XLA_FLAGS')} {options}"


@functools.lru_cache(maxsize=1)
def sources() -> str:
    """A hash of the files of this package."""
    package = Path(__file__).parents[1]
    found = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        data = path.read_bytes()
        found.update(f"{path.relative_to(package)} {len(data)}\n".encode())
        found.update(data)
    return found.hexdigest()


def cache_home() -> Path:
    """The cache folder of this user, whose files can be made again; see `platformdirs.user_cache_path`."""
    return platformdirs.user_cache_path("tribosweep", appauthor=False)


def private_folder(parent: Path, name: str) -> Path | None:
    """The folder `name` in `parent`, both created if missing; None if another user owns `parent`, or if the folder cannot be written."""
    if not parent.is_absolute():  # no home directory
        return None
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = parent.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return None
        parent.chmod(0o700)
        folder = parent / name
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.R_OK | os.W_OK | os.X_OK) else None


def cpu() -> str:
    """A short name for this kind of CPU; two CPUs of equal model and features have the same name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    told = sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part", "CPU implementer"))})
    text = "\n".join([platform.system(), platform.machine(), platform.processor(), *told])
    return f"{platform.machine()}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
