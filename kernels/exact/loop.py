"""The event loop: from one event of rigid friction to the next, in closed form.

An event is a reversal (v = 0), a release from rest, or the end of a stage (window start, window end, end of run). Between two events v
has one sign, so the distance slipped is |x1 - x0|. Derivatives: the search for an event runs on values alone; its time then gets its
derivative by the implicit function theorem, dt/dp = -v_p / a.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kernels.contact.friction import Coulomb
from kernels.contact.friction import release as first_release
from kernels.elementary import Array, all_finite, decide, run_time_one, settle, sincos
from kernels.exact.damped import Damped
from kernels.exact.follow import follow
from kernels.exact.free import Free
from kernels.exact.pieces import MOST_PIECES
from kernels.exact.refine import crossing_time
from kernels.exact.segment import Anchor, Segment
from kernels.excitation.harmonic import Harmonic, wrap
from kernels.observables import rubbing
from kernels.observables.interval import Interval
from kernels.status import Status

MOST_EVENTS = 1_000_000


class State(NamedTuple):
    """One oscillator just after an event.

    Attributes:
        t: time [s]. stage: 0 before the window, 1 in it, 2 after it, 3 when the run is over.
        x: displacement [m]. anchor: velocity, acceleration and excitation angle.
        direction: of slip, +1 or -1; 0 at rest.
        last_slip: duration of the last slip [s], the first guess of the next. sums: observables. events: count.
    """

    t: Array
    stage: Array
    x: Array
    anchor: Anchor
    direction: Array
    last_slip: Array
    sums: rubbing.Rubbing
    events: Array


class Machine(NamedTuple):
    """The event loop of one oscillator, taken apart.

    Attributes:
        start: the state at t = 0; over at once where a parameter is not a finite number. finite: whether all are.
        next_event: from one event to the next.
        place: (state, x [m], v [m/s]) -> the same at t = 0, in the window, with that displacement and velocity. What rests goes on resting.
    """

    start: State
    finite: Array
    next_event: Callable[[State], State]
    place: Callable[[State, Array, Array], State]


def machine(p: dict[str, Any], free: bool) -> Machine:
    """The event loop of one rubbing mass with rigid friction (see `simulate`)."""
    excitation, friction = Harmonic.of(p), Coulomb.of(p)
    alpha = excitation.amplitude / p["m"]
    one = run_time_one(p["omega"])
    segment: Segment = Free(alpha, p["omega"], one) if free else Damped(alpha, p["omega"], 0.5 * p["c"] / p["m"], p["k"] / p["m"], one)
    thresholds_at_origin = friction.thresholds(excitation, excitation.load)
    fixed = jax.lax.stop_gradient
    fixed_segment = jax.tree.map(fixed, segment)

    def held_force(x: Array, sine: Array) -> Array:
        force: Array = excitation.force(sine) - p["k"] * x
        return force

    def slip_acceleration(direction: Array, x: Array, v: Array, sine: Array) -> Array:
        a: Array = (held_force(x, sine) - p["c"] * v - direction * friction.dynamic_force) / p["m"]
        return a

    def next_event(s: State) -> State:
        slipping = s.direction != 0.0
        target = jnp.where(s.stage == 0.0, p["window_start"], jnp.where(s.stage == 1.0, p["window_end"], p["end"]))
        limit = target - s.t

        seen = jax.tree.map(fixed, s.anchor.facing(s.direction))
        reversal = fixed_segment.first_reversal(seen, fixed(jnp.where(slipping, limit, 0.0)), fixed(s.last_slip))
        thresholds = thresholds_at_origin if free else friction.thresholds(excitation, excitation.load - p["k"] * s.x)
        release = first_release(thresholds, excitation, s.anchor.angle)
        until_release = release.turn / p["omega"]
        stops, released = decide(one, slipping & reversal.stops, ~slipping & release.happens & (until_release <= limit))
        until_stop = crossing_time(reversal.tau, segment, s.anchor)
        given_up = slipping & ~stops & (reversal.tau < limit)
        reached = jnp.where(given_up, fixed(reversal.tau), limit)
        (tau,) = settle(one, jnp.where(stops, until_stop, jnp.where(released, until_release, reached)))

        m = segment.motion(s.anchor, tau)
        moved = jnp.where(slipping, m.d, 0.0)
        x = s.x + moved
        v = jnp.where(stops | ~slipping, 0.0, m.v)
        angle = wrap(s.anchor.angle + p["omega"] * tau)
        sine, cosine = sincos(angle)

        turned = friction.direction_at_rest(held_force(x, sine))
        (direction,) = settle(one, jnp.where(stops, turned, jnp.where(released, release.direction, s.direction)))
        a = jnp.where(
            released, direction * (friction.static_limit - friction.dynamic_force) / p["m"], slip_acceleration(direction, x, v, sine)
        )
        a = jnp.where(direction != 0.0, a, 0.0)

        inside = s.stage == 1.0
        # a largest speed at the end is `v`, which knows how the end moves with the parameters
        peak = jnp.where(reversal.peak < reversal.tau, segment.motion(s.anchor, reversal.peak).v, 0.0)
        top_speed = jnp.maximum(jnp.abs(peak), jnp.maximum(jnp.abs(s.anchor.v), jnp.abs(v)))
        now = Interval(
            duration=jnp.where(inside, tau, 0.0),
            displacement=jnp.where(inside, moved, 0.0),
            slip=jnp.where(inside, jnp.abs(moved), 0.0),
            slipping=slipping & (tau > 0.0),
            resting=~slipping & (tau > 0.0),
            sticking=~slipping,
            begins=s.anchor.v == 0.0,
            top_speed=top_speed,
        )
        return State(
            t=jnp.where(stops | released | given_up, s.t + tau, target),
            stage=jnp.where(stops | released | given_up, s.stage, s.stage + 1.0),
            x=x,
            anchor=Anchor(v, a, angle, sine, cosine),
            direction=direction,
            last_slip=jnp.where(stops, tau, s.last_slip),
            sums=rubbing.update(s.sums, now),
            events=s.events + jnp.where(given_up, MOST_PIECES, 1),
        )

    finite = all_finite(p.values())
    zero = jnp.zeros_like(alpha)
    angle = wrap(excitation.phase + zero)
    sine, cosine = sincos(angle)
    x, v = p["x0"] + zero, p["v0"] + zero
    direction = jnp.where(v != 0.0, jnp.sign(v), friction.direction_at_rest(held_force(x, sine)))
    a = jnp.where(direction != 0.0, slip_acceleration(direction, x, v, sine), 0.0)
    start = State(
        t=zero,
        stage=jnp.where(finite, zero, 3.0),
        x=x,
        anchor=Anchor(v, a, angle, sine, cosine),
        direction=direction,
        last_slip=zero,
        sums=rubbing.init(alpha),
        events=jnp.zeros_like(finite, dtype=jnp.int32),
    )

    def place(s: State, x: Array, v: Array) -> State:
        direction = jnp.where((s.direction != 0.0) & (v != 0.0), jnp.sign(v), s.direction)
        v = jnp.where(direction != 0.0, v, 0.0)
        a = jnp.where(v != 0.0, slip_acceleration(direction, x, v, sine), s.anchor.a)
        return s._replace(t=zero, stage=zero + 1.0, x=x, anchor=Anchor(v, a, angle, sine, cosine), direction=direction)

    return Machine(start, finite, next_event, place)


def simulate(p: dict[str, Any], free: bool) -> tuple[dict[str, Array], Array]:
    """Run one rubbing mass with rigid friction.

    Args:
        p: resolved parameters of the model `rubbing_mass` (scalars, SI units; k_t, c_t and the steps are not read).
        free: compile-time promise that k = c = 0, which takes a leaner segment.

    Returns:
        Observables by name (scalars), and the status code. A row whose numbers are not finite returns at once.

    Differentiable in every parameter (forward mode) except exactly at a graze. Validated by tests/kernels/test_exact.py.
    """
    last: State = follow(functools.partial(machine, free=free), MOST_EVENTS, p)
    finite, zero = all_finite(p.values()), jnp.zeros_like(last.t)
    status = jnp.where(finite, jnp.where(last.events < MOST_EVENTS, int(Status.OK), int(Status.TOO_MANY_EVENTS)), int(Status.NOT_FINITE))
    found = rubbing.finish(last.sums, p)
    ends = {"x_end": last.x, "v_end": last.anchor.v, "period": zero, "time_reached": last.t, "accepted_steps": zero, "rejected_steps": zero}
    return {**found, **ends}, status
