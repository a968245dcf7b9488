"""What the event loop asks of a closed-form segment, and the state that a segment starts from."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import jax.numpy as jnp

from kernels.elementary import Array


class Anchor(NamedTuple):
    """Where a segment starts.

    The acceleration is carried, not recomputed: just after a release it is exactly (mu_s - mu_d) F_n / m, and the sign of a rounding
    error there would make false events.

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


class Motion(NamedTuple):
    """A segment `tau` after its anchor: displacement from the anchor [m], then velocity and its time derivatives.

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


class Reversal(NamedTuple):
    """The first instant at which slip stops.

    Attributes:
        tau: time from the anchor [s] of the first zero of the velocity; when it does not `stop`, the time up to which there is none: the
            limit, or less where the search was given up.
        stops: True when the velocity vanishes at `tau`.
        peak: time from the anchor [s] of the largest speed in [0, tau], where that exceeds the speeds at both ends; else any time in it.
    """

    tau: Array
    stops: Array
    peak: Array


class Moving(Protocol):
    """Motion from an anchor on. Implementations hold the constants of one oscillator (scalars)."""

    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` [s] after `anchor`."""


class Segment(Moving, Protocol):
    """Closed-form motion under constant plus harmonic force."""

    def first_reversal(self, anchor: Anchor, limit: Array, guess: Array) -> Reversal:
        """First zero of the velocity in (0, limit], never a later one.

        Args:
            anchor: state seen along the slip direction: v >= 0, and rising when v = 0.
            limit: time to stop looking [s]; where it is not positive there is nothing to look for.
            guess: a guess of the time [s], such as the duration of the previous slip; any number does.
        """
