"""What a step did at a wall; instants within it lie where a straight line between its ends crosses."""

from __future__ import annotations

import jax.numpy as jnp

from kernels.contact.wall import Crush, Wall
from kernels.numerics.numbers import Array
from kernels.observables import impacts
from kernels.stepping.scheme import State


def update(sums: impacts.Shock | None, wall: Wall | None, before: State, after: State, since: Array, h: Array) -> impacts.Shock | None:
    """Sums of shock after a step of `h` [s] that began at `since` [s], where there is a wall."""
    was, now = before.memory.crush, after.memory.crush
    if wall is None or sums is None or was is None or now is None:
        return None
    return impacts.update(sums, push(wall, before, after, was, now, since, h))


def compression(wall: Wall, x: Array, rest: Array | None = None) -> Array:
    """Compression [m] of the wall that is nearer, negative where none is touched; `rest` [m] is what rounding left out of `x`."""
    y = jnp.where(wall.two_sided > 0.0, jnp.abs(x), x) - wall.gap
    return y if rest is None else y + jnp.where((wall.two_sided > 0.0) & (x < 0.0), -rest, rest)


def push(wall: Wall, start: State, end: State, before: Crush, after: Crush, since: Array, h: Array) -> impacts.Push:
    """What a step of `h` [s] from `since` [s] on did at the wall, given what that remembers at its ends."""
    y0, y = compression(wall, start.x, start.rest), compression(wall, end.x, end.rest)
    entered, left = (y0 <= 0.0) & (y > 0.0), (y0 > 0.0) & (y <= 0.0)
    pushed, pushes = before.force > 0.0, after.force > 0.0
    parted, met = pushed & ~pushes, ~pushed & pushes
    buckled = after.buckled > before.buckled

    def part(low: Array, high: Array) -> Array:
        """Where in the step a line from `low` to `high` comes to 0, in [0, 1]."""
        return jnp.clip(low / jnp.where(low != high, low - high, 1.0), 0.0, 1.0)

    through, without, at_criterion = part(y0, y), part(before.trial, after.trial), jnp.zeros_like(y)
    if wall.envelope is not None:  # grown as it would have without buckling, which a scheme may see within the step
        k, c = wall.envelope.stiffness(before.largest), wall.envelope.damping(before.largest)
        growth = 0.5 * h * k * (start.v + end.v) + jnp.where(wall.included > 0.0, c * (end.v - start.v), 0.0)
        short = before.reach - wall.envelope.criterion(before.largest)
        at_criterion = part(short, short + growth)
    place = jnp.where(entered | left, through, jnp.where(parted | met, without, jnp.where(buckled, at_criterion, 1.0)))
    separated = jnp.where(left & parted, without, place)
    pressed = jnp.where(pushed & pushes, 1.0, jnp.where(parted, separated, jnp.where(met, 1.0 - place, 0.0)))
    instant = since + h * place
    return impacts.Push(
        time=jnp.where(buckled, since + h * at_criterion, instant),
        velocity=start.v + (end.v - start.v) * place,
        entered=entered,
        left=left,
        parted=parted,
        buckled=buckled,
        force=after.force,
        pressed=h * pressed,
        impulse=0.5 * h * pressed * (before.force + after.force),
        compression=jnp.maximum(y, 0.0),
    )
