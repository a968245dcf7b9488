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

from tribosweep.kernels.contact.law import ContactLaw, Guard, Instant
from tribosweep.kernels.exact.search import first_guard, first_guard_taylor
from tribosweep.kernels.exact.search.first_guard import MOST_LOOKS, GuardCrossing, Walk
from tribosweep.kernels.exact.search.roots import guard_time
from tribosweep.kernels.excitation.harmonic import wrap
from tribosweep.kernels.excitation.multi_tone import Driven, Excitation
from tribosweep.kernels.excitation.table import PiecewiseForce
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.numerics.fusion import decide, for_every_lane, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.block_means import following
from tribosweep.kernels.segments.damped import Course, Damped, over_sines
from tribosweep.kernels.segments.interface import Anchor, Motion
from tribosweep.kernels.segments.taylor import TaylorSegment

MOST_EVENTS = 1_000_000
MOST_RAPID = 30  # so many successive events, each within _NO_TIME of the shortest time scale, count as infinitely many (Zeno)
_NO_TIME = 1e-9
_ROUNDING = 2.0**-53  # of the displacement
_CANCELS = 1e-12  # what is left of a guard by less than this part of the motion taken from it is rounding

Memory = TypeVar("Memory")
Sums = TypeVar("Sums")


class EventState(NamedTuple, Generic[Memory, Sums]):
    """One oscillator just after an event.

    Attributes:
        t: time [s]. stage: 0 before the window, 1 in it, 2 after it, 3 when the run is over.
        x: displacement [m]. anchor: velocity, acceleration and excitation angle.
        memory: of the law. sums: observables. events: number so far. rapid: number of successive rapid events (see `MOST_RAPID`).
        kind: that of the event, as `ContactLaw.kind` (0 for no event), or -1 to -3 if a stage ended; None if no log is kept.
        pieces: number of the piece of each force that is linear between instants (record, table, pulse).
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
    pieces: tuple[Array, ...] = ()


class Stretch(NamedTuple):
    """A piece of a phase, between two events.

    Attributes:
        time: time at its end [s]. duration: its length [s]. inside: whether it lies in the window.
        counts: whether an event at its end counts: it lies in the window, or is at t = 0 where the window begins there.
        x: displacement at its end [m]. moved: displacement during it [m]. v0: velocity at its start [m/s].
        before, v: velocity before and after the event that ends it [m/s].
        area: integral of the displacement since its start [m s].
        motion: time since its start [s] -> the motion. For a held mass, the fictitious motion that its guards are evaluated on.
        course: time since its start [s] -> see `Damped.course`.
        start: anchor of `motion`. segment: constants of `motion`. damping_slope: see `law.Phase`; 0 for a held mass.
    """

    time: Array
    duration: Array
    inside: Array
    counts: Array
    x: Array
    moved: Array
    v0: Array
    before: Array
    v: Array
    area: Array
    motion: Callable[[Array], Motion]
    course: Callable[[Array], Course]
    start: Anchor
    segment: Damped
    damping_slope: Array | None


class Piece(NamedTuple):
    """What the motion from an event on needs, until the next one.

    Attributes:
        alpha: amplitudes of the sines over the mass [m/s^2].
        limit: the latest end [s] since the event. target: the same as a time of the run [s].
        sampled: for each piecewise force, whether that is the end of its piece.
        within: whether it is one of `instants` and not the end of a stage; None without such instants.
        zeta, w2: of `Damped`. ramp: of the load over the mass [m/s^3]; None without piecewise forces and on a support at rest.
        slope: growth of the damping with the displacement [N s/m^2]; None if no phase of the law has any.
        guards, moves, carries: see `law.Phase`.
    """

    alpha: Array
    limit: Array
    target: Array
    sampled: tuple[Array, ...]
    within: Array | None
    zeta: Array
    w2: Array
    ramp: Array | None
    slope: Array | None
    guards: tuple[Guard, ...]
    moves: Array | None
    carries: Array | None

    @property
    def varies(self) -> Array:
        """Whether the damping varies."""
        return jnp.zeros_like(self.limit, dtype=bool) if self.slope is None else self.slope != 0.0


class Found(NamedTuple):
    """Where the motion from an event on ends.

    Attributes:
        tau: when [s] since the event. crossed: which guard crosses there, one mask each. given_up: whether the search ended before.
        area: integral of the displacement since the event [m s].
        early: whether it has no length and comes before a window that begins at t = 0 (see `_at_start`).
    """

    tau: Array
    crossed: tuple[Array, ...]
    given_up: Array
    m: Motion
    area: Array
    early: Array | bool = False


class Turn(NamedTuple, Generic[Memory, Sums]):
    """A run between two looks of a search: the state after the last event, the motion from there on, and the search for its end."""

    state: EventState[Memory, Sums]
    piece: Piece
    walk: Walk


class EventMachine(NamedTuple, Generic[Memory, Sums]):
    """The event loop of one oscillator (see `machine`).

    Attributes:
        start: the state at t = 0; its stage is 3 if the row is not to be run. Others: the arguments of `machine`.
    """

    law: ContactLaw[Memory]
    excitation: Excitation
    p: dict[str, Any]
    observe: Callable[[Sums, Memory, Memory, Stretch], Sums]
    log: bool
    instants: Array | None
    stiff: bool
    nested: bool
    start: EventState[Memory, Sums]

    @property
    def piecewise(self) -> tuple[PiecewiseForce, ...]:
        """The forces that are linear between instants."""
        return piecewise_of(self.excitation)

    def place(self, s: EventState[Memory, Sums], x: Array, v: Array, a: Array, memory: Memory) -> EventState[Memory, Sums]:
        """The state with this displacement [m], velocity, acceleration and memory, at t = 0 and in the window."""
        zero, (_, _, *angle) = jnp.zeros_like(s.t), self.start.anchor
        return s._replace(t=zero, stage=zero + 1.0, x=x, anchor=Anchor(v, a, *angle), memory=memory)

    def _piece(self, s: EventState[Memory, Sums]) -> Piece:
        """The motion from a state on."""
        p = self.p
        target, sampled, within = _target(s, p, self.instants, self.piecewise)
        phase = self.law.phase(s.memory, s.x, s.anchor.v, s.anchor.a)
        moves = 1.0 if phase.moves is None else phase.moves
        # for a held mass this is a fictitious motion, which gives its guards the external force
        zeta, w2 = fusion_barrier(moves * 0.5 * (p["c"] + phase.damping) / p["m"], moves * (p["k"] + phase.stiffness) / p["m"])
        ramp, alpha = ramp_of(self.excitation, s.pieces, p["m"]), amplitude_of(self.excitation, s.pieces) / p["m"]
        if phase.carries is not None and phase.own_stiffness is not None:
            # against a rigid contact the spring k and the walls wind up; where the contact has a spring of its own, this unwinds with the
            # surface
            grows = 0.0 if phase.damping_slope is None else phase.damping_slope * phase.carries
            winds = phase.own_stiffness - (1.0 - moves) * (p["k"] + phase.stiffness + grows)
            carried = winds * phase.carries / p["m"]
            ramp = carried if ramp is None else ramp + carried
        slope = None if phase.damping_slope is None else moves * phase.damping_slope
        if phase.on_n is not None and self._swing is not None:
            (last,) = fusion_barrier(phase.on_n * self._swing / p["m"])
            alpha = jnp.concatenate([alpha[..., :-1], last[..., None]], axis=-1)
        return Piece(alpha, target - s.t, target, sampled, within, zeta, w2, ramp, slope, phase.guards, phase.moves, phase.carries)

    @property
    def _swing(self) -> Array | None:
        """Amplitude of a normal force that varies [N]."""
        return self.excitation.swing if isinstance(self.excitation, Driven) else None

    def _at_start(self, s: EventState[Memory, Sums], piece: Piece) -> Array | bool:
        """Whether a stretch of no length at t = 0 comes before a window that begins there: events at once do, for derivatives by that.

        In a log the window begins first.
        """
        if self.log:
            return False
        starts = (s.stage == 0.0) & (_stage_end(s, self.p) <= 0.0)
        for ends in piece.sampled:
            starts = starts & ~ends
        return starts

    def _settled(self, s: EventState[Memory, Sums]) -> tuple[EventState[Memory, Sums], Piece]:
        """A state and the motion from there on. A free motion that the rounding of x hides is at rest: its turns would be events.

        Derivatives keep that motion, because they may grow where it does not.
        """
        piece, v, a = self._piece(s), s.anchor.v, s.anchor.a
        swings = (piece.w2 > 0.0) & (piece.zeta >= 0.0) & (over_sines(jnp.abs(piece.alpha)) == 0.0) & ~piece.varies
        if piece.ramp is not None:
            swings = swings & (piece.ramp == 0.0)
        w2 = jnp.where(swings, piece.w2, 1.0)
        away = (a + 2.0 * piece.zeta * v) / w2
        (rests,) = decide(swings & (away * away + v * v / w2 <= (_ROUNDING * s.x) ** 2))

        def still(guard: Guard) -> Guard:
            less = guard.on_v * v, guard.on_a * a
            value = guard.value - less[0] - less[1]
            value = jnp.where(jnp.abs(value) <= _CANCELS * (jnp.abs(less[0]) + jnp.abs(less[1])), 0.0, value)
            return guard._replace(value=jnp.where(rests, _fixed(value) + (guard.value - _fixed(guard.value)), guard.value))

        v, a = (jnp.where(rests, each - _fixed(each), each) for each in (v, a))
        return s._replace(anchor=s.anchor._replace(v=v, a=a)), piece._replace(guards=tuple(map(still, piece.guards)))

    def _segment(self, piece: Piece) -> Damped:
        """The closed form of a piece whose damping is constant."""
        pace = pace_of(self.excitation, piece.limit)
        return Damped(piece.alpha, self.excitation.omega, piece.zeta, piece.w2, piece.ramp, pace, self._swing)

    def _taylor(self, piece: Piece) -> TaylorSegment | None:
        """The segment of a piece whose damping varies; None if no phase of the law has such a damping."""
        if piece.slope is None:
            return None
        return TaylorSegment(piece.alpha, self.excitation.omega, piece.zeta, piece.w2, piece.slope / self.p["m"], piece.ramp, self._swing)

    def _by_steps(self, s: EventState[Memory, Sums], piece: Piece, found: GuardCrossing) -> GuardCrossing:
        """The crossing, or the end of a step, where the damping varies; else as it was found."""
        taylor = self._taylor(piece)
        if taylor is None:
            return found
        limit = jnp.where(piece.varies, piece.limit, 0.0)
        step = first_guard_taylor.first_crossing(_fixed(taylor), _fixed(s.anchor), _fixed(piece.guards), _fixed(limit))
        return GuardCrossing(*(jnp.where(piece.varies, new, old) for new, old in zip(step, found, strict=True)))

    def _motion(self, s: EventState[Memory, Sums], piece: Piece) -> Callable[[Array], Motion]:
        """Time since a state [s] -> the motion."""
        segment, taylor = self._segment(piece), self._taylor(piece)

        def motion(tau: Array) -> Motion:
            m = segment.motion(s.anchor, tau)
            return m if taylor is None else _where_varies(piece, taylor.motion(s.anchor, jnp.where(piece.varies, tau, 0.0)), m)

        return motion

    def course(self, s: EventState[Memory, Sums]) -> tuple[Callable[[Array], Motion], Callable[[Array], Course]]:
        """Time since a state [s] -> the motion up to the next event, that of the mass; and what guards know of time itself."""
        piece = self._piece(s)
        motion, segment = self._motion(s, piece), self._segment(piece)
        return lambda tau: _of_mass(piece, motion(tau), tau), lambda tau: segment.course(s.anchor, tau)

    def _arrive(
        self, s: EventState[Memory, Sums], piece: Piece, found: Found, motion: Callable[[Array], Motion]
    ) -> EventState[Memory, Sums]:
        """The state after the event that ends a piece."""
        p, law = self.p, self.law
        tau, crossed, given_up, m, area, early = found
        happens = functools.reduce(operator.or_, crossed)
        passes = ~happens & ~given_up
        arrives = tuple(passes & each for each in piece.sampled)  # the stretch ends with a piece of a force
        ends = _without(passes, *piece.sampled, piece.within)
        moves = 1.0 if piece.moves is None else piece.moves
        segment = self._segment(piece)
        m = _of_mass(piece, m, tau)
        x = s.x + m.d
        angle = wrap(s.anchor.angle + segment.omega * tau)
        sine, cosine = sincos(angle)
        force, pieces, jump = _passed(s, self.piecewise, arrives, s.t + tau)
        needed = moving_force(self.excitation, sine, s.pieces) + force - p["k"] * x
        swing = _swing_at(self.excitation, sine, cosine)
        at = Instant(x, m.d, m.v, m.a, m.jerk, m.snap, needed, p["c"], elapsed=tau, swing=swing)
        if jump is not None:
            at = at._replace(a=m.a + moves * jump / p["m"], jumped=decide(jump != 0.0)[0])
        memory, v, a = law.transition(s.memory, crossed, s.anchor.v, at)
        # where events accumulate (Zeno), the motion takes its limit
        rapid = jnp.where(happens & (tau * segment.rate < _NO_TIME), s.rapid + 1.0, 0.0)
        (endless,) = decide(rapid >= MOST_RAPID)
        memory, v, a = jax.tree.map(
            lambda rests, goes: jnp.where(endless, rests, goes), law.rest(memory, at._replace(v=v, a=a)), (memory, v, a)
        )
        v, a = fusion_barrier(v, a)
        memory = jax.tree.map(lambda value: fusion_barrier(value)[0], memory)
        time = jnp.where(passes, piece.target, s.t + tau)
        area = area * moves
        if piece.carries is not None and piece.moves is not None:
            area = area + (1.0 - moves) * piece.carries * (0.5 * tau * tau)
        inside = s.stage == 1.0
        stretch = Stretch(
            time, tau, inside, inside | early, x, m.d, s.anchor.v, m.v, v, area, motion,
            lambda tau: segment.course(s.anchor, tau), s.anchor, segment, piece.slope,
        )  # fmt: skip
        return EventState(
            t=time,
            stage=jnp.where(ends, s.stage + 1.0, s.stage),
            x=x,
            anchor=Anchor(v, a, angle, sine, cosine),
            memory=memory,
            sums=self.observe(s.sums, s.memory, memory, stretch),
            events=s.events + jnp.where(given_up & ~piece.varies, float(MOST_LOOKS), _counted(arrives)),
            rapid=rapid,
            kind=jnp.where(ends, -1.0 - s.stage, law.kind(s.memory, crossed, memory)) if self.log else None,
            pieces=pieces,
        )

    def next_event(self, s: EventState[Memory, Sums]) -> EventState[Memory, Sums]:
        """The state after one event, from that after the one before. Differentiable."""
        s, piece = self._settled(s)
        segment, taylor, motion = self._segment(piece), self._taylor(piece), self._motion(s, piece)
        limit, early = _fixed(jnp.where(piece.varies, 0.0, piece.limit)), self._at_start(s, piece)
        at_once = early & ~piece.varies
        found = first_guard.first_crossing(_fixed(segment), _fixed(s.anchor), _fixed(piece.guards), limit, self.stiff, at_once)
        found = self._by_steps(s, piece, found)
        crossed = _masks(piece, found, found.happens)
        reached = _fixed(jnp.where(found.tau < piece.limit, found.tau, piece.limit))
        m, area = motion(reached), _area(segment, taylor, piece, s.anchor, reached)  # the compiler drops what is not used
        guard = first_guard.guard_of(found.which, piece.guards)
        crossing = guard_time(reached, segment, s.anchor, guard)
        if taylor is not None:
            crossing = jnp.where(piece.varies, guard_time(reached, taylor, s.anchor, guard), crossing)
        happens = functools.reduce(operator.or_, crossed)
        tau = jnp.where(happens, crossing, jnp.where(found.tau < piece.limit, reached, piece.limit))
        if self.nested:
            m, area = motion(tau), _area(segment, taylor, piece, s.anchor, tau)
        else:
            (h,) = fusion_barrier(tau - reached)  # 0, but for its derivatives
            m = Motion(*fusion_barrier(*m))
            m, area = m.later(h), area + h * (m.d + h / 2.0 * (m.v + h / 3.0 * (m.a + h / 4.0 * (m.jerk + h / 5.0 * m.snap))))
        given_up = ~happens & (found.tau < piece.limit)
        return self._arrive(s, piece, Found(tau, crossed, given_up, m, area, early), motion)

    def begin(self, s: EventState[Memory, Sums]) -> Turn[Memory, Sums]:
        """The turn from which `turn` goes on. Stages of no length are passed."""
        for _ in range(3):
            over = (s.stage < 3.0) & (s.t >= _stage_end(s, self.p))
            s = s._replace(stage=jnp.where(over, s.stage + 1.0, s.stage), events=s.events + jnp.where(over, 1.0, 0.0))
        s, piece = self._settled(s)
        return Turn(s, piece, first_guard.begin(s.anchor, jnp.where(piece.varies, 0.0, piece.limit)))

    def turn(self, now: Turn[Memory, Sums]) -> Turn[Memory, Sums]:
        """One look of the search, and the event if that ends it. Values only; a run that has ended stays as it is."""
        s, piece, walk = now
        segment, taylor = self._segment(piece), self._taylor(piece)
        walk, m = first_guard.look(segment, s.anchor, piece.guards, piece.limit, walk, self.stiff)
        found = self._by_steps(s, piece, walk.crossing)
        tau, area, done = found.tau, walk.at.area, walk.done
        if taylor is not None:
            step = jnp.where(piece.varies, tau, 0.0)
            done, m = done | piece.varies, _where_varies(piece, taylor.motion(s.anchor, step), m)
            area = jnp.where(piece.varies, taylor.area(s.anchor, step), area)
        (done,) = decide(done & goes_on(s))
        crossed = _masks(piece, found, found.happens & done)
        given_up = ~functools.reduce(operator.or_, crossed) & (tau < piece.limit)
        there = Found(tau, crossed, given_up, Motion(*fusion_barrier(*m)), area)
        after = self.begin(self._arrive(s, piece, there, self._motion(s, piece)))
        chosen: Turn[Memory, Sums] = jax.tree.map(lambda new, old: jnp.where(done, new, old), after, Turn(s, piece, walk))
        return chosen


def _fixed(tree: Any) -> Any:
    """The same numbers without derivatives."""
    return jax.tree.map(jax.lax.stop_gradient, tree)


def _of_mass(piece: Piece, m: Motion, tau: Array) -> Motion:
    """The motion of the mass: where a rigid contact holds it, that of the surface."""
    if piece.moves is None:
        return m
    held = [jnp.zeros_like(m.d)] * len(m) if piece.carries is None else [piece.carries * tau, piece.carries, *[jnp.zeros_like(m.d)] * 4]
    return Motion(*(jnp.where(piece.moves > 0.0, value, still) for value, still in zip(m, held, strict=True)))


def _swing_at(excitation: Excitation, sine: Array, cosine: Array) -> tuple[Array, Array] | None:
    """The part of the normal force that varies [N], and its rate [N/s]; None where it is constant."""
    if not isinstance(excitation, Driven) or excitation.swing is None:
        return None
    return excitation.swing * sine[..., -1], excitation.swing * excitation.omega[..., -1] * cosine[..., -1]


def _where_varies(piece: Piece, other: Motion, one: Motion) -> Motion:
    """`other` where the damping varies, else `one`."""
    return Motion(*(jnp.where(piece.varies, a, b) for a, b in zip(other, one, strict=True)))


def _area(segment: Damped, taylor: TaylorSegment | None, piece: Piece, anchor: Anchor, tau: Array) -> Array:
    """Integral of the displacement over the first `tau` [s] of a piece [m s]."""
    area = segment.area(anchor, tau)
    return area if taylor is None else jnp.where(piece.varies, taylor.area(anchor, jnp.where(piece.varies, tau, 0.0)), area)


def _masks(piece: Piece, found: GuardCrossing, happens: Array) -> tuple[Array, ...]:
    """Which guard crosses, one mask each."""
    return decide(*(happens & (found.which == float(i)) for i in range(len(piece.guards))))


def machine(
    law: ContactLaw[Memory],
    excitation: Excitation,
    p: dict[str, Any],
    observe: Callable[[Sums, Memory, Memory, Stretch], Sums],
    sums: Sums,
    finite: Array,
    log: bool = False,
    instants: Array | None = None,
    stiff: bool = True,
    nested: bool = False,
) -> EventMachine[Memory, Sums]:
    """The event loop of one oscillator with any contact law.

    Args:
        law: the contact. excitation: the external force.
        p: resolved parameters (scalars, SI units). Only m, k, c, x0, v0 and the times are read here.
        observe: (sums, the law's memory during a stretch, its memory after it, the stretch) -> sums. sums: their values before the run.
        finite: whether to run the row; if not, it is over at once.
        log: whether the state holds the kind of its event (compile-time).
        instants: further times [s] at which a stretch ends, ascending from the start of the window to its end; None without such times.
        stiff: see `first_guard.first_crossing` (compile-time).
        nested: whether derivatives of `next_event` are exact to any order. Else they are to order 3, by a shorter program (compile-time).
    """
    zero = jnp.zeros_like(p["m"])
    at, angle, pieces = released(excitation, p)
    memory, force = law.start(at)
    a = (at.needed - at.drag * at.v + force) / p["m"]
    start = EventState(zero, jnp.where(finite, zero, 3.0), at.x, Anchor(at.v, a, *angle), memory, sums, zero, zero)
    start = start._replace(kind=zero if log else None, pieces=pieces)

    return EventMachine(law, excitation, p, observe, log, instants, stiff, nested, start)


def released(excitation: Excitation, p: dict[str, Any]) -> tuple[Instant, tuple[Array, Array, Array], tuple[Array, ...]]:
    """The motion at t = 0 without contact; the angle of the excitation, its sine and cosine; the pieces of its piecewise forces.

    Arguments: see `machine`.
    """
    piecewise = piecewise_of(excitation)
    pieces = tuple(each.begin() for each in piecewise)
    alpha, omega = amplitude_of(excitation, pieces) / p["m"], excitation.omega
    zero = jnp.zeros_like(p["m"])
    angle = wrap(excitation.phase + jnp.zeros_like(alpha))
    sine, cosine = sincos(angle)
    x, v = p["x0"] + zero, p["v0"] + zero
    first = moving_force(excitation, sine, pieces)
    needed = sum((each.force(number, zero) for each, number in zip(piecewise, pieces, strict=True)), start=first) - p["k"] * x
    free_a = (needed - p["c"] * v) / p["m"]
    free_jerk = over_sines(alpha * omega * cosine) - (p["c"] * free_a + p["k"] * v) / p["m"]
    ramp = ramp_of(excitation, pieces, p["m"])
    free_jerk = free_jerk if ramp is None else free_jerk + ramp
    free_snap = over_sines(-alpha * omega**2 * sine) - (p["c"] * free_jerk + p["k"] * free_a) / p["m"]
    at = Instant(x, zero, v, free_a, free_jerk, free_snap, needed, p["c"], swing=_swing_at(excitation, sine, cosine))
    return at, (angle, sine, cosine), pieces


def _target(
    s: EventState[Any, Any], p: dict[str, Any], instants: Array | None, piecewise: tuple[PiecewiseForce, ...]
) -> tuple[Array, tuple[Array, ...], Array | None]:
    """The latest end of a stretch [s]; which pieces of forces end there; whether it is one of `instants` and not the end of a stage."""
    target = _stage_end(s, p)
    within = None  # without piecewise forces and without instants nothing is compiled for them
    if instants is not None:
        within = (s.stage == 1.0) & (s.t < instants[-2])
        target = jnp.where(within, following(instants, s.t), target)
    if not piecewise:
        return target, (), within
    ends = [each.until(number) for each, number in zip(piecewise, s.pieces, strict=True)]
    for end in ends:
        (sooner,) = decide(end <= target)
        target = jnp.where(sooner, end, target)
    return target, decide(*(end <= target for end in ends)), within


def _stage_end(s: EventState[Any, Any], p: dict[str, Any]) -> Array:
    """The end of the present stage [s]."""
    return jnp.where(s.stage == 0.0, p["window_start"], jnp.where(s.stage == 1.0, p["window_end"], p["end"]))


def _without(mask: Array, *others: Array | None) -> Array:
    """True where a mask holds and none of the others does; None stands for no mask."""
    for other in others:
        mask = mask if other is None else mask & ~other
    return mask


def _counted(arrives: tuple[Array, ...]) -> Array | float:
    """Number of events at the end of a stretch: 0 if it ends with a piece of a force, else 1."""
    return jnp.where(functools.reduce(operator.or_, arrives), 0.0, 1.0) if arrives else 1.0


def _passed(
    s: EventState[Any, Any], piecewise: tuple[PiecewiseForce, ...], arrives: tuple[Array, ...], time: Array
) -> tuple[Array | float, tuple[Array, ...], Array | None]:
    """The piecewise forces at the end of a stretch [N], their pieces from there on, and how much they jump there [N]."""
    force: Array | float = 0.0
    jump: Array | None = None
    pieces = []
    for each, number, there in zip(piecewise, s.pieces, arrives, strict=True):
        force = force + jnp.where(there, each.at_end(number), each.force(number, time))
        jumps = each.jump(number)
        if jumps is not None:
            jumps = jnp.where(there, jumps, 0.0)
            jump = jumps if jump is None else jump + jumps
        pieces.append(jnp.where(there, each.after(number), number))
    return force, tuple(pieces), jump


def piecewise_of(excitation: Excitation) -> tuple[PiecewiseForce, ...]:
    """The forces of an excitation that are linear between instants."""
    return excitation.pieces if isinstance(excitation, Driven) else ()


def amplitude_of(excitation: Excitation, pieces: tuple[Array, ...]) -> Array:
    """The amplitudes of its sines [N] in these pieces of the piecewise forces."""
    return excitation.amplitudes(pieces) if isinstance(excitation, Driven) else excitation.amplitude


def moving_force(excitation: Excitation, sine: Array, pieces: tuple[Array, ...]) -> Array:
    """Its force without the piecewise ones [N], where its sines are `sine`."""
    return excitation.moving(sine, pieces) if isinstance(excitation, Driven) else excitation.force(sine)


def ramp_of(excitation: Excitation, pieces: tuple[Array, ...], m: Array) -> Array | None:
    """The rate of the piecewise forces over the mass [m/s^3]; None if there are none."""
    piecewise = piecewise_of(excitation)
    rates = [each.slope(number) for each, number in zip(piecewise, pieces, strict=True)]
    return functools.reduce(operator.add, rates) / m if rates else None


def pace_of(excitation: Excitation, limit: Array) -> Array | None:
    """How often the piecewise forces change [1/s], for `Damped`; None if there are none. `limit`: the end of the stretch [s]."""
    if not isinstance(excitation, Driven) or not excitation.pieces:
        return None
    if excitation.record is not None:
        return 1.0 / excitation.record.interval
    limit = jax.lax.stop_gradient(limit)
    return 1.0 / jnp.where(limit > 0.0, limit, 1.0)


def end_of(made: EventMachine[Memory, Sums]) -> EventState[Memory, Sums]:
    """The last state of a run, without derivatives."""
    first = for_every_lane(made.begin(made.start), made.start)
    last: Turn[Memory, Sums] = jax.lax.while_loop(lambda now: goes_on(now.state), made.turn, first)
    return last.state


def goes_on(s: EventState[Any, Any]) -> Array:
    """Whether a run has not ended."""
    return (s.stage < 3.0) & (s.events < MOST_EVENTS)


def outcome(last: EventState[Memory, Sums], finite: Array) -> Array:
    """The status code of a run with this last state."""
    return jnp.where(finite, jnp.where(last.events < MOST_EVENTS, int(Status.OK), int(Status.TOO_MANY_EVENTS)), int(Status.NOT_FINITE))
