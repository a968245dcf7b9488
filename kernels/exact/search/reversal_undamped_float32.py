"""First reversal of a mass without spring and damper in float32: the method of `reversal_undamped`, in units in which omega is 1."""

from __future__ import annotations

import math

import jax.numpy as jnp

from tribosweep.kernels.exact.search.reversal import Guess, Reversal
from tribosweep.kernels.exact.search.roots import CLOSE, falling_root
from tribosweep.kernels.excitation.harmonic import wrap
from tribosweep.kernels.numerics.fusion import decide, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.interface import Anchor
from tribosweep.kernels.segments.undamped_float32 import UndampedFloat32

_TURN = 2.0 * math.pi
_NEAR = 0.1
_GRAZE = 5e-7  # a velocity below this share of the sum of its parts may be zero


def first_reversal(segment: UndampedFloat32, anchor: Anchor, limit: Array, guess: Guess) -> Reversal:
    """First zero of the velocity in (0, limit] (see `reversal_undamped`); the anchor's angle is float64."""
    b, alpha = segment.drift, segment.alpha
    branch = math.pi + 2.0 * segment.up
    to_minimum = wrap(segment.up - anchor.angle)
    # a motion that starts from rest is past a minimum, whatever the rounding of the two angles
    to_minimum = jnp.where((anchor.v == 0.0) & (to_minimum < 0.5 * branch), to_minimum + _TURN, to_minimum)
    angle = wrap(anchor.angle)
    to_minimum, branch, angle, up = fusion_barrier(*(value.astype(jnp.float32) for value in (to_minimum, branch, angle, segment.up)))
    known = wrap(guess.stop - angle)

    scale = anchor.v + jnp.abs(b) * to_minimum + alpha
    minimum = anchor.v + b * to_minimum + alpha * (anchor.cosine - segment.cosine_up)
    minimum = jnp.where(b < 0.0, minimum, minimum + _GRAZE * scale)
    turns = jnp.where(b < 0.0, jnp.maximum(0.0, jnp.ceil(minimum / (-_TURN * jnp.where(b < 0.0, b, -1.0)))), 0.0)
    high = to_minimum + _TURN * turns
    low = jnp.maximum(0.0, high - branch)
    (crosses,) = decide(((b < 0.0) | (minimum <= 0.0)) & (segment.steady == 0.0) & (limit > 0.0) & (low < limit + CLOSE), like=limit)
    steepest = high - up - 0.5 * math.pi
    start = jnp.where((known > low) & (known < high), known, steepest)
    low, start, bottom = fusion_barrier(low, start, jnp.where(crosses, high, low))
    root = falling_root(lambda tau: segment.motion(anchor, tau), low, bottom, start, segment.rate, _NEAR)
    stops = crosses & (root - limit < CLOSE)
    (tau,) = fusion_barrier(jnp.where(stops, root, limit))

    # for b < 0 the maxima fall and the first is the largest; otherwise the last is the largest
    first_peak = to_minimum - branch
    number = jnp.where(b > 0.0, jnp.floor((tau - first_peak) * (1.0 / _TURN)), jnp.where(first_peak < 0.0, 1.0, 0.0))
    (peak,) = fusion_barrier(jnp.clip(first_peak + _TURN * number, 0.0, tau))
    return Reversal(tau, stops, jnp.where(segment.steady > 0.0, tau, peak), Guess(guess.peak, wrap(angle + tau)))
