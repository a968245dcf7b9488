"""Extremes between samples, and crossings of levels."""

import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.observables.turning import upward, with_extremes


def sequence(x, v, step):
    return np.asarray(with_extremes(x[0], jnp.asarray(x), v[0], jnp.asarray(v), step))


def test_the_extremes_of_a_cubic_are_exact():
    s = np.linspace(-1.3, 1.4, 10)  # x^3 - x has extremes at +-1/sqrt(3), between samples
    found = sequence(s**3 - s, 3.0 * s**2 - 1.0, s[1] - s[0])
    height = 2.0 / (3.0 * np.sqrt(3.0))
    turns = found[::2][~np.isclose(found[::2], found[1::2], atol=1e-12)]
    np.testing.assert_allclose(turns, [height, -height], atol=1e-14)


@pytest.mark.slow
def test_extremes_of_a_sine_are_of_fourth_order():
    errors = []
    for points in (12, 24):
        t = (0.5 + np.arange(10 * points)) * 2.0 * np.pi / points  # extremes in the middle of steps
        errors.append(abs(np.abs(sequence(np.sin(t), np.cos(t), t[1] - t[0])).max() - 1.0))
    assert errors[0] < 3e-3
    assert errors[1] < errors[0] / 12.0


def test_peaks_between_samples_pass_levels():
    t = np.arange(120) * 2.0 * np.pi / 6.0 + 0.3  # 20 periods, 6 samples each
    found = sequence(np.sin(t), np.cos(t), t[1] - t[0])
    levels = jnp.asarray([-0.98, 0.0, 0.98, 1.2])
    assert np.asarray(upward(found[0], jnp.asarray(found), levels)).tolist() == [20.0, 19.0, 20.0, 0.0]


def test_a_level_is_passed_from_below_to_it_or_above():
    values = jnp.asarray([0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 2.0, -1.0, 3.0])
    assert np.asarray(upward(values[0], values, jnp.asarray([0.0, 1.0, 2.5]))).tolist() == [1.0, 3.0, 1.0]
