"""The general event loop: it runs any contact law from one event to the next, in closed form.

The law states, as data, the present linear phase and the guards that end it. `first_guard` finds the first guard that crosses zero. The
transition of the law then gives the next phase. Other events are the ends of the stages: window start, window end, end of run. The search
runs on values alone. The implicit function theorem then gives the derivative of the event time, dt/dp = -g_p / g'.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from kernels.contact.law import ContactLaw, Instant
from kernels.exact.search import first_guard_taylor
from kernels.exact.search.first_guard import MOST_LOOKS, first_crossing, stay
from kernels.exact.search.roots import guard_time
from kernels.excitation.harmonic import wrap
from kernels.excitation.multi_tone import Driven, Excitation, SampledForce
from kernels.models.status import Status
from kernels.numerics.elementary import sincos
from kernels.numerics.fusion import decide, fusion_barrier
from kernels.numerics.numbers import Array
from kernels.observables.block_means import following
from kernels.segments.damped import Damped, over_sines
from kernels.segments.interface import Anchor, Motion
from kernels.segments.taylor import TaylorSegment

MOST_EVENTS = 1_000_000
MOST_RAPID = 30  # so many successive events, each within _NO_TIME of the shortest time scale, count as infinitely many (Zeno)
_NO_TIME = 1e-9

Memory = TypeVar("Memory")
Sums = TypeVar("Sums")


class EventState(NamedTuple, Generic[Memory, Sums]):
    """One oscillator just after an event.

    Attributes:
        t: time [s]. stage: 0 before the window, 1 in it, 2 after it, 3 when the run is over.
        x: displacement [m]. anchor: velocity, acceleration and excitation angle.
        memory: of the law. sums: observables. events: number so far. rapid: number of successive rapid events (see `MOST_RAPID`).
        kind: that of the event, as `ContactLaw.kind` (0 for no event), or -1 to -3 if a stage ended; None if no log is kept.
        sample: number of the last sample reached in the record of base acceleration; None without a record.
    """

    t: Array
    stage: Array
    x: Array
    anchor: Anchor
    memory: Memory
    sums: Sums
    events: Array
    rapid: Array
    kind: Array | None = None
    sample: Array | None = None


class Stretch(NamedTuple):
    """A piece of a phase, between two events.

    Attributes:
        time: time at its end [s]. duration: its length [s]. inside: whether it lies in the window.
        x: displacement at its end [m]. moved: displacement during it [m]. v0: velocity at its start [m/s].
        before, v: velocity before and after the event that ends it [m/s].
        area: integral of the displacement since its start [m s].
        motion: time since its start [s] -> the motion. For a held mass, the fictitious motion that its guards are evaluated on.
        start: anchor of `motion`. segment: constants of `motion`. damping_slope: see `law.Phase`; 0 for a held mass.
    """

    time: Array
    duration: Array
    inside: Array
    x: Array
    moved: Array
    v0: Array
    before: Array
    v: Array
    area: Array
    motion: Callable[[Array], Motion]
    start: Anchor
    segment: Damped
    damping_slope: Array | None


class EventMachine(NamedTuple, Generic[Memory, Sums]):
    """The parts of the event loop of one oscillator.

    Attributes:
        start: the state at t = 0; its stage is 3 if the row is not to be run.
        next_event: the state after one event -> the state after the next.
        place: (state, x [m], v [m/s], a [m/s^2], memory) -> that state with these values, at t = 0 and in the window.
    """

    start: EventState[Memory, Sums]
    next_event: Callable[[EventState[Memory, Sums]], EventState[Memory, Sums]]
    place: Callable[[EventState[Memory, Sums], Array, Array, Array, Memory], EventState[Memory, Sums]]


def machine(
    law: ContactLaw[Memory],
    excitation: Excitation,
    p: dict[str, Any],
    observe: Callable[[Sums, Memory, Memory, Stretch], Sums],
    sums: Sums,
    finite: Array,
    log: bool = False,
    instants: Array | None = None,
) -> EventMachine[Memory, Sums]:
    """The event loop of one oscillator with any contact law.

    Args:
        law: the contact. excitation: the external force.
        p: resolved parameters (scalars, SI units). Only m, k, c, x0, v0 and the times are read here.
        observe: (sums, the law's memory during a stretch, its memory after it, the stretch) -> sums. sums: their values before the run.
        finite: whether to run the row; if not, it is over at once.
        log: whether the state holds the kind of its event (compile-time).
        instants: further times [s] at which a stretch ends, ascending from the start of the window to its end; None without such times.
    """
    alpha, omega = excitation.amplitude / p["m"], excitation.omega
    driven = excitation if isinstance(excitation, Driven) else None
    record = None if driven is None else driven.record

    def fixed(tree: Any) -> Any:
        return jax.tree.map(jax.lax.stop_gradient, tree)

    def next_event(s: EventState[Memory, Sums]) -> EventState[Memory, Sums]:
        target, sampled, within = _target(s, p, instants, record)
        limit = target - s.t
        phase = law.phase(s.memory, s.x, s.anchor.v, s.anchor.a)
        moves = 1.0 if phase.moves is None else phase.moves
        # for a held mass this is a fictitious motion, which gives its guards the external force
        zeta, w2 = fusion_barrier(moves * 0.5 * (p["c"] + phase.damping) / p["m"], moves * (p["k"] + phase.stiffness) / p["m"])
        ramp = None if record is None or s.sample is None else record.slope(s.sample) / p["m"]
        segment = Damped(alpha, omega, zeta, w2, ramp, None if record is None else 1.0 / record.interval)
        taylor, varies = None, jnp.zeros_like(limit, dtype=bool)
        slope = None if phase.damping_slope is None else moves * phase.damping_slope
        if slope is not None:
            taylor, varies = TaylorSegment(alpha, omega, zeta, w2, slope / p["m"], ramp), slope != 0.0
        search = limit if taylor is None else jnp.where(varies, 0.0, limit)
        if sampled is None:
            found = first_crossing(fixed(segment), fixed(s.anchor), fixed(phase.guards), fixed(search))
        else:  # between two samples usually no guard crosses
            (clear,) = decide(stay(fixed(segment), fixed(s.anchor), fixed(phase.guards), fixed(search)))
            found = first_crossing(fixed(segment), fixed(s.anchor), fixed(phase.guards), fixed(jnp.where(clear, 0.0, search)))
            found = found._replace(tau=jnp.where(clear, limit, found.tau))
        if taylor is not None:
            step = first_guard_taylor.first_crossing(
                fixed(taylor), fixed(s.anchor), fixed(phase.guards), fixed(jnp.where(varies, limit, 0.0))
            )
            found = jax.tree.map(lambda other, one: jnp.where(varies, other, one), step, found)
        crossed = decide(*(found.happens & (found.which == float(i)) for i in range(len(phase.guards))))
        tau = jnp.where(found.tau < limit, found.tau, limit)
        for each, guard in zip(crossed, phase.guards, strict=True):
            crossing = guard_time(found.tau, segment, s.anchor, guard)
            if taylor is not None:
                crossing = jnp.where(varies, guard_time(found.tau, taylor, s.anchor, guard), crossing)
            tau = jnp.where(each, crossing, tau)
        (tau,) = fusion_barrier(tau)
        happens = functools.reduce(operator.or_, crossed)
        given_up = ~happens & (found.tau < limit)
        passes = ~happens & ~given_up
        arrives = None if sampled is None else passes & sampled  # the stretch ends at the next sample
        ends = _without(passes, sampled, within)

        def motion(tau: Array) -> Motion:
            m = segment.motion(s.anchor, tau)
            if taylor is None:
                return m
            other = taylor.motion(s.anchor, jnp.where(varies, tau, 0.0))
            return Motion(*(jnp.where(varies, each, one) for each, one in zip(other, m, strict=True)))

        m, area = motion(tau), segment.area(s.anchor, tau)  # the compiler drops what is not used
        if taylor is not None:
            area = jnp.where(varies, taylor.area(s.anchor, jnp.where(varies, tau, 0.0)), area)
        if phase.moves is not None:
            m = Motion(*(jnp.where(phase.moves > 0.0, value, 0.0) for value in m))
        x = s.x + m.d
        angle = wrap(s.anchor.angle + omega * tau)
        sine, cosine = sincos(angle)
        force, sample = _recorded(s, record, excitation.force(sine), s.t + tau, arrives)
        needed = force - p["k"] * x
        at = Instant(x, m.d, m.v, m.a, m.jerk, m.snap, needed, p["c"])
        memory, v, a = law.transition(s.memory, crossed, s.anchor.v, at)
        # where events accumulate (Zeno), the motion takes its limit
        rapid = jnp.where(happens & (tau * segment.rate < _NO_TIME), s.rapid + 1.0, 0.0)
        (endless,) = decide(rapid >= MOST_RAPID)
        memory, v, a = jax.tree.map(
            lambda rests, goes: jnp.where(endless, rests, goes), law.rest(memory, at._replace(v=v, a=a)), (memory, v, a)
        )
        v, a = fusion_barrier(v, a)
        memory = jax.tree.map(lambda value: fusion_barrier(value)[0], memory)
        time = jnp.where(passes, target, s.t + tau)
        stretch = Stretch(time, tau, s.stage == 1.0, x, m.d, s.anchor.v, m.v, v, area * moves, motion, s.anchor, segment, slope)
        return EventState(
            t=time,
            stage=jnp.where(ends, s.stage + 1.0, s.stage),
            x=x,
            anchor=Anchor(v, a, angle, sine, cosine),
            memory=memory,
            sums=observe(s.sums, s.memory, memory, stretch),
            events=s.events + jnp.where(given_up & ~varies, float(MOST_LOOKS), _counted(arrives)),
            rapid=rapid,
            kind=jnp.where(ends, -1.0 - s.stage, law.kind(s.memory, crossed, memory)) if log else None,
            sample=sample,
        )

    zero = jnp.zeros_like(p["m"])
    angle = wrap(excitation.phase + jnp.zeros_like(alpha))
    sine, cosine = sincos(angle)
    x, v = p["x0"] + zero, p["v0"] + zero
    first = excitation.force(sine)
    needed = (first if record is None else first + record.sample(zero)) - p["k"] * x
    free_a = (needed - p["c"] * v) / p["m"]
    free_jerk = over_sines(alpha * omega * cosine) - (p["c"] * free_a + p["k"] * v) / p["m"]
    free_jerk = free_jerk if record is None else free_jerk + record.slope(zero) / p["m"]
    free_snap = over_sines(-alpha * omega**2 * sine) - (p["c"] * free_jerk + p["k"] * free_a) / p["m"]
    memory, force = law.start(Instant(x, zero, v, free_a, free_jerk, free_snap, needed, p["c"]))
    a = (needed - p["c"] * v + force) / p["m"]
    start = EventState(zero, jnp.where(finite, zero, 3.0), x, Anchor(v, a, angle, sine, cosine), memory, sums, zero, zero)
    start = start._replace(kind=zero if log else None, sample=None if record is None else zero)

    def place(s: EventState[Memory, Sums], x: Array, v: Array, a: Array, memory: Memory) -> EventState[Memory, Sums]:
        return s._replace(t=zero, stage=zero + 1.0, x=x, anchor=Anchor(v, a, angle, sine, cosine), memory=memory)

    return EventMachine(start, next_event, place)


def _target(
    s: EventState[Any, Any], p: dict[str, Any], instants: Array | None, record: SampledForce | None
) -> tuple[Array, Array | None, Array | None]:
    """The latest end of a stretch [s]; whether it is a sample of the record; whether it is one of `instants` and not the end of a stage."""
    target = jnp.where(s.stage == 0.0, p["window_start"], jnp.where(s.stage == 1.0, p["window_end"], p["end"]))
    sampled = within = None  # without a record and without instants nothing is compiled for them
    if instants is not None:
        within = (s.stage == 1.0) & (s.t < instants[-2])
        target = jnp.where(within, following(instants, s.t), target)
    if record is not None and s.sample is not None:  # the force is linear between samples and continuous at them
        sample = record.time(s.sample + 1.0)
        (sampled,) = decide(sample <= target)
        target = jnp.where(sampled, sample, target)
    return target, sampled, within


def _without(mask: Array, *others: Array | None) -> Array:
    """True where a mask holds and none of the others does; None stands for no mask."""
    for other in others:
        mask = mask if other is None else mask & ~other
    return mask


def _counted(arrives: Array | None) -> Array | float:
    """Number of events at the end of a stretch: 0 if it ends at a sample, else 1."""
    return 1.0 if arrives is None else jnp.where(arrives, 0.0, 1.0)


def _recorded(
    s: EventState[Any, Any], record: SampledForce | None, others: Array, time: Array, arrives: Array | None
) -> tuple[Array, Array | None]:
    """External force [N] at the end of a stretch, `others` plus the record, and the number of the last sample reached there."""
    if record is None or s.sample is None or arrives is None:
        return others, s.sample
    ramped = record.sample(s.sample) + record.slope(s.sample) * (time - record.time(s.sample))
    return others + jnp.where(arrives, record.sample(s.sample + 1.0), ramped), jnp.where(arrives, s.sample + 1.0, s.sample)


def run(
    law: ContactLaw[Memory],
    excitation: Excitation,
    p: dict[str, Any],
    observe: Callable[[Sums, Memory, Memory, Stretch], Sums],
    sums: Sums,
    finite: Array,
) -> tuple[EventState[Memory, Sums], Array]:
    """Run one oscillator with any contact law from 0 to `end`. Returns its last state and the status code. Arguments: see `machine`."""
    start, next_event, _ = machine(law, excitation, p, observe, sums, finite)
    last = jax.lax.while_loop(lambda s: (s.stage < 3.0) & (s.events < MOST_EVENTS), next_event, start)
    return last, outcome(last, finite)


def outcome(last: EventState[Memory, Sums], finite: Array) -> Array:
    """The status code of a run with this last state."""
    return jnp.where(finite, jnp.where(last.events < MOST_EVENTS, int(Status.OK), int(Status.TOO_MANY_EVENTS)), int(Status.NOT_FINITE))
