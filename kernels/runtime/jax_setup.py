"""How JAX is set up: precision, XLA options, devices, and versions known to be wrong.

`prepare` must run before JAX creates its CPU backend: XLA reads its options then and never again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tribosweep.kernels.runtime import jax_faults, jax_private, native_library

# XLA on CPU dispatches the kernels of a `while` one by one unless the loop is smaller than a bound. This higher bound turns the event loop
# and the step loops into one native function (4 to 40 times faster at the widths used here; jax 0.10.1, 0.10.2, 0.12.0).
_NATIVE_LOOP = "xla_cpu_small_while_loop_byte_threshold=1000000"
_BACKEND_OPTIONS = "--xla_backend_extra_options="
# Wider vectors where the CPU has them: 1.4 times faster on the exact engine.
_WIDE_VECTORS = "--xla_cpu_prefer_vector_width=512"
# Compiles in about 3/4 of the time of the default level 3; the code is as fast.
_COMPILE_EFFORT = "--xla_backend_optimization_level=2"
# Metadata says which buffers of a native loop do not overlap; its size is the square of their number. With it, programs of derivatives
# compile for twice as long (a stop by 3 parameters 37 s against 17 s beside other work). Without it, programs of many rows run up to 17 %
# longer: `batch.compile` switches it on again.
_ALIASES = ("xla_llvm_enable_alias_scope_metadata", "xla_llvm_enable_noalias_metadata")
FOR_VALUES: Mapping[str, bool] = dict.fromkeys(_ALIASES, True)  # options of the compiler

# XLA writes alarms of several kB to stderr that are none (see `stderr_filter`), whenever any kept program is loaded. What is wrong raises
# an exception as well, so only what ends the process is left to its log.
_LOG, _FATAL = "TF_CPP_MIN_LOG_LEVEL", "3"

# Lanes per block of a program on CPU, by its loop (`batch.program_key`) and precision. "Lanes: result" on a 2-core AVX-512 machine:
# - exact, float64, oscillators/s on one core: rigid with k = c = 0 16: 9.5e5, 32: 1.36e6, 64: 1.27e6; rigid 16: 2.8e5, 32: 3.6e5,
#   64: 3.2e5; penalised 8: 8.3e3, 16: 8.5e3, 32: 7.0e3
# - exact, float32, speed over that of float64 in the same process (medians of seven passes, 10^6 and 2.6e5 oscillators, beside other
#   work): rigid with k = c = 0 32: 1.72, 64: 1.71, 128: 1.70; rigid 16: 1.06, 32: 1.59, 64: 1.44
# - euler, float64, steps/s: queue 64: 4.8e7, 128: 6.1e7, 256: 6.5e7; lockstep 32: 5.6e8, 64: 6.7e8, 128: 6.5e8, 256: 6.3e8; in float32, on
#   both cores and on another day, lockstep 32: 9.7e8, 64: 1.27e9, 128: 1.34e9, 256: 1.33e9
# - queue, float32, seconds for 1024 rows beside other work: euler 64: 0.10, 128: 0.10, 512: 0.12; rk54 64: 0.055, 128: 0.065, 256: 0.085;
#   adapt2 64: 0.24, 128: 0.25, 256: 0.28
# - structures of 30 coordinates and 4 rings by euler in lockstep, float64, steps/s of one core's own time beside other work: 32: 8.4e6, 64:
#   9.2e6; in float32 and in a queue not measured
LANES: Mapping[tuple[str, str], int] = {
    ("rigid, k = c = 0", "float64"): 32,
    ("rigid, k = c = 0", "float32"): 64,
    ("rigid", "float64"): 32,
    ("rigid", "float32"): 32,
    ("penalised", "float64"): 32,
    ("queue", "float64"): 128,
    ("queue", "float32"): 128,
    ("lockstep", "float64"): 64,
    ("lockstep", "float32"): 128,
    ("structure, queue", "float64"): 64,
    ("structure, queue", "float32"): 64,
    ("structure, lockstep", "float64"): 64,
    ("structure, lockstep", "float32"): 64,
}
_LANES_OF_OTHERS = 32
# Steps per iteration of a loop in lockstep. On CPU a loop is one native function. Two steps of little work share an iteration, which saves
# copies between them (euler without walls, speed over that with 1 step: 2: 1.07, 3: 1.08, 4: 1.05; in float32, over that with 2: 3: 0.985,
# 4: 0.95; with 2 its program takes a quarter longer to compile). Programs with larger steps would take 1.5 to 2.3 times as long to compile.
_STEPS, _STEPS_OF_LITTLE_WORK = 1, 2
# On an accelerator an iteration is a launch of 5 to 10 us, which many lanes and several steps share. Rows/s on an NVIDIA H100 in
# 65,536, in 131,072 and in 1,048,576 lanes: exact, k = c = 0 6.0e6, 1.38e7, 3.7e7; with k and c 5.6e6, 8.9e6, 1.1e7; a stop 1.8e6, 2.9e6;
# euler 2.1e5, 5.6e5, 9.5e5; rk54 1.4e5, 1.8e5, 1.3e5; adapt2 3.0e4, 6.9e4; wall with a table 9.7e6, 5.3e6; structures 2.3e5, 1.3e5. Lanes
# beyond the rows of a shard would stay empty. euler by 5 and by 15 steps: 5.2e5, 9.5e5.
_LANES_OF_ACCELERATOR, _LANES_OF_STRUCTURES, _STEPS_OF_ACCELERATOR = 1 << 17, 1 << 16, 15

KNOWN_BAD: Mapping[str, str] = {
    release: jax_faults.known(release) for release in sorted({each for fault in jax_faults.FAULTS.values() for each in fault.releases})
}


def _started() -> bool:
    """Whether JAX has created a backend, after which options and device counts are fixed."""
    if "jax" not in sys.modules:
        return False
    return jax_private.started()


def _has_avx512() -> bool:
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False


def cores() -> int:
    """Number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def on_cpu() -> bool:
    """Whether JAX computes on CPUs. Starts JAX."""
    import jax

    return bool(jax.default_backend() == "cpu")


def lanes(loop: str, precision: str = "float64") -> int:
    """Lanes per block of a program, by its loop (a key of LANES, or any other word) and precision. Starts JAX."""
    if on_cpu():
        return LANES.get((loop, precision), _LANES_OF_OTHERS)
    return _LANES_OF_STRUCTURES if loop.startswith("structure") else _LANES_OF_ACCELERATOR


def rows_at_once(stepping: bool) -> int:
    """Rows that fill the lanes of all devices once, by a time scheme (`stepping`) or by slow programs of `exact`. Starts JAX."""
    import jax

    return lanes("queue" if stepping else "") * len(jax.devices())


def steps(little: bool) -> int:
    """Number of fixed steps in one iteration of a loop; `little` says whether a step is little work."""
    if not on_cpu():
        return _STEPS_OF_ACCELERATOR
    return _STEPS_OF_LITTLE_WORK if little else _STEPS


def xla_flags(present: str, wide: bool) -> str:
    """XLA_FLAGS with this project's options added to those `present`; an option that the user set already stays as it is."""
    words = present.split()
    if _NATIVE_LOOP.split("=", maxsplit=1)[0] not in present:
        at = next((i for i, word in enumerate(words) if word.startswith(_BACKEND_OPTIONS)), None)
        if at is None:
            words.append(_BACKEND_OPTIONS + _NATIVE_LOOP)
        else:
            words[at] += "," + _NATIVE_LOOP
    for option in (_COMPILE_EFFORT, *(f"--{name}=false" for name in _ALIASES), *((_WIDE_VECTORS,) if wide else ())):
        if option.split("=", maxsplit=1)[0] not in present:
            words.append(option)
    return " ".join(words)


def prepare() -> None:
    """Set XLA options, one CPU device per core, float64, and no log of XLA's. Idempotent. What comes too late is not set: see `problems`.

    Before JAX is imported only environment variables are set, so that `kernels` does not import it. What the user has set stays as it is.
    """
    if not _started():
        os.environ["XLA_FLAGS"] = xla_flags(os.environ.get("XLA_FLAGS", ""), _has_avx512())
    if "jax" not in sys.modules:
        os.environ.setdefault("JAX_ENABLE_X64", "1")
        os.environ.setdefault("JAX_NUM_CPU_DEVICES", str(cores()))
        os.environ.setdefault(_LOG, _FATAL)
        return
    import jax

    if "JAX_ENABLE_X64" not in os.environ:
        jax.config.update("jax_enable_x64", True)
    if not _started() and jax.config.jax_num_cpu_devices < 1:  # type: ignore[attr-defined]
        jax.config.update("jax_num_cpu_devices", cores())


def describe() -> dict[str, str]:
    """Versions, devices, precision and options of the present setup, for provenance and `tribosweep doctor`. Starts JAX."""
    prepare()
    import importlib.metadata

    import jax

    devices = jax.devices()
    return {
        "jax": jax.__version__,
        "jaxlib": importlib.metadata.version("jaxlib"),
        "device": f"{len(devices)} x {devices[0].device_kind} ({devices[0].platform})",
        "dtype": str(jax.dtypes.canonicalize_dtype(float)),  # an array of that type would compile a program
        "lanes": f"{_LANES_OF_ACCELERATOR}, of structures {_LANES_OF_STRUCTURES}"
        if not on_cpu()
        else "; ".join(f"{loop}, {precision}: {number}" for (loop, precision), number in LANES.items())
        + f"; walls, tones or records by scheme exact: {_LANES_OF_OTHERS}",
        "steps an iteration": f"{steps(little=False)}, of euler on a rubbing mass {steps(little=True)}"
        if on_cpu()
        else str(steps(little=False)),
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        **({"native": native_library.describe()} if native_library.in_use() else {}),
    }


def problems() -> list[str]:
    """The problems of the present setup, one sentence each; empty if there are none. Starts JAX."""
    prepare()
    import jax

    found = []
    if jax.__version__ in KNOWN_BAD:
        found.append(f"jax {jax.__version__} {KNOWN_BAD[jax.__version__]}: install another version")
    flags = os.environ.get("XLA_FLAGS", "")
    if _NATIVE_LOOP.split("=", maxsplit=1)[0] not in flags:
        found.append(
            "JAX had started before tribosweep could set its XLA options: loops on CPU take 3 (exact) to 6 times (euler) as long;"
            " import tribosweep before JAX computes anything"
        )
    devices = jax.devices()
    asked_for = os.environ.get("JAX_NUM_CPU_DEVICES") == str(len(devices))
    if devices[0].platform == "cpu" and len(devices) < cores() and not asked_for:
        found.append(f"JAX uses {len(devices)} of {cores()} CPU cores: it had started before tribosweep, or XLA_FLAGS fixes the number")
    if jax.numpy.zeros(()).dtype != "float64":
        found.append("float64 is off: results have 7 digits at most")
    if reason := native_library.why_not():
        found.append(f"{native_library.SWITCH} asks for loops in C++, but JAX runs everything: {reason}")
    return found
