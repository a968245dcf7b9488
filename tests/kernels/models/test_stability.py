"""The largest stable step that a study is held to, against the eigenvalues of one step and against the schemes themselves."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.models.schemes import SCHEMES

Map = Callable[[np.ndarray, float, tuple[float, float, float]], np.ndarray]


def euler_step(state: np.ndarray, h: float, per_mass: tuple[float, float, float]) -> np.ndarray:
    """Symplectic Euler on x'' = -(c + d) v - w x."""
    c, d, w = per_mass
    x, v = state
    v = v - h * ((c + d) * v + w * x)
    return np.array([x + h * v, v])


def devogelaere_step(state: np.ndarray, h: float, per_mass: tuple[float, float, float]) -> np.ndarray:
    """De Vogelaere, the contact's damper d at the difference velocities; state x, v, force; force, velocity at the last half."""
    c, d, w = per_mass
    x, v, f, early, v_early = state
    x_half = x + 0.5 * h * v + h**2 / 24.0 * (4.0 * f - early - c * (4.0 * v - v_early))
    half = -w * x_half - d * 2.0 * (x_half - x) / h
    v_half = 4.0 * (v + 0.25 * h * (f + half - c * v)) / (4.0 + h * c)
    new = x + h * v + h**2 / 6.0 * (f + 2.0 * half - c * (v + 2.0 * v_half))
    force = -w * new - d * 2.0 * (new - x_half) / h
    return np.array([new, 6.0 * (v + h / 6.0 * (force + 4.0 * half + f - c * (4.0 * v_half + v))) / (6.0 + h * c), force, half, v_half])


MAPS: dict[str, tuple[Map, int]] = {"euler": (euler_step, 2), "devogelaere": (devogelaere_step, 5)}


def growth(scheme: str, h: float, per_mass: tuple[float, float, float]) -> float:
    """Largest modulus of the eigenvalues of one step."""
    step, size = MAPS[scheme]
    return float(max(abs(np.linalg.eigvals(np.array([step(unit, h, per_mass) for unit in np.eye(size)]).T))))


def largest(scheme: str, m: float, per_mass: tuple[float, float, float]) -> float:
    """The step that a study is held to [s], the stiffness w m all in the contact."""
    c, d, w = per_mass
    bound = SCHEMES[scheme].largest_stable_step
    assert bound is not None
    return float(bound({"m": m, "c": c * m, "k": 0.0, "c_t": d * m, "k_t": w * m, "mu_s": 0.1, "normal_force": 1.0}))


@pytest.mark.parametrize("scheme", MAPS)
def test_every_step_below_the_bound_is_stable_and_none_above(scheme: str) -> None:
    rng = np.random.default_rng(8)
    for _ in range(150):
        c, d, w = (float(size) for size in 10.0 ** rng.uniform(-2, 2, 3))
        per_mass = (c * rng.integers(2), d * rng.integers(2), w)
        bound = largest(scheme, float(rng.uniform(0.3, 3.0)), per_mass)
        for part in (0.01, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.9999):
            # of a double eigenvalue on the unit circle eigvals knows half the digits
            assert growth(scheme, part * bound, per_mass) < 1.0 + 1e-6, (per_mass, part)
        if scheme == "euler" or bound < 0.999 * 4.0 / max(per_mass[0], 1e-300):  # devogelaere cannot start beyond h c = 4 m
            assert growth(scheme, 1.001 * bound, per_mass) > 1.0 + 1e-5, per_mass


@pytest.mark.slow
@pytest.mark.parametrize("scheme", MAPS)
def test_a_stuck_mass_rests_below_the_bound_and_is_refused_above(scheme: str) -> None:
    row = {"k_t": 9e6, "c_t": 6000.0, "x0": 1e-9, "end": 0.5, "a0": 0.1}
    bound = largest(scheme, 1.0, (0.0, 6000.0, 9e6))
    calm = kernels.simulate("rubbing_mass", row | {"step": 0.98 * bound}, scheme=scheme)
    # a plain number raises, a traced one has a status
    wild = jax.jit(lambda step: kernels.simulate("rubbing_mass", row | {"step": step}, scheme=scheme))(1.02 * bound)
    assert calm["slip_distance"] == 0.0
    assert abs(calm["x_end"]) < 2e-8
    assert int(wild["status"]) == 3  # its parameters contradict each other
    assert np.isnan(wild["slip_distance"])


def test_a_contact_without_friction_does_not_limit_the_step() -> None:
    values = {"m": 1.0, "c": 0.0, "k": 4.0, "c_t": 6000.0, "k_t": 9e6, "mu_s": 0.0, "normal_force": 10.0}
    for scheme, expected in (("euler", 1.0), ("devogelaere", np.sqrt(2.0))):
        bound = SCHEMES[scheme].largest_stable_step
        assert bound is not None
        assert float(bound(values)) == pytest.approx(expected, rel=1e-15)
        assert np.isinf(bound(values | {"k": 0.0}))
