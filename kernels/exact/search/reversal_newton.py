"""First reversal of a damped segment: Newton-like steps from a guess, and a proof that the zero found is the first.

A stretch is the time between two zeros of cos(omega t + phase), if shorter than half the natural period. v divided by a positive free
response, against a stretched time (see `reversal_scan`), is convex on a stretch where alpha cos > 0 and concave where alpha cos < 0.
Therefore, whatever happens before the stretch,

- in a convex stretch, a falling zero of v is the first zero, and v is positive at the beginning;
- in a concave stretch that begins with v >= 0, v has at most one zero, and none if v is positive at the end;
- in a convex stretch that begins with v rising, v has no zero.

So a falling zero is the first reversal if it lies in the first stretch, in the second after a concave first one, or in the second or third
after a convex first one that begins with v rising. Nearly every slip meets one of these conditions. The same holds for the acceleration,
with the sine in place of the cosine: its first falling zero is the peak of v, and there is no second peak if the acceleration is negative
at an end that comes soon enough. Where nothing is proved, `reversal_scan` searches piece by piece.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact.search.reversal import Guess, Reversal
from tribosweep.kernels.exact.search.roots import CLOSE, NEAR, householder
from tribosweep.kernels.excitation.harmonic import wrap
from tribosweep.kernels.numerics.elementary import chord
from tribosweep.kernels.numerics.fusion import decide, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, by_width, choice, horner
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor, Motion

_MOST_PASSES = 12
_PEAK_NEAR = 0.01
# Each (float64, float32). Relative to the sum of its parts: a velocity above _SHARE is positive despite rounding; one that falls less
# steeply than _SLOPE grazes. _APART: least squared distance from resonance. _AWAY: least |cosine|. _SLACK: rounding of a whole number.
_SHARE, _SLOPE = (1e-9, 1e-5), (1e-5, 1e-2)
_APART, _AWAY, _SLACK = (1e-6, 1e-2), (1e-6, 1e-5), (1e-9, 1e-6)
_DOUBLINGS = 4
_WIDEST = 90.0  # largest |discriminant| tau^2 at which the series with its doublings is accurate
_COSH_SERIES = tuple(1.0 / math.factorial(2 * n) for n in range(8))
_SINHC_SERIES = tuple(1.0 / math.factorial(2 * n + 1) for n in range(8))


class _Course(NamedTuple):
    """Velocity of a segment as harmonic plus free motion. It is cheap, and loses digits only where the two cancel.

    Attributes:
        drive: amplitude of the excitation's rate over the mass [m/s^3]. on_cosine, on_sine: coefficients of the harmonic velocity [m/s].
        free, free_rate: free velocity at the anchor and its time derivative.
    """

    segment: Damped
    angle: Array
    drive: Array
    on_cosine: Array
    on_sine: Array
    free: Array
    free_rate: Array

    def at(self, tau: Array) -> Motion:
        """The motion `tau` [s] after the anchor. The displacement is not computed: its entry repeats v."""
        _, omega, zeta, w2, *_ = self.segment
        sine, versine = chord(self.angle + omega * tau)
        cosine = 1.0 - versine
        quarter = 0.25**_DOUBLINGS * (zeta * zeta - w2) * tau * tau
        terms = by_width(tau, len(_COSH_SERIES), 5)
        c, s = horner(_COSH_SERIES[:terms], quarter), horner(_SINHC_SERIES[:terms], quarter)
        for _ in range(_DOUBLINGS):
            s, c = s * c, 2.0 * c * c - 1.0
        decay = jnp.exp(-zeta * tau)
        sine, cosine, c, s = fusion_barrier(sine, cosine, decay * c, decay * s * tau)
        v = self.free * c + (self.free_rate + zeta * self.free) * s + self.on_cosine * cosine + self.on_sine * sine
        a = self.free_rate * c - (zeta * self.free_rate + w2 * self.free) * s + omega * (self.on_sine * cosine - self.on_cosine * sine)
        v, a = fusion_barrier(v, a)
        (jerk,) = fusion_barrier(self.drive * cosine - 2.0 * zeta * a - w2 * v)
        (snap,) = fusion_barrier(-omega * self.drive * sine - 2.0 * zeta * jerk - w2 * a)
        return Motion(v, v, a, jerk, snap, -(omega**2) * self.drive * cosine - 2.0 * zeta * snap - w2 * jerk)


class _Search(NamedTuple):
    """Search for a falling zero of v (or of a).

    `roots.RootSearch` needs a bracket from the start. This search has none until the function is seen to be negative (`crossed`); from then
    on the zero lies in (low, high). From value and slope at the last trial, the caller may conclude that there is no zero. Two searches run
    in one loop; each stops when it is done.

    Attributes:
        trial: time of the next evaluation. value, slope: of the function at the last evaluation.
        found: whether `trial` is near the zero. over: whether the function is positive at the end of the range.
    """

    low: Array
    high: Array
    crossed: Array
    trial: Array
    value: Array
    slope: Array
    found: Array
    over: Array


class _Pair(NamedTuple):
    """The searches for the stop and for the peak before it, and the number of steps of both."""

    stop: _Search
    peak: _Search
    passes: Array


def _begin(start: Array, limit: Array) -> _Search:
    zero = jnp.zeros_like(limit)
    return _Search(zero, limit, zero, jnp.clip(start, 0.0, limit), zero, zero, zero, zero)


def _improve(s: _Search, m: Motion, rate: Array, near: float) -> _Search:
    """One step of the search for a falling zero of `m.v`."""
    (positive,) = decide(m.v > 0.0, like=m.v)
    low, high = jnp.where(positive, s.trial, s.low), jnp.where(positive, s.high, s.trial)
    crossed = jnp.where(positive, s.crossed, 1.0)
    step, neglected = householder(m)
    (step,) = fusion_barrier(step)
    target = s.trial + step
    goes = jnp.where((m.a < 0.0) & (target > low), choice(target < high, 1.0, 2.0, m.v), 0.0)
    found, over = decide(
        (m.a < 0.0) & (jnp.abs(step) * rate < near) & (neglected < near),
        positive & (crossed == 0.0) & (s.trial >= s.high),
        like=m.v,
    )
    aimed = jnp.where(goes == 1.0, target, jnp.where(crossed > 0.0, 0.5 * (low + high), high))
    done = (s.found > 0.0) | (s.over > 0.0)
    new = _Search(
        low, high, crossed, jnp.where(found, target, jnp.where(over, s.trial, aimed)), m.v, m.a,
        choice(found, 1.0, 0.0, m.v), choice(over & ~found, 1.0, 0.0, m.v),
    )  # fmt: skip
    frozen: _Search = jax.tree.map(lambda now, later: jnp.where(done, now, later), s, new)
    return frozen


def _done(s: _Search) -> Array:
    return (s.found > 0.0) | (s.over > 0.0)


def first_reversal(segment: Damped, anchor: Anchor, limit: Array, guess: Guess) -> tuple[Reversal, Array]:
    """First zero of the velocity in (0, limit] (see `first_reversal`), and whether it is proved to be the first.

    Without the proof, the returned reversal has no meaning.
    """
    alpha, omega, zeta, w2, *_ = segment
    rate, half_period = segment.rate, math.pi / omega
    discriminant = zeta * zeta - w2

    p_re, p_im = w2 - omega * omega, 2.0 * zeta * omega
    squared = p_re * p_re + p_im * p_im
    apart = squared > by_width(limit, *_APART) * omega**4
    size = alpha * omega / jnp.where(apart, squared, 1.0)
    on_cosine, on_sine = fusion_barrier(size * p_re, size * p_im)
    free = anchor.v - on_cosine * anchor.cosine - on_sine * anchor.sine
    free_rate = anchor.a - omega * (on_sine * anchor.cosine - on_cosine * anchor.sine)
    free, free_rate = fusion_barrier(free, free_rate)
    course = _Course(segment, anchor.angle, alpha * omega, on_cosine, on_sine, free, free_rate)
    speeds = jnp.abs(free) + jnp.abs(on_cosine) + jnp.abs(on_sine)

    # largest distance from -zeta of the logarithmic derivative of a positive free response at the end of a stretch (Becker and Stark 1978:
    # tan x < x / (1 - (2 x / pi)^2))
    below = jnp.maximum(-discriminant, 0.0)

    def rate_margin(length: Array) -> Array:
        x = 0.5 * length
        return below * x / jnp.maximum(1.0 - (4.0 / math.pi**2) * below * x * x, 1e-3)

    def stretch(quarter: float) -> tuple[Array, Array]:
        """End of the anchor's stretch [s], between zeros of the cosine (quarter = 0.5) or sine (0); whether v (or a) is convex in it."""
        turns = anchor.angle / math.pi - quarter
        whole = jnp.floor(turns + by_width(limit, *_SLACK))
        end = (whole + 1.0 - turns) * half_period
        odd = whole - 2.0 * jnp.floor(0.5 * whole) > 0.0
        # for even `whole` the cosine is negative, or the sine positive, and v (or a) is concave if alpha > 0
        return end, jnp.where(odd, alpha, -alpha) > 0.0

    first, convex = stretch(0.5)
    first_of_a, convex_of_a = stretch(0.0)
    jerk = alpha * omega * anchor.cosine - 2.0 * zeta * anchor.a - w2 * anchor.v
    rising = (anchor.v == 0.0) | (anchor.a + anchor.v * (zeta - rate_margin(first)) >= 0.0)
    convex, rising = decide(convex, rising, like=limit)
    reach = first + jnp.where(convex, jnp.where(rising, 2.0, 0.0), 1.0) * half_period
    sound = apart & (below < 0.95 * omega * omega) & (jnp.abs(discriminant) * (3.0 * half_period) ** 2 < _WIDEST)
    sound = sound & (jnp.abs(anchor.cosine) > by_width(limit, *_AWAY)) & (limit > 0.0)
    (limit_of_search,) = fusion_barrier(jnp.where(sound, jnp.minimum(limit + CLOSE / rate, reach), 0.0))

    def looking(s: _Pair) -> Array:
        return ~(_done(s.stop) & _done(s.peak)) & (s.passes < _MOST_PASSES)

    def look(s: _Pair) -> _Pair:
        peak = course.at(s.peak.trial)
        rates = Motion(peak.v, peak.a, peak.jerk, peak.snap, peak.crackle, jnp.zeros_like(limit))
        stop = course.at(s.stop.trial)
        return _Pair(_improve(s.stop, stop, rate, NEAR), _improve(s.peak, rates, rate, _PEAK_NEAR), s.passes + 1)

    known = wrap(guess.stop - anchor.angle) / omega
    steepest = first + jnp.where(convex, half_period, 0.0)
    before = wrap(guess.peak - anchor.angle) / omega
    start = _begin(jnp.where((guess.stop >= 0.0) & (known < limit_of_search), known, steepest), limit_of_search)
    start_of_peak = _begin(
        jnp.where((guess.peak >= 0.0) & (before < limit_of_search), before, first_of_a + jnp.where(convex_of_a, half_period, 0.0)),
        limit_of_search,
    )
    # a search with an empty range is over at once
    idle = jnp.where(limit_of_search > 0.0, 0.0, 1.0)
    sinks_at_once = jnp.where(anchor.a < 0.0, 1.0, idle)
    found = jax.lax.while_loop(
        looking, look, _Pair(start._replace(over=idle), start_of_peak._replace(over=sinks_at_once), jnp.zeros_like(limit, dtype=jnp.int32))
    )
    stop, peak = found.stop, found.peak

    (stops,) = decide(
        (stop.found > 0.0) & (stop.trial > 0.0) & (stop.trial < limit_of_search) & (stop.trial * omega < omega * limit + CLOSE), like=limit
    )
    tau = jnp.where(stops, stop.trial, limit)
    falls = stop.slope < -by_width(limit, *_SLOPE) * speeds * omega
    # without a stop: v must be positive at the limit; if that is in a convex stretch that did not begin rising, v must still be falling
    into = limit_of_search - first
    in_first = into <= 0.0
    safe = jnp.where(convex, jnp.where(in_first, rising, into <= half_period), in_first)
    still_falling = stop.slope + stop.value * (zeta + rate_margin(half_period)) <= 0.0
    passes = (stop.over > 0.0) & (limit < reach) & (stop.value > by_width(limit, *_SHARE) * speeds) & (safe | still_falling)
    certain = sound & jnp.where(stops, falls, passes)

    # the peak: the same argument with the stretches of the sine
    end, slope = jnp.where(stops, tau, limit_of_search), jnp.where(stops, -1.0, stop.slope)
    swing = rate_margin(jnp.minimum(first_of_a, half_period))
    up, climbing = anchor.a >= 0.0, jerk + anchor.a * (zeta - swing) >= 0.0
    sinking = jerk + anchor.a * (zeta - swing) <= 0.0
    begins_well = jnp.where(up, ~convex_of_a | climbing, convex_of_a | sinking)
    second = first_of_a + half_period
    peaks = (peak.found > 0.0) & (peak.trial > 0.0) & (peak.trial < tau) & (end < jnp.where(convex_of_a, second + half_period, second))
    climbs = end < jnp.where(convex_of_a, second, first_of_a)
    sinks = (slope < 0.0) & (end < jnp.where(convex_of_a, first_of_a, second))
    known_peak = begins_well & jnp.where(up, jnp.where(slope < 0.0, peaks, climbs), sinks)
    fastest = jnp.where(up, jnp.where(slope < 0.0, peak.trial, tau), 0.0)
    angles = Guess(wrap(anchor.angle + omega * fastest), wrap(anchor.angle + omega * tau))
    return Reversal(tau, stops, fastest, angles), certain & known_peak
