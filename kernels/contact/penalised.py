"""Penalised Coulomb friction for the time schemes: a spring and a damper hold the contact until it slips."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.friction_law import FrictionLaw, SupportStep
from tribosweep.kernels.contact.grip import BRIEFLY, Grip, new_grip
from tribosweep.kernels.numerics.numbers import Array, unit
from tribosweep.kernels.numerics.tangents import only_tangent
from tribosweep.kernels.observables.slip import holds_to

# Below this slip speed [m/s] the law tries to stick, as the tool that SDND104 validates does.
SLIP_SPEED_FLOOR = 1e-6


class SpringAndDamper(FrictionLaw):
    """A law whose contact is held by a spring and a damper.

    Attributes:
        k_t: tangential stiffness [N/m]. c_t: tangential damping [N s/m].
    """

    k_t: Array
    c_t: Array

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return self.k_t, self.c_t

    def force(self, memory: Grip, v: Array) -> Array:
        """Friction force after a step [N] (see `FrictionLaw.force`)."""
        return memory.force(self.c_t, v)

    def largest_hold(self, step: SupportStep) -> tuple[Array, ...]:
        """Largest friction force of a contact that holds [N] over a step, as coefficients of a polynomial."""
        raise NotImplementedError

    def _slip_begins(self, step: SupportStep) -> tuple[Array, Array]:
        """The fraction of a step at which slip begins, 0 where it does not begin within the step, and the static limit there [N]."""
        before, after = step.before, step.after
        way = jnp.sign(after.slip_state)
        hold = self.largest_hold(step)
        left = hold[0] + way * self.force(before, step.v0)
        lacks = -sum(hold[1:], start=hold[0]) - way * (before.spring - self.k_t * step.slid - self.c_t * step.v1)
        held = ~before.slips & ~before.is_away & (hold[0] > 0.0)  # a contact without friction holds nothing, whose end could move
        begins = held & after.slips & (left >= 0.0) & (lacks >= 0.0) & (left + lacks > 0.0)
        part = jnp.where(begins, left / jnp.where(begins, left + lacks, 1.0), 0.0)
        return part, sum((each * part**place for place, each in enumerate(hold)), start=0.0 * part)

    def late(self, step: SupportStep) -> tuple[Array, Array]:
        """The fractions of a step at which slip begins and ends (see `FrictionLaw.late`): a slip ends where the velocity is 0."""
        ends = step.before.slips & ~step.after.slips & ~step.after.is_away & (step.v0 * step.v1 < 0.0)
        end = jnp.where(ends, step.v0 / jnp.where(ends, step.v0 - step.v1, 1.0), 0.0)
        return only_tangent(self._slip_begins(step)[0]), only_tangent(end)

    def lacking(self, step: SupportStep) -> Array:
        """What the impulse of a step lacks where slip begins within it: the force falls to that of slip (see `FrictionLaw.lacking`)."""
        part, limit = self._slip_begins(step)
        return -only_tangent(part) * step.h * jnp.sign(step.after.slip_state) * (limit - jnp.abs(step.after.spring))

    def lets_go_at(self, step: SupportStep, course: Any, speed: Any, since: Array) -> Array:
        """The fraction of a step at which the force of spring and damper reaches the static limit (see `FrictionLaw.lets_go_at`)."""
        way = jnp.sign(step.after.slip_state)
        spring = step.before.spring + self.k_t * course.at(since)
        hold = type(course)(self.largest_hold(step))
        room = hold + course.plus(way * spring, -way * self.k_t) + speed.plus(0.0, -way * self.c_t)
        inside = (room.at(since) > 0.0) & (room.at(1.0) < 0.0)
        return jnp.where(inside, room.crossing(since, 1.0), since)


def constants_of(p: dict[str, Any], static: Array) -> tuple[Array, Array]:
    """k_t [N/m] and c_t [N s/m]; finite ones where there is no static friction, since the contact then never holds."""
    any_stiffness = jnp.isinf(p["k_t"]) & (static == 0.0)
    return jnp.where(any_stiffness, 1.0, p["k_t"]), jnp.where(any_stiffness, 0.0, p["c_t"])


class _Numbers(NamedTuple):
    static_limit: Array
    dynamic_force: Array
    k_t: Array
    c_t: Array


class Penalised(_Numbers, SpringAndDamper):
    """Penalised friction: a spring k_t and a damper c_t that hold the contact until mu_s F_n, then slip at mu_d F_n.

    Attributes:
        static_limit, dynamic_force: mu_s F_n (see `slip.holds_to`), mu_d F_n [N].
        k_t: tangential stiffness [N/m]. c_t: tangential damping [N s/m].
    """

    cheap = True

    def largest_hold(self, step: SupportStep) -> tuple[Array, ...]:  # noqa: ARG002 (constant)
        """Largest friction force of a contact that holds [N] (see `SpringAndDamper.largest_hold`)."""
        return (self.static_limit,)

    @classmethod
    def of(cls, p: dict[str, Any]) -> Penalised:
        """The law of resolved parameters (scalars)."""
        static_limit = holds_to(p["mu_s"] * p["normal_force"])
        return cls(static_limit, p["mu_d"] * p["normal_force"], *constants_of(p, static_limit))

    def at_start(self, v: Array, normal: Array | None = None) -> Grip:  # noqa: ARG002 (constant)
        """The contact at t = 0 (see `new_grip`)."""
        return new_grip(v, self.dynamic_force)

    def evaluate(
        self,
        memory: Grip,
        moved: Array,
        v: Array,
        needed: Array,
        normal: Array | None = None,  # noqa: ARG002 (constant)
        elapsed: Array | None = None,  # noqa: ARG002
        lets_go: Array | None = None,
    ) -> tuple[Array, Grip]:
        """One evaluation: the friction force [N], and the state after the step if it is accepted.

        Slip goes on while v keeps its sign and |v| > 1e-6 m/s. Otherwise a stick trial T = T0 - k_t (x - xa) - c_t v holds if
        |T| <= mu_s F_n, and T0 and xa stay; if not, the contact slips at -mu_d F_n sign(v) and both move on. At v = 0 (below 1e-30 T in SI
        units) the sign is the trial's. A slip that stops leads to rest if the friction to hold the mass there is within mu_s F_n.

        Args:
            memory, moved, v, needed: see `FrictionLaw.evaluate`. normal, elapsed: not read.
            lets_go: mask of runs in which a new slip goes against the trial force and not in the direction of v; None for no run.

        Source: the penalised law of the tool that SDND104 (V5.01.104) validates.
        """
        spring = memory.spring - self.k_t * moved
        trial = spring - self.c_t * v
        sticks = ~(memory.slip_state * v > SLIP_SPEED_FLOOR) & (jnp.abs(trial) <= self.static_limit)
        held = jnp.where(memory.slips, jnp.where(jnp.abs(needed) <= self.static_limit, 0.0, BRIEFLY * memory.slip_state), memory.slip_state)
        onward = v - BRIEFLY * trial
        if lets_go is not None:
            onward = jnp.where(lets_go, -trial, onward)
        slip_state = jnp.where(sticks, held, unit(onward))
        sliding = -self.dynamic_force * slip_state
        after = Grip(slip_state, spring)
        return jnp.where(after.slips, sliding, trial), after._replace(spring=jnp.where(after.slips, sliding, spring))
