"""Interface of closed-form segments to the event loops, and the state that a segment starts from. A segment contains no search."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array


class Anchor(NamedTuple):
    """Where a segment starts.

    The acceleration is stored, not recomputed: just after a release it is exactly (mu_s - mu_d) F_n / m, and the sign of a rounding error
    in it would cause false events.

    Attributes:
        v: velocity [m/s].
        a: acceleration [m/s^2].
        angle: omega t + phase [rad], reduced to a few turns.
        sine, cosine: of that angle.
    """

    v: Array
    a: Array
    angle: Array
    sine: Array
    cosine: Array

    def facing(self, direction: Array) -> Anchor:
        """The same state seen along `direction` (+1 or -1): the motion is linear, so everything changes sign together."""
        turned = self.angle + 0.5 * jnp.pi * (1.0 - direction)
        return Anchor(self.v * direction, self.a * direction, turned, self.sine * direction, self.cosine * direction)


class Point(NamedTuple):
    """The motion at an instant of a segment.

    Attributes:
        d: displacement since the anchor [m]. v: velocity [m/s]. a: acceleration [m/s^2]. sine, cosine: of the excitation's angle, (n,) for
            several sines. area: integral of the displacement since the anchor [m s].
    """

    d: Array
    v: Array
    a: Array
    sine: Array
    cosine: Array
    area: Array


class Motion(NamedTuple):
    """The motion at a time `tau` after the anchor: displacement since the anchor, velocity and its time derivatives.

    Attributes:
        d: displacement since the anchor [m].
        v, a, jerk, snap, crackle: velocity [m/s] and its first to fourth time derivatives.
    """

    d: Array
    v: Array
    a: Array
    jerk: Array
    snap: Array
    crackle: Array

    def later(self, h: Array) -> Motion:
        """The motion a short time `h` [s] later, by its Taylor polynomial of degree five."""
        d, v, a, jerk, snap, crackle = self
        return Motion(
            d + h * (v + h / 2.0 * (a + h / 3.0 * (jerk + h / 4.0 * (snap + h / 5.0 * crackle)))),
            v + h * (a + h / 2.0 * (jerk + h / 3.0 * (snap + h / 4.0 * crackle))),
            a + h * (jerk + h / 2.0 * (snap + h / 3.0 * crackle)),
            jerk + h * (snap + h / 2.0 * crackle),
            snap + h * crackle,
            crackle,
        )


class Moving(Protocol):
    """Motion from an anchor on. Implementations hold the constants of one oscillator (scalars)."""

    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` [s] after `anchor`."""


class Segment(Moving, Protocol):
    """Closed-form motion under constant plus harmonic force."""

    @property
    def rate(self) -> Array:
        """Sum of the rates of the motion [1/s], the inverse of its shortest time scale."""
