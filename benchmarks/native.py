"""The loop in C++ beside that of JAX: `python benchmarks/native.py` measures the table of "Loops in C++" in docs/how-to/runs.md.

Both run in one process and take turns on the same rows: SDND104's 12 s on random masses. The ratios are medians of pairs of passes, of wall
time and of processor time of all cores, which other work disturbs least. Programs are compiled before the first pass. Under it, how far the
results of the two lie apart.
"""

from __future__ import annotations

import os
import platform
import statistics
import time

import numpy as np

from tribosweep.kernels.batch.solve import Solution, solve
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.runtime import jax_setup, native_library

PASSES = 9
COUNT = 2048
WORK = {
    "k = c = 0": {},
    "k = 1 N/m, c = 0.1 N s/m": {"k": 1.0, "c": 0.1},
    "k = c = 0, 1,000 steps": {"end": 0.1, "window_start": 0.0, "window_end": 0.1, "load": 0.3},
}


def once(case: str, native: bool) -> tuple[Solution, float]:
    """Results of one pass, and its processor time [s]."""
    rng = np.random.default_rng(1)
    masses = {"a0": rng.uniform(0.5, 20.0, COUNT), "mu": rng.uniform(0.05, 0.2, COUNT), "k_t": 9e6, "step": 1e-4}
    columns = masses | {"end": 12.0, "window_start": 4.0, "window_end": 12.0} | WORK[case]
    os.environ[native_library.SWITCH] = str(int(native))
    begun = time.process_time()
    found = solve(RUBBING_MASS, "euler", columns, {}, COUNT)
    return found, time.process_time() - begun


def main() -> None:
    """Print the table, or why there is no loop in C++. The environment stays as it was."""
    jax_setup.prepare()
    before = os.environ.get(native_library.SWITCH)
    os.environ[native_library.SWITCH] = "1"
    try:
        table()
    finally:
        del os.environ[native_library.SWITCH]
        if before is not None:
            os.environ[native_library.SWITCH] = before


def table() -> None:
    """Print the table; see `main`."""
    if reason := native_library.why_not():
        print(reason)
        return
    about = jax_setup.describe()
    print(f"{platform.processor() or platform.machine()}, {about['device']}, jax {about['jax']}; {about['native']}\n")
    print("| masses | JAX, steps/s | C++, steps/s | wall time | processor time | wear power apart |\n|---|---|---|---|---|---|")
    for case in WORK:
        first = {native: once(case, native)[0] for native in (False, True)}
        wear = [first[native].observables["wear_power"] for native in (False, True)]
        wall: dict[bool, list[float]] = {False: [], True: []}
        processor: dict[bool, list[float]] = {False: [], True: []}
        for number in range(PASSES):
            for native in (number % 2 == 0, number % 2 == 1):
                found, seconds = once(case, native)
                wall[native].append(found.run_seconds)
                processor[native].append(seconds)
        steps = first[False].observables["accepted_steps"].sum()
        rates = [f"{steps / statistics.median(wall[native]):.2g}" for native in (False, True)]
        ratios = [
            f"{statistics.median(jax / cpp for jax, cpp in zip(times[False], times[True], strict=True)):.2f}" for times in (wall, processor)
        ]
        print(f"| {case} | {' | '.join((*rates, *ratios))} | {np.abs(wear[1] - wear[0]).max() / wear[0].max():.0e} |")


if __name__ == "__main__":
    main()
