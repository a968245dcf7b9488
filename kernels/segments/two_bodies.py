"""Two bodies that collide, treated as one: the relative motion of a body and of a second body that carries the wall.

    m x_1'' = f - k x_1 - c x_1' - F        m_2 x_2'' = -k_2 x_2 - c_2 x_2' + F

k_2 and c_2 are not parameters: k_2 / m_2 = k / m and c_2 / m_2 = c / m. Then the relative displacement x = x_1 - x_2 and the centre of mass
are uncoupled. The relative motion is that of one body of mass m m_2 / (m + m_2) against the wall. An infinite m_2 is a wall on the support.
A base acceleration, be it of sines, of a record or of a pulse, acts on both bodies equally and hence not on their relative motion.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.excitation.multi_tone import Driven, Excitation, excitation_of
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.numerics.fusion import for_every_lane
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.damped import Damped, over_sines
from tribosweep.kernels.segments.interface import Anchor

_FORCES = ("f0", "load", "table_scale", "pulse_f0")  # on the first body
_ACCELERATIONS = ("a0", "tone_a0", "record_scale", "pulse_a0")  # of the base


class Centre(NamedTuple):
    """The centre of mass of two bodies.

    Attributes:
        x, v: displacement [m] and velocity [m/s] at t = 0.
        excitation: of an oscillator of mass 1 that moves as the centre does [m/s^2]; a frequency that changes is never of two bodies.
            All 0 if the wall stands on the support.
        first, second: share of each body in the relative motion; 1 and 0 if the wall stands on the support.
    """

    x: Array
    v: Array
    excitation: Excitation
    first: Array
    second: Array

    def bodies(self, p: dict[str, Any], x: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Displacement [m] and velocity [m/s] of the first and of the second body at the end, from x and v of the relative motion.

        Args:
            p: parameters of the relative motion.
        """
        zeta, w2 = 0.5 * p["c"] / p["m"], p["k"] / p["m"]
        x0, zero = self.x + 0.0 * x, jnp.zeros_like(p["end"] + 0.0 * x)
        if isinstance(self.excitation, Driven) and self.excitation.pieces:
            centre_x, centre_v = self._in_pieces(self.excitation, p["end"] + zero, zeta, w2)
        else:
            alpha, omega = self.excitation.amplitude, self.excitation.omega
            anchor = self._anchor(zero, x0, self.v, alpha, self.excitation.load, (zeta, w2))
            moved = Damped(alpha, omega + 0.0 * alpha, zeta, w2).motion(anchor, p["end"] + zero)
            centre_x, centre_v = x0 + moved.d, moved.v
        return centre_x + self.first * x, centre_v + self.first * v, centre_x - self.second * x, centre_v - self.second * v

    def _anchor(self, t: Array, x: Array, v: Array, alpha: Array, pushed: Array, rates: tuple[Array, Array]) -> Anchor:
        """The centre at a time [s], where sines of these amplitudes and beside them `pushed` accelerate it [m/s^2]; `rates`: zeta, w2."""
        angle = self.excitation.omega * t + self.excitation.phase + 0.0 * alpha
        sine, cosine = sincos(angle)
        return Anchor(v, over_sines(alpha * sine) + pushed - 2.0 * rates[0] * v - rates[1] * x, angle, sine, cosine)

    def settled(self, p: dict[str, Any]) -> Centre:
        """The centre of mass at the start of a period of its steady motion under one sine.

        Without spring nothing holds the centre: by convention it is where it was at t = 0. Without damper it keeps the velocity that it had
        then, or, on a spring, a free oscillation, which is left out.

        Args:
            p: parameters of the relative motion.
        """
        excitation = self.excitation
        alpha, load = excitation.amplitude, excitation.load
        rate, w2, omega = p["c"] / p["m"], p["k"] / p["m"], excitation.omega
        spring, damper = w2 > 0.0, rate > 0.0
        detuned, damped = w2 - omega * omega, rate * omega
        square = detuned * detuned + damped * damped
        response = jnp.where(square > 0.0, alpha / jnp.where(square > 0.0, square, 1.0), 0.0)  # 0 in an undamped resonance, which grows
        sine, cosine = sincos(excitation.phase + 0.0 * alpha)
        x = response * (detuned * sine - damped * cosine) + load / jnp.where(spring, w2, 1.0)
        v = omega * response * (detuned * cosine + damped * sine) + jnp.where(spring, 0.0, load / jnp.where(damper, rate, 1.0))
        return self._replace(x=jnp.where(spring, x, self.x), v=jnp.where(spring | damper, v, self.v))

    def _in_pieces(self, excitation: Driven, end: Array, zeta: Array, w2: Array) -> tuple[Array, Array]:
        """Displacement [m] and velocity [m/s] of the centre at the end [s], from piece to piece of the forces that are linear in each."""
        piecewise = excitation.pieces
        last = jnp.where(self.second > 0.0, end, 0.0)

        def piece(carry: tuple[Array, Array, Array, tuple[Array, ...]]) -> tuple[Array, Array, Array, tuple[Array, ...]]:
            t, x, v, numbers = carry
            ends = [each.until(number) for each, number in zip(piecewise, numbers, strict=True)]
            until = functools.reduce(jnp.minimum, ends, last)
            alpha = excitation.amplitudes(numbers)
            forces = [each.force(number, t) for each, number in zip(piecewise, numbers, strict=True)]
            slope = functools.reduce(operator.add, [each.slope(number) for each, number in zip(piecewise, numbers, strict=True)])
            lasts = jax.lax.stop_gradient(until - t)
            pace = 1.0 / jnp.where(lasts > 0.0, lasts, 1.0)
            anchor = self._anchor(t, x, v, alpha, sum(forces, start=excitation.load), (zeta, w2))
            m = Damped(alpha, excitation.omega + 0.0 * alpha, zeta, w2, slope, pace).motion(anchor, until - t)
            passed = zip(piecewise, numbers, ends, strict=True)
            return until, x + m.d, m.v, tuple(jnp.where(stop <= until, each.after(number), number) for each, number, stop in passed)

        zero = jnp.zeros_like(end)
        start = (zero, self.x + zero, self.v + zero, tuple(each.begin() + zero for each in piecewise))
        first = for_every_lane(start, end, last)
        _, x, v, _ = jax.lax.while_loop(lambda carry: carry[0] < last, piece, first)
        return x, v


def relative(p: dict[str, Any]) -> tuple[dict[str, Any], Centre]:
    """Parameters of the relative motion from the resolved ones (scalars; unchanged if m_2 is infinite), and the centre of mass."""
    ratio = p["m"] / p["m_2"]
    first = 1.0 / (1.0 + ratio)  # also the reduced mass over m
    pair = jnp.isfinite(p["m_2"])
    second = jnp.where(pair, ratio * first, 0.0)
    own = {**p, "m": jnp.ones_like(p["m"])}
    own |= {name: p[name] * (second / p["m"]) for name in _FORCES if name in p}
    own |= {name: jnp.where(pair | jnp.isnan(p[name]), p[name], 0.0) for name in _ACCELERATIONS if name in p}  # NaN pads tones
    centre = Centre(
        jnp.where(pair, (ratio * p["x0"] + p["x0_2"]) * first, 0.0),
        jnp.where(pair, (ratio * p["v0"] + p["v0_2"]) * first, 0.0),
        excitation_of(own, by_events=True),
        first,
        second,
    )
    scaled: dict[str, Any] = {name: p[name] * first for name in ("m", "k", "c", *_FORCES) if name in p}
    shaken = {name: jnp.where(pair & ~jnp.isnan(p[name]), 0.0, p[name]) for name in _ACCELERATIONS if name in p}
    return {**p, **scaled, "x0": p["x0"] - p["x0_2"], "v0": p["v0"] - p["v0_2"], **shaken}, centre
