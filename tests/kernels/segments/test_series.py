"""The Taylor series of a segment against its closed form in 40 digits, over the longest stretch that the search takes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from tests.oracle.linear_motion import Motion as ExactMotion
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Point
from tribosweep.kernels.segments.series import LENGTH, series

COUNT = 20


@pytest.mark.slow
def test_the_series_is_exact_to_rounding_over_its_longest_stretch() -> None:
    rng = np.random.default_rng(3)
    omega, alpha, angle = 10.0 ** rng.uniform(-1.0, 1.0, COUNT), rng.normal(size=COUNT), rng.uniform(0.0, 6.0, COUNT)
    zeta = omega * np.where(rng.random(COUNT) < 0.3, 0.0, 10.0 ** rng.uniform(-3.0, 0.5, COUNT))
    w2 = np.where(rng.random(COUNT) < 0.2, 1.0, 10.0 ** rng.uniform(-3.0, 1.0, COUNT)) * omega**2
    v, a = rng.normal(size=COUNT) / omega, rng.normal(size=COUNT)
    h = LENGTH / np.maximum(np.maximum(omega, np.sqrt(w2)), 2.0 * zeta)
    sine, cosine = (np.asarray(each) for each in sincos(jnp.asarray(angle)))

    @jax.jit
    @jax.vmap
    def ends(alpha, omega, zeta, w2, v, a, sine, cosine, h):  # type: ignore[no-untyped-def]
        path = series(Damped(alpha, omega, zeta, w2), Point(jnp.zeros_like(v), v, a, sine, cosine, jnp.zeros_like(v)), h)
        there = [path.derivative(order, jnp.asarray(1.0)) / h**order for order in range(3)]
        return jnp.stack([*there, path.area(jnp.asarray(1.0))]), jnp.stack([path.at_end(order) / h**order for order in range(3)])

    found, summed = (np.asarray(each) for each in ends(alpha, omega, zeta, w2, v, a, sine, cosine, h))
    np.testing.assert_allclose(summed, found[:, :3], rtol=1e-12, atol=1e-12)
    for n in range(COUNT):
        with mpmath.workdps(40):
            o, z, w, start, t = (mpmath.mpf(float(value)) for value in (omega[n], zeta[n], w2[n], angle[n], h[n]))
            drive = (mpmath.mpf(float(alpha[n])), o, start)
            # x = d + a_0-part: the constant force is what makes the acceleration at the anchor `a`
            constant = mpmath.mpf(float(a[n])) - drive[0] * mpmath.sin(start) + 2 * z * mpmath.mpf(float(v[n]))
            motion = ExactMotion((mpmath.mpf(1), 2 * z, w), constant, drive, (mpmath.mpf(0), mpmath.mpf(float(v[n]))))
            d, speed, acceleration, _ = (float(value) for value in motion.jet(t))
            area = float(mpmath.quad(lambda tau, motion=motion: motion.jet(tau)[0], [0, t]))
        size = abs(v[n]) + abs(a[n]) * h[n] + abs(alpha[n]) * h[n]
        off = np.abs(found[n] - [d, speed, acceleration, area]) / (size * np.array([h[n], 1.0, 1.0 / h[n], h[n] ** 2]))
        assert off.max() < 2e-14, (n, off)
