"""Friction by bristles that bend before the contact slips: the common part of the laws of presliding friction.

The bristles hold a force f. A law says how f changes along a path on the support (`advance`) and how fast the bristles bend (`bending`),

    F_t = -(f + damping dz/dt + viscous w),   f = stiffness z,   w = v - belt speed,

where z is the deflection of the bristles. The motion minus the deflection is slip:

    slip_distance = integral of |w - dz/dt|,   wear = F_n times that,
    dissipation = integral of f (w - dz/dt) + damping dz/dt w + viscous w^2 = work on the contact less the growth of f^2 / (2 stiffness)

The contact has Coulomb's states of rest and slip. It begins to slip when the force needed to hold the mass exceeds the static limit and
more than half of the motion is slip, f sgn(w) > limit(w) / 2. It slips on until w changes its sign or f sgn(w) falls below limit(w) / 2
again. It then rests if the force needed is within the static limit. The slip distance grows in either state. As the stiffness grows, the
law tends to rigid friction.

A step is a path with the displacement of the scheme and its velocities at the ends. The velocity is a parabola in time, and the path is
divided where it changes its sign. For a limit that does not depend on w, `advance` is exact along each part, whatever the velocity. A
scheme therefore keeps its order, except in steps in which the mass turns back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.friction_law import FrictionLaw, Sliding, SupportStep
from tribosweep.kernels.contact.grip import BRIEFLY, UNMOVED, Grip
from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.numerics.numbers import Array, unit
from tribosweep.kernels.observables.slip import holds_to


class Bristles(NamedTuple):
    """State of a law of bristles between two steps.

    Attributes:
        slip_state: as in `Grip`. bent: force of the bristles f [N]. speed: velocity against the support [m/s].
    """

    slip_state: Array
    bent: Array
    speed: Array

    @property
    def _grip(self) -> Grip:
        return Grip(self.slip_state, self.bent)

    @property
    def slips(self) -> Array:
        """Whether it slips."""
        return self._grip.slips

    @property
    def rests(self) -> Array:
        """Whether the mass rests on its support after a slip."""
        return self._grip.rests

    @property
    def is_away(self) -> Array:
        """Whether the mass is off its support."""
        return self._grip.is_away

    def begins(self, before: Bristles) -> Array:
        """Whether a slip begins with the step since `before` (see `Grip.begins`)."""
        return self._grip.begins(before._grip)

    def stops(self, before: Bristles) -> Array:
        """Whether a rest begins with the step since `before`."""
        return self._grip.stops(before._grip)


class Presliding(FrictionLaw):
    """A law of bristles for the time schemes; a subclass is a NamedTuple of numbers with the attributes below.

    Attributes:
        stiffness: of the bristles [N/m]. static_limit: mu_s F_n [N]. normal_force: F_n [N].
        belt: velocity of the support [m/s]; None where it rests.
    """

    stiffness: Array
    static_limit: Array
    normal_force: Array
    reads_time = True  # the path since the last step depends on the elapsed time
    damping: Array | float = 0.0
    viscous: Array | float = 0.0

    def limit(self, w: Array) -> Array:
        """The force of the bristles [N] in steady slip at a velocity [m/s]."""
        raise NotImplementedError

    def advance(self, f: Array, path: Path, begin: Array | float, end: Array) -> Array:
        """Force of the bristles [N] at the end of a part of a path with one sign of the velocity, from the force at its beginning."""
        raise NotImplementedError

    def bending(self, f: Array, w: Array) -> Array:
        """dz/dt [m/s] under a force of the bristles [N] at a velocity [m/s]."""
        raise NotImplementedError

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return (self.stiffness,)

    @property
    def observes(self) -> tuple[bool, bool]:
        """Wear and dissipation are integrals that `rubs` returns."""
        return True, True

    def at_start(self, v: Array, normal: Array | None = None) -> Bristles:  # noqa: ARG002 (constant)
        """The contact at t = 0: bristles that are not bent, whatever the velocity, since they bend with the way."""
        zero = jnp.zeros_like(v)
        return Bristles(zero + UNMOVED, zero, zero)

    def along(self, f: Array, path: Path, end: Array | float) -> Array:
        """Force of the bristles [N] at the fraction `end` of a path, from the force at its beginning."""
        turns, turn = path.turn()
        end = end + 0.0 * f
        middle = jnp.where(turns, jnp.minimum(turn, end), end)
        return jnp.where(turns & (end > turn), self.advance(self.advance(f, path, 0.0, middle), path, middle, end),
                         self.advance(f, path, 0.0, middle))  # fmt: skip

    def evaluate(
        self,
        memory: Bristles,
        moved: Array,
        v: Array,
        needed: Array,
        normal: Array | None = None,  # noqa: ARG002 (constant)
        elapsed: Array | None = None,
    ) -> tuple[Array, Bristles]:
        """One evaluation (see `FrictionLaw.evaluate`)."""
        h = jnp.zeros_like(v) if elapsed is None else elapsed
        bent = self.along(memory.bent, Path.of(h, memory.speed, v, moved), 1.0)
        half = 0.5 * self.limit(v)
        slips, last = memory.slips, memory.slip_state
        goes_on = slips & (last * v > 0.0) & (bent * last > half)
        holds = jnp.abs(needed) <= self.static_limit
        starts = ~slips & (bent * jnp.sign(v) > half) & ~holds
        held = jnp.where(slips, jnp.where(holds, 0.0, BRIEFLY * last), last)
        after = Bristles(jnp.where(goes_on, last, jnp.where(starts, unit(v), held)), bent, v)
        return self.force(after, v), after

    def force(self, memory: Bristles, v: Array) -> Array:
        """Friction force [N] (see `FrictionLaw.force`)."""
        return -(memory.bent + self.damping * self.bending(memory.bent, v) + self.viscous * v)

    def rubs(self, step: SupportStep) -> Sliding:
        """Slip and energies of a step."""
        zero = jnp.zeros_like(step.slid)
        return self.rubs_between(step, zero, zero + 1.0)

    def rubs_between(self, step: SupportStep, begin: Array, end: Array) -> Sliding:
        """Slip and energies between two fractions of a step, the dissipation by Simpson's rule."""
        path = Path.of(step.h, step.v0, step.v1, step.slid)

        def bent(u: Array) -> Array:
            return jnp.where(u >= 1.0, step.after.bent, self.along(step.before.bent, path, u))

        def power(f: Array, u: Array) -> Array:
            w, pace = path.velocity(u), path.pace(u)
            rate = self.bending(f, w)
            return f * (pace - step.h * rate) + self.damping * rate * pace + self.viscous * w * pace

        places = begin, 0.5 * (begin + end), end
        forces = [bent(u) for u in places]
        first, middle, last = (power(f, u) for f, u in zip(forces, places, strict=True))
        slid = path.place(end) - path.place(begin) - (forces[2] - forces[0]) / self.stiffness
        # where f changes its sign the bristles first unbend, with slip against the motion, and then bend again
        limit, unbends = self.limit(path.velocity(begin)), jnp.abs(forces[0])
        against = (unbends - limit * jnp.log1p(unbends / limit)) / self.stiffness
        slid = jnp.abs(slid) + jnp.where(forces[0] * forces[2] < 0.0, 2.0 * against, 0.0)
        return Sliding(
            slid,
            wear=self.normal_force * slid,
            friction=(1.0 / 6.0) * (end - begin) * (first + 4.0 * middle + last),
            always=jnp.ones_like(slid),
        )


class Constants(NamedTuple):
    """Numbers that every law of bristles has (see `Presliding`)."""

    static_limit: Array
    dynamic_force: Array
    normal_force: Array
    belt: Array | None

    @classmethod
    def of(cls, p: dict[str, Any]) -> Constants:
        """The numbers of resolved parameters (scalars)."""
        return cls(holds_to(p["mu_s"] * p["normal_force"]), p["mu_d"] * p["normal_force"], p["normal_force"], p.get("belt_speed"))
