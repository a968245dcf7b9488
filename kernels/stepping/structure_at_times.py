"""A structure at given times: motion and forces of its contacts, linear between the ends of steps, and the impacts that end on the way."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.impact_sliding import Touch, size
from tribosweep.kernels.models.supports import named
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impact_classes
from tribosweep.kernels.observables.impact_classes import Classes
from tribosweep.kernels.stepping import structure_loop
from tribosweep.kernels.stepping.at_times import part_of
from tribosweep.kernels.stepping.scheme import Stepper, StepState
from tribosweep.kernels.stepping.structure_run import StructureRun, StructureSetup, active


class Impacts(NamedTuple):
    """The present impact of every support (S,): when it began and when it was last left [s], and its largest force so far [N].

    And the counts of those that ended.
    """

    began: Array
    left: Array
    peak: Array
    classes: Classes


class Reached(NamedTuple):
    """A run, its state after the last step but one, which ended at the time `since` [s], and the impacts so far (None: not counted)."""

    run: StructureRun
    before: StepState
    since: Array
    impacts: Impacts | None = None


def begin(stepper: Stepper, setup: StructureSetup, classes: Classes | None = None) -> Reached:
    """The run at t = 0."""
    run = structure_loop.begin(stepper, setup)
    zero = run.time(setup)
    impacts = None
    if classes is not None:
        force = _of_supports(run.state, "normal")
        impacts = Impacts(zero + 0.0 * force, zero + 0.0 * force, force, classes)
    return Reached(run, run.state, zero, impacts)


def advance(stepper: Stepper, setup: StructureSetup, reached: Reached, time: Array) -> Reached:
    """The run after the step that ends at a time [s] or later."""

    def one(reached: Reached) -> Reached:
        after = structure_loop.attempt(stepper, setup, reached.run)
        now, later = reached.run.time(setup), after.time(setup)
        taken = later > now  # an attempt that is refused changes neither
        before = jax.tree.map(lambda new, old: jnp.where(taken, new, old), reached.run.state, reached.before)
        impacts = None if reached.impacts is None else _impacts(reached.impacts, reached.run, after, now, later)
        return Reached(after, before, jnp.where(taken, now, reached.since), impacts)

    return jax.lax.while_loop(lambda each: (each.run.time(setup) < time) & active(setup, each.run), one, reached)


def _impacts(impacts: Impacts, before: StructureRun, after: StructureRun, since: Array, until: Array) -> Impacts:
    """The impacts after a step, in which a support is entered and left where a line between its penetrations passes 0."""
    one, other = (_of_supports(run.state, "depth") for run in (before, after))
    held, holds = (jnp.concatenate([sums.visit.held for sums in run.sums.contacts]) for run in (before, after))
    place = jnp.clip(one / jnp.where(one != other, one - other, 1.0), 0.0, 1.0)
    instant = since + place * (until - since)
    began = jnp.where((one <= 0.0) & (other > 0.0) & ~held, instant, impacts.began)
    left = jnp.where((one > 0.0) & (other <= 0.0), instant, impacts.left)
    largest = jnp.maximum(impacts.peak, _of_supports(after.state, "normal"))
    classes = impact_classes.count(impacts.classes, held & ~holds, left, largest, left - began)
    return Impacts(began, left, jnp.where(holds | (other > 0.0), largest, 0.0), classes)


def _of_supports(state: StepState, name: str) -> Array:
    """A field of `Touch` of all supports (S,), group after group."""
    return jnp.concatenate([getattr(touch, name) for touch in cast("tuple[Touch, ...]", state.memory)])


def sample(setup: StructureSetup, reached: Reached, time: Array) -> dict[str, Array]:
    """The channels (`tribosweep.kernels.models.signals.channels`) of a run that has advanced to a time [s]."""
    part = part_of(time, reached.since, reached.run.time(setup))
    one, other = _seen(setup, reached.before), _seen(setup, reached.run.state)
    return {name: one[name] + part * (other[name] - one[name]) for name in one}


def _seen(setup: StructureSetup, state: StepState) -> dict[str, Array]:
    """Motion and forces after a step."""
    key, points = setup.key, setup.p["points"]
    motions = [points @ each for each in (state.x, state.v, state.a)]
    found: dict[str, Any] = {}
    for row, (point, axis) in enumerate(key.points):
        for name, values in zip((axis, f"{axis}_rate", f"{axis}_acceleration"), motions, strict=True):
            found[named(name, point)] = values[row]
    for kinds, group, touch in zip(key.groups, setup.body.groups, cast("Any", state.memory), strict=True):
        centred = [along - centre for along, centre in zip(touch.place, group.centre, strict=True)]
        for place, kind in enumerate(kinds):
            parts = {
                "normal_force": touch.normal[place],
                "tangential_force": size(touch.tangential, touch.normal)[place],
                "sliding_speed": touch.speed[place],
                "penetration": touch.depth[place],
                **{f"place_{axis + 1}": centred[axis][place] for axis in range(min(kind.axes, 2))},
            }
            if kind.axes == 1:
                del parts["tangential_force"], parts["sliding_speed"]
            found |= {named(name, kind.name): value for name, value in parts.items()}
    return found
