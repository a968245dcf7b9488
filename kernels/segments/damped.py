"""Segment of an oscillator with spring and damper, any k and c, through critical damping, resonance and k -> 0.

    x'' + 2 zeta x' + w2 x = b + alpha sin(omega t + phase) + ramp t        or a sum of such sines

The motion is written in increments from the anchor. The anchor's acceleration contains b and w2 x, so that no large terms cancel as k -> 0.
Every function is the response at rest to 1 (`H`), to an impulse (`S`), or to exp(i omega t) (`R`). Each has several forms, one of which is
accurate where another loses digits. Validated by tests/kernels/exact/test_rigid_friction.py against computation in 70 digits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.elementary import chord
from tribosweep.kernels.numerics.fusion import fusion_barrier, traced_once
from tribosweep.kernels.numerics.numbers import Array, by_width
from tribosweep.kernels.segments.interface import Anchor, Motion, Point
from tribosweep.kernels.segments.responses import Responses, lag_area, responses

_RESONANCE_TERMS = 12
_SHORT, _AREA_TERMS = 0.5, 18
_EARLY, _EARLY_TERMS = 2.5, 16


def over_sines(values: Array) -> Array:
    """The sum over the sines of an excitation; a scalar is returned as it is."""
    return values if values.ndim == 0 else jnp.sum(values, axis=-1)


def highest(omega: Array) -> Array:
    """The largest frequency; 0 without any sine."""
    return omega if omega.ndim == 0 else jnp.max(omega, axis=-1, initial=0.0)


class Course(NamedTuple):
    """What guards know of time itself.

    Attributes:
        time: since the anchor [s]. normal: growth of the normal force since the anchor [N], and its first three rates; None where it is
            constant.
    """

    time: Array
    normal: tuple[Array, Array, Array, Array] | None


def course(swing: Array | None, omega: Array, anchor: Anchor, tau: Array, at: tuple[Array, Array] | None = None) -> Course:
    """See `Damped.course`. The normal force is `swing` times the last sine of the excitation, of frequency `omega` [rad/s]."""
    if swing is None:
        return Course(tau, None)
    rate = omega[..., -1]
    sine, cosine = anchor.sine[..., -1], anchor.cosine[..., -1]
    if at is None:
        turned, versine = chord(rate * tau)
        grown = cosine * turned - sine * versine
        later, ahead = sine + grown, cosine - (cosine * versine + sine * turned)
    else:
        later, ahead = at[0][..., -1], at[1][..., -1]
        grown = later - sine
    return Course(tau, (swing * grown, swing * rate * ahead, -swing * rate**2 * later, -swing * rate**3 * ahead))


class Damped(NamedTuple):
    """Constants of one oscillator.

    Attributes:
        alpha: amplitude of the excitation over the mass [m/s^2], any sign; shape (n,) for several sines.
        omega: circular frequency of the excitation [rad/s], of the same shape.
        zeta: c / (2 m) [1/s], any sign.
        w2: k / m [1/s^2]; negative where the stiffness softens.
        ramp: rate of change of the load over the mass [m/s^3]; None if the load is constant, which costs less.
        pace: how often the ramp changes [1/s], a time scale where there is no other; None if it does not change.
        swing: amplitude of a normal force that varies with the last of several sines, as guards need it [N]; None where it is constant.
    """

    alpha: Array
    omega: Array
    zeta: Array
    w2: Array
    ramp: Array | None = None
    pace: Array | None = None
    swing: Array | None = None

    @property
    def rate(self) -> Array:
        """Sum of the rates of the motion [1/s]; of several sines the fastest counts."""
        own = highest(self.omega) + jnp.sqrt(jnp.abs(self.w2)) + 2.0 * jnp.abs(self.zeta)
        return own if self.pace is None else own + self.pace

    @traced_once
    def _harmonic(self, tau: Array, r: Responses, sine: Array, versine: Array) -> tuple[Array, Array, Array, Array]:
        """R, the response from rest to exp(i omega t), and R - H: real and imaginary parts, accurate at resonance."""
        omega, zeta = self.omega, self.zeta
        p_re, p_im = self.w2 - omega * omega, 2.0 * zeta * omega
        # z = (i omega - root) tau vanishes at resonance; (i omega - conjugate root) never does
        sum_im = omega + r.damped_frequency
        sum_squared = zeta * zeta + sum_im * sum_im
        z_re = tau * (p_re * zeta + p_im * sum_im) / sum_squared
        z_im = tau * (p_im * zeta - p_re * sum_im) / sum_squared
        near = r.oscillates & (r.damped_frequency > 0.5 * omega) & (z_re * z_re + z_im * z_im < 0.06)

        a_re, a_im = jnp.where(near, z_re, 0.0), jnp.where(near, z_im, 0.0)
        # the polynomial sum of z^n / (n + 1)! at z = a, by division by (z - a)(z - conjugate of a), whose coefficients are real (Knuth)
        twice, squared = fusion_barrier(2.0 * a_re, a_re * a_re + a_im * a_im)
        terms = by_width(tau, _RESONANCE_TERMS, 7)
        before, last = jnp.zeros_like(tau), 1.0 / math.factorial(terms) + jnp.zeros_like(tau)
        for n in range(terms - 1, 1, -1):
            before, last = last, 1.0 / math.factorial(n) + twice * last - squared * before
        e_re, e_im = 1.0 + a_re * last - squared * before, a_im * last
        e_re, e_im = fusion_barrier(e_re, e_im)
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

    @traced_once
    def _early(self, anchor: Anchor, tau: Array) -> tuple[Array, Array, Array]:
        """Whether `tau` is short, and displacement and velocity by Taylor series, accurate there where `state` loses digits in float32."""
        alpha, omega, zeta, w2 = self[:4]
        near = self.rate * tau < _EARLY
        h = jnp.where(near, tau, 0.0)
        # terms of d / tau, and derivatives of the excitation
        before, term, drive, push = anchor.v, 0.5 * anchor.a * h, alpha * h, (anchor.sine, anchor.cosine)
        d, v = before + term, before + 2.0 * term
        for n in range(1, _EARLY_TERMS):
            drive, push = drive * (omega * h / n), (push[1], -push[0])
            after = (drive * push[0] - (2.0 * (n + 1) * zeta * h) * term - (w2 * h * h) * before) / ((n + 2) * (n + 1))
            before, term = term, after
            d, v = d + term, v + (n + 2.0) * term
        return near, d * h, v

    def course(self, anchor: Anchor, tau: Array, at: tuple[Array, Array] | None = None) -> Course:
        """What guards know of time itself `tau` [s] after `anchor`; `at`: sine and cosine of the sines there, if they are known."""
        return course(self.swing, self.omega, anchor, tau, at)

    @traced_once
    def state(self, anchor: Anchor, tau: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Displacement since `anchor` [m], velocity and acceleration `tau` [s] after it, and sine and cosine of the excitation's angle."""
        alpha, omega, zeta, w2, ramp = self[:5]
        r = responses(zeta, w2, tau)
        C, S, H, frequency = fusion_barrier(r.C, r.S, r.H, r.damped_frequency)
        r = Responses(C, S, H, r.G, r.oscillates, frequency)
        sine, versine = chord(omega * tau)
        r_re, r_im, less_re, less_im = self._harmonic(tau, r, sine, versine)
        d = anchor.v * (r.S + 2.0 * zeta * r.H) + anchor.a * r.H + over_sines(alpha * (anchor.cosine * less_im + anchor.sine * less_re))
        v = anchor.v * (r.C + zeta * r.S) + anchor.a * r.S + over_sines(alpha * omega * (anchor.cosine * r_re - anchor.sine * r_im))
        drive = over_sines(alpha * (anchor.cosine * sine - anchor.sine * versine))
        if ramp is not None:
            d, v, drive = d + ramp * r.G, v + ramp * r.H, drive + ramp * tau
        if by_width(tau, 0.0, 1.0):
            near, near_d, near_v = self._early(anchor, tau)
            d, v = jnp.where(near, near_d, d), jnp.where(near, near_v, v)
        d, v = fusion_barrier(d, v)
        a = anchor.a + drive - 2.0 * zeta * (v - anchor.v) - w2 * d
        later_cosine = anchor.cosine * (1.0 - versine) - anchor.sine * sine
        later_sine = anchor.sine * (1.0 - versine) + anchor.cosine * sine
        return d, v, a, later_sine, later_cosine

    @traced_once
    def slopes(self, at: Point) -> tuple[Array, Array]:
        """Third and fourth derivative of the displacement [m/s^3], [m/s^4]."""
        jerk = over_sines(self.alpha * self.omega * at.cosine) - 2.0 * self.zeta * at.a - self.w2 * at.v
        jerk = jerk if self.ramp is None else jerk + self.ramp
        return jerk, over_sines(-self.alpha * self.omega**2 * at.sine) - 2.0 * self.zeta * jerk - self.w2 * at.a

    @traced_once
    def further_slopes(self, at: Point, slopes: tuple[Array, Array]) -> tuple[Array, Array, Array, Array]:
        """Derivatives of the displacement of order 5 to 8 [m/s^5 to m/s^8]. `slopes`: the two before them."""
        omega, damping = self.omega, 2.0 * self.zeta
        sine, cosine = self.alpha * at.sine, self.alpha * at.cosine
        x5 = over_sines(-(omega**3) * cosine) - damping * slopes[1] - self.w2 * slopes[0]
        x6 = over_sines(omega**4 * sine) - damping * x5 - self.w2 * slopes[1]
        x7 = over_sines(omega**5 * cosine) - damping * x6 - self.w2 * x5
        return x5, x6, x7, over_sines(-(omega**6) * sine) - damping * x7 - self.w2 * x6

    def point(self, anchor: Anchor, tau: Array) -> Point:
        """The motion `tau` [s] after `anchor`, with the integral of the displacement."""
        return Point(*self.state(anchor, tau), self.area(anchor, tau))

    @traced_once
    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` [s] after `anchor` (see `interface.Segment`)."""
        alpha, omega, zeta, w2, ramp = self[:5]
        d, v, a, later_sine, later_cosine = self.state(anchor, tau)
        jerk = over_sines(alpha * omega * later_cosine) - 2.0 * zeta * a - w2 * v + (0.0 if ramp is None else ramp)
        snap = over_sines(-alpha * omega**2 * later_sine) - 2.0 * zeta * jerk - w2 * a
        crackle = over_sines(-alpha * omega**3 * later_cosine) - 2.0 * zeta * snap - w2 * jerk
        return Motion(d, v, a, jerk, snap, crackle)

    @traced_once
    def area(self, anchor: Anchor, tau: Array) -> Array:
        """Integral of the displacement since `anchor` over the `tau` [s] after it [m s]: impulse of a spring over its stiffness."""
        alpha, omega, zeta, w2, ramp = self[:5]
        r = responses(zeta, w2, tau)
        sine, versine = chord(omega * tau)
        _, _, less_re, less_im = self._harmonic(tau, r, sine, versine)
        harmonic = anchor.cosine * (-less_re / omega) + anchor.sine * (less_im / omega - r.G)
        far = anchor.v * (r.H + 2.0 * zeta * r.G) + anchor.a * r.G + over_sines(alpha * harmonic)
        far = far if ramp is None else far + ramp * lag_area(zeta, w2, tau, r)
        # over short times the parts cancel but the Taylor series converges: d = sum of c_n tau^n, its mean has terms c_n tau^n / (n + 1)
        near = self.rate * tau < _SHORT
        h = jnp.where(near, tau, 0.0)
        before, term = anchor.v * h, 0.5 * anchor.a * h * h
        total = before / 2.0 + term / 3.0
        push = (anchor.sine, anchor.cosine)
        drive = 0.5 * alpha * h * h
        for n in range(1, _AREA_TERMS):
            drive = drive * omega * h / (n + 2)
            push = (push[1], -push[0])
            forced = over_sines(drive * push[0])
            forced = forced + ramp * h**3 / 6.0 if n == 1 and ramp is not None else forced
            before, term = term, forced - (2.0 * zeta * h * (n + 1) * term + self.w2 * h * h * before) / ((n + 2) * (n + 1))
            total = total + term / (n + 3)
        return jnp.where(near, total * h, far)
