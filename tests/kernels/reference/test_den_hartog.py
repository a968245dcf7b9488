"""Den Hartog's steady slip-slip motion of a mass on a spring (1931), c = 0, as PHYSICS states it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.models import REGIMES

Solve = Callable[..., dict[str, np.ndarray]]

BETAS = {3.0: 0.5625, 2.0: 0.59628, 0.8: 0.81741, 0.6: 0.53151}


def functions(beta: float) -> tuple[float, float]:
    """Den Hartog's V and U."""
    return 1.0 / (1.0 - beta**2), math.sin(math.pi / beta) / (beta * (1.0 + math.cos(math.pi / beta)))


def boundary(beta: float) -> float:
    """eta*(beta), above which the steady motion has stops."""
    V, U = functions(beta)
    return abs(V) / math.sqrt(U**2 + beta**-4)


def orbit(beta: float, share: float, periods: float) -> tuple[dict[str, Any], float]:
    """Parameters that start on the steady orbit at its largest displacement for eta = share eta*, and its wear power."""
    m, k, force, omega_n = 1.7, 4.3, 2.6, math.sqrt(4.3 / 1.7)
    omega, eta = beta * omega_n, share * boundary(beta)
    V, U = functions(beta)
    x0 = force / k * math.sqrt(V**2 - eta**2 * U**2)
    # m x'' + k x = force sin(omega t + phase) + eta force from x0 at rest: x = x0 there, -x0 half a period later
    phase = math.atan2(x0 * k / (force * V), eta * U / V)
    normal = 11.0
    end = periods * 2.0 * math.pi / omega
    row = {
        "m": m,
        "k": k,
        "f0": force,
        "omega": omega,
        "phase": phase,
        "x0": x0,
        "mu": eta * force / normal,
        "normal_force": normal,
        "end": end,
    }
    return row, 2.0 * omega / math.pi * normal * x0


@pytest.mark.parametrize(("beta", "value"), list(BETAS.items()))
def test_the_boundary_has_its_published_value(beta: float, value: float) -> None:
    assert boundary(beta) == pytest.approx(value, abs=6e-6)


@pytest.mark.parametrize("beta", list(BETAS))
def test_wear_power_over_one_period_of_the_steady_orbit_is_den_hartogs(solve: Solve, beta: float) -> None:
    row, power = orbit(beta, 0.9, 1.0)
    found = solve([row])
    assert found["wear_power"][0] == pytest.approx(power, rel=1e-12)
    assert found["x_end"][0] == pytest.approx(row["x0"], rel=1e-12)
    assert REGIMES[found["regime"][0]] == "slip-slip"


@pytest.mark.parametrize("beta", list(BETAS))
def test_a_mass_from_rest_reaches_the_steady_orbit(solve: Solve, beta: float) -> None:
    row, power = orbit(beta, 0.9, 600.0)
    period = row["end"] / 600.0
    found = solve([row | {"x0": 0.0, "window_start": row["end"] - 2.0 * period}])
    assert found["wear_power"][0] == pytest.approx(power, rel=1e-9)
    assert REGIMES[found["regime"][0]] == "slip-slip"


@pytest.mark.parametrize("beta", [3.0, 2.0, 0.8])
def test_the_steady_motion_stops_beyond_the_boundary_and_not_below(solve: Solve, beta: float) -> None:
    regimes = []
    for share in (0.99, 1.01):
        row, _ = orbit(beta, min(share, 1.0), 400.0)
        row |= {"mu": share * boundary(beta) * row["f0"] / row["normal_force"], "x0": 0.0, "window_start": 0.98 * row["end"]}
        regimes.append(REGIMES[solve([row])["regime"][0]])
    assert regimes == ["slip-slip", "stick-slip"]
