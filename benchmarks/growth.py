"""The growth of the cost with the number of points and of events: `python -m benchmarks growth`.

It runs 10^3 to 10^7 rigid masses over a plane of amplitude and friction by `exact`, in batches of up to 131,072 points as in studies. Then
it runs 65,536 of them over 12 s, 120 s and 1200 s, with two reversals in every second. It measures the processor time of all cores, which
other work disturbs least.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import RUBBING_MASS

BATCH = 131_072
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
ENDS = (12.0, 120.0, 1200.0)
PASSES = 3


def once(count: int, end: float = 12.0) -> float:
    """Processor time of `count` masses [s]."""
    begun = time.process_time()
    for start in range(0, count, BATCH):
        points = np.arange(start, min(start + BATCH, count))
        a0 = 0.5 + 19.5 * np.modf(points * 0.7548776662466927)[0]  # evenly spread for any number of points
        mu = 0.01 + np.modf(points * 0.5698402909980532)[0]
        columns = {"a0": a0, "mu": mu, "end": end, "window_start": end - 8.0}
        solve(RUBBING_MASS, "exact", columns, {}, points.size, room=BATCH)
    return time.process_time() - begun


def main() -> None:
    """Print the tables."""
    once(BATCH)
    print("| points | processor time [s] | us a point |\n|---|---|---|")
    for count in SIZES:
        taken = statistics.median(once(count) for _ in range(PASSES))
        print(f"| {count:,} | {taken:.4g} | {1e6 * taken / count:.3g} |", flush=True)
    print("\n| end [s] | processor time [s] | ns a point and second |\n|---|---|---|")
    for end in ENDS:
        taken = statistics.median(once(BATCH // 2, end) for _ in range(PASSES))
        print(f"| {end:g} | {taken:.4g} | {1e9 * taken / (BATCH // 2 * end):.3g} |", flush=True)


if __name__ == "__main__":
    main()
