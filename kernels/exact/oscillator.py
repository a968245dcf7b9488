"""The oscillators of the models, set up for `event_loop`: one law for all contacts, and the observables of a stretch."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact import wall_outcome
from tribosweep.kernels.contact.combined import Combined, Contacts
from tribosweep.kernels.contact.friction_phases import FrictionPhases, FrictionState
from tribosweep.kernels.contact.normal_force import Pressing
from tribosweep.kernels.contact.varied_phases import phases_of
from tribosweep.kernels.contact.wall import BEHIND, ELASTIC, LIFTED, MAY_BE_ABSENT, OFF, Pressed, Wall
from tribosweep.kernels.contact.wall_outcome import WallEnd
from tribosweep.kernels.exact import event_loop, quadrature
from tribosweep.kernels.exact.event_loop import EventState, Stretch
from tribosweep.kernels.exact.forward_sensitivity import forward_sensitivity
from tribosweep.kernels.excitation.multi_tone import Excitation, beside, excitation_of
from tribosweep.kernels.models.arguments import LOOKS
from tribosweep.kernels.models.contacts import STOP, VARYING, Kind
from tribosweep.kernels.models.features import FEATURES, UNBOUNDED
from tribosweep.kernels.models.outputs import NOTHING_ELSE, Asked
from tribosweep.kernels.numerics.fusion import decide
from tribosweep.kernels.numerics.numbers import Array, all_finite
from tribosweep.kernels.numerics.tangents import moved_with, only_tangent
from tribosweep.kernels.observables import block_means, impact_pattern, impacts, rubbing
from tribosweep.kernels.observables import statistics as observed
from tribosweep.kernels.observables.interval import Interval
from tribosweep.kernels.observables.push import Push, Within
from tribosweep.kernels.segments.two_bodies import Centre, relative

TURNS = 32  # looks between two times at which lanes that are done take other rows
_Curve = tuple[Array, Array, Array, Array, Array]  # one quantity: value, on_d, on_v, on_a and on_dv of `quadrature.Curves`


class EventSums(NamedTuple):
    """Sums of a run: of friction, each wall, the impacts of steady motion, the blocks and the statistics. None if not observed.

    `worn` is the wear energy in the window [J] where the normal force varies.
    """

    rubbing: rubbing.Rubbing | None
    shocks: tuple[impacts.Shock, ...]
    impacting: impact_pattern.Impacting | None = None
    blocks: Array | None = None
    statistics: observed.Statistics | None = None
    worn: Array | None = None


class EventSetup(NamedTuple):
    """The arguments of `event_loop.machine` for one oscillator.

    Attributes:
        p: resolved parameters; for two bodies those of the relative motion. centre: motion of the centre of mass of two bodies.
        law, excitation, observe, sums, finite, instants: see `event_loop.machine`. friction, walls: the parts of the law.
    """

    p: dict[str, Any]
    law: Combined
    excitation: Excitation
    observe: Callable[[EventSums, Any, Any, Stretch], EventSums]
    sums: EventSums
    finite: Array
    friction: FrictionPhases | None
    walls: tuple[Wall, ...]
    centre: Centre | None
    instants: Array | None = None
    kind: Kind = Kind(None)


def setup(p: dict[str, Any], kind: Kind) -> EventSetup:
    """The oscillator of resolved parameters (see `simulate`)."""
    absent = {wall.prefix + name for wall in kind.walls for name in (*MAY_BE_ABSENT, *(("f_crit",) if len(kind.walls) > 1 else ()))}
    read = [value for name, value in p.items() if name not in {*MAY_BE_ABSENT, *absent, *FEATURES["tones"], *UNBOUNDED, "bank"}]
    centre = None
    if "m_2" in p:
        p, centre = relative(p)
    excitation = excitation_of(p, by_events=True)
    zero = jnp.zeros_like(p["m"])
    friction = None if kind.friction is None else phases_of(p, kind.friction)
    varies = friction is not None and "normal_amplitude" in p
    if varies:
        excitation = beside(excitation, Pressing.of(p).swing)
    walls = tuple(Wall.of(p, wall.law != STOP, wall.law == VARYING, wall.prefix, wall.sides) for wall in kind.walls)
    if friction is not None:
        read += friction.law.constants
    law = Combined(friction, walls, tuple(wall.prefix.replace("_", " ") for wall in kind.walls))
    rubs = None if friction is None else rubbing.init(zero)
    pressed = law.start(event_loop.released(excitation, p)[0])[0].walls
    hits = tuple(
        impacts.init(
            zero, wall.compression(each, p["x0"] + zero), p["v0"] + zero, each.side, each.buckled > 0.0, p["window_start"],
            first=each.side == wall.stands, rounded=wall.rounded,
        )
        for wall, each in zip(walls, pressed, strict=True)
    )  # fmt: skip

    instants = block_means.bounds(p, kind.asked.blocks) if kind.asked.blocks else None
    worn = block_means.init(zero, kind.asked.blocks) if kind.asked.blocks else None
    seen = observed.init(zero, 3 if walls else 2) if kind.asked.statistics else None
    looks = p.get(LOOKS)

    def observe(sums: EventSums, before: Contacts, after: Contacts, now: Stretch) -> EventSums:
        period = 2.0 * math.pi / p["omega"]
        wear = _wear(p, friction, before, now) if varies or sums.blocks is not None else zero
        return EventSums(
            None if sums.rubbing is None or before.friction is None else rub(sums.rubbing, before.friction, now, p.get("belt_speed")),
            tuple(hit(*each, now) for each in zip(sums.shocks, walls, before.walls, after.walls, strict=True)),
            None if sums.impacting is None else strike(sums.impacting, before.walls, after.walls, now, period),
            None if sums.blocks is None or instants is None else block_means.update(sums.blocks, instants, now.time, wear),
            None if sums.statistics is None else quadrature.look(sums.statistics, _curves(friction, walls, before, now), now, looks),
            None if sums.worn is None else sums.worn + wear,
        )

    sums = EventSums(rubs, hits, None, worn, seen, zero if varies else None)
    return EventSetup(p, law, excitation, observe, sums, decide(all_finite(read))[0], friction, walls, centre, instants, kind)


def build(made: EventSetup, nested: bool = False) -> event_loop.EventMachine[Any, EventSums]:
    """The event loop of the oscillator. `nested`: see `event_loop.machine`."""
    law, stiff = made.law, made.kind.stiff
    return event_loop.machine(
        law, made.excitation, made.p, made.observe, made.sums, made.finite, instants=made.instants, stiff=stiff, nested=nested
    )


def rub(sums: rubbing.Rubbing, contact: FrictionState, now: Stretch, belt: Array | None = None) -> rubbing.Rubbing:
    """The sums of friction after a stretch. `contact` is the memory of friction during it, `belt` the speed of its surface [m/s]."""
    slipping, lasts = contact.slips, now.duration > 0.0
    first, last = (now.v0, now.v) if belt is None else (now.v0 - belt, now.v - belt)
    interval = Interval(
        duration=jnp.where(now.inside, now.duration, 0.0),
        displacement=jnp.where(now.inside, now.moved, 0.0),
        slip=jnp.where(now.inside & slipping, _slid(now, belt), 0.0),
        slipping=slipping & lasts,
        resting=(contact.resting > 0.0) & lasts,
        sticking=contact.holds,
        begins=contact.begins > 0.0,
        top_speed=jnp.maximum(jnp.abs(first), jnp.abs(last)),  # a peak of the speed is an event, so it ends a stretch
    )
    return rubbing.update(sums, interval)


def hit(sums: impacts.Shock, wall: Wall, before: Pressed, after: Pressed, now: Stretch) -> impacts.Shock:
    """The sums of a wall after a stretch. `before` and `after` are its memory during and after the stretch."""
    y0, y = wall.compression(before, now.x - now.moved), wall.compression(before, now.x)
    force, last = wall.force(before, y0), wall.force(before, y)
    zero = jnp.zeros_like(y)
    pushes = before.phase >= ELASTIC
    start, end = (jnp.maximum(each.at(at, before.side * v), 0.0) for each, at, v in ((force, y0, now.v0), (last, y, now.before)))
    inside = (before.phase != OFF) & (now.duration > 0.0)
    area = y0 * now.duration + before.side * now.area
    viscous = 0.5 * (force.damping + last.damping) * before.side * now.moved  # the damping is linear in the displacement
    impulse = force.constant * now.duration + force.stiffness * area + viscous
    entered = (before.phase == OFF) & (after.phase != OFF)
    pushed, left = pushes & now.inside, (before.phase != OFF) & (after.phase == OFF)
    # without a damper the force ends at the face; its derivative by one is that of the end of the force, which comes before that of contact
    direct = left & pushes & (now.before != 0.0)
    late = jnp.where(direct, -only_tangent(y) / jnp.where(direct, before.side * now.before, 1.0), 0.0)
    left_time = moved_with(now.time, late.astype(now.time.dtype))
    # how far in or out: in flight also in its middle, from its ends and its mean as of a cubic (Simpson's rule)
    lasts, first = now.duration > 0.0, before.side == wall.stands
    mean = y0 + jnp.where(lasts, before.side * now.area / jnp.where(lasts, now.duration, 1.0), 0.0)
    flies = (before.phase == OFF) & lasts
    middle = jnp.where(flies, jnp.clip(0.25 * (6.0 * mean - y0 - y), -wall.room, 0.0), y)
    low, high = jnp.minimum(jnp.minimum(y0, y), middle), jnp.maximum(jnp.maximum(y0, y), middle)
    low, high = (jnp.where(flies, jnp.clip(each, -wall.room, 0.0), each) for each in (low, high))
    most = jnp.maximum(start, end)
    slope = wall.damping_slope(before)
    if slope is not None and now.damping_slope is not None:
        bends = (slope != 0.0) & (now.damping_slope != 0.0)  # not while friction holds the mass
        most = jnp.where(bends, jnp.maximum(most, quadrature.peak(_push(wall, before, y0, now), now)), most)
    return impacts.update(
        sums,
        Push(
            time=now.time,
            velocity=now.before,
            entered=entered,
            left=left,
            left_time=left_time,
            parted=pushes & ((after.phase == OFF) | (after.phase == BEHIND) | (after.phase == LIFTED)),
            buckled=after.buckled > before.buckled,
            back=(before.returns > after.returns) & ~entered | left & (wall.gap <= 0.0),
            back_time=jnp.where(left, left_time, now.time),
            low=jnp.where(first, low, -high - wall.room),
            high=jnp.where(first, high, -low - wall.room),
            room=wall.room,
            rounded=wall.rounded,
            within=Within(
                now.counts,
                now.counts,
                now.counts,
                force=jnp.where(pushed & (now.duration > 0.0), most, zero),
                pressed=jnp.where(pushed, now.duration, zero),
                impulse=jnp.where(pushed, impulse, zero),
                compression=jnp.where(inside & now.inside, jnp.maximum(y0, y), zero),
            ),
        ),
    )


def strike(
    seen: impact_pattern.Impacting, before: tuple[Pressed, ...], after: tuple[Pressed, ...], now: Stretch, period: Array
) -> impact_pattern.Impacting:
    """The pattern of impacts after a stretch. `before` and `after` are the memory of the walls during and after the stretch."""
    inside = entered = jnp.zeros_like(after[0].phase) > 0.0
    side = after[0].side
    for was, now_is in zip(before, after, strict=True):
        enters = (was.phase <= BEHIND) & (now_is.phase > BEHIND)  # BEHIND: in the dent of a wall that has buckled, and apart from it
        side = jnp.where(enters, now_is.side, side)
        inside, entered = inside | (was.phase > BEHIND), entered | enters
    return impact_pattern.update(seen, now.duration, inside, entered, side * now.before, side, period)


def _wear(p: dict[str, Any], friction: FrictionPhases | None, before: Contacts, now: Stretch) -> Array:
    """Wear energy of a stretch [J]; 0 outside the window."""
    contact = before.friction
    if friction is None or contact is None:
        return jnp.zeros_like(now.moved)
    slips = now.inside & contact.slips
    if contact.normal is not None and contact.pressed is not None:
        signs = contact.pressed * contact.direction  # neither n nor the velocity against the support changes its sign in a stretch
        worn = signs * quadrature.rubbed(slips, contact.normal, friction.belt, now)
        return jnp.where(slips & ~(worn < 0.0), worn, 0.0)  # NaN stays
    energy: Array = jnp.where(slips, p["normal_force"] * _slid(now, friction.belt), 0.0)
    return energy


def _slid(now: Stretch, belt: Array | None) -> Array:
    """The distance that a mass which slips one way slips in a stretch [m]; one of no length, as between two faces, has derivatives too."""
    slid, speed = (now.moved, now.v0) if belt is None else (now.moved - belt * now.duration, now.v0 - belt)
    return slid * jnp.where(slid == 0.0, jnp.sign(speed), jnp.sign(slid))


def _curves(friction: FrictionPhases | None, walls: tuple[Wall, ...], before: Contacts, now: Stretch) -> quadrature.Curves:
    """Displacement, friction and wall force along a stretch; the wall force is a sum of magnitudes. `before`: memory during the stretch."""
    zero = jnp.zeros_like(now.moved)
    moves, force, spring, damper, inertia = zero + 1.0, zero, zero, zero, zero
    on_n = on_t = carried = None
    if friction is not None and before.friction is not None:
        contact = before.friction
        holds, force = contact.holds, contact.force
        if (follows := friction.following(contact)) is not None:
            on_n = _of_friction(follows, bool(walls))
        spring, damper, inertia = (jnp.where(holds, -rate, 0.0) for rate in friction.held)
        if friction.spring is None:
            moves = jnp.where(holds, 0.0, 1.0)
        if friction.belt is not None:
            carried = friction.belt
            on_t = _of_friction(-spring * carried, bool(walls)).at[0].set((1.0 - moves) * carried)
    x = now.x - now.moved
    curves = [(x, moves, zero, zero, zero), (force, spring, damper, inertia, zero)]
    pushes = []
    for wall, pressed in zip(walls, before.walls, strict=True):
        pushes.append(_push(wall, pressed, wall.compression(pressed, x), now))
    if pushes:
        pushed = _sum(pushes)
        curves.append((pushed[0], pushed[1] * moves, pushed[2] * moves, pushed[3], pushed[4] * moves))
        if on_t is not None and carried is not None:
            on_t = on_t.at[2].set((1.0 - moves) * carried * (pushed[1] + pushed[4] * carried))
    value, on_d, on_v, on_a, on_dv = (jnp.stack(each) for each in zip(*curves, strict=True))
    return quadrature.Curves(value, on_d, on_v, on_a, on_dv, moves, on_n, on_t, carried)


def _of_friction(rate: Array, wall: bool) -> Array:
    """A rate of the friction force as one of the quantities of statistics (q,), the others being 0."""
    zero = jnp.zeros_like(rate)
    return jnp.stack([zero, rate, zero] if wall else [zero, rate])


def _push(wall: Wall, pressed: Pressed, y0: Array, now: Stretch) -> _Curve:
    """The force of a wall along a stretch that starts at compression `y0` [m]."""
    push, slope, side, zero = wall.force(pressed, y0), wall.damping_slope(pressed), pressed.side, jnp.zeros_like(y0)
    product = zero if slope is None else slope  # side^2 = 1
    return push.at(y0, side * now.v0), side * push.stiffness, side * push.damping, zero, product


def _sum(curves: list[_Curve]) -> _Curve:
    """The sum of curves, entry by entry."""
    value, on_d, on_v, on_a, on_dv = (functools.reduce(operator.add, each) for each in zip(*curves, strict=True))
    return value, on_d, on_v, on_a, on_dv


def finish(setup: EventSetup, last: EventState[Any, EventSums], status: Array, period: Array) -> tuple[dict[str, Array], Array]:
    """Observables by name (scalars) of a run with this last state, and its status."""
    p, zero = setup.p, jnp.zeros_like(last.t)
    found = rubbing.nothing(zero)
    if last.sums.rubbing is not None:
        worn = last.sums.worn
        found = rubbing.finish(last.sums.rubbing, p, worn, None if worn is None else p["mu_d"] * worn)
    if last.sums.blocks is not None:
        found |= block_means.finish(last.sums.blocks, p)
    if last.sums.statistics is not None:
        found |= observed.finish(last.sums.statistics)
    x, v = last.x, last.anchor.v
    crushed, status = wall_outcome.finish(setup.kind.walls, setup.walls, wall_ends(setup, last), last.sums.shocks, p, status)
    found |= crushed
    if setup.centre is not None:
        x, v, found["x_end_2"], found["v_end_2"] = setup.centre.bodies(p, x, v)
    return {
        **found,
        "x_end": x,
        "v_end": v,
        "period": period,
        "time_reached": last.t,
        "accepted_steps": zero,
        "rejected_steps": zero,
    }, status


def wall_ends(setup: EventSetup, last: EventState[Any, EventSums]) -> list[WallEnd]:
    """The walls at the end of a run with this last state."""
    x, walls = last.x, zip(setup.walls, last.memory.walls, strict=True)
    return [WallEnd(wall.plastic_set(each, x), wall.reached(each, x), each.buckled) for wall, each in walls]


def begin(setup: EventSetup) -> event_loop.Turn[Any, EventSums]:
    """The run at t = 0 (see `batch.queue.Driver`)."""
    made = build(setup)
    return made.begin(made.start)


def advance(setup: EventSetup, run: event_loop.Turn[Any, EventSums]) -> event_loop.Turn[Any, EventSums]:
    """The run after TURNS looks."""
    made = build(setup)
    after: event_loop.Turn[Any, EventSums] = jax.lax.fori_loop(0, TURNS, lambda _, now: made.turn(now), run)
    return after


def active(setup: EventSetup, run: event_loop.Turn[Any, EventSums]) -> Array:  # noqa: ARG001
    """Whether the run goes on."""
    return event_loop.goes_on(run.state)


def result(setup: EventSetup, run: event_loop.Turn[Any, EventSums]) -> tuple[dict[str, Array], Array]:
    """Observables by name (scalars) and status code."""
    return finish(setup, run.state, event_loop.outcome(run.state, setup.finite), jnp.zeros_like(run.state.t))


def last_state(p: dict[str, Any], kind: Kind, nested: bool) -> EventState[Any, EventSums]:
    """The last state of a run, differentiable in every parameter. Arguments: see `simulate`."""

    def loop(p: dict[str, Any]) -> event_loop.EventMachine[Any, EventSums]:
        return build(setup(p, kind), nested)

    state: EventState[Any, EventSums] = forward_sensitivity(
        loop, event_loop.MOST_EVENTS, p, one_by_one=bool(kind.walls), nested=nested, values=lambda p: event_loop.end_of(loop(p))
    )
    return state


def simulate(p: dict[str, Any], kind: Kind, asked: Asked = NOTHING_ELSE, nested: bool = False) -> tuple[dict[str, Array], Array]:
    """Run one oscillator.

    Args:
        p: resolved parameters of its model (scalars, tables (n,) padded with NaN; SI units).
        kind: its contacts. Rigid friction does not read k_t and c_t; penalised friction needs them finite unless there is no friction.
        asked: additional results to return. nested: see `forward_sensitivity`.

    Returns:
        Observables by name (scalars), and the status code. A row with a parameter that is not finite returns at once.

    Differentiable in every parameter (forward mode) except exactly at grazing. Validated by
    tests/kernels/exact/test_penalised_friction.py and tests/kernels/exact/test_walls.py.
    """
    kind = kind._replace(asked=asked)
    made = setup(p, kind)
    last = last_state(p, kind, nested)
    return finish(made, last, event_loop.outcome(last, made.finite), jnp.zeros_like(last.t))
