"""The speed of structures with supports: `python -m benchmarks structures` (extra `rivals`).

Tubes between two ends, each in some rings, are shaken along x and y at steps of 1e-5 s. Gap, friction, load and one frequency differ from
tube to tube. First the results of all ways are compared over a time in which rounding has not yet grown. Then the ways run in turn, all on
all cores; a ratio compares rates of the same pass, and is the median over the passes. numba computes four observables of each support, and
this project all of them, and energies. The growth with coordinates, supports and rows follows, then 10^4 tubes over 1 s in a process of
their own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tribosweep.kernels.batch.solve import Solution, solve
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.beam import CLAMPED, PINNED, Beam
from tribosweep.kernels.models.structures import Load, Structure
from tribosweep.kernels.models.supports import Support, named
from tribosweep.kernels.runtime import jax_setup

LENGTH, STEP, PASSES = 4.0, 1e-5, 5
COORDINATES, SUPPORTS, ROWS, STEPS = 30, 4, 1024, 2000
GROWTH = {"coordinates": (5, 15, 30, 60), "supports": (1, 4, 16), "rows": (256, 1024, 4096)}
CONTACT = {"k_n": 1e6, "c_n": 50.0, "k_t": 5e5, "c_t": 50.0}
AMPLITUDES, OMEGA_Y = (60.0, 50.0), 210.0  # m/s^2, rad/s
COMPARED = ("wear_power", "impulse", "impacts", "contact_ratio")
WHOLE = """
import json, re, sys
from pathlib import Path
from benchmarks import structures
structures.run(structures.tube(), 256, 100)
found = structures.run(structures.tube(), 10_000, 100_000, scheme=sys.argv[1])
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024
print(json.dumps([found.run_seconds, found.compile_seconds, peak, int((found.status == 0).sum())]))
"""


def tube(coordinates: int = COORDINATES, supports: int = SUPPORTS) -> Structure:
    """A tube with rings at equal distances."""
    points = {f"ring{place}": LENGTH * (place + 1) / (supports + 1) for place in range(supports)}
    whole = Beam(LENGTH, 1.05e3, 0.9, (CLAMPED, PINNED)).basis((coordinates + 1) // 2, points | {"middle": 0.475 * LENGTH}, 0.01)
    some = slice(coordinates)
    shapes = {name: shape[:, some] for name, shape in whole.points.items()}
    basis = Basis(whole.omega[some], whole.mass[some], whole.damping[some], shapes, whole.participation[:, some])
    loads = [Load("x"), Load("y", direction=(0.0, 1.0, 0.0))]
    return Structure(basis, [Support(name, name, "ring") for name in points], loads, observed=("middle",))


def columns(count: int) -> dict[str, np.ndarray]:
    """What differs from tube to tube, (count,) each."""
    even = {"gap": 0.7548776662466927, "mu": 0.5698402909980532, "load_factor": 0.38196601125, "omega[x]": 0.2360679774998}
    ranges = {"gap": (2e-4, 4e-4), "mu": (0.2, 0.5), "load_factor": (0.5, 1.5), "omega[x]": (150.0, 250.0)}
    spread = {name: np.modf(np.arange(count) * ratio)[0] for name, ratio in even.items()}
    return {name: low + (high - low) * spread[name] for name, (low, high) in ranges.items()}


def run(structure: Structure, count: int, steps: int, scheme: str = "euler", first: int = 0, dtype: Any = np.float64) -> Solution:
    """A run by this project of `steps` steps, observed after the `first` of them."""
    given = {**CONTACT, "amplitude[x]": AMPLITUDES[0], "amplitude[y]": AMPLITUDES[1], "omega[y]": OMEGA_Y, "step": STEP}
    window = {"end": steps * STEP, "window_start": first * STEP}
    return solve(structure.model, scheme, {**given, **window, **columns(count)}, count=count, dtype=dtype)


def numbers(structure: Structure, found: Solution) -> np.ndarray:
    """(4, S, count) what is compared."""
    return np.stack([[found.observables[named(name, support.name)] for support in structure.supports] for name in COMPARED])


def rivals() -> dict[str, Callable[..., Any]]:
    """The functions in numba by name; the first is the faster one."""
    from benchmarks.rivals import numba_structures

    return dict(numba_structures.WAYS)


def numba(way: Callable[..., np.ndarray], structure: Structure, count: int, steps: int, first: int = 0) -> np.ndarray:
    """A run by one of the functions in numba."""
    basis, arrays, varied = structure.basis, structure.arguments, columns(count)
    omega = np.stack([varied["omega[x]"], np.full(count, OMEGA_Y)])
    matrices = np.ascontiguousarray(arrays["shapes"]), np.ascontiguousarray(arrays["vectors"])
    modes = 1.0 / basis.mass, basis.omega**2, arrays["modal_drag"]
    loads = varied["load_factor"], omega, np.asarray(AMPLITUDES)
    return way(*matrices, *modes, varied["gap"], varied["mu"], *loads, *CONTACT.values(), STEP, steps, first)


def differences(structure: Structure, count: int = 256, steps: int = 3000, first: int = 1000) -> dict[str, float]:
    """Of each way in numba, the largest difference from `euler`, over the largest of each observable."""
    expected = numbers(structure, run(structure, count, steps, first=first))
    most = np.abs(expected).max(axis=(1, 2), keepdims=True)
    return {name: float(np.max(np.abs(numba(way, structure, count, steps, first) - expected) / most)) for name, way in rivals().items()}


def rates(ways: dict[str, Callable[[], Any]], work: float, passes: int = PASSES) -> dict[str, list[float]]:
    """Rates of ways that run in turn, `work` over seconds. The first run of each, which compiles, does not count."""
    for way in ways.values():
        way()
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(passes):
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            found[name].append(work / (time.perf_counter() - begun))
    return found


def ratio(rates_of: list[float], rates_of_other: list[float]) -> float:
    """Median ratio of the passes."""
    return statistics.median(one / other for one, other in zip(rates_of, rates_of_other, strict=True))


def against(count: int = ROWS, steps: int = STEPS, passes: int = PASSES) -> None:
    """Print the table against numba."""
    structure = tube()
    ways: dict[str, Callable[[], Any]] = {
        "`euler`": lambda: run(structure, count, steps),
        "`euler`, float32": lambda: run(structure, count, steps, dtype=np.float32),
        "`devogelaere`": lambda: run(structure, count, steps, "devogelaere"),
    }
    theirs = {name: lambda way=way: numba(way, structure, count, steps) for name, way in rivals().items()}
    found, off = rates(ways | theirs, count * steps, passes), differences(structure)
    lanes = next(iter(theirs))
    print(f"{COORDINATES} coordinates, {SUPPORTS} rings, {count:,} tubes, {steps:,} steps:\n")
    print("| | steps/s | times numba's lanes | largest difference from `euler` |\n|---|---|---|---|")
    for name, each in found.items():
        differs = f"{off[name]:.0e}" if name in off else ""
        print(f"| {name} | {statistics.median(each):.3g} | {ratio(each, found[lanes]):.2f} | {differs} |")
    print(flush=True)


def growth(steps: int = 1000, passes: int = 3) -> None:
    """Print the tables of growth."""
    lanes = next(iter(rivals().values()))
    for what, sizes in GROWTH.items():
        print(f"| {what} | us of all cores a step and tube | compile [s] | times numba's lanes |\n|---|---|---|---|")
        for size in sizes:
            structure = tube(size if what == "coordinates" else COORDINATES, size if what == "supports" else SUPPORTS)
            count = size if what == "rows" else ROWS // 2
            compiling = run(structure, count, 10).compile_seconds
            ways = {
                "ours": lambda s=structure, n=count: run(s, n, steps),
                "numba": lambda s=structure, n=count: numba(lanes, s, n, steps),
            }
            found = rates(ways, count * steps, passes)
            taken, times = 1e6 / statistics.median(found["ours"]), ratio(found["ours"], found["numba"])
            print(f"| {size:,} | {taken:.3g} | {compiling:.1f} | {times:.2f} |", flush=True)
        print()


def whole(scheme: str = "euler") -> None:
    """Print the time and memory of 10^4 tubes over 1 s."""
    done = subprocess.run([sys.executable, "-c", WHOLE, scheme], capture_output=True, text=True, check=True)
    seconds, compiling, peak, good = json.loads(done.stdout.splitlines()[-1])
    width = jax_setup.lanes("structure, lockstep")
    print("| scheme | tubes | time [s] | steps/s | compile [s] | lanes of a core | peak memory [MiB] |\n|---|---|---|---|---|---|---|")
    print(f"| `{scheme}` | {good:,} | {seconds:.1f} | {1e9 / seconds:.3g} | {compiling:.1f} | {width} | {peak} |", flush=True)


def main() -> None:
    """Print the tables."""
    against()
    growth()
    whole()


if __name__ == "__main__":
    main()
