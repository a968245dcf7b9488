"""What the points of a structure and its energies do in the window, added up step by step; of its supports see `observe_contacts`."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp

from tribosweep.kernels.models.supports import named
from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.numerics.tangents import moved_with
from tribosweep.kernels.stepping import dense_output, observe_contacts, structure_saltation
from tribosweep.kernels.stepping.observe_wall import WindowPart
from tribosweep.kernels.stepping.scheme import StepState, Trial
from tribosweep.kernels.stepping.structure import Acting, Structure, summed, summed_squares, times
from tribosweep.kernels.stepping.structure_course import Course
from tribosweep.kernels.stepping.structure_run import (
    PointSums,
    Seen,
    StructureRun,
    StructureSetup,
    StructureSums,
    Work,
    initial,
    touches_of,
)


def _braking(setup: StructureSetup, v: Array, stored: bool = False) -> Array:
    """Power of the structure's own damping at coordinates' velocities `v` [W]."""
    braking = summed_squares(setup.resistance, v) if stored else summed(setup.resistance * v * v)
    if setup.body.coupling is not None:
        braking = braking + summed(setup.mass * v * times(setup.body.coupling, v, stored))
    return fusion_barrier(braking)[0]


def see(setup: StructureSetup, state: StepState, load: Acting) -> Seen:
    """What the sums need of an instant, with its `load`."""
    braking = _braking(setup, state.v, load.stored)
    along, points = (times(matrix, state.x, load.stored) for matrix in (setup.loads.vectors, setup.p["points"]))
    return Seen(load.sizes, along, points, braking)


def observe(
    setup: StructureSetup, run: StructureRun, trial: Trial, seen: Seen, h: Array, part: WindowPart | None, straight: bool
) -> StructureSums:
    """Sums after a step of `h` [s] from a run to what is `seen`; for `part` of it and `straight` see `observe_contacts.update`."""
    body, before, after, was = setup.body, run.state, trial.state, run.sums
    motions = tuple(tuple(zip(body.along(state.v), body.along(state.a), strict=True)) for state in (before, after))
    contacts = tuple(
        observe_contacts.update(
            sums, group, one, other, h, part, structure_saltation.of_stop(group, one, other, ends, h), straight, setup.key.peak_edges
        )
        for sums, group, one, other, ends in zip(
            was.contacts, body.groups, touches_of(before), touches_of(after), zip(*motions, strict=True), strict=True
        )
    )
    low, high, length = run.seen.points, seen.points, h
    if part is not None:
        here, there = low, high
        low, high, length = here + (there - here) * part.start, here + (there - here) * part.end, h * (part.end - part.start)
    square = was.points.square + length * (low * low + low * high + high * high) * (1.0 / 3.0)
    largest = jnp.maximum(was.points.largest, jnp.maximum(jnp.abs(low), jnp.abs(high)))
    if part is not None:
        largest = jnp.where(part.end > part.start, largest, was.points.largest)
    energy = was.points.energy
    if energy is not None:
        energy = energy + 0.5 * length * (_energies(body, before) + _energies(body, after))
    work = works(run, after, seen, h)
    lack = structure_saltation.of_work(body, touches_of(before), touches_of(after), h)
    work = work._replace(supports=moved_with(work.supports, lack + 0.0 * work.supports))
    return StructureSums(contacts, PointSums(square, largest, energy), work, was.totals)


def observe_along(
    setup: StructureSetup, run: StructureRun, trial: Trial, seen: Seen, h: Array, inside: Array, along: tuple[Course, ...],
    acting: tuple[Array, ...],
) -> StructureSums:  # fmt: skip
    """Sums after a step of `h` [s] along the courses of its supports; `acting`: sizes of loads at the nodes; `inside` the window or not.

    Integrals are those of Boole's rule over polynomials of the motion.
    """
    body, before, after, was = setup.body, run.state, trial.state, run.sums
    contacts = tuple(
        observe_contacts.update_along(sums, group, course, inside, setup.p["tolerance"], setup.key.peak_edges)
        for sums, group, course in zip(was.contacts, body.groups, along, strict=True)
    )
    ways = dense_output.motion(h, before.v, after.v, trial.moved, before.a, after.a)
    rates = dense_output.velocity(ways, h)
    inner = dense_output.FIFTHS[1:-1]
    places = [before.x, *(before.x + ways.at(u) for u in inner), after.x]
    speeds = [before.v, *(rates.at(u) for u in inner), after.v]
    points = (run.seen.points, *(times(setup.p["points"], place) for place in places[1:-1]), seen.points)
    length = jnp.where(inside, h, 0.0)
    square = was.points.square + length * dense_output.mean(tuple(point * point for point in points))
    largest = jnp.maximum(*(dense_output.peak(tuple(sign * point for point in points)) for sign in (1.0, -1.0)))
    largest = jnp.where(inside, jnp.maximum(was.points.largest, largest), was.points.largest)
    energy = was.points.energy
    if energy is not None:
        energies = tuple(_energies(body, before._replace(x=x, v=v)) for x, v in zip(places, speeds, strict=True))
        energy = energy + length * dense_output.mean(energies)
    braking = (run.seen.braking, *(_braking(setup, speed) for speed in speeds[1:-1]), seen.braking)
    pulled = tuple(summed(sizes * times(setup.loads.vectors, speed)) for sizes, speed in zip(acting, speeds, strict=True))
    pushed = was.work.supports
    for course in along:
        powers = [
            sum((force * v for force, v in zip(touch.force, speed, strict=True)), start=0.0 * touch.depth)
            for touch, speed in zip(course.touches, course.speeds, strict=True)
        ]
        pushed = pushed + h * summed(dense_output.mean(tuple(powers)))
    work = Work(was.work.loads + h * dense_output.mean(pulled), was.work.damping - h * dense_output.mean(braking), pushed)
    return StructureSums(contacts, PointSums(square, largest, energy), work, was.totals)


def _energies(body: Structure, state: StepState) -> Array:
    """Kinetic and elastic energy of each coordinate [J], (N,)."""
    return 0.5 * (state.v * state.v + body.stiffness * state.x * state.x) / body.by_mass


def works(run: StructureRun, after: StepState, seen: Seen, h: Array) -> Work:
    """Work of a step: forces are linear over it (the trapezoidal rule)."""
    was, now, work = run.seen, seen, run.sums.work
    pulled = 0.5 * summed((was.sizes + now.sizes) * (now.along - was.along))
    lost = -0.5 * h * (was.braking + now.braking)
    pushed = work.supports
    for one, other in zip(touches_of(run.state), touches_of(after), strict=True):
        for force, place, more, there in zip(one.force, one.place, other.force, other.place, strict=True):
            pushed = pushed + 0.5 * summed((force + more) * (there - place))
    return Work(work.loads + pulled, work.damping + lost, pushed)


def powers(setup: StructureSetup, state: StepState, seen: Seen) -> Work:
    """The rates of `Work` at an instant [W]."""
    pushed = 0.0 * seen.braking
    for touch, speeds in zip(touches_of(state), setup.body.along(state.v), strict=True):
        for force, speed in zip(touch.force, speeds, strict=True):
            pushed = pushed + summed(force * speed)
    return Work(summed(seen.sizes * times(setup.loads.vectors, state.v)), -seen.braking, pushed)


def added_of(sums: StructureSums) -> Any:
    """The sums that grow with every step."""
    return tuple(contact.added for contact in sums.contacts), (sums.points.square, sums.points.energy), sums.work


def with_added(sums: StructureSums, added: Any) -> StructureSums:
    """The sums with others in place of `added_of`."""
    contacts, (square, energy), work = added
    return sums._replace(
        contacts=tuple(contact._replace(added=each) for contact, each in zip(sums.contacts, contacts, strict=True)),
        points=sums.points._replace(square=square, energy=energy),
        work=work,
    )


def of_points(setup: StructureSetup, state: StepState, sums: PointSums, length: Array) -> dict[str, Array]:
    """Observables of points by name."""
    points = setup.p["points"]
    place, rate = points @ state.x, points @ state.v
    mean = sums.square / length
    rms = jnp.where(mean > 0.0, jnp.sqrt(jnp.where(mean > 0.0, mean, 1.0)), 0.0)
    parts = {"end": place, "rate_end": rate, "rms": rms, "max": sums.largest}
    return {
        named(f"{axis}_{name}", point): values[row] for name, values in parts.items() for row, (point, axis) in enumerate(setup.key.points)
    }


def of_energies(setup: StructureSetup, state: StepState, work: Work) -> dict[str, Array]:
    """Observables of energies by name."""
    body = setup.body

    def energy(x: Array, v: Array) -> Array:
        return 0.5 * jnp.sum((v * v + body.stiffness * x * x) / body.by_mass)

    first, end = energy(*initial(setup)), energy(state.x, state.v)
    lack = (end - first) - (work.loads + work.damping + work.supports)
    scale = functools.reduce(jnp.maximum, (jnp.abs(value) for value in (first, end, *work)))
    return {
        "energy_end": end,
        "load_work": work.loads,
        "damping_work": work.damping,
        "support_work": work.supports,
        "energy_error": jnp.where(scale > 0.0, jnp.abs(lack) / jnp.where(scale > 0.0, scale, 1.0), 0.0),
    }
