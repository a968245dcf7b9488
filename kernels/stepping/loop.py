"""The loop that drives a time scheme over one oscillator with friction and walls.

A run consists of `begin`, a number of attempts at a step (`attempt`), and `finish`. `simulate` runs one oscillator. `batch.queue` runs many
side by side, each with its own time and step, and a lane whose run has ended takes the next one. `lockstep` is for runs that share steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact import wall_outcome
from tribosweep.kernels.contact.friction_law import FrictionLaw, NormalForces, Sliding, SupportStep
from tribosweep.kernels.contact.friction_registry import friction_law
from tribosweep.kernels.contact.links import Links
from tribosweep.kernels.contact.normal_force import Pressing
from tribosweep.kernels.contact.stop_law import stop_law
from tribosweep.kernels.contact.wall import MAY_BE_ABSENT, Wall
from tribosweep.kernels.contact.wall_outcome import WallEnd
from tribosweep.kernels.excitation.harmonic import Rotation, Turn
from tribosweep.kernels.excitation.multi_tone import Driven, Excitation, excitation_of
from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.models.contacts import STOP, WallLaw
from tribosweep.kernels.models.features import FEATURES, UNBOUNDED
from tribosweep.kernels.models.links import PARAMETERS as LINK_PARAMETERS
from tribosweep.kernels.models.outputs import NOTHING_ELSE, Asked
from tribosweep.kernels.numerics.fusion import for_every_lane, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, all_finite, choice, of_type
from tribosweep.kernels.numerics.tangents import moved_with, with_tangent_of
from tribosweep.kernels.observables import block_means, impacts, statistics
from tribosweep.kernels.segments.two_bodies import Centre, relative
from tribosweep.kernels.stepping import (
    dense_output,
    observe_friction,
    observe_links,
    observe_statistics,
    observe_wall,
    progress,
    saltation,
    two_level_sums,
    window_bounds,
)
from tribosweep.kernels.stepping.adapt1 import ADAPT1
from tribosweep.kernels.stepping.adapt2 import ADAPT2
from tribosweep.kernels.stepping.dense_output import Polynomial
from tribosweep.kernels.stepping.devogelaere import DEVOGELAERE
from tribosweep.kernels.stepping.euler import EULER
from tribosweep.kernels.stepping.progress import Clock, Counted, Timed, Turned
from tribosweep.kernels.stepping.rk32 import RK32
from tribosweep.kernels.stepping.rk54 import RK54
from tribosweep.kernels.stepping.scheme import Body, Control, External, Limits, Stepper, StepState, Trial

STEPPERS: dict[str, Stepper] = {
    "euler": EULER,
    "devogelaere": DEVOGELAERE,
    "adapt1": ADAPT1,
    "adapt2": ADAPT2,
    "rk32": RK32,
    "rk54": RK54,
}
CHUNK = 512  # attempts between two checks of which runs are over
TABLES_OF_OTHERS = tuple(q.name for q in outside_laws.parameters() if q.kind == "list")
_NEED_NOT_BE_FINITE = {*MAY_BE_ABSENT, *FEATURES["tones"], *UNBOUNDED, *(q.name for q in LINK_PARAMETERS), *TABLES_OF_OTHERS, "bank"}


class Even(NamedTuple):
    """Fixed steps.

    Attributes:
        whole: their number (a whole float). turns: rotation of the excitation from the start of a step to each fraction of it.
        swings: the same for a normal force that varies, with the rotation to the middle of a step as last entry; else empty.
    """

    whole: Array
    turns: tuple[Turn, ...]
    swings: tuple[Turn, ...]


class StepSetup(NamedTuple):
    """What does not change during a run.

    Attributes:
        p: resolved parameters; of two bodies those of the relative motion. centre: centre of mass of two bodies; None for models of one.
        body, excitation: the oscillator and the external force on it. finite: whether all its parameters are finite numbers.
        h: length of the fixed steps, or of the first step [s]. pace: `Even` for fixed steps, `Limits` for adaptive ones.
        instants: (n + 1,) bounds of the n blocks of the window [s], its ends included; None if no blocks are asked for.
        statistics: whether statistics are asked for. walls: the walls that the mass may hit.
    """

    p: dict[str, Array]
    body: Body
    excitation: Excitation
    finite: Array
    centre: Centre | None
    h: Array
    pace: Even | Limits
    instants: Array | None = None
    statistics: bool = False
    walls: tuple[WallLaw, ...] = ()

    @property
    def pressing(self) -> Pressing | None:
        """The normal force where it varies."""
        return self.body.friction.pressing

    def external(self, force: Array, normal: Array | None, elapsed: Array | float) -> External:
        """What acts on the oscillator at an instant; the contact's memory is that of an instant `elapsed` [s] earlier."""
        law = self.body.friction
        time = elapsed * self.body.one if law.reads_time or self.body.links is not None else None
        return External(force, normal, None if law.belt is None else law.belt * elapsed, time)

    def at(self, time: Array) -> External:
        """What acts on the oscillator at a time [s]; the contact's memory is that of t = 0."""
        return self.external(self.excitation.at(time), None if self.pressing is None else self.pressing.swing.at(time), time)


class StepSums(NamedTuple):
    """Sums of a run.

    Attributes:
        friction: of friction. shocks: of each wall. watched: of blocks and statistics, None if neither is asked for.
        links: of the links beside k and c, None without them.
        totals: of a float32 run, float64 totals of `friction` and `shocks` (see `two_level_sums`); else None.
    """

    friction: observe_friction.Tally
    shocks: tuple[impacts.Shock, ...]
    watched: observe_statistics.Watched | None = None
    links: observe_links.LinkSums | None = None
    totals: two_level_sums.Totals | None = None


class StepRun(NamedTuple):
    """One oscillator after a step: its progress, its state and the sums of its observables."""

    clock: Clock
    state: StepState
    sums: StepSums


def steps(end: Array, step: Array) -> Array:
    """Number of steps of a run until `end` [s] with steps of at most `step` [s] (a whole float)."""
    return jnp.ceil(end / step * (1.0 - 1e-12))


def prepare(stepper: Stepper, p: dict[str, Any], asked: Asked = NOTHING_ELSE, laws: tuple[WallLaw, ...] = ()) -> StepSetup:
    """What does not change during a run.

    Args:
        stepper: the scheme. p: resolved parameters (scalars); without `k` and `c` the program relies on k = c = 0.
        asked: outputs that must be asked for. laws: the walls that the mass may hit, each with its law in the program.
    """
    instants = block_means.bounds(p, asked.blocks) if asked.blocks else None
    friction = friction_law(p)
    free = "k" not in p
    if free:
        p = {**p, "k": jnp.zeros_like(p["m"]), "c": jnp.zeros_like(p["m"])}
    absent = _NEED_NOT_BE_FINITE | {law.prefix + name for law in laws for name in (*MAY_BE_ABSENT, "f_crit")}
    links = Links.of(p)
    constants = (*friction.constants, *(() if links is None else links.constants))
    stop, by_law = stop_law(p)
    if stop is not None and by_law is not None:
        constants += tuple(jnp.where(by_law, number, 0.0) for number in stop.constants)
    finite = all_finite([*(value for name, value in p.items() if name not in absent), *constants])
    centre = None
    if "m_2" in p:
        p, centre = relative(p)
    walls = tuple(Wall.of(p, law.law != STOP, prefix=law.prefix, sides=law.sides) for law in laws)
    excitation = excitation_of(p)
    one = for_every_lane(jnp.ones_like(p["omega"]), p["omega"])
    body = Body(1.0 / p["m"], p["k"], p["c"] / p["m"], friction, walls, one, free, links)
    if stepper.control is None:
        count = steps(p["end"], p["step"])
        h = (p["end"] / count).astype(body.one.dtype)  # in float32 runs, times are float64
        turns = tuple(excitation.turn(fraction * h) for fraction in stepper.fractions)
        swings: tuple[Turn, ...] = ()
        if friction.pressing is not None:
            swings = tuple(friction.pressing.swing.turn(fraction * h) for fraction in (*stepper.fractions, 0.5))
        return StepSetup(p, body, excitation, finite, centre, h, Even(count, turns, swings), instants, asked.statistics, laws)
    limits = Limits(p["largest_step"], p["smallest_step"], p.get("tolerance", body.one), p.get("retries", body.one))
    h = jnp.minimum(p["step"], p["largest_step"]).astype(body.one.dtype)
    return StepSetup(p, body, excitation, finite, centre, h, limits, instants, asked.statistics, laws)


def begin(stepper: Stepper, setup: StepSetup) -> StepRun:
    """The run at t = 0. It is over at once if its parameters are not finite, or if it needs more than MOST_STEPS fixed steps."""
    zero = 0.0 * setup.body.one
    x, v = setup.p["x0"] + zero, setup.p["v0"] + zero
    state = stepper.start(setup.body, setup.at, x, v, setup.h)
    if zero.dtype != jnp.float64:
        # the lost part of x matters near a wall and for steps too short to move x; elsewhere it would cost a tenth of the time in vain
        precise = bool(setup.body.walls) or stepper.control is not None
        state = state._replace(rest=zero if precise else None, slack=zero)
    clock: Clock
    if isinstance(setup.pace, Even):
        swing = None if setup.pressing is None else Rotation.start(setup.pressing.swing)
        clock = Counted(jnp.where(_failure(setup) > 0.0, setup.pace.whole, zero), Turned(Rotation.start(setup.excitation), swing))
    else:
        control = cast("Control", stepper.control).start(x, v, setup.excitation.largest * setup.body.by_mass, setup.h)
        none = zero.astype(jnp.float64)
        clock = Timed(none, none, setup.h + zero, none, none, control, of_type(_failure(setup), zero))
    sums = StepSums(
        observe_friction.init(zero, setup.body.friction), observe_wall.init(setup.body, state, setup.p["window_start"], stepper.degree == 1)
    )
    sums = sums._replace(links=observe_links.init(setup.body))
    if setup.instants is not None or setup.statistics:
        sums = sums._replace(watched=observe_statistics.init(setup.body, setup.instants, setup.statistics))
    sums = sums._replace(totals=two_level_sums.init(sums.friction, sums.shocks))
    return StepRun(clock, state, sums)


def active(setup: StepSetup, run: StepRun) -> Array:
    """Whether the run goes on: it has neither reached its end nor failed."""
    return progress.goes_on(run.clock, setup.pace.whole if isinstance(setup.pace, Even) else None, setup.p["end"])


def attempt(stepper: Stepper, setup: StepSetup, run: StepRun) -> StepRun:
    """The run after one fixed step, or after one attempt at an adaptive step. The observables of a run that is over do not change."""
    return _fixed_step(stepper, setup, run, run.clock) if isinstance(run.clock, Counted) else _chosen_step(stepper, setup, run, run.clock)


def closed(setup: StepSetup, run: StepRun) -> StepRun:
    """The run with its float32 sums moved into their float64 totals, and the excitation's angle recomputed from the time.

    Call it every few hundred steps, before rounding errors of sums and rotations grow. A run in float64 is returned as it is.
    """
    if run.sums.totals is None:
        return run
    clock = run.clock
    if isinstance(clock, Counted):
        clock = clock._replace(rotation=turned_to(setup, clock.steps))
    friction, shocks, totals = two_level_sums.close(run.sums.friction, run.sums.shocks, run.sums.totals)
    return run._replace(clock=clock, sums=run.sums._replace(friction=friction, shocks=shocks, totals=totals))


def finish(setup: StepSetup, run: StepRun) -> tuple[dict[str, Array], Array]:
    """Observables by name (scalars), and the status code."""
    clock, zero = run.clock, 0.0 * setup.body.one
    accepted, rejected, status = progress.outcome(clock, _failure(setup), zero)
    reached = time_of(setup, run)
    friction, shocks = run.sums.friction, run.sums.shocks
    if run.sums.totals is not None:
        friction, shocks = two_level_sums.whole(friction, shocks, run.sums.totals)
    found, x, v = observe_friction.finish(friction, setup.p), run.state.x, run.state.v
    if run.sums.watched is not None:
        found |= observe_statistics.finish(run.sums.watched, setup.p)
    ends = [WallEnd(crush.plastic, crush.largest, crush.buckled) for crush in run.state.memory.walls]
    crushed, status = wall_outcome.finish(setup.walls, setup.body.walls, ends, shocks, setup.p, status)
    found |= crushed | observe_links.finish(run.sums.links, setup.body, run.state)
    if isinstance(clock, Timed):
        late = window_bounds.left_at_end(setup.p, clock.t)
        reached = moved_with(reached, late)
        x, v = (moved_with(value, (late * rate).astype(value.dtype)) for value, rate in ((x, v), (v, run.state.a)))
    if setup.centre is not None:
        x, v, found["x_end_2"], found["v_end_2"] = setup.centre.bodies(setup.p, x, v)
    last = {"x_end": x, "v_end": v, "period": zero, "time_reached": reached}
    return {**found, **last, "accepted_steps": accepted, "rejected_steps": rejected}, status


def simulate(
    p: dict[str, Any], scheme: str, asked: Asked = NOTHING_ELSE, walls: tuple[WallLaw, ...] = ()
) -> tuple[dict[str, Array], Array]:
    """Run one oscillator with friction and the walls of its model.

    Args:
        p: resolved parameters (scalars, tables (n,) padded with NaN; SI units; finite k_t and c_t unless there is no friction).
        scheme: a key of `STEPPERS`. asked: outputs that must be asked for. walls: those that the mass may hit (all compile-time).

    Returns:
        Observables by name (scalars), and the status code.

    A step of a scheme of low order counts as slip if the contact slips at its end (see `Sliding.slips`); in a Runge-Kutta step the
    beginning and the end of slip, and of contact with a wall, are located (`dense_output`). Derivatives (forward mode) are those of the
    steps taken. They leave out how the step size control changes with the parameters; the end of a step at a given instant moves with
    that instant.
    """
    stepper = STEPPERS[scheme]
    setup = prepare(stepper, p, asked, walls)
    chunk = lambda run: jax.lax.fori_loop(0, CHUNK, lambda _, each: attempt(stepper, setup, each), run)  # noqa: E731
    return finish(setup, jax.lax.while_loop(lambda run: active(setup, run), chunk, begin(stepper, setup)))


def time_of(setup: StepSetup, run: StepRun) -> Array:
    """The time that a run has reached [s]."""
    return progress.time(run.clock, length(setup, setup.pace) if isinstance(setup.pace, Even) else None)


def length(setup: StepSetup, even: Even) -> Array:
    """Length of a fixed step [s], in float64."""
    return setup.h if setup.h.dtype == jnp.float64 else setup.p["end"] / even.whole


def _failure(setup: StepSetup) -> Array:
    """Status code of a run that cannot begin, as a float; 0 if it can begin."""
    return progress.failure_at_start(setup.finite, setup.pace.whole if isinstance(setup.pace, Even) else None)


def _fixed_step(stepper: Stepper, setup: StepSetup, run: StepRun, clock: Counted) -> StepRun:
    """One fixed step. After the last step of a run the length is 0, which costs less than freezing every carried number."""
    p, whole, done = setup.p, cast("Even", setup.pace).whole, clock.steps
    h = jnp.where(done < whole, setup.h, 0.0)
    turned, trial, normal_forces = turn(stepper, setup, run.state, cast("Turned", clock.rotation), h, done)
    rate = whole / p["end"]
    begin, end = p["window_start"] * rate - done, p["window_end"] * rate - done
    closes = window_bounds.closes(p["window_end"], p["end"], done, whole)
    starts, ends = window_bounds.begins_at(begin).astype(h.dtype), window_bounds.ends_at(end, closes).astype(h.dtype)
    inside = _position(run.state.v, trial, h, ends) - _position(run.state.v, trial, h, starts)
    (duration,) = fusion_barrier(h * (ends - starts))
    against = _against(setup.body.friction, run.state, trial, h, normal_forces)
    rubs = setup.body.friction.rubs_between(against, starts, ends)
    sums = _observe(
        stepper,
        setup,
        run,
        trial,
        observe_friction.SlipPart(
            duration,
            inside,
            rubs,
            late=setup.body.friction.late(against),
            bounds=observe_friction.Bounds(_quickening(stepper, setup, trial), *window_bounds.after_end((begin, end), h, closes)),
        ),
        (done / rate).astype(h.dtype),
        h,
        observe_wall.WindowPart(starts, ends),
    )
    if run.sums.watched is not None:
        parts = jnp.stack([starts, ends])
        if setup.instants is not None:
            closes = window_bounds.closes(setup.instants[1:], p["end"], done, whole)
            parts = jnp.append(starts, window_bounds.ends_at(setup.instants[1:] * rate - done, closes).astype(h.dtype))
        ways = _position(run.state.v, trial, h, parts)
        energies = _worn(setup, run.state, trial, h, normal_forces, parts, ways)
        course = course_of(stepper, run.state, trial, h)
        inner = None if course is None else observe_statistics.Inner(course, None)
        sums = sums._replace(
            watched=observe_statistics.update(run.sums.watched, setup.body, run.state, trial.state, h, parts, ways, energies, inner)
        )
    state = _kicked(stepper, setup, run.state, trial, h, normal_forces)
    return StepRun(Counted(jnp.minimum(done + 1.0, whole), turned), state, sums)


def turned_to(setup: StepSetup, number: Array) -> Turned:
    """The excitation's angle after a number of fixed steps, from the time in float64."""
    time = number * length(setup, cast("Even", setup.pace))
    pressing = setup.pressing
    return Turned(Rotation.at(setup.excitation, time), None if pressing is None else Rotation.at(pressing.swing, time))


def turn(
    stepper: Stepper, setup: StepSetup, state: StepState, rotation: Turned, h: Array, number: Array
) -> tuple[Turned, Trial, NormalForces | None]:
    """Fixed step `number`, counted from 0: the excitation's angle after it, the trial, and the normal force over it if that varies."""
    even, pressing, swing = cast("Even", setup.pace), setup.pressing, rotation.normal
    turned, sines = _sines(rotation.force, even.turns)
    forces = [setup.excitation.force(sine) for sine in sines]
    if isinstance(setup.excitation, Driven):
        length = setup.p["end"] / even.whole  # in float64, whatever the type of the others
        times = [(number + fraction) * length for fraction in stepper.fractions]
        steady = setup.excitation.sweep is None
        forces = [setup.excitation.with_pieces(f, t) if steady else setup.excitation.at(t) for f, t in zip(forces, times, strict=True)]
    normals: list[Array | None] = [None] * len(forces)
    normal_forces = None
    if pressing is not None and swing is not None:
        after, sines = _sines(swing, even.swings[:-1])
        normals = [pressing.swing.force(sine) for sine in sines]
        middle = pressing.swing.force(swing.sine_after(even.swings[-1]))
        normal_forces, swing = NormalForces(pressing.swing.force(swing.sine), middle, pressing.swing.force(after.sine)), after
    loads = _loads(stepper, setup, forces, normals, h)
    return Turned(turned, swing), stepper.step(setup.body, loads, state, h), normal_forces


def _sines(rotation: Rotation, turns: tuple[Turn, ...]) -> tuple[Rotation, list[Array]]:
    """The rotation after the last of several turns, and the sine after each turn."""
    turned = rotation.after(turns[-1])
    return turned, [*(rotation.sine_after(turn) for turn in turns[:-1]), turned.sine]


def _loads(stepper: Stepper, setup: StepSetup, forces: list[Array], normals: list[Array | None], h: Array) -> tuple[External, ...]:
    """What acts on the oscillator at each fraction of a step."""
    since = (0.0, *stepper.fractions[:-1]) if stepper.remembers else (0.0,) * len(forces)
    return tuple(
        setup.external(force, normal, (fraction - start) * h)
        for force, normal, fraction, start in zip(forces, normals, stepper.fractions, since, strict=True)
    )


def _against(law: FrictionLaw, before: StepState, trial: Trial, h: Array, normal_forces: NormalForces | None) -> SupportStep:
    """A step in the frame of the support."""
    memories = before.memory.friction, trial.state.memory.friction
    if law.belt is None:
        return SupportStep(h, before.v, trial.state.v, trial.moved, normal_forces, *memories)
    return SupportStep(h, before.v - law.belt, trial.state.v - law.belt, trial.moved - h * law.belt, normal_forces, *memories)


def _kicked(stepper: Stepper, setup: StepSetup, before: StepState, trial: Trial, h: Array, normal_forces: NormalForces | None) -> StepState:
    """The state after a step whose velocity has the derivative by the instants at which forces jump; see `saltation`."""
    change = saltation.of_oscillator(setup.body, before, trial.state, _against(setup.body.friction, before, trial, h, normal_forces))
    return trial.state if change is None else saltation.kicked(stepper, trial.state, change)


def rubs_of(
    setup: StepSetup, before: StepState, trial: Trial, h: Array, normal_forces: NormalForces | None
) -> tuple[Array, Sliding | None]:
    """Velocity against the support at the end of a step [m/s], and `FrictionLaw.rubs` of the whole step."""
    step = _against(setup.body.friction, before, trial, h, normal_forces)
    return step.v1, setup.body.friction.rubs(step)


def _worn(
    setup: StepSetup, before: StepState, trial: Trial, h: Array, normal_forces: NormalForces | None, parts: Array, ways: Array
) -> Array:
    """(n - 1,) wear energies [J] between the fractions `parts` (n,) of a step. `ways` (n,) are the displacements there [m]."""
    law, grip, normal = setup.body.friction, trial.state.memory.friction, setup.p["normal_force"]
    step = _against(law, before, trial, h, normal_forces)
    if law.rubs(step) is None:
        forth = jnp.sign(ways[-1] - ways[0])  # the slip distance is that between the ends, even if the mass turns back within the step
        return jnp.where(grip.slips, normal * forth * jnp.diff(ways), 0.0)
    rubs = cast("Sliding", jax.vmap(lambda begin, end: law.rubs_between(step, begin, end))(parts[:-1], parts[1:]))
    return jnp.where(rubs.works(grip), normal * jnp.abs(rubs.slid) if rubs.wear is None else rubs.wear, 0.0)


def _position(v: Array, trial: Trial, h: Array, part: Array) -> Array:
    """Displacement [m] from the start of a step to its fraction `part`, by the cubic through positions and velocities at its ends."""
    bend = (1.0 - part) * (h * v - trial.moved) - part * (h * trial.state.v - trial.moved)
    return part * (trial.moved + (1.0 - part) * bend)


def _chosen_step(stepper: Stepper, setup: StepSetup, run: StepRun, clock: Timed) -> StepRun:
    """One attempt at an adaptive step. It is cut at the ends of window, blocks and run, and where contact is lost or made again."""
    p, limits, control = setup.p, cast("Limits", setup.pace), cast("Control", stepper.control)
    within = p["window_end"] if setup.instants is None else block_means.following(setup.instants, clock.t)
    target = progress.target(p, clock.t, within)
    if setup.pressing is not None:  # the normal force is not smooth where contact is lost or made
        target = jnp.minimum(target, clock.t + setup.pressing.until_zero(clock.t))
    bends = setup.excitation if isinstance(setup.excitation, Driven) and setup.excitation.tables else None
    if bends is not None:
        target = jnp.minimum(target, bends.next_after(clock.t))
    stride = progress.stride(clock, target)
    h, moments = stride.h, stride.moments(clock, stepper.fractions)
    pressing, normals, normal_forces = setup.pressing, cast("list[Array | None]", [None] * len(moments)), None
    if pressing is not None:
        normals = [pressing.swing.at(moment) for moment in moments]
        begin, middle = (pressing.swing.at(clock.t + (clock.rest + fraction * h)) for fraction in (0.0, 0.5))
        normal_forces = NormalForces(begin, middle, cast("Array", normals[-1]))
    if bends is None:
        forces = [setup.excitation.at(moment) for moment in moments]
    else:  # a step that lands where the force jumps sees the force before the jump
        forces = [bends.at(jnp.minimum(moment, target), before=True) for moment in moments]
    loads = _loads(stepper, setup, forces, normals, h)
    trial = stepper.step(setup.body, loads, run.state, h)

    fixed = jax.lax.stop_gradient
    doubt = cast("tuple[Array, Array]", fixed(trial.doubt))
    verdict = control.judge(clock.control, doubt, fixed(h), clock.h, fixed(trial.state.x), fixed(trial.state.v), fixed(limits))
    going = active(setup, run)
    accepted, failure = progress.judged(clock, stride, verdict, verdict.accepted & going, going, limits, setup.h)
    inside = (clock.t >= p["window_start"]) & (clock.t < p["window_end"])
    trial = _settled(setup, trial)
    rubs = rubs_of(setup, run.state, trial, h, normal_forces)[1]  # its energies count only if the step is inside the window
    against = _against(setup.body.friction, run.state, trial, h, normal_forces)
    late = setup.body.friction.late(against)
    later = window_bounds.lost_at_start(p, clock.t)
    first = window_bounds.part_of(later, h)  # where a window that begins with the run begins: 0, with a derivative
    part = observe_friction.SlipPart(jnp.where(inside, h, 0.0), jnp.where(inside, trial.moved, 0.0), rubs, late=late)
    part = part._replace(bounds=observe_friction.Bounds(_quickening(stepper, setup, trial), later.astype(h.dtype), 0.0 * h))
    course, inner = course_of(stepper, run.state, trial, h), None
    if course is not None:
        slid = course if setup.body.friction.belt is None else course + dense_output.line(0.0 * h, -h * setup.body.friction.belt)
        rubs, slips = observe_friction.along(setup.body.friction, against, slid, first)
        part = part._replace(rubbed=rubs, within=slips)
    span = observe_wall.WindowPart(first, choice(inside, 1.0, 0.0, h))
    unsure = control.unsure(verdict.after, limits)
    sums = _observe(stepper, setup, run, trial, part, clock.t.astype(h.dtype), h, span, course, unsure)
    if run.sums.watched is not None:
        bounds = jnp.stack([p["window_start"], p["window_end"]]) if setup.instants is None else setup.instants
        parts = jnp.where(clock.t < bounds, 1.0, 0.0)  # the step ends at the next bound at the latest
        ways = parts * trial.moved
        if course is None:
            energies = _worn(setup, run.state, trial, h, normal_forces, parts, ways)
        else:
            energies = _worn_along(setup, part) * (parts[1:] - parts[:-1])
        if course is not None and setup.statistics:
            at_nodes = [
                None if normal_forces is None else normal_forces.at(jnp.asarray(node, h.dtype)) for node in dense_output.FIFTHS[1:-1]
            ]
            inner_loads = [setup.external(0.0 * h, n, node * h) for n, node in zip(at_nodes, dense_output.FIFTHS[1:-1], strict=True)]
            at_them = observe_statistics.forces_within(setup.body, tuple(inner_loads), run.state, course, h)
            inner = observe_statistics.Inner(course, at_them)
        sums = sums._replace(
            watched=observe_statistics.update(run.sums.watched, setup.body, run.state, trial.state, h, parts, ways, energies, inner)
        )
    sums = _from_the_start(setup, run, trial, sums, later, h)
    sums = sums._replace(friction=_slid_from_later(setup, run, sums.friction, against, part, later))
    trial = trial._replace(state=_kicked(stepper, setup, run.state, trial, h, normal_forces))
    if bends is not None:
        jump = jnp.where(stride.lands, bends.at(target) - bends.at(target, before=True), 0.0).astype(h.dtype)
        trial = trial._replace(state=stepper.jumped(trial.state, jump * setup.body.by_mass))
    taken = progress.taken(clock, stride, verdict, limits, failure)
    refused = progress.refused(clock, verdict, going, failure, jnp.where(going, verdict.shorter, clock.h))
    choose = lambda new, old: jnp.where(accepted, new, old)  # noqa: E731
    return StepRun(jax.tree.map(choose, taken, refused), *jax.tree.map(choose, (trial.state, sums), (run.state, run.sums)))


def _from_the_start(setup: StepSetup, run: StepRun, trial: Trial, sums: StepSums, late: Array, h: Array) -> StepSums:
    """The sums after a step of `h` [s] in a window that begins with the run and `late` [s] after that; see `window_bounds`.

    What walls and links do has that derivative by the part of the step that lies in the window.
    """
    first, was, watched = window_bounds.part_of(late, h), run.sums, sums.watched
    if watched is not None and was.watched is not None:
        watched = _less(was.watched, watched, ("worn",), first)
        if watched.statistics is not None:
            values, then = (observe_statistics.values_at(setup.body, state) for state in (run.state, trial.state))
            then = then.at[0].set(values[0] + h * run.state.v)
            seen = statistics.add_instant(watched.statistics, -late.astype(values.dtype), values, run.state.v)
            values, then = values.astype(seen.lowest.dtype), then.astype(seen.lowest.dtype)
            narrowed = {name: window_bounds.narrowed(getattr(seen, name), values, then, first) for name in ("lowest", "highest")}
            seen = seen._replace(**narrowed)
            watched = watched._replace(
                statistics=jax.tree.map(lambda value, moved: with_tangent_of(moved, value), watched.statistics, seen)
            )
    return sums._replace(watched=watched)


def _slid_from_later(
    setup: StepSetup, run: StepRun, sums: observe_friction.Tally, step: SupportStep, part: observe_friction.SlipPart, late: Array
) -> observe_friction.Tally:  # fmt: skip
    """The sums of friction after a first step in a window that begins `late` [s] after it; where slip in it is not known by its mean."""
    if part.within is None or (part.rubbed is not None and part.rubbed.always is not None):
        return cast("observe_friction.Tally", _less(run.sums.friction, sums, two_level_sums.FRICTION, window_bounds.part_of(late, step.h)))
    return observe_friction.from_later(sums, setup.body.friction, step, part.within, run.state.v, late)


def _less(old: Any, new: Any, names: tuple[str, ...], part: Array) -> Any:
    """The sums of these names after a first step, without what they gain at a `part` of it (`window_bounds.without`)."""
    both = ((name, getattr(old, name), getattr(new, name)) for name in names)
    return new._replace(**{name: window_bounds.without(was, now, part) for name, was, now in both if now is not None})


def course_of(stepper: Stepper, before: StepState, trial: Trial, h: Array) -> Polynomial | None:
    """Displacement [m] since the start of a step, along it; None for straight lines (see `Stepper.degree`)."""
    if stepper.degree == 1:
        return None
    ends = (before.a, trial.state.a) if stepper.degree == 5 else (None, None)
    return dense_output.motion(h, before.v, trial.state.v, trial.moved, *ends)


def _quickening(stepper: Stepper, setup: StepSetup, trial: Trial) -> Array:
    """Acceleration at the end of a step [m/s^2]."""
    state = trial.state
    return state.a - setup.body.drag * state.v if stepper.undamped else state.a


def _worn_along(setup: StepSetup, part: observe_friction.SlipPart) -> Array:
    """Wear energy [J] of a step that lies in one block."""
    slips = cast("observe_friction.SlipWithin", part.within)
    rubbed = part.rubbed
    if rubbed is None or rubbed.wear is None:
        return jnp.where(slips.share > 0.0, setup.p["normal_force"] * slips.distance, 0.0)
    return jnp.where((slips.share > 0.0) | (rubbed.always is not None), rubbed.wear, 0.0)


def _settled(setup: StepSetup, trial: Trial) -> Trial:
    """The trial, with acceleration and slip state computed only once (`fusion_barrier`). A fixed step does so without a barrier."""
    (a,) = fusion_barrier(trial.state.a)
    return trial._replace(state=trial.state._replace(a=a, memory=setup.body.settled(trial.state.memory)))


def _observe(
    stepper: Stepper, setup: StepSetup, run: StepRun,
    trial: Trial, part: observe_friction.SlipPart, since: Array, h: Array, bounds: observe_wall.WindowPart,
    course: Polynomial | None = None, unsure: Array | None = None,
) -> StepSums:  # fmt: skip
    """Sums after a step of `h` [s] from the time `since` [s], along a `course` if that is curved. `part` is in the window, by `bounds`.

    For `unsure` see `observe_wall.update`.
    """
    belt = setup.body.friction.belt
    speed = trial.state.v if belt is None else trial.state.v - belt
    friction = observe_friction.update(run.sums.friction, run.state.memory.friction, trial.state.memory.friction, speed, part)
    before = run.state
    if stepper.undamped:
        before = before._replace(a=before.a - setup.body.drag * before.v)
    shocks = observe_wall.update(run.sums.shocks, setup.body.walls, before, trial.state, since, h, bounds, course, unsure)
    links = observe_links.update(run.sums.links, setup.body, run.state, trial.state, trial.moved, h, bounds, course is not None)
    return StepSums(friction, shocks, links=links, totals=run.sums.totals)
