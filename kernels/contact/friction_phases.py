"""Friction of one mass as linear phases, for the event loop: rigid and penalised."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.coulomb import Coulomb
from tribosweep.kernels.contact.law import Guard, Instant, Phase, choose, idle
from tribosweep.kernels.contact.penalised import Penalised
from tribosweep.kernels.numerics.numbers import Array

FRICTION_EVENTS = ("", "release", "stop", "reversal", "largest speed", "least speed")


class FrictionState(NamedTuple):
    """State of a contact with friction between two events.

    Attributes:
        direction: of slip, +1 or -1; 0 while it holds.
        rising: 1 while the speed of slip grows, else 0.
        force: friction on the mass at the last evaluation of the phase [N]. At a limit it is set to that limit exactly.
        last: direction of the last slip, 0 before the first.
        resting: 1 while the mass rests on its support; not in the brief stuck state in which a penalised contact's spring unloads.
        begins: 1 just after a slip phase has begun, else 0.
        pressed: sign of a normal force that varies: +1 or -1 for the surface that the mass is pressed on, 0 while it is off its support.
            normal: that force at the last evaluation [N]. limit: mu_s F_n there [N].
        back: speed against the slip [m/s] at which a slip ends that lasts beyond its stop; 0 of every other.
            These four are None where the normal force is constant.
    """

    direction: Array
    rising: Array
    force: Array
    last: Array
    resting: Array
    begins: Array
    pressed: Array | None = None
    normal: Array | None = None
    limit: Array | None = None
    back: Array | None = None

    @property
    def slips(self) -> Array:
        """Whether the contact slips."""
        return self.direction != 0.0

    @property
    def holds(self) -> Array:
        """Whether the contact holds the mass."""
        still = self.direction == 0.0
        return still if self.pressed is None else still & (self.pressed != 0.0)


class Held(NamedTuple):
    """How the friction on a mass that it holds decreases: with the displacement, the velocity and the acceleration of the anchor's motion.

    Attributes:
        stiffness: [N/m]. damping: [N s/m]. inertia: [kg].
    """

    stiffness: Array
    damping: Array
    inertia: Array


class Stop(NamedTuple):
    """What may follow where slip stops.

    Attributes:
        sticks: whether the contact holds from there on. force: the friction that then holds the mass [N].
        direction: of slip if it does not stick, +1 or -1.
    """

    sticks: Array
    force: Array
    direction: Array


class FrictionPhases:
    """Friction of one mass as linear phases, for the event loop: the part that rigid and penalised friction share.

    stick         until the friction that holds the mass exceeds mu_s F_n
    slip, rising  until a = 0, the largest speed; the law stays the same
    slip, falling until v = 0, or a = 0 again

    At the release the mass slips in the direction of v (against the friction where v is exactly 0) at mu_d F_n. Where slip stops, the
    mass sticks or turns back. Without friction it always slips.

    Attributes:
        m: mass [kg]. law: the contact.
    """

    m: Array
    law: Any

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of its events."""
        return FRICTION_EVENTS

    @property
    def guard_count(self) -> int:
        """Number of guards of each phase."""
        return 2

    @property
    def belt(self) -> Array | None:
        """Velocity of the surface [m/s]; None where it rests."""
        return None

    def following(self, memory: FrictionState) -> Array | None:  # noqa: ARG002 (it is constant)
        """Growth of the friction on a slipping mass with the normal force; None where that is constant."""
        return None

    @property
    def acts(self) -> Array:
        """Whether there is any friction."""
        acts: Array = self.law.static_limit > 0.0
        return acts

    @property
    def spring(self) -> Array | None:
        """Stiffness of the spring that holds the contact [N/m]; None for a rigid contact."""
        raise NotImplementedError

    @property
    def held(self) -> Held:
        """The rates of the friction that holds the mass."""
        raise NotImplementedError

    def holding_force(self, state: FrictionState, moved: Array, gained: Array, needed: Array) -> Array:
        """The friction that holds the mass [N], given displacement [m] and velocity [m/s] gained since the anchor, and the force needed."""
        raise NotImplementedError

    def at_start(self, at: Instant) -> tuple[Array, Array, Array]:
        """Whether the mass slips at t = 0, the direction of that slip, and the friction that would hold it [N]."""
        raise NotImplementedError

    def at_stop(self, state: FrictionState, at: Instant) -> Stop:
        """What follows where slip stops."""
        raise NotImplementedError

    def phase(self, memory: FrictionState, x: Array, v: Array, a: Array) -> Phase:  # noqa: ARG002 (friction is the same everywhere)
        """The present phase, evaluated at velocity `v` [m/s] and acceleration `a` [m/s^2] (see `law.ContactLaw`)."""
        law, side, zero = self.law, memory.direction, jnp.zeros_like(v)
        sticks, rising = side == 0.0, memory.rising > 0.0
        k, c, m = (rate + zero for rate in self.held)
        upper = Guard(law.static_limit - memory.force, k, c, m)
        lower = Guard(law.static_limit + memory.force, -k, -c, -m)
        peak, stop, valley = Guard(side * a, zero, zero, side), Guard(side * v, zero, side, zero), Guard(-side * a, zero, zero, -side)
        return Phase(
            jnp.where(sticks, k, 0.0),
            jnp.where(sticks, c, 0.0),
            (choose(sticks, upper, choose(rising, peak, stop)), choose(sticks, lower, choose(rising, idle(v), valley))),
            jnp.where(sticks, 0.0, 1.0) if self.spring is None else None,
        )

    def start(self, at: Instant) -> tuple[FrictionState, Array]:
        """State of the contact at t = 0, and its force [N] (see `law.ContactLaw`)."""
        slips, onward, held = self.at_start(at)
        side = jnp.where(slips, onward, 0.0)
        force = jnp.where(side == 0.0, held, -self.law.dynamic_force * side)
        a = (at.needed - at.drag * at.v + force) / self.m
        zero = jnp.zeros_like(at.v)
        resting = jnp.where(side == 0.0, 1.0, zero)
        return FrictionState(side, jnp.where(side * a >= 0.0, jnp.abs(side), 0.0), force, side, resting, zero), force

    def transition(self, memory: FrictionState, crossed: tuple[Array, ...], v0: Array, at: Instant) -> tuple[FrictionState, Array, Array]:
        """The memory and the motion after an event (see `law.ContactLaw`)."""
        law, side = self.law, memory.direction
        first, second = crossed
        sticks, rising = side == 0.0, memory.rising > 0.0
        held = self.holding_force(memory, at.moved, at.v - v0, at.needed)
        breaks = jnp.zeros_like(sticks)
        if at.jumped is not None:  # the jump asks for more than the limit
            breaks = sticks & at.jumped & ~(first | second) & (jnp.abs(held) > law.static_limit)
        released = sticks & (first | second) | breaks
        peaked, valley, stopped = ~sticks & rising & first, ~sticks & second & ~first, ~sticks & ~rising & first
        stop = self.at_stop(memory, at)
        stuck = stopped & stop.sticks
        turned = stopped & ~stuck

        v = jnp.where(stopped, 0.0, at.v)
        against = jnp.where(first, -1.0, 1.0)  # away from the friction, which has reached +limit at the first guard
        against = against if at.jumped is None else jnp.where(breaks, -jnp.sign(held), against)
        away = jnp.where(v != 0.0, jnp.sign(v), against)
        direction = jnp.where(released, away, jnp.where(stuck, 0.0, jnp.where(turned, stop.direction, side)))
        starts = released | turned
        force = jnp.where(starts, -law.dynamic_force * direction, jnp.where(stuck, stop.force, jnp.where(sticks, held, memory.force)))
        fresh = (at.needed - at.drag * v + force) / self.m
        if self.spring is None:  # exact, because its sign decides the direction of motion
            excess = jnp.maximum(law.static_limit - law.dynamic_force, 0.0)
            fresh = jnp.where(stuck, 0.0, jnp.where(released & ~breaks, direction * excess / self.m, fresh))
        a = jnp.where(peaked | valley, 0.0, jnp.where(starts | stuck, fresh, at.a))
        rising_now = jnp.where(
            starts, jnp.where(direction * a >= 0.0, 1.0, 0.0), jnp.where(peaked | stuck, 0.0, jnp.where(valley, 1.0, memory.rising))
        )
        if at.jumped is not None:
            onward = jnp.where(direction * a >= 0.0, jnp.abs(direction), 0.0)
            rising_now = jnp.where(at.jumped & ~sticks & ~stopped, onward, rising_now)
        begins = starts & ((memory.resting > 0.0) | (direction * memory.last < 0.0))
        within = jnp.abs(at.needed) <= law.static_limit
        resting = jnp.where(stuck, jnp.where(within, 1.0, 0.0), jnp.where(starts, 0.0, memory.resting))
        last = jnp.where(starts, direction, memory.last)
        return FrictionState(direction, rising_now, force, last, resting, jnp.where(begins, 1.0, 0.0)), v, a

    def rest(self, memory: FrictionState, at: Instant) -> tuple[FrictionState, Array, Array]:
        """Unchanged: stops and releases of a friction contact do not accumulate."""
        return memory, at.v, at.a

    def kind(self, memory: FrictionState, crossed: tuple[Array, ...], after: FrictionState) -> Array:
        """Position of the event in `kinds`."""
        first, second = crossed
        sticks, rising = memory.direction == 0.0, memory.rising > 0.0
        stops = jnp.where(after.direction == 0.0, 2.0, 3.0)
        slipping = jnp.where(first, jnp.where(rising, 4.0, stops), jnp.where(second, 5.0, 0.0))
        return jnp.where(sticks, jnp.where(first | second, 1.0, 0.0), slipping)


class _Numbers(NamedTuple):
    m: Array
    law: Any


class RigidPhases(_Numbers, FrictionPhases):
    """Rigid friction. A mass that it holds does not move; where slip stops, it holds if the force needed is within mu_s F_n."""

    __slots__ = ()

    @classmethod
    def of(cls, p: dict[str, Any]) -> RigidPhases:
        """The friction of resolved parameters (scalars)."""
        return cls(p["m"], Coulomb.of(p))

    @property
    def spring(self) -> None:
        """None: the contact is rigid."""
        return None

    @property
    def held(self) -> Held:
        """Friction balances the external force, the only one that changes while the mass is at rest."""
        zero = jnp.zeros_like(self.m)
        return Held(zero, zero, self.m)

    def holding_force(self, state: FrictionState, moved: Array, gained: Array, needed: Array) -> Array:  # noqa: ARG002
        """The force needed, reversed."""
        return -needed

    def at_start(self, at: Instant) -> tuple[Array, Array, Array]:
        """It slips where the mass moves, or where rest needs more than the limit (see `FrictionPhases.at_start`)."""
        held = -at.needed
        onward = jnp.where(self.acts & (at.v == 0.0), jnp.sign(at.needed), way(at, self.acts))
        return (jnp.abs(held) > self.law.static_limit) | ~self.acts | (at.v != 0.0), onward, held

    def at_stop(self, state: FrictionState, at: Instant) -> Stop:  # noqa: ARG002
        """It holds within the limit; otherwise the mass follows the force."""
        within = jnp.abs(at.needed) <= self.law.static_limit
        still = at._replace(v=jnp.zeros_like(at.v))
        return Stop(self.acts & within, -at.needed, jnp.where(self.acts, jnp.sign(at.needed), way(still, self.acts)))


class PenalisedPhases(_Numbers, FrictionPhases):
    """Penalised friction: k_t and c_t hold the contact; where slip stops, they hold it with the force of slip."""

    __slots__ = ()

    @classmethod
    def of(cls, p: dict[str, Any]) -> PenalisedPhases:
        """The friction of resolved parameters (scalars). Without friction the contact does nothing, whatever its stiffness."""
        law = Penalised.of(p)
        acts = law.static_limit > 0.0
        return cls(p["m"], law._replace(k_t=jnp.where(acts, law.k_t, 1.0), c_t=jnp.where(acts, law.c_t, 0.0)))

    @property
    def spring(self) -> Array:
        """k_t [N/m]."""
        k_t: Array = self.law.k_t
        return k_t

    @property
    def held(self) -> Held:
        """The spring and the damper of the contact."""
        return Held(self.law.k_t, self.law.c_t, jnp.zeros_like(self.m))

    def holding_force(self, state: FrictionState, moved: Array, gained: Array, needed: Array) -> Array:  # noqa: ARG002
        """The force at the anchor less those of the spring and the damper since."""
        force: Array = state.force - self.law.k_t * moved - self.law.c_t * gained
        return force

    def at_start(self, at: Instant) -> tuple[Array, Array, Array]:
        """It slips where the mass moves; a mass at rest is held by an unloaded spring (see `FrictionPhases.at_start`)."""
        return (at.v != 0.0) | ~self.acts, way(at, self.acts), jnp.zeros_like(at.v)

    def at_stop(self, state: FrictionState, at: Instant) -> Stop:
        """It holds, with the force of the slip that ends."""
        still = at._replace(v=jnp.zeros_like(at.v))
        return Stop(self.acts, -self.law.dynamic_force * state.direction, way(still, self.acts))


def way(at: Instant, acts: Array) -> Array:
    """Direction in which a mass moves from an instant on: the sign of its velocity, or without friction of the first rate that is not 0."""
    sign = jnp.sign(at.v)
    for rate in (at.a, at.jerk, at.snap):
        sign = jnp.where(acts | (sign != 0.0), sign, jnp.sign(rate))
    return sign
