"""The event loop specialised to rigid friction, in float32: `rigid_loop` in single precision, without derivatives.

One pass takes a rest and the slip after it. The units are the mass, 1 / omega and the largest acceleration of the oscillator, so no power
of a frequency leaves the range of float32. Quantities that would lose digits during a long run are float64: the time, the angle of the
excitation, the end of a rest, the displacement and the sums that grow. The motion during a slip is float32. It is relative to the anchor,
so its rounding error does not grow with the length of the run.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact.rigid_loop import MOST_EVENTS
from tribosweep.kernels.exact.search.first_reversal import first_reversal
from tribosweep.kernels.exact.search.reversal import Guess
from tribosweep.kernels.exact.search.reversal_scan import MOST_PIECES
from tribosweep.kernels.exact.search.roots import root_step
from tribosweep.kernels.excitation.harmonic import Harmonic, wrap
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.numerics.elementary import asin, single_sincos, single_swing
from tribosweep.kernels.numerics.fusion import decide, for_every_lane, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, all_finite, choice
from tribosweep.kernels.observables import rubbing
from tribosweep.kernels.observables.interval import Interval
from tribosweep.kernels.observables.slip import holds_to
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor
from tribosweep.kernels.segments.undamped_float32 import UndampedFloat32

_TURN = 2.0 * math.pi
# longest stretch of a slip [rad]: REACH, where float32 resolves 4e-6. Each stretch rounds the speed. Without spring and damper a stretch is
# therefore as long as the speed changes by at most the fraction _PART, up to FARTHEST
REACH, FARTHEST, _PART = 64.0, 4096.0, 0.1
_LEAVING = 1e-6  # the mass rests if less than this angle [rad] remains of the arc in which it cannot rest


def _single(value: Array) -> Array:
    return value.astype(jnp.float32)


class RigidStateFloat32(NamedTuple):
    """One oscillator just after an event.

    Attributes:
        t: omega times the time, float64. stage: 0 before the window, 1 in it, 2 after it, 3 when the run is over.
        moved: displacement since the start, float64. v: velocity. direction: of slip, +1 or -1; 0 if v is 0.
        last, before: see `rigid_loop.RigidState`. sums: observables; distance, drift and sticking time are float64. events: number so far.
    """

    t: Array
    stage: Array
    moved: Array
    v: Array
    direction: Array
    last: Guess
    before: Guess
    sums: rubbing.Rubbing
    events: Array


class Side(NamedTuple):
    """The threshold at which rest ends in one direction (see `coulomb.Thresholds`).

    Attributes:
        angle: excitation angle at which rest ends. arc: angle from there until rest is possible again. never: infinite if rest never ends,
            else 0. All three are float64.
        on_sine, on_versine, excess: b after `angle`, the force exceeds the limit by excess + on_sine sin b - on_versine (1 - cos b).
    """

    angle: Array
    arc: Array
    never: Array
    on_sine: Array
    on_versine: Array
    excess: Array

    @classmethod
    def of(cls, amplitude: Array, limit: Array, pull: Array, direction: float) -> Side:
        """The threshold for an excitation of `amplitude` >= 0, friction up to `limit` and a constant force `pull` (float64)."""
        need = limit - direction * pull
        level = jnp.where(amplitude > 0.0, need / jnp.where(amplitude > 0.0, amplitude, 1.0), jnp.where(need < 0.0, -1.0, 1.0))
        reached = level < 1.0
        sine = jnp.clip(level, -1.0, 1.0)
        angle = asin(sine)
        excess = jnp.where(jnp.abs(level) < 1.0, 0.0, amplitude * sine - need)
        on_sine = amplitude * jnp.sqrt((1.0 - sine) * (1.0 + sine))
        return cls(
            angle if direction > 0.0 else angle + math.pi,
            math.pi - 2.0 * angle,
            jnp.where(reached, 0.0, jnp.inf),
            _single(on_sine),
            _single(amplitude * sine),
            _single(excess),
        )

    def turn(self, angle: Array) -> Array:
        """Angle that the excitation turns until rest ends (float64)."""
        ahead = wrap(self.angle - angle)
        return jnp.where(_TURN - ahead < self.arc - _LEAVING, 0.0, ahead) + self.never

    def beyond(self, angle: Array) -> Array:
        """Excess of the force over the limit (float32), from the angle to the nearest crossing, so that no digits cancel near it."""
        past, crest = wrap(angle - self.angle), 0.5 * self.arc
        nearest = jnp.where(past < crest, past, jnp.where(past < crest + math.pi, self.arc - past, past - _TURN))
        sine, versine, *_ = single_swing(*fusion_barrier(_single(nearest)))
        return self.excess + self.on_sine * sine - self.on_versine * versine


class RigidMachineFloat32(NamedTuple):
    """The constants of a run, in units of the oscillator. All are float64 except the segments.

    Attributes:
        alpha: amplitude of the excitation, >= 0. phase: its phase. pull: constant force at x0. k: stiffness. static: limit of friction.
        forward, backward: segments of the two directions; with a spring or a damper they are the same.
        stages: omega times the ends of the stages.
        length, speed: units [m], [m/s].
    """

    alpha: Array
    phase: Array
    pull: Array
    k: Array
    static: Array
    forward: UndampedFloat32 | Damped
    backward: UndampedFloat32 | Damped
    stages: tuple[Array, Array, Array]
    length: Array
    speed: Array

    @classmethod
    def of(cls, p: dict[str, Any], free: bool) -> RigidMachineFloat32:
        """The oscillator of resolved parameters (scalars, float64, SI units)."""
        m, omega = p["m"], p["omega"]
        amplitude = Harmonic.of(p).amplitude
        size, pull = jnp.abs(amplitude), p["load"] if free else p["load"] - p["k"] * p["x0"]
        static, dynamic = holds_to(p["mu_s"] * p["normal_force"]), p["mu_d"] * p["normal_force"]
        unit = jnp.maximum(jnp.maximum(size, jnp.abs(pull)), jnp.maximum(static, m * omega * jnp.abs(p["v0"])))
        by_unit = 1.0 / jnp.where(unit > 0.0, unit, 1.0)
        acceleration = jnp.where(unit > 0.0, unit, 1.0) / m
        alpha, pull, static, dynamic = size * by_unit, pull * by_unit, static * by_unit, dynamic * by_unit
        k = p["k"] / (m * omega * omega)
        forward: UndampedFloat32 | Damped = UndampedFloat32.of(alpha, pull - dynamic)
        backward: UndampedFloat32 | Damped = UndampedFloat32.of(alpha, -pull - dynamic)
        if not free:
            forward = backward = Damped(_single(alpha), jnp.ones((), jnp.float32), _single(0.5 * p["c"] / (m * omega)), _single(k))
        phase = p["phase"] + jnp.where(amplitude < 0.0, math.pi, 0.0)
        stages = p["window_start"] * omega, p["window_end"] * omega, p["end"] * omega
        speed = acceleration / omega
        return cls(alpha, phase, pull, k, static, forward, backward, stages, speed / omega, speed)

    def side(self, direction: float, pull: Array) -> Side:
        """The threshold of one direction under the constant force `pull`."""
        return Side.of(self.alpha, self.static, pull, direction)


def machine(p: dict[str, Any], free: bool) -> tuple[RigidMachineFloat32, RigidStateFloat32, Any]:
    """The constants of the oscillator, its state at t = 0, and the function from one state to the next."""
    c = RigidMachineFloat32.of(p, free)
    at_start = c.side(1.0, c.pull), c.side(-1.0, c.pull)
    damping = _single(p["c"] / (p["m"] * p["omega"]))
    after_release = _single((holds_to(p["mu_s"]) - p["mu_d"]) * p["normal_force"] / (p["m"] * c.speed * p["omega"]))

    by_push = _single(_PART / jnp.maximum(c.alpha + jnp.abs(c.pull) + c.static, 1e-30))

    def next_event(s: RigidStateFloat32) -> RigidStateFloat32:
        """The state after the rest, if there is one, and the slip after it."""
        first, second, end = c.stages
        (target,) = fusion_barrier(jnp.where(s.stage == 0.0, first, jnp.where(s.stage == 1.0, second, end)))
        going_on, inside = s.stage < 3.0, s.stage == 1.0

        # the rest
        pull = c.pull if free else c.pull - c.k * s.moved
        forward, backward = at_start if free else (c.side(1.0, pull), c.side(-1.0, pull))
        (rests,) = decide((s.direction == 0.0) & going_on, like=s.v)
        angle = s.t + c.phase
        turn_forward, turn_backward = fusion_barrier(forward.turn(angle), backward.turn(angle))
        (ahead,) = decide(turn_forward <= turn_backward, like=s.v)
        turn = jnp.minimum(turn_forward, turn_backward)
        rests, released = decide(rests, rests & (turn <= target - s.t), like=s.v)
        direction = jnp.where(released, choice(ahead, 1.0, -1.0, s.v), s.direction)
        t = jnp.where(released, s.t + turn, jnp.where(rests, target, s.t))
        t, direction = fusion_barrier(t, direction)
        rested = jnp.where(rests, t - s.t, 0.0)
        still = jnp.zeros_like(s.v)
        rest = Interval(
            duration=jnp.where(inside, rested, 0.0),
            displacement=still,
            slip=still,
            slipping=jnp.zeros_like(rests),
            resting=rests & (rested > 0.0),
            sticking=rests,
            begins=rests,
            top_speed=still,
        )

        # the slip, seen along its direction
        slips = going_on & (direction != 0.0)
        limit = jnp.where(slips, target - t, 0.0)
        reach = jnp.clip(jnp.abs(s.v) * by_push, REACH, FARTHEST) if free else REACH
        slips, long = decide(slips, limit > reach, like=s.v)
        limit = jnp.minimum(limit, reach)
        facing = t + c.phase + jnp.where(direction < 0.0, math.pi, 0.0)
        limit, facing, shortest = fusion_barrier(limit, facing, _single(limit))
        sine, cosine = single_sincos(facing)
        v = s.v * direction
        side: Side = jax.tree.map(lambda one, other: jnp.where(direction < 0.0, other, one), forward, backward)
        a = after_release + side.beyond(t + c.phase)
        v, a = fusion_barrier(v, jnp.where(v == 0.0, jnp.maximum(a, 0.0), a if free else a - damping * v))
        if free:
            segment: UndampedFloat32 | Damped = jax.tree.map(
                lambda one, other: jnp.where(direction < 0.0, other, one), c.forward, c.backward
            )
            anchor = Anchor(v, a, facing, sine, cosine)
        else:
            segment = c.forward
            anchor = Anchor(v, a, fusion_barrier(_single(wrap(facing)))[0], sine, cosine)
        found = first_reversal(segment, anchor, shortest, s.before)
        near = found.tau
        m = segment.motion(anchor, near)
        (step,) = fusion_barrier(root_step(m, segment.rate))
        root = near.astype(limit.dtype) + step
        (stops,) = decide(slips & found.stops & (root <= limit), like=s.v)
        given_up = slips & ~stops & ~found.stops & (near < shortest)
        (tau,) = fusion_barrier(jnp.where(slips, jnp.where(stops, root, jnp.where(given_up, near, limit)), 0.0))
        duration, rest_of_it = fusion_barrier(_single(tau), _single(tau - near))
        m = m.later(rest_of_it)

        ends = slips & ~stops & ~given_up & ~long
        moved, speed = fusion_barrier(jnp.where(slips, m.d, 0.0), jnp.where(slips & ~stops, jnp.maximum(m.v, 0.0), 0.0))
        peak = jnp.where(found.peak < near, jnp.abs(segment.motion(anchor, found.peak).v), 0.0)
        way = moved * direction
        slip = Interval(
            duration=jnp.where(inside & slips, duration, 0.0),
            displacement=jnp.where(inside, way, 0.0),
            slip=jnp.where(inside, jnp.abs(moved), 0.0),
            slipping=slips & (duration > 0.0),
            resting=jnp.zeros_like(slips),
            sticking=jnp.zeros_like(slips),
            begins=slips & (v == 0.0),
            top_speed=jnp.maximum(peak, jnp.maximum(v, speed)),
        )
        stage_ends = ends | (rests & ~released)
        return RigidStateFloat32(
            t=jnp.where(ends, target, t + tau),
            stage=jnp.where(stage_ends, s.stage + 1.0, s.stage),
            moved=s.moved + way,
            v=speed * direction,
            direction=jnp.where(speed > 0.0, direction, 0.0),
            last=jax.tree.map(lambda new, old: jnp.where(stops, new, old), found.guess, s.last),
            before=jax.tree.map(
                lambda new, last, old: jnp.where(stops, jnp.where(s.last.stop < 0.0, new, last), old), found.guess, s.last, s.before
            ),
            sums=rubbing.update(rubbing.update(s.sums, rest), slip),
            events=s.events + jnp.where(given_up, MOST_PIECES, 1),
        )

    zero, small = jnp.zeros_like(c.alpha), jnp.zeros_like(c.forward.alpha)
    v = _single(p["v0"] / c.speed) + small
    sums = rubbing.init(small)
    start = RigidStateFloat32(
        t=zero,
        stage=jnp.where(all_finite(p.values()), small, 3.0),
        moved=zero,
        v=v,
        direction=jnp.sign(v),
        last=Guess(small - 1.0, small - 1.0),
        before=Guess(small - 1.0, small - 1.0),
        sums=sums._replace(slip=sums.slip._replace(distance=zero, drift=zero, stuck_time=zero)),
        events=jnp.zeros_like(v, dtype=jnp.int32),
    )
    return c, start, next_event


def simulate(p: dict[str, Any], free: bool) -> tuple[dict[str, Array], Array]:
    """Run one rubbing mass with rigid friction in float32.

    Args:
        p: resolved parameters of the model `rubbing_mass` (float64 scalars, SI units; k_t, c_t and the steps are not read).
        free: compile-time promise that k = c = 0, which selects a cheaper segment.

    Returns:
        Observables by name (scalars, float64), and the status code. A row with a parameter that is not finite returns at once.

    Every slip adds an error of about 1e-6 of the largest speed. With mu_s = mu_d earlier errors do not grow: friction is then a monotone
    function of the velocity, so two motions never diverge. Not differentiable. Validated by
    tests/kernels/exact/test_rigid_friction_float32.py.
    """
    c, start, next_event = machine(p, free)
    last = jax.lax.while_loop(lambda s: (s.stage < 3.0) & (s.events < MOST_EVENTS), next_event, for_every_lane(start, p))
    finite, zero = all_finite(p.values()), jnp.zeros_like(last.t)
    status = jnp.where(finite, jnp.where(last.events < MOST_EVENTS, int(Status.OK), int(Status.TOO_MANY_EVENTS)), int(Status.NOT_FINITE))
    slip = last.sums.slip
    in_units = slip._replace(
        distance=slip.distance * c.length, drift=slip.drift * c.length, top_speed=slip.top_speed * c.speed, phases=slip.phases + zero
    )
    seen = jax.tree.map(lambda value: value + zero, last.sums.regime)
    found = rubbing.finish(rubbing.Rubbing(in_units, seen), p)
    window = c.stages[1] - c.stages[0]
    ends = {"stick_fraction": slip.stuck_time / window, "x_end": p["x0"] + last.moved * c.length, "v_end": last.v * c.speed}
    reached = jnp.where(last.stage < 3.0, last.t / p["omega"], p["end"])
    none = {"period": zero, "accepted_steps": zero, "rejected_steps": zero}
    return {**found, **ends, "time_reached": reached, **none}, status
