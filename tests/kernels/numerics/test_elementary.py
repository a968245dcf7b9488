"""Sine, cosine and arc sine in plain arithmetic, against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from tribosweep.kernels.numerics.elementary import asin, chord, exp, log, sincos
from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import by_width, unit

EPS = np.finfo(float).eps


def exact(function: Callable[[mpmath.mpf], mpmath.mpf], values: np.ndarray) -> np.ndarray:
    """The function of every float, rounded once."""
    with mpmath.workdps(40):
        return np.array([float(function(mpmath.mpf(float(value)))) for value in values])


def angles() -> np.ndarray:
    """Angles of every size and sign, and the floats next to multiples of pi/4."""
    rng = np.random.default_rng(1)
    near = np.pi / 4.0 * rng.integers(-2000, 2000, 500)
    return np.concatenate(
        [
            rng.uniform(-10.0, 10.0, 1000),
            rng.uniform(-1e6, 1e6, 1000),
            near,
            np.nextafter(near, np.inf),
            10.0 ** rng.uniform(-300.0, 0.0, 300),
        ]
    )


def test_sine_and_cosine_are_right_to_half_a_unit_in_the_fifteenth_digit() -> None:
    angle = angles()
    sine, cosine = jax.jit(sincos)(angle)
    assert np.abs(sine - exact(mpmath.sin, angle)).max() < 2.5e-16
    assert np.abs(cosine - exact(mpmath.cos, angle)).max() < 5e-16


def test_sine_and_versine_of_small_angles_keep_their_relative_accuracy() -> None:
    angle = 10.0 ** np.random.default_rng(2).uniform(-150.0, 0.0, 1000)
    sine, versine = jax.jit(chord)(angle)
    true_versine = exact(lambda value: 2 * mpmath.sin(value / 2) ** 2, angle)
    assert np.abs(sine / exact(mpmath.sin, angle) - 1.0).max() < 4.0 * EPS
    assert np.abs(versine / true_versine - 1.0).max() < 6.0 * EPS


def test_sine_at_a_float_next_to_a_multiple_of_pi_keeps_its_leading_digits() -> None:
    angle = np.pi * np.arange(1.0, 1000.0)
    sine, _ = jax.jit(chord)(angle)
    assert np.abs(sine / exact(mpmath.sin, angle) - 1.0).max() < 1e-6


def test_sine_and_versine_stay_on_the_unit_circle() -> None:
    sine, cosine = jax.jit(sincos)(angles())
    assert np.abs(sine * sine + cosine * cosine - 1.0).max() < 1e-15


@pytest.mark.parametrize("angle", [np.nan, np.inf, -np.inf])
def test_an_angle_that_is_no_number_has_no_sine(angle: float) -> None:
    assert all(np.isnan(value) for value in chord(jnp.asarray(angle)))


def test_sine_of_zero_is_zero_and_its_versine_too() -> None:
    assert [float(value) for value in chord(jnp.asarray(0.0))] == [0.0, 0.0]


def test_arc_sine_is_right_to_rounding_up_to_both_ends() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-1.0, 1.0, 2000), 1.0 - 10.0 ** rng.uniform(-16.0, 0.0, 300), 10.0 ** rng.uniform(-300.0, 0.0, 300)])
    x = np.concatenate([x, [-1.0, 1.0, 0.5, -0.5, 0.0, np.nextafter(0.5, 1.0), np.nextafter(1.0, 0.0)]])
    found, true = np.asarray(jax.jit(asin)(x)), exact(mpmath.asin, x)
    assert np.abs(found - true).max() < 2.5e-16
    assert np.abs(found[x != 0.0] / true[x != 0.0] - 1.0).max() < 4.0 * EPS
    assert found[-3] == 0.0
    assert found[-7:-5].tolist() == [-math.pi / 2, math.pi / 2]


def test_arc_sine_outside_its_domain_is_no_number() -> None:
    assert np.isnan(np.asarray(asin(jnp.asarray([1.5, -1.5, np.nan])))).all()


@pytest.mark.slow
def test_derivatives_of_sine_versine_and_arc_sine_are_the_analytic_ones() -> None:
    angle, x = jnp.linspace(-20.0, 20.0, 101), jnp.linspace(-0.99, 0.99, 101)
    (_, _), (d_sine, d_versine) = jax.jvp(chord, (angle,), (jnp.ones_like(angle),))
    np.testing.assert_allclose(d_sine, np.cos(angle), atol=4.0 * EPS)
    np.testing.assert_allclose(d_versine, np.sin(angle), atol=4.0 * EPS)
    np.testing.assert_allclose(jax.grad(lambda value: asin(value).sum())(x), 1.0 / np.sqrt(1.0 - np.asarray(x) ** 2), rtol=1e-14)


def test_arc_sine_has_a_finite_derivative_at_its_ends() -> None:
    slope = jax.grad(lambda value: asin(value).sum())(jnp.asarray([-1.0, 1.0, 0.0]))
    assert slope.tolist() == [0.0, 0.0, 1.0]


def test_settling_a_value_changes_neither_it_nor_its_derivative() -> None:
    value, slope = jax.value_and_grad(lambda x: fusion_barrier(x * x)[0])(1.7)
    assert (float(value), float(slope)) == (1.7 * 1.7, 3.4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_unit_of_a_number_has_its_sign(dtype: type[np.floating[Any]]) -> None:
    x = np.array([3.0, -1e-30, 0.0, -0.0, np.inf, -np.inf], dtype)
    found = np.asarray(jax.jit(unit)(x))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.copysign(1.0, x))
    assert jax.jvp(unit, (jnp.asarray(2.0),), (jnp.asarray(1.0),))[1] == 0.0


@pytest.mark.slow
def test_exponential_and_logarithm_are_right_to_rounding() -> None:
    x = np.concatenate([[0.0, 1e-300, 1e-17, 0.5 * math.log(2.0)], np.geomspace(1e-9, 650.0, 300), -np.geomspace(1e-9, 650.0, 300)])
    expected = np.array([float(mpmath.exp(mpmath.mpf(float(each)))) for each in x])
    np.testing.assert_allclose(np.asarray(exp(jnp.asarray(x))), expected, rtol=4e-16)
    assert float(exp(jnp.asarray(-1e5))) < 1e-299
    y = np.concatenate([[1.0, math.sqrt(2.0), 2.0, 0.5], np.geomspace(1e-300, 1e300, 400), 1.0 + np.geomspace(1e-15, 0.4, 100)])
    logs = np.array([float(mpmath.log(mpmath.mpf(float(each)))) for each in y])
    np.testing.assert_allclose(np.asarray(log(jnp.asarray(y))), logs, rtol=4e-16, atol=1e-17)
    single = jnp.asarray(np.geomspace(1e-3, 80.0, 100), jnp.float32)
    np.testing.assert_allclose(np.asarray(exp(-single)), np.exp(-np.asarray(single, np.float64)), rtol=6e-6)
    np.testing.assert_allclose(np.asarray(log(single)), np.log(np.asarray(single, np.float64)), rtol=3e-7, atol=3e-7)
    assert float(jax.grad(exp)(0.0)) == 1.0
    assert float(jax.grad(log)(4.0)) == 0.25


def test_a_number_by_the_width_of_a_float_is_that_of_its_width() -> None:
    for dtype in (np.float64, np.float32):
        least = by_width(jnp.zeros((), dtype), np.finfo(np.float64).eps, np.finfo(np.float32).eps)
        assert float(jnp.ones((), dtype) + dtype(least)) > 1.0
        assert float(jnp.ones((), dtype) + dtype(0.25 * least)) == 1.0
