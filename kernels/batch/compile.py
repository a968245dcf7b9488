"""Programs of batches: tracing, compiling, and keeping them in this process and, on disk, for later processes."""

from __future__ import annotations

import functools
import gc
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.batch.programs import depends_on
from tribosweep.kernels.batch.programs import program as program_of
from tribosweep.kernels.runtime import jax_setup, memory_maps, program_cache
from tribosweep.kernels.runtime.compiling import compiling

# Threads prepare and finish batches side by side. One batch at a time is on the devices, one is traced, and each core compiles one.
DEVICES, _TRACING, _COMPILING = threading.Lock(), threading.Lock(), threading.BoundedSemaphore(jax_setup.cores())
PROGRAMS: dict[Any, Callable[..., Any]] = {}  # compiled in this process
_BEING_MADE: defaultdict[Any, threading.Lock] = defaultdict(threading.Lock)
_REMAINING = [0]  # number of memory maps after programs were last forgotten

Shapes = Mapping[str, tuple[tuple[int, ...], np.dtype]]


def compiled(key: ProgramKey, devices: int, shapes: Shapes, lanes: tuple[str, ...]) -> tuple[Callable[..., Any], float]:
    """A compiled program, and the time spent on it [s].

    Args:
        key: the program. devices: how many devices share the rows.
        shapes: name of an argument -> its shape and type.
        lanes: the arguments that have one entry a row, sorted.

    Returns:
        What `traced` returns, compiled for these shapes; and the time, 0 if this process had compiled it before.
    """
    import jax

    whole = (key, devices, tuple(shapes.items()), lanes)
    if (known := PROGRAMS.get(whole)) is not None:
        return known, 0.0

    def make(name: str) -> Any:
        shape = {name: jax.ShapeDtypeStruct(*one) for name, one in shapes.items()}
        with _TRACING:
            lowered = traced(key, devices, lanes, name).lower(shape, jax.ShapeDtypeStruct((devices,), np.int32))
        with _COMPILING:
            return lowered.compile(dict(jax_setup.FOR_VALUES))

    def works(program: Callable[..., Any]) -> None:
        with DEVICES:  # a run without rows
            program({name: np.zeros(*one) for name, one in shapes.items()}, np.zeros(devices, np.int32))

    with _BEING_MADE[whole]:
        if (known := PROGRAMS.get(whole)) is not None:
            return known, 0.0
        begun = time.perf_counter()
        make_room()
        with compiling(str(key)):
            PROGRAMS[whole] = made = program_cache.kept(whole, make, works, depends_on(key))
        return made, time.perf_counter() - begun


def make_room(most: int | None = None) -> bool:
    """Forget all compiled programs of this process where it has more than this number of memory maps.

    Such a process has compiled thousands of programs, and holds several GB. A program that runs at this time ends its work. Where maps of
    others remain, programs are forgotten again only once their own have become as many.

    Args:
        most: the number of memory maps; None for 60 % of what the system allows.

    Returns:
        Whether they were forgotten.
    """
    most = int(0.6 * memory_maps.allowed()) if most is None else most
    if memory_maps.number() <= max(most, _REMAINING[0] + most // 2):
        return False
    import jax

    with _TRACING:
        PROGRAMS.clear()
        traced.cache_clear()
        jax.clear_caches()
    gc.collect()  # a program in a cycle of references keeps its maps until then
    _REMAINING[0] = memory_maps.number()
    return True


@functools.cache
def traced(key: ProgramKey, devices: int, lanes: tuple[str, ...], name: str = "program") -> Any:
    """A jitted function that runs many rows on all devices.

    Args:
        key, devices, lanes: see `compiled`. name: the name of the function.

    Returns:
        (arguments by name, shares) -> observables by name and status codes, (blocks, width). Arguments in `lanes` are arrays (blocks,
        width), the others scalars; tables have one axis more. The shares (devices,) are the numbers of rows without padding.
    """
    import jax
    from jax.sharding import Mesh, PartitionSpec

    from tribosweep.kernels.batch import queue

    run = program_of(key)

    def block(varying: dict[str, Any], fixed: dict[str, Any]) -> Any:
        return jax.vmap(lambda row: run({**row, **fixed}))(varying)

    def on_device(varying: dict[str, Any], share: Any, fixed: dict[str, Any]) -> Any:
        return queue.queue(key, varying, fixed, share[0]) if key.queues else queue.blocks(block, varying, fixed, share[0])

    mesh = Mesh(np.asarray(jax.devices()[:devices]), ("device",))
    split, whole = PartitionSpec("device"), PartitionSpec()
    spread = jax.shard_map(on_device, mesh=mesh, in_specs=(split, split, whole), out_specs=split, check_vma=False)

    def program(arguments: dict[str, Any], shares: Any) -> Any:
        varying = {name: arguments[name] for name in lanes}
        return spread(varying, shares, {name: value for name, value in arguments.items() if name not in varying})

    program.__name__ = name
    return jax.jit(program)
