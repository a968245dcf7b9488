"""Judge the installed release of JAX in some minutes: `python -m benchmarks.jax_release`. The exit status is 1 if something is wrong.

It runs the check of every known fault, loads a kept program again, runs walls under records on one and on two CPU devices, which must give
the same numbers, and compares with published values (`tribosweep verify`). For a release that is to be supported, all tests come next;
then `TESTED` in `kernels/runtime/jax_faults.py`, `tests/constraints.txt` and the upper bound in pyproject.toml are raised.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from tribosweep.kernels.runtime import jax_faults, jax_private, jax_setup

ROOT = Path(__file__).resolve().parents[1]
LOADS = "from tribosweep.kernels.runtime import program_cache; print(program_cache.cannot_load())"
WALLS = """
import hashlib
from benchmarks.cases import CASES
solution = CASES["wall, record of 2 s"].solve(128)
values = b"".join(solution.observables[name].tobytes() for name in sorted(solution.observables))
print(int((solution.status != 0).sum()), "of 128 failed,", hashlib.sha256(values).hexdigest())
"""


def output(arguments: Sequence[str], **environment: str) -> tuple[int, str]:
    """The status and the last line of a Python process that keeps no programs."""
    given = os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "0"} | environment
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=given, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, " ".join((done.stdout.strip() or done.stderr.strip()).splitlines()[-1:])


def fault(name: str) -> str:
    """What is wrong by a known fault."""
    if jax_faults.FAULTS[name].platform != "cpu" and jax_setup.on_cpu():
        return "-"
    return jax_faults.found(name)


def loads() -> str:
    """Why a kept program cannot be loaded again."""
    status, said = output(["-c", LOADS])
    return said if said or not status else f"status {status}"


def walls() -> str:
    """What differs between one and two devices."""
    (first, one), (second, two) = (output(["-c", WALLS], JAX_PLATFORMS="cpu", JAX_NUM_CPU_DEVICES=devices) for devices in "12")
    if first or second or not one.startswith("0 of"):
        return f"status {first} on one device: {one}; status {second} on two: {two}"
    return "" if one == two else "other numbers on two devices than on one"


def verify() -> str:
    """Which published values are missed."""
    status, said = output(["-m", "tribosweep", "verify"])
    return said if status else ""


CHECKS: dict[str, Callable[[], str]] = {
    **{f"{name}, wrong in {' and '.join(each.releases)}": functools.partial(fault, name) for name, each in jax_faults.FAULTS.items()},
    "private names of JAX": lambda: ", ".join(jax_private.missing()),
    "a kept program, loaded again": loads,
    "walls under records, on one and on two devices": walls,
    "published values": verify,
}


def main() -> int:
    """Print a line for each check."""
    release = metadata.version("jax")
    print(f"jax {release}, jaxlib {metadata.version('jaxlib')}, Python {sys.version.split()[0]}, {jax_setup.describe()['device']}")
    wrong = 0
    for name, check in CHECKS.items():
        begun = time.perf_counter()
        found = check()
        wrong += found not in ("", "-")
        verdict = "not checked: no accelerator" if found == "-" else f"WRONG: {found}" if found else "right"
        print(f"{name}: {verdict} ({time.perf_counter() - begun:.0f} s)", flush=True)
    print(f"jax {release}: " + (f"{wrong} of {len(CHECKS)} checks failed" if wrong else "nothing wrong was found"))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
