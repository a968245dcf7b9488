"""Bounds of the motion ahead of an instant, from its present derivatives: how large derivatives of high order may become over a stretch.

The motion is the response to the excitation, whose derivatives are bounded by its amplitude, and a free motion, the norm of which falls, or
grows at a known rate. Near resonance the response is regularised: it answers a part of the excitation, and the rest drives the free motion.
A strongly damped free motion has a fast and a slow part; the slow one counts as response.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.law import Guard
from tribosweep.kernels.numerics.fusion import traced_once
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.damped import Damped, highest, over_sines
from tribosweep.kernels.segments.interface import Point
from tribosweep.kernels.segments.series import LENGTH

_FAR_APART = 10.0  # zeta over the natural frequency above which damping is strong
FLOOR = 1e-13  # shortest stretch, over the shortest time scale of the motion; a guard that is zero to rounding over it only grazes


class Pace(NamedTuple):
    """The time scales of a segment.

    Attributes:
        omega: of the excitation, 0 where it is absent [1/s]. reach: longest stretch of the series [s].
        shortest: see `FLOOR` [s]. growth: rate at which free motion may grow [1/s].
    """

    omega: Array
    reach: Array
    shortest: Array
    growth: Array


@traced_once
def pace_of(segment: Damped) -> Pace:
    """The time scales of a segment (scalars)."""
    heard = segment.alpha != 0.0
    if segment.swing is not None:  # guards hear the last sine even where it does not push the mass
        heard = heard.at[..., -1].set(heard[..., -1] | (segment.swing != 0.0))
    omega = jnp.where(heard, segment.omega, 0.0)
    own, friction = jnp.sqrt(jnp.abs(segment.w2)), 2.0 * jnp.abs(segment.zeta)
    fastest = jnp.maximum(jnp.maximum(highest(omega), own), friction)
    growth = jnp.sqrt(jnp.maximum(-segment.w2, 0.0)) + 2.0 * jnp.maximum(-segment.zeta, 0.0)
    reach = LENGTH / jnp.maximum(fastest, 1e-300)
    reach = jnp.minimum(reach, 1.0 / jnp.maximum(growth, 1e-300))
    return Pace(omega, reach, FLOOR / segment.rate, growth)


class Decay(NamedTuple):
    """The rates at which the free motion decays [1/s] where `strong` damping sets them far apart; else 0 and 1."""

    strong: Array
    slow: Array
    fast: Array


@traced_once
def decay_of(segment: Damped) -> Decay:
    """The rates at which the free motion of a segment decays (scalars)."""
    zeta, w2 = segment.zeta, segment.w2
    strong = (zeta > 0.0) & (w2 >= 0.0) & (zeta * zeta > _FAR_APART**2 * w2)
    fast = jnp.where(strong, zeta + jnp.sqrt(jnp.where(strong, zeta * zeta - w2, 0.0)), 1.0)
    return Decay(strong, jnp.where(strong, w2 / fast, 0.0), fast)


class Bounds(NamedTuple):
    """Upper bounds of derivatives of the displacement over a stretch (scalars): of order 6, 7 and 8 [m/s^6], [m/s^7], [m/s^8]."""

    sixth: Array
    seventh: Array
    eighth: Array

    def of(self, guard: Guard) -> Array:
        """Upper bound of the sixth derivative of a guard."""
        return jnp.abs(guard.on_d) * self.sixth + jnp.abs(guard.on_v) * self.seventh + jnp.abs(guard.on_a) * self.eighth


class Slow(NamedTuple):
    """The motion without its free part, at one instant; all numbers are scalars.

    Attributes:
        motion: displacement since the anchor [m] (about which the free motion swings) and four derivatives [m/s to m/s^4]. swing: upper
            bounds of the free motion [m], its velocity [m/s] and its acceleration [m/s^2] from there on; infinite where they grow or have
            no equilibrium.
        bounds: of the derivatives of order 6, 7 and 8 [m/s^6 to m/s^8] of the slow part of a strongly damped free motion, from there on;
            0 of any other. fast_velocity: that of its fast part [m/s].
    """

    motion: tuple[Array, ...]
    swing: tuple[Array, Array, Array]
    bounds: Bounds
    fast_velocity: Array

    def swing_of(self, guard: Guard) -> Array:
        """Upper bound of the free motion in a guard."""
        return jnp.abs(guard.on_d) * self.swing[0] + jnp.abs(guard.on_v) * self.swing[1] + jnp.abs(guard.on_a) * self.swing[2]


class Response(NamedTuple):
    """The response of a segment to its excitation, regularised near resonance; `left` is the share of the excitation that it leaves out."""

    re: Array
    im: Array
    left: Array


@traced_once
def response_of(segment: Damped) -> Response:
    """The response of a segment, one number for each of its sines."""
    omega, zeta, w2 = segment.omega, segment.zeta, segment.w2
    p_re, p_im = w2 - omega * omega, 2.0 * zeta * omega
    spared = jnp.where(decay_of(segment).strong, 0.0, 0.1 * omega**4)  # strong damping leaves no resonance
    by_size = 1.0 / (p_re * p_re + p_im * p_im + spared)
    return Response(p_re * by_size, -p_im * by_size, spared * by_size)


def _turned(response: Response, at: Point) -> tuple[Array, Array]:
    """The response to each sine of amplitude 1 at an instant, and its derivative by the angle; a displacement is alpha times that [s^2]."""
    return response.re * at.sine + response.im * at.cosine, response.re * at.cosine - response.im * at.sine


@traced_once
def bounds_of(segment: Damped, pace: Pace, response: Response, at: Point, x: tuple[Array, ...], h: Array) -> tuple[Bounds, Bounds]:
    """Bounds over the `h` [s] after an instant, with and without the free motion. `x`: derivatives of order 5 to 8 at that instant."""
    omega, w2, size = pace.omega, jnp.abs(segment.w2), jnp.abs(segment.alpha)
    q_s, q_c = (segment.alpha * part for part in _turned(response, at))
    squared = omega * omega
    fourth, answer = squared * squared, size * jnp.sqrt(response.re * response.re + response.im * response.im)
    sixth, eighth = fourth * squared, fourth * fourth
    free = (
        x[0] - over_sines(omega * fourth * q_c),
        x[1] + over_sines(sixth * q_s),
        x[2] + over_sines(omega * sixth * q_c),
        x[3] - over_sines(eighth * q_s),
    )
    grown = jnp.where(pace.growth > 0.0, jnp.e, 1.0)
    slow = Bounds(over_sines(sixth * answer), over_sines(sixth * omega * answer), over_sines(eighth * answer))
    rest = response.left * size * h

    def energy(n: int, push: Array) -> Array:
        return (jnp.sqrt(free[n] * free[n] + w2 * (free[n - 1] * free[n - 1])) + over_sines(push)) * grown

    near = Bounds(
        slow.sixth + energy(1, rest * omega * fourth),
        slow.seventh + energy(2, rest * sixth),
        slow.eighth + energy(3, rest * sixth * omega),
    )
    return near, slow


@traced_once
def slow_of(segment: Damped, pace: Pace, response: Response, at: Point, h: Array) -> Slow:
    """The motion without its free part, or without the fast part of a strongly damped free motion."""
    omega, zeta, w2 = pace.omega, segment.zeta, segment.w2
    decay = decay_of(segment)
    swings = (w2 > 0.0) & (zeta >= 0.0)
    stiffness = jnp.where(swings, w2, 1.0)
    q_s, q_c = (segment.alpha * part for part in _turned(response, at))
    ramp = jnp.zeros_like(zeta) if segment.ramp is None else segment.ramp
    moving = jnp.where(decay.strong, 0.0, ramp / stiffness)  # velocity of the equilibrium under a ramp
    q1, q2, q3, q4 = (
        over_sines(omega * q_c) + moving, over_sines(-(omega**2) * q_s), over_sines(-(omega**3) * q_c), over_sines(omega**4 * q_s),
    )  # fmt: skip
    speed, push = at.v - q1, at.a - q2
    away = -(push + 2.0 * zeta * speed) / stiffness
    # what the response leaves out drives the free motion from here on, and moves its equilibrium here and at the end of the stretch
    rest = over_sines(response.left * jnp.abs(segment.alpha))
    swing = jnp.sqrt(away * away + speed * speed / stiffness) + rest * (h / jnp.sqrt(stiffness) + 2.0 / stiffness)
    swing = jnp.where(swings, swing, jnp.inf)
    faster = jnp.sqrt(stiffness) * swing
    # the fast part has the velocity `fast_velocity`; the slow part, under a ramp, the other one and the acceleration `slide`
    ramped = ramp / decay.fast  # what a ramp adds to the acceleration of the slow part
    fast_velocity = (ramped - push - decay.slow * speed) / (decay.fast - decay.slow)
    slide = jnp.where(decay.strong, ramped - decay.slow * (speed - fast_velocity), 0.0)
    split = at.d + fast_velocity / decay.fast, q1 + speed - fast_velocity, q2 + slide, q3 - decay.slow * slide, q4 + decay.slow**2 * slide
    size = jnp.abs(fast_velocity)

    def chosen(strong: Array, other: Array) -> Array:
        return jnp.where(decay.strong, strong, other)

    return Slow(
        tuple(map(chosen, split, (at.d - away, q1, q2, q3, q4))),
        (
            chosen(size / decay.fast, swing),
            chosen(size, faster),
            chosen(decay.fast * size, 2.0 * zeta * faster + stiffness * swing + rest),
        ),
        Bounds(*(decay.slow**order * jnp.abs(slide) for order in (4, 5, 6))),
        fast_velocity,
    )


@traced_once
def eased(segment: Damped, pace: Pace, response: Response, at: Point, fast_velocity: Array) -> Point:
    """A point of a strongly damped motion whose acceleration is no difference of large forces. `fast_velocity`: see `Slow`, there."""
    omega, decay = pace.omega, decay_of(segment)
    on_s, on_c = _turned(response, at)
    q1, q2 = over_sines(omega * segment.alpha * on_c), over_sines(-(omega**2) * segment.alpha * on_s)
    ramp = 0.0 if segment.ramp is None else segment.ramp / decay.fast
    a = q2 + ramp - decay.slow * (at.v - q1 - fast_velocity) - decay.fast * fast_velocity
    return at._replace(a=jnp.where(decay.strong, a, at.a))
