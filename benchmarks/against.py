"""The speed of the engines compared with other tools on the same physics: `python -m benchmarks against` (extra `rivals`).

All tools run SDND104's masses over a plane of amplitude and friction for 12 s, with the wear power over [4, 12] s. First all must find the
same numbers. Then they run in turn. A ratio compares rates of the same pass, and is the median over the passes. numba and this project use
all cores, scipy one. `euler` computes all observables of the rubbing mass, the other tools only the wear power.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.rivals import event_solvers, numba_euler
from kernels.batch.solve import solve
from kernels.models import RUBBING_MASS

NORMAL, OMEGA, K_T, STEP, STEPS, FIRST = 10.0, 2.0 * math.pi, 9e6, 1e-4, 120_000, 40_000
C_T = 2.0 * math.sqrt(K_T)
PASSES = 5
Way = tuple[int, Callable[[], Any]]  # number of oscillators, and the function that runs them and returns their wear power [W]


def plane(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Amplitudes [m/s^2] and coefficients of friction, (count,) each."""
    side = 1 << (count.bit_length() // 2)
    a0, mu = np.meshgrid(np.linspace(0.5, 20.0, side), np.linspace(0.1, 1.01, count // side), indexing="ij")
    return a0.ravel(), mu.ravel()


def ours(scheme: str, count: int, dtype: Any = np.float64) -> Way:
    """A run by this project."""
    a0, mu = plane(count)
    columns: dict[str, Any] = {"a0": a0, "mu": mu, "window_start": 4.0}
    if scheme != "exact":
        columns |= {"k_t": K_T, "c_t": C_T, "step": STEP}
    return count, lambda: solve(RUBBING_MASS, scheme, columns, {}, count, dtype=dtype).observables["wear_power"]


def numba(way: Callable[..., Any], count: int) -> Way:
    """A run by one of the functions in numba."""
    return count, lambda: way(*plane(count), 1.0, NORMAL, K_T, C_T, OMEGA, STEP, STEPS, FIRST)


def diffrax(solver: str, tolerance: float, count: int) -> Way:
    """A run by a solver of diffrax."""
    return count, lambda: event_solvers.diffrax_events(*plane(count), NORMAL, 1.0, OMEGA, (4.0, 12.0), solver, tolerance)


def scipy(tolerance: float, count: int) -> Way:
    """A run by scipy."""
    return count, lambda: event_solvers.scipy_events(*plane(count), NORMAL, 1.0, OMEGA, (4.0, 12.0), tolerance)


def compare(ways: dict[str, Way], scheme: str, passes: int = PASSES) -> list[tuple[str, float, float, float]]:
    """Run some ways in turn, and compare them with the first.

    Args:
        ways: name -> way. scheme: scheme of this project that gives the expected numbers. passes: number of passes.

    Returns:
        Name, oscillators/s, times slower than the first way, largest difference from the numbers of `scheme` over the largest wear power.
    """
    off = []
    for count, run in ways.values():  # this also compiles
        expected = ours(scheme, count)[1]()
        off.append(float(np.max(np.abs(run() - expected)) / np.max(expected)))
    rates: list[list[float]] = []
    for _ in range(passes):
        rates.append([])
        for count, run in ways.values():
            start = time.perf_counter()
            run()
            rates[-1].append(count / (time.perf_counter() - start))
    return [
        (name, statistics.median(each[i] for each in rates), statistics.median(each[0] / each[i] for each in rates), off[i])
        for i, name in enumerate(ways)
    ]


def steppers(count: int = 4096) -> dict[str, Way]:
    """The ways that run Euler's scheme."""
    ways = {"`euler`": ours("euler", count), "`euler`, float32": ours("euler", count, np.float32)}
    return ways | {name: numba(way, count) for name, way in numba_euler.WAYS.items()}


def events() -> dict[str, Way]:
    """The ways that run rigid friction."""
    ways = {"`exact`, k = c = 0": ours("exact", 131_072)}
    ways |= {
        f"diffrax {solver} with events, tolerance {tol:g}": diffrax(solver, tol, 2048)
        for solver, tol in (("Tsit5", 1e-6), ("Dopri8", 1e-6))
    }
    return ways | {"scipy DOP853 with events, tolerance 1e-9": scipy(1e-9, 16)}


def main() -> None:
    """Print the tables."""
    for scheme, ways in (("euler", steppers()), ("exact", events())):
        print(f"| | oscillators/s | times slower than `{scheme}` | largest difference / largest wear power |\n|---|---|---|---|")
        for name, rate, ratio, off in compare(ways, scheme):
            print(f"| {name} | {rate:,.0f} | {ratio:,.2g} | {off:.0e} |")
        print()


if __name__ == "__main__":
    main()
