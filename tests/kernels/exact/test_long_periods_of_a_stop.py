"""Steady motions of a stop that repeat after 2 to 16 periods, against long runs without the search for a periodic orbit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tribosweep.kernels.batch.solve import Solution, solve
from tribosweep.kernels.models import STOP
from tribosweep.kernels.models.status import Status

ROWS, TRANSIENT = 1500, 1200  # rows, and periods of a long run before its window
SAME = ("impacts", "contact_time", "impulse", "peak_force", "max_compression", "contact_ratio", "impact_rate", "drift")


@pytest.mark.long
@pytest.mark.slow
def test_steady_windows_of_several_periods_are_those_of_long_runs() -> None:
    rng = np.random.default_rng(5)
    p = {
        "m": 1.0, "omega": 1.0, "a0": 1.0, "mu": 0.0, "normal_force": 0.0, "k": rng.uniform(0.02, 0.6, ROWS),
        "k_n": 10.0 ** rng.uniform(1.0, 3.0, ROWS), "gap": rng.uniform(0.0, 2.0, ROWS), "phase": rng.uniform(0.0, 2.0 * math.pi, ROWS),
        "c": 10.0 ** rng.uniform(-2.0, -0.5, ROWS), "c_n": np.where(rng.random(ROWS) < 0.5, 0.0, 10.0 ** rng.uniform(-1.0, 1.0, ROWS)),
        "sides": 1.0 + (rng.random(ROWS) < 0.3),
    }  # fmt: skip
    steady = solve(STOP, "exact", p, count=ROWS, window="steady")
    period = steady.observables["period"]
    rows = np.flatnonzero((steady.status == Status.OK) & (period >= 2.0) & (period <= 16.0))
    assert rows.size >= 100 and period[rows].max() >= 8.0
    chosen = {name: value[rows] if isinstance(value, np.ndarray) else value for name, value in p.items()}
    start = 2.0 * math.pi * TRANSIENT
    window = {"window_start": start, "window_end": start + 2.0 * math.pi * period[rows], "end": start + 2.0 * math.pi * period[rows]}
    long = solve(STOP, "exact", chosen | window, count=rows.size)
    assert (long.status == Status.OK).all()
    # the orbit attracts the long run by its slowest multiplier a period: rows that are not yet there after the transient are counted
    late = solve(STOP, "exact", chosen | {n: v + 64.0 * math.pi * period[rows] for n, v in window.items()}, count=rows.size)
    settled = np.abs(late.observables["impulse"] / long.observables["impulse"] - 1.0) < 1e-9
    print(rows.size, "rows, periods", np.unique(period[rows], return_counts=True), "not settled", np.count_nonzero(~settled))
    assert np.count_nonzero(settled) >= 0.95 * rows.size
    other = settled & ~same(steady, rows, long)
    # the search may jump into the basin of another stable motion: that motion must attract a long run from it
    x, v = (np.array([each[0] for each in steady.observables[name][rows[other]]]) for name in ("poincare_x", "poincare_v"))
    again = {name: value[other] if isinstance(value, np.ndarray) else value for name, value in (chosen | window).items()}
    confirmed = solve(STOP, "exact", again | {"x0": x, "v0": v}, count=int(other.sum()))
    print("another stable motion in", other.sum(), "rows")
    assert same(steady, rows[other], confirmed).all()
    assert np.count_nonzero(other) <= 0.03 * rows.size


def same(steady: Solution, rows: np.ndarray, long: Solution) -> np.ndarray:
    """Mask of the rows whose steady window is that of a long run, printed with the largest difference of each observable [SI units]."""
    agree = np.ones(rows.size, dtype=bool)
    for name in SAME:
        found, expected = steady.observables[name][rows], long.observables[name]
        agree &= np.abs(found - expected) <= 1e-6 * np.abs(expected) + (1e-6 if name == "drift" else 0.0)
    for name in SAME:
        found, expected = steady.observables[name][rows][agree], long.observables[name][agree]
        print(name, np.max(np.abs(found - expected), initial=0.0), end="; ")
    return agree
