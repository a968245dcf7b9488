"""The speed of the engines compared with other tools on the same physics: `python -m benchmarks against` (extras `rivals`, `benchmarks`).

All tools run SDND104's masses over a plane of amplitude and friction for 12 s, with the wear power over [4, 12] s; then masses that are
shaken against a stop for 60 s. First all must find the same numbers. Then they run in turn. A ratio compares rates of the same pass, and is
the median over the passes. All use all cores, but for diffrax and scipy. This project computes all observables, the other tools only the
wear power, or impacts and impulse. Where heyoka is not installed, its rows are missing.
"""

from __future__ import annotations

import importlib.util
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cases import CASES, MINUTE, STOP
from benchmarks.rivals import event_solvers, heyoka_events, numba_euler, numba_stop
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import RUBBING_MASS

NORMAL, OMEGA, K_T, STEP, STEPS, FIRST = 10.0, 2.0 * math.pi, 9e6, 1e-4, 120_000, 40_000
C_T = 2.0 * math.sqrt(K_T)
SPRING, DAMPER = 1.0, 0.1  # N/m, N s/m: of the masses that have them
PASSES = 5
HEYOKA = importlib.util.find_spec("heyoka") is not None
Way = tuple[int, Callable[[], Any]]  # number of oscillators, and the function that runs them and returns their wear power [W]


def plane(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Amplitudes [m/s^2] and coefficients of friction, (count,) each."""
    side = 1 << (count.bit_length() // 2)
    a0, mu = np.meshgrid(np.linspace(0.5, 20.0, side), np.linspace(0.1, 1.01, count // side), indexing="ij")
    return a0.ravel(), mu.ravel()


def ours(scheme: str, count: int, dtype: Any = np.float64, more: dict[str, float] | None = None) -> Way:
    """A run by this project; `more` parameters of all masses."""
    a0, mu = plane(count)
    columns: dict[str, Any] = {"a0": a0, "mu": mu, "window_start": 4.0, **(more or {})}
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


def heyoka(k: float, c: float, count: int) -> Way:
    """A run by heyoka."""
    return count, lambda: heyoka_events.friction(*plane(count), NORMAL, 1.0, k, c, OMEGA, (4.0, 12.0))


def compare(
    ways: dict[str, Way], scheme: str, passes: int = PASSES, more: dict[str, float] | None = None
) -> list[tuple[str, float, float, float]]:
    """Run some ways in turn, and compare them with the first.

    Args:
        ways: name -> way. scheme: scheme of this project that gives the expected numbers, with `more` parameters. passes: number of passes.

    Returns:
        Name, oscillators/s, times slower than the first way, largest difference from the numbers of `scheme` over the largest wear power.
    """
    off = []
    for count, run in ways.values():  # this also compiles
        expected = ours(scheme, count, more=more)[1]()
        off.append(float(np.max(np.abs(run() - expected)) / np.max(expected)))
    return [(name, *each, off[i]) for i, (name, each) in enumerate(in_turn(ways, passes).items())]


def in_turn(ways: dict[str, Way], passes: int) -> dict[str, tuple[float, float]]:
    """Name of each way -> oscillators/s, and how many times slower than the first way it is: medians over the passes."""
    rates: list[list[float]] = []
    for _ in range(passes):
        rates.append([])
        for count, run in ways.values():
            start = time.perf_counter()
            run()
            rates[-1].append(count / (time.perf_counter() - start))
    return {
        name: (statistics.median(each[i] for each in rates), statistics.median(each[0] / each[i] for each in rates))
        for i, name in enumerate(ways)
    }


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
    if HEYOKA:
        ways["heyoka with events"] = heyoka(0.0, 0.0, 2048)
    return ways | {"scipy DOP853 with events, tolerance 1e-9": scipy(1e-9, 16)}


def events_with_spring() -> dict[str, Way]:
    """The ways that run rigid friction with spring and damper."""
    ways = {"`exact`, k and c": ours("exact", 32_768, more={"k": SPRING, "c": DAMPER})}
    return ways | ({"heyoka with events": heyoka(SPRING, DAMPER, 2048)} if HEYOKA else {})


def stops(count: int = 8192) -> dict[str, Way]:
    """The ways that run a mass against a stop. They return impacts and impulse."""
    case = CASES["stop, 60 s"]
    columns = case.columns(count)
    a0, omega, numbers = columns["a0"], columns["omega"], heyoka_events.Stop(**STOP)

    def exact() -> Any:
        found = case.solve(count).observables
        return found["impacts"], found["impulse"]

    numba_march: Callable[..., Any] = numba_stop.stops
    ways: dict[str, Way] = {"`exact`": (count, exact)}
    if HEYOKA:
        ways["heyoka with events"] = count, lambda: heyoka_events.stops(a0, omega, numbers, MINUTE["end"])
    return ways | {"numba, unsafe march in closed form": (count, lambda: numba_march(a0, omega, *numbers, MINUTE["end"]))}


def impacts_table(passes: int = PASSES) -> None:
    """Print the table of stops."""
    ways = stops()
    found = {name: run() for name, (_, run) in ways.items()}  # this also compiles
    impacts, impulse = found["`exact`"]
    print(
        f"{impacts.mean():.1f} impacts in the mean:\n\n| | oscillators/s | times slower than `exact` | rows with other impacts "
        "| impulse: median difference / largest | largest difference / largest |\n|---|---|---|---|---|---|"
    )
    for name, (rate, ratio) in in_turn(ways, passes).items():
        off = np.abs(found[name][1] - impulse) / impulse.max()
        print(f"| {name} | {rate:,.0f} | {ratio:,.2g} | {np.sum(found[name][0] != impacts)} | {np.median(off):.0e} | {off.max():.0e} |")


def main() -> None:
    """Print the tables."""
    spring = {"k": SPRING, "c": DAMPER}
    for scheme, ways, more in (("euler", steppers(), {}), ("exact", events(), {}), ("exact", events_with_spring(), spring)):
        print(f"| | oscillators/s | times slower than `{scheme}` | largest difference / largest wear power |\n|---|---|---|---|")
        for name, rate, ratio, off in compare(ways, scheme, more=more):
            print(f"| {name} | {rate:,.0f} | {ratio:,.2g} | {off:.0e} |")
        print(flush=True)
    impacts_table()


if __name__ == "__main__":
    main()
