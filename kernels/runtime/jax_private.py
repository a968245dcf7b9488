"""Names of JAX outside its public interface. No other module may use one, because a new JAX can rename or remove it without notice.

`USES` says what each is for; `missing` lists those that the installed JAX lacks. Without them everything still computes: `tribosweep
doctor` reports what is lost.
"""

from __future__ import annotations

import functools
import io
import pickle
import pkgutil
import threading
import zlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from tribosweep.kernels.runtime.stderr_filter import without_false_alarm

_STARTED = "jax._src.xla_bridge:backends_are_initialized"
_CACHE = "jax._src.compilation_cache:_cache"
_CACHE_CHOSEN = "jax._src.compilation_cache:_cache_initialized"
_LOADER = "jax._src.compilation_cache:get_executable_and_time"
_READER = "jax.experimental.serialize_executable:_JaxPjrtUnpickler"
_EXECUTABLE = "jax.stages:Compiled"

USES: Mapping[str, str] = {
    _STARTED: "tells whether JAX has created a backend, after which XLA options and the number of CPU devices are fixed",
    _CACHE: "is set so that JAX keeps programs in a folder to which no other user can write",
    _CACHE_CHOSEN: "is set so that JAX chooses no other cache",
    _LOADER: "is wrapped so that XLA's false alarms about a kept program do not reach stderr where JAX was imported before this package",
    _READER: "reads a kept program; a class derived from it reads the names in RECORDS only",
    _EXECUTABLE: "makes a kept program callable; the class is public, but the arguments of its constructor are not documented",
}
HIT = "/jax/compilation_cache/cache_hits"  # the event of JAX when it loads a program from its own cache; events are not documented

# The classes and functions that the pickle of a program may name: they hold values or build such a class, and do nothing else. Some exist
# in one of the supported versions of JAX only. Every other name is refused, because a pickle can name any function.
RECORDS: Mapping[str, frozenset[str]] = {
    "jax": frozenset({"P"}),
    "jax._src.core": frozenset({"ManualAxisType", "MemorySpace", "ShapedArray"}),
    "jax._src.interpreters.pxla": frozenset({"AllArgsInfo", "UnloadedMeshExecutable"}),
    "jax._src.layout": frozenset({"AutoLayoutSingleton", "Layout"}),  # the former from jax 0.12.0 on
    "jax._src.linear_util": frozenset({"DebugInfo"}),
    "jax._src.mesh": frozenset({"AbstractDevice", "AbstractMesh", "AxisType", "Mesh"}),
    "jax._src.named_sharding": frozenset({"_unpickle_named_sharding"}),
    "jax._src.sharding_impls": frozenset({"_unpickle_gspmd_sharding", "_unpickle_single_device_sharding"}),
    "jax._src.stages": frozenset({"ArgInfo"}),
    "jax._src.tree_util": frozenset({"default_registry", "tracing_registry"}),
    "jaxlib._hlo": frozenset({"OpSharding"}),  # from jax 0.12.0 on
    "jaxlib._jax": frozenset({"DeviceList", "OpSharding"}),  # the latter until jax 0.11.2
    "jaxlib._jax.pytree": frozenset({"PyTreeDef"}),
    "numpy": frozenset({"dtype", "ndarray"}),
    "numpy._core.multiarray": frozenset({"_reconstruct"}),
}


def missing() -> list[str]:
    """The names of `USES` that the installed JAX lacks. Imports JAX."""
    return [name for name in USES if not _exists(name)]


def _exists(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def started() -> bool:
    """Whether JAX has created a backend. True where the installed JAX does not tell: then its settings are left as they are."""
    try:
        from jax._src import xla_bridge

        return bool(xla_bridge.backends_are_initialized())
    except (ImportError, AttributeError):
        return True


def keep_programs_in(files: Any) -> bool:
    """Have JAX keep programs in `files`, which has its methods `get` and `put`. Returns False if the installed JAX has another cache."""
    if not (_exists(_CACHE) and _exists(_CACHE_CHOSEN)):
        return False
    from jax._src import compilation_cache

    cache: ModuleType = compilation_cache
    cache._cache, cache._cache_initialized = files, True  # type: ignore[attr-defined]  # noqa: SLF001
    if _exists(_LOADER) and not hasattr(cache.get_executable_and_time, "__wrapped__"):
        cache.get_executable_and_time = _quietly(cache.get_executable_and_time)  # type: ignore[attr-defined]
    return True


def _quietly(load: Callable[..., Any]) -> Callable[..., Any]:
    """A function that loads a kept program, without XLA's false alarms."""

    @functools.wraps(load)
    def loading(*told: Any, **more: Any) -> Any:
        with without_false_alarm():
            return load(*told, **more)

    return loading


def packed(program: Any) -> bytes:
    """A compiled program (`jax.stages.Compiled`) as bytes."""
    from jax.experimental import serialize_executable

    return zlib.compress(pickle.dumps(serialize_executable.serialize(program)), 1)


def unpacked(data: bytes) -> Any:
    """The compiled program that `packed` made into `data`; as `serialize_executable.deserialize_and_load`, restricted to `RECORDS`.

    Raises:
        pickle.UnpicklingError: the data name something that is not in `RECORDS`. Other exceptions: see `jax.experimental`.
    """
    import jax
    from jax.experimental import serialize_executable

    class Reader(serialize_executable._JaxPjrtUnpickler):  # noqa: SLF001
        def find_class(self, module: str, name: str) -> Any:
            if name not in RECORDS.get(module, ()):
                raise pickle.UnpicklingError(f"{module}.{name} is not listed as a part of programs")
            return super().find_class(module, name)

    read: Any = Reader
    client = jax.devices()[0].client
    serialized, in_tree, out_tree = read(io.BytesIO(zlib.decompress(data)), client).load()
    unloaded, arguments, no_kwargs = read(io.BytesIO(serialized), client).load()
    return jax.stages.Compiled(unloaded.load(), [], in_tree.unflatten(arguments), out_tree, no_kwargs=no_kwargs)


_told = threading.local()  # number of hits that JAX has reported to this thread


@functools.lru_cache(maxsize=1)
def _listen() -> None:
    import jax

    def listener(event: str, **_: Any) -> None:
        if event == HIT:
            _told.hits = getattr(_told, "hits", 0) + 1

    jax.monitoring.register_event_listener(listener)


def hits() -> int:
    """How many programs JAX has taken from its own cache for this thread, counted from the first call of this function."""
    _listen()
    return getattr(_told, "hits", 0)
