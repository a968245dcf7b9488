"""What a step did at a wall. Linear interpolation between its ends gives the instant of an event within the step."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from kernels.contact.wall import Crush, Wall
from kernels.numerics.numbers import Array, choice
from kernels.observables import impacts
from kernels.observables.push import Push, Within
from kernels.stepping.scheme import Body, StepState


class WindowPart(NamedTuple):
    """Where the part of a step that lies in the window starts and ends, as fractions of the step."""

    start: Array | float
    end: Array | float


def init(body: Body, state: StepState, window_start: Array) -> tuple[impacts.Shock, ...]:
    """The sums of each wall at t = 0, where the oscillator is in `state`."""
    walls = zip(body.walls, state.memory.walls, strict=True)
    return tuple(
        impacts.init(
            0.0 * body.one, compression(wall, state.x), state.v, _side(wall, state.x), crush.buckled > 0.0, window_start,
            first=_side(wall, state.x) == wall.stands,
        )
        for wall, crush in walls
    )  # fmt: skip


def update(
    shocks: tuple[impacts.Shock, ...],
    walls: tuple[Wall, ...],
    before: StepState,
    after: StepState,
    since: Array,
    h: Array,
    part: WindowPart | None,
) -> tuple[impacts.Shock, ...]:
    """The sums of each wall after a step of `h` [s] from the time `since` [s]. `part`: its part in the window; None for none."""
    every = zip(shocks, walls, before.memory.walls, after.memory.walls, strict=True)
    return tuple(impacts.update(sums, push(wall, before, after, was, now, since, h, part)) for sums, wall, was, now in every)


def _side(wall: Wall, x: Array) -> Array:
    """The side of the nearer wall, +1 or -1."""
    return choice((wall.two_sided > 0.0) & (x < 0.0), -wall.stands, wall.stands, x)


def compression(wall: Wall, x: Array, rest: Array | None = None) -> Array:
    """Compression [m] of the nearer wall, negative if none is touched; `rest` [m] is the part of `x` lost by rounding."""
    y = jnp.where(wall.two_sided > 0.0, jnp.abs(x), wall.stands * x) - wall.gap
    return y if rest is None else y + jnp.where((wall.two_sided > 0.0) & (x < 0.0), -rest, wall.stands * rest)


def push(
    wall: Wall, start: StepState, end: StepState, before: Crush, after: Crush, since: Array, h: Array, part: WindowPart | None
) -> Push:
    """What a step of `h` [s] from the time `since` [s] did at the wall, whose state is `before` at its start and `after` at its end."""
    y0, y = compression(wall, start.x, start.rest), compression(wall, end.x, end.rest)
    side = _side(wall, start.x)
    entered, left = (y0 <= 0.0) & (y > 0.0), (y0 > 0.0) & (y <= 0.0)
    pushed, pushes = before.force > 0.0, after.force > 0.0
    parted, met = pushed & ~pushes, ~pushed & pushes
    buckled = after.buckled > before.buckled
    at_first = wall.stands * end.x - wall.gap  # compression of the first wall
    at_first = at_first if end.rest is None else at_first + wall.stands * end.rest

    def crossing(low: Array, high: Array) -> Array:
        """The fraction of the step, in [0, 1], at which a line from `low` to `high` crosses 0."""
        return jnp.clip(low / jnp.where(low != high, low - high, 1.0), 0.0, 1.0)

    through, without, at_criterion = crossing(y0, y), crossing(before.trial, after.trial), jnp.zeros_like(y)
    if wall.envelope is not None:  # the force grows as without buckling; the end of the step may lie beyond the buckling
        k, c = wall.envelope.stiffness(before.largest), wall.envelope.damping(before.largest)
        growth = 0.5 * h * k * (start.v + end.v) + jnp.where(wall.included > 0.0, c * (end.v - start.v), 0.0)
        growth = wall.stands * growth
        short = before.reach - wall.envelope.criterion(before.largest)
        at_criterion = crossing(short, short + growth)
    place = jnp.where(entered | left, through, jnp.where(parted | met, without, jnp.where(buckled, at_criterion, 1.0)))
    separated = jnp.where(left & parted, without, place)
    instant = since + h * place
    x0, x = side * start.x, side * end.x  # back at x = 0, or at a face beyond it
    homeward = crossing(x0, x)

    def within(part: WindowPart) -> Within:
        first, last = jnp.where(met, place, 0.0), jnp.where(parted, separated, 1.0)
        overlap = jnp.minimum(last, part.end) - jnp.maximum(first, part.start)
        pressed = jnp.where(pushed | pushes, h * jnp.maximum(overlap, 0.0), 0.0)

        def at_ends(low: Array, high: Array) -> Array:
            """The larger of a line's values at the ends of the part."""
            larger: Array = jnp.maximum(low + (high - low) * part.start, low + (high - low) * part.end)
            return jnp.where(part.end > part.start, jnp.maximum(larger, 0.0), 0.0)

        struck = jnp.clip((wall.rounded - y0) / jnp.where(y > y0, y - y0, 1.0), 0.0, 1.0)
        return Within(
            event=(part.start <= place) & (place < part.end),
            back=(part.start <= homeward) & (homeward < part.end),
            struck=(part.start <= struck) & ((struck < part.end) | (part.end >= 1.0)),
            force=at_ends(before.force, after.force),
            pressed=pressed,
            impulse=0.5 * pressed * (before.force + after.force),
            compression=at_ends(y0, y),
        )

    return Push(
        time=jnp.where(buckled, since + h * at_criterion, instant),
        velocity=start.v + (end.v - start.v) * place,
        entered=entered,
        left=left,
        parted=parted,
        buckled=buckled,
        back=jnp.where(wall.gap > 0.0, (x0 > 0.0) & (x <= 0.0), left),
        back_time=jnp.where(wall.gap > 0.0, since + h * homeward, instant),
        low=at_first,
        high=at_first,
        room=wall.room,
        rounded=wall.rounded,
        within=None if part is None else within(part),
    )
