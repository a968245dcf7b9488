"""The event loop specialised to rigid friction, in float64: it goes from one event to the next, in closed form.

An event is a reversal (v = 0), a release from rest, or the end of a stage (window start, window end, end of run). Between two events v
has one sign, so the distance slipped is |x1 - x0|. One pass takes a rest and the slip after it, so that all oscillators of a block run
the same instructions. The search stops close to the root. One evaluation there, a root step and a Taylor series give the motion at the
root. The search runs on values alone. The implicit function theorem then gives the derivative of the event time, dt/dp = -v_p / a.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.coulomb import Coulomb
from tribosweep.kernels.contact.coulomb import release as first_release
from tribosweep.kernels.exact import rigid_undamped
from tribosweep.kernels.exact.forward_sensitivity import forward_sensitivity
from tribosweep.kernels.exact.search.first_reversal import first_reversal
from tribosweep.kernels.exact.search.reversal import Guess
from tribosweep.kernels.exact.search.reversal_scan import MOST_PIECES
from tribosweep.kernels.exact.search.roots import reversal_time, root_step
from tribosweep.kernels.excitation.harmonic import Harmonic, wrap
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.numerics.fusion import decide, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, all_finite
from tribosweep.kernels.observables import rubbing
from tribosweep.kernels.observables.interval import Interval
from tribosweep.kernels.observables.slip import holds_to
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor, Motion
from tribosweep.kernels.segments.undamped import Undamped

MOST_EVENTS = 1_000_000
READ = ("m", "a0", "f0", "omega", "phase", "load", "mu_s", "mu_d", "normal_force", "x0", "v0", "window_start", "window_end", "end")


class RigidState(NamedTuple):
    """One oscillator just after an event.

    Attributes:
        t: time [s]. stage: 0 before the window, 1 in it, 2 after it, 3 when the run is over.
        x: displacement [m]. anchor: velocity, acceleration and excitation angle.
        direction: of slip, +1 or -1; 0 at rest.
        last, before: angles of peak speed and stop in the last slip and in the one before it. `before` is the guess for the next slip.
        sums: observables. events: number so far.
    """

    t: Array
    stage: Array
    x: Array
    anchor: Anchor
    direction: Array
    last: Guess
    before: Guess
    sums: rubbing.Rubbing
    events: Array


class RigidMachine(NamedTuple):
    """The parts of the event loop of one oscillator.

    Attributes:
        start: the state at t = 0; its stage is 3 if a parameter is not finite. finite: whether all parameters are finite.
        rest: a state -> the state at the release or at the end of the stage. A slipping mass keeps its state.
        slip: a state -> the state at the end of the slip or of the stage. A resting mass keeps its state.
        place: (state, x [m], v [m/s]) -> that state with these values, at t = 0 and in the window. A resting mass stays at rest.
    """

    start: RigidState
    finite: Array
    rest: Callable[[RigidState], RigidState]
    slip: Callable[[RigidState], RigidState]
    place: Callable[[RigidState, Array, Array], RigidState]

    @property
    def next_event(self) -> Callable[[RigidState], RigidState]:
        """A state -> the next one: the rest, if there is one, then the slip. All oscillators thus run the same instructions."""
        return lambda s: self.slip(self.rest(s))


def machine(p: dict[str, Any], free: bool) -> RigidMachine:
    """The event loop of one rubbing mass with rigid friction (see `simulate`)."""
    excitation, friction = Harmonic.of(p), Coulomb.of(p)
    alpha = excitation.amplitude / p["m"]
    segment: Undamped | Damped = (
        Undamped.of(alpha, p["omega"]) if free else Damped(alpha, p["omega"], 0.5 * p["c"] / p["m"], p["k"] / p["m"])
    )
    by_omega = 1.0 / p["omega"]
    thresholds_at_origin = friction.thresholds(excitation, excitation.load)
    # of coefficients: a difference of forces would leave a rounding error, whose sign could cause false events
    after_release = (holds_to(p["mu_s"]) - p["mu_d"]) * p["normal_force"] / p["m"]
    fixed = jax.lax.stop_gradient
    fixed_segment = jax.tree.map(fixed, segment)

    def held_force(x: Array, sine: Array) -> Array:
        force: Array = excitation.force(sine) - p["k"] * x
        return force

    def slip_acceleration(direction: Array, x: Array, v: Array, sine: Array) -> Array:
        a: Array = (held_force(x, sine) - p["c"] * v - direction * friction.dynamic_force) / p["m"]
        return a

    def target(s: RigidState) -> Array:
        return fusion_barrier(jnp.where(s.stage == 0.0, p["window_start"], jnp.where(s.stage == 1.0, p["window_end"], p["end"])))[0]

    def rest(s: RigidState) -> RigidState:
        rests = (s.direction == 0.0) & (s.stage < 3.0)
        limit = target(s) - s.t
        thresholds = thresholds_at_origin if free else friction.thresholds(excitation, excitation.load - p["k"] * s.x)
        release = first_release(thresholds, excitation, s.anchor.angle)
        turn, until_release = fusion_barrier(release.turn, release.turn * by_omega)
        rests, released = decide(rests, rests & release.happens & (until_release <= limit))
        tau = jnp.where(released, until_release, jnp.where(rests, limit, 0.0))
        nothing = jnp.zeros_like(tau)
        now = Interval(
            duration=jnp.where(s.stage == 1.0, tau, 0.0),
            displacement=nothing,
            slip=nothing,
            slipping=jnp.zeros_like(rests),
            resting=rests & (tau > 0.0),
            sticking=rests,
            begins=rests,
            top_speed=nothing,
        )
        t = jnp.where(released, s.t + tau, jnp.where(rests, target(s), s.t))
        angle = wrap(s.anchor.angle + jnp.where(released, turn, jnp.where(rests, p["omega"] * limit, 0.0)))
        direction, t, angle = fusion_barrier(jnp.where(released, release.direction, s.direction), t, angle)
        return s._replace(
            t=t,
            stage=jnp.where(rests & ~released, s.stage + 1.0, s.stage),
            anchor=s.anchor._replace(a=jnp.where(released, direction * after_release, s.anchor.a), angle=angle),
            direction=direction,
            sums=rubbing.update(s.sums, now),
        )

    def slip(s: RigidState) -> RigidState:
        (slips,) = decide((s.direction != 0.0) & (s.stage < 3.0))
        limit = jnp.where(slips, target(s) - s.t, 0.0)
        sine, cosine = fusion_barrier(*sincos(s.anchor.angle))
        anchor = s.anchor._replace(sine=sine, cosine=cosine)
        seen = jax.tree.map(fixed, anchor.facing(s.direction))
        found = first_reversal(fixed_segment, seen, fixed(limit), jax.tree.map(fixed, s.before))
        near = found.tau
        m = segment.motion(anchor, near)
        step = root_step(Motion(*(fixed(value * s.direction) for value in m)), fixed_segment.rate)
        (stops,) = decide(slips & found.stops & (near + step <= fixed(limit)))
        given_up = slips & ~stops & ~found.stops & (near < fixed(limit))
        root = reversal_time(near + step, segment, anchor)
        (tau,) = fusion_barrier(jnp.where(stops, root, jnp.where(given_up, near, limit)))
        m = m.later(tau - near)

        moved = jnp.where(slips, m.d, 0.0)
        (x,) = fusion_barrier(s.x + moved)
        v = jnp.where(stops, 0.0, jnp.where(slips, m.v, anchor.v))
        angle = wrap(anchor.angle + p["omega"] * tau)
        v, angle = fusion_barrier(v, angle)
        sine, cosine = sincos(angle)
        turned = friction.direction_at_rest(held_force(x, sine))
        (direction,) = fusion_barrier(jnp.where(stops, turned, s.direction))
        a = jnp.where(direction != 0.0, slip_acceleration(direction, x, v, sine), 0.0)

        inside = s.stage == 1.0
        # if the speed is largest at the end, it is `v`: its derivative includes that of the end time
        peak = jnp.where(found.peak < near, segment.motion(anchor, found.peak).v, 0.0)
        top_speed = jnp.maximum(jnp.abs(peak), jnp.maximum(jnp.abs(anchor.v), jnp.abs(v)))
        now = Interval(
            duration=jnp.where(inside & slips, tau, 0.0),
            displacement=jnp.where(inside, moved, 0.0),
            slip=jnp.where(inside, jnp.abs(moved), 0.0),
            slipping=slips & (tau > 0.0),
            resting=jnp.zeros_like(slips),
            sticking=jnp.zeros_like(slips),
            begins=slips & (anchor.v == 0.0),
            top_speed=top_speed,
        )
        ends = slips & ~stops & ~given_up
        return RigidState(
            t=jnp.where(ends, target(s), s.t + tau),
            stage=jnp.where(ends, s.stage + 1.0, s.stage),
            x=x,
            anchor=Anchor(v, jnp.where(slips, a, anchor.a), angle, sine, cosine),
            direction=direction,
            last=jax.tree.map(lambda new, old: jnp.where(stops, new, old), found.guess, s.last),
            # slips alternate in direction, so the slip before this one is the guess for the next; the first slip has none and serves itself
            before=jax.tree.map(
                lambda new, last, old: jnp.where(stops, jnp.where(s.last.stop < 0.0, new, last), old), found.guess, s.last, s.before
            ),
            sums=rubbing.update(s.sums, now),
            events=s.events + jnp.where(given_up, MOST_PIECES, 1),
        )

    finite = all_finite(p.values())
    zero = jnp.zeros_like(alpha)
    angle = wrap(excitation.phase + zero)
    sine, cosine = sincos(angle)
    x, v = p["x0"] + zero, p["v0"] + zero
    direction = jnp.where(v != 0.0, jnp.sign(v), friction.direction_at_rest(held_force(x, sine)))
    v = jnp.where(direction != 0.0, v, 0.0)  # friction takes a small velocity from a mass that it holds: no derivative by it
    a = jnp.where(direction != 0.0, slip_acceleration(direction, x, v, sine), 0.0)
    start = RigidState(
        t=zero,
        stage=jnp.where(finite, zero, 3.0),
        x=x,
        anchor=Anchor(v, a, angle, sine, cosine),
        direction=direction,
        last=Guess(zero - 1.0, zero - 1.0),
        before=Guess(zero - 1.0, zero - 1.0),
        sums=rubbing.init(alpha),
        events=jnp.zeros_like(finite, dtype=jnp.int32),
    )

    def place(s: RigidState, x: Array, v: Array) -> RigidState:
        direction = jnp.where((s.direction != 0.0) & (v != 0.0), jnp.sign(v), s.direction)
        v = jnp.where(direction != 0.0, v, 0.0)
        a = jnp.where(v != 0.0, slip_acceleration(direction, x, v, sine), s.anchor.a)
        return s._replace(t=zero, stage=zero + 1.0, x=x, anchor=Anchor(v, a, angle, sine, cosine), direction=direction)

    return RigidMachine(start, finite, rest, slip, place)


def _undamped(p: dict[str, Any]) -> RigidState:
    """The last state of one oscillator with k = c = 0, without derivatives: only what `simulate` reads of it."""
    last = rigid_undamped.last_of({name: p[name] for name in READ}, MOST_EVENTS)
    start = machine(p, free=True).start
    return start._replace(t=last["t"], x=last["x"], anchor=start.anchor._replace(v=last["v"]), sums=last["sums"], events=last["events"])


def simulate(p: dict[str, Any], free: bool, nested: bool = False) -> tuple[dict[str, Array], Array]:
    """Run one rubbing mass with rigid friction.

    Args:
        p: resolved parameters of the model `rubbing_mass` (scalars, SI units; k_t, c_t and the steps are not read).
        free: compile-time promise that k = c = 0, which selects a cheaper segment.
        nested: see `forward_sensitivity`.

    Returns:
        Observables by name (scalars), and the status code. A row with a parameter that is not finite returns at once.

    Differentiable in every parameter (forward mode) except exactly at grazing. Validated by tests/kernels/exact/test_rigid_friction.py.
    """
    last: RigidState = forward_sensitivity(
        functools.partial(machine, free=free), MOST_EVENTS, p, nested=nested, values=_undamped if free else None
    )
    finite, zero = all_finite(p.values()), jnp.zeros_like(last.t)
    status = jnp.where(finite, jnp.where(last.events < MOST_EVENTS, int(Status.OK), int(Status.TOO_MANY_EVENTS)), int(Status.NOT_FINITE))
    found = rubbing.finish(last.sums, p)
    ends = {"x_end": last.x, "v_end": last.anchor.v, "period": zero, "time_reached": last.t, "accepted_steps": zero, "rejected_steps": zero}
    return {**found, **ends}, status
