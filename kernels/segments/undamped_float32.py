"""Segment of a mass without spring and damper in float32, in units in which omega is 1: the case of `free.Free`.

    x'' = b + alpha sin(t + phase)        alpha >= 0, seen along the slip

Angles come in float64, so that they are known to rounding relative to how far the next extremum is, and what a slip is made of keeps its
digits however short it is: t - sin t and t^2 / 2 - 1 + cos t are not differences. Validated by
tests/kernels/exact/test_rigid_friction_float32.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp

from kernels.exact.search.roots import CLOSE, falling_root
from kernels.excitation.harmonic import wrap
from kernels.numerics.elementary import asin, single_swing
from kernels.numerics.fusion import decide, fusion_barrier
from kernels.numerics.numbers import Array
from kernels.segments.interface import Anchor, Guess, Motion, Reversal

_TURN = 2.0 * math.pi
_NEAR = 0.1
_GRAZE = 5e-7  # of its parts: a velocity below that may be zero


class Free(NamedTuple):
    """Constants of one oscillator that slips in one direction.

    Attributes:
        alpha: amplitude of the excitation over the mass, >= 0. drift: b, along the slip.
        up: angle at which b + alpha sin vanishes, rising, float64; pi/2 or -pi/2 where it never does, b < 0 or b > 0. cosine_up: of that.
        steady: 1 where it never does for b > 0, else 0.
    """

    alpha: Array
    drift: Array
    up: Array
    cosine_up: Array
    steady: Array

    @classmethod
    def of(cls, alpha: Array, drift: Array) -> Free:
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
        """The motion `tau` after `anchor` (see `segment.Segment`)."""
        sine, versine, lag, bow = single_swing(tau)
        d = tau * (anchor.v + 0.5 * anchor.a * tau) + self.alpha * (anchor.cosine * lag - anchor.sine * bow)
        v = anchor.v + anchor.a * tau + self.alpha * (anchor.cosine * versine - anchor.sine * lag)
        a = anchor.a + self.alpha * (anchor.cosine * sine - anchor.sine * versine)
        jerk = self.alpha * (anchor.cosine * (1.0 - versine) - anchor.sine * sine)
        snap = -self.alpha * (anchor.sine * (1.0 - versine) + anchor.cosine * sine)
        return Motion(d, v, a, jerk, snap, -jerk)

    def first_reversal(self, anchor: Anchor, limit: Array, guess: Guess) -> Reversal:
        """First zero of the velocity in (0, limit] (see `free.Free`); the anchor's angle is float64."""
        b, alpha = self.drift, self.alpha
        branch = math.pi + 2.0 * self.up
        to_minimum = wrap(self.up - anchor.angle)
        # what starts from rest is past a minimum, whatever the rounding of the two angles
        to_minimum = jnp.where((anchor.v == 0.0) & (to_minimum < 0.5 * branch), to_minimum + _TURN, to_minimum)
        angle = wrap(anchor.angle)
        to_minimum, branch, angle, up = fusion_barrier(*(value.astype(jnp.float32) for value in (to_minimum, branch, angle, self.up)))
        known = wrap(guess.stop - angle)

        scale = anchor.v + jnp.abs(b) * to_minimum + alpha
        minimum = anchor.v + b * to_minimum + alpha * (anchor.cosine - self.cosine_up)
        minimum = jnp.where(b < 0.0, minimum, minimum + _GRAZE * scale)
        turns = jnp.where(b < 0.0, jnp.maximum(0.0, jnp.ceil(minimum / (-_TURN * jnp.where(b < 0.0, b, -1.0)))), 0.0)
        high = to_minimum + _TURN * turns
        low = jnp.maximum(0.0, high - branch)
        (crosses,) = decide(((b < 0.0) | (minimum <= 0.0)) & (self.steady == 0.0) & (limit > 0.0) & (low < limit + CLOSE), like=limit)
        steepest = high - up - 0.5 * math.pi
        start = jnp.where((known > low) & (known < high), known, steepest)
        low, start, bottom = fusion_barrier(low, start, jnp.where(crosses, high, low))
        root = falling_root(lambda tau: self.motion(anchor, tau), low, bottom, start, self.rate, _NEAR)
        stops = crosses & (root - limit < CLOSE)
        (tau,) = fusion_barrier(jnp.where(stops, root, limit))

        # of the maxima the first is the largest where they fall, b < 0, and else the last
        first_peak = to_minimum - branch
        number = jnp.where(b > 0.0, jnp.floor((tau - first_peak) * (1.0 / _TURN)), jnp.where(first_peak < 0.0, 1.0, 0.0))
        (peak,) = fusion_barrier(jnp.clip(first_peak + _TURN * number, 0.0, tau))
        return Reversal(tau, stops, jnp.where(self.steady > 0.0, tau, peak), Guess(guess.peak, wrap(angle + tau)))
