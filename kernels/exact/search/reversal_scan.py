"""First reversal of a damped segment: a search of the velocity piece by piece, on pieces where its shape is known."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact.search.reversal import Guess, Reversal
from tribosweep.kernels.exact.search.roots import NEAR, RootSearch
from tribosweep.kernels.excitation.harmonic import wrap
from tribosweep.kernels.numerics.fusion import decide, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, by_width
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor, Motion

MOST_PIECES = 200_000
_PEAK = 3e-3


class _Scan(NamedTuple):
    """Search for the first reversal, piece by piece.

    A piece lies between two zeros of cos(omega t + phase) and is shorter than half the natural period. On it, v divided by a positive
    free response is convex or concave against a stretched time; the sign of the excitation's rate decides which. On a concave piece with
    v > 0 at both ends, v has no zero. On a convex piece, v lies above the free responses that are tangent to it at either end. Where
    these stay positive, v has no zero; otherwise the piece is cut short near its minimum.

    Attributes:
        low: start of the piece; v, a and the jerk there are low_v >= 0, low_a, low_jerk.
        high: end of the piece, where the motion is evaluated next.
        low_near_peak: True if the maximum of the speed next to `low` is recorded.
        peak, top: time and value of the largest speed so far.
        stops, done: whether [low, high] brackets the first zero; whether the search is over.
    """

    low: Array
    low_v: Array
    low_a: Array
    low_jerk: Array
    low_near_peak: Array
    high: Array
    peak: Array
    top: Array
    stops: Array
    done: Array
    pieces: Array


def _signed_tanhc(z: Array) -> Array:
    """tanh(sqrt z) / sqrt z for z >= 0, tan(sqrt -z) / sqrt -z for -1 <= z < 0, by the continued fraction near 0."""
    inside = jnp.clip(z, -1.0, 1.0)
    fraction = 15.0 + jnp.zeros_like(z)
    for odd in (13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
        fraction = odd + inside / fraction
    root = jnp.sqrt(jnp.maximum(z, 1.0))
    return jnp.where(z > 1.0, jnp.tanh(root) / root, 1.0 / fraction)


def _cut(segment: Damped, s: _Scan, m: Motion) -> tuple[Array, Array]:
    """Whether a convex piece may hide a double crossing, and the time [s] near its minimum at which to cut it."""
    length = s.high - s.low
    half = 0.5 * length
    discriminant = segment.zeta**2 - segment.w2
    reach = half * _signed_tanhc(discriminant * half * half)
    bend = discriminant * reach
    fall, rise = s.low_a + s.low_v * (segment.zeta + bend), m.a + m.v * (segment.zeta - bend)
    valley = (fall < 0.0) & (rise > 0.0)
    # tangents in the plane of stretched time and v over free response, both scaled by their value at the start of the piece
    growth = jnp.exp(segment.zeta * length)
    # for large arguments 1 - tanh^2 is only rounding; cosh^2 is accurate there
    over = discriminant * half * half > 1.0
    stretch = jnp.where(
        over,
        jnp.cosh(jnp.sqrt(jnp.where(over, discriminant, 0.0)) * half) ** 2,
        1.0 / (1.0 - jnp.where(over, 0.0, discriminant * reach * reach)),
    )
    left_slope, right_slope = fall * stretch, rise * stretch * growth
    meet = (m.v * growth - s.low_v - 2.0 * reach * right_slope) / jnp.where(valley, left_slope - right_slope, -1.0)
    lowest = s.low_v + left_slope * meet
    where = s.low + length * jnp.clip((m.v - s.low_v - m.a * length) / jnp.where(valley, (s.low_a - m.a) * length, -1.0), 0.1, 0.9)
    return valley & ~(lowest > 0.0), where


def first_reversal(segment: Damped, anchor: Anchor, limit: Array, guess: Guess) -> Reversal:
    """First zero of the velocity in (0, limit], never a later one (see `first_reversal.first_reversal` and `_Scan`)."""
    alpha, omega, zeta, w2, *_ = segment
    rate = segment.rate
    discriminant = zeta * zeta - w2
    least, near, slack = (by_width(limit, *each) for each in ((1e-300, 1e-30), (1e-7, 1e-5), (1e-9, 1e-5)))
    longest = jnp.minimum(2.0 / jnp.sqrt(jnp.where(discriminant < 0.0, -discriminant, least)), 300.0 / jnp.where(zeta > 0.0, zeta, least))
    # the fast transient decays soon after the anchor: the first pieces are as long as its time scale, later ones grow with the distance
    transient = 1.0 / jnp.maximum(zeta + jnp.sqrt(jnp.maximum(discriminant, 0.0)), least)

    def next_end(low: Array) -> Array:
        quarter = (anchor.angle + omega * low) / math.pi - 0.5
        zero_of_cosine = ((jnp.floor(quarter + slack) + 1.5) * math.pi - anchor.angle) / omega
        grown = low + jnp.minimum(longest, jnp.maximum(transient, 2.0 * low))
        return jnp.minimum(jnp.minimum(zero_of_cosine, grown), limit)

    def peak_from(m: Motion) -> tuple[Array, Array]:
        """Step [s] from a point to the nearby maximum of v, and whether it is reliable to second order in time."""
        slope = jnp.where(m.jerk < 0.0, m.jerk, -least)
        h = -m.a / slope
        bend = h * m.snap / (2.0 * slope)
        step = h * (1.0 - bend)
        return step, (m.jerk < 0.0) & (jnp.abs(step) * rate < _PEAK) & (jnp.abs(bend) < _PEAK)

    def examine(s: _Scan, m: Motion) -> _Scan:
        length = s.high - s.low
        tiny = length * rate < near
        to_peak, at_peak = peak_from(m)
        (to_peak,) = fusion_barrier(to_peak)

        # after a release v and a are both 0, and v rises
        rising = (s.low_a > 0.0) | ((s.low_a == 0.0) & (s.low_v == 0.0))
        falls = m.a < 0.0
        crossed = (m.v <= 0.0) & ~(tiny & (s.low_v == 0.0))
        # a may change sign twice within the piece: its tangents at the ends bound how far it dips below 0 or rises above 0
        bend = s.low_jerk - m.jerk
        meet = (m.a - s.low_a - m.jerk * length) / jnp.where(bend != 0.0, bend, -1.0)
        tip = s.low_a + s.low_jerk * meet
        dips = (s.low_jerk < 0.0) & (m.jerk > 0.0) & (tip < 0.0)
        humps = falls & (s.low_jerk > 0.0) & (m.jerk < 0.0) & (tip > 0.0)
        unseen = falls & ~at_peak & ~s.low_near_peak
        peaked = jnp.where(rising, unseen | (~falls & (crossed | dips)), unseen & humps) & ~tiny
        landing = s.high + to_peak
        # the secant alone would converge slowly near a low and narrow peak
        crossing = jnp.where(rising, s.low_a / jnp.where(falls, s.low_a - m.a, 1.0), meet / length)
        between = s.low + length * jnp.where(falls, jnp.clip(crossing, 0.1, 0.9), 0.5)
        peak_guess = jnp.where(falls & (landing > s.low) & (landing < s.high), landing, between)

        middle = (anchor.angle + omega * (s.low + 0.5 * length)) / math.pi + 0.5
        convex = alpha * (0.5 - (jnp.floor(middle) - 2.0 * jnp.floor(0.5 * middle))) > 0.0
        hidden, valley = _cut(segment, s, m)
        hides = convex & ~crossed & hidden & ~tiny
        peaked, hides, bracketed = decide(peaked, hides, crossed & ~peaked & ~hides, like=limit)
        shortened = peaked | hides
        accepted = ~shortened & ~bracketed

        peak_time = jnp.clip(s.high + jnp.where(at_peak, to_peak, 0.0), 0.0, limit)
        peak_speed = m.v + jnp.where(at_peak, 0.5 * m.a * to_peak, 0.0)
        better = (peak_speed > s.top) & ~shortened
        low = jnp.where(accepted, s.high, s.low)
        return _Scan(
            low=low,
            low_v=jnp.where(accepted, m.v, s.low_v),
            low_a=jnp.where(accepted, m.a, s.low_a),
            low_jerk=jnp.where(accepted, m.jerk, s.low_jerk),
            low_near_peak=jnp.where(accepted, at_peak, s.low_near_peak),
            high=jnp.where(bracketed, s.high, jnp.where(peaked, peak_guess, jnp.where(hides, valley, next_end(low)))),
            peak=jnp.where(better, peak_time, s.peak),
            top=jnp.where(better, peak_speed, s.top),
            stops=bracketed,
            done=bracketed | (accepted & (s.high >= limit)),
            pieces=s.pieces + 1,
        )

    zero, no = jnp.zeros_like(limit), jnp.zeros_like(limit, dtype=bool)
    first = _Scan(
        zero,
        anchor.v,
        anchor.a,
        alpha * omega * anchor.cosine - 2.0 * zeta * anchor.a - w2 * anchor.v,
        no,
        next_end(zero),
        zero,
        anchor.v,
        no,
        limit <= 0.0,
        jnp.zeros_like(limit, dtype=jnp.int32),
    )
    known = wrap(guess.stop - anchor.angle) / omega

    def goes_on(s: tuple[_Scan, RootSearch]) -> Array:
        scan, root = s
        return jnp.where(scan.stops, root.goes_on, ~scan.done & (scan.pieces < MOST_PIECES))

    def look(s: tuple[_Scan, RootSearch]) -> tuple[_Scan, RootSearch]:
        """One evaluation: at the end of the next piece, or, once a bracket holds the first zero, at the next trial of the root."""
        scan, root = s
        m = segment.motion(anchor, jnp.where(scan.stops, root.trial, scan.high))
        examined = examine(scan, m)
        begun = RootSearch.of(examined.low, examined.high, known)
        improved = root.improved(m, rate, NEAR)
        chosen: tuple[_Scan, RootSearch] = jax.tree.map(
            lambda later, now: jnp.where(scan.stops, later, now), (scan, improved), (examined, begun)
        )
        return chosen

    s, root = jax.lax.while_loop(goes_on, look, (first, RootSearch.of(zero, zero, zero)))
    # an exhausted search returns the time that it reached; the event loop continues from there
    tau = jnp.where(s.stops, root.trial, jnp.where(s.done, limit, s.low))
    peak = jnp.minimum(s.peak, tau)
    return Reversal(tau, s.stops, peak, Guess(wrap(anchor.angle + omega * peak), wrap(anchor.angle + omega * tau)))
