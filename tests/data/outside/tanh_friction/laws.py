"""The laws themselves, for one oscillator: `jax.vmap` makes rows of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.friction_law import FrictionLaw, Sliding, SupportStep
from tribosweep.kernels.contact.grip import UNMOVED, Grip
from tribosweep.kernels.contact.link_law import LinkLaw, Travel
from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.contact.stop_law import StopLaw
from tribosweep.kernels.numerics.numbers import Array


class _Friction(NamedTuple):
    limit: Array
    speed: Array
    normal_force: Array
    belt: Array | None


class Tanh(_Friction, FrictionLaw):
    """Friction that follows the velocity w against the support, F = -mu_d F_n tanh(w / tanh_speed). Whatever moves slips."""

    @classmethod
    def of(cls, p: dict[str, Any]) -> Tanh:
        """The law of resolved parameters (scalars)."""
        return cls(p["mu_d"] * p["normal_force"], p["tanh_speed"], p["normal_force"], p.get("belt_speed"))

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return (self.limit, self.speed)

    @property
    def observes(self) -> tuple[bool, bool]:
        """Wear and dissipation are integrals that `rubs` returns."""
        return True, True

    def at_start(self, v: Array, normal: Array | None = None) -> Grip:
        """The contact at t = 0."""
        return self._grip(Grip(jnp.zeros_like(v) + UNMOVED, jnp.zeros_like(v)), v)

    def _grip(self, before: Grip, v: Array) -> Grip:
        rests = jnp.where(before.slip_state == UNMOVED, UNMOVED, 0.0)
        return Grip(jnp.where(v != 0.0, jnp.sign(v), rests), -self.limit * jnp.tanh(v / self.speed))

    def evaluate(
        self, memory: Grip, moved: Array, v: Array, needed: Array, normal: Array | None = None, elapsed: Array | None = None
    ) -> tuple[Array, Grip]:  # fmt: skip
        """The force on the mass [N], and the state after the step."""
        del moved, needed, normal, elapsed
        after = self._grip(memory, v)
        return after.spring, after

    def force(self, memory: Grip, v: Array) -> Array:
        """Friction force [N]."""
        return -self.limit * jnp.tanh(v / self.speed)

    def rubs(self, step: SupportStep) -> Sliding:
        """Slip and energies of a step."""
        zero = jnp.zeros_like(step.slid)
        return self.rubs_between(step, zero, zero + 1.0)

    def rubs_between(self, step: SupportStep, begin: Array, end: Array) -> Sliding:
        """Slip and energies between two fractions of a step, the work of friction by Simpson's rule."""
        path = Path.of(step.h, step.v0, step.v1, step.slid)
        turns, turn = path.turn()
        turn = jnp.where(turns, jnp.clip(turn, begin, end), end)
        slid = jnp.abs(path.place(turn) - path.place(begin)) + jnp.abs(path.place(end) - path.place(turn))
        powers = [-self.force(step.after, path.velocity(u)) * path.pace(u) for u in (begin, 0.5 * (begin + end), end)]
        friction = (end - begin) * (powers[0] + 4.0 * powers[1] + powers[2]) / 6.0
        return Sliding(slid, wear=self.normal_force * slid, friction=friction, always=jnp.ones_like(slid))


class _Spring(NamedTuple):
    stiffness: Array


class Cubic(_Spring, LinkLaw):
    """A spring with F = cubic_stiffness x^3, without memory."""

    @classmethod
    def of(cls, p: dict[str, Any]) -> Cubic:
        """The law of resolved parameters (scalars)."""
        return cls(p["cubic_stiffness"])

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return (self.stiffness,)

    def at_start(self, x: Array) -> tuple[()]:
        """It has no state."""
        return ()

    def along(self, state: tuple[()], travel: Travel) -> tuple[()]:
        """It has no state."""
        return state

    def force(self, state: tuple[()], x: Array, v: Array) -> Array:
        """Restoring force [N]."""
        return self.stiffness * x**3

    def dissipated(self, before: tuple[()], travel: Travel, after: tuple[()]) -> Array:
        """A spring dissipates nothing."""
        return 0.0 * travel.x


class _Wall(NamedTuple):
    stiffness: Array
    damping: Array


class Hertz(_Wall, StopLaw):
    """F = hertz_stiffness y^1.5 (1 + hertz_damping y')."""

    @classmethod
    def of(cls, p: dict[str, Any]) -> Hertz:
        """The law of resolved parameters (scalars)."""
        return cls(p["hertz_stiffness"], p["hertz_damping"])

    def force(self, y: Array, speed: Array) -> Array:
        """Force [N] at a compression y > 0 [m] that grows at a speed [m/s]; the wall takes it as 0 where it is negative."""
        return self.stiffness * y * jnp.sqrt(y) * (1.0 + self.damping * speed)
