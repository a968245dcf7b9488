"""Two bodies that collide, treated as one: the relative motion of a body and of a second body that carries the wall.

    m x_1'' = f - k x_1 - c x_1' - F        m_2 x_2'' = -k_2 x_2 - c_2 x_2' + F

k_2 and c_2 are not parameters: k_2 / m_2 = k / m and c_2 / m_2 = c / m. Then the relative displacement x = x_1 - x_2 and the centre of mass
are uncoupled. The relative motion is that of one body of mass m m_2 / (m + m_2) against the wall. An infinite m_2 is a wall on the support.
A base acceleration acts on both bodies equally and hence not on their relative motion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.excitation.multi_tone import Driven, Excitation
from kernels.numerics.elementary import sincos
from kernels.numerics.numbers import Array
from kernels.segments.damped import Damped
from kernels.segments.interface import Anchor


class Centre(NamedTuple):
    """The centre of mass of two bodies.

    Attributes:
        x, v: displacement [m] and velocity [m/s] at t = 0. base: amplitude of the base acceleration [m/s^2]. All 0 if the wall stands on
            the support.
        first, second: share of each body in the relative motion; 1 and 0 if the wall stands on the support.
    """

    x: Array
    v: Array
    base: Array
    first: Array
    second: Array

    def bodies(self, p: dict[str, Any], excitation: Excitation, x: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Displacement [m] and velocity [m/s] of the first and of the second body at the end, from x and v of the relative motion.

        Args:
            p: parameters of the relative motion. excitation: the force in its equation.
        """
        if isinstance(excitation, Driven):  # never with two bodies
            return x, v, 0.0 * x, 0.0 * v
        # the centre of mass has the excitation f / (m + m_2); `excitation` and p["m"] hold f and m, both times m_2 / (m + m_2)
        amplitude = excitation.amplitude / p["m"] * self.second - self.base
        zero = jnp.zeros_like(amplitude)
        angle = excitation.phase + zero
        sine, cosine = sincos(angle)
        zeta, w2 = 0.5 * p["c"] / p["m"] + zero, p["k"] / p["m"] + zero
        a = amplitude * sine + excitation.load / p["m"] * self.second - 2.0 * zeta * self.v - w2 * self.x
        segment = Damped(amplitude, p["omega"] + zero, zeta, w2)
        moved = segment.motion(Anchor(self.v + zero, a, angle, sine, cosine), p["end"] + zero)
        centre_x, centre_v = self.x + moved.d, moved.v
        return centre_x + self.first * x, centre_v + self.first * v, centre_x - self.second * x, centre_v - self.second * v


def relative(p: dict[str, Any]) -> tuple[dict[str, Any], Centre]:
    """Parameters of the relative motion from the resolved ones (scalars; unchanged if m_2 is infinite), and the centre of mass."""
    ratio = p["m"] / p["m_2"]
    first = 1.0 / (1.0 + ratio)  # also the reduced mass over m
    pair = jnp.isfinite(p["m_2"])
    centre = Centre(
        jnp.where(pair, (ratio * p["x0"] + p["x0_2"]) * first, 0.0),
        jnp.where(pair, (ratio * p["v0"] + p["v0_2"]) * first, 0.0),
        jnp.where(pair, p.get("a0", 0.0), 0.0),
        first,
        jnp.where(pair, ratio * first, 0.0),
    )
    scaled: dict[str, Any] = {name: p[name] * first for name in ("m", "k", "c", "f0", "load") if name in p}
    shaken = {"a0": jnp.where(pair, 0.0, p["a0"])} if "a0" in p else {}
    return {**p, **scaled, "x0": p["x0"] - p["x0_2"], "v0": p["v0"] - p["v0_2"], **shaken}, centre
