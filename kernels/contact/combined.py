"""Friction and a wall on one mass, as one law made of both: it rubs and it hits."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from kernels.contact.coulomb import FRICTION_EVENTS, Contact, FrictionPhases
from kernels.contact.law import Phase, Point, choose, idle
from kernels.contact.wall import WALL_EVENTS, Pressed, Wall
from kernels.numerics.numbers import Array


class Both(NamedTuple):
    """What the two contacts remember."""

    friction: Contact
    wall: Pressed


class Together(NamedTuple):
    """Friction and a wall, for the event loop. Each sees the force of the other as one of the other forces on the mass.

    Where friction holds the mass, nothing happens at the wall. Of a slip event and one at the wall at the same instant, slip is first.
    """

    friction: FrictionPhases
    wall: Wall

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of their events."""
        return (*FRICTION_EVENTS, *WALL_EVENTS[1:])

    def start(self, at: Point) -> tuple[Both, Array]:
        """Memory and force at t = 0 (see `phases.Law`)."""
        wall, force = self.wall.start(at)
        static, drag = self.wall.at_rest(wall, at.x)
        friction, held = self.friction.start(self._with(at, static, drag)._replace(a=at.a + force / self.wall.m))
        return Both(friction, wall), force + held

    def phase(self, memory: Both, x: Array, v: Array, a: Array) -> Phase:
        """The present phase (see `phases.Law`)."""
        friction, wall = self.friction.phase(memory.friction, x, v, a), self.wall.phase(memory.wall, x, v, a)
        moves = jnp.ones_like(x) if friction.moves is None else friction.moves
        guards = tuple(choose(moves > 0.0, guard, idle(x)) for guard in wall.guards)
        stiffness, damping = friction.stiffness + wall.stiffness, friction.damping + wall.damping
        return Phase(stiffness, damping, (*friction.guards, *guards), friction.moves, wall.damping_slope)

    def transition(self, memory: Both, crossed: tuple[Array, ...], v0: Array, at: Point) -> tuple[Both, Array, Array]:
        """What holds after an event (see `phases.Law`)."""
        slips, hits = crossed[:2], crossed[2:]
        static, drag = self.wall.at_rest(memory.wall, at.x)
        friction, v, a = self.friction.transition(memory.friction, slips, v0, self._with(at, static, drag))
        wall, v, a = self.wall.transition(memory.wall, hits, v0, at._replace(v=v, a=a, needed=at.needed + friction.force))
        slip_event, wall_event = slips[0] | slips[1], hits[0]
        for hit in hits[1:]:
            wall_event = wall_event | hit
        turned = self.wall.refreshed(wall, at.x, v, a)
        wall = Pressed(*(jnp.where(slip_event, new, old) for new, old in zip(turned, wall, strict=True)))
        rising = jnp.where(friction.direction * a >= 0.0, jnp.abs(friction.direction), 0.0)
        friction = friction._replace(rising=jnp.where(wall_event, rising, friction.rising))
        return Both(friction, wall), v, a

    def rest(self, memory: Both, at: Point) -> tuple[Both, Array, Array]:
        """As it is: neither accumulates."""
        return memory, at.v, at.a

    def kind(self, memory: Both, crossed: tuple[Array, ...], after: Both) -> Array:
        """Which of `kinds` an event was."""
        slip, hit = self.friction.kind(memory.friction, crossed[:2], after.friction), self.wall.kind(memory.wall, crossed[2:], after.wall)
        return jnp.where(hit > 0.0, hit + len(FRICTION_EVENTS) - 1.0, slip)

    def _with(self, at: Point, static: Array, drag: Array) -> Point:
        """The motion as friction sees it: the wall's force is one of the others."""
        return at._replace(needed=at.needed + static, drag=at.drag + drag)
