"""Derivatives at the instants at which a contact force jumps: entries with a damper, walls that soften at once, slip where mu_s > mu_d.

A scheme sees such an instant at one of its evaluations, so the computed motion does not follow the instant as it moves within the step: in
the derivative of the velocity after the step, - J dt is missing, where J is the jump of the acceleration and t the instant. `kicked` adds
that to the derivative and leaves the value as it is. The instant is where a straight line between the ends of the step passes the entry,
the softening or the limit of stick: the derivative is right to first order in the length of that step. What it does to the displacement
within the step is of second order.

J of an entry is in proportion to the speed of entry, so the product is finite however slow the entry. Where slip begins slowly the
derivative is as large as that of the motion; where the motion only touches an obstacle or the limit of stick, it has no derivative, and
that here is the one without the event. What is summed over the step has its own terms, in `observe_contacts` and `observe_wall`.

Source: Müller (1995), Chaos, Solitons and Fractals 5, 1671-1681.
"""

from __future__ import annotations

import functools
import operator

import jax.numpy as jnp

from tribosweep.kernels.contact.friction_law import SupportStep
from tribosweep.kernels.contact.wall import Crush, Wall
from tribosweep.kernels.numerics.numbers import Array, choice
from tribosweep.kernels.numerics.tangents import moved_with, only_tangent
from tribosweep.kernels.stepping.scheme import Body, Stepper, StepState


def kicked(stepper: Stepper, state: StepState, change: Array) -> StepState:
    """The state after a step, with a `change` of its velocity [m/s] that has a derivative and no value."""
    return stepper.kicked(state, lambda v: moved_with(v, jnp.broadcast_to(change, v.shape).astype(v.dtype)))


def of_oscillator(body: Body, before: StepState, after: StepState, step: SupportStep) -> Array | None:
    """Change of the velocity [m/s] by the jumps within a step; None where no force can jump. `step`: it, in the frame of the support."""
    every = zip(body.walls, before.memory.walls, strict=True)
    changes = [_of_wall(wall, was, before, after, step.h) for wall, was in every]
    friction = body.friction.lacking(step)
    if friction is not None:
        changes.append(friction)
    return functools.reduce(operator.add, changes) * body.by_mass if changes else None


def entry_of_wall(wall: Wall, was: Crush, before: StepState, after: StepState, h: Array) -> tuple[Array, Array, Array, Array]:
    """Whether the force of a wall begins within a step of `h` [s]; at which fraction; how deep the step goes [m]; the side, +1 or -1.

    It begins at the plastic set, or before it where the damping alone reaches a criterion that includes it.
    """
    side = choice((wall.two_sided > 0.0) & (after.x < 0.0), -wall.stands, wall.stands, after.x)
    y0, y = (side * state.x - wall.gap + (0.0 if state.rest is None else side * state.rest) for state in (before, after))
    if wall.envelope is None:
        entering = (y0 <= 0.0) & (y > 0.0) & (was.force <= 0.0)
        part = -y0 / jnp.where(entering, y - y0, 1.0)
    else:
        limit, c = wall.envelope.criterion(was.largest), jnp.where(wall.included > 0.0, wall.envelope.damping(was.largest), 0.0)
        k = wall.envelope.stiffness(was.largest)
        low, high = y0 - was.plastic, y - was.plastic
        short, reached = (k * way + c * side * speed - limit for way, speed in ((low, before.v), (high, before.v + h * before.a)))
        begins = (jnp.minimum(y0, jnp.maximum(low, short)) <= 0.0) & (jnp.minimum(y, jnp.maximum(high, reached)) > 0.0)
        entering = begins & (was.force <= 0.0)
        part = jnp.maximum(_crossing(y0, y), jnp.minimum(_crossing(low, high), _crossing(short, reached)))
    span = jnp.where(entering, y - y0, 0.0)
    return entering, jnp.where(entering, part, 0.0), span, side


def _crossing(low: Array, high: Array) -> Array:
    """The fraction of a step, in [0, 1], from which on a line from `low` to `high` is above 0."""
    passes = (low <= 0.0) & (high > 0.0)
    return jnp.where(passes, -low / jnp.where(passes, high - low, 1.0), jnp.where(low > 0.0, 0.0, 1.0))


def force_at_entry(wall: Wall, was: Crush, span: Array, h: Array) -> Array:
    """The force [N] with which a wall receives a mass that comes `span` [m] deeper in a step of `h` [s]."""
    speed = span / jnp.where(h > 0.0, h, 1.0)
    if wall.envelope is None:
        return wall.received(speed)
    force = wall.envelope.damping(was.largest) * speed
    return jnp.where(wall.included > 0.0, jnp.minimum(force, wall.envelope.criterion(was.largest)), force)


def drop_of_wall(wall: Wall, was: Crush, before: StepState, after: StepState, h: Array) -> tuple[Array, Array, Array]:
    """Whether a wall softens at once in a step of `h` [s], over no width; at which fraction; by how much its force changes then [N].

    The fraction is that of the middle of the softening, so that its derivative by the width is that of the mean force.
    """
    envelope, depth, deeper = wall.envelope, wall.stands * before.x - wall.gap, wall.stands * (after.x - before.x)
    if envelope is None:
        return jnp.zeros_like(depth, bool), jnp.zeros_like(depth), jnp.zeros_like(depth)
    if before.rest is not None and after.rest is not None:
        depth, deeper = depth + wall.stands * before.rest, deeper + wall.stands * (after.rest - before.rest)
    drops = ~envelope.softens & (was.largest <= envelope.u0) & (depth + deeper > envelope.u0)
    way = jnp.where(drops, deeper, 1.0)
    place = jnp.where(drops, jnp.clip((0.5 * (envelope.u0 + envelope.u1) - depth) / way, 0.0, 1.0), 0.0)
    viscous = jnp.where(wall.included > 0.0, 0.0, (envelope.c_buckled - envelope.c_n) * deeper / jnp.where(h > 0.0, h, 1.0))
    return drops, place, jnp.where(drops, envelope.f_post - envelope.f_crit + viscous, 0.0)


def _of_wall(wall: Wall, was: Crush, before: StepState, after: StepState, h: Array) -> Array:
    """What the impulse of a wall on the mass lacks in a step of `h` [s]: 0, with a derivative [N s]."""
    _, part, span, side = entry_of_wall(wall, was, before, after, h)
    lacking = side * only_tangent(part) * h * force_at_entry(wall, was, span, h)
    if wall.envelope is None:
        return lacking
    _, place, jump = drop_of_wall(wall, was, before, after, h)
    return lacking + wall.stands * only_tangent(place) * h * jump
