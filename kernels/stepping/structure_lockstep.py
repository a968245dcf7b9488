"""The loop over fixed steps of structures in lockstep: all runs of a `vmap` share step, end and window.

Every step lies inside or outside the window, except the two at its ends. A step that is known to do so costs less, and the sines of the
loads turn by fixed angles.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from tribosweep.kernels.excitation.harmonic import Rotation, Turn
from tribosweep.kernels.models.schemes import MOST_STEPS
from tribosweep.kernels.models.structures import StructureKey
from tribosweep.kernels.numerics.elementary import chord
from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping import observe_contacts
from tribosweep.kernels.stepping.euler import EULER
from tribosweep.kernels.stepping.loop import CHUNK, STEPPERS
from tribosweep.kernels.stepping.observe_structure import observe, see, works
from tribosweep.kernels.stepping.observe_wall import WindowPart
from tribosweep.kernels.stepping.progress import Counted
from tribosweep.kernels.stepping.scheme import Stepper, StepState, Trial
from tribosweep.kernels.stepping.side_by_side import side_by_side
from tribosweep.kernels.stepping.structure import times
from tribosweep.kernels.stepping.structure_loop import alike, begin, closed, finish, parts_of, prepare, started
from tribosweep.kernels.stepping.structure_run import Seen, StructureRun, StructureSetup, StructureSums, touches_of

_INSIDE, _OUTSIDE = "inside", "outside"


class _Stored(StepState):
    """A state whose successor is computed once (`fusion_barrier`) by schemes that use only the functions below, which is `euler`."""

    def after(self, moved: Array) -> tuple[Array, Array | None]:
        """See `StepState.after`."""
        x, rest = super().after(moved)
        return fusion_barrier(x)[0], rest

    def faster(self, change: Array) -> tuple[Array, Array | None]:
        """See `StepState.faster`."""
        v, slack = super().faster(change)
        return fusion_barrier(v)[0], slack


class _Pace(NamedTuple):
    """What all runs share: number of steps, step [s] and in float64, window in steps, and the turns of the loads' sines (L,)."""

    whole: Array
    h: Array
    length: Array
    start: Array
    end: Array
    turns: tuple[Turn, ...]


def simulate(p: dict[str, Any], scheme: str, key: StructureKey) -> tuple[dict[str, Array], Array]:
    """Run one structure at a fixed step, in lockstep with all others of a `vmap`. They share step, end and window.

    Args:
        p, scheme, key: as for `structure_loop.simulate`; step, end and window are the same for all runs.

    Returns:
        The results of `structure_loop.simulate`, except for rounding errors.
    """
    stepper = STEPPERS[scheme]
    setup = prepare(stepper, p, key)
    run = side_by_side(lambda setup, run: _whole_run(stepper, setup, run), setup, begin(stepper, setup))
    return finish(setup, run)


def _pace(stepper: Stepper, setup: StructureSetup) -> _Pace:
    """What all runs share, from the first lane."""
    p = {name: jnp.ravel(setup.p[name])[0] for name in ("end", "window_start", "window_end")}
    whole, h = jnp.ravel(cast("Array", setup.pace))[0], jnp.ravel(setup.h)[0]
    length, rate, loads = p["end"] / whole, whole / p["end"], setup.loads
    turns = [chord((loads.omega * (fraction * length)).astype(h.dtype)) for fraction in stepper.fractions]
    whole = jnp.where(whole > MOST_STEPS, 0.0, whole)
    return _Pace(whole, h, length, p["window_start"] * rate, p["window_end"] * rate, tuple(Turn(*turn) for turn in turns))


def _whole_run(stepper: Stepper, setup: StructureSetup, run: StructureRun) -> StructureRun:
    """The runs from their start to their end."""
    pace = _pace(stepper, setup)
    first = jnp.minimum(jnp.floor(pace.start), pace.whole)  # the steps in which the window begins and ends
    last = jnp.minimum(jnp.maximum(first, jnp.ceil(pace.end) - 1.0), pace.whole)
    # before the window, in it, and after it: the first of three rounds ends with the window's last step, and the second takes that
    outside, between, inside = jnp.stack([first, last, pace.whole]), jnp.stack([first + 1.0, last + 1.0, pace.whole]), last

    def one_round(number: Array, now: tuple[Array, StructureRun]) -> tuple[Array, StructureRun]:
        done, run = now
        done, run = _stretch(stepper, setup, pace, done, run, outside[number], _OUTSIDE)
        points = times(setup.p["points"], run.state.x)
        run = run._replace(seen=run.seen._replace(points=points))
        done, run = _stretch(stepper, setup, pace, done, run, jnp.minimum(between[number], pace.whole), None)
        return _stretch(stepper, setup, pace, done, run, inside, _INSIDE)

    done, run = jax.lax.fori_loop(0, 3, one_round, (0.0 * pace.whole, run))
    return run._replace(clock=Counted(jnp.broadcast_to(done, cast("Counted", run.clock).steps.shape)))


def _stretch(
    stepper: Stepper, setup: StructureSetup, pace: _Pace, done: Array, run: StructureRun, end: Array, where: str | None
) -> tuple[Array, StructureRun]:
    """The runs after `end` steps (a whole float), of which they have `done` some.

    `where` says where all these steps lie: inside the window, outside, or None if that is not known.
    """

    def chunk(now: tuple[Array, StructureRun]) -> tuple[Array, StructureRun]:
        done, run = now
        count = jnp.minimum(end - done, float(CHUNK))
        rotation = Rotation.at(setup.loads, done * pace.length)

        def step(number: Array, now: tuple[Rotation, StructureRun]) -> tuple[Rotation, StructureRun]:
            rotation, run = now
            rotation, after = _step(stepper, setup, pace, done + number, rotation, run, where)
            return rotation, alike(after, run)

        _, run = jax.lax.fori_loop(0, count.astype(int), step, (rotation, run))
        return done + count, closed(setup, run)

    return jax.lax.while_loop(lambda now: now[0] < end, chunk, (done, run))


def _step(
    stepper: Stepper, setup: StructureSetup, pace: _Pace, number: Array, rotation: Rotation, run: StructureRun, where: str | None
) -> tuple[Rotation, StructureRun]:
    """Step `number`, counted from 0."""
    h, stored = pace.h, stepper is EULER
    turned = rotation.after(pace.turns[-1])
    sines = [*(rotation.sine_after(turn) for turn in pace.turns[:-1]), turned.sine]
    loads = tuple(
        setup.loads.acting(sine, (number + fraction) * pace.length)._replace(elapsed=part * h, stored=stored)
        for sine, fraction, part in zip(sines, stepper.fractions, parts_of(stepper), strict=True)
    )
    run = run._replace(state=started(run.state))
    before = _Stored(*run.state) if stored else run.state
    trial: Trial = cast("Any", stepper).step(setup.body, loads, before, h)
    seen = see(setup, trial.state, loads[-1])
    if where == _OUTSIDE:
        sums = _outside(run, trial.state, seen, h, stepper.degree == 1)
        seen = seen._replace(points=run.seen.points)
    else:
        part = None
        if where is None:
            part = WindowPart(*(jnp.clip(bound - number, 0.0, 1.0).astype(h.dtype) for bound in (pace.start, pace.end)))
        sums = observe(setup, run, trial, seen, h, part, stepper.degree == 1)
    return turned, StructureRun(run.clock, trial.state, seen, sums)


def _outside(run: StructureRun, after: StepState, seen: Seen, h: Array, straight: bool) -> StructureSums:
    """Sums after a step outside the window: the works, which are of the whole run, and what the present impact needs."""
    contacts = tuple(
        observe_contacts.outside(sums, was, touch, h, straight)
        for sums, was, touch in zip(run.sums.contacts, touches_of(run.state), touches_of(after), strict=True)
    )
    return run.sums._replace(contacts=contacts, work=works(run, after, seen, h))
