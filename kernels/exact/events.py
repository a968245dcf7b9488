"""The event loop: from one event of a contact law to the next, in closed form.

The law says, as data, in which linear phase the mass is and which guards end it; `crossing` finds the first that does; the law's transition
says what comes next. Beside the law's own events there are the ends of the stages (window start, window end, end of run). Derivatives: the
search runs on values alone; the time of an event then gets its derivative by the implicit function theorem, dt/dp = -g_p / g'.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from kernels.contact.friction import Contact, Penalised, PenalisedPhases
from kernels.contact.phases import Law, Point
from kernels.elementary import Array, all_finite, decide, run_time_one, settle, sincos
from kernels.exact.crossing import MOST_LOOKS, first_crossing
from kernels.exact.damped import Damped
from kernels.exact.refine import guard_time
from kernels.exact.segment import Anchor
from kernels.excitation.harmonic import Harmonic, wrap
from kernels.observables import rubbing
from kernels.observables.interval import Interval
from kernels.status import Status

MOST_EVENTS = 1_000_000

Memory = TypeVar("Memory")
Sums = TypeVar("Sums")


class State(NamedTuple, Generic[Memory, Sums]):
    """One oscillator just after an event.

    Attributes:
        t: time [s]. stage: 0 before the window, 1 in it, 2 after it, 3 when the run is over.
        x: displacement [m]. anchor: velocity, acceleration and excitation angle.
        memory: what the law remembers. sums: observables. events: count.
    """

    t: Array
    stage: Array
    x: Array
    anchor: Anchor
    memory: Memory
    sums: Sums
    events: Array


class Stretch(NamedTuple):
    """A piece of a phase, between two events.

    Attributes:
        duration: its length [s]. inside: whether it lies in the window. moved: displacement during it [m].
        v0, v: velocity at its start and after the event that ends it [m/s].
    """

    duration: Array
    inside: Array
    moved: Array
    v0: Array
    v: Array


class Machine(NamedTuple, Generic[Memory, Sums]):
    """The event loop of one oscillator, taken apart.

    Attributes:
        start: the state at t = 0; over at once where the row is not worth running.
        next_event: from one event to the next.
        place: (state, x [m], v [m/s], memory) -> the same at t = 0 and with these, in the window.
    """

    start: State[Memory, Sums]
    next_event: Callable[[State[Memory, Sums]], State[Memory, Sums]]
    place: Callable[[State[Memory, Sums], Array, Array, Array, Memory], State[Memory, Sums]]


def machine(
    law: Law[Memory],
    excitation: Harmonic,
    p: dict[str, Any],
    observe: Callable[[Sums, Memory, Stretch], Sums],
    sums: Sums,
    finite: Array,
) -> Machine[Memory, Sums]:
    """The event loop of one oscillator with any contact law.

    Args:
        law: the contact. excitation: the external force.
        p: resolved parameters, of which m, k, c, x0, v0 and the times are read here (scalars, SI units).
        observe: (sums, the law's memory during a stretch, the stretch) -> sums. sums: before the run.
        finite: whether the row is worth running; else it is over at once.
    """
    alpha, omega = excitation.amplitude / p["m"], p["omega"]
    one = run_time_one(omega)

    def fixed(tree: Any) -> Any:
        return jax.tree.map(jax.lax.stop_gradient, tree)

    def next_event(s: State[Memory, Sums]) -> State[Memory, Sums]:
        target = jnp.where(s.stage == 0.0, p["window_start"], jnp.where(s.stage == 1.0, p["window_end"], p["end"]))
        limit = target - s.t
        phase = law.phase(s.memory, s.x, s.anchor.v, s.anchor.a)
        zeta, w2 = settle(one, phase.zeta, phase.w2)
        segment = Damped(alpha, omega, zeta, w2, one)
        found = first_crossing(fixed(segment), fixed(s.anchor), fixed(phase.guards), fixed(limit))
        crossed = decide(one, *(found.happens & (found.which == float(i)) for i in range(len(phase.guards))))
        tau = jnp.where(found.tau < limit, found.tau, limit)
        for each, guard in zip(crossed, phase.guards, strict=True):
            tau = jnp.where(each, guard_time(found.tau, segment, s.anchor, guard), tau)
        (tau,) = settle(one, tau)
        happens = functools.reduce(operator.or_, crossed)
        given_up = ~happens & (found.tau < limit)
        passes = ~happens & ~given_up

        m = segment.motion(s.anchor, tau)
        x = s.x + m.d
        angle = wrap(s.anchor.angle + omega * tau)
        sine, cosine = sincos(angle)
        needed = excitation.force(sine) - p["k"] * x
        memory, v, a = law.transition(s.memory, crossed, s.anchor.v, Point(x, m.d, m.v, m.a, m.jerk, m.snap, needed))
        v, a = settle(one, v, a)
        memory = jax.tree.map(lambda value: settle(one, value)[0], memory)
        return State(
            t=jnp.where(passes, target, s.t + tau),
            stage=jnp.where(passes, s.stage + 1.0, s.stage),
            x=x,
            anchor=Anchor(v, a, angle, sine, cosine),
            memory=memory,
            sums=observe(s.sums, s.memory, Stretch(tau, s.stage == 1.0, m.d, s.anchor.v, v)),
            events=s.events + jnp.where(given_up, float(MOST_LOOKS), 1.0),
        )

    zero = jnp.zeros_like(alpha)
    angle = wrap(excitation.phase + zero)
    sine, cosine = sincos(angle)
    x, v = p["x0"] + zero, p["v0"] + zero
    needed = excitation.force(sine) - p["k"] * x
    free_a = (needed - p["c"] * v) / p["m"]
    free_jerk = alpha * omega * cosine - (p["c"] * free_a + p["k"] * v) / p["m"]
    free_snap = -alpha * omega**2 * sine - (p["c"] * free_jerk + p["k"] * free_a) / p["m"]
    memory, a = law.start(Point(x, zero, v, free_a, free_jerk, free_snap, needed))
    start = State(zero, jnp.where(finite, zero, 3.0), x, Anchor(v, a, angle, sine, cosine), memory, sums, zero)

    def place(s: State[Memory, Sums], x: Array, v: Array, a: Array, memory: Memory) -> State[Memory, Sums]:
        return s._replace(t=zero, stage=zero + 1.0, x=x, anchor=Anchor(v, a, angle, sine, cosine), memory=memory)

    return Machine(start, next_event, place)


def run(
    law: Law[Memory],
    excitation: Harmonic,
    p: dict[str, Any],
    observe: Callable[[Sums, Memory, Stretch], Sums],
    sums: Sums,
    finite: Array,
) -> tuple[State[Memory, Sums], Array]:
    """Run one oscillator with any contact law from 0 to `end` (for the arguments see `machine`): its state there, and the status code."""
    start, next_event, _ = machine(law, excitation, p, observe, sums, finite)
    last = jax.lax.while_loop(lambda s: (s.stage < 3.0) & (s.events < MOST_EVENTS), next_event, start)
    status = jnp.where(finite, jnp.where(last.events < MOST_EVENTS, int(Status.OK), int(Status.TOO_MANY_EVENTS)), int(Status.NOT_FINITE))
    return last, status


class Setup(NamedTuple):
    """What `machine` needs to know of a rubbing mass with penalised friction; `finite`: whether all its parameters are finite numbers."""

    law: PenalisedPhases
    excitation: Harmonic
    observe: Callable[[rubbing.Rubbing, Contact, Stretch], rubbing.Rubbing]
    sums: rubbing.Rubbing
    finite: Array


def setup(p: dict[str, Any]) -> Setup:
    """The rubbing mass of resolved parameters (see `simulate`)."""
    excitation, contact = Harmonic.of(p), Penalised.of(p)
    # without friction the contact does nothing, whatever its stiffness
    holds = contact.static_limit > 0.0
    contact = contact._replace(k_t=jnp.where(holds, contact.k_t, 1.0), c_t=jnp.where(holds, contact.c_t, 0.0))
    finite = all_finite([*(value for name, value in p.items() if name not in ("k_t", "c_t")), contact.k_t, contact.c_t])
    zero = jnp.zeros_like(excitation.amplitude)

    def observe(sums: rubbing.Rubbing, contact: Contact, now: Stretch) -> rubbing.Rubbing:
        slipping, lasts = contact.direction != 0.0, now.duration > 0.0
        interval = Interval(
            duration=jnp.where(now.inside, now.duration, 0.0),
            displacement=jnp.where(now.inside, now.moved, 0.0),
            slip=jnp.where(now.inside, jnp.abs(now.moved), 0.0),
            slipping=slipping & lasts,
            resting=(contact.resting > 0.0) & lasts,
            sticking=~slipping,
            begins=contact.begins > 0.0,
            top_speed=jnp.maximum(jnp.abs(now.v0), jnp.abs(now.v)),  # a peak in between is an event
        )
        return rubbing.update(sums, interval)

    return Setup(PenalisedPhases(p["m"], p["k"], p["c"], contact), excitation, observe, rubbing.init(zero), finite)


def simulate(p: dict[str, Any]) -> tuple[dict[str, Array], Array]:
    """Run one rubbing mass with penalised friction.

    Args:
        p: resolved parameters of the model `rubbing_mass` (scalars, SI units; finite k_t and c_t unless there is no friction).

    Returns:
        Observables by name (scalars), and the status code. A row whose numbers are not finite returns at once.

    Differentiable in every parameter (forward mode) except exactly at a graze. Validated by tests/kernels/test_penalised_exact.py.
    """
    law, excitation, observe, sums, finite = setup(p)
    last, status = run(law, excitation, p, observe, sums, finite)
    zero = jnp.zeros_like(last.t)
    return rubbing.finish(last.sums, p, last.x, last.anchor.v, zero, zero, zero), status
