"""What a time scheme observes only if asked: wear energies of the blocks of the window, and statistics.

The statistics are integrals by the trapezoidal rule for a scheme of low order. For the others they are those of Boole's rule, of order 6,
along the polynomial that is the motion within a step.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import block_means, statistics
from tribosweep.kernels.stepping import dense_output
from tribosweep.kernels.stepping.dense_output import Polynomial
from tribosweep.kernels.stepping.scheme import Body, External, StepState


class Watched(NamedTuple):
    """Wear energies (blocks,) [J] and statistics; None if they are not asked for."""

    worn: Array | None
    statistics: statistics.Statistics | None


def init(body: Body, instants: Array | None, asked: bool) -> Watched:
    """Sums before the run, in float64. `instants`: (n + 1,) bounds of the n blocks [s], or None. `asked`: whether there are statistics."""
    zero = (0.0 * body.one).astype(jnp.float64)
    return Watched(
        None if instants is None else block_means.init(zero, instants.shape[0] - 1),
        statistics.init(zero, 3 if body.walls else 2) if asked else None,
    )


class Inner(NamedTuple):
    """Along a step: displacement since its start [m], and forces at its inner nodes (`dense_output.FIFTHS`), None for straight lines."""

    course: Polynomial
    forces: tuple[Array, ...] | None


def update(
    sums: Watched,
    body: Body,
    before: StepState,
    after: StepState,
    h: Array,
    parts: Array,
    ways: Array,
    energies: Array,
    inner: Inner | None = None,
) -> Watched:
    """Sums after one more step.

    Args:
        body: the oscillator. before, after: its state at the start and end of the step. h: its length [s].
        parts: (n,) bounds of the blocks, or ends of the window, as fractions of the step in [0, 1]. ways: (n,) displacements there [m].
        energies: (n - 1,) wear energies between them [J].
        inner: along the step; None for straight lines. A step with forces at its inner nodes lies inside the window or outside.
    """
    worn = None if sums.worn is None else sums.worn + energies
    seen = sums.statistics
    if seen is not None and inner is not None:
        seen = _along(seen, body, (before, after), h, parts, inner)
    elif seen is not None:
        ends = jnp.stack([parts[0], parts[-1]])
        first, last = (values_at(body, state) for state in (before, after))
        values = first[:, None] + (last - first)[:, None] * ends
        values = values.at[0].set(before.x + jnp.stack([ways[0], ways[-1]]))
        speeds = before.v + (after.v - before.v) * ends
        length = h * (ends[1] - ends[0])
        length, values, speeds = (each.astype(seen.mean.dtype) for each in (length, values, speeds))
        seen = statistics.add(seen, 0.5 * length * jnp.ones(2), values, speeds)
        seen = statistics.widen(seen, length > 0.0, values)
    return Watched(worn, seen)


def _along(
    seen: statistics.Statistics, body: Body, states: tuple[StepState, StepState], h: Array, parts: Array, inner: Inner
) -> statistics.Statistics:
    """The statistics after a step along which there is more than straight lines."""
    before, after = states
    begin, end = parts[0], parts[-1]
    course, speed = inner.course, dense_output.velocity(inner.course, h)
    places = [begin + node * (end - begin) for node in dense_output.FIFTHS]
    first, last = (values_at(body, state)[1:] for state in states)
    forces = [first + (last - first) * u for u in places] if inner.forces is None else [first, *inner.forces, last]
    values = jnp.stack([jnp.stack([before.x + course.at(u), *force]) for u, force in zip(places, forces, strict=True)], axis=1)
    weights = h * (end - begin) * jnp.asarray(dense_output.BOOLE)
    wide = seen.mean.dtype
    seen = statistics.add(seen, weights.astype(wide), values.astype(wide), jnp.stack([speed.at(u) for u in places]).astype(wide))
    extremes = [before.x + jnp.stack(course.extremes(begin, end))]
    if inner.forces is None:
        extremes += [jnp.stack([force[0], force[-1]]) for force in values[1:]]
    else:
        # a polynomial through values on both sides of a kink would overshoot
        was, now = before.memory.friction, after.memory.friction
        smooth = [(was.slips == now.slips) & (was.slip_state * now.slip_state >= 0.0)]
        if body.walls:
            pressed = [(one.force > 0.0) & (other.force > 0.0) for one, other in zip(before.memory.walls, after.memory.walls, strict=True)]
            elastic = [one for one, wall in zip(pressed, body.walls, strict=True) if wall.envelope is None]
            smooth.append(functools.reduce(operator.or_, elastic, jnp.zeros_like(pressed[0])))
        for force, even in zip(values[1:], smooth, strict=True):
            low, high = jnp.min(force), jnp.max(force)
            lowest, highest = dense_output.through(tuple(force)).extremes()
            extremes.append(jnp.stack([jnp.where(even, lowest, low), jnp.where(even, highest, high)]))
    return statistics.widen(seen, h * (end - begin) > 0.0, jnp.stack([*extremes]).astype(wide))


def forces_within(body: Body, loads: tuple[External, ...], before: StepState, course: Polynomial, h: Array) -> tuple[Array, ...]:
    """The forces of friction and walls [N] at the inner nodes of a step, under the `loads` there."""
    speed, found = dense_output.velocity(course, h), []
    for node, load in zip(dense_output.FIFTHS[1:-1], loads, strict=True):
        moved, v = course.at(node), speed.at(node)
        x, rest = before.after(moved)
        memory = body.push(load, before.memory, x, moved, v, rest)[1]
        found.append(values_at(body, before._replace(x=x, v=v, memory=memory))[1:])
    return tuple(found)


def values_at(body: Body, state: StepState) -> Array:
    """Displacement [m], friction force and the sum of the forces of the walls [N] after a step, in the order of `statistics.SEEN`."""
    belt = body.friction.belt
    friction = body.friction.force(state.memory.friction, state.v if belt is None else state.v - belt)
    pushes = [wall.force for wall in state.memory.walls]
    return jnp.stack([state.x, friction, *([functools.reduce(operator.add, pushes)] if pushes else [])])


def finish(sums: Watched, p: dict[str, Any]) -> dict[str, Array]:
    """The observables of both by name (SI units)."""
    found = {} if sums.worn is None else block_means.finish(sums.worn, p)
    return found if sums.statistics is None else found | statistics.finish(sums.statistics)
