"""A time scheme at given times: the motion of one oscillator, linear between the ends of steps, and the impacts that end on the way."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.models.contacts import WallLaw
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impact_classes
from tribosweep.kernels.observables.impact_classes import Classes
from tribosweep.kernels.stepping import loop, observe_statistics
from tribosweep.kernels.stepping.loop import StepRun, StepSetup
from tribosweep.kernels.stepping.scheme import Stepper, StepState


class Reached(NamedTuple):
    """A run, its state after the last step but one, which ended at the time `since` [s], and the impacts so far."""

    run: StepRun
    before: StepState
    since: Array
    classes: Classes


def prepare(stepper: Stepper, p: dict[str, Any], walls: tuple[WallLaw, ...]) -> StepSetup:
    """The oscillator of resolved parameters (scalars); its window is the whole run, so that its sums follow each impact to its end."""
    return loop.prepare(stepper, {**p, "window_start": jnp.zeros_like(p["end"]), "window_end": p["end"]}, laws=walls)


def begin(stepper: Stepper, setup: StepSetup, classes: Classes) -> Reached:
    """The run at t = 0."""
    run = loop.begin(stepper, setup)
    return Reached(run, run.state, loop.time_of(setup, run), classes)


def advance(stepper: Stepper, setup: StepSetup, reached: Reached, time: Array) -> Reached:
    """The run after the step that ends at a time [s] or later."""

    def one(reached: Reached) -> Reached:
        after = loop.attempt(stepper, setup, reached.run)
        now, later = loop.time_of(setup, reached.run), loop.time_of(setup, after)
        taken = later > now  # an attempt that is refused changes neither
        before = jax.tree.map(lambda new, old: jnp.where(taken, new, old), reached.run.state, reached.before)
        shocks, classes = impact_classes.take(reached.classes, after.sums.shocks)
        after = after._replace(sums=after.sums._replace(shocks=shocks))
        return Reached(after, before, jnp.where(taken, now, reached.since), classes)

    return jax.lax.while_loop(lambda each: (loop.time_of(setup, each.run) < time) & loop.active(setup, each.run), one, reached)


def sample(setup: StepSetup, reached: Reached, time: Array) -> dict[str, Array]:
    """The channels (`tribosweep.kernels.models.signals.channels`) of a run that has advanced to a time [s]."""
    part = part_of(time, reached.since, loop.time_of(setup, reached.run))
    one, other = _seen(setup, reached.before), _seen(setup, reached.run.state)
    return {name: one[name] + part * (other[name] - one[name]) for name in one}


def part_of(time: Array, since: Array, until: Array) -> Array:
    """Where a time [s] is between the ends of a step, from 0 to 1."""
    length = until - since
    part: Array = jnp.where(length > 0.0, jnp.clip((time - since) / jnp.where(length > 0.0, length, 1.0), 0.0, 1.0), 1.0)
    return part


def _seen(setup: StepSetup, state: StepState) -> dict[str, Array]:
    """The channels after a step."""
    x, friction, *walls = observe_statistics.values_at(setup.body, state)
    return {"x": x, "v": state.v, "a": state.a, "friction_force": friction, "wall_force": walls[0] if walls else jnp.zeros_like(x)}
