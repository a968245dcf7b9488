"""Rigid friction without spring and damper, values alone: the event loop of `rigid_loop` with a third of its work.

Everything is in units of the excitation: angles instead of times, the excitation's amplitude over the mass as unit of acceleration, with
its sign removed by half a turn. So most constants are 1. Along the slip, from an angle theta and with psi = omega tau,

    u(psi) = u0 + a0 psi + cos(theta) (1 - cos(psi)) - sin(theta) (psi - sin(psi))        a = b + sin(theta + psi)

The acceleration has one positive and one negative arc in a turn. So a zero of u in a negative arc is the first one

- after a start in a positive arc (u0 >= 0), if it lies in the same turn, because u rises, and then falls once;
- after a start in a negative arc, if it lies in the same arc.

Nearly every slip meets one of these conditions, and its zero is found from the last slip but one by two or three evaluations. Where nothing
is proved, `search.reversal_undamped` searches. Derivatives are those of `rigid_loop`, with which a test compares the values.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.coulomb import Coulomb
from tribosweep.kernels.exact.search import reversal_undamped
from tribosweep.kernels.exact.search.reversal import Guess, Reversal
from tribosweep.kernels.exact.search.roots import CLOSE, NEAR, householder, root_step
from tribosweep.kernels.excitation.harmonic import Harmonic, wrap
from tribosweep.kernels.numerics.elementary import asin
from tribosweep.kernels.numerics.fusion import decide, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array, all_finite, horner
from tribosweep.kernels.observables import rubbing
from tribosweep.kernels.observables.interval import Interval
from tribosweep.kernels.segments.interface import Anchor, Motion
from tribosweep.kernels.segments.undamped import Undamped

_TURN = 2.0 * math.pi
_MOST_PASSES = 6
_STEEP = 1e-5  # least |a| at a proved zero; below it rounding errors, or a graze, may decide
_NEVER = 1e300
# pi in three parts whose products with an integer below 2^20 are exact, and the series of sine and cosine on |x| <= pi/2
_PI_PARTS = (3.1415926534682512, 1.2154201012607932e-10, 4.044532497591901e-21)
_SIN_SERIES = tuple((-1.0) ** n / math.factorial(2 * n + 1) for n in range(1, 11))
_COS_SERIES = tuple((-1.0) ** n / math.factorial(2 * n) for n in range(2, 12))


class Units(NamedTuple):
    """Constants of one oscillator in its own units.

    Attributes:
        drive: 1, or 0 without excitation. load: constant force. static, dynamic: limits of the friction.
        forward, backward: angles at which rest ends. above_forward, above_backward: how long after them it still ends.
        until_forward, until_backward: 0, or _NEVER where rest never ends in that direction. lengths: angles of the three stages.
    """

    drive: Array
    load: Array
    static: Array
    dynamic: Array
    forward: Array
    backward: Array
    above_forward: Array
    above_backward: Array
    until_forward: Array
    until_backward: Array
    lengths: tuple[Array, Array, Array]


class Course(NamedTuple):
    """One oscillator just after an event: see `rigid_loop.RigidState`. angle: of the excitation. left: angle until the end of the stage."""

    angle: Array
    left: Array
    stage: Array
    y: Array
    u: Array
    direction: Array
    last: Array
    before: Array
    sums: rubbing.Rubbing
    events: Array


def _swing(angle: Array) -> tuple[Array, Array]:
    """Sine and versine of an angle [rad], any shape, as `elementary.chord`: reduced by half turns, with longer series and fewer choices."""
    half_turns = jnp.round(angle * (1.0 / math.pi))
    r = angle
    for part in _PI_PARTS:
        r = r - half_turns * part
    (r,) = fusion_barrier(r)
    z = r * r
    odd = 0.5 * half_turns - jnp.floor(0.5 * half_turns)  # 0 or 1/2
    sine, versine = r + r * z * horner(_SIN_SERIES, z), 0.5 * z - z * z * horner(_COS_SERIES, z)
    return fusion_barrier(sine * (1.0 - 4.0 * odd), jnp.where(odd > 0.0, 2.0 - versine, versine))  # type: ignore[return-value]


def _motion(u: Array, a: Array, sine: Array, cosine: Array, psi: Array) -> Motion:
    """The motion `psi` after an anchor."""
    s, versine = _swing(psi)
    lag, bow = psi - s, 0.5 * psi * psi - versine
    jerk = cosine * (1.0 - versine) - sine * s
    snap = -(sine * (1.0 - versine) + cosine * s)
    return Motion(
        psi * (u + 0.5 * a * psi) + cosine * lag - sine * bow,
        u + a * psi + cosine * versine - sine * lag,
        a + cosine * s - sine * versine,
        jerk,
        snap,
        -jerk,
    )


def _search(size: Array, anchor: Anchor, limit: Array, guess: Guess) -> Reversal:
    """The first reversal by the search that needs no guess; `size`: `Units.drive`."""
    one = jnp.ones_like(size)
    return reversal_undamped.first_reversal(Undamped(size, one, one, size), anchor, limit, guess)


class _Search(NamedTuple):
    """Search for a zero of u: its angle, the acceleration there, whether it is found (0 or 1), and the number of evaluations."""

    psi: Array
    slope: Array
    found: Array
    passes: Array


def _next_event(c: Units, s: Course) -> Course:
    """The next event: the end of a rest, if there is one, then that of the slip."""

    def following(stage: Array) -> Array:
        return jnp.where(stage == 0.0, c.lengths[1], jnp.where(stage == 1.0, c.lengths[2], 0.0))

    rests = (s.direction == 0.0) & (s.stage < 3.0)

    def turn_to(threshold: Array, above: Array, never: Array) -> Array:
        turn = wrap(threshold - s.angle)
        return jnp.where(turn > _TURN - above, 0.0, turn) + never

    forward, backward = (
        turn_to(c.forward, c.above_forward, c.until_forward),
        turn_to(c.backward, c.above_backward, c.until_backward),
    )
    (turn,) = fusion_barrier(jnp.minimum(forward, backward))
    rests, released = decide(rests, rests & (turn <= s.left))
    rested = jnp.where(released, turn, jnp.where(rests, s.left, 0.0))
    nothing = jnp.zeros_like(rested)
    sums = rubbing.update(
        s.sums,
        Interval(jnp.where(s.stage == 1.0, rested, 0.0), nothing, nothing, rests & ~rests, rests & (rested > 0.0), rests, rests, nothing),
    )
    angle, direction = fusion_barrier(wrap(s.angle + rested), jnp.where(released, jnp.where(forward <= backward, 1.0, -1.0), s.direction))
    over = rests & ~released
    stage, left = fusion_barrier(jnp.where(over, s.stage + 1.0, s.stage), jnp.where(over, following(s.stage), s.left - rested))

    (slips,) = decide((direction != 0.0) & (stage < 3.0))
    limit = jnp.where(slips, left, 0.0)
    sine, versine = _swing(angle)
    facing = direction * c.drive
    sine, cosine = fusion_barrier(facing * sine, facing * (1.0 - versine))
    seen = angle + jnp.where(direction < 0.0, math.pi, 0.0)
    u, a = direction * s.u, sine + direction * c.load - c.dynamic
    # just after a release the acceleration is known exactly, and the sign of its rounding error would cause false events
    at_release = c.static - c.dynamic
    (a,) = fusion_barrier(jnp.where((u == 0.0) & (jnp.abs(a - at_release) < 1e-12 * (1.0 + c.static)), at_release, a))
    steepest = wrap(1.5 * math.pi - seen)
    start = jnp.where(s.before >= 0.0, wrap(s.before - seen), steepest)

    def look(q: _Search) -> _Search:
        m = _motion(u, a, sine, cosine, q.psi)
        step, neglected = householder(m)
        (found,) = decide((m.a < 0.0) & (jnp.abs(step) < NEAR) & (neglected < NEAR) | (q.found > 0.0))
        new = jnp.where(q.found > 0.0, q.psi, q.psi + jnp.clip(jnp.where(m.a < 0.0, step, 0.5), -1.0, 1.0))
        return _Search(
            new, jnp.where(q.found > 0.0, q.slope, m.a + step * (m.jerk + 0.5 * step * m.snap)), jnp.where(found, 1.0, 0.0), q.passes + 1
        )

    idle = jnp.where(slips & (limit > 0.0), 0.0, 1.0)
    found = jax.lax.while_loop(
        lambda q: jnp.any(q.found == 0.0) & (q.passes < _MOST_PASSES),
        look,
        _Search(start, nothing - 1.0, idle, jnp.zeros((), jnp.int32)),
    )
    rises = a >= 0.0
    alone = jnp.where(rises, found.psi < _TURN - 1e-3, wrap(seen - 0.5 * math.pi) + found.psi < _TURN - 1e-3)
    known = (found.found > 0.0) & (found.psi > 0.0) & (found.slope < -_STEEP) & alone
    (unknown,) = decide((idle == 0.0) & ~known)
    up = asin(jnp.clip(sine - a, -1.0, 1.0))
    quick_peak = jnp.where(rises, wrap(math.pi - up - seen), 0.0)
    quick_stops = (idle == 0.0) & (found.psi - limit < CLOSE)

    def thorough(_: Any) -> Any:
        size = c.drive + 0.0 * u
        search = _search if u.ndim == 0 else jax.vmap(_search)
        r = search(size, Anchor(u, a, seen, sine, cosine), jnp.where(unknown, limit, 0.0), Guess(s.before, s.before))

        def choose(ours: Array, theirs: Array) -> Array:
            return jnp.where(unknown, theirs, ours)

        near = jnp.where(quick_stops, found.psi, limit)
        return (
            jnp.zeros((), bool),
            choose(near, r.tau),
            choose(jnp.where(quick_stops, 1.0, 0.0), jnp.where(r.stops, 1.0, 0.0)),
            choose(quick_peak, r.peak),
        )

    first = (jnp.any(unknown), jnp.where(quick_stops, found.psi, limit), jnp.where(quick_stops, 1.0, 0.0), quick_peak)
    _, near, stopping, peak = jax.lax.while_loop(lambda q: q[0], thorough, first)

    m = _motion(u, a, sine, cosine, near)
    step = root_step(m, jnp.ones_like(near))
    (stops,) = decide(slips & (stopping > 0.0) & (near + step <= limit))
    (psi,) = fusion_barrier(jnp.where(stops, near + step, limit))
    m = m.later(psi - near)
    moved, speed, a_end = fusion_barrier(jnp.where(slips, m.d, 0.0), jnp.where(stops, 0.0, jnp.where(slips, m.v, jnp.abs(s.u))), m.a)
    needed = a_end + c.dynamic
    turned = jnp.where(jnp.abs(needed) > c.static, direction * jnp.sign(needed), 0.0)
    inside = stage == 1.0
    fastest = jnp.where(peak < near, _motion(u, a, sine, cosine, peak).v, 0.0)
    sums = rubbing.update(
        sums,
        Interval(
            duration=jnp.where(inside & slips, psi, 0.0),
            displacement=jnp.where(inside, direction * moved, 0.0),
            slip=jnp.where(inside, jnp.abs(moved), 0.0),
            slipping=slips & (psi > 0.0),
            resting=slips & ~slips,
            sticking=slips & ~slips,
            begins=slips & (u == 0.0),
            top_speed=jnp.maximum(fastest, jnp.maximum(jnp.abs(u), jnp.abs(speed))),
        ),
    )
    ends = slips & ~stops
    seen_at_stop = wrap(seen + psi)
    return Course(
        angle=wrap(angle + psi),
        left=jnp.where(ends, following(stage), left - psi),
        stage=jnp.where(ends, stage + 1.0, stage),
        y=s.y + direction * moved,
        u=jnp.where(slips, direction * speed, s.u),
        direction=jnp.where(stops, turned, direction),
        last=jnp.where(stops, seen_at_stop, s.last),
        before=jnp.where(stops, jnp.where(s.last < 0.0, seen_at_stop, s.last), s.before),
        sums=sums,
        events=s.events + jnp.where(s.stage < 3.0, 1, 0),
    )


def _run(p: dict[str, Any], most_events: int) -> dict[str, Any]:
    """The results of oscillators (scalars or arrays of one shape) at the end of their runs."""
    excitation, friction = Harmonic.of(p), Coulomb.of(p)
    force = jnp.abs(excitation.amplitude)
    driven = force > 0.0
    unit = jnp.where(driven, force, 1.0)  # of force [N]
    speed = unit / (p["m"] * p["omega"])  # [m/s]
    limits = friction.thresholds(excitation, excitation.load)

    def never(ever: Array) -> Array:
        return jnp.where(ever, 0.0, _NEVER)

    c = Units(
        jnp.where(driven, 1.0, 0.0), excitation.load / unit, friction.static_limit / unit, friction.dynamic_force / unit,
        limits.forward, limits.backward, jnp.minimum(1e-6, math.pi - 2.0 * limits.forward),
        jnp.minimum(1e-6, 3.0 * math.pi - 2.0 * limits.backward), never(limits.pushes), never(limits.pulls),
        (p["omega"] * p["window_start"], p["omega"] * (p["window_end"] - p["window_start"]), p["omega"] * (p["end"] - p["window_end"])),
    )  # fmt: skip
    finite = all_finite(p.values())
    zero = 0.0 * sum(jnp.where(finite, p[name], 0.0) for name in p) + jnp.where(finite, 0.0, 0.0)
    # the sign of a force that is zero at the start must not come from the rounding of half a turn
    sine, _ = _swing(wrap(excitation.phase + zero))
    u = p["v0"] / speed + zero
    direction = jnp.where(u != 0.0, jnp.sign(u), friction.direction_at_rest(excitation.force(sine)))
    angle = wrap(excitation.phase + jnp.where(excitation.amplitude < 0.0, math.pi, 0.0) + zero)
    start = Course(
        angle, c.lengths[0] + zero, jnp.where(finite, zero, 3.0), zero, u, direction, zero - 1.0, zero - 1.0, rubbing.init(zero),
        jnp.zeros_like(zero, jnp.int32),
    )  # fmt: skip
    last = jax.lax.while_loop(lambda s: jnp.any((s.stage < 3.0) & (s.events < most_events)), lambda s: _next_event(c, s), start)
    length = speed / p["omega"]
    slip = last.sums.slip
    slip = slip._replace(
        distance=slip.distance * length,
        drift=slip.drift * length,
        stuck_time=slip.stuck_time / p["omega"],
        top_speed=slip.top_speed * speed,
    )
    t = jnp.where(last.stage == 0.0, p["window_start"], jnp.where(last.stage == 1.0, p["window_end"], p["end"])) - last.left / p["omega"]
    return {
        "sums": last.sums._replace(slip=slip), "x": p["x0"] + length * last.y, "v": last.u * speed, "events": last.events,
        "t": jnp.where(finite, jnp.where(last.stage == 3.0, p["end"], t), 0.0),
    }  # fmt: skip


def last_of(p: dict[str, Any], most_events: int) -> dict[str, Any]:
    """Sums, x [m], v [m/s], t [s] and number of events at the end of the run of one oscillator with k = c = 0, without derivatives."""
    run = jax.custom_batching.custom_vmap(lambda p: _run(p, most_events))

    @run.def_vmap
    def _(size: int, _: Any, p: dict[str, Any]) -> Any:  # all lanes in one loop: it goes on while any of them does
        found = _run(dict(p), most_events)
        found = jax.tree.map(lambda value: jnp.broadcast_to(value, (size,)), found)
        return found, jax.tree.map(lambda _: True, found)

    return cast("dict[str, Any]", run(p))
