"""The loop that drives a time scheme over one rubbing mass with penalised friction.

A run is begun, advanced by a number of attempts at a step, and finished: `batch` does so with many runs side by side, each at its own time
and step, and gives the place of a finished one to the next; `simulate` does it with one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, cast

import jax
import jax.numpy as jnp

from kernels.contact.friction import Penalised, turned_back
from kernels.elementary import Array, all_finite, decide, run_time_one, settle
from kernels.excitation.harmonic import Harmonic, Rotation, Turn
from kernels.observables import rubbing
from kernels.observables.interval import Interval
from kernels.schemes import MOST_STEPS
from kernels.status import Status
from kernels.stepping.adapt1 import ADAPT1
from kernels.stepping.adapt2 import ADAPT2
from kernels.stepping.devogelaere import DEVOGELAERE
from kernels.stepping.euler import EULER
from kernels.stepping.rk32 import RK32
from kernels.stepping.rk54 import RK54
from kernels.stepping.scheme import Body, Control, Limits, State, Stepper, Trial

STEPPERS: dict[str, Stepper] = {
    "euler": EULER,
    "devogelaere": DEVOGELAERE,
    "adapt1": ADAPT1,
    "adapt2": ADAPT2,
    "rk32": RK32,
    "rk54": RK54,
}
CHUNK = 512  # attempts between two looks at which runs are over
_NEARLY = 1.0 + 1e-6


class Even(NamedTuple):
    """Fixed steps: their number (a whole float), and the turns of the excitation to each fraction of one."""

    whole: Array
    turns: tuple[Turn, ...]


class Setup(NamedTuple):
    """What does not change during a run.

    Attributes:
        p: resolved parameters. body, excitation: the oscillator and what shakes it.
        h: length of a fixed step, of the first one otherwise [s]. pace: what more there is to know of either kind of steps.
    """

    p: dict[str, Array]
    body: Body
    excitation: Harmonic
    h: Array
    pace: Even | Limits


class Counted(NamedTuple):
    """Where a run at a fixed step is: number of steps taken, and the excitation's angle."""

    steps: Array
    rotation: Rotation


class Timed(NamedTuple):
    """Where a run at chosen steps is.

    Attributes:
        t, rest: time [s] and what its rounding left out. h: length of the next step [s].
        accepted, rejected: number of steps. control: what the scheme's control remembers. failure: a status code, 0 while all is well.
    """

    t: Array
    rest: Array
    h: Array
    accepted: Array
    rejected: Array
    control: tuple[Array, ...]
    failure: Array


Clock: TypeAlias = Counted | Timed


class Run(NamedTuple):
    """One oscillator after a step: its clock, its state, whether it rests (1 or 0), observables."""

    clock: Clock
    state: State
    resting: Array
    sums: rubbing.Rubbing


def steps(end: Array, step: Array) -> Array:
    """Number of steps of a run of `end` [s] with steps of at most `step` [s] (a float, whole)."""
    return jnp.ceil(end / step * (1.0 - 1e-12))


def prepare(stepper: Stepper, p: dict[str, Any]) -> Setup:
    """What does not change during the run of resolved parameters (scalars)."""
    excitation = Harmonic.of(p)
    body = Body(1.0 / p["m"], p["k"], p["c"] / p["m"], Penalised.of(p), run_time_one(p["omega"]))
    if stepper.control is None:
        count = steps(p["end"], p["step"])
        h = p["end"] / count
        turns = tuple(excitation.turn(fraction * h) for fraction in stepper.fractions)
        return Setup(p, body, excitation, h, Even(count, turns))
    limits = Limits(p["largest_step"], p["smallest_step"], p.get("tolerance", body.one), p.get("retries", body.one))
    return Setup(p, body, excitation, jnp.minimum(p["step"], p["largest_step"]), limits)


def begin(stepper: Stepper, setup: Setup) -> Run:
    """The run at t = 0. One whose numbers are not finite, or that would take more than MOST_STEPS fixed steps, is over at once."""
    zero = 0.0 * setup.body.one
    x, v = setup.p["x0"] + zero, setup.p["v0"] + zero
    state = stepper.start(setup.body, setup.excitation.at, x, v, setup.h)
    clock: Clock
    if isinstance(setup.pace, Even):
        clock = Counted(jnp.where(_failure(setup) > 0.0, setup.pace.whole, zero), Rotation.start(setup.excitation))
    else:
        control = cast("Control", stepper.control).start(x, v, setup.excitation.largest * setup.body.by_mass, setup.h)
        clock = Timed(zero, zero, setup.h + zero, zero, zero, control, _failure(setup))
    return Run(clock, state, 1.0 - state.memory.slipping, rubbing.init(zero))


def active(setup: Setup, run: Run) -> Array:
    """Whether the run has not come to its end."""
    if isinstance(run.clock, Counted):
        return run.clock.steps < cast("Even", setup.pace).whole
    return (run.clock.t < setup.p["end"]) & (run.clock.failure == 0.0)


def attempt(stepper: Stepper, setup: Setup, run: Run) -> Run:
    """One step further, or one attempt at it. What is observed of a run that is over does not change."""
    return _fixed_step(stepper, setup, run, run.clock) if isinstance(run.clock, Counted) else _chosen_step(stepper, setup, run, run.clock)


def finish(setup: Setup, run: Run) -> tuple[dict[str, Array], Array]:
    """Observables by name (scalars), and the status code."""
    clock, zero = run.clock, 0.0 * setup.body.one
    if isinstance(clock, Counted):
        accepted, rejected = clock.steps, zero
        status = _failure(setup).astype(jnp.int32)
    else:
        accepted, rejected, status = clock.accepted, clock.rejected, clock.failure.astype(jnp.int32)
    return rubbing.finish(run.sums, setup.p, run.state.x, run.state.v, accepted, rejected, jnp.zeros_like(accepted)), status


def simulate(p: dict[str, Any], scheme: str) -> tuple[dict[str, Array], Array]:
    """Run one rubbing mass with penalised friction.

    Args:
        p: resolved parameters of the model `rubbing_mass` (scalars, SI units; finite k_t and c_t unless there is no friction).
        scheme: a key of `STEPPERS` (compile-time).

    Returns:
        Observables by name (scalars), and the status code.

    Slip counts while the contact's flag says slip. Derivatives (forward mode) are those of the steps as taken: how the choice of their
    lengths changes with the parameters is left out, but steps that end at a given instant move with it.
    """
    stepper = STEPPERS[scheme]
    setup = prepare(stepper, p)
    chunk = lambda run: jax.lax.fori_loop(0, CHUNK, lambda _, each: attempt(stepper, setup, each), run)  # noqa: E731
    return finish(setup, jax.lax.while_loop(lambda run: active(setup, run), chunk, begin(stepper, setup)))


def _failure(setup: Setup) -> Array:
    """Status code of a run that cannot begin, as a float; 0 of one that can."""
    contact = setup.body.contact
    finite = all_finite([*(value for name, value in setup.p.items() if name not in ("k_t", "c_t")), contact.k_t, contact.c_t])
    endless = setup.pace.whole > MOST_STEPS if isinstance(setup.pace, Even) else jnp.zeros_like(finite)
    return jnp.where(finite, jnp.where(endless, float(Status.TOO_MANY_STEPS), 0.0), float(Status.NOT_FINITE))


def _fixed_step(stepper: Stepper, setup: Setup, run: Run, clock: Counted) -> Run:
    """One step of given length; beyond the last one of length 0, which costs less than freezing every carried number."""
    p, (whole, turns), (done, rotation) = setup.p, cast("Even", setup.pace), clock
    h = jnp.where(done < whole, setup.h, 0.0)
    turned = rotation.after(turns[-1])
    sines = [*(rotation.sine_after(turn) for turn in turns[:-1]), turned.sine]
    trial = stepper.step(setup.body, tuple(setup.excitation.force(sine) for sine in sines), run.state, h)
    since = done * setup.h
    rate = 1.0 / setup.h
    starts = jnp.clip((p["window_start"] - since) * rate, 0.0, 1.0)
    ends = jnp.clip((p["window_end"] - since) * rate, 0.0, 1.0)
    (duration,) = settle(setup.body.one, h * (ends - starts))
    inside = _position(run.state.v, trial, h, ends) - _position(run.state.v, trial, h, starts)
    state, resting, sums = _observe(setup, run, trial, duration, inside, setup.excitation.force(turned.sine))
    return Run(Counted(jnp.minimum(done + 1.0, whole), turned), state, resting, sums)


def _position(v: Array, trial: Trial, h: Array, part: Array) -> Array:
    """Displacement [m] since the start of a step at a part of it in [0, 1], by the cubic through positions and velocities at its ends."""
    bend = (1.0 - part) * (h * v - trial.moved) - part * (h * trial.state.v - trial.moved)
    return part * (trial.moved + (1.0 - part) * bend)


def _chosen_step(stepper: Stepper, setup: Setup, run: Run, clock: Timed) -> Run:
    """One attempt at a step of the scheme's choice, shortened where it would pass an end of the window or of the run."""
    p, one, limits, control = setup.p, setup.body.one, cast("Limits", setup.pace), cast("Control", stepper.control)
    target = jnp.where(clock.t < p["window_start"], p["window_start"], jnp.where(clock.t < p["window_end"], p["window_end"], p["end"]))
    left = (target - clock.t) - clock.rest
    (lands,) = decide(one, left <= clock.h * _NEARLY)
    h = jnp.where(lands, left, clock.h)
    loads = tuple(setup.excitation.at(clock.t + (clock.rest + fraction * h)) for fraction in stepper.fractions)
    trial = stepper.step(setup.body, loads, run.state, h)

    fixed = jax.lax.stop_gradient
    doubt = cast("tuple[Array, Array]", fixed(trial.doubt))
    verdict = control.judge(clock.control, doubt, fixed(h), clock.h, fixed(trial.state.x), fixed(trial.state.v), fixed(limits))
    going = active(setup, run)
    # a step that is cut to hit an instant may be as short as that takes, and so may those that replace it
    smallest = limits.smallest * jnp.minimum(1.0, left / setup.h)
    accepted, too_small, too_many = decide(
        one,
        verdict.accepted & going,
        ~verdict.accepted & going & (verdict.shorter < smallest),
        going & (clock.accepted + clock.rejected >= MOST_STEPS - 1.0),
    )
    failure = jnp.where(too_many, float(Status.TOO_MANY_STEPS), jnp.where(too_small, float(Status.STEP_TOO_SMALL), clock.failure))
    inside = (clock.t >= p["window_start"]) & (clock.t < p["window_end"])
    after = _observe(setup, run, trial, jnp.where(inside, h, 0.0), jnp.where(inside, trial.moved, 0.0), loads[-1])
    total = clock.t + (clock.rest + h)
    rest = (clock.rest + h) - (total - clock.t)
    taken = Timed(
        t=jnp.where(lands, target, total),
        rest=jnp.where(lands, 0.0, rest),
        h=jnp.maximum(verdict.longer, limits.smallest),
        accepted=clock.accepted + 1.0,
        rejected=clock.rejected,
        control=verdict.after,
        failure=failure,
    )
    refused = clock._replace(
        h=jnp.where(going, verdict.shorter, clock.h),
        rejected=clock.rejected + jnp.where(going, 1.0, 0.0),
        control=verdict.again,
        failure=failure,
    )
    choose = lambda new, old: jnp.where(accepted, new, old)  # noqa: E731
    return Run(jax.tree.map(choose, taken, refused), *jax.tree.map(choose, after, (run.state, run.resting, run.sums)))


def _observe(setup: Setup, run: Run, trial: Trial, duration: Array, inside: Array, load: Array) -> tuple[State, Array, rubbing.Rubbing]:
    """State, rest and sums after a step of which `duration` [s] and the displacement `inside` [m] lie in the window.

    `load` is the external force at its end [N].
    """
    one, law = setup.body.one, setup.body.contact
    before, after = run.state.memory, trial.state.memory
    a, flag = settle(one, trial.state.a, after.slipping)
    after = after._replace(slipping=flag)
    rests = law.rests(before, after, run.resting > 0.0, load - setup.p["k"] * trial.state.x)
    (resting,) = settle(one, jnp.where(rests, 1.0, 0.0))
    slipping = flag > 0.0
    now = Interval(
        duration=duration,
        displacement=inside,
        slip=jnp.abs(inside),
        slipping=slipping,
        resting=resting > 0.0,
        sticking=~slipping,
        begins=slipping & ((run.resting > 0.0) | turned_back(before, after)),
        top_speed=jnp.abs(trial.state.v),
    )
    return trial.state._replace(a=a, memory=after), resting, rubbing.update(run.sums, now)
