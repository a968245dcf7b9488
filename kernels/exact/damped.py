"""Segment of an oscillator with spring and damper, any k >= 0 and c >= 0, through critical damping, resonance and k -> 0.

    x'' + 2 zeta x' + w2 x = b + alpha sin(omega t + phase)

Written in increments from the anchor, whose acceleration absorbs b and w2 x: nothing large cancels as k -> 0. Every function is the
response at rest to 1 (`H`), to an impulse (`S`), or to exp(i omega t) (`R`), each with a form that stays accurate where another loses
digits. Validated by tests/kernels/test_exact.py against 34-digit computation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from kernels.elementary import Array, chord, decide, horner, settle, sincos
from kernels.exact.refine import falling_root
from kernels.exact.segment import Anchor, Motion, Reversal

_COSH_SERIES = tuple(1.0 / math.factorial(2 * n) for n in range(9))
_SINHC_SERIES = tuple(1.0 / math.factorial(2 * n + 1) for n in range(9))
_MEAN_SERIES = tuple((-1.0) ** n / math.factorial(n + 1) for n in range(16))
_STEP_TERMS = 20
_RESONANCE_TERMS = 12
_MOST_PIECES = 200_000
_PEAK = 3e-3


def _mean_decay(y: Array) -> Array:
    """(1 - exp(-y)) / y, through y = 0."""
    small = jnp.abs(y) < 0.5
    inside, outside = jnp.where(small, y, 0.0), jnp.where(small, 1.0, y)
    return jnp.where(small, horner(_MEAN_SERIES, inside), (1.0 - jnp.exp(-outside)) / outside)


class _Responses(NamedTuple):
    """Free and step responses at tau: C = e^(-zeta tau) cosh, S = e^(-zeta tau) sinh / delta, H = integral of S; and what resonance needs."""

    C: Array
    S: Array
    H: Array
    oscillates: Array
    damped_frequency: Array


def responses(zeta: Array, w2: Array, tau: Array) -> _Responses:
    """Responses of x'' + 2 zeta x' + w2 x at tau (scalars); all entire in zeta, w2 and tau, to rounding times a small factor.

    With z = (zeta^2 - w2) tau^2: exponentials of the two real roots for z > 0.1, sine and cosine for z < -0.3, series between; H by the
    slow and the fast root, by 1 - C - zeta S = w2 H, or by its Taylor series when both zeta tau and w2 tau^2 are small.
    """
    discriminant = zeta * zeta - w2
    z = discriminant * tau * tau
    over, under = z > 0.1, z < -0.3
    between = ~(over | under)

    delta = jnp.sqrt(jnp.where(over, discriminant, 1.0))
    fast = zeta + delta
    slow_root = w2 / jnp.where(over, fast, 1.0)
    decay = jnp.exp(-jnp.where(over, slow_root, zeta) * tau)
    gap = jnp.exp(-2.0 * jnp.where(over, delta * tau, 0.0))

    oscillates = discriminant < 0.0
    frequency = jnp.sqrt(jnp.where(oscillates, -discriminant, 1.0))
    sine, cosine = sincos(jnp.where(under, frequency * tau, 0.0))
    series_z = jnp.where(between, z, 0.0)

    c = decay * jnp.where(over, 0.5 * (1.0 + gap), jnp.where(under, cosine, horner(_COSH_SERIES, series_z)))
    s = decay * jnp.where(over, (1.0 - gap) / (2.0 * delta), jnp.where(under, sine / frequency, tau * horner(_SINHC_SERIES, series_z)))

    by_roots = tau * (_mean_decay(slow_root * tau) - _mean_decay(jnp.where(over, fast * tau, 1.0))) / (2.0 * delta)
    taylor = between & (zeta * tau < 0.5)
    p, q = jnp.where(taylor, 2.0 * zeta * tau, 0.0), jnp.where(taylor, w2 * tau * tau, 0.0)
    previous, term, total = jnp.zeros_like(tau), 0.5 + jnp.zeros_like(tau), 0.5 + jnp.zeros_like(tau)
    for n in range(1, _STEP_TERMS - 2):
        previous, term = term, -(p * (n + 1) * term + q * previous) / ((n + 2) * (n + 1))
        total = total + term
    by_balance = (1.0 - c - zeta * s) / jnp.where(over | taylor, 1.0, w2)
    h = jnp.where(over, by_roots, jnp.where(taylor, total * tau * tau, by_balance))
    return _Responses(c, s, h, oscillates, frequency)


class Damped(NamedTuple):
    """Constants of one oscillator.

    Attributes:
        alpha: amplitude of the excitation over the mass [m/s^2], any sign.
        omega: circular frequency of the excitation [rad/s].
        zeta: c / (2 m) [1/s], >= 0.
        w2: k / m [1/s^2], >= 0.
        one: see `elementary.settle`.
    """

    alpha: Array
    omega: Array
    zeta: Array
    w2: Array
    one: Array

    @property
    def rate(self) -> Array:
        """Sum of the rates of the motion [1/s]."""
        return self.omega + jnp.sqrt(self.w2) + 2.0 * self.zeta

    def _harmonic(self, tau: Array, r: _Responses, sine: Array, versine: Array) -> tuple[Array, Array, Array, Array]:
        """R, the response at rest to exp(i omega t), and R - H: real and imaginary parts, without loss at resonance."""
        omega, zeta = self.omega, self.zeta
        p_re, p_im = self.w2 - omega * omega, 2.0 * zeta * omega
        # z = (i omega - root) tau vanishes at resonance; (i omega - conjugate root) never does
        sum_im = omega + r.damped_frequency
        sum_squared = zeta * zeta + sum_im * sum_im
        z_re = tau * (p_re * zeta + p_im * sum_im) / sum_squared
        z_im = tau * (p_im * zeta - p_re * sum_im) / sum_squared
        near = r.oscillates & (r.damped_frequency > 0.5 * omega) & (z_re * z_re + z_im * z_im < 0.06)

        a_re, a_im = jnp.where(near, z_re, 0.0), jnp.where(near, z_im, 0.0)
        e_re, e_im = 1.0 / math.factorial(_RESONANCE_TERMS) + jnp.zeros_like(tau), jnp.zeros_like(tau)
        for n in range(_RESONANCE_TERMS - 1, 0, -1):
            e_re, e_im = 1.0 / math.factorial(n) + e_re * a_re - e_im * a_im, e_re * a_im + e_im * a_re
        wave = r.damped_frequency * r.S
        n_re = tau * (r.C * e_re - wave * e_im) - r.S
        n_im = tau * (r.C * e_im + wave * e_re)
        near_re, near_im = (n_re * zeta + n_im * sum_im) / sum_squared, (n_im * zeta - n_re * sum_im) / sum_squared

        p_squared = jnp.where(near, 1.0, p_re * p_re + p_im * p_im)
        f_re, f_im = self.w2 * r.H - versine, sine - omega * r.S
        far_re, far_im = (f_re * p_re + f_im * p_im) / p_squared, (f_im * p_re - f_re * p_im) / p_squared
        g_re, g_im = omega * omega * r.H - versine, f_im - p_im * r.H
        less_re, less_im = (g_re * p_re + g_im * p_im) / p_squared, (g_im * p_re - g_re * p_im) / p_squared
        return (
            jnp.where(near, near_re, far_re),
            jnp.where(near, near_im, far_im),
            jnp.where(near, near_re - r.H, less_re),
            jnp.where(near, near_im, less_im),
        )

    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` [s] after `anchor` (see `segment.Segment`)."""
        alpha, omega, zeta, w2, one = self
        r = responses(zeta, w2, tau)
        C, S, H, frequency = settle(one, r.C, r.S, r.H, r.damped_frequency)
        r = _Responses(C, S, H, r.oscillates, frequency)
        sine, versine = chord(omega * tau)
        r_re, r_im, less_re, less_im = self._harmonic(tau, r, sine, versine)
        d = anchor.v * (r.S + 2.0 * zeta * r.H) + anchor.a * r.H + alpha * (anchor.cosine * less_im + anchor.sine * less_re)
        v = anchor.v * (r.C + zeta * r.S) + anchor.a * r.S + alpha * omega * (anchor.cosine * r_re - anchor.sine * r_im)
        d, v = settle(one, d, v)
        a = anchor.a + alpha * (anchor.cosine * sine - anchor.sine * versine) - 2.0 * zeta * (v - anchor.v) - w2 * d
        later_cosine = anchor.cosine * (1.0 - versine) - anchor.sine * sine
        later_sine = anchor.sine * (1.0 - versine) + anchor.cosine * sine
        jerk = alpha * omega * later_cosine - 2.0 * zeta * a - w2 * v
        snap = -alpha * omega**2 * later_sine - 2.0 * zeta * jerk - w2 * a
        crackle = -alpha * omega**3 * later_cosine - 2.0 * zeta * snap - w2 * jerk
        return Motion(d, v, a, jerk, snap, crackle)

    def first_reversal(self, anchor: Anchor, limit: Array, guess: Array) -> Reversal:
        """First zero of the velocity in (0, limit] (see `segment.Segment`), by `_Scan`."""
        return _scan(self, anchor, limit, guess)


class _Scan(NamedTuple):
    """Search for the first reversal, piece by piece.

    v divided by a positive free response is unimodal on a piece between two zeros of cos(omega t + phase) that is shorter than half
    the natural period: convex or concave against a stretched time, by the sign of the excitation's rate. On a concave piece with v > 0 at both
    ends v cannot vanish. On a convex one v lies above the free responses that are tangent to it at either end; where these stay
    positive it cannot vanish, and else the piece is cut short near its minimum.

    Attributes:
        low: start of the piece; v, a and the jerk there are low_v >= 0, low_a, low_jerk.
        high: end of the piece, where the motion is evaluated next.
        low_near_peak: True when the speed's maximum next to `low` is recorded.
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
    # tangents in (stretched time, v over free response), both scaled by their value at the start of the piece
    growth = jnp.exp(segment.zeta * length)
    stretch = 1.0 / (1.0 - discriminant * reach * reach)
    left_slope, right_slope = fall * stretch, rise * stretch * growth
    meet = (m.v * growth - s.low_v - 2.0 * reach * right_slope) / jnp.where(valley, left_slope - right_slope, -1.0)
    lowest = s.low_v + left_slope * meet
    where = s.low + length * jnp.clip((m.v - s.low_v - m.a * length) / jnp.where(valley, (s.low_a - m.a) * length, -1.0), 0.1, 0.9)
    return valley & ~(lowest > 0.0), where


def _scan(segment: Damped, anchor: Anchor, limit: Array, guess: Array) -> Reversal:
    """See `Damped.first_reversal` and `_Scan`."""
    alpha, omega, zeta, w2, one = segment
    rate = segment.rate
    discriminant = zeta * zeta - w2
    longest = jnp.minimum(2.0 / jnp.sqrt(jnp.where(discriminant < 0.0, -discriminant, 1e-300)), 300.0 / jnp.where(zeta > 0.0, zeta, 1e-300))

    def next_end(low: Array) -> Array:
        quarter = (anchor.angle + omega * low) / math.pi - 0.5
        zero_of_cosine = ((jnp.floor(quarter + 1e-9) + 1.5) * math.pi - anchor.angle) / omega
        return jnp.minimum(jnp.minimum(zero_of_cosine, low + longest), limit)

    def peak_from(m: Motion) -> tuple[Array, Array]:
        """Step [s] from a point to the nearby maximum of v, and whether it is trustworthy to second order in time."""
        slope = jnp.where(m.jerk < 0.0, m.jerk, -1e-300)
        h = -m.a / slope
        bend = h * m.snap / (2.0 * slope)
        step = h * (1.0 - bend)
        return step, (m.jerk < 0.0) & (jnp.abs(step) * rate < _PEAK) & (jnp.abs(bend) < _PEAK)

    def examine(s: _Scan) -> _Scan:
        m = segment.motion(anchor, s.high)
        length = s.high - s.low
        tiny = length * rate < 1e-7
        to_peak, at_peak = peak_from(m)
        (to_peak,) = settle(one, to_peak)

        # after a release v and a are both 0, and rising
        rising = (s.low_a > 0.0) | ((s.low_a == 0.0) & (s.low_v == 0.0))
        falls = m.a < 0.0
        crossed = (m.v <= 0.0) & ~(tiny & (s.low_v == 0.0))
        # a may dip below 0 and come back: its tangents at the ends say how deep at most
        dip = (m.a - s.low_a - m.jerk * length) / jnp.where(s.low_jerk < m.jerk, s.low_jerk - m.jerk, -1.0)
        dips = (s.low_jerk < 0.0) & (m.jerk > 0.0) & (s.low_a + s.low_jerk * dip < 0.0)
        peaked = rising & jnp.where(falls, ~at_peak & ~s.low_near_peak, crossed | dips) & ~tiny
        landing = s.high + to_peak
        between = s.low + length * jnp.where(falls, s.low_a / jnp.where(falls, s.low_a - m.a, 1.0), 0.5)
        peak_guess = jnp.where(falls & (landing > s.low) & (landing < s.high), landing, between)

        middle = (anchor.angle + omega * (s.low + 0.5 * length)) / math.pi + 0.5
        convex = alpha * (0.5 - (jnp.floor(middle) - 2.0 * jnp.floor(0.5 * middle))) > 0.0
        hidden, valley = _cut(segment, s, m)
        hides = convex & ~crossed & hidden & ~tiny
        peaked, hides, bracketed = decide(one, peaked, hides, crossed & ~peaked & ~hides)
        shortened = peaked | hides
        accepted = ~shortened & ~bracketed

        peak_time = jnp.clip(s.high + jnp.where(at_peak, to_peak, 0.0), 0.0, limit)
        peak_speed = m.v + jnp.where(at_peak, 0.5 * m.a * to_peak, 0.0)
        better = (peak_speed > s.top) & ~peaked
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
    s = jax.lax.while_loop(lambda s: ~s.done & (s.pieces < _MOST_PIECES), examine, first)
    low, high = jnp.where(s.stops, s.low, limit), jnp.where(s.stops, s.high, limit)
    root = falling_root(lambda tau: segment.motion(anchor, tau), low, high, guess, rate, one)
    tau = jnp.where(s.stops, root, limit)
    return Reversal(tau, s.stops, jnp.minimum(s.peak, tau))
