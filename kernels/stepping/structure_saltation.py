"""Derivatives at the instants at which forces of supports jump: what `saltation` is for one oscillator, for structures.

Where contact begins the normal force jumps to c_n p', and the friction to what damper and cone allow. Where slip begins, friction falls
from mu_s F_n to mu_d F_n. Where slip ends no force jumps, but sums of slip end. All terms have the value 0.
"""

from __future__ import annotations

import jax.numpy as jnp

from tribosweep.kernels.contact.contact_phases import margins
from tribosweep.kernels.contact.impact_sliding import ImpactSliding, Touch, Vector, across, size
from tribosweep.kernels.models.supports import PLANE, RETURN_MAPPING, RING
from tribosweep.kernels.numerics.numbers import Array, choice
from tribosweep.kernels.numerics.tangents import only_tangent, with_tangent_of
from tribosweep.kernels.stepping.structure import Structure, spread, turned

# of a group of G supports at the start and at the end of a step: velocity [m/s] and acceleration [m/s^2] along its axes, (G,) each
Ends = tuple[tuple[Vector, Vector], tuple[Vector, Vector]]


def of_structure(body: Structure, before: tuple[Touch, ...], after: tuple[Touch, ...], h: Array) -> Array | None:
    """Change of the velocities of all coordinates [m/s], (N,), by the jumps within a step of `h` [s]; None without contacts."""
    impulses: list[Array] = []
    for group, turn, was, now in zip(body.groups, body.turns, before, after, strict=True):
        impulses += turned(lacking(group, was, now, h), turn, -1.0)
    return spread(jnp.concatenate(impulses), body.shapes) * body.by_mass if impulses else None


def of_work(body: Structure, before: tuple[Touch, ...], after: tuple[Touch, ...], h: Array) -> Array:
    """What the work of supports lacks in a step of `h` [s] [J]: 0, with a derivative. The way of the step is taken at an even speed."""
    work, by = 0.0 * h, 1.0 / jnp.where(h > 0.0, h, 1.0)
    for group, was, now in zip(body.groups, before, after, strict=True):
        for impulse, place, there in zip(lacking(group, was, now, h), was.place, now.place, strict=True):
            work = work + jnp.sum(impulse * (there - place), axis=0) * by
    return work


def lacking(group: ImpactSliding, before: Touch, after: Touch, h: Array) -> Vector:
    """What the impulses on the structure along the axes of supports lack in a step of `h` [s], (G,) each [N s]: 0, with a derivative."""
    entering, part, deep = _entry(group, before, after)
    late = only_tangent(part)
    normal = -late * group.c_n * deep
    arrives = deep / jnp.where(h > 0.0, h, 1.0), before.speed
    tangential, _, _ = _at_entry(group, after, entering, arrives)
    slipping = jump_of_slip(group, before, after)
    along = tuple(h * jump - late * h * force for force, jump in zip(tangential, slipping, strict=True))
    return group.forces(normal, along, _outward(group, after))


def jump_of_slip(group: ImpactSliding, before: Touch, after: Touch) -> Vector:
    """What the mean friction of a step lacks where slip begins within it, along the tangential axes [N]: 0, with a derivative."""
    if not group.tangents:
        return ()
    held = tuple(  # the force of a contact that would hold
        force - group.k_t * (way - (now - was))
        for force, way, now, was in zip(after.tangential, after.way, after.elongation, before.elongation, strict=True)
    )
    along = size(after.tangential, after.normal)
    by_along = 1.0 / jnp.where(along > 0.0, along, 1.0)
    if group.kind.law != RETURN_MAPPING:  # its elongation leaves out the damper
        held = tuple(pull + group.c_t * after.speed * by_along * force for pull, force in zip(held, after.tangential, strict=True))
    length = size(held, after.normal)
    by_length = 1.0 / jnp.where(length > 0.0, length, 1.0)
    left, lacks = group.mu_s * before.normal - size(before.tangential, after.normal), length - group.mu_s * after.normal
    begins = (before.normal > 0.0) & (after.normal > 0.0) & (before.slips < 0.5) & (after.slips > 0.5)
    begins = begins & (left >= 0.0) & (lacks >= 0.0) & (left + lacks > 0.0)
    part = jnp.where(begins, left / jnp.where(begins, left + lacks, 1.0), 0.0)
    late = only_tangent(part) * (before.normal + part * (after.normal - before.normal))
    return tuple(
        late * (group.mu_s * pull * by_length - group.mu_d * force * by_along) for force, pull in zip(after.tangential, held, strict=True)
    )


def of_stop(group: ImpactSliding, before: Touch, after: Touch, ends: Ends, h: Array) -> Array:
    """How the instant moves at which an anchor stops within a step of `h` [s], (G,) [s]: 0, with a derivative.

    Its speed, that of the motion at the `ends` of the step, passes 0 there. No force jumps, but slip and its power end.
    """
    if group.kind.law != RETURN_MAPPING or not group.tangents:
        return 0.0 * after.normal
    starts, goes_on = (margins(group, before, touch, *motion, h).sliding for touch, motion in zip((before, after), ends, strict=True))
    stops = (before.normal > 0.0) & (after.normal > 0.0) & (before.slips > 0.5) & (after.slips < 0.5) & (starts > goes_on)
    stops = stops & (jnp.abs(starts) <= starts - goes_on)  # a scheme sees it in that step or in the next one
    passed = jnp.where(stops, starts, 0.0) / jnp.where(stops, starts - goes_on, 1.0)
    entering, part, _ = _entry(group, before, after)
    at_once = entering & (after.slips > 0.5) & (margins(group, after, after, *ends[1], h).sliding <= 0.0)  # slip that ends where it begins
    return only_tangent(jnp.where(at_once, part, passed)) * h


def anchored(group: ImpactSliding, before: Touch, after: Touch, motion: tuple[Vector, Vector], h: Array) -> Touch:
    """The state of supports after a step of `h` [s], with the derivative of springs that begin at the entry.

    The friction of the first evaluation after an entry is that of its cone there, whatever the instant of the entry. The spring's place
    follows that instant: the motion sticks or slips from there on. `motion`: velocity and acceleration along the axes at the start of the
    step [m/s], [m/s^2].
    """
    if group.kind.law != RETURN_MAPPING or not group.tangents:
        return after
    entering, part, _ = _entry(group, before, after)
    _, starts, beyond = _at_entry(group, after, entering, _arrives(group, before, after, motion, part * h))
    held = tuple(start + way for start, way in zip(starts, after.way, strict=True))
    pulled = tuple(force + group.k_t * (now - each) for force, now, each in zip(after.tangential, after.elongation, held, strict=True))
    length = size(pulled, after.normal)
    slips = length > jnp.where(beyond, group.mu_d, group.mu_s) * after.normal
    scale = group.mu_d * after.normal / jnp.where(length > 0.0, length, 1.0)
    elongation = tuple(
        with_tangent_of(
            jnp.where(entering, jnp.where(slips, now + (force - scale * pull) / group.k_t, each), now),
            now,
        )
        for now, force, pull, each in zip(after.elongation, after.tangential, pulled, held, strict=True)
    )
    return after._replace(elongation=elongation)


def _entry(group: ImpactSliding, before: Touch, after: Touch) -> tuple[Array, Array, Array]:
    """Whether contact is made within a step, at which fraction of it, and how deep the step ends [m] (0 without entry)."""
    low = before.depth
    if group.kind.obstacle not in (PLANE, RING):  # the side that is touched at the end
        low = _outward(group, after)[0] * (before.place[0] - group.centre[0]) - group.gap
    entering = before.enters(after)
    span = jnp.where(entering, after.depth - low, 0.0)
    return entering, jnp.where(entering, -low / jnp.where(entering, span, 1.0), 0.0), span


def _arrives(group: ImpactSliding, before: Touch, after: Touch, motion: tuple[Vector, Vector], since: Array) -> tuple[Array, Array]:
    """Velocities [m/s] inward, and along the face, of points that fly freely for a time `since` the start of a step [s]."""
    velocity = tuple(v + since * a for v, a in zip(*motion, strict=True))
    if group.kind.obstacle != RING:
        return _outward(group, after)[0] * velocity[0], size(velocity[1:], since)
    place = tuple(along + since * v for along, v in zip(before.place, motion[0], strict=True))
    first, second = _outward(group, before._replace(place=place))
    speed = (across((first, second), velocity), *velocity[2:])
    return first * velocity[0] + second * velocity[1], size(speed, since)


def _at_entry(group: ImpactSliding, after: Touch, entering: Array, arrives: tuple[Array, Array]) -> tuple[Vector, Vector, Array]:
    """At an entry: the friction force [N], the elongation [m], and whether the damper is beyond the cone there; see the oracle.

    `arrives`: velocities of the points there, inward and along the face [m/s].
    """
    normal, pull = group.c_n * arrives[0], group.c_t * arrives[1]
    beyond = entering & (pull > group.mu_s * normal)
    force = jnp.where(entering, jnp.where(beyond, group.mu_d * normal, pull), 0.0)
    longer = jnp.where(beyond, (force - pull) / group.k_t, 0.0)
    distance = size(after.way, normal)
    ways = tuple(way / jnp.where(distance > 0.0, distance, 1.0) for way in after.way)
    return tuple(-force * way for way in ways), tuple(longer * way for way in ways), beyond


def _outward(group: ImpactSliding, touch: Touch) -> Vector:
    """The outward direction along one or two axes."""
    place = tuple(along - centre for along, centre in zip(touch.place, group.centre, strict=True))
    if group.kind.obstacle == RING:
        radius = size(place[:2], place[0])
        by = 1.0 / jnp.where(radius > 0.0, radius, 1.0)
        return place[0] * by, place[1] * by
    return (jnp.ones_like(place[0]) if group.kind.obstacle == PLANE else choice(place[0] < 0.0, -1.0, 1.0, place[0]),)
