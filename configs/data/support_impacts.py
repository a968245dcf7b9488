"""Make the data of configs/calibrate_support.toml: synthetic, with known noise, by an integration that shares nothing with tribosweep.

python -m configs.data.support_impacts
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.oracle.impact_forces import measured

FOLDER = Path(__file__).parent
BODY = {"m": 0.5, "k": 3e4, "c": 3.0}
RING = {"gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "mu": 0.3, "k_t": 5e5, "c_t": 200.0}  # gap, k_n and mu are to be found
OMEGA = (157.0, 195.0)  # rad/s, along x and y
SHAKES = ((250.0, 200.0), (300.0, 250.0), (350.0, 280.0), (400.0, 350.0), (450.0, 300.0), (500.0, 400.0))  # m/s^2, of the tests
END = 0.02  # s, of a test
TRACED = (400.0, 350.0)  # m/s^2, of the traces
TIMES = 0.025, 100  # s, last sample and number of samples
CELL, RELATIVE, GAUGE = 5.0, 0.01, 1e-5  # noise of forces in time [N], of peaks and impulses, and of the displacement [m]
FINEST = 1e-7  # s, step of the integration


def table(noise: float, seed: int) -> pd.DataFrame:
    """Largest force and impulse of tests at six amplitudes."""
    rng = np.random.default_rng(seed)
    rows = []
    for number, (along_x, along_y) in enumerate(SHAKES, start=1):
        shakes = ((along_x, OMEGA[0]), (along_y, OMEGA[1]))
        _, peak, impulse, _ = measured(tuple(BODY.values()), tuple(RING.values()), shakes, END, round(END / FINEST), 1000)
        spread = 1.0 + noise * RELATIVE * rng.standard_normal(2)
        rows.append((f"shake {number}", along_x, along_y, peak * spread[0], impulse * spread[1]))
    return pd.DataFrame(rows, columns=["test", "amplitude[x]", "amplitude[y]", "peak", "impulse"])


def trace(noise: float, seed: int) -> pd.DataFrame:
    """Normal force, and displacement along x, in time."""
    rng = np.random.default_rng(seed)
    end, count = TIMES
    each = round(end / count / FINEST)
    shakes = ((TRACED[0], OMEGA[0]), (TRACED[1], OMEGA[1]))
    found, *_ = measured(tuple(BODY.values()), tuple(RING.values()), shakes, end, count * each, each)
    force = found[:, 3] + noise * CELL * rng.standard_normal(count)
    return pd.DataFrame({"time": found[:, 0], "force": force, "x": found[:, 1] + noise * GAUGE * rng.standard_normal(count)})


if __name__ == "__main__":
    table(1.0, 501).to_csv(FOLDER / "support_tests.csv", index=False, float_format="%.6g")
    trace(1.0, 502).to_csv(FOLDER / "support_force.csv", index=False, float_format="%.6g")
