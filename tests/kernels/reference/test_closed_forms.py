"""Closed forms with which engines are compared: against published values and integrations of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

from tests.oracle.sdnd104 import stick_slip_wear_power
from tribosweep.kernels.reference.closed_forms import (
    DenHartog,
    damped_impact,
    den_hartog_limit,
    slip_slip_wear_power,
)


@pytest.mark.parametrize(("beta", "eta"), [(3.0, 0.5625), (2.0, 0.59628), (0.8, 0.81741), (0.6, 0.53151)])
def test_the_limit_of_den_hartog_has_its_published_value(beta: float, eta: float) -> None:
    assert den_hartog_limit(beta) == pytest.approx(eta, abs=6e-6)


@pytest.mark.parametrize(("k_n", "c_n"), [(1.0, 0.1), (400.0, 12.0), (9.0, 11.0)])
def test_a_damped_impact_ends_where_its_force_comes_to_zero(k_n: float, c_n: float) -> None:
    m = 4.0
    matrix = np.array([[0.0, 1.0], [-k_n / m, -c_n / m]])

    def force(time: float) -> float:
        x, v = expm(matrix * time)[:, 1]
        return float(k_n * x + c_n * v)

    half = math.pi / math.sqrt(k_n / m - (c_n / (2.0 * m)) ** 2)  # of the free oscillation: then x = 0 and the force pulls
    time = brentq(force, 1e-6 * half, half, xtol=1e-14)
    assert damped_impact(m, k_n, c_n) == pytest.approx((time, -expm(matrix * time)[1, 1]), rel=1e-10)


@pytest.mark.parametrize(("a0", "power"), [(1.5, 0.40906245101570892), (1.01, 2.2616412127978696e-4)])
def test_stick_slip_has_the_wear_power_of_an_integration_in_30_digits(a0: float, power: float) -> None:
    assert stick_slip_wear_power(1.0, 10.0, 0.1, a0, 2.0 * math.pi) == pytest.approx(power, rel=1e-12)


def test_slip_without_a_spring_is_den_hartogs_of_a_soft_one() -> None:
    m, g, mu, a0, omega = 2.0, 9.81, 0.1, 5.0, 3.0
    soft = DenHartog(m, 1e-6, a0, omega, mu * m * g, m * g)
    assert soft.wear_power == pytest.approx(slip_slip_wear_power(m, g, mu, a0, omega), rel=1e-5)
