"""Segment of a mass without spring and damper (k = c = 0): the lean case of `damped`, several times cheaper.

    x'' = b + alpha sin(omega t + phase)

Stationary points of the velocity are known in closed form, so the half period that holds its first zero is too; the zero itself
solves Kepler's equation. Validated by tests/kernels/exact/test_rigid_friction.py against event-by-event computation in 70 digits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp

from kernels.exact.search.roots import CLOSE, NEAR, falling_root
from kernels.excitation.harmonic import wrap
from kernels.numerics.elementary import asin, chord
from kernels.numerics.fusion import decide, fusion_barrier
from kernels.numerics.numbers import Array
from kernels.segments.interface import Anchor, Guess, Motion, Reversal

_TURN = 2.0 * math.pi


class Free(NamedTuple):
    """Constants of one oscillator with k = c = 0.

    Attributes:
        alpha: amplitude of the excitation over the mass [m/s^2], any sign.
        omega: circular frequency [rad/s].
        by_omega, by_alpha: 1 / omega [s], 1 / |alpha| [s^2/m] or 0: quotients that no event need form again.
    """

    alpha: Array
    omega: Array
    by_omega: Array
    by_alpha: Array

    @classmethod
    def of(cls, alpha: Array, omega: Array) -> Free:
        """The segment of an excitation."""
        size = jnp.abs(alpha)
        by_alpha = jnp.where(size > 0.0, 1.0 / jnp.where(size > 0.0, size, 1.0), 0.0)
        return cls(alpha, omega, 1.0 / omega, by_alpha)

    @property
    def rate(self) -> Array:
        """The only rate of the motion [1/s]."""
        return self.omega

    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` [s] after `anchor` (see `segment.Segment`)."""
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

    def first_reversal(self, anchor: Anchor, limit: Array, guess: Guess) -> Reversal:
        """First zero of the velocity in (0, limit] (see `segment.Segment`).

        With alpha > 0 and phi the excitation angle, a = b + alpha sin(phi) vanishes, rising, at phi_up = asin(-b/alpha): minima of v lie at
        phi_up + 2 pi n and change by 2 pi b / omega each. The first minimum that is not positive closes the bracket; the branch before it
        falls for pi + 2 phi_up. Without stationary points (-b >= alpha) phi_up = pi/2 and v falls throughout.
        """
        alpha = jnp.abs(self.alpha)
        mirrored = jnp.where(self.alpha < 0.0, -1.0, 1.0)
        sine, cosine = anchor.sine * mirrored, anchor.cosine * mirrored
        angle = anchor.angle + jnp.where(self.alpha < 0.0, math.pi, 0.0)
        b = anchor.a - alpha * sine
        ratio = jnp.clip(-b * self.by_alpha, -1.0, 1.0)
        (ratio,) = fusion_barrier(jnp.where(alpha > 0.0, ratio, jnp.where(b < 0.0, 1.0, -1.0)))
        up = asin(ratio)
        to_minimum = wrap(up - angle)
        up, to_minimum = fusion_barrier(up, to_minimum)
        starting = (anchor.v == 0.0) & (to_minimum < 1e-6)
        to_minimum = jnp.where(starting, to_minimum + _TURN, to_minimum)

        scale = anchor.v * self.omega + jnp.abs(b) * to_minimum + alpha
        minimum = self.omega * anchor.v + b * to_minimum + alpha * (cosine - jnp.sqrt((1.0 - ratio) * (1.0 + ratio)))
        # without drift the minima repeat: one that is zero but for rounding is a graze, not a stop
        minimum = jnp.where(b < 0.0, minimum, minimum + 1e-15 * scale)
        turns = jnp.where(b < 0.0, jnp.maximum(0.0, jnp.ceil(minimum / (-_TURN * jnp.where(b < 0.0, b, -1.0)))), 0.0)
        (crosses,) = decide(((b < 0.0) | (minimum <= 0.0)) & (ratio > -1.0) & (limit > 0.0))

        (high,) = fusion_barrier(to_minimum + _TURN * turns)
        branch = math.pi + 2.0 * up
        low = jnp.maximum(0.0, high - branch)
        steepest = high - up - 0.5 * math.pi
        known = wrap(guess.stop - angle)
        start = jnp.where((known > low) & (known < high), known, steepest)
        low, start, bottom = fusion_barrier(low * self.by_omega, start * self.by_omega, jnp.where(crosses, high, low) * self.by_omega)
        root = falling_root(lambda tau: self.motion(anchor, tau), low, bottom, start, self.omega, NEAR)
        stops = crosses & (self.omega * (root - limit) < CLOSE)
        tau = jnp.where(stops, root, limit)

        first_peak = to_minimum - branch
        # maxima fall by the drift b < 0, so that the first is the largest; they rise for b > 0, and the last is
        number = jnp.where(b > 0.0, jnp.floor((self.omega * tau - first_peak) * (1.0 / _TURN)), jnp.where(first_peak < 0.0, 1.0, 0.0))
        (peak,) = fusion_barrier(jnp.clip((first_peak + _TURN * number) * self.by_omega, 0.0, tau))
        return Reversal(tau, stops, jnp.where(ratio <= -1.0, tau, peak), Guess(guess.peak, wrap(angle + self.omega * tau)))
