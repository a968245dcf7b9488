"""The speed of the engines: `python benchmarks/throughput.py` measures the table of schemes in README.

Every row runs SDND104's 12 s on masses in all three regimes. Compile time is separate. Run times are medians of five passes, taken in turn.
"""

from __future__ import annotations

import platform
import statistics

import numpy as np

from tribosweep.kernels.batch.solve import Solution, solve
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.runtime import jax_setup

PASSES = 5
EULER = "`euler`, step 1e-4 s"
PENALISED = {"k": 3e-5, "k_t": 9e6, "step": 1e-4}
WORK = {
    "`exact`, k = c = 0": ("exact", 1 << 20, {}),
    "`exact`, k = 1 N/m, c = 0.1 N s/m": ("exact", 1 << 18, {"k": 1.0, "c": 0.1}),
    "`exact`, penalised, critical c_t": ("exact", 8192, {"k": 3e-5, "k_t": 9e6}),
    "`exact`, penalised, c_t = 300 N s/m": ("exact", 4096, {"k": 3e-5, "k_t": 9e6, "c_t": 300.0}),
    "`exact`, penalised, c_t = 0": ("exact", 4096, {"k": 3e-5, "k_t": 9e6, "c_t": 0.0}),
    EULER: ("euler", 1024, PENALISED),
    "`devogelaere`, step 1e-4 s": ("devogelaere", 1024, PENALISED),
    "`adapt1`, largest step 5e-5 s": ("adapt1", 1024, {**PENALISED, "step": 5e-5, "largest_step": 5e-5}),
    "`adapt2`, largest step 2e-4 s": ("adapt2", 1024, {**PENALISED, "largest_step": 2e-4}),
    "`rk32`, tolerance 1e-7": ("rk32", 1024, PENALISED),
    "`rk54`, tolerance 1e-7": ("rk54", 1024, PENALISED),
}


def once(scheme: str, count: int, constants: dict[str, float]) -> Solution:
    """Run `count` masses over a plane of amplitude and friction."""
    side = round(count**0.5)
    a0, mu = np.meshgrid(np.linspace(0.5, 20.0, side), np.linspace(0.01, 1.01, count // side), indexing="ij")
    columns = {"a0": a0.ravel(), "mu": mu.ravel(), "window_start": 4.0, **constants}
    return solve(RUBBING_MASS, scheme, columns, {}, a0.size)


def main() -> None:
    """Print the table."""
    first = {name: once(*work) for name, work in WORK.items()}
    attempts = {name: sum(run.observables[kind].sum() for kind in ("accepted_steps", "rejected_steps")) for name, run in first.items()}
    seconds: dict[str, list[float]] = {name: [] for name in WORK}
    for _ in range(PASSES):
        for name, work in WORK.items():
            seconds[name].append(once(*work).run_seconds)
    print(f"{jax_setup.describe()['device']}, {platform.processor() or platform.machine()}, float64, jax {jax_setup.describe()['jax']}\n")
    print(f"| scheme | oscillators/s | times {EULER} | steps/s | compile [s] |\n|---|---|---|---|---|")
    for name, (scheme, count, _) in WORK.items():
        rate = count / statistics.median(seconds[name])
        steps = "" if scheme == "exact" else f"{attempts[name] / statistics.median(seconds[name]):.2g}"
        times = statistics.median(rate * each / WORK[EULER][1] for each in seconds[EULER])
        print(f"| {name} | {rate:,.0f} | {times:.1f} | {steps} | {first[name].compile_seconds:.1f} |")


if __name__ == "__main__":
    main()
