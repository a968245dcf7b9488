"""How fast the engines are against other tools on the same physics: `python -m benchmarks against` (extra `rivals`).

Masses of SDND104 over a plane of amplitude and friction, 12 s, wear power over [4, 12] s. First all must find the same numbers; then they
run in turn, and a ratio is the median over passes of rates taken in the same pass. numba and this project use all cores, scipy one.
`euler` counts all observables of the rubbing mass, the rivals the wear power alone.
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
Way = tuple[int, Callable[[], Any]]  # how many oscillators, and the function that runs them and returns their wear power [W]


def plane(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Amplitudes [m/s^2] and coefficients of friction, (count,) each."""
    side = 1 << (count.bit_length() // 2)
    a0, mu = np.meshgrid(np.linspace(0.5, 20.0, side), np.linspace(0.1, 1.01, count // side), indexing="ij")
    return a0.ravel(), mu.ravel()


def ours(scheme: str, count: int, dtype: Any = np.float64) -> Way:
    """This project's way."""
    a0, mu = plane(count)
    columns: dict[str, Any] = {"a0": a0, "mu": mu, "window_start": 4.0}
    if scheme != "exact":
        columns |= {"k_t": K_T, "c_t": C_T, "step": STEP}
    return count, lambda: solve(RUBBING_MASS, scheme, columns, {}, count, dtype=dtype).observables["wear_power"]


def numba(way: Callable[..., Any], count: int) -> Way:
    """One of numba's."""
    return count, lambda: way(*plane(count), 1.0, NORMAL, K_T, C_T, OMEGA, STEP, STEPS, FIRST)


def diffrax(solver: str, tolerance: float, count: int) -> Way:
    """One of diffrax's."""
    return count, lambda: event_solvers.diffrax_events(*plane(count), NORMAL, 1.0, OMEGA, (4.0, 12.0), solver, tolerance)


def scipy(tolerance: float, count: int) -> Way:
    """That of scipy."""
    return count, lambda: event_solvers.scipy_events(*plane(count), NORMAL, 1.0, OMEGA, (4.0, 12.0), tolerance)


def compare(ways: dict[str, Way], scheme: str, passes: int = PASSES) -> list[tuple[str, float, float, float]]:
    """Run ways in turn, the first of which others are held against.

    Args:
        ways: name -> way. scheme: whose numbers all must find. passes: how often.

    Returns:
        Name, oscillators/s, how many times slower than the first, and the largest difference from `scheme` over the largest wear power.
    """
    off = []
    for count, run in ways.values():  # compiles, too
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
    """Euler's scheme in all ways."""
    ways = {"`euler`": ours("euler", count), "`euler`, float32": ours("euler", count, np.float32)}
    return ways | {name: numba(way, count) for name, way in numba_euler.WAYS.items()}


def events() -> dict[str, Way]:
    """Rigid friction in all ways."""
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
