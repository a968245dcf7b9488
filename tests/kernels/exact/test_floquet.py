"""Floquet multipliers of steady motions: against closed forms, an independent integration, numpy, and what they say of stability."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np
import pytest
from scipy.optimize import brentq

from tests.oracle import impacts_on_section, penalised_section
from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.exact import floquet
from tribosweep.kernels.models import RUBBING_MASS, STOP
from tribosweep.kernels.models.observables import STABILITY
from tribosweep.kernels.models.outputs import Asked

SPRING = {"k": 1.0, "c": 0.1, "k_n": 100.0, "c_n": 0.2, "a0": 1.0}
IMPACTING = [(1.5, 1), (3.5, 2), (1.1612903225806452, 2), (5.5, 3)]  # omega, period
ASKED = Asked(multipliers=True)


def complex_of(found: dict[str, np.ndarray]) -> np.ndarray:
    """The two multipliers (rows, 2)."""
    size, angle = (np.stack([found[f"{name}_{i}"] for i in (1, 2)], axis=1) for name in ("multiplier", "multiplier_angle"))
    pair = (size[:, :1] == size[:, 1:]) & (np.sin(angle[:, :1]) > 1e-12)
    return size * np.exp(1j * np.where(pair, [[1.0, -1.0]], 1.0) * angle)


def words_of(found: dict[str, np.ndarray]) -> list[str]:
    """The stability in words."""
    return [STABILITY[code] for code in found["stability"]]


@pytest.fixture(scope="module")
def stops() -> dict[str, np.ndarray]:
    """Rows of a stop: two that never touch it, the impacting ones, one that impacts slowly and one that nearly touches."""
    gap = [30.0, 30.0, *[0.0] * len(IMPACTING), 0.0, 0.0]
    omega = [1.3, 3.7, *[omega for omega, _ in IMPACTING], 1.7, 1.7]
    linear = -1.0 / (1.0 - 1.7**2 + 0.1j * 1.7)
    gap[-2:] = [response * 1.001 for response in (abs(linear), 1.5 * abs(linear))]
    start = np.where(np.array(gap) > 0.0, 1.0, 0.0)  # on the linear motion: an impacting one exists beside it
    columns = {**SPRING, "gap": np.array(gap), "omega": np.array(omega), "x0": start * linear.imag, "v0": start * 1.7 * linear.real}
    found = batch.solve(STOP, "exact", columns, count=len(gap), window="steady", room=16, asked=ASKED).observables
    return dict(found)


@pytest.mark.long
@pytest.mark.slow
def test_the_multipliers_of_a_linear_oscillator_are_those_of_its_free_motion(stops: dict[str, np.ndarray]) -> None:
    for row, omega in ((0, 1.3), (1, 3.7)):
        free = np.exp((-0.05 + 1j * math.sqrt(1.0 - 0.05**2)) * 2.0 * math.pi / omega)
        free = free if free.imag > 0.0 else free.conjugate()
        np.testing.assert_allclose(complex_of(stops)[row], [free, free.conjugate()], atol=1e-12)
    assert words_of(stops)[0] == "stable"


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(IMPACTING)))
def test_the_multipliers_of_impacts_are_those_of_an_independent_integration(stops: dict[str, np.ndarray], number: int) -> None:
    omega, period = IMPACTING[number]
    row = 2 + number
    assert stops["period"][row] == period
    point = stops["poincare_x"][row, 0], stops["poincare_v"][row, 0]
    independent = np.sort_complex(np.array(impacts_on_section.multipliers({**SPRING, "m": 1.0, "omega": omega}, point, period), complex))
    np.testing.assert_allclose(np.sort_complex(complex_of(stops)[row]), independent, atol=1e-7)


@pytest.mark.long
@pytest.mark.slow
def test_a_motion_that_nearly_touches_is_near_a_grazing(stops: dict[str, np.ndarray]) -> None:
    assert words_of(stops)[-2:] == ["grazing near", "stable"]
    assert stops["impacts"][-2] == 0


def after_a_period(x: float, v: float, omega: float, mu: float) -> tuple[float, float]:
    """Displacement and velocity of x'' + x + mu sign(x') = -sin(omega t) a period after t = 0, if the mass slips without rests."""
    time, end = 0.0, 2.0 * math.pi / omega
    forced = -1.0 / (1.0 - omega * omega)
    while True:
        centre, begun = -mu * math.copysign(1.0, v if v != 0.0 else -x), time
        a = x - centre - forced * math.sin(omega * time)
        b = v - forced * omega * math.cos(omega * time)

        def velocity(t: float, begun: float = begun, a: float = a, b: float = b) -> float:
            return forced * omega * math.cos(omega * t) - a * math.sin(t - begun) + b * math.cos(t - begun)

        instants = begun + np.linspace(1e-3, 1.0, 400) * (end - begun)
        turns = [t for t in range(399) if velocity(instants[t]) * velocity(instants[t + 1]) < 0.0]
        time = brentq(velocity, instants[turns[0]], instants[turns[0] + 1], xtol=1e-15) if turns else end
        x = centre + forced * math.sin(omega * time) + a * math.cos(time - begun) + b * math.sin(time - begun)
        v = 0.0 if turns else velocity(time)
        if not turns:
            return x, v


@pytest.mark.long
@pytest.mark.slow
def test_multipliers_of_rigid_friction() -> None:
    mass = {"k": 1.0, "g": 1.0, "a0": 1.0, "omega": 1.7, "mu": np.array([0.1, 2.0])}
    found = dict(batch.solve(RUBBING_MASS, "exact", mass, count=2, window="steady", room=16, asked=ASKED).observables)
    assert words_of(found)[1] == "neutral"  # it rests wherever it came to rest
    assert found["multiplier_1"][1] == pytest.approx(1.0)
    assert (found["stops"][0], found["period"][0]) == (0, 1)
    x, v, h = found["poincare_x"][0, 0], found["poincare_v"][0, 0], 1e-5
    np.testing.assert_allclose(after_a_period(x, v, 1.7, 0.1), [x, v], atol=1e-11)
    ends = [np.subtract(after_a_period(x + h * a, v + h * b, 1.7, 0.1), after_a_period(x - h * a, v - h * b, 1.7, 0.1))
            for a, b in ((1, 0), (0, 1))]  # fmt: skip
    values = np.linalg.eigvals(np.array(ends).T / (2.0 * h)).astype(complex)
    np.testing.assert_allclose(np.sort_complex(complex_of(found)[0]), np.sort_complex(values), atol=1e-8)


@pytest.mark.long
@pytest.mark.slow
def test_multipliers_of_penalised_friction_are_those_of_an_independent_integration() -> None:
    rng, count = np.random.default_rng(27), 21
    between = {"m": (0.5, 2.0), "k": (0.5, 4.0), "a0": (0.5, 2.0), "omega": (0.4, 3.0), "c_t": (0.0, 2.0)}
    rows = {name: rng.uniform(*ends, count) for name, ends in between.items()} | {"g": np.ones(count)}
    rows |= {"c": rng.uniform(0.0, 0.3, count) * rng.integers(0, 2, count), "k_t": 10.0 ** rng.uniform(1.2, 2.5, count)}
    rows["mu_d"] = rows["a0"] * rng.uniform(0.4, 0.9, count)
    rows["mu_s"] = rows["mu_d"] * np.where(rng.random(count) < 0.5, 1.0, rng.uniform(1.0, 1.1, count))
    rows["mu_d"][-1] = rows["mu_s"][-1] = 5.0  # never slips
    found = dict(batch.solve(RUBBING_MASS, "exact", rows, count=count, window="steady", room=16, asked=ASKED).observables)
    stuck = {name: values[-1] for name, values in rows.items()}
    stiffness, damping = (stuck["k"] + stuck["k_t"]) / stuck["m"], (stuck["c"] + stuck["c_t"]) / stuck["m"]
    free = np.exp(np.roots([1.0, damping, stiffness]) * 2.0 * math.pi / stuck["omega"])
    assert words_of(found)[-1] == "neutral"
    np.testing.assert_allclose(found["multiplier_1"][-1], 1.0, atol=1e-12)  # the spring may be stretched at the start
    np.testing.assert_allclose(found["multiplier_2"][-1], abs(free[0]), atol=1e-12)
    compared = np.flatnonzero((found["period"] > 0.0) & (found["slip_phases"] > 0.0))
    held = 0
    for row in compared:
        p = {name: float(values[row]) for name, values in rows.items()}
        there = found["poincare_x"][row, 0], found["poincare_v"][row, 0]
        motion = penalised_section.motion(p, *there, int(found["period"][row]))
        np.testing.assert_allclose(motion.state[:2], there, atol=1e-11)
        values = motion.multipliers[np.argsort(-np.abs(motion.multipliers))]
        np.testing.assert_allclose(np.sort_complex(complex_of(found)[row]), np.sort_complex(values[:2]), atol=1e-8)
        assert abs(values[2]) < 1e-8
        held += motion.direction == 0
    assert len(compared) == count - 1
    assert np.count_nonzero(found["stops"][compared]) > 10  # with rests
    assert held > 4  # the contact holds at the start of a period: three coordinates


def with_eigenvalue(value: float, seed: int) -> np.ndarray:
    """A random matrix (3, 3) with this eigenvalue."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(-1.0, 1.0, (3, 3)))
    upper[0, 1], upper[1, 0], upper[2, 2] = 0.7, rng.uniform(-0.8, 0.8), value
    basis = rng.uniform(-1.0, 1.0, (3, 3)) + 2.0 * np.eye(3)
    return np.asarray(basis @ upper @ np.linalg.inv(basis))


def test_eigenvalues_are_numpys() -> None:
    def by_size(values: Any) -> np.ndarray:
        values = np.asarray(values, complex)
        return values[np.lexsort((-values.imag, -np.round(np.abs(values), 9)))]

    of = jax.jit(floquet.multipliers)
    for seed in range(40):
        pair = np.random.default_rng(seed).uniform(-1.5, 1.5, (2, 2))
        for matrix in (pair, with_eigenvalue(float(seed % 2), seed)):
            re, im = of(matrix)
            found = np.asarray(re) + 1j * np.asarray(im)
            assert np.all(np.diff(np.abs(found)) <= 1e-12)
            np.testing.assert_allclose(by_size(found), by_size(np.linalg.eigvals(matrix)), atol=1e-12)
    for matrix in (np.zeros((2, 2)), np.eye(2), np.array([[0.5, 1.0], [0.0, 0.5]])):
        re, im = of(matrix)
        np.testing.assert_array_equal(np.sort(re), np.diag(matrix))
        np.testing.assert_array_equal(im, 0.0)


@pytest.mark.parametrize(
    ("pair", "word"),
    [
        ((0.995, 0.2), "fold near"), ((-0.992, -0.1), "flip near"), ((0.3, -0.2), "stable"), ((1.2, 0.1), "unstable"),
        ((1.0, 0.0), "neutral"), ((0.6 + 0.797j, 0.6 - 0.797j), "Neimark-Sacker near"), ((0.6 + 0.5j, 0.6 - 0.5j), "stable"),
    ],
)  # fmt: skip
def test_stability_in_words(pair: tuple[complex, complex], word: str) -> None:
    first, second = pair
    matrix = np.array([[0.0, -(first * second).real], [1.0, (first + second).real]])
    found = floquet.columns(jax.numpy.asarray(matrix), jax.numpy.asarray(False))
    assert STABILITY[int(found["stability"])] == word


def test_multipliers_need_a_steady_window() -> None:
    with pytest.raises(ValueError, match="'multipliers' is of a periodic motion"):
        kernels.simulate("stop", {"k": 1.0}, multipliers=True)


def test_a_jacobian_that_is_not_finite_tells_nothing() -> None:
    for strange in (math.nan, math.inf):
        found = floquet.columns(jax.numpy.array([[0.5, strange], [0.0, 0.2]]), jax.numpy.array(False))
        assert all(np.isnan(value) for value in found.values()), found


@pytest.mark.long
@pytest.mark.slow
def test_simulate_returns_what_a_batch_returns_and_no_more(stops: dict[str, np.ndarray]) -> None:
    row, omega = 2, IMPACTING[0][0]
    one = kernels.simulate("stop", {**SPRING, "gap": 0.0, "omega": omega}, window="steady", multipliers=True)
    plain = {q.name for q in STOP.returns("steady", {*SPRING, "omega", "gap"})}
    asked = {"multiplier_1", "multiplier_2", "multiplier_angle_1", "multiplier_angle_2", "stability"}
    assert {*one} - {"status"} <= plain | asked
    assert asked <= {*one}
    for name in ("multiplier_1", "multiplier_2", "multiplier_angle_1", "peak_force"):
        np.testing.assert_allclose(float(one[name]), stops[name][row], rtol=1e-9, err_msg=name)
