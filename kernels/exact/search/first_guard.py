"""First crossing: the first instant at which one of several guards becomes negative along a segment, never a later one.

The search goes forward in time from the anchor, in stretches over which the Taylor series of the motion is exact to rounding. From a guard
and its first two derivatives at both ends of a stretch comes a polynomial of degree five, and from a bound of the sixth derivative its
error, which vanishes with the third power of the distance from either end. If no Bernstein coefficient of the polynomial less that error is
negative, the guard is not negative in the stretch, and the search goes on from its end. Where the polynomial of a guard comes below zero
the stretch is cut at the zero, which Newton steps on the series give to rounding: if no guard is negative before it, it is the first
crossing. Grazing and double crossings need no special case: stretches get shorter towards a low minimum and longer after it.

Where a contact is much faster than the excitation and its free motion has decayed, stretches as long as the time scale of the excitation
are tried first: there the guard without its free motion has the polynomial, and must stay above the amplitude of that motion. With strong
damping only the fast part of the free motion must have decayed. Where nothing moves any more one stretch lasts to the end of the search.
"""

from __future__ import annotations

import functools
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.law import Guard, each_of
from tribosweep.kernels.exact.search.motion_bounds import Bounds, Pace, bounds_of, decay_of, eased, pace_of, response_of, slow_of
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.numerics.fusion import decide, for_every_lane, fusion_barrier, traced_once
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.damped import Course, Damped, highest
from tribosweep.kernels.segments.interface import Anchor, Motion, Point
from tribosweep.kernels.segments.series import Series, series

MOST_LOOKS = 200_000
_LONG = 2.0  # length of a long stretch over the time scale of the excitation
_GROWS = 4.0  # longest stretch over the one before
_LONGEST_PAUSE = 31.0  # stretches without a long one after long ones have failed; see `Walk`
_BEFORE = 0.5  # how far before a crossing a long stretch ends, over the shortest time scale
_SETTLED = 1e-8  # relative change of a root by the last Newton step, whose square is left as error
_ROUNDING = 1e-6  # a guard at the start that is negative by less, over its change in a stretch, is zero
_STEPS, _FINAL_STEPS = 3, 3  # Newton steps on the polynomial and on the series


class GuardCrossing(NamedTuple):
    """The first crossing.

    Attributes:
        tau: time of the crossing from the anchor [s]. If no guard crosses: the time up to which this is known, which is the limit, or less
            where the search is exhausted.
        happens: whether a guard crosses. which: index of that guard, as a float.
    """

    tau: Array
    happens: Array
    which: Array


class Walk(NamedTuple):
    """The search: no guard crosses before `low`.

    Attributes:
        low: how far the search has come [s] from the anchor, at last the crossing. at: the motion there.
        h: longest stretch to try next [s].
        pause: number of stretches after which one longer than the series reaches is tried; the last such pause.
        which: the guard that crosses at `low`, as a float; -1 if none does.
        done: whether the search has ended. looks: number of looks.
    """

    low: Array
    at: Point
    h: Array
    pause: tuple[Array, Array]
    which: Array
    done: Array
    looks: Array

    @property
    def crossing(self) -> GuardCrossing:
        """The result, once the search has ended."""
        return GuardCrossing(self.low, self.which >= 0.0, jnp.maximum(self.which, 0.0))


def _values(guard: Guard, anchor: Anchor, x: tuple[Array, ...], course: Course) -> tuple[Array, Array, Array]:
    """A guard and its first two derivatives, from displacement, velocity, acceleration, jerk and snap, and what it knows of time."""
    value = guard.value + guard.on_d * x[0] + guard.on_v * (x[1] - anchor.v) + guard.on_a * (x[2] - anchor.a)
    slope = guard.on_d * x[1] + guard.on_v * x[2] + guard.on_a * x[3]
    bend = guard.on_d * x[2] + guard.on_v * x[3] + guard.on_a * x[4]
    if guard.on_t is not None:
        value, slope = value + guard.on_t * course.time, slope + guard.on_t
    if guard.on_n is not None and course.normal is not None:
        n = course.normal
        value, slope, bend = value + guard.on_n * n[0], slope + guard.on_n * n[1], bend + guard.on_n * n[2]
    return value, slope, bend


def _bernstein(low: tuple[Array, ...], high: tuple[Array, ...], h: Array) -> tuple[Array, ...]:
    """Bernstein coefficients of the polynomial of degree five through value, slope and curvature at both ends of a stretch `h` [s]."""
    first, second = 0.2 * h, 0.05 * h * h
    l1, l2, r1, r2 = first * low[1], second * low[2], first * high[1], second * high[2]
    return low[0], low[0] + l1, low[0] + 2.0 * l1 + l2, high[0] - 2.0 * r1 + r2, high[0] - r1, high[0]


def _least(b: tuple[Array, ...], error: Array) -> Array:
    """Six times the least Bernstein coefficient, of degree six, of the polynomial less `error` t^3 (1 - t)^3."""
    inner = b[0] + 5.0 * b[1], 2.0 * b[1] + 4.0 * b[2], 3.0 * (b[2] + b[3]) - 0.3 * error, 4.0 * b[3] + 2.0 * b[4], 5.0 * b[4] + b[5]
    return functools.reduce(jnp.minimum, inner, 6.0 * jnp.minimum(b[0], b[5]))


def _first_zero(b: tuple[Array, ...]) -> Array:
    """Where the control polygon of a polynomial first comes below zero, in [0, 1]; infinite if it does not."""
    start, before, after = jnp.full_like(b[0], jnp.inf), jnp.zeros_like(b[0]), -jnp.ones_like(b[0])
    for n in reversed(range(5)):
        falls = b[n + 1] < 0.0
        start, before, after = (jnp.where(falls, new, old) for new, old in ((float(n), start), (b[n], before), (b[n + 1], after)))
    return 0.2 * (start + jnp.maximum(before, 0.0) / (jnp.maximum(before, 0.0) - after))


@traced_once
def _zero_of(b: tuple[Array, ...], place: Array) -> Array:
    """The zero of a polynomial near `place`, in [0, 1], by Newton steps."""
    c1, c2 = 5.0 * (b[1] - b[0]), 10.0 * (b[2] - 2.0 * b[1] + b[0])
    c3 = 10.0 * (b[3] - 3.0 * (b[2] - b[1]) - b[0])
    c4 = 5.0 * (b[4] - 4.0 * b[3] + 6.0 * b[2] - 4.0 * b[1] + b[0])
    c5 = b[5] - 5.0 * b[4] + 10.0 * b[3] - 10.0 * b[2] + 5.0 * b[1] - b[0]
    for _ in range(_STEPS):
        value = b[0] + place * (c1 + place * (c2 + place * (c3 + place * (c4 + place * c5))))
        slope = c1 + place * (2.0 * c2 + place * (3.0 * c3 + place * (4.0 * c4 + place * (5.0 * c5))))
        place = jnp.clip(place - jnp.where(slope < 0.0, value / jnp.where(slope < 0.0, slope, 1.0), 0.0), 0.0, 1.0)
    return place


@traced_once
def _crossing_of(guard: Guard, start: Array, path: Series, place: Array, shortest: Array, course: Course, omega: Array) -> Array:
    """Where a guard falls through zero, near `place`, by Newton steps on the series of the motion; -1 if they do not settle.

    Args:
        guard: the guard. start: its value where the series starts. path: the motion. place: first guess; shortest: step that
            counts as none; both in units of the stretch.
        course: what the guard knows of time where the series starts. omega: frequency of the normal force [rad/s].
    """
    by_h = 1.0 / path.h
    on_v, on_a = guard.on_v * by_h, guard.on_a * by_h * by_h
    x = path.terms
    count = len(x)
    # the terms of the guard above its value at the start
    terms = [
        guard.on_d * x[n]
        + on_v * ((n + 1.0) * x[n + 1] if n + 1 < count else 0.0)
        + on_a * ((n + 1.0) * (n + 2.0) * x[n + 2] if n + 2 < count else 0.0)
        for n in range(1, count)
    ]
    if guard.on_t is not None:
        terms[0] = terms[0] + guard.on_t * path.h
    if guard.on_n is not None and course.normal is not None:
        swing = [guard.on_n * path.h * course.normal[1], guard.on_n * 0.5 * path.h**2 * course.normal[2]]
        for n in range(3, count):
            swing.append(swing[-2] * (omega * path.h) ** 2 * (-1.0 / (n * (n - 1.0))))
        terms = [one + other for one, other in zip(terms, swing, strict=True)]
    change = place
    for _ in range(_FINAL_STEPS):
        value, slope = terms[-1], (count - 1.0) * terms[-1]
        for n in range(count - 2, 0, -1):
            value, slope = value * place + terms[n - 1], slope * place + n * terms[n - 1]
        value = start + value * place
        change = jnp.where(slope < 0.0, value / jnp.where(slope < 0.0, slope, 1.0), jnp.inf)
        place = place - change
    return jnp.where(jnp.abs(change) <= jnp.maximum(_SETTLED * jnp.abs(place), shortest), place, -1.0)


def _at_once(
    guards: tuple[Guard, ...], anchor: Anchor, low: tuple[Array, ...], x5: Array, pace: Pace, course: Course
) -> tuple[Array, Array]:
    """The first guard that falls from zero at once, or is below it by more than rounding, or -1; and whether one falls a little later.

    In the last case, within the shortest stretch, the sign of a derivative that should be 0 is rounding. After that stretch it is clear.
    """
    shortest = pace.shortest
    now, unclear = jnp.full_like(shortest, -1.0), jnp.zeros_like(shortest, dtype=bool)
    for n in reversed(range(len(guards))):
        f0, f1, f2 = _values(guards[n], anchor, low, course)
        f3 = guards[n].on_d * low[3] + guards[n].on_v * low[4] + guards[n].on_a * x5
        if (rate := guards[n].on_n) is not None and course.normal is not None:
            f3 = f3 + rate * course.normal[3]
        falls = (f0 <= 0.0) & (f1 + shortest / 2.0 * (f2 + shortest / 3.0 * f3) < 0.0)
        at_once = (f1 < 0.0) | ((f1 == 0.0) & ((f2 < 0.0) | ((f2 == 0.0) & (f3 < 0.0))))
        # a mass that has just been released has neither velocity nor acceleration
        change = pace.reach * (jnp.abs(f1) + pace.reach * (jnp.abs(f2) + pace.reach * jnp.abs(f3)))
        below = (f0 < -_ROUNDING * change) & (change > 0.0)  # a mass that is released where its contact gives way at once
        now = jnp.where(below | (falls & at_once), float(n), now)
        unclear = unclear | (falls & ~at_once)
    now, unsure = fusion_barrier(now, jnp.where(unclear, 1.0, 0.0))
    return now, unsure > 0.5


def begin(anchor: Anchor, limit: Array, at_once: Array | bool = False) -> Walk:
    """The search before its first look (see `first_crossing`)."""
    zero = jnp.zeros_like(limit)
    at = Point(zero, anchor.v, anchor.a, anchor.sine, anchor.cosine, zero)
    return Walk(zero, at, zero + jnp.inf, (zero, zero), zero - 1.0, (limit <= 0.0) & jnp.logical_not(at_once), zero)


class _Cut(NamedTuple):
    """Where a stretch is cut.

    Attributes:
        cuts: whether a guard comes to zero within the stretch. which: that guard, as a float. share: the part of the stretch before it, 1
            if nothing cuts it.
    """

    cuts: Array
    which: Array
    share: Array


def _cut(
    segment: Damped, guards: tuple[Guard, ...], anchor: Anchor, low: tuple[Array, ...], path: Series, shortest: Array, s: Walk
) -> _Cut:
    """Where the first guard comes to zero within a stretch, as far as polynomials of degree five tell; the zero is exact to rounding."""
    here, there = segment.course(anchor, s.low, (s.at.sine, s.at.cosine)), segment.course(anchor, s.low + path.h)
    by_h = 1.0 / path.h
    high = fusion_barrier(*(path.at_end(order) * by_h**order for order in range(5)))
    lows = [_from_zero(_values(guard, anchor, low, here)) for guard in guards]
    polynomials = [_bernstein(first, _values(guard, anchor, high, there), path.h) for first, guard in zip(lows, guards, strict=True)]
    which, place = jnp.zeros_like(path.h), jnp.full_like(path.h, jnp.inf)
    for n in reversed(range(len(guards))):
        zero = _first_zero(polynomials[n])
        first = zero <= place
        which, place = jnp.where(first, float(n), which), jnp.where(first, zero, place)
    which, place = fusion_barrier(which, place)
    (falls,) = decide(place < jnp.inf)
    polynomial = tuple(picked(which, [each[i] for each in polynomials]) for i in range(6))
    (guess,) = fusion_barrier(_zero_of(polynomial, jnp.where(falls, jnp.clip(place, 0.0, 1.0), 1.0)))
    guard, omega = guard_of(which, guards), segment.omega if segment.swing is None else segment.omega[..., -1]
    start = picked(which, [each[0] for each in lows])
    (root,) = fusion_barrier(_crossing_of(guard, start, path, guess, shortest * by_h, here, omega))
    (cuts,) = decide(falls & (root > 0.0) & (root <= 1.0))
    return _Cut(cuts, which, fusion_barrier(jnp.where(cuts, root, 1.0))[0])


def _from_zero(values: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Value and slopes of a guard where no guard has crossed yet: a negative value is rounding."""
    return jnp.maximum(values[0], 0.0), values[1], values[2]


def picked(which: Array, values: list[Array]) -> Array:
    """The value that belongs to a guard."""
    return functools.reduce(lambda found, n: jnp.where(which == float(n), values[n], found), range(1, len(values)), values[0])


def guard_of(which: Array, guards: tuple[Guard, ...]) -> Guard:
    """The guard of a number."""
    return each_of(lambda *values: picked(which, list(values)), *guards)


def look(segment: Damped, anchor: Anchor, guards: tuple[Guard, ...], limit: Array, s: Walk, stiff: bool = True) -> tuple[Walk, Motion]:
    """The search after one more look, and the motion where it has come to. Arguments: those of `first_crossing`, and the search."""
    pace, response = pace_of(segment), response_of(segment)
    left = limit - s.low
    slopes = segment.slopes(s.at)
    slopes = fusion_barrier(slopes[0])[0], fusion_barrier(slopes[1])[0]
    low: tuple[Array, ...] = (s.at.d, s.at.v, s.at.a, *slopes)
    x5, x6, x7, x8 = fusion_barrier(*segment.further_slopes(s.at, slopes))
    here = segment.course(anchor, s.low, (s.at.sine, s.at.cosine))
    now, unclear = _at_once(guards, anchor, low, x5, pace, here)
    h = jnp.minimum(jnp.minimum(s.h, pace.reach), left)
    h = jnp.where(unclear, jnp.minimum(h, pace.shortest), h)
    slow, long, farthest = None, jnp.zeros_like(left, dtype=bool), h
    if stiff:
        longest = _LONG / jnp.maximum(jnp.maximum(highest(pace.omega), decay_of(segment).slow), 1e-300)
        slow, farthest = slow_of(segment, pace, response, s.at, longest), jnp.minimum(jnp.minimum(s.h, left), longest)
        # a guard of a motion that rests may be 0
        calm = functools.reduce(operator.and_, (_values(guard, anchor, slow.motion, here)[0] >= slow.swing_of(guard) for guard in guards))
        (long,) = decide((s.pause[0] <= 0.0) & (farthest > pace.reach) & calm & ~unclear)
    (empty,) = decide(h <= 0.0)
    path = series(segment, s.at, jnp.where(empty, 1.0, h))
    cut = _cut(segment, guards, anchor, low, path, pace.shortest, s)
    (cuts,) = decide(cut.cuts & ~long & ~empty)
    (share,) = fusion_barrier(jnp.where(empty, 0.0, cut.share))

    # the end of the stretch, to rounding
    by_h = 1.0 / path.h
    step = jnp.where(long, farthest, jnp.where(cuts, h * share, h))
    sine, cosine = sincos(anchor.angle + segment.omega * (s.low + step))
    d, v, a = (path.derivative(order, share) * by_h**order for order in range(3))
    end = Point(d, v, a, sine, cosine, s.at.area + path.area(share))
    if slow is not None:
        left_over = slow.fast_velocity * jnp.exp(-decay_of(segment).fast * step)
        end = _choose(long, eased(segment, pace, response, segment.point(anchor, s.low + step), left_over), end)
    end = Point(*fusion_barrier(*end))
    end_slopes = segment.slopes(end)
    high: tuple[Array, ...] = (end.d, end.v, end.a, *end_slopes)
    there = segment.course(anchor, s.low + step, (end.sine, end.cosine))
    falls = picked(cut.which, [_values(guard, anchor, high, there)[1] for guard in guards]) < 0.0
    bounds, slow_bounds = bounds_of(segment, pace, response, s.at, (x5, x6, x7, x8), step)
    bounds = Bounds(*fusion_barrier(*bounds))
    if slow is not None:
        low = tuple(jnp.where(long, a, b) for a, b in zip(slow.motion, low, strict=True))
        high = tuple(jnp.where(long, a, b) for a, b in zip(slow_of(segment, pace, response, end, step).motion, high, strict=True))
        bounds = Bounds(*(jnp.where(long, a + own, b) for a, own, b in zip(slow_bounds, slow.bounds, bounds, strict=True)))

    stays, nearest = jnp.ones_like(long), jnp.full_like(h, jnp.inf)
    for n, guard in enumerate(guards):
        own = cuts & (cut.which == float(n))
        first = _values(guard, anchor, low, here)
        first = (jnp.where(long, first[0], jnp.maximum(first[0], 0.0)), *first[1:])
        g0, g1, g2 = _values(guard, anchor, high, there)
        # at the crossing its guard is zero; another one that crosses there as well may be negative by rounding
        g0 = jnp.where(own, 0.0, jnp.where(cuts & (g0 >= pace.shortest * g1), jnp.maximum(g0, 0.0), g0))
        b = _bernstein(first, (g0, g1, g2), step)
        swing = 0.0 if slow is None else jnp.where(long, slow.swing_of(guard), 0.0)
        stays = stays & (_least(b, (bounds.of(guard) + _of_swing(segment, guard)) * step**6 / 720.0) >= 6.0 * swing)
        nearest = jnp.minimum(nearest, _first_zero(b)) if stiff else nearest
    (stays, tiny, at_once) = decide(stays, ~long & (step <= pace.shortest), (now >= 0.0) & ((left > 0.0) | ~s.done))
    (found,) = decide(cuts & (stays | tiny) & falls & ~at_once)
    advances = ~at_once & (found | (stays & ~cuts) | tiny)
    whole = advances & ~cuts & (step >= left)
    reached, looks = jnp.where(advances, jnp.where(whole, limit, s.low + step), s.low), s.looks + 1.0

    shorter, pause = 0.5 * step, s.pause
    if stiff:
        before = jnp.where(nearest < jnp.inf, jnp.minimum(nearest * step - _BEFORE * pace.reach, 0.5 * step), 0.25 * step)
        shorter = jnp.where(long, jnp.maximum(before, pace.reach), shorter)
        (gives_up,) = decide(long & ~advances & (shorter <= 2.0 * pace.reach))
        last = jnp.where(gives_up, jnp.minimum(2.0 * pause[1] + 1.0, _LONGEST_PAUSE), jnp.where(long & advances, 0.0, pause[1]))
        pause = jnp.where(gives_up, last, pause[0] - jnp.where(advances, 1.0, 0.0)), last
    reached, h = fusion_barrier(reached, jnp.where(advances, _GROWS * jnp.where(jnp.isfinite(s.h), step, s.h), shorter))
    after = Walk(
        low=reached,
        at=_choose(advances, end, s.at),
        h=h,
        pause=pause,
        which=jnp.where(at_once, now, jnp.where(found, cut.which, -1.0)),
        done=at_once | found | (reached >= limit) | (looks >= MOST_LOOKS),
        looks=looks,
    )
    jerk, snap = (jnp.where(advances, a, b) for a, b in zip(end_slopes, slopes, strict=True))
    return after, Motion(after.at.d, after.at.v, after.at.a, jerk, snap, segment.further_slopes(after.at, (jerk, snap))[0])


def _of_swing(segment: Damped, guard: Guard) -> Array | float:
    """Upper bound of the sixth derivative of the part of a guard that follows the normal force."""
    if guard.on_n is None or segment.swing is None:
        return 0.0
    return jnp.abs(guard.on_n * segment.swing) * segment.omega[..., -1] ** 6


def _choose(mask: Array, one: Point, other: Point) -> Point:
    """`one` where the mask holds, else `other`."""
    return Point(*(jnp.where(mask, a, b) for a, b in zip(one, other, strict=True)))


def first_crossing(
    segment: Damped, anchor: Anchor, guards: tuple[Guard, ...], limit: Array, stiff: bool = True, at_once: Array | bool = False
) -> GuardCrossing:
    """The first crossing in [0, limit] (scalars).

    Args:
        segment: closed-form motion, any sign of damping and stiffness. anchor: where it starts.
        guards: at least one. One that is negative at the anchor by more than rounding crosses there.
        limit: end of the search [s]; where it is not positive there is no search, unless `at_once`.
        stiff: whether long stretches are tried (compile-time). They take few looks where the motion is much faster than its excitation.
        at_once: whether guards that cross at the anchor are found where the limit is 0.

    Returns:
        See `GuardCrossing`. Of two guards that cross at the same time, to rounding, the one listed first counts. A guard that is negative
        only by rounding, over a stretch too short to resolve, has only grazed.
    """
    start = for_every_lane(begin(anchor, limit, at_once), segment, anchor, guards, limit)
    found = jax.lax.while_loop(lambda s: ~s.done, lambda s: look(segment, anchor, guards, limit, s, stiff)[0], start)
    return found.crossing
