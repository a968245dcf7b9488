"""The loop that drives a time scheme over a structure with supports; the functions are those of `loop`, which is for one coordinate."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from kernels.contact import contact_phases
from kernels.contact.impact_sliding import Touch, anew, size
from kernels.models.basis import AXES
from kernels.models.features import UNBOUNDED
from kernels.models.schemes import MOST_STEPS
from kernels.models.status import Status
from kernels.models.structures import StructureKey
from kernels.models.supports import named
from kernels.numerics.fusion import decide, fusion_barrier
from kernels.numerics.numbers import Array, all_finite, by_width, choice, of_type
from kernels.numerics.tangents import moved_with
from kernels.stepping import dense_output, observe_contacts, saltation, structure_course, structure_saltation
from kernels.stepping.loop import CHUNK, STEPPERS, steps
from kernels.stepping.observe_contacts import ContactSums
from kernels.stepping.observe_wall import WindowPart
from kernels.stepping.scheme import Control, Limits, Stepper, StepState, Trial
from kernels.stepping.side_by_side import side_by_side
from kernels.stepping.step_control import ByError
from kernels.stepping.structure import Acting, Loads, Structure, build, of_row, summed, summed_squares, times
from kernels.stepping.structure_course import Course, Ends

_NEARLY = 1.0 + 1e-6
_TRIES, _TRIES_EACH = 8.0, 4.0  # steps in a row that end at changes of phases: some, and some for each support
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


class StructureSetup(NamedTuple):
    """What does not change during a run.

    Attributes:
        key: of the program. p: resolved parameters. body, loads: the structure and what acts on it.
        mass: of the coordinates [kg], (N,). resistance: `Structure.drag` times mass [N s/m], (N,).
        finite: whether all parameters are finite numbers. h: length of the fixed steps, or of the first step [s].
        pace: number of fixed steps (a whole float), or the limits of chosen ones.
    """

    key: StructureKey
    p: dict[str, Array]
    body: Structure
    loads: Loads
    mass: Array
    resistance: Array
    finite: Array
    h: Array
    pace: Array | Limits


class Counted(NamedTuple):
    """Progress of a run at fixed steps: number of steps taken."""

    steps: Array


class Plan(NamedTuple):
    """Steps of a Runge-Kutta scheme that end where a support changes its phase (see `structure_course`).

    Attributes:
        h: length of the step that was planned before it was cut [s]. due: 1 if the next step is cut so, else 0.
        tries: number of such steps since the last other one. changes: 1 for the supports that change at the end of the next step, (G,).
    """

    h: Array
    due: Array
    tries: Array
    changes: tuple[Array, ...]


class Timed(NamedTuple):
    """Progress of a run at chosen steps; see `loop.Timed`. plan: None for schemes whose steps do not end at changes of phases."""

    t: Array
    rest: Array
    h: Array
    accepted: Array
    rejected: Array
    control: tuple[Array, ...]
    failure: Array
    plan: Plan | None = None


class Work(NamedTuple):
    """Work [J] of loads, own damping and supports since the start of the run."""

    loads: Array
    damping: Array
    supports: Array


class PointSums(NamedTuple):
    """Sums of points and coordinates over the window.

    Attributes:
        square, largest: integral of the square of each point's displacement [m^2 s], and its largest size [m], (P,).
        energy: integral of the energy of each coordinate [J s], (N,); None if it is not asked for.
    """

    square: Array
    largest: Array
    energy: Array | None = None


class StructureSums(NamedTuple):
    """Sums of a run: of each group of supports, of points, and of work. totals: float64 sums of a run in float32, else None."""

    contacts: tuple[ContactSums, ...]
    points: PointSums
    work: Work
    totals: Any = None


class Seen(NamedTuple):
    """What the sums need of an instant.

    Attributes:
        sizes: of the loads, (L,). along: displacements along the loads [m], (L,). points: displacements of points [m], (P,).
        braking: power of the structure's own damping [W].
    """

    sizes: Array
    along: Array
    points: Array
    braking: Array


class StructureRun(NamedTuple):
    """A structure after a step: its progress, its state, what was seen at that instant and the sums."""

    clock: Counted | Timed
    state: StepState
    seen: Seen
    sums: StructureSums


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
    x, v = _initial(setup)
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
        plan = Plan(setup.h + zero, zero, zero, tuple(0.0 * group.gap for group in body.groups)) if _plans(stepper, body) else None
        clock = Timed(time, time, setup.h + zero, time, time, control, of_type(failure, zero), plan)
    contacts = tuple(
        observe_contacts.init(group, touch, p["window_start"], setup.key.peak_edges)
        for group, touch in zip(body.groups, state.memory, strict=True)
    )
    still = jnp.zeros(p["points"].shape[0], body.one.dtype) + zero
    energy = 0.0 * x if setup.key.modal_energies else None
    sums = StructureSums(contacts, PointSums(still, still, energy), Work(zero, zero, zero))
    if zero.dtype != jnp.float64:
        sums = sums._replace(totals=jax.tree.map(lambda value: jnp.zeros_like(value, jnp.float64), _added(sums)))
    return StructureRun(clock, state, see(setup, state, setup.loads.at(time)), sums)


def _initial(setup: StructureSetup) -> tuple[Array, Array]:
    """Coordinates and velocities at t = 0."""
    p, key = setup.p, setup.key
    none = jnp.zeros(key.coordinates, setup.body.one.dtype) + 0.0 * setup.h
    if key.body:
        axes = [axis for axis in AXES if named("x0", axis) in p]
        x, v = (jnp.stack([p[named(name, axis)] for axis in axes]) for name in ("x0", "v0"))
        return none + x, none + v
    return none + p["start_factor"] * p["start"], none + p["start_rate_factor"] * p["start_rate"]


def active(setup: StructureSetup, run: StructureRun) -> Array:
    """Whether the run goes on: it has neither reached its end nor failed."""
    if isinstance(run.clock, Counted):
        return run.clock.steps < cast("Array", setup.pace)
    return (run.clock.t < setup.p["end"]) & (run.clock.failure == 0.0)


def attempt(stepper: Stepper, setup: StructureSetup, run: StructureRun) -> StructureRun:
    """The run after one fixed step, or after one attempt at a chosen step. A run that is over does not change."""
    return _fixed_step(stepper, setup, run, run.clock) if isinstance(run.clock, Counted) else _chosen_step(stepper, setup, run, run.clock)


def closed(setup: StructureSetup, run: StructureRun) -> StructureRun:
    """The run with its float32 sums moved into their float64 totals; call it every few hundred steps. In float64 it is unchanged."""
    if run.sums.totals is None:
        return run
    totals = jax.tree.map(lambda total, value: total + value, run.sums.totals, _added(run.sums))
    run = run._replace(sums=_with_added(run.sums, jax.tree.map(jnp.zeros_like, _added(run.sums)))._replace(totals=totals))
    # places at supports are sums of ways (`Acting.elapsed`), whose rounding errors end here
    places = zip(_touches(run.state), setup.body.along(run.state.x), strict=True)
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
        sums = _with_added(sums, jax.tree.map(lambda total, value: total + value, sums.totals, _added(sums)))
    length = p["window_end"] - p["window_start"]
    found: dict[str, Array] = {}
    for kinds, contact in zip(key.groups, sums.contacts, strict=True):
        found |= observe_contacts.finish(contact, [kind.name for kind in kinds], length)
    found |= _of_points(setup, state, sums.points, length)
    found |= _of_energies(setup, state, sums.work)
    if sums.points.energy is not None:
        found["modal_energy"] = observe_contacts.padded(sums.points.energy / length)
    zero = 0.0 * setup.h
    if isinstance(clock, Counted):
        accepted, rejected, status = clock.steps, zero, _failure(setup).astype(jnp.int32)
        reached = clock.steps * (p["end"] / cast("Array", setup.pace))
    else:
        accepted, rejected, status, reached = clock.accepted, clock.rejected, clock.failure.astype(jnp.int32), clock.t
    return {**found, "time_reached": reached, "accepted_steps": accepted, "rejected_steps": rejected}, status


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
    endless = jnp.zeros_like(setup.finite) if isinstance(setup.pace, Limits) else setup.pace > MOST_STEPS
    return jnp.where(setup.finite, jnp.where(endless, float(Status.TOO_MANY_STEPS), 0.0), float(Status.NOT_FINITE))


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
    starts = jnp.clip(p["window_start"] * rate - done, 0.0, 1.0).astype(h.dtype)
    ends = jnp.clip(p["window_end"] * rate - done, 0.0, 1.0).astype(h.dtype)
    state = jax.tree.map(lambda new, old: jnp.where(going, new, old), trial.state, run.state)
    trial = located(setup, run.state, trial._replace(state=state), h)
    seen = see(setup, state, loads[-1])
    sums = observe(setup, run, trial, seen, h, WindowPart(starts, ends))
    state = started(kicked(stepper, setup, run.state, trial.state, h))
    return StructureRun(Counted(jnp.minimum(done + 1.0, whole)), state, seen, sums)


def parts_of(stepper: Stepper) -> list[float]:
    """Of the evaluations of a fixed step, the fraction of the step since the memory that they start from; it moves at an even velocity."""
    since = (0.0, *stepper.fractions[:-1]) if stepper.remembers else (0.0,) * len(stepper.fractions)
    return [fraction - before for fraction, before in zip(stepper.fractions, since, strict=True)]


def located(setup: StructureSetup, before: StepState, trial: Trial, h: Array) -> Trial:
    """The trial whose springs of friction have the derivative by the instants of their entries; see `structure_saltation.anchored`."""
    every = zip(setup.body.groups, _touches(before), _touches(trial.state), strict=True)
    memory = tuple(structure_saltation.anchored(group, was, now, h) for group, was, now in every)
    return trial._replace(state=trial.state._replace(memory=cast("Any", memory)))


def kicked(stepper: Stepper, setup: StructureSetup, before: StepState, after: StepState, h: Array) -> StepState:
    """The state after a step whose velocities have the derivative by the instants at which forces jump; see `saltation`."""
    change = structure_saltation.of_structure(setup.body, _touches(before), _touches(after), h)
    return after if change is None else saltation.kicked(stepper, after, change)


def _touches(state: StepState) -> tuple[Touch, ...]:
    """The states of all supports."""
    return cast("tuple[Touch, ...]", state.memory)


def started(state: StepState) -> StepState:
    """The state at the start of the next step."""
    return state._replace(memory=cast("Any", anew(cast("Any", state.memory))))


def _chosen_step(stepper: Stepper, setup: StructureSetup, run: StructureRun, clock: Timed) -> StructureRun:
    """One attempt at a chosen step. It is cut at the ends of window and run. See `loop`, whose rules are the same."""
    p, limits, control = setup.p, cast("Limits", setup.pace), cast("Control", stepper.control)
    target = jnp.where(clock.t < p["window_start"], p["window_start"], jnp.where(clock.t < p["window_end"], p["window_end"], p["end"]))
    if setup.loads.shaped:
        target = jnp.minimum(target, setup.loads.next_after(clock.t))
    left, plan = (target - clock.t) - clock.rest, clock.plan
    near = _NEARLY if plan is None else jnp.where(plan.due > 0.5, 1.0, _NEARLY)  # a change of phase is not put off
    (lands,) = decide(left <= clock.h * near, like=clock.h)
    h = jnp.where(lands, left.astype(clock.h.dtype), clock.h)
    moments = [clock.t + (clock.rest + fraction * h) for fraction in stepper.fractions]
    if setup.loads.shaped:  # a step that lands where a load jumps sees the load before the jump
        loads = tuple(setup.loads.at(jnp.minimum(moment, target), before=True) for moment in moments)
    else:
        loads = tuple(setup.loads.at(moment) for moment in moments)
    keeps, along, planned = None, None, clock.h
    if plan is not None:
        (keeps,) = decide(plan.tries < _tries(setup), like=h)
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
        along = structure_course.courses(setup.body, _touches(run.state), _touches(trial.state), ends, h, keeps)
        first, changes = structure_course.first_change(setup.body, _touches(run.state), fixed(along), plan.changes)
        (cut,) = decide(verdict.accepted & going & keeps & (h > 0.0) & (first < jnp.inf), like=h)
    smallest = limits.smallest * jnp.minimum(1.0, left / setup.h).astype(h.dtype)
    accepted, too_small, too_many = decide(
        verdict.accepted & going & ~cut,
        ~verdict.accepted & going & (verdict.shorter < smallest),
        going & (clock.accepted + clock.rejected >= MOST_STEPS - 1.0),
        like=h,
    )
    failure = jnp.where(too_many, float(Status.TOO_MANY_STEPS), jnp.where(too_small, float(Status.STEP_TOO_SMALL), clock.failure))
    inside = (clock.t >= p["window_start"]) & (clock.t < p["window_end"])
    if along is None or plan is None or ends is None:
        trial = located(setup, run.state, trial, h)
        seen = see(setup, trial.state, loads[-1])
        sums = observe(setup, run, trial, seen, h, WindowPart(0.0, jnp.where(inside, 1.0, 0.0).astype(h.dtype)))
        trial = trial._replace(state=kicked(stepper, setup, run.state, trial.state, h))
    else:
        seen = see(setup, trial.state, loads[-1])
        acting = dense_output.at_nodes(stepper.fractions, run.seen.sizes, tuple(load.sizes for load in loads))
        sums = observe_along(setup, run, trial, seen, h, inside, along, acting)
        state, sums = _turned_over(setup, run, trial.state, sums, plan, ends, along, planned, loads[-1], inside)
        trial = trial._replace(state=state)
    if setup.loads.shaped:
        there, here = setup.loads.at(target), setup.loads.at(target, before=True)
        jump = there.force - here.force
        trial = trial._replace(state=stepper.jumped(trial.state, jnp.where(lands, jump, 0.0) * setup.body.by_mass))
        if plan is not None:
            seen = seen._replace(sizes=seen.sizes + jnp.where(lands, there.sizes - here.sizes, 0.0))
    if ends is not None:
        trial = trial._replace(state=_held(setup, trial.state, ends))
    total = clock.t + (clock.rest + h)
    rest = (clock.rest + h) - (total - clock.t)
    taken = Timed(
        t=jnp.where(lands, target, total),
        rest=jnp.where(lands, 0.0, rest),
        h=jnp.maximum(verdict.longer, limits.smallest).astype(clock.h.dtype),
        accepted=clock.accepted + 1.0,
        rejected=clock.rejected,
        control=verdict.after,
        failure=failure,
        plan=None if plan is None else Plan(plan.h, 0.0 * h, jnp.where(plan.due > 0.5, plan.tries, 0.0), _none(plan.changes)),
    )
    refused = clock._replace(
        h=jnp.where(cut, first * h, jnp.where(going, verdict.shorter, clock.h)).astype(clock.h.dtype),
        rejected=clock.rejected + jnp.where(going, 1.0, 0.0),
        control=verdict.again,
        failure=failure,
        plan=None if plan is None else _cut(plan, cut, planned, changes),
    )
    choose = lambda new, old: jnp.where(accepted, new, old)  # noqa: E731
    after = started(trial.state), seen, sums
    return StructureRun(jax.tree.map(choose, taken, refused), *jax.tree.map(choose, after, (run.state, run.seen, run.sums)))


def _plans(stepper: Stepper, body: Structure) -> bool:
    """Whether the steps of a scheme end where supports change their phases."""
    return isinstance(stepper.control, ByError) and bool(body.groups)


def _tries(setup: StructureSetup) -> float:
    """How many steps in a row may be cut at changes of phases. After them one is taken whatever it crosses, so that chatter ends."""
    return _TRIES + _TRIES_EACH * len(setup.key.contacts)


def _none(changes: tuple[Array, ...]) -> tuple[Array, ...]:
    """Changes of no support."""
    return tuple(jnp.zeros_like(each) for each in changes)


def _cut(plan: Plan, cut: Array, planned: Array, changes: tuple[Array, ...]) -> Plan:
    """The plan after a step that is not taken: it was `cut` for some `changes`, or found too long."""
    return Plan(
        h=jnp.where(cut, planned, plan.h).astype(plan.h.dtype),
        due=choice(cut, 1.0, 0.0, plan.due),
        tries=plan.tries + choice(cut, 1.0, 0.0, plan.due),
        changes=tuple(jnp.where(cut, each, 0.0) for each in changes),
    )


def _turned_over(
    setup: StructureSetup, run: StructureRun, after: StepState, sums: StructureSums, plan: Plan, ends: Ends, along: tuple[Course, ...],
    planned: Array, load: Acting, inside: Array,
) -> tuple[StepState, StructureSums]:  # fmt: skip
    """The state at the end of a step, and the sums, once the supports that are due have changed their phases.

    The instant of that moves in derivatives: they have what jumps there times its derivative.
    """
    body = setup.body
    before, now, (velocity, acceleration) = _touches(run.state), _touches(after), (ends.velocity[1], ends.acceleration[1])
    touches = tuple(
        contact_phases.changed(group, was, touch, v, a, planned, changes > 0.5)
        for group, was, touch, v, a, changes in zip(body.groups, before, now, velocity, acceleration, plan.changes, strict=True)
    )
    a, evaluated = body.acceleration(load._replace(keeps=plan.due >= 0.0), touches, after.x, 0.0 * after.x, after.v)
    (due,) = decide(plan.due > 0.5, like=setup.h)
    late, fixed = structure_course.late(along, plan.changes), jax.lax.stop_gradient
    turned, contacts, work = [], [], 0.0 * setup.h
    jumps = zip(body.groups, sums.contacts, now, touches, evaluated, along, velocity, body.along(a), strict=True)
    for group, contact, touch, start, found, course, v, quickening in jumps:
        new = contact_phases.remembered(start, found)
        begins = ~contact_phases.pressed(touch) & contact_phases.pressed(start)
        speeds = contact_phases.rates(group, new, v, quickening)[2] if group.tangents else ()
        springs = zip(new.elongation, speeds, strict=True)  # of a spring that begins then
        new = new._replace(
            elongation=tuple(moved_with(each, jnp.where(begins, -fixed(speed) * late, 0.0 * each)) for each, speed in springs)
        )
        presses = [contact_phases.pressed(each) for each in (touch, new)]
        sliding = contact_phases.margins(group, new, new, v, quickening, course.h).sliding
        ended = observe_contacts.rate(group, touch, presses[0], course.margins[-1].sliding)
        begun = observe_contacts.rate(group, new, presses[1], sliding)
        let_go = observe_contacts.let_go(contact, touch, new, due & inside)
        contacts.append(observe_contacts.moved(let_go, ended, begun, jnp.where(due & inside, late, 0.0 * late)))
        powers = zip(touch.force, new.force, v, strict=True)
        work = work + summed(sum((fixed((old - force) * speed) for old, force, speed in powers), start=0.0 * touch.depth)) * late
        turned.append(new)
    memory = jax.tree.map(lambda new, old: jnp.where(due, new, old), tuple(turned), now)
    kick = moved_with(after.v, fixed(after.a - a) * late)
    pushed = sums.work.supports
    sums = sums._replace(
        contacts=tuple(contacts), work=sums.work._replace(supports=moved_with(pushed, jnp.where(due, work, 0.0 * work) + 0.0 * pushed))
    )
    return after._replace(v=jnp.where(due, kick, after.v), a=jnp.where(due, a, after.a), memory=cast("Any", memory)), sums


def _held(setup: StructureSetup, state: StepState, ends: Ends) -> StepState:
    """The state at the start of the next step: what slips sticks if its anchor would go back."""
    body = setup.body
    memory = tuple(
        contact_phases.held(group, touch, v, a)
        for group, touch, v, a in zip(body.groups, _touches(state), ends.velocity[1], body.along(state.a), strict=True)
    )
    return state._replace(memory=cast("Any", memory))


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


def observe(setup: StructureSetup, run: StructureRun, trial: Trial, seen: Seen, h: Array, part: WindowPart | None) -> StructureSums:
    """Sums after a step of `h` [s] from a run to what is `seen`; `part` of it lies in the window. None: see `observe_contacts.update`."""
    body, before, after, was = setup.body, run.state, trial.state, run.sums
    contacts = tuple(
        observe_contacts.update(sums, group, one, other, h, part, setup.key.peak_edges)
        for sums, group, one, other in zip(was.contacts, body.groups, _touches(before), _touches(after), strict=True)
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
    lack = structure_saltation.of_work(body, _touches(before), _touches(after), h)
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
        observe_contacts.update_along(sums, group, course, inside, setup.key.peak_edges)
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
    for one, other in zip(_touches(run.state), _touches(after), strict=True):
        for force, place, more, there in zip(one.force, one.place, other.force, other.place, strict=True):
            pushed = pushed + 0.5 * summed((force + more) * (there - place))
    return Work(work.loads + pulled, work.damping + lost, pushed)


def _added(sums: StructureSums) -> Any:
    """The sums that grow with every step."""
    return tuple(contact.added for contact in sums.contacts), (sums.points.square, sums.points.energy), sums.work


def _with_added(sums: StructureSums, added: Any) -> StructureSums:
    """The sums with others in place of `_added`."""
    contacts, (square, energy), work = added
    return sums._replace(
        contacts=tuple(contact._replace(added=each) for contact, each in zip(sums.contacts, contacts, strict=True)),
        points=sums.points._replace(square=square, energy=energy),
        work=work,
    )


def _of_points(setup: StructureSetup, state: StepState, sums: PointSums, length: Array) -> dict[str, Array]:
    """Observables of points by name."""
    points = setup.p["points"]
    place, rate = points @ state.x, points @ state.v
    mean = sums.square / length
    rms = jnp.where(mean > 0.0, jnp.sqrt(jnp.where(mean > 0.0, mean, 1.0)), 0.0)
    parts = {"end": place, "rate_end": rate, "rms": rms, "max": sums.largest}
    return {
        named(f"{axis}_{name}", point): values[row] for name, values in parts.items() for row, (point, axis) in enumerate(setup.key.points)
    }


def _of_energies(setup: StructureSetup, state: StepState, work: Work) -> dict[str, Array]:
    """Observables of energies by name."""
    body = setup.body

    def energy(x: Array, v: Array) -> Array:
        return 0.5 * jnp.sum((v * v + body.stiffness * x * x) / body.by_mass)

    first, end = energy(*_initial(setup)), energy(state.x, state.v)
    lack = (end - first) - (work.loads + work.damping + work.supports)
    scale = functools.reduce(jnp.maximum, (jnp.abs(value) for value in (first, end, *work)))
    return {
        "energy_end": end,
        "load_work": work.loads,
        "damping_work": work.damping,
        "support_work": work.supports,
        "energy_error": jnp.where(scale > 0.0, jnp.abs(lack) / jnp.where(scale > 0.0, scale, 1.0), 0.0),
    }
