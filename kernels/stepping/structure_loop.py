"""The loop that drives a time scheme over a structure with supports; the functions are those of `loop`, which is for one coordinate."""

from __future__ import annotations

import functools
from typing import Any, cast

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.impact_sliding import anew, size
from tribosweep.kernels.models.features import UNBOUNDED
from tribosweep.kernels.models.structures import StructureKey
from tribosweep.kernels.numerics.fusion import decide
from tribosweep.kernels.numerics.numbers import Array, all_finite, by_width, of_type
from tribosweep.kernels.numerics.tangents import moved_with
from tribosweep.kernels.stepping import (
    dense_output,
    observe_contacts,
    progress,
    saltation,
    structure_course,
    structure_phases,
    structure_saltation,
    window_bounds,
)
from tribosweep.kernels.stepping.loop import CHUNK, STEPPERS, steps
from tribosweep.kernels.stepping.observe_structure import added_of, observe, observe_along, of_energies, of_points, powers, see, with_added
from tribosweep.kernels.stepping.observe_wall import WindowPart
from tribosweep.kernels.stepping.progress import Counted, Plan, Timed
from tribosweep.kernels.stepping.scheme import Control, Limits, Stepper, StepState, Trial
from tribosweep.kernels.stepping.side_by_side import side_by_side
from tribosweep.kernels.stepping.structure import build, of_row
from tribosweep.kernels.stepping.structure_run import (
    PointSums,
    Seen,
    StructureRun,
    StructureSetup,
    StructureSums,
    Work,
    active,
    initial,
    touches_of,
)

_LEAST_WAY = 0.01  # of the way of all modes together
_ARRAYS = (
    "shapes",
    "vectors",
    "points",
    "bank",
    "coupling",
    "modal_mass",
    "modal_omega",
    "modal_drag",
    "start",
    "start_rate",
    "curve",
    "places",
)


def prepare(stepper: Stepper, p: dict[str, Any], key: StructureKey) -> StructureSetup:
    """What does not change during a run, from resolved parameters (scalars) and the arrays of the structure."""
    absent = {*_ARRAYS, "record", "interval", "table_value", *UNBOUNDED}
    finite = all_finite([value for name, value in p.items() if name.partition("[")[0] not in absent])
    p = {**p, **of_row(key, p)}
    body, loads = build(key, p)
    mass = 1.0 / body.by_mass
    if stepper.control is None:
        count = steps(p["end"], p["step"])
        return StructureSetup(key, p, body, loads, mass, body.drag * mass, finite, (p["end"] / count).astype(body.one.dtype), count)
    limits = Limits(p["largest_step"], p["smallest_step"], p.get("tolerance", body.one), p.get("retries", body.one))
    h = jnp.minimum(p["step"], p["largest_step"]).astype(body.one.dtype)
    return StructureSetup(key, p, body, loads, mass, body.drag * mass, finite, h, limits)


def begin(stepper: Stepper, setup: StructureSetup) -> StructureRun:
    """The run at t = 0. It is over at once if its parameters are not finite, or if it needs more than MOST_STEPS fixed steps."""
    p, body = setup.p, setup.body
    zero = 0.0 * setup.h
    x, v = initial(setup)
    time = jnp.zeros((), jnp.float64)
    state: StepState = cast("Any", stepper).start(body, lambda moment: setup.loads.at(time + moment), x, v, setup.h)
    state = state._replace(memory=cast("Any", anew(cast("Any", state.memory))))
    failure = _failure(setup)
    clock: Counted | Timed
    if stepper.control is None:
        clock = Counted(jnp.where(failure > 0.0, cast("Array", setup.pace), time))
    else:
        pull = _length(setup, setup.loads.largest * body.by_mass)
        control = stepper.control.start(_length(setup, x), _length(setup, v), pull, setup.h)
        plan = (
            Plan(setup.h + zero, zero, zero, tuple(0.0 * group.gap for group in body.groups))
            if structure_phases.plans(stepper, body)
            else None
        )
        clock = Timed(time, time, setup.h + zero, time, time, control, of_type(failure, zero), plan)
    contacts = tuple(
        observe_contacts.init(group, touch, p["window_start"], stepper.degree == 1 and stepper.control is not None, setup.key.peak_edges)
        for group, touch in zip(body.groups, state.memory, strict=True)
    )
    still = jnp.zeros(p["points"].shape[0], body.one.dtype) + zero
    energy = 0.0 * x if setup.key.modal_energies else None
    sums = StructureSums(contacts, PointSums(still, still, energy), Work(zero, zero, zero))
    if zero.dtype != jnp.float64:
        sums = sums._replace(totals=jax.tree.map(lambda value: jnp.zeros_like(value, jnp.float64), added_of(sums)))
    return StructureRun(clock, state, see(setup, state, setup.loads.at(time)), sums)


def attempt(stepper: Stepper, setup: StructureSetup, run: StructureRun) -> StructureRun:
    """The run after one fixed step, or after one attempt at a chosen step. A run that is over does not change."""
    return _fixed_step(stepper, setup, run, run.clock) if isinstance(run.clock, Counted) else _chosen_step(stepper, setup, run, run.clock)


def closed(setup: StructureSetup, run: StructureRun) -> StructureRun:
    """The run with its float32 sums moved into their float64 totals; call it every few hundred steps. In float64 it is unchanged."""
    if run.sums.totals is None:
        return run
    totals = jax.tree.map(lambda total, value: total + value, run.sums.totals, added_of(run.sums))
    run = run._replace(sums=with_added(run.sums, jax.tree.map(jnp.zeros_like, added_of(run.sums)))._replace(totals=totals))
    # places at supports are sums of ways (`Acting.elapsed`), whose rounding errors end here
    places = zip(touches_of(run.state), setup.body.along(run.state.x), strict=True)
    memory = tuple(touch._replace(place=place) for touch, place in places)
    return run._replace(state=run.state._replace(memory=cast("Any", memory)))


def chunk(stepper: Stepper, setup: StructureSetup, run: StructureRun) -> StructureRun:
    """The run after CHUNK attempts. Under `vmap` the structures run side by side."""

    def several(setup: StructureSetup, run: StructureRun) -> StructureRun:
        return closed(setup, jax.lax.fori_loop(0, CHUNK, lambda _, now: alike(attempt(stepper, setup, now), now), run))

    return side_by_side(several, setup, run)


def alike(new: StructureRun, old: StructureRun) -> StructureRun:
    """The new run with the shapes of the old one: numbers that lanes share are repeated."""
    return cast("StructureRun", jax.tree.map(lambda one, other: jnp.broadcast_to(one, other.shape), new, old))


def finish(setup: StructureSetup, run: StructureRun) -> tuple[dict[str, Array], Array]:
    """Observables by name (scalars), and the status code."""
    p, key, clock, state = setup.p, setup.key, run.clock, run.state
    sums = run.sums
    if sums.totals is not None:
        sums = with_added(sums, jax.tree.map(lambda total, value: total + value, sums.totals, added_of(sums)))
    if isinstance(clock, Timed):
        late = window_bounds.left_at_end(p, clock.t)
        clock = clock._replace(t=moved_with(clock.t, late))
        x, v = (moved_with(value, (late * rate).astype(value.dtype)) for value, rate in ((state.x, state.v), (state.v, state.a)))
        done = zip(sums.work, powers(setup, state, run.seen), strict=True)
        sums = sums._replace(work=Work(*(moved_with(work, (late * power).astype(work.dtype)) for work, power in done)))
        state = state._replace(x=x, v=v)
    length = p["window_end"] - p["window_start"]
    found: dict[str, Array] = {}
    for kinds, contact in zip(key.groups, sums.contacts, strict=True):
        found |= observe_contacts.finish(contact, [kind.name for kind in kinds], length)
    found |= of_points(setup, state, sums.points, length)
    found |= of_energies(setup, state, sums.work)
    if sums.points.energy is not None:
        found["modal_energy"] = observe_contacts.padded(sums.points.energy / length)
    zero = 0.0 * setup.h
    accepted, rejected, status = progress.outcome(clock, _failure(setup), zero)
    return {**found, "time_reached": run._replace(clock=clock).time(setup), "accepted_steps": accepted, "rejected_steps": rejected}, status


def simulate(p: dict[str, Any], scheme: str, key: StructureKey) -> tuple[dict[str, Array], Array]:
    """Run one structure.

    Args:
        p: resolved parameters (scalars, SI units) and the arrays of the structure. scheme: a key of `STEPPERS`. key: see `StructureKey`.

    Returns:
        Observables by name (scalars), and the status code. Derivatives (forward mode) are those of the steps taken; they leave out how the
        step size control changes with the parameters.
    """
    stepper = STEPPERS[scheme]
    setup = prepare(stepper, p, key)
    attempts = functools.partial(attempt, stepper, setup)
    chunk = lambda run: closed(setup, jax.lax.fori_loop(0, CHUNK, lambda _, each: attempts(each), run))  # noqa: E731
    return finish(setup, jax.lax.while_loop(lambda run: active(setup, run), chunk, begin(stepper, setup)))


def _failure(setup: StructureSetup) -> Array:
    """Status code of a run that cannot begin, as a float; 0 if it can begin."""
    return progress.failure_at_start(setup.finite, None if isinstance(setup.pace, Limits) else setup.pace)


def _length(setup: StructureSetup, values: Array) -> Array:
    """One number for a list of coordinates: of a body its length, which no rotation changes; of modes the largest, by root of mass."""
    if setup.key.body:
        largest = jnp.max(jnp.abs(values), axis=0)
        scale = jnp.where(largest > 0.0, largest, 1.0)  # squares of the first ways from rest are too small for float32
        return scale * size(tuple(values / scale), values[0])
    return jnp.max(jnp.abs(values) * jnp.sqrt(setup.p["modal_mass"]), axis=0)


def _fixed_step(stepper: Stepper, setup: StructureSetup, run: StructureRun, clock: Counted) -> StructureRun:
    """One fixed step. After the last step of a run the length is 0."""
    p, whole, done = setup.p, cast("Array", setup.pace), clock.steps
    going = done < whole
    h = jnp.where(going, setup.h, 0.0)
    length = p["end"] / whole
    loads = tuple(
        setup.loads.at((done + fraction) * length)._replace(elapsed=part * h)
        for fraction, part in zip(stepper.fractions, parts_of(stepper), strict=True)
    )
    trial: Trial = cast("Any", stepper).step(setup.body, loads, run.state, h)
    rate = whole / p["end"]
    starts = window_bounds.begins_at(p["window_start"] * rate - done).astype(h.dtype)
    closes = window_bounds.closes(p["window_end"], p["end"], done, whole)
    ends = window_bounds.ends_at(p["window_end"] * rate - done, closes).astype(h.dtype)
    state = jax.tree.map(lambda new, old: jnp.where(going, new, old), trial.state, run.state)
    trial = anchored(setup, run.state, trial._replace(state=state), h)
    seen = see(setup, state, loads[-1])
    sums = observe(setup, run, trial, seen, h, WindowPart(starts, ends), stepper.degree == 1)
    state = started(kicked(stepper, setup, run.state, trial.state, h))
    return StructureRun(Counted(jnp.minimum(done + 1.0, whole)), state, seen, sums)


def parts_of(stepper: Stepper) -> list[float]:
    """Of the evaluations of a fixed step, the fraction of the step since the memory that they start from; it moves at an even velocity."""
    since = (0.0, *stepper.fractions[:-1]) if stepper.remembers else (0.0,) * len(stepper.fractions)
    return [fraction - before for fraction, before in zip(stepper.fractions, since, strict=True)]


def anchored(setup: StructureSetup, before: StepState, trial: Trial, h: Array) -> Trial:
    """The trial whose springs of friction have the derivative by the instants of their entries; see `structure_saltation.anchored`."""
    motions = zip(setup.body.along(before.v), setup.body.along(before.a), strict=True)
    every = zip(setup.body.groups, touches_of(before), touches_of(trial.state), motions, strict=True)
    memory = tuple(structure_saltation.anchored(group, was, now, motion, h) for group, was, now, motion in every)
    return trial._replace(state=trial.state._replace(memory=cast("Any", memory)))


def kicked(stepper: Stepper, setup: StructureSetup, before: StepState, after: StepState, h: Array) -> StepState:
    """The state after a step whose velocities have the derivative by the instants at which forces jump; see `saltation`."""
    change = structure_saltation.of_structure(setup.body, touches_of(before), touches_of(after), h)
    return after if change is None else saltation.kicked(stepper, after, change)


def started(state: StepState) -> StepState:
    """The state at the start of the next step."""
    return state._replace(memory=cast("Any", anew(cast("Any", state.memory))))


def _chosen_step(stepper: Stepper, setup: StructureSetup, run: StructureRun, clock: Timed) -> StructureRun:
    """One attempt at a chosen step. It is cut at the ends of window and run. See `loop`, whose rules are the same."""
    p, limits, control = setup.p, cast("Limits", setup.pace), cast("Control", stepper.control)
    target, plan = progress.target(p, clock.t, p["window_end"]), clock.plan
    if setup.loads.shaped:
        target = jnp.minimum(target, setup.loads.next_after(clock.t))
    near = progress.NEARLY if plan is None else jnp.where(plan.due > 0.5, 1.0, progress.NEARLY)  # a change of phase is not put off
    stride = progress.stride(clock, target, near)
    h, lands, moments = stride.h, stride.lands, stride.moments(clock, stepper.fractions)
    if setup.loads.shaped:  # a step that lands where a load jumps sees the load before the jump
        loads = tuple(setup.loads.at(jnp.minimum(moment, target), before=True) for moment in moments)
    else:
        loads = tuple(setup.loads.at(moment) for moment in moments)
    keeps, along, planned = None, None, clock.h
    if plan is not None:
        (keeps,) = decide(plan.tries < structure_phases.most_tries(setup), like=h)
        loads, planned = tuple(load._replace(keeps=keeps) for load in loads), jnp.where(plan.due > 0.5, plan.h, clock.h)
    trial: Trial = cast("Any", stepper).step(setup.body, loads, run.state, h)
    fixed = jax.lax.stop_gradient
    changed, moved = fixed(cast("tuple[Array, Array]", trial.doubt))
    x, v = fixed(trial.state.x), fixed(trial.state.v)
    doubt, x, v = _doubt(setup, stepper, changed, moved, v, fixed(h)), _length(setup, x), _length(setup, v)
    verdict = control.judge(clock.control, doubt, fixed(h), planned, x, v, fixed(limits))
    going = active(setup, run)
    cut, first, ends = going & False, h, None
    changes: tuple[Array, ...] = ()
    if plan is not None and keeps is not None:
        ends = structure_course.ends_of(setup.body, run.state, trial.state, trial.moved)
        along = structure_course.courses(setup.body, touches_of(run.state), touches_of(trial.state), ends, h, keeps)
        first, changes = structure_course.first_change(setup.body, touches_of(run.state), fixed(along), plan.changes)
        (cut,) = decide(verdict.accepted & going & keeps & (h > 0.0) & (first < jnp.inf), like=h)
    accepted, failure = progress.judged(clock, stride, verdict, verdict.accepted & going & ~cut, going, limits, setup.h)
    inside = (clock.t >= p["window_start"]) & (clock.t < p["window_end"])
    if along is None or plan is None or ends is None:
        trial = anchored(setup, run.state, trial, h)
        seen = see(setup, trial.state, loads[-1])
        sums = observe(setup, run, trial, seen, h, WindowPart(0.0, jnp.where(inside, 1.0, 0.0).astype(h.dtype)), stepper.degree == 1)
        trial = trial._replace(state=kicked(stepper, setup, run.state, trial.state, h))
    else:
        seen = see(setup, trial.state, loads[-1])
        acting = dense_output.at_nodes(stepper.fractions, run.seen.sizes, tuple(load.sizes for load in loads))
        sums = observe_along(setup, run, trial, seen, h, inside, along, acting)
        state, sums = structure_phases.turned_over(setup, run, trial.state, sums, plan, ends, along, planned, loads[-1], inside)
        trial = trial._replace(state=state)
    sums = _from_the_start(run, trial.state, seen, sums, window_bounds.part_of(window_bounds.lost_at_start(p, clock.t), h))
    if setup.loads.shaped:
        there, here = setup.loads.at(target), setup.loads.at(target, before=True)
        jump = there.force - here.force
        trial = trial._replace(state=stepper.jumped(trial.state, jnp.where(lands, jump, 0.0) * setup.body.by_mass))
        if plan is not None:
            seen = seen._replace(sizes=seen.sizes + jnp.where(lands, there.sizes - here.sizes, 0.0))
    if ends is not None:
        trial = trial._replace(state=structure_phases.held(setup, trial.state, ends))
    done = None
    if plan is not None:
        done = Plan(plan.h, 0.0 * h, jnp.where(plan.due > 0.5, plan.tries, 0.0), structure_phases.no_changes(plan.changes))
    taken = progress.taken(clock, stride, verdict, limits, failure, done)
    again = jnp.where(cut, first * h, jnp.where(going, verdict.shorter, clock.h))
    put_off = None if plan is None else structure_phases.put_off(plan, cut, planned, changes)
    refused = progress.refused(clock, verdict, going, failure, again, put_off)
    choose = lambda new, old: jnp.where(accepted, new, old)  # noqa: E731
    after = started(trial.state), seen, sums
    return StructureRun(jax.tree.map(choose, taken, refused), *jax.tree.map(choose, after, (run.state, run.seen, run.sums)))


def _from_the_start(run: StructureRun, after: StepState, seen: Seen, sums: StructureSums, part: Array) -> StructureSums:
    """The sums after a step in a window that begins with the run, at a `part` of the step that is 0; see `window_bounds`."""
    less = functools.partial(window_bounds.without, part=part)
    contacts = []
    for was, now, start, end in zip(run.sums.contacts, sums.contacts, touches_of(run.state), touches_of(after), strict=True):
        added = jax.tree.map(less, was.added, now.added)._replace(impacts=now.added.impacts)
        contacts.append(now._replace(added=added, extremes=observe_contacts.narrowed(now.extremes, start, end, part)))
    old, points = run.sums.points, sums.points
    energy = None if old.energy is None or points.energy is None else less(old.energy, points.energy)
    largest = window_bounds.narrowed(points.largest, jnp.abs(run.seen.points), jnp.abs(seen.points), part)
    return sums._replace(contacts=tuple(contacts), points=PointSums(less(old.square, points.square), largest, energy))


def _doubt(setup: StructureSetup, stepper: Stepper, changed: Array, moved: Array, v: Array, h: Array) -> tuple[Array, Array]:
    """The two numbers by which the control judges a step: lengths; for a control by frequency of modes those of the fastest one.

    The way of a mode counts as a hundredth of that of all modes together at least, as in the tool whose schemes these are: a mode that
    moves only by rounding would ask for ever shorter steps.
    """
    if stepper.control is not None and "tolerance" not in setup.p and not setup.key.body:
        roots = jnp.sqrt(setup.p["modal_mass"])
        moved = jnp.maximum(moved, _LEAST_WAY * h * jnp.sqrt(jnp.sum(jnp.square(roots * v), axis=0)) / roots)
        worst = jnp.argmax(changed / jnp.where(moved > 0.0, moved, by_width(moved, 1e-150, 1e-18)), axis=0, keepdims=True)
        return jnp.take_along_axis(changed, worst, axis=0)[0], jnp.take_along_axis(moved, worst, axis=0)[0]
    return _length(setup, changed), _length(setup, moved)
