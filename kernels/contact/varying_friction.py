"""Penalised friction with a varying normal force, with Stribeck's law, or on a belt.

The energies of a step,

    wear = integral of F_n |w|,   dissipation = integral of mu(w) F_n |w|,   w = v - belt speed,

are of order 4 where F_n is smooth, and F_n times the distance where it is constant.

The parameters of a run select which of the three parts its law has (compile-time). An absent part costs nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.friction_law import NormalForces, Sliding, SupportStep
from tribosweep.kernels.contact.grip import AWAY, UNMOVED, Grip, new_grip
from tribosweep.kernels.contact.normal_force import Pressing
from tribosweep.kernels.contact.penalised import Penalised, SpringAndDamper, constants_of
from tribosweep.kernels.numerics.elementary import exp, log
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.slip import holds_to

_NO_SPEED = 2.0**-100  # of the Stribeck speed


class Stribeck(NamedTuple):
    """Weight of the static against the dynamic coefficient of friction, exp(-(|v| / speed)^exponent).

    Attributes:
        speed: Stribeck speed [m/s]. exponent: 2 for a Gaussian, None for 1, the usual exponent.

    Source: Stribeck (1902), in the form of Bo and Pavelescu (1982), Wear 82, 277-289.
    """

    speed: Array
    exponent: Array | None

    @classmethod
    def of(cls, p: dict[str, Any]) -> Stribeck | None:
        """That of resolved parameters (scalars); None where they have no Stribeck speed."""
        return cls(p["stribeck_speed"], p.get("stribeck_exponent")) if "stribeck_speed" in p else None

    def weight(self, v: Array) -> Array:
        """The weight of the static coefficient at a slip velocity [m/s], 1 at v = 0."""
        ratio = jnp.abs(v) / self.speed
        if self.exponent is None:
            return exp(-ratio)
        moves = ratio > _NO_SPEED  # the logarithm of 0 has no derivative
        return jnp.where(moves, exp(-exp(self.exponent * log(jnp.where(moves, ratio, 1.0)))), 1.0)


class _Numbers(NamedTuple):
    mu_s: Array
    mu_d: Array
    normal_force: Array
    k_t: Array
    c_t: Array
    pressing: Pressing | None
    stribeck: Stribeck | None
    belt: Array | None


class Varied(_Numbers, SpringAndDamper):
    """Penalised friction (see `penalised.Penalised`) whose limits depend on the time and the slip speed.

        |T| <= mu_s F_n(t) where it holds,   T = -mu(v) F_n(t) sign(v) where it slips

    Attributes:
        mu_s, mu_d: coefficients of friction. normal_force: F_n where it does not vary [N].
        k_t, c_t: tangential stiffness [N/m] and damping [N s/m].
        pressing: normal force that varies; None where it does not. stribeck: None where mu(v) = mu_d.
        belt: velocity of the support [m/s], v being the velocity of the mass minus it; None if the support rests.
    """

    @classmethod
    def of(cls, p: dict[str, Any]) -> Varied:
        """The law of resolved parameters (scalars), with those of its three parts that the parameters select."""
        return cls(
            holds_to(p["mu_s"]),
            p["mu_d"],
            p["normal_force"],
            *constants_of(p, p["mu_s"]),
            Pressing.of(p) if "normal_amplitude" in p else None,
            Stribeck.of(p),
            p.get("belt_speed"),
        )

    @property
    def observes(self) -> tuple[bool, bool]:
        """Whether the wear energy, and the energy dissipated, are integrals that `rubs` returns."""
        return self.pressing is not None, self.stribeck is not None

    def largest_hold(self, step: SupportStep) -> tuple[Array, ...]:
        """Largest friction force of a contact that holds [N] over a step in which contact is neither lost nor made (`SpringAndDamper`)."""
        if self.pressing is None or step.normal_forces is None:
            return (self.mu_s * self.normal_force,)
        first, middle, last = (self.mu_s * self.pressing.contact(normal) for normal in step.normal_forces)
        return first, 4.0 * middle - 3.0 * first - last, 2.0 * (first + last) - 4.0 * middle

    def coefficient(self, v: Array) -> Array:
        """Coefficient of friction at a slip velocity [m/s]."""
        return self.mu_d if self.stribeck is None else self.mu_d + (self.mu_s - self.mu_d) * self.stribeck.weight(v)

    def at_start(self, v: Array, normal: Array | None = None) -> Grip:
        """The contact at t = 0 (see `new_grip`); a mass that nothing presses is off its support."""
        pressed = self.normal_force if normal is None or self.pressing is None else self.pressing.contact(normal)
        grip = new_grip(v, self.coefficient(v) * pressed)
        return grip if self.pressing is None else grip._replace(slip_state=jnp.where(self.pressing.off(pressed), -AWAY, grip.slip_state))

    def evaluate(
        self,
        memory: Grip,
        moved: Array,
        v: Array,
        needed: Array,
        normal: Array | None = None,
        elapsed: Array | None = None,  # noqa: ARG002
    ) -> tuple[Array, Grip]:
        """One evaluation: the friction force [N], and the state after the step if it is accepted.

        If F_n falls while the contact holds, the trial force can exceed mu_s F_n. The contact then slips against that force, whatever the
        sign of its small creep velocity, as in the return mapping of plasticity. (With a constant F_n both directions agree up to
        rounding.) Where contact is lost, T = T0 = 0 and xa = x: the mass neither slips nor holds. When it is pressed again, a stick trial
        with an unloaded spring decides.

        Args:
            memory, moved, v, needed, normal: see `FrictionLaw.evaluate`. elapsed: not read.
        """
        if normal is None or self.pressing is None:
            law = Penalised(self.mu_s * self.normal_force, self.coefficient(v) * self.normal_force, self.k_t, self.c_t)
            return law.evaluate(memory, moved, v, needed)
        pressed = self.pressing.contact(normal)
        law = Penalised(self.mu_s * pressed, self.coefficient(v) * pressed, self.k_t, self.c_t)
        lost = memory.is_away
        landed = jnp.where(memory.slip_state < 0.0, UNMOVED, jnp.where(jnp.abs(needed) <= law.static_limit, 0.0, UNMOVED))
        before = memory._replace(slip_state=jnp.where(lost, landed, memory.slip_state))
        force, after = law.evaluate(before, moved, v, needed, lets_go=~(memory.slips | lost))
        slipped = jnp.where(lost, memory.slip_state > 0.0, memory.slip_state != UNMOVED)
        off = self.pressing.off(pressed)
        zero = jnp.zeros_like(force)
        away = Grip(jnp.where(slipped, AWAY, -AWAY), zero)
        return jnp.where(off, zero, force), Grip(*(jnp.where(off, gone, held) for gone, held in zip(away, after, strict=True)))

    def rubs(self, step: SupportStep) -> Sliding:
        """Slip and energies of a step by Simpson's rule. The velocity is that of the cubic through positions and velocities at its ends."""
        first, last = step.h * step.v0, step.h * step.v1
        middle = 1.5 * step.slid - 0.25 * (first + last)
        return self._integrated((first, middle, last), step.normal_forces, 1.0 / step.h, 1.0, step.slid)

    def rubs_between(self, step: SupportStep, begin: Array, end: Array) -> Sliding:
        """Slip and energies between two fractions of a step. They are 0 for a step of length 0."""
        early, late = step.h * step.v0 - step.slid, step.h * step.v1 - step.slid

        def speed(u: Array) -> Array:
            return step.slid + early * (1.0 - u) * (1.0 - 3.0 * u) - late * u * (2.0 - 3.0 * u)

        def place(u: Array) -> Array:
            return u * (step.slid + (1.0 - u) * ((1.0 - u) * early - u * late))

        places = begin, 0.5 * (begin + end), end
        normal_forces = None if step.normal_forces is None else NormalForces(*(step.normal_forces.at(u) for u in places))
        by_step = 1.0 / jnp.where(step.h > 0.0, step.h, 1.0)
        return self._integrated(tuple(speed(u) for u in places), normal_forces, by_step, end - begin, place(end) - place(begin))

    def _integrated(
        self, ways: tuple[Array, ...], normal_forces: NormalForces | None, by_step: Array, width: Array | float, slid: Array
    ) -> Sliding:
        """Slip and energies by Simpson's rule over the fraction `width` of a step; `ways`: h times the velocity at its three nodes [m]."""
        pressing, normals = self.pressing, [self.normal_force] * 3
        if pressing is not None and normal_forces is not None:
            normals = [pressing.contact(n) for n in normal_forces]
        touches = None if pressing is None else normals[1] > 0.0
        rates = [n * way for n, way in zip(normals, ways, strict=True)]
        wear = None if pressing is None else _simpson(rates, width)
        if self.stribeck is None:
            return Sliding(slid, wear, touches)
        dissipated = [rate * self.coefficient(way * by_step) for rate, way in zip(rates, ways, strict=True)]
        return Sliding(slid, wear, touches, _simpson(dissipated, width))


def _simpson(values: list[Array], width: Array | float) -> Array:
    """The magnitude of the integral, from values at the start, in the middle and at the end."""
    first, middle, last = values
    return jnp.abs((1.0 / 6.0) * width * (first + 4.0 * middle + last))
