"""Viscoelastic link: Maxwell branches side by side, each a spring in series with a dashpot.

The spring of a branch has the force f and the stiffness K, and its dashpot, at the velocity s', has the force C |s'|^alpha sgn(s'):

    f' = K (v - s'),   s' = (|f| / C)^(1/alpha) sgn(f)

Beside k one branch is the standard linear solid (Zener), several are the generalised Maxwell solid. With alpha = 1 a branch is advanced in
closed form along the way of the mass. Otherwise relaxation, which has a closed form, alternates with the stretch of the spring (Strang
splitting of order 2, raised to 4 by Richardson's extrapolation of one and two parts); neither is unstable however short the relaxation.

Source: behaviour DIS_VISC of Code_Aster (SDND107, V5.01.107), whose k1 in series with k2 beside k3 and a dashpot is k and one branch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.link_law import LinkLaw, Travel
from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.numerics.numbers import Array, by_width

_TERMS = 19  # of the series below z = 1, whose last term is below 1e-17
_LEAST = 1e-8  # 1/alpha - 1 below which the relaxation counts as exponential


class _Numbers(NamedTuple):
    stiffness: Array
    damping: Array
    power: Array | None


class Maxwell(_Numbers, LinkLaw):
    """Maxwell branches.

    Attributes:
        stiffness: of the springs (n,) [N/m], 0 where a row has fewer branches. damping: of the dashpots (n,) [N (s/m)^alpha].
        power: 1/alpha; None where all dashpots are linear.
    """

    @classmethod
    def of(cls, p: dict[str, Any]) -> Maxwell:
        """The law of resolved parameters."""
        stiffness, damping = p["maxwell_stiffness"], p["maxwell_damping"]
        real = ~(jnp.isnan(stiffness) | jnp.isnan(damping))
        power = 1.0 / p["maxwell_exponent"] if "maxwell_exponent" in p else None
        return cls(jnp.where(real, stiffness, 0.0), jnp.where(real, damping, 1.0), power)

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return (jnp.sum(self.stiffness / self.damping), *(() if self.power is None else (self.power,)))

    def at_start(self, x: Array) -> Array:
        """The forces of the branches (n,) [N] at t = 0: their dashpots have not moved."""
        return self.stiffness * x

    def along(self, state: Array, travel: Travel) -> Array:
        """The forces (n,) [N] at the end of a way."""
        path = travel.path
        if self.power is None:
            return self._linear(state, path)
        whole = self._split(state, path)
        halves = self._split(self._split(state, path.part(0.0, 0.5)), path.part(0.5, 1.0))
        return (4.0 * halves - whole) / 3.0

    def force(self, state: Array, x: Array, v: Array) -> Array:  # noqa: ARG002 (the forces are the state)
        """Restoring force [N]."""
        return jnp.sum(state)

    def dissipated(self, before: Array, travel: Travel, after: Array) -> Array:
        """Work on the branches less the growth of the energy of their springs [J].

        The work of linear dashpots is a closed form where a force relaxes within the way. Else it is Simpson's rule, which sees a force at
        the ends and in the middle of the way alone: with dashpots of a power law steps must be short beside the relaxation.
        """
        path = travel.path
        middle = self.along(before, travel.part(0.0, 0.5))
        work = self._linear_work((before, middle, after), path) if self.power is None else _simpson((before, middle, after), path)
        springs = jnp.where(self.stiffness > 0.0, self.stiffness, 1.0)
        return jnp.sum(work) - 0.5 * jnp.sum((after * after - before * before) / springs)

    def _linear_work(self, forces: tuple[Array, Array, Array], path: Path) -> Array:
        """Work on each branch (n,) [J] under a velocity that is a parabola in time, from its forces at u = 0, 1/2 and 1.

        With the fraction u of the way, the pace p = a + b u + c u^2 and f' = K p - z f, z = K h / C: for each w(u) the integral of f w
        is (K int p w - [f w] + int f w') / z. So that of f p follows from that of f p', and this from that of f. Below z = 0.1 the work on
        the spring alone is a closed form, and Simpson's rule takes what the dashpot takes off.
        """
        f, middle, after = forces
        z = path.h * self.stiffness / self.damping
        fast = z > by_width(z, 0.1, 1.0)  # below, these quotients lose digits
        over = 1.0 / jnp.where(fast, z, 1.0)
        a, b, c = path.pace(0.0), -4.0 * path.early - 2.0 * path.late, 3.0 * (path.early + path.late)
        last = path.pace(1.0)
        square = a * a + a * b + (b * b + 2.0 * a * c) / 3.0 + 0.5 * b * c + 0.2 * c * c
        plain = (self.stiffness * path.slid - (after - f)) * over
        sloping = (0.5 * self.stiffness * (last * last - a * a) - (after * (b + 2.0 * c) - f * b) + 2.0 * c * plain) * over
        eased = (jnp.zeros_like(f), middle - f - self.stiffness * path.place(0.5), after - f - self.stiffness * path.slid)
        slow = path.slid * (f + 0.5 * self.stiffness * path.slid) + _simpson(eased, path)
        return jnp.where(fast, (self.stiffness * square - (after * last - f * a) + sloping) * over, slow)

    def _linear(self, f: Array, path: Path) -> Array:
        """Closed form under a velocity that is a parabola in time."""
        z = jnp.maximum(path.h * self.stiffness / self.damping, -1.0)  # backwards in time (De Vogelaere's start) it does not grow for ever
        decay, (zeroth, first, second) = _moments(z)
        steady = path.slid + path.late
        linear, square = -2.0 * path.early - 4.0 * path.late, 3.0 * (path.early + path.late)
        return f * decay + self.stiffness * (steady * zeroth + linear * first + square * second)

    def _split(self, f: Array, path: Path) -> Array:
        """Half of the relaxation, the stretch, and the other half."""
        return self._relaxed(self._relaxed(f, 0.5 * path.h) + self.stiffness * path.slid, 0.5 * path.h)

    def _relaxed(self, f: Array, time: Array) -> Array:
        """Forces after a time [s] at a constant length: |f| (1 + q y)^(-1/q) with q = 1/alpha - 1 and y = K t |f|^q / C^(1/alpha)."""
        power = self.power if self.power is not None else jnp.ones_like(time)
        q = jnp.maximum(power - 1.0, _LEAST)
        moves = (f != 0.0) & (time > 0.0) & (self.stiffness > 0.0)
        size = jnp.where(moves, jnp.abs(f), 1.0)
        pace = jnp.where(moves, self.stiffness * time, 1.0)
        grown = jnp.log(q) + jnp.log(pace) + q * jnp.log(size) - (q + 1.0) * jnp.log(self.damping)
        return jnp.where(moves, f * jnp.exp(-jnp.logaddexp(grown, 0.0) / q), f)


def _simpson(forces: tuple[Array, Array, Array], path: Path) -> Array:
    """Work [J] of forces at the beginning, in the middle and at the end of a way."""
    first, middle, last = (force * path.pace(u) for force, u in zip(forces, (0.0, 0.5, 1.0), strict=True))
    return (first + 4.0 * middle + last) / 6.0


def _moments(z: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    """exp(-z), and the integrals of exp(-z s) s^n over s from 0 to 1 for n = 0, 1, 2; z >= -1."""
    decay = jnp.exp(-z)
    near, far = jnp.where(z < 1.0, z, 0.0), jnp.where(z < 1.0, 1.0, z)
    series, term = jnp.zeros_like(z), jnp.ones_like(z)
    for j in range(_TERMS):
        series = series + term / (3.0 + j)
        term = -term * near / (1.0 + j)
    first = 0.5 * (near * series + decay)
    zeroth = near * first + decay
    last = jnp.exp(-far)
    far_zeroth = (1.0 - last) / far
    far_first = (far_zeroth - last) / far
    far_second = (2.0 * far_first - last) / far
    pairs = ((zeroth, far_zeroth), (first, far_first), (series, far_second))
    small, big, least = (jnp.where(z < 1.0, *pair) for pair in pairs)
    return decay, (small, big, least)
