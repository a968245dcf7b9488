"""Rigid friction without spring and damper: the loop for values finds what the loop for derivatives finds, in every regime."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest

from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.exact import rigid_loop
from tribosweep.kernels.models import RUBBING_MASS

COUNT = 4096
EXACT_COUNTS = ("slip_phases", "stops", "regime")


@functools.cache
def loop(values: bool) -> Any:
    """Jitted: parameters (COUNT,) -> observables and status. With `nested` the loop for derivatives runs."""
    run = functools.partial(rigid_loop.simulate, free=True, nested=not values)
    return jax.jit(jax.vmap(run))


def rows(seed: int) -> dict[str, np.ndarray]:
    """Masses at rest and in motion, driven and not, with loads that drag them along, in windows that begin and end anywhere."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.0, 0.6, COUNT)
    start = rng.choice([0.0, 1.0], COUNT) * rng.uniform(0.0, 6.0, COUNT)
    given: dict[str, Any] = {
        "m": rng.uniform(0.5, 2.0, COUNT),
        "a0": rng.uniform(0.2, 15.0, COUNT) * rng.choice([0.0, 1.0, 1.0, 1.0, -1.0], COUNT),
        "f0": rng.choice([0.0, 3.0], COUNT),
        "omega": rng.uniform(1.0, 12.0, COUNT),
        "phase": rng.uniform(-7.0, 7.0, COUNT),
        "load": rng.choice([0.0, 0.0, 1.0, -0.3, 8.0], COUNT),
        "mu_s": mu,
        "mu_d": mu * rng.choice([1.0, 1.0, 0.7], COUNT),
        "x0": rng.choice([0.0, 0.3], COUNT),
        "v0": rng.choice([0.0, 0.0, 0.8, -2.0], COUNT),
        "window_start": start,
        "window_end": start + rng.uniform(0.5, 5.0, COUNT),
    }
    given["end"] = given["window_end"] + rng.choice([0.0, 1.0], COUNT)
    resolved = RUBBING_MASS.resolve(given)
    return {name: np.broadcast_to(value, COUNT).astype(float) for name, value in resolved.items() if name in (*rigid_loop.READ, "k", "c")}


@pytest.mark.slow
def test_values_are_those_of_the_loop_for_derivatives() -> None:
    regimes = set()
    for seed in range(3):
        p = rows(seed)
        (ours, status), (theirs, expected) = loop(True)(p), loop(False)(p)
        np.testing.assert_array_equal(status, expected)
        regimes |= set(np.unique(theirs["regime"]))
        scale = np.abs(p["v0"]) + (np.abs(p["a0"]) + np.abs(p["f0"]) + np.abs(p["load"])) / p["m"] * p["end"]
        for name, values in theirs.items():
            where = None if name not in ("wear_power", "slip_distance", "drift", "x_end", "v_end", "max_slip_speed") else scale
            if name in EXACT_COUNTS:
                np.testing.assert_array_equal(ours[name], values, err_msg=name)
            elif where is None:
                np.testing.assert_allclose(ours[name], values, rtol=1e-10, atol=1e-12, err_msg=name)
            else:
                assert (np.abs(ours[name] - values) <= 1e-12 * (np.abs(values) + scale * p["normal_force"].max())).all(), name
    assert regimes == {0, 1, 2}


@pytest.mark.slow
def test_a_speed_that_touches_zero_is_no_stop() -> None:
    # without friction, released from rest by a sine, the speed comes back to 0 once a period, and does not change its sign
    found = solve(RUBBING_MASS, "exact", {"mu": np.zeros(3), "a0": np.array([3.0, 5.0, 0.7]), "omega": np.array([6.0, 2.0, 9.0])}, {}, 3)
    np.testing.assert_array_equal(found.observables["slip_phases"], 1.0)


@pytest.mark.slow
def test_one_oscillator_alone_and_one_that_is_not_finite() -> None:
    p = {name: value[:8].copy() for name, value in rows(3).items()}
    p["a0"][5] = np.nan
    together, status = jax.vmap(functools.partial(rigid_loop.simulate, free=True))(p)
    assert status[5] != 0
    assert (np.delete(np.asarray(status), 5) == 0).all()
    for row in (0, 3):
        alone, _ = rigid_loop.simulate({name: value[row] for name, value in p.items()}, free=True)
        np.testing.assert_allclose(alone["wear_power"], together["wear_power"][row], rtol=1e-12, atol=1e-14)
