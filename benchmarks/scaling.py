"""How fast every scheme is on every model, from one oscillator to a million: `python -m benchmarks scaling [seconds]`.

Oscillators/s, compile time apart, on all devices and (in a process of its own) on one; SDND104's masses, and walls 2 cm away from them.
A cell whose run would take longer than `seconds`, by the rate of the one before it, is left out: "-".
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np

from kernels import runtime
from kernels.batch import solve
from kernels.models import MODELS
from kernels.schemes import EXACT, SCHEMES

COUNTS = (1, 64, 4096, 10**6)
CONTACT = {"k": 3e-5, "k_t": 9e6, "step": 1e-4}
WALLS: dict[str, dict[str, float]] = {
    "rubbing_mass": {},
    "stop": {"k_n": 1e4, "c_n": 5.0, "gap": 0.02},
    "buckling_wall": {"k_n": 1e4, "f_crit": 30.0, "f_post": 10.0, "k_post": 5e3, "gap": 0.02},
}


def rate(model: str, scheme: str, count: int, dtype: Any = np.float64) -> float:
    """Oscillators/s of the second run of `count`."""
    rng = np.random.default_rng(1)
    columns = {"a0": rng.uniform(0.5, 20.0, count), "mu": rng.uniform(0.01, 1.0, count), "window_start": 4.0, **WALLS[model]}
    columns |= {} if scheme == EXACT else CONTACT
    for _ in range(2):
        taken = solve(MODELS[model], scheme, columns, {}, count, dtype=dtype).run_seconds
    return count / taken


def main(limit: float = 10.0) -> None:
    """Print the table; on one device as well, unless there is but one."""
    print(f"{runtime.describe()['device']}\n")
    print(f"| model | scheme | {' | '.join(f'{count:,}' for count in COUNTS)} | 4,096 in float32 |\n|---|---|{'---|' * (len(COUNTS) + 1)}")
    for model in WALLS:
        for scheme in SCHEMES:
            cells, known = [], 0.0
            for count in COUNTS:
                if known and count > limit * known:
                    cells.append("-")
                    continue
                known = rate(model, scheme, count)
                cells.append(f"{known:,.0f}")
                known *= runtime.LANES["abreast"] if count == 1 else 1  # the lanes of a block take no longer than one of them
            fine = SCHEMES[scheme].fixed_step and cells[2] != "-"
            cells.append(f"{rate(model, scheme, COUNTS[2], np.float32):,.0f}" if fine else "-")
            print(f"| {model} | {scheme} | {' | '.join(cells)} |", flush=True)
    if runtime.cores() > 1 and os.environ.get("JAX_NUM_CPU_DEVICES") != "1":
        command = [sys.executable, "-m", "benchmarks.scaling", str(limit)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"JAX_NUM_CPU_DEVICES": "1"})
        print(f"\n{done.stdout}")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
