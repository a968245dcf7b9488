"""Store of compiled programs between processes: programs of batches as a whole, all others as JAX's persistent compilation cache.

The programs lie in the user's cache folder (XDG_CACHE_HOME/tribosweep or ~/.cache/tribosweep on Linux). Only its owner may write there,
because its files are executed: `private_files` says what that means, and bounds their size. Each kind of CPU has a subfolder, because a
program is made for one kind. Nothing is kept if JAX's own variables choose another cache, or if others could write to the folder.

JAX finds a program by its text, and must trace and lower it first: 1 to 2 s for the programs of a study. The programs of `batch` are found
by their origin instead: the files that they are made from, versions, options and shapes (`kept`). Their arguments and results are
described by a pickle, of which only the records that JAX describes programs with are read (`jax_private.RECORDS`). A StableHLO export would
need no pickle. But it must be compiled unless JAX's cache has its executable, and then it takes 1.6 to 2.8 times as long, for machine code
of the same folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import secrets
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

from tribosweep.kernels.runtime import import_closure, jax_private
from tribosweep.kernels.runtime.private_files import PrivateFiles

WORTH_KEEPING = 0.2  # compile time [s] from which a program is kept; the default of JAX is 1 s
JAX_VARIABLES = ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE")


def use() -> Path | None:
    """Keep the programs that this process compiles from now on, and load kept ones. Returns their folder; None: nothing is kept."""
    files = _files()
    return files.folder if isinstance(files, PrivateFiles) else None


def why_not() -> str:
    """Why `use` keeps nothing, in words; empty if it keeps programs."""
    files = _files()
    return "" if isinstance(files, PrivateFiles) else files


@functools.lru_cache(maxsize=1)
def _files() -> PrivateFiles | str:
    """The kept programs; or why nothing is kept."""
    import jax

    chosen = next((name for name in JAX_VARIABLES if name in os.environ), None)
    if chosen or jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        return f"{chosen or 'jax_compilation_cache_dir'} is set, and JAX keeps programs as it says"
    try:
        files = PrivateFiles(cache_home() / cpu())
    except OSError as error:
        if error.errno is not None:  # there is no such place, or no right to it
            return str(error)
        return f"{error}; once only you can write there, remove {cache_home()}: others may have put programs there"
    jax_private.keep_programs_in(files)  # a JAX that cannot be told so keeps nothing itself
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING)
    return files


def kept(key: object, make: Callable[[str], Any], works: Callable[[Any], object], modules: Collection[str]) -> Any:
    """A program, loaded where it is kept; else it is made, and kept if that took longer than WORTH_KEEPING.

    Args:
        key: identifies the program within this package, by its text.
        make: makes the program under a given name: a `jax.stages.Compiled` for all devices.
        works: runs a loaded program on little work; if it raises anything, the program is made again.
        modules: the modules of this package whose imports reach all code of the program (see `import_closure.digest`). After a change of
            one of these files, and of no other, it is made again.
    """
    import jax

    files = _files() if _files.cache_info().currsize else ""  # nothing is kept before `use` is called
    if isinstance(files, str) or jax.default_backend() != "cpu":  # untested on other devices
        return make("program")
    sources = import_closure.digest(modules)
    if sources is None:  # this process may run other code
        return make("program")
    digest = hashlib.sha256(f"{key}\n{sources} {setup()}".encode()).hexdigest()
    data = files.get(digest)
    if data is not None:
        with suppress(Exception):  # of a JAX that cannot read it: then it is made again
            program = jax_private.unpacked(data)
            works(program)
            return program
    begun, hits = time.perf_counter(), jax_private.hits()
    # a unique name: JAX's cache stores the program as well, and must never give it to another version of this package
    program = make(f"program_{digest[:16]}")
    # a program from JAX's cache cannot be serialized again: XLA would leave out functions that it calls
    worth = time.perf_counter() - begun > WORTH_KEEPING and jax_private.hits() == hits
    if worth and import_closure.digest(modules) == sources:  # else files were changed while the program was made
        with suppress(Exception):
            files.put(digest, jax_private.packed(program))
    return program


def cannot_load() -> str:
    """Why this process could not load a program that it keeps, in words; empty if it could. Compiles a small program and loads it again.

    The program has what those of `batch` have: named arguments and results, some split over all devices, others whole on each.
    """
    import jax
    import numpy as np
    from jax.sharding import Mesh, PartitionSpec

    devices = len(jax.devices())
    split, whole = PartitionSpec("device"), PartitionSpec()
    mesh = Mesh(np.asarray(jax.devices()), ("device",))

    def program(rows: dict[str, Any], fixed: dict[str, Any]) -> dict[str, Any]:
        return {"sum": rows["x"] + fixed["y"], "positive": rows["x"] > 0.0}

    program.__name__ = f"program_{secrets.token_hex(8)}"  # a name that is in no cache: see `kept`
    spread = jax.jit(jax.shard_map(program, mesh=mesh, in_specs=(split, whole), out_specs=split, check_vma=False))
    rows, fixed = {"x": np.arange(2.0 * devices)}, {"y": np.array(0.5)}
    try:
        loaded = jax_private.unpacked(jax_private.packed(spread.lower(rows, fixed).compile()))
        right = np.array_equal(loaded(rows, fixed)["sum"], rows["x"] + 0.5)
    except Exception as error:
        return " ".join(f"{type(error).__name__}: {error}".split())
    return "" if right else "a loaded program gives other numbers"


def setup() -> str:
    """What every program depends on: versions, options of JAX and XLA, devices."""
    import jax
    import jaxlib.version
    import numpy as np

    options = {name: getattr(jax.config, name, value) for name, value in sorted(jax.config.values.items())}
    versions = (sys.version, jax.__version__, jaxlib.version.__version__, np.__version__)
    devices = [device.device_kind for device in jax.devices()]
    return f"{versions} {devices} {os.cpu_count()} {os.environ.get('XLA_FLAGS')} {options}"


def cache_home() -> Path:
    """The cache folder of this user, whose files can be made again; see `platformdirs.user_cache_path`."""
    return platformdirs.user_cache_path("tribosweep", appauthor=False)


def cpu() -> str:
    """A short name for this kind of CPU; two CPUs of equal model and features have the same name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    told = sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part", "CPU implementer"))})
    text = "\n".join([platform.system(), platform.machine(), platform.processor(), *told])
    return f"{platform.machine()}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
