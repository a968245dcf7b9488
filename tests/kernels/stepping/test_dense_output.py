"""The motion within a step: order of the polynomials, crossings, extremes and integrals against closed forms, and their derivatives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.stepping import dense_output
from tribosweep.kernels.stepping.dense_output import Polynomial

STARTS = np.linspace(0.0, 6.0, 13)


def of_sine(h: float, quintic: bool) -> Polynomial:
    """The motion of x = sin t over steps of h from 13 instants."""
    t, late = jnp.asarray(STARTS), jnp.asarray(STARTS + h)
    ends = (-jnp.sin(t), -jnp.sin(late)) if quintic else (None, None)
    return dense_output.motion(jnp.full(13, h), jnp.cos(t), jnp.cos(late), jnp.sin(late) - jnp.sin(t), *ends)


@pytest.mark.parametrize(("quintic", "order"), [(False, 4), (True, 6)])
def test_the_motion_within_a_step_is_in_error_by_the_degree_and_one(quintic: bool, order: int) -> None:
    errors = []
    for h in (0.8, 0.4, 0.2):
        course = of_sine(h, quintic)
        u = np.linspace(0.0, 1.0, 21)[:, None]
        errors.append(np.abs(np.asarray(course.at(u)) - (np.sin(STARTS + u * h) - np.sin(STARTS))).max())
        speed = np.asarray(dense_output.velocity(course, jnp.full(13, h)).at(u))
        assert np.abs(speed - np.cos(STARTS + u * h)).max() < 2.0 * h ** (order - 1) / (24.0 if order == 4 else 720.0)
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), order, atol=0.1)


def test_a_polynomial_through_five_values_and_its_integral_are_those_of_the_quartic() -> None:
    coefficients = np.random.default_rng(1).normal(size=(5, 40))
    values = [sum(c * node**n for n, c in enumerate(coefficients)) for node in dense_output.FIFTHS]
    found = dense_output.through(tuple(jnp.asarray(value) for value in values))
    np.testing.assert_allclose(np.array(found.coefficients), coefficients, atol=1e-12)
    whole = sum(weight * value for weight, value in zip(dense_output.BOOLE, values, strict=True))
    exact = sum(c / (n + 1.0) for n, c in enumerate(coefficients))
    np.testing.assert_allclose(whole, exact, atol=1e-14)
    np.testing.assert_allclose(np.asarray(found.integral()), exact, atol=1e-13)
    begin, end = jnp.asarray(0.2), jnp.asarray(0.7)
    part = sum(c * (0.7 ** (n + 1) - 0.2 ** (n + 1)) / (n + 1.0) for n, c in enumerate(coefficients))
    np.testing.assert_allclose(np.asarray(found.integral(begin, end)), part, atol=1e-13)
    np.testing.assert_allclose(np.asarray(dense_output.integral(found.at, begin, end)), part, atol=1e-13)


def test_a_crossing_and_an_extreme_are_where_those_of_numpy_are() -> None:
    coefficients = np.random.default_rng(2).normal(size=(200, 6)) * (1.0, 2.0, 0.5, 0.3, 0.2, 0.1)
    found = Polynomial(tuple(jnp.asarray(column) for column in coefficients.T))
    crossings, extremes, seen = np.asarray(found.crossing()), np.array(found.extremes()).T, 0
    for line, crossing, ends in zip(map(np.polynomial.Polynomial, coefficients), crossings, extremes, strict=True):
        inside, turns = (
            [root.real for root in each.roots() if abs(root.imag) < 1e-12 and 0.0 < root.real < 1.0] for each in (line, line.deriv())
        )
        if line(0.0) * line(1.0) < 0.0 and not turns:
            gentle = abs(line.deriv(2)(inside[0]) / line.deriv()(inside[0])) < 2.0
            assert abs(crossing - inside[0]) < (1e-12 if gentle else 1e-4)
            seen += 1
        if len(turns) <= 1:
            values = [line(0.0), line(1.0), *(line(turn) for turn in turns)]
            np.testing.assert_allclose(ends, [min(values), max(values)], rtol=1e-9, atol=1e-10)
    assert seen > 30


def test_the_derivative_of_a_crossing_is_that_of_the_implicit_function() -> None:
    # u^3 + u = level: du/dlevel = 1 / (3 u^2 + 1), at level 0.625 u = 1/2
    where = lambda level: Polynomial((-level, jnp.ones_like(level), 0.0 * level, jnp.ones_like(level))).crossing()  # noqa: E731
    u, slope = jax.jvp(where, (jnp.asarray(0.625),), (jnp.asarray(1.0),))
    assert float(u) == pytest.approx(0.5, abs=1e-12)
    assert float(slope) == pytest.approx(1.0 / 1.75, rel=1e-10)
    top = lambda rise: Polynomial((0.0 * rise, rise, -jnp.ones_like(rise))).extremes()[1]  # noqa: E731
    assert float(jax.grad(top)(jnp.asarray(1.0))) == pytest.approx(0.5, rel=1e-12)  # rise^2 / 4


def test_a_step_of_no_length_crosses_nothing_and_has_finite_derivatives() -> None:
    def last(h: jax.Array) -> jax.Array:
        course = dense_output.motion(h, 0.0 * h + 1.0, 0.0 * h + 1.0, 0.0 * h, 0.0 * h, 0.0 * h)
        return course.crossing() + dense_output.velocity(course, h).at(0.5) + course.extremes()[1]

    value, slope = jax.value_and_grad(last)(jnp.asarray(0.0))
    assert 0.0 <= float(value) <= 1.0
    assert np.isfinite(float(slope))
