"""Segment whose damping changes linearly with the displacement: the only nonlinear phase of a contact.

    x'' + (2 zeta + damping_slope d) x' + w2 d = b + alpha sin(omega t + phase),    d the displacement since the anchor

It occurs in a yielding wall whose damping varies over the softening or between the nodes of its table. There is no closed form. The Taylor
series of the motion comes from a recurrence and is exact to rounding over a step that is short against the time scales of the motion.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tribosweep.kernels.numerics.fusion import traced_once
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.damped import Course, course, highest, over_sines
from tribosweep.kernels.segments.interface import Anchor, Motion

TERMS = 22
STEP = 0.15  # step over the shortest time scale: the truncated terms are below rounding
N = np.arange(TERMS)  # the powers of t
# row r, column n: factor of coefficient n in the derivative of order r, where it becomes the coefficient of t^(n - r)
_FALLING = np.array([[math.perm(n, r) for n in range(TERMS)] for r in range(6)], dtype=float)


def powers(t: Array) -> Array:
    """1, t, t^2 ... (TERMS,)."""
    return jnp.concatenate([jnp.ones((1,)), jnp.cumprod(jnp.broadcast_to(t, (TERMS - 1,)))])


def derivative(z: Array, order: int) -> Array:
    """Coefficients (TERMS,) of the derivative of order `order` of a series."""
    return jnp.concatenate([(z * _FALLING[order])[order:], jnp.zeros((order,))])


class TaylorSegment(NamedTuple):
    """Constants of one segment: those of `damped.Damped` without `pace`, and `damping_slope`.

    Attributes:
        damping_slope: derivative of 2 zeta with respect to the displacement [1/(m s)].
    """

    alpha: Array
    omega: Array
    zeta: Array
    w2: Array
    damping_slope: Array
    ramp: Array | None = None
    swing: Array | None = None

    def course(self, anchor: Anchor, tau: Array) -> Course:
        """What guards know of time itself (see `Damped.course`)."""
        return course(self.swing, self.omega, anchor, tau)

    @traced_once
    def series(self, anchor: Anchor) -> Array:
        """Taylor coefficients of the displacement since `anchor` [m/s^n], (TERMS,)."""

        def following(n: Array, carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
            z, drive, sine, cosine = carry
            drive, sine, cosine = drive * self.omega / n, cosine, -sine
            square = jnp.sum(jnp.where(n + 1 >= N, z * z[n + 1 - N], 0.0))  # coefficient n + 1 of d^2
            push = over_sines(drive * sine)
            push = push if self.ramp is None else push + jnp.where(n == 1, self.ramp, 0.0)
            term = push - 2.0 * self.zeta * (n + 1) * z[n + 1] - self.w2 * z[n] - 0.5 * self.damping_slope * (n + 1) * square
            return z.at[n + 2].set(term / ((n + 2) * (n + 1))), drive, sine, cosine

        z = jnp.zeros((TERMS,)).at[1].set(anchor.v).at[2].set(0.5 * anchor.a)
        start = (z, self.alpha + 0.0 * anchor.v, anchor.sine, anchor.cosine)
        found: Array = jax.lax.fori_loop(1, TERMS - 2, following, start)[0]
        return found

    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` [s] after `anchor`, for `tau` up to `longest`."""
        z, terms = self.series(anchor), powers(tau)
        return Motion(*(jnp.sum(derivative(z, order) * terms) for order in range(6)))

    def area(self, anchor: Anchor, tau: Array) -> Array:
        """Integral of the displacement since `anchor` over the `tau` [s] after it [m s]."""
        return tau * jnp.sum(self.series(anchor) / (N + 1) * powers(tau))

    def longest(self, anchor: Anchor) -> Array:
        """Longest step [s]."""
        rate = (
            highest(self.omega) + jnp.sqrt(jnp.abs(self.w2)) + 2.0 * jnp.abs(self.zeta) + jnp.sqrt(jnp.abs(self.damping_slope * anchor.v))
        )
        return STEP / (rate + jnp.cbrt(jnp.abs(self.damping_slope * anchor.a)))
