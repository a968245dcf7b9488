"""A Runge-Kutta step of a structure whose supports keep their phases: where the first of them changes, and their state then.

The motion along the axes of supports is a polynomial of degree 5 through both ends of the step (`dense_output.motion`). Margins
(`contact_phases`) are evaluated at five nodes, where they seem least between nodes, and at `_SECANTS` points towards the first change.
A change whose margin is below 0 for less than about a hundredth of a step may be missed.
"""

from __future__ import annotations

import functools
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact import contact_phases
from tribosweep.kernels.contact.contact_phases import Margins
from tribosweep.kernels.contact.impact_sliding import ImpactSliding, Touch, Vector, scalar, size
from tribosweep.kernels.models.supports import RING
from tribosweep.kernels.numerics.fusion import decide, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, choice
from tribosweep.kernels.numerics.tangents import only_tangent
from tribosweep.kernels.stepping import dense_output
from tribosweep.kernels.stepping.dense_output import Polynomial
from tribosweep.kernels.stepping.scheme import StepState
from tribosweep.kernels.stepping.structure import Structure

_SECANTS = 7  # by the Illinois rule; the chord through the last two follows
_LEAST = 1e-7  # of a step: a change at its beginning comes then, so that time goes on
_SAME = 1e-9  # changes closer than this part of a step come at once
_AFTER = 0.01  # of a step: a least margin before this is that of the beginning
_BEGINS = 1.0 / 64.0  # of the slope: a margin that begins at 0 and grows


class Course(NamedTuple):
    """The supports of one group over a step of `h` [s].

    Attributes:
        moved, velocity, acceleration: along the axes, since the start of the step [m], [m/s], [m/s^2].
        keeps: see `ImpactSliding.evaluate`. arc: the way around a ring [m]; None of other supports.
        touches, margins: at the nodes `dense_output.FIFTHS`. speeds: velocities there [m/s].
    """

    moved: tuple[Polynomial, ...]
    velocity: tuple[Polynomial, ...]
    acceleration: tuple[Polynomial, ...]
    h: Array
    keeps: Array
    arc: Polynomial | None = None
    touches: tuple[Touch, ...] = ()
    margins: tuple[Margins, ...] = ()
    speeds: tuple[Vector, ...] = ()

    def at(self, group: ImpactSliding, memory: Touch, u: Array | float) -> tuple[Touch, Margins, Vector]:
        """State, margins and velocity at a fraction of the step, of each support at its own."""
        moved, velocity, acceleration = (tuple(each.at(u) for each in part) for part in (self.moved, self.velocity, self.acceleration))
        place = tuple(start + way for start, way in zip(memory.place, moved, strict=True))
        arc = None if self.arc is None else self.arc.at(u)
        _, touch = group.evaluate(memory, place, moved, velocity, self.keeps, arc)
        return touch, contact_phases.margins(group, memory, touch, velocity, acceleration, self.h), velocity


class Ends(NamedTuple):
    """Velocities and accelerations along the axes of the supports of each group at the ends of a step, and what they moved in it."""

    velocity: tuple[list[Vector], list[Vector]]
    acceleration: tuple[list[Vector], list[Vector]]
    moved: list[Vector]


def ends_of(body: Structure, before: StepState, after: StepState, moved: Array) -> Ends:
    """The ends of a step from `before` to `after`."""
    return Ends((body.along(before.v), body.along(after.v)), (body.along(before.a), body.along(after.a)), body.along(moved))


def courses(body: Structure, before: tuple[Touch, ...], after: tuple[Touch, ...], ends: Ends, h: Array, keeps: Array) -> tuple[Course, ...]:
    """The course of each group over a step of `h` [s]; `before` and `after`: states of the supports."""
    found = []
    for place, (group, memory, last) in enumerate(zip(body.groups, before, after, strict=True)):
        v0, v1, a0, a1, moved = (each[place] for each in (*ends.velocity, *ends.acceleration, ends.moved))
        ways = tuple(dense_output.motion(h, *each) for each in zip(v0, v1, moved, a0, a1, strict=True))
        speeds = tuple(dense_output.velocity(way, h) for way in ways)
        course = Course(ways, speeds, tuple(dense_output.velocity(speed, h) for speed in speeds), h, keeps)
        if group.kind.obstacle == RING:
            course = course._replace(arc=_arc(group, memory, course))
        nodes = jnp.asarray(dense_output.FIFTHS[1:-1], h.dtype)
        every = jax.vmap(functools.partial(course.at, group, memory))(nodes)
        inner = [jax.tree.map(operator.itemgetter(node), every) for node in range(len(nodes))]
        first = contact_phases.margins(group, memory, memory, v0, a0, h)
        final = contact_phases.margins(group, memory, last, v1, a1, h)
        found.append(
            course._replace(
                touches=(memory, *(touch for touch, _, _ in inner), last),
                margins=(first, *(margin for _, margin, _ in inner), final),
                speeds=(v0, *(speed for _, _, speed in inner), v1),
            )
        )
    return tuple(found)


def _arc(group: ImpactSliding, memory: Touch, course: Course) -> Polynomial:
    """The way around a ring since the start of a step [m], as exact as the motion."""
    speeds = []
    for node in dense_output.FIFTHS:
        place = tuple(start + way.at(node) for start, way in zip(memory.place, course.moved, strict=True))
        speeds.append(group.around(place, tuple(each.at(node) for each in course.velocity)))
    rates = dense_output.through(tuple(speeds)).coefficients
    return Polynomial((0.0 * course.h, *(course.h * rate / (n + 1.0) for n, rate in enumerate(rates))))


def first_change(
    body: Structure, before: tuple[Touch, ...], along: tuple[Course, ...], due: tuple[Array, ...]
) -> tuple[Array, tuple[Array, ...]]:
    """The fraction of the step at which a phase first changes, inf if none does, and 1 for the supports that change then, else 0.

    A change that is `due` at the end of the step is not looked for.
    """
    none = 0.0 * along[0].h
    roots = tuple(
        jnp.where(waits > 0.5, jnp.inf, _first(course, group, memory))
        for course, group, memory, waits in zip(along, body.groups, before, due, strict=True)
    )
    first = none + jnp.inf
    for root in roots:
        first = jnp.minimum(first, jnp.min(root, axis=0, initial=jnp.inf))
    (first,) = fusion_barrier(jnp.maximum(first, _LEAST))
    return first, tuple(((root <= first + _SAME) & (root < jnp.inf)).astype(none.dtype) for root in roots)


def late(body: Structure, along: tuple[Course, ...], changes: tuple[Array, ...]) -> Array:
    """How the instant moves at which phases change at the end of a step [s]: 0, with a derivative.

    The margin there stays 0: that of the normal force or that of friction, whichever it is. Of several changes at once it is the mean;
    `changes`: 1 for the supports that change, else 0.
    """
    total = number = 0.0 * along[0].h
    for group, course, chosen in zip(body.groups, along, changes, strict=True):
        end = course.margins[-1]
        normal = end.leaves
        frictions = [margin.friction for margin in course.margins]
        if group.tangents:  # what is held may change its sign within the step, and then its size has no slope
            last = course.touches[-1].tangential
            length = size(last, end.normal)
            by_length = 1.0 / jnp.where(length > 0.0, length, 1.0)
            held = [group.mu_s * touch.normal - scalar(touch.tangential, last) * by_length for touch in course.touches]
            slips = course.touches[-1].slips > 0.5
            frictions = [jnp.where(slips, friction, holds) for friction, holds in zip(frictions, held, strict=True)]
        nodes = zip(course.margins, frictions, strict=True)
        values = tuple(jax.lax.stop_gradient(jnp.where(normal, margin.normal, friction)) for margin, friction in nodes)
        slope = dense_output.through(values).rate.at(1.0) / jnp.where(course.h > 0.0, course.h, jnp.inf)
        passes = (chosen > 0.5) & (slope < 0.0)
        moves = only_tangent(jnp.where(passes, jnp.where(normal, end.normal, end.friction), 0.0)) / jnp.where(passes, -slope, 1.0)
        total = total + jnp.sum(jnp.where(passes, moves, 0.0), axis=0)
        number = number + jnp.sum(jnp.where(passes, 1.0, 0.0), axis=0).astype(total.dtype)
    return total / jnp.maximum(number, 1.0)


def _first(course: Course, group: ImpactSliding, memory: Touch) -> Array:
    """For each support the fraction at which one of its margins first passes 0, inf if none does."""
    nodes = dense_output.FIFTHS
    margins = [(jax.lax.stop_gradient(margin.normal), jax.lax.stop_gradient(margin.friction)) for margin in course.margins]
    values = [jax.lax.stop_gradient(margin.least) for margin in course.margins]

    # between nodes the margin is least near the vertex of the parabola through the three nodes about the least one
    middle, a, b, c = jnp.full_like(values[0], nodes[1]), values[0], values[1], values[2]
    for node, left, here, right in zip(nodes[2:4], values[1:], values[2:], values[3:], strict=False):
        nearer = here < b
        middle = jnp.where(nearer, node, middle)
        a, b, c = (jnp.where(nearer, *each) for each in ((left, a), (here, b), (right, c)))
    bend = a - 2.0 * b + c
    vertex = middle + 0.125 * (a - c) / jnp.where(bend > 0.0, bend, jnp.inf)
    vertex = jnp.clip(jnp.where(jnp.isfinite(vertex), vertex, 1.0), 0.0, 1.0)
    there = course.at(group, memory, vertex)[1]
    dips = (there.least < 0.0) & (vertex > _AFTER)

    low, high = jnp.zeros_like(vertex), jnp.where(dips, vertex, 1.0)
    ends = tuple(jnp.where(dips, *each) for each in zip((there.normal, there.friction), margins[-1], strict=True))
    found = jnp.where(dips, True, values[-1] < 0.0)
    for node, value, margin in reversed(list(zip(nodes[1:], values[1:], margins[1:], strict=True))):
        beyond = (value < 0.0) & (node <= high)
        high, found = jnp.where(beyond, node, high), found | beyond
        ends = tuple(jnp.where(beyond, *each) for each in zip(margin, ends, strict=True))
    slopes = (dense_output.through(each).coefficients[1] for each in zip(*margins, strict=True))
    begins = tuple(
        jnp.where(first > 0.0, first, jnp.where(slope > 0.0, _BEGINS * slope, 0.0)) for first, slope in zip(margins[0], slopes, strict=True)
    )
    for node, margin in zip(nodes[1:], margins[1:], strict=True):
        within = node < high
        low, begins = jnp.where(within, node, low), tuple(jnp.where(within, *each) for each in zip(margin, begins, strict=True))
    # only margins that fall below 0 count: that of a contact that has just begun is small, and grows
    falls = tuple(end < 0.0 for end in ends)
    normal, friction, both = decide(falls[0] & ~falls[1], falls[1] & ~falls[0], falls[0] & falls[1], like=vertex)
    begin = jnp.where(normal, begins[0], jnp.where(friction, begins[1], jnp.minimum(*begins)))
    end = jnp.where(found, jnp.where(normal | both, ends[0], ends[1]), -1.0)
    at_once = begin <= 0.0

    def nearer_still(_: int, bracket: tuple[Array, ...]) -> tuple[Array, ...]:
        low, high, begin, end, side = bracket
        u = low + (high - low) * begin / (begin - end)
        margin = course.at(group, memory, u)[1]
        (value,) = fusion_barrier(jnp.where(normal, margin.normal, jnp.where(friction, margin.friction, margin.least)))
        passed = value < 0.0
        # the end that stays for a second time counts half
        begin, end = (
            jnp.where(passed, jnp.where(side > 0.0, 0.5 * begin, begin), value),
            jnp.where(passed, value, jnp.where(side < 0.0, 0.5 * end, end)),
        )
        return jnp.where(passed, low, u), jnp.where(passed, u, high), begin, end, choice(passed, 1.0, -1.0, end)

    low, high, begin, end, _ = jax.lax.fori_loop(0, _SECANTS, nearer_still, (low, high, begin, end, 0.0 * end))
    return jnp.where(found, jnp.where(at_once, 0.0, low + (high - low) * begin / (begin - end)), jnp.inf)
