"""Programs for one oscillator at a time: XLA contracts products and sums differently in each program, and decisions must survive it."""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest

from tests.oracle.sdnd104 import wear_power
from tribosweep import kernels


@pytest.mark.slow
def test_a_thousand_oscillators_run_one_at_a_time_agree_with_the_event_by_event_transient() -> None:
    run = jax.jit(lambda a0: kernels.simulate("rubbing_mass", {"a0": a0, "mu": 0.1, "window_start": 4.0})["wear_power"])
    amplitudes = 15.0 * (1.0 + np.random.default_rng(1).uniform(-1e-3, 1e-3, 1000))
    computed = np.array([run(a0) for a0 in amplitudes])
    expected = np.array([wear_power(a0, 0.1, 10.0, 1.0, 2.0 * math.pi, (4.0, 12.0)) for a0 in amplitudes])
    np.testing.assert_allclose(computed, expected, rtol=1e-11)
