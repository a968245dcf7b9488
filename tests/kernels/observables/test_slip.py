"""A force that is equal to the limit of friction holds, whatever sum of parameters makes it."""

from __future__ import annotations

import numpy as np
import pytest

from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import RUBBING_MASS

ROWS = 200


def ties(excess):
    """Rows whose parts of the force sum to the limit mu F_n times 1 + `excess`, up to rounding."""
    rng = np.random.default_rng(0)
    m, mu, normal = (np.round(rng.uniform(low, high, ROWS), 2) for low, high in ((0.5, 3.0), (0.05, 0.9), (1.0, 20.0)))
    part, limit = np.round(rng.uniform(0.0, 1.0, ROWS), 1), mu * normal * (1.0 + excess)
    driven = rng.integers(0, 3, ROWS)  # by the base, by a force, by the spring alone
    spring = np.where(driven == 2, 10.0, 0.0)
    return {
        "m": m, "mu": mu, "normal_force": normal, "omega": np.round(rng.uniform(1.0, 10.0, ROWS), 1), "end": 30.0, "window_start": 0.0,
        "load": part * limit, "a0": np.where(driven == 0, (limit - part * limit) / m, 0.0),
        "f0": np.where(driven == 1, (1.0 - part) * limit, 0.0), "k": spring, "x0": np.where(driven == 2, -(1.0 - part) * limit / 10.0, 0.0),
    }  # fmt: skip


@pytest.mark.slow
def test_a_force_equal_to_the_limit_holds_and_a_larger_one_slips():
    found = solve(RUBBING_MASS, "exact", ties(0.0), count=ROWS).observables
    for name in ("slip_phases", "slip_distance", "stops", "regime"):
        assert not found[name].any(), name
    assert (found["stick_fraction"] == 1.0).all()
    found = solve(RUBBING_MASS, "exact", ties(1e-12), count=ROWS).observables
    assert (found["slip_phases"] >= 1.0).all()
