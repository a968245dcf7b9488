"""Steps of Runge-Kutta schemes that end where a support of a structure changes its phase: see `structure_course`, `contact_phases`."""

from __future__ import annotations

from typing import Any, cast

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact import contact_phases
from tribosweep.kernels.numerics.fusion import decide
from tribosweep.kernels.numerics.numbers import Array, choice
from tribosweep.kernels.numerics.tangents import moved_with, with_tangent_of
from tribosweep.kernels.stepping import observe_contacts, structure_course
from tribosweep.kernels.stepping.progress import Plan
from tribosweep.kernels.stepping.scheme import Stepper, StepState
from tribosweep.kernels.stepping.step_control import ByError
from tribosweep.kernels.stepping.structure import Acting, Structure, summed
from tribosweep.kernels.stepping.structure_course import Course, Ends
from tribosweep.kernels.stepping.structure_run import StructureRun, StructureSetup, StructureSums, touches_of

_TRIES, _TRIES_EACH = 8.0, 4.0  # steps in a row that end at changes of phases: some, and some for each support


def plans(stepper: Stepper, body: Structure) -> bool:
    """Whether the steps of a scheme end where supports change their phases."""
    return isinstance(stepper.control, ByError) and bool(body.groups)


def most_tries(setup: StructureSetup) -> float:
    """How many steps in a row may be cut at changes of phases. After them one is taken whatever it crosses, so that chatter ends."""
    return _TRIES + _TRIES_EACH * len(setup.key.contacts)


def no_changes(changes: tuple[Array, ...]) -> tuple[Array, ...]:
    """Changes of no support."""
    return tuple(jnp.zeros_like(each) for each in changes)


def put_off(plan: Plan, cut: Array, planned: Array, changes: tuple[Array, ...]) -> Plan:
    """The plan after a step that is not taken: it was `cut` for some `changes`, or found too long."""
    return Plan(
        h=jnp.where(cut, planned, plan.h).astype(plan.h.dtype),
        due=choice(cut, 1.0, 0.0, plan.due),
        tries=plan.tries + choice(cut, 1.0, 0.0, plan.due),
        changes=tuple(jnp.where(cut, each, 0.0) for each in changes),
    )


def turned_over(
    setup: StructureSetup, run: StructureRun, after: StepState, sums: StructureSums, plan: Plan, ends: Ends, along: tuple[Course, ...],
    planned: Array, load: Acting, inside: Array,
) -> tuple[StepState, StructureSums]:  # fmt: skip
    """The state at the end of a step, and the sums, once the supports that are due have changed their phases.

    The instant of that moves in derivatives: they have what jumps there times its derivative.
    """
    body = setup.body
    before, now, (velocity, acceleration) = touches_of(run.state), touches_of(after), (ends.velocity[1], ends.acceleration[1])
    touches = tuple(
        contact_phases.changed(group, was, touch, v, a, planned, changes > 0.5)
        for group, was, touch, v, a, changes in zip(body.groups, before, now, velocity, acceleration, plan.changes, strict=True)
    )
    a, evaluated = body.acceleration(load._replace(keeps=plan.due >= 0.0), touches, after.x, 0.0 * after.x, after.v)
    (due,) = decide(plan.due > 0.5, like=setup.h)
    late, fixed = structure_course.late(body, along, plan.changes), jax.lax.stop_gradient
    turned, contacts, work = [], [], 0.0 * setup.h
    jumps = zip(body.groups, sums.contacts, now, touches, evaluated, along, velocity, acceleration, body.along(a), strict=True)
    for group, contact, touch, start, found, course, v, slowing, quickening in jumps:
        new = contact_phases.remembered(start, found)
        let_go = observe_contacts.let_go(group, contact, touch, new, due & inside, (v, slowing), late)
        new = contact_phases.begun(group, touch, new, v, (slowing, quickening), late)
        presses = [contact_phases.pressed(each) for each in (touch, new)]
        sliding = contact_phases.margins(group, new, new, v, quickening, course.h).sliding
        ended = observe_contacts.rate(group, touch, presses[0], course.margins[-1].sliding)
        begun = observe_contacts.rate(group, new, presses[1], sliding)
        contacts.append(observe_contacts.moved(let_go, ended, begun, jnp.where(due & inside, late, 0.0 * late)))
        powers = zip(touch.force, new.force, v, strict=True)
        work = work + summed(sum((fixed((old - force) * speed) for old, force, speed in powers), start=0.0 * touch.depth)) * late
        turned.append(new)
    kick = moved_with(after.v, fixed(after.a - a) * late)
    follows, pushes = body.acceleration(load._replace(keeps=plan.due >= 0.0), tuple(turned), after.x, 0.0 * after.x, kick)
    a = with_tangent_of(follows, a)  # that of the velocity and the springs as they are now, from where the next step goes on
    touched = jax.tree.map(with_tangent_of, tuple(map(contact_phases.remembered, turned, pushes)), tuple(turned))
    memory = jax.tree.map(lambda new, old: jnp.where(due, new, old), touched, now)
    pushed = sums.work.supports
    sums = sums._replace(
        contacts=tuple(contacts), work=sums.work._replace(supports=moved_with(pushed, jnp.where(due, work, 0.0 * work) + 0.0 * pushed))
    )
    return after._replace(v=jnp.where(due, kick, after.v), a=jnp.where(due, a, after.a), memory=cast("Any", memory)), sums


def held(setup: StructureSetup, state: StepState, ends: Ends) -> StepState:
    """The state at the start of the next step: what slips sticks if its anchor would go back."""
    body = setup.body
    memory = tuple(
        contact_phases.held(group, touch, v, a)
        for group, touch, v, a in zip(body.groups, touches_of(state), ends.velocity[1], body.along(state.a), strict=True)
    )
    return state._replace(memory=cast("Any", memory))
