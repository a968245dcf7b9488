"""First crossing: the first instant at which one of several guards becomes negative along a segment, never a later one.

The search goes forward in time from the anchor. At each instant the guards and their first five derivatives are known in closed form, and
so is a bound of the fifth derivative over the stretch ahead. Two Taylor polynomials with that bound as last term enclose the guard. If the
lower one has no negative Bernstein coefficient, the guard is not negative, and the search jumps over the stretch. If the upper one falls
throughout and ends below zero, the guard crosses exactly once, and Householder steps find the root. Grazing and double crossings need no
special case: the jumps get shorter towards a low minimum and longer after it.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp

from kernels.contact.law import Guard, choose
from kernels.exact.search.roots import falling_root, householder
from kernels.numerics.fusion import decide, for_every_lane, fusion_barrier, traced_once
from kernels.numerics.numbers import Array
from kernels.segments.damped import Damped, highest, over_sines
from kernels.segments.interface import Anchor, Motion

MOST_LOOKS = 200_000
_SHRINK = 2.5
_FINE, _COARSE = 5, 4  # lengths tried at each instant, each _SHRINK times shorter than the one before
_GROW = 10.0
_FLOOR = 1e-13  # shortest stretch, over the shortest time scale of the motion; a guard that is zero to rounding over it only grazes


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


class _Course(NamedTuple):
    """A guard ahead of an instant.

    Attributes:
        derivatives: the guard and its first four derivatives.
        bound: upper bound of the magnitude of the fifth derivative, as far ahead as the search may jump.
        slow: a lower bound of the guard and its derivatives: harmonic part minus amplitude of the free motion about its equilibrium.
            It allows long jumps while a contact rings or a transient decays. slow_bound: upper bound of its fifth derivative.
    """

    derivatives: tuple[Array, ...]
    bound: Array
    slow: tuple[Array, ...]
    slow_bound: Array


class _Walk(NamedTuple):
    """The search: no guard crosses before `low`; `top` is the longest stretch to try next; [low, high] brackets a crossing near `guess`."""

    low: Array
    top: Array
    high: Array
    guess: Array
    which: Array
    done: Array
    looks: Array


@traced_once
def _value_and_slopes(guard: Guard, anchor: Anchor, motion: tuple[Array, Array, Array, Array, Array]) -> tuple[Array, Array, Array]:
    """A guard and its first two derivatives, from displacement, velocity, acceleration, jerk and snap."""
    d, v, a, jerk, snap = motion
    return (
        guard.value + guard.on_d * d + guard.on_v * (v - anchor.v) + guard.on_a * (a - anchor.a),
        guard.on_d * v + guard.on_v * a + guard.on_a * jerk,
        guard.on_d * a + guard.on_v * jerk + guard.on_a * snap,
    )


class _Medium(NamedTuple):
    """What all guards of a segment share.

    Attributes:
        re, im: response to the excitation, regularised near resonance. left: share of the excitation that this response leaves out.
        growth: bound of the growth of the free motion over a stretch of `longest` [s]. stiffness: w2 if positive, else a tiny number.
    """

    re: Array
    im: Array
    left: Array
    growth: Array
    longest: Array
    stiffness: Array


def _medium(segment: Damped) -> _Medium:
    omega, zeta, w2 = segment.omega, segment.zeta, segment.w2
    p_re, p_im = w2 - omega * omega, 2.0 * zeta * omega
    spared = 0.1 * omega**4
    size = p_re * p_re + p_im * p_im + spared
    rate = jnp.sqrt(jnp.maximum(-w2, 0.0)) + 2.0 * jnp.maximum(-zeta, 0.0)
    grows = rate > 0.0
    longest = jnp.minimum(4.0 / (omega if omega.ndim == 0 else jnp.maximum(highest(omega), 1e-300)), 1.0 / jnp.where(grows, rate, 1e-300))
    return _Medium(p_re / size, -p_im / size, spared / size, jnp.where(grows, math.e, 1.0), longest, jnp.where(w2 > 0.0, w2, 1e-300))


@traced_once
def _course(segment: Damped, medium: _Medium, guard: Guard, values: tuple[Array, ...], wave: tuple[Array, Array]) -> _Course:
    """A guard ahead of an instant. `values`: the guard and its first two derivatives; `wave`: alpha times sine and cosine of the angle."""
    omega, zeta, w2 = segment.omega, segment.zeta, segment.w2
    sine, cosine = wave
    # the guard obeys the equation of motion: its excitation is that of the motion, weighted by the coefficients of the guard
    w_re, w_im = guard.on_d - omega * omega * guard.on_a, omega * guard.on_v
    drive_s, drive_c = w_re * sine + w_im * cosine, w_re * cosine - w_im * sine
    f0, f1, f2 = values
    push = 0.0 if segment.ramp is None else guard.on_d * segment.ramp
    f3 = over_sines(omega * drive_c) + push - 2.0 * zeta * f2 - w2 * f1
    f4 = over_sines(-(omega**2) * drive_s) - 2.0 * zeta * f3 - w2 * f2
    f5 = over_sines(-(omega**3) * drive_c) - 2.0 * zeta * f4 - w2 * f3
    q_s, q_c = medium.re * drive_s + medium.im * drive_c, medium.re * drive_c - medium.im * drive_s
    each = omega * q_c, -(omega**2) * q_s, -(omega**3) * q_c, omega**4 * q_s, omega**5 * q_c
    q1, q2, q3, q4, q5 = (over_sines(q) for q in each)
    drive = jnp.sqrt(w_re * w_re + w_im * w_im) * jnp.abs(segment.alpha)
    slow_bound = over_sines(omega**5 * drive * jnp.sqrt(medium.re**2 + medium.im**2))
    energy = jnp.sqrt((f5 - q5) ** 2 + jnp.abs(w2) * (f4 - q4) ** 2)
    bound = slow_bound + (energy + over_sines(medium.left * drive * omega**4) * medium.longest) * medium.growth
    # free motion about its equilibrium: its present value and its amplitude
    drift = push / medium.stiffness  # a ramp moves the equilibrium
    speed = f1 - q1 - drift
    away = -((f2 - q2) + 2.0 * zeta * speed) / medium.stiffness
    swing = jnp.sqrt(away * away + speed**2 / medium.stiffness)
    swing = swing + over_sines(medium.left * drive) * medium.longest * jnp.sqrt(1.0 / medium.stiffness)
    swings = (w2 > 0.0) & (zeta >= 0.0)
    base = jnp.where(swings, f0 - away - swing, -1.0)
    return _Course((f0, f1, f2, f3, f4), bound, (base, q1 + drift, q2, q3, q4), slow_bound)


@traced_once
def _terms(derivatives: tuple[Array, ...], bound: Array, h: Array) -> tuple[Array, ...]:
    """Taylor terms over a stretch `h` [s], and a bound of the remainder."""
    c0, f1, f2, f3, f4 = derivatives
    h2 = h * h
    h4 = h2 * h2
    return c0, f1 * h, f2 * (h2 / 2.0), f3 * (h2 * h / 6.0), f4 * (h4 / 24.0), bound * (h4 * h / 120.0)


@traced_once
def _stays(terms: tuple[Array, ...]) -> Array:
    """Whether the polynomial below the guard is certainly not negative over the stretch: its Bernstein coefficients are >= 0."""
    c0, c1, c2, c3, c4, rest = terms
    b1 = c0 + 0.2 * c1
    b2 = c0 + 0.4 * c1 + 0.1 * c2
    b3 = c0 + 0.6 * c1 + 0.3 * c2 + 0.1 * c3
    b4 = c0 + 0.8 * c1 + 0.6 * c2 + 0.4 * c3 + 0.2 * c4
    b5 = c0 + c1 + c2 + c3 + c4 - rest
    least = functools.reduce(jnp.minimum, (b1, b2, b3, b4, b5))
    return (c0 >= 0.0) & (least >= 0.0)


@traced_once
def _falls_through(terms: tuple[Array, ...]) -> Array:
    """Whether the guard certainly falls over the whole stretch and is negative at its end."""
    c0, c1, c2, c3, c4, rest = terms
    d0, d1, d2, d3, d4 = c1, 2.0 * c2, 3.0 * c3, 4.0 * c4, 5.0 * rest
    most = functools.reduce(
        jnp.maximum,
        (d0, d0 + 0.25 * d1, d0 + 0.5 * d1 + d2 / 6.0, d0 + 0.75 * d1 + 0.5 * d2 + 0.25 * d3, d0 + d1 + d2 + d3 + d4),
    )
    return (c0 + c1 + c2 + c3 + c4 + rest < 0.0) & (most <= 0.0)


def stay(segment: Damped, anchor: Anchor, guards: tuple[Guard, ...], limit: Array) -> Array:
    """Whether one look from the anchor shows that no guard crosses in [0, limit] (see `first_crossing`), so that no search is needed."""
    medium = _medium(segment)
    sine, cosine = segment.alpha * anchor.sine, segment.alpha * anchor.cosine
    jerk = over_sines(segment.omega * cosine) - 2.0 * segment.zeta * anchor.a - segment.w2 * anchor.v
    jerk = jerk if segment.ramp is None else jerk + segment.ramp
    snap = over_sines(-(segment.omega**2) * sine) - 2.0 * segment.zeta * jerk - segment.w2 * anchor.a
    zero = jnp.zeros_like(anchor.v)
    clear = limit <= medium.longest
    for guard in guards:
        value, *slopes = _value_and_slopes(guard, anchor, (zero, anchor.v, anchor.a, jerk, snap))
        course = _course(segment, medium, guard, (jnp.maximum(value, 0.0), *slopes), (sine, cosine))
        near = _stays(_terms(course.derivatives, course.bound, limit))
        clear = clear & (near | _stays(_terms(course.slow, course.slow_bound, limit)))
    return clear


def first_crossing(segment: Damped, anchor: Anchor, guards: tuple[Guard, ...], limit: Array) -> GuardCrossing:
    """The first crossing in [0, limit] (scalars).

    Args:
        segment: closed-form motion, any sign of damping and stiffness. anchor: where it starts.
        guards: at least one. None is negative at the anchor, except by rounding.
        limit: end of the search [s]; where it is not positive there is no search.

    Returns:
        See `GuardCrossing`. Of two guards that cross at the same time, to rounding, the one listed first counts. A guard that is negative
        only by rounding, over a stretch too short to resolve, has only grazed.
    """
    medium = _medium(segment)
    fastest = segment.rate
    shortest = _FLOOR / fastest

    def look(s: _Walk) -> _Walk:
        d, v, a, sine, cosine = segment.state(anchor, s.low)
        jerk = over_sines(segment.alpha * segment.omega * cosine) - 2.0 * segment.zeta * a - segment.w2 * v
        jerk = jerk if segment.ramp is None else jerk + segment.ramp
        snap = over_sines(-segment.alpha * segment.omega**2 * sine) - 2.0 * segment.zeta * jerk - segment.w2 * a
        jerk, snap, sine, cosine = fusion_barrier(jerk, snap, segment.alpha * sine, segment.alpha * cosine)
        left = limit - s.low
        courses = []
        for guard in guards:
            value, *slopes = _value_and_slopes(guard, anchor, (d, v, a, jerk, snap))
            # no guard crosses before s.low: a negative value is rounding
            courses.append(_course(segment, medium, guard, (jnp.maximum(value, 0.0), *slopes), (sine, cosine)))

        top = jnp.minimum(jnp.minimum(s.top, medium.longest), left)
        zero = jnp.zeros_like(top)
        jump, fine, end, which = zero, zero, zero, zero
        for n in reversed(range(_FINE)):
            h = top * _SHRINK**-n
            terms = [_terms(course.derivatives, course.bound, h) for course in courses]
            stays = [_stays(each) for each in terms]
            fine = jnp.where(functools.reduce(operator.and_, stays), h, fine)
            for index in reversed(range(len(guards))):
                others = [stays[i] for i in range(len(guards)) if i != index]
                # of two guards that cross within the shortest stretch, the one listed first counts
                alone = functools.reduce(operator.and_, others, jnp.ones_like(left, dtype=bool)) | (h <= shortest)
                caught = _falls_through(terms[index]) & alone
                end, which = jnp.where(caught, h, end), jnp.where(caught, float(index), which)
        coarse = jnp.minimum(medium.longest, left)
        for n in reversed(range(_COARSE)):
            h = coarse * _SHRINK**-n
            stays = [_stays(_terms(course.slow, course.slow_bound, h)) for course in courses]
            jump = jnp.where(functools.reduce(operator.and_, stays), h, jump)
        jump = jnp.maximum(jump, fine)
        forced = jnp.minimum(top, shortest)
        (found, stuck, tiny) = decide(end > 0.0, jump <= 0.0, top <= shortest)
        jump = jnp.where(stuck, jnp.where(tiny, forced, 0.0), jump)
        low = jnp.where(found, s.low, jnp.where(jump >= left, limit, s.low + jump))
        top = jnp.where(fine > 0.0, _GROW * fine, jnp.where(stuck, top * _SHRINK**-_FINE, 4.0 / fastest))
        ahead = functools.reduce(
            lambda now, n: jax.tree.map(lambda a, b: jnp.where(which == float(n), a, b), courses[n], now), range(1, len(guards)), courses[0]
        )
        step, _ = householder(Motion(zero, *ahead.derivatives))
        low, end, step, which = fusion_barrier(low, end, step, which)
        return _Walk(low, top, low + end, low + jnp.clip(step, 0.0, end), which, found | (low >= limit), s.looks + 1.0)

    zero = jnp.zeros_like(limit)
    start = for_every_lane(_Walk(zero, 4.0 / fastest, zero, zero, zero, limit <= 0.0, zero), segment, anchor, guards, limit)
    s = jax.lax.while_loop(lambda s: ~s.done & (s.looks < MOST_LOOKS), look, start)
    happens = s.high > s.low
    guard = functools.reduce(lambda now, n: choose(s.which == float(n), guards[n], now), range(1, len(guards)), guards[0])

    def as_velocity(tau: Array) -> Motion:
        """The guard in the place of the velocity, for `falling_root`; its last derivative omits the term of the acceleration."""
        m = segment.motion(anchor, tau)
        fourth = guard.on_d * m.jerk + guard.on_v * m.snap + guard.on_a * m.crackle
        return Motion(
            m.d, *_value_and_slopes(guard, anchor, (m.d, m.v, m.a, m.jerk, m.snap)), fourth, guard.on_d * m.snap + guard.on_v * m.crackle
        )

    root = falling_root(as_velocity, s.low, s.high, s.guess, fastest)
    return GuardCrossing(jnp.where(happens, root, jnp.minimum(s.low, jnp.maximum(limit, 0.0))), happens, s.which)
