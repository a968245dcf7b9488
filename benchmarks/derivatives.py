"""The cost of derivatives: `python benchmarks/derivatives.py` compares a value with its five derivatives to the value alone.

Every row runs SDND104's 12 s on masses in all three regimes: in blocks of lanes, as studies do, and in one block, as `tribosweep.simulate`
does. The parameters are a0, mu_s, mu_d, omega and phase. The derivatives are those of every observable. Compile time is separate. Run
times are medians of passes taken in turn, on one core.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tribosweep.kernels import simulate
from tribosweep.kernels.runtime import jax_setup

COUNT, PASSES = 4096, 7
FIVE = ("a0", "mu_s", "mu_d", "omega", "phase")
KINDS: dict[str, tuple[int, dict[str, float]]] = {
    "rigid, k = c = 0": (64, {}),
    "rigid, k = 1 N/m, c = 0.1 N s/m": (32, {"k": 1.0, "c": 0.1}),
    "penalised, critical c_t": (16, {"k": 3e-5, "k_t": 9e6}),
}


def plane(count: int) -> dict[str, Any]:
    """Masses over a plane of amplitude and friction."""
    side = round(count**0.5)
    a0, mu = (each.ravel() for each in np.meshgrid(np.linspace(0.5, 20.0, side), np.linspace(0.01, 1.01, count // side), indexing="ij"))
    same = np.ones(a0.size)
    return {"a0": a0, "mu_s": mu, "mu_d": mu, "omega": 2.0 * np.pi * same, "phase": 0.0 * same}


def programs(constants: dict[str, float], width: int | None) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Jitted functions of the columns: observables, and observables with their derivatives; `width` lanes at a time, or all of them."""
    import jax

    def value(p: dict[str, Any]) -> Any:
        return simulate("rubbing_mass", {**p, **constants, "window_start": 4.0})

    def both(p: dict[str, Any]) -> Any:
        def twice(five: dict[str, Any]) -> Any:
            found = value(five)
            floats = {name: each for name, each in found.items() if each.dtype == float}
            return floats, found

        return jax.jacfwd(twice, has_aux=True)(p)

    def spread(one: Callable[[Any], Any]) -> Callable[[Any], Any]:
        if width is None:
            return jax.jit(jax.vmap(one))
        return jax.jit(lambda rows: jax.lax.map(jax.vmap(one), jax.tree.map(lambda column: column.reshape(-1, width), rows)))

    return spread(value), spread(both)


def seconds(program: Callable[[Any], Any], rows: Any) -> float:
    """Wall time of one call [s]."""
    import jax

    start = time.perf_counter()
    jax.block_until_ready(program(rows))
    return time.perf_counter() - start


def main(count: int = COUNT) -> None:
    """Print the table."""
    described = jax_setup.describe()
    print(f"{described['device']}, {platform.processor() or platform.machine()}, float64, jax {described['jax']}, {count} oscillators\n")
    print("| exact | lanes | value [us each] | value and 5 derivatives [us each] | ratio | compile [s] |\n|---|---|---|---|---|---|")
    rows = plane(count)
    for name, (narrow, constants) in KINDS.items():
        for width in (narrow, None):
            pair = programs(constants, width)
            first = [seconds(program, rows) for program in pair]
            taken = np.array([[seconds(program, rows) for program in pair] for _ in range(PASSES)])
            value, both = np.median(taken, axis=0)
            ratio = statistics.median(taken[:, 1] / taken[:, 0])
            cells = (name, width or count, f"{1e6 * value / count:.2f}", f"{1e6 * both / count:.2f}", f"{ratio:.2f}")
            print("|", " | ".join(map(str, cells)), f"| {first[0] - value:.1f} + {first[1] - both:.1f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
