"""The contacts of one mass as one law: friction on a support or none, and any number of walls."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.friction_phases import FrictionPhases, FrictionState
from tribosweep.kernels.contact.law import Guard, Instant, Phase, alike, choose, idle
from tribosweep.kernels.contact.wall import WALL_EVENTS, Pressed, Wall
from tribosweep.kernels.numerics.numbers import Array

Each = TypeVar("Each")


class Contacts(NamedTuple):
    """State of the contacts of a mass; `friction` is None without friction."""

    friction: FrictionState | None
    walls: tuple[Pressed, ...]


class Combined(NamedTuple):
    """Friction and walls, for the event loop. Each contact sees the forces of the others as external forces on the mass.

    While rigid friction holds the mass, nothing happens at a wall, unless a surface that moves carries the mass to it. Of several events at
    one instant, the slip event comes first, then those of the walls in their order.

    Attributes:
        names: prefix of the event names of each wall.
    """

    friction: FrictionPhases | None
    walls: tuple[Wall, ...]
    names: tuple[str, ...] = ("",)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of their events."""
        slips = self.friction.kinds[1:] if self.friction is not None else ()
        hits = (name + event for _, name in zip(self.walls, self.names, strict=False) for event in WALL_EVENTS[1:])
        return ("", *slips, *hits)

    def start(self, at: Instant) -> tuple[Contacts, Array]:
        """Memory and force at t = 0 (see `law.ContactLaw`)."""
        started = [wall.start(at) for wall in self.walls]
        if len(self.walls) > 1:
            pushes = [push for _, push in started]
            started = [wall.start(at._replace(a=at.a + _total(_others(pushes, i)) / wall.m)) for i, wall in enumerate(self.walls)]
        walls, pushes = tuple(memory for memory, _ in started), [push for _, push in started]
        if self.friction is None:
            friction, force = None, _total(pushes)
        else:
            a = at.a + _total(pushes) / self.friction.m if pushes else at.a
            friction, held = self.friction.start(self._beside_walls(at, walls)._replace(a=a))
            force = _total([*pushes, held])
        if len(self.walls) > 1:
            walls = tuple(wall.refreshed(each, at.x, at.v, at.a + force / wall.m) for wall, each in zip(self.walls, walls, strict=True))
        free = at._replace(a=at.a + force / self.walls[0].m) if self.walls else at
        if friction is not None and self.friction is not None and self.friction.spring is None:
            free = free._replace(a=jnp.where(friction.holds, 0.0, free.a))  # rigid friction holds the mass
        walls = tuple(wall.touched(each, free) for wall, each in zip(self.walls, walls, strict=True))
        return Contacts(friction, walls), force

    def phase(self, memory: Contacts, x: Array, v: Array, a: Array) -> Phase:
        """The present phase (see `law.ContactLaw`)."""
        phases = [wall.phase(each, x, v, a) for wall, each in zip(self.walls, memory.walls, strict=True)]
        guards = tuple(guard for phase in phases for guard in phase.guards)
        moves = on_n = carries = own = None
        if self.friction is not None and memory.friction is not None:
            friction = self.friction.phase(memory.friction, x, v, a)
            moves, on_n, carries, own = friction.moves, friction.on_n, friction.carries, friction.own_stiffness
            if moves is not None:
                free = moves > 0.0
                guards = tuple(choose(free, guard, _carried(guard, carries)) for guard in guards)
            phases, guards = [friction, *phases], (*friction.guards, *guards)
        slopes = [phase.damping_slope for phase in phases if phase.damping_slope is not None]
        stiffness, damping = _total([phase.stiffness for phase in phases]), _total([phase.damping for phase in phases])
        return Phase(stiffness, damping, alike(*guards), moves, _total(slopes) if slopes else None, on_n, carries, own)

    def transition(self, memory: Contacts, crossed: tuple[Array, ...], v0: Array, at: Instant) -> tuple[Contacts, Array, Array]:
        """The memory and the motion after an event (see `law.ContactLaw`)."""
        slips, hits = self._split(crossed)
        v, a, friction, pulls = at.v, at.a, None, []
        if self.friction is not None and memory.friction is not None:
            friction, v, a = self.friction.transition(memory.friction, slips, v0, self._beside_walls(at, memory.walls))
            pulls = [friction.force]
        at_rest = [wall.at_rest(each, at.x) for wall, each in zip(self.walls, memory.walls, strict=True)]
        walls = []
        for i, (wall, each) in enumerate(zip(self.walls, memory.walls, strict=True)):
            others = _others(at_rest, i)
            needed = _total([at.needed, *pulls, *(force for force, _ in others)])
            drag = _total([at.drag, *(damping for _, damping in others)])
            after, v, a = wall.transition(each, hits[i], v0, at._replace(v=v, a=a, needed=needed, drag=drag))
            walls.append(after)
        # a contact that changes its law changes the acceleration, and with it what grows at the others. An extreme of speed or force does
        # not: where two of them coincide each has its own event, or they would undo each other for ever
        jumps = [(now.phase != was.phase) | (now.piece != was.piece) for now, was in zip(walls, memory.walls, strict=True)]
        torn = []
        if friction is not None and jumps and self.friction is not None and self.friction.belt is not None and self.friction.spring is None:
            jumped = functools.reduce(operator.or_, jumps)
            torn = [jumped & friction.holds]
            friction, v, a = self._torn_off(friction, jumped, at._replace(v=v, a=a), tuple(walls))
        slip = [] if friction is None or memory.friction is None else [friction.direction != memory.friction.direction]
        outside = [] if at.jumped is None else [at.jumped]
        for i, wall in enumerate(self.walls):
            if elsewhere := [*slip, *_others(jumps, i), *outside, *torn]:
                here, turned = walls[i], wall.refreshed(walls[i], at.x, v, a)
                changed = functools.reduce(operator.or_, elsewhere)
                walls[i] = Pressed(*(jnp.where(changed, new, old) for new, old in zip(turned, here, strict=True)))
        if friction is not None and jumps:
            rising = jnp.where(friction.direction * a >= 0.0, jnp.abs(friction.direction), 0.0)
            friction = friction._replace(rising=jnp.where(functools.reduce(operator.or_, jumps), rising, friction.rising))
        return Contacts(friction, tuple(walls)), v, a

    def _torn_off(
        self, friction: FrictionState, jumped: Array, at: Instant, walls: tuple[Pressed, ...]
    ) -> tuple[FrictionState, Array, Array]:
        """Rigid friction and the motion of a mass that its surface carries, where the force of a wall has `jumped`.

        The friction has been through its own events already, before the walls went through theirs: with the new force it may not hold.
        """
        if self.friction is None:
            return friction, at.v, at.a
        never = tuple(jnp.zeros_like(jumped) for _ in range(self.friction.guard_count))
        again = self.friction.transition(friction, never, at.v, self._beside_walls(at._replace(jumped=jumped), walls))
        carried = jumped & friction.holds
        after: tuple[FrictionState, Array, Array] = jax.tree.map(
            lambda new, old: jnp.where(carried, new, old), again, (friction, at.v, at.a)
        )
        return after[0], after[1], jnp.where(after[0].holds, 0.0, after[2])

    def rest(self, memory: Contacts, at: Instant) -> tuple[Contacts, Array, Array]:
        """Unchanged: the events of these contacts do not accumulate."""
        return memory, at.v, at.a

    def kind(self, memory: Contacts, crossed: tuple[Array, ...], after: Contacts) -> Array:
        """Position of the event in `kinds`."""
        slips, hits = self._split(crossed)
        code, before = jnp.zeros_like(crossed[0], dtype=float), 0
        if self.friction is not None and memory.friction is not None and after.friction is not None:
            code, before = self.friction.kind(memory.friction, slips, after.friction), len(self.friction.kinds) - 1
        for i, wall in enumerate(self.walls):
            hit = wall.kind(memory.walls[i], hits[i], after.walls[i])
            code = jnp.where(hit > 0.0, hit + before, code)
            before += len(WALL_EVENTS) - 1
        return code

    def _split(self, crossed: tuple[Array, ...]) -> tuple[tuple[Array, ...], list[tuple[Array, ...]]]:
        """The masks of the crossing guards: those of friction, and those of each wall."""
        place = 0 if self.friction is None else self.friction.guard_count
        slips, hits = crossed[:place], []
        for wall in self.walls:
            hits.append(crossed[place : place + wall.guard_count])
            place += wall.guard_count
        return slips, hits

    def _beside_walls(self, at: Instant, walls: tuple[Pressed, ...]) -> Instant:
        """The motion as input of friction, with the forces of the walls as external forces."""
        at_rest = [wall.at_rest(each, at.x) for wall, each in zip(self.walls, walls, strict=True)]
        if not at_rest:
            return at
        force, damping = _total([force for force, _ in at_rest]), _total([damping for _, damping in at_rest])
        return at._replace(needed=at.needed + force, drag=at.drag + damping)


def _carried(guard: Guard, carries: Array | None) -> Guard:
    """The guard of a wall while friction holds the mass: it changes with the way at the velocity [m/s] of a surface that moves."""
    still = idle(guard.value)
    if carries is None:
        return still
    zero = jnp.zeros_like(guard.value)
    return choose(carries != 0.0, Guard(guard.value, zero, zero, zero, None, guard.on_d * carries), still)


def _others(values: list[Each], i: int) -> list[Each]:
    """All values but the one at `i`."""
    return values[:i] + values[i + 1 :]


def _total(values: Iterable[Array]) -> Array:
    """The sum of at least one value; one value stays as it is to the last bit."""
    return functools.reduce(operator.add, values)
