"""Segment of a mass without spring and damper (k = c = 0): a special case of `damped`, several times cheaper.

    x'' = b + alpha sin(omega t + phase)

Validated by tests/kernels/exact/test_rigid_friction.py against event-by-event computation in 70 digits.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.elementary import chord
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.interface import Anchor, Motion


class Undamped(NamedTuple):
    """Constants of one oscillator with k = c = 0.

    Attributes:
        alpha: amplitude of the excitation over the mass [m/s^2], any sign.
        omega: circular frequency [rad/s].
        by_omega, by_alpha: 1 / omega [s] and 1 / |alpha| [s^2/m] (0 if alpha = 0), stored so that events need no division.
    """

    alpha: Array
    omega: Array
    by_omega: Array
    by_alpha: Array

    @classmethod
    def of(cls, alpha: Array, omega: Array) -> Undamped:
        """The segment of an excitation."""
        size = jnp.abs(alpha)
        by_alpha = jnp.where(size > 0.0, 1.0 / jnp.where(size > 0.0, size, 1.0), 0.0)
        return cls(alpha, omega, 1.0 / omega, by_alpha)

    @property
    def rate(self) -> Array:
        """The only rate of the motion [1/s]."""
        return self.omega

    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` [s] after `anchor` (see `interface.Segment`)."""
        psi = self.omega * tau
        sine, versine = chord(psi)
        lag = psi - sine
        bow = 0.5 * psi * psi - versine
        sway = self.alpha * self.by_omega
        d = tau * (anchor.v + 0.5 * anchor.a * tau) + sway * self.by_omega * (anchor.cosine * lag - anchor.sine * bow)
        v = anchor.v + anchor.a * tau + sway * (anchor.cosine * versine - anchor.sine * lag)
        a = anchor.a + self.alpha * (anchor.cosine * sine - anchor.sine * versine)
        jerk = self.alpha * self.omega * (anchor.cosine * (1.0 - versine) - anchor.sine * sine)
        snap = -self.alpha * self.omega**2 * (anchor.sine * (1.0 - versine) + anchor.cosine * sine)
        return Motion(d, v, a, jerk, snap, -(self.omega**2) * jerk)
