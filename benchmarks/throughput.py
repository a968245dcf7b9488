"""How fast the engines are: `python benchmarks/throughput.py` measures what README's table of schemes shows.

Every row runs SDND104's 12 s on masses that slip and stick in all three regimes. Compile time stands apart; run times are medians of five
passes, taken in turn.
"""

from __future__ import annotations

import platform
import statistics

import numpy as np

from kernels import runtime
from kernels.batch import Solution, solve
from kernels.models import RUBBING_MASS

PASSES = 5
WORK = {
    "`exact`, k = c = 0": ("exact", 131072, {}),
    "`exact`, k = 1 N/m, c = 0.1 N s/m": ("exact", 16384, {"k": 1.0, "c": 0.1}),
    "`euler`, k_t = 9e6 N/m, step 1e-4 s": ("euler", 1024, {"k": 3e-5, "k_t": 9e6, "step": 1e-4}),
}


def once(scheme: str, count: int, constants: dict[str, float]) -> Solution:
    """Run `count` masses over a plane of amplitude and friction."""
    side = round(count**0.5)
    a0, mu = np.meshgrid(np.linspace(0.5, 20.0, side), np.linspace(0.01, 1.01, count // side), indexing="ij")
    columns = {"a0": a0.ravel(), "mu": mu.ravel(), "window_start": 4.0, **constants}
    return solve(RUBBING_MASS, scheme, columns, {}, a0.size)


def main() -> None:
    """Print the table."""
    compile_seconds = {name: once(*work).compile_seconds for name, work in WORK.items()}
    seconds: dict[str, list[float]] = {name: [] for name in WORK}
    for _ in range(PASSES):
        for name, work in WORK.items():
            seconds[name].append(once(*work).run_seconds)
    print(f"{runtime.describe()['device']}, {platform.processor() or platform.machine()}, float64, jax {runtime.describe()['jax']}\n")
    print("| scheme | oscillators/s | steps/s | compile [s] |\n|---|---|---|---|")
    for name, (scheme, count, constants) in WORK.items():
        rate = count / statistics.median(seconds[name])
        steps = "" if scheme == "exact" else f"{rate * 12.0 / constants['step']:.2g}"
        print(f"| {name} | {rate:,.0f} | {steps} | {compile_seconds[name]:.1f} |")


if __name__ == "__main__":
    main()
