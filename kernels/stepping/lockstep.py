"""The loop over fixed steps in lockstep: all runs of a `vmap` share step, end and window.

Every step lies inside or outside the window, except the two at its ends. A step that is known to do so costs a fraction of the work.
"""

from __future__ import annotations

import functools
from typing import Any, TypeAlias, cast

import jax
import jax.numpy as jnp

from tribosweep.kernels.excitation.multi_tone import Driven
from tribosweep.kernels.models.contacts import WallLaw
from tribosweep.kernels.models.schemes import MOST_STEPS
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impacts
from tribosweep.kernels.runtime import jax_setup
from tribosweep.kernels.stepping import observe_friction, observe_wall, two_level_sums
from tribosweep.kernels.stepping.loop import (
    STEPPERS,
    Counted,
    Even,
    StepRun,
    StepSetup,
    StepSums,
    Turned,
    attempt,
    begin,
    finish,
    prepare,
    rubs_of,
    turn,
    turned_to,
)
from tribosweep.kernels.stepping.scheme import Stepper, StepState

Stretch: TypeAlias = tuple[
    Turned, StepState, tuple[impacts.Shock, ...], observe_friction.Few | None
]  # what a loop carries over steps that all lie inside the window, or all outside


def simulate(p: dict[str, Any], scheme: str, walls: tuple[WallLaw, ...] = ()) -> tuple[dict[str, Array], Array]:
    """Run one oscillator at a fixed step, in lockstep with all others of a `vmap`. They share step, end and window.

    Args:
        p: as for `loop.simulate`; step, end and window are the same for all runs. Leave out `k` and `c` if both are 0: that is cheaper.
        scheme: a scheme of fixed step. walls: those that the mass may hit (both compile-time).

    Returns:
        The results of `loop.simulate`, except for rounding errors.
    """
    stepper = STEPPERS[scheme]
    setup = prepare(stepper, p, laws=walls)
    run, whole = begin(stepper, setup), cast("Even", setup.pace).whole
    first, last = ends_of_window(p, whole)
    run = run._replace(clock=cast("Counted", run.clock)._replace(steps=jnp.where(whole > MOST_STEPS, whole, 0.0)))
    run = _attempts(stepper, setup, _stretch(stepper, setup, run, first, inside=False), first + 1.0)
    memory = run.state.memory
    memory = memory._replace(friction=observe_friction.counted(run.sums.friction, memory.friction))
    run = run._replace(state=run.state._replace(memory=memory))
    left_over = jnp.mod(jnp.maximum(whole - last - 1.0, 0.0), _each(stepper, setup))
    run = _attempts(stepper, setup, _stretch(stepper, setup, run, last, inside=True), last + 1.0 + left_over)
    return finish(setup, _stretch(stepper, setup, run, whole, inside=False))


def ends_of_window(p: dict[str, Any], whole: Array) -> tuple[Array, Array]:
    """The steps in which the window begins and ends (whole floats, from 0 on), of a run of `whole` steps."""
    first = jnp.minimum(jnp.floor(p["window_start"] * whole / p["end"]), whole)
    return first, jnp.minimum(jnp.maximum(first, jnp.ceil(p["window_end"] * whole / p["end"]) - 1.0), whole)


def _attempts(stepper: Stepper, setup: StepSetup, run: StepRun, end: Array) -> StepRun:
    """The run after step number `end` (a whole float). The steps are taken one by one, inside the window or not."""
    done = cast("Counted", run.clock).steps
    return cast("StepRun", jax.lax.fori_loop(done.astype(int), end.astype(int), lambda _, now: attempt(stepper, setup, now), run))


def _each(stepper: Stepper, setup: StepSetup) -> int:
    """Number of steps in one iteration of the loop."""
    plain = not setup.body.walls and setup.body.friction.cheap and not isinstance(setup.excitation, Driven)
    return jax_setup.steps(little=plain and len(stepper.fractions) == 1)


def _stretch(stepper: Stepper, setup: StepSetup, run: StepRun, end: Array, inside: bool) -> StepRun:
    """The run after about `end` steps (a whole float). All steps of the stretch lie `inside` the window, or all outside.

    Each iteration of the loop takes a fixed number of steps, which suits the device. Steps that do not fill an iteration are not taken.
    """
    clock, each = cast("Counted", run.clock), _each(stepper, setup)
    part = observe_wall.WindowPart(0.0, 1.0) if inside else None

    def step(number: Array, now: Stretch) -> Stretch:
        rotation, state, shocks, few = now
        turned, trial, normal_forces = turn(stepper, setup, state, rotation, setup.h, number)
        shocks = observe_wall.update(shocks, setup.body.walls, state, trial.state, number * setup.h, setup.h, part)
        if few is not None:
            speed, rubs = rubs_of(setup, state, trial, setup.h, normal_forces)
            few = observe_friction.one_more(few, state.memory.friction, trial.state.memory.friction, speed, trial.moved, rubs)
        return turned, trial.state, shocks, few

    def iterations(count: Array, first: Array, now: Stretch) -> Stretch:
        several = lambda n, now: functools.reduce(lambda now, i: step(first + n * each + i, now), range(each), now)  # noqa: E731
        return cast("Stretch", jax.lax.fori_loop(0, count, several, now))

    def several(now: tuple[Array, Turned, StepState, StepSums]) -> tuple[Array, Turned, StepState, StepSums]:
        left, rotation, state, (friction, shocks, _, _, totals) = now
        count = jnp.minimum(left, observe_friction.MOST // each)
        first, left = start + (total - left) * each, left - count
        turned, after, shocks, few = iterations(count, first, (rotation, state, shocks, observe_friction.few(friction) if inside else None))
        if few is not None:
            friction = observe_friction.add(friction, few, after.x - state.x, setup.h, (count * each).astype(setup.h.dtype))
        if totals is not None:
            turned = turned_to(setup, start + (total - left) * each)
            friction, shocks, totals = two_level_sums.close(friction, shocks, totals)
        return left, turned, after, StepSums(friction, shocks, totals=totals)

    start = clock.steps.astype(int)
    total = jnp.maximum(end.astype(int) - start, 0) // each
    if inside or run.sums.totals is not None:
        _, turned, state, sums = jax.lax.while_loop(lambda now: now[0] > 0, several, (total, clock.rotation, run.state, run.sums))
    else:
        turned, state, shocks, _ = iterations(total, start, (clock.rotation, run.state, run.sums.shocks, None))
        sums = run.sums._replace(shocks=shocks)
    return StepRun(Counted(clock.steps + total * each, turned), state, sums)
