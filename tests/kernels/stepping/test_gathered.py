"""What Runge-Kutta schemes gather follows their tolerance as the motion does: every observable of random rows against `exact`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tribosweep import kernels

COUNT = 16
# largest error of a row, as a part of the largest value, over the tolerance of a step; what sticks is short, and ends with every reversal
FACTORS = {"stop": 400.0, "damped stop": 400.0, "friction": 1e4, "stick_fraction": 1e5, "drift": 2e4}
OF_A_WALL = ("impulse", "peak_force", "contact_time", "max_compression", "rebound_velocity", "separation_time", "exit_time")
OF_FRICTION = ("slip_distance", "stick_fraction", "max_slip_speed", "wear_power", "friction_power", "drift")


def rows(kind: str) -> dict[str, Any]:
    """Random oscillators that hit a stop, without and with a damper, or that stick and slip on a penalised contact."""
    rng = np.random.default_rng(1)

    def between(low: float, high: float) -> np.ndarray:
        return rng.uniform(low, high, COUNT)

    if kind == "friction":
        return {"mu_d": between(0.05, 0.1), "mu_s": between(0.1, 0.2), "k": between(5.0, 30.0), "c": between(0.0, 0.5),
                "v0": between(0.5, 2.0), "a0": between(1.0, 5.0), "omega": between(3.0, 8.0), "end": 3.0, "window_start": 0.31,
                "k_t": 1e4, "c_t": 20.0}  # fmt: skip
    found = {"mu": 0.0, "m": between(0.5, 2.0), "k": between(5.0, 30.0), "c": between(0.0, 0.5), "v0": between(0.5, 2.0),
             "gap": between(0.05, 0.1), "k_n": between(200.0, 600.0), "a0": between(0.0, 5.0), "omega": between(3.0, 8.0),
             "end": 2.0}  # fmt: skip
    return found | ({"c_n": between(1.0, 8.0)} if kind == "damped stop" else {})


@pytest.mark.long_cases("friction-rk54", "damped stop-*", "stop-rk32", "friction-rk32")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["rk54", "rk32"])
@pytest.mark.parametrize("kind", ["stop", "damped stop", "friction"])
def test_what_is_gathered_follows_the_tolerance(kind: str, scheme: str) -> None:
    model, names = ("rubbing_mass", OF_FRICTION) if kind == "friction" else ("stop", OF_A_WALL)
    given = rows(kind)
    exact = kernels.simulate(model, given)
    for tolerance in (1e-5, 1e-7, 1e-9):
        found = kernels.simulate(model, given | {"tolerance": tolerance, "largest_step": 1.0, "smallest_step": 1e-14}, scheme=scheme)
        for name in (*names, "x_end"):
            error = float(np.max(np.abs(found[name] - exact[name])) / np.max(np.abs(exact[name])))
            assert error < FACTORS.get(name, FACTORS[kind]) * tolerance, (name, tolerance)
