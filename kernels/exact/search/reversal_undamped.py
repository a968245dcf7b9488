"""First reversal of a mass without spring and damper (k = c = 0).

The stationary points of the velocity are known in closed form, and so is the falling branch that contains its first zero. The zero itself
solves Kepler's equation.
"""

from __future__ import annotations

import math

import jax.numpy as jnp

from tribosweep.kernels.exact.search.reversal import Guess, Reversal
from tribosweep.kernels.exact.search.roots import CLOSE, NEAR, falling_root
from tribosweep.kernels.excitation.harmonic import wrap
from tribosweep.kernels.numerics.elementary import asin
from tribosweep.kernels.numerics.fusion import decide, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.interface import Anchor
from tribosweep.kernels.segments.undamped import Undamped

_TURN = 2.0 * math.pi


def first_reversal(segment: Undamped, anchor: Anchor, limit: Array, guess: Guess) -> Reversal:
    """First zero of the velocity in (0, limit] (see `first_reversal.first_reversal`).

    Let alpha > 0 and phi be the excitation angle. a = b + alpha sin(phi) rises through zero at phi_up = asin(-b/alpha). The minima of v lie
    at phi_up + 2 pi n, and each differs from the one before by 2 pi b / omega. The first minimum that is not positive ends the bracket; the
    falling branch before it has length pi + 2 phi_up. If -b >= alpha, there are no stationary points: phi_up = pi/2 and v always falls.
    """
    alpha = jnp.abs(segment.alpha)
    mirrored = jnp.where(segment.alpha < 0.0, -1.0, 1.0)
    sine, cosine = anchor.sine * mirrored, anchor.cosine * mirrored
    angle = anchor.angle + jnp.where(segment.alpha < 0.0, math.pi, 0.0)
    b = anchor.a - alpha * sine
    ratio = jnp.clip(-b * segment.by_alpha, -1.0, 1.0)
    (ratio,) = fusion_barrier(jnp.where(alpha > 0.0, ratio, jnp.where(b < 0.0, 1.0, -1.0)))
    up = asin(ratio)
    to_minimum = wrap(up - angle)
    up, to_minimum = fusion_barrier(up, to_minimum)
    starting = (anchor.v == 0.0) & (to_minimum < 1e-6)
    to_minimum = jnp.where(starting, to_minimum + _TURN, to_minimum)

    scale = anchor.v * segment.omega + jnp.abs(b) * to_minimum + alpha
    minimum = segment.omega * anchor.v + b * to_minimum + alpha * (cosine - jnp.sqrt((1.0 - ratio) * (1.0 + ratio)))
    # without drift the minima repeat: a minimum that is zero to rounding is a graze, not a stop
    minimum = jnp.where(b < 0.0, minimum, minimum + 1e-15 * scale)
    turns = jnp.where(b < 0.0, jnp.maximum(0.0, jnp.ceil(minimum / (-_TURN * jnp.where(b < 0.0, b, -1.0)))), 0.0)
    (crosses,) = decide(((b < 0.0) | (minimum <= 0.0)) & (ratio > -1.0) & (limit > 0.0))

    (high,) = fusion_barrier(to_minimum + _TURN * turns)
    branch = math.pi + 2.0 * up
    low = jnp.maximum(0.0, high - branch)
    steepest = high - up - 0.5 * math.pi
    known = wrap(guess.stop - angle)
    start = jnp.where((known > low) & (known < high), known, steepest)
    low, start, bottom = fusion_barrier(low * segment.by_omega, start * segment.by_omega, jnp.where(crosses, high, low) * segment.by_omega)
    root = falling_root(lambda tau: segment.motion(anchor, tau), low, bottom, start, segment.omega, NEAR)
    stops = crosses & (segment.omega * (root - limit) < CLOSE)
    tau = jnp.where(stops, root, limit)

    first_peak = to_minimum - branch
    # for b < 0 successive maxima fall, and the first is the largest; for b > 0 they rise, and the last is the largest
    number = jnp.where(b > 0.0, jnp.floor((segment.omega * tau - first_peak) * (1.0 / _TURN)), jnp.where(first_peak < 0.0, 1.0, 0.0))
    (peak,) = fusion_barrier(jnp.clip((first_peak + _TURN * number) * segment.by_omega, 0.0, tau))
    return Reversal(tau, stops, jnp.where(ratio <= -1.0, tau, peak), Guess(guess.peak, wrap(angle + segment.omega * tau)))
