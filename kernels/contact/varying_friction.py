"""Penalised friction that is not the same at all times and speeds: on a support whose normal force varies, by Stribeck's law, on a belt.

Each of the three is part of the law or is not, as a run's parameters name it (compile-time), so that runs without it do nothing for it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.contact.coulomb import UNMOVED, Grip, Penalised
from kernels.excitation.harmonic import Harmonic, wrap
from kernels.numerics.elementary import asin, exp, log
from kernels.numerics.numbers import Array

_NO_SPEED = 2.0**-100  # of the Stribeck speed
_AT_ZERO = 1e-9  # rad, from a zero of the normal force
# `Grip.way` while the mass is off its support: positive once it has slipped. Its product with another is below that of `BRIEFLY`
AWAY = 2.0**-110


class Pressing(NamedTuple):
    """Normal force that varies in time, n(t) = n0 + n1 sin(omega_n t + phase_n).

    On one surface F_n = max(0, n): contact is lost where n <= 0. Between two surfaces F_n = |n|: one or the other is pressed.

    Attributes:
        swing: n(t) [N] as a harmonic force. sides: 1 or 2 surfaces.
    """

    swing: Harmonic
    sides: Array

    @classmethod
    def of(cls, p: dict[str, Any]) -> Pressing:
        """The normal force of resolved parameters (scalars)."""
        return cls(Harmonic(p["normal_amplitude"], p["normal_omega"], p["normal_phase"], p["normal_force"]), p["friction_sides"])

    def contact(self, n: Array) -> Array:
        """F_n [N] where the swing is n [N]."""
        return jnp.where(self.sides > 1.0, jnp.abs(n), jnp.maximum(n, 0.0))

    def until_zero(self, time: Array) -> Array:
        """How long it is from a time [s] until n is 0 [s], inf where it never is; a zero at that very time is passed over."""
        swing = self.swing
        crosses = jnp.abs(swing.amplitude) > jnp.abs(swing.load)
        level = asin(jnp.where(crosses, -swing.load / jnp.where(crosses, swing.amplitude, 1.0), 0.0))
        seen = swing.omega * time + swing.phase + _AT_ZERO
        turn = _AT_ZERO + jnp.minimum(wrap(level - seen), wrap(math.pi - level - seen))
        return jnp.where(crosses, turn / swing.omega, jnp.inf)


class Stribeck(NamedTuple):
    """How far the coefficient of friction is from the dynamic to the static one, exp(-(|v| / speed)^exponent).

    Attributes:
        speed: Stribeck speed [m/s]. exponent: 2 for a Gaussian, None for 1, with which the law is mostly written.

    Source: Stribeck (1902), in the form of Bo and Pavelescu (1982), Wear 82, 277-289.
    """

    speed: Array
    exponent: Array | None

    def weight(self, v: Array) -> Array:
        """The weight of the static coefficient at a slip velocity [m/s], 1 at v = 0."""
        ratio = jnp.abs(v) / self.speed
        if self.exponent is None:
            return exp(-ratio)
        moves = ratio > _NO_SPEED  # the logarithm of 0 has no derivative
        return jnp.where(moves, exp(-exp(self.exponent * log(jnp.where(moves, ratio, 1.0)))), 1.0)


class Varied(NamedTuple):
    """Penalised friction (see `friction.Penalised`) whose limits are those of an instant and of a slip speed.

        |T| <= mu_s F_n(t) where it holds,   T = -mu(v) F_n(t) sign(v) where it slips

    Attributes:
        mu_s, mu_d: coefficients of friction. normal_force: F_n where it does not vary [N].
        k_t, c_t: tangential stiffness [N/m] and damping [N s/m].
        pressing: normal force that varies; None where it does not. stribeck: None where mu(v) = mu_d.
        belt: velocity of the support [m/s], v being that of the mass less it; None where it rests.
    """

    mu_s: Array
    mu_d: Array
    normal_force: Array
    k_t: Array
    c_t: Array
    pressing: Pressing | None
    stribeck: Stribeck | None
    belt: Array | None

    @classmethod
    def of(cls, p: dict[str, Any]) -> Varied:
        """The law of resolved parameters (scalars), with those of its three parts that are among them."""
        any_stiffness = jnp.isinf(p["k_t"]) & (p["mu_s"] == 0.0)
        return cls(
            p["mu_s"],
            p["mu_d"],
            p["normal_force"],
            jnp.where(any_stiffness, 1.0, p["k_t"]),
            jnp.where(any_stiffness, 0.0, p["c_t"]),
            Pressing.of(p) if "normal_amplitude" in p else None,
            Stribeck(p["stribeck_speed"], p.get("stribeck_exponent")) if "stribeck_speed" in p else None,
            p.get("belt_speed"),
        )

    def coefficient(self, v: Array) -> Array:
        """Coefficient of friction at a slip velocity [m/s]."""
        return self.mu_d if self.stribeck is None else self.mu_d + (self.mu_s - self.mu_d) * self.stribeck.weight(v)

    def evaluate(self, grip: Grip, moved: Array, v: Array, needed: Array, n: Array | None) -> tuple[Array, Grip]:
        """One evaluation: friction force [N], and what to remember if the step is accepted.

        Where F_n falls while the contact holds, its force comes to exceed mu_s F_n and it slips: against that force, whatever the sign of a
        velocity that is then no more than a creep (the return mapping of plasticity; with a constant F_n the velocity has that direction
        but for rounding). Where contact is lost T = 0 and T0 = 0, xa = x go with the mass, which neither slips nor holds; once it is
        pressed again, a stick trial decides from an unloaded spring.

        Args:
            grip: memory at the start of the step.
            moved, v: displacement since then [m] and velocity [m/s], both against the support.
            needed: all other forces where the mass moves with the support [N].
            n: what presses it now [N], before a surface is asked; None where that does not vary.
        """
        if n is None or self.pressing is None:
            law = Penalised(self.mu_s * self.normal_force, self.coefficient(v) * self.normal_force, self.k_t, self.c_t)
            return law.evaluate(grip, moved, v, needed)
        normal = self.pressing.contact(n)
        law = Penalised(self.mu_s * normal, self.coefficient(v) * normal, self.k_t, self.c_t)
        lost = is_away(grip)
        landed = jnp.where(grip.way < 0.0, UNMOVED, jnp.where(jnp.abs(needed) <= law.static_limit, 0.0, UNMOVED))
        before = grip._replace(way=jnp.where(lost, landed, grip.way))
        force, after = law.evaluate(before, moved, v, needed, lets_go=~(grip.slips | lost))
        slipped = jnp.where(lost, grip.way > 0.0, grip.way != UNMOVED)
        off = normal <= 0.0
        zero = jnp.zeros_like(force)
        away = Grip(jnp.where(slipped, AWAY, -AWAY), zero)
        return jnp.where(off, zero, force), Grip(*(jnp.where(off, gone, held) for gone, held in zip(away, after, strict=True)))


def is_away(grip: Grip) -> Array:
    """Whether the mass is off its support."""
    return jnp.abs(grip.way) == AWAY
