"""What a time scheme observes only if asked: wear energies of the blocks of the window, and statistics by the trapezoidal rule."""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.numerics.numbers import Array
from kernels.observables import block_means, statistics
from kernels.stepping.scheme import Body, StepState


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


def update(sums: Watched, body: Body, before: StepState, after: StepState, h: Array, parts: Array, ways: Array, energies: Array) -> Watched:
    """Sums after one more step.

    Args:
        body: the oscillator. before, after: its state at the start and end of the step. h: its length [s].
        parts: (n,) bounds of the blocks, or ends of the window, as fractions of the step in [0, 1]. ways: (n,) displacements there [m].
        energies: (n - 1,) wear energies between them [J].
    """
    worn = None if sums.worn is None else sums.worn + energies
    seen = sums.statistics
    if seen is not None:
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
