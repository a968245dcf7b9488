"""The exact engine at given times: the motion of one oscillator from sample to sample, and the impacts that end on the way."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact import event_loop, oscillator
from tribosweep.kernels.exact.forces import between
from tribosweep.kernels.models.contacts import Kind
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impact_classes
from tribosweep.kernels.observables.impact_classes import Classes


class Reached(NamedTuple):
    """A run whose next event is known: the state after the event before, the search that found it, and the impacts so far."""

    before: Any
    now: event_loop.Turn[Any, Any]
    classes: Classes


def prepare(p: dict[str, Any], kind: Kind) -> oscillator.EventSetup:
    """The oscillator of resolved parameters (scalars); its window is the whole run, so that its sums follow each impact to its end."""
    return oscillator.setup({**p, "window_start": jnp.zeros_like(p["end"]), "window_end": p["end"]}, kind)


def begin(setup: oscillator.EventSetup, classes: Classes) -> Reached:
    """The run at t = 0."""
    first = oscillator.begin(setup)
    return Reached(first.state, first, classes)


def advance(setup: oscillator.EventSetup, reached: Reached, time: Array) -> Reached:
    """The run once its next event is later than a time [s], or is its end."""
    machine = oscillator.build(setup)

    def one(reached: Reached) -> Reached:
        state, after = reached.now.state, machine.turn(reached.now)
        arrived = (after.state.t > state.t) | (after.state.events > state.events)
        before = jax.tree.map(lambda new, old: jnp.where(arrived, new, old), state, reached.before)
        shocks, classes = impact_classes.take(reached.classes, after.state.sums.shocks)
        after = after._replace(state=after.state._replace(sums=after.state.sums._replace(shocks=shocks)))
        return Reached(before, after, classes)

    return jax.lax.while_loop(lambda each: (each.now.state.t <= time) & event_loop.goes_on(each.now.state), one, reached)


def sample(setup: oscillator.EventSetup, reached: Reached, time: Array) -> dict[str, Array]:
    """The channels (`tribosweep.kernels.models.signals.channels`) of a run that has advanced to a time [s]."""
    p, now = setup.p, between(setup, reached.before)(time - reached.before.t)
    a = (now.driven + now.friction - now.reaction - p["c"] * now.v - p["k"] * now.x) / p["m"]
    return {"x": now.x, "v": now.v, "a": a, "friction_force": now.friction, "wall_force": now.wall}
