"""Faults of JAX releases, each with a check: `python -m tribosweep.kernels.runtime.jax_faults NAME` exits with 0 where JAX is right.

Releases with a fault that a user could meet are excluded in pyproject.toml (`jax_setup.KNOWN_BAD`). `tribosweep doctor` checks a JAX that
has not been tested (`problems`); `python -m benchmarks.jax_release` judges a new release. Every check runs in a process of its own, because
one of the faults is a crash, and computes with numbers whose results are known without JAX.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

TESTED = ("0.10.1", "0.12.0.1")  # releases that the tests have passed with
LONGEST = 120.0  # s that a check may take


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of some releases of JAX.

    Attributes:
        effect: what is wrong, after "jax 0.0.0". releases: the releases of JAX that have it.
        check: what is found wrong, in words; empty if nothing is. It starts JAX.
        platform: where it occurs, "cpu" or "gpu".
    """

    effect: str
    releases: tuple[str, ...]
    check: Callable[[], str]
    platform: str


def products_of_many_rows() -> str:
    """Squared lengths of 16,385 rows, each multiplied by a matrix (jax issue 39103)."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    wrong = []
    for dtype, count in (("float64", 16_385), ("float32", 32_769)):
        number = np.arange(count).astype(dtype)
        rows = np.stack([number, np.zeros_like(number), np.zeros_like(number)], axis=1)
        matrix = jnp.eye(3, dtype=dtype)
        squares = jax.jit(jax.vmap(lambda row, matrix=matrix: jnp.sum((matrix @ row) ** 2)))(rows)
        if failed := np.count_nonzero(np.asarray(squares) != np.square(number)):
            wrong.append(f"{failed} of {count} rows in {dtype}")
    return ", ".join(wrong)


def empty_argument() -> str:
    """A program for two devices with an argument that has no elements, such as the table of a wall without one."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, PartitionSpec

    mesh = Mesh(np.asarray(jax.devices()[:2]), ("device",))
    split, whole = PartitionSpec("device"), PartitionSpec()
    program = jax.jit(jax.shard_map(lambda rows, table: rows + jnp.sum(table), mesh=mesh, in_specs=(split, whole), out_specs=split))
    sums = np.asarray(program(np.ones(4), np.zeros(0)))
    return "" if np.array_equal(sums, np.ones(4)) else f"1 + 0 is {sums}"


def writes_in_a_loop() -> str:
    """Time of a loop that writes the elements of an array one by one, for 5,000 and for 40,000 of them (jax issue 40101)."""
    import jax
    import jax.numpy as jnp

    def seconds(count: int) -> float:
        def write(i: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            return carry[0].at[i].set(carry[1]), 0.5 * carry[1] + 1.0

        program = jax.jit(lambda x: jax.lax.fori_loop(0, count, write, (jnp.zeros(count), x))).lower(1.0).compile()
        taken = []
        for _ in range(3):
            begun = time.process_time()
            jax.block_until_ready(program(1.0))
            taken.append(time.process_time() - begun)
        return min(taken)

    few, many = seconds(5_000), seconds(40_000)
    # eight times as long where it is right (less here, as both take below a millisecond), 64 times where each turn copies the array
    return f"8 times as many elements take {many / few:.0f} times as long ({many:.2g} s)" if many > 24.0 * few and many > 0.05 else ""


def single_operations() -> str:
    """Operations outside of `jit` (jax issue 40633, first seen on an RTX A6000 with CUDA 13)."""
    import jax.numpy as jnp
    import numpy as np

    found = {
        "sqrt(512)": (jnp.sqrt(jnp.asarray(512.0, jnp.float32)), np.sqrt(np.float32(512.0))),
        "ones(4) + 1": (jnp.ones(4, jnp.float32) + 1.0, np.full(4, 2.0, np.float32)),
        "arange(1000) * 0.5": (jnp.arange(1000, dtype=jnp.float32) * 0.5, np.arange(1000, dtype=np.float32) * np.float32(0.5)),
    }
    wrong = {what: np.asarray(is_) for what, (is_, should) in found.items() if not np.allclose(is_, should, rtol=1e-6, atol=0.0)}
    return ", ".join(f"{what} is {np.ravel(value)[:4]}" for what, value in wrong.items())


FAULTS: Mapping[str, Fault] = {
    "products of many rows": Fault("returns wrong numbers on CPU (jax issue 39103)", ("0.10.2",), products_of_many_rows, "cpu"),
    "single operations": Fault("returns wrong numbers on some GPUs (jax issue 40633)", ("0.11.0", "0.11.1"), single_operations, "gpu"),
    "writes in a loop": Fault(
        "copies an array each time a loop writes one of its elements on CPU (jax issue 40101)", ("0.11.1",), writes_in_a_loop, "cpu"
    ),
    "empty argument": Fault(
        "crashes where a program for several CPU devices has an empty argument, as those of walls have", ("0.11.2",), empty_argument, "cpu"
    ),
}


def known(version: str) -> str:
    """The faults of a release, in words; empty if none is known."""
    return " and ".join(fault.effect for fault in FAULTS.values() if version in fault.releases)


def problems() -> list[str]:
    """What the installed JAX does wrong or lacks, one sentence each; empty if nothing. Starts JAX.

    `jax_setup.problems` names the releases with a known fault. Here the checks run on one that was not tested, which takes seconds.
    """
    import jax

    from tribosweep.kernels.runtime import jax_private, program_cache
    from tribosweep.kernels.runtime.stderr_filter import without_false_alarm

    version, on_cpu = metadata.version("jax"), jax.default_backend() == "cpu"
    told = []
    if version not in TESTED and not known(version):
        for name, fault in FAULTS.items():
            if (fault.platform == "cpu" or not on_cpu) and (wrong := found(name)):
                told.append(f"jax {version} {fault.effect}: {wrong}; install one of {', '.join(TESTED)}")
    told += [f"jax {version} has no {name}, which {jax_private.USES[name]}" for name in jax_private.missing()]
    if on_cpu and program_cache.use():
        with without_false_alarm():
            reason = program_cache.cannot_load()
        if reason:
            told.append(f"jax {version} cannot load the programs that are kept, so every process compiles them again: {reason}")
    return told


def found(name: str) -> str:
    """What the check of a fault finds wrong with the installed JAX, in words; empty if nothing. Runs it in another process."""
    environment = os.environ | {
        "JAX_ENABLE_COMPILATION_CACHE": "0",  # a kept program would show nothing
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    if FAULTS[name].platform == "cpu":
        environment |= {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "2"}
    else:
        environment |= {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}  # this process may have most of its memory
    try:
        done = subprocess.run(  # noqa: S603 - this module
            [sys.executable, "-m", "tribosweep.kernels.runtime.jax_faults", name],
            env=environment, capture_output=True, text=True, errors="replace", check=False, timeout=LONGEST,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no result within {LONGEST:g} s"
    if done.returncode == 0:
        return ""
    last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1:]
    return f"ended by signal {-done.returncode}" if done.returncode < 0 else " ".join(last) or f"status {done.returncode}"


def main(name: str) -> int:
    """Run the check of a fault in this process, and print what it finds wrong."""
    wrong = FAULTS[name].check()
    print(wrong)  # noqa: T201
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
