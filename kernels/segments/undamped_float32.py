"""Segment of a mass without spring and damper in float32, in units in which omega is 1: the case of `undamped.Undamped`.

    x'' = b + alpha sin(t + phase)        alpha >= 0, seen along the slip

Angles are float64, so that the distance to the next extremum is exact to float32 rounding. The terms of a slip keep their digits however
short it is, because t - sin t and t^2 / 2 - 1 + cos t are not computed as differences. Validated by
tests/kernels/exact/test_rigid_friction_float32.py.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.elementary import asin, single_swing
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.interface import Anchor, Motion


class UndampedFloat32(NamedTuple):
    """Constants of one oscillator that slips in one direction.

    Attributes:
        alpha: amplitude of the excitation over the mass, >= 0. drift: b, along the slip.
        up: angle (float64) at which b + alpha sin rises through 0; without such an angle, pi/2 for b < 0, -pi/2 for b > 0.
        cosine_up: cosine of `up`. steady: 1 if b + alpha sin is never negative, else 0.
    """

    alpha: Array
    drift: Array
    up: Array
    cosine_up: Array
    steady: Array

    @classmethod
    def of(cls, alpha: Array, drift: Array) -> UndampedFloat32:
        """The segment of an excitation and a constant force over the mass (float64)."""
        size = jnp.where(alpha > 0.0, alpha, 1.0)
        ratio = jnp.where(alpha > 0.0, jnp.clip(-drift / size, -1.0, 1.0), jnp.where(drift < 0.0, 1.0, -1.0))
        cosine, steady = jnp.sqrt((1.0 - ratio) * (1.0 + ratio)), jnp.where(ratio <= -1.0, 1.0, 0.0)
        alpha, drift, cosine, steady = (value.astype(jnp.float32) for value in (alpha, drift, cosine, steady))
        return cls(alpha, drift, asin(ratio), cosine, steady)

    @property
    def rate(self) -> Array:
        """The only rate of the motion."""
        return jnp.ones_like(self.alpha)

    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` after `anchor` (see `interface.Segment`)."""
        sine, versine, lag, bow = single_swing(tau)
        d = tau * (anchor.v + 0.5 * anchor.a * tau) + self.alpha * (anchor.cosine * lag - anchor.sine * bow)
        v = anchor.v + anchor.a * tau + self.alpha * (anchor.cosine * versine - anchor.sine * lag)
        a = anchor.a + self.alpha * (anchor.cosine * sine - anchor.sine * versine)
        jerk = self.alpha * (anchor.cosine * (1.0 - versine) - anchor.sine * sine)
        snap = -self.alpha * (anchor.sine * (1.0 - versine) + anchor.cosine * sine)
        return Motion(d, v, a, jerk, snap, -jerk)
