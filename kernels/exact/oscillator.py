"""The oscillators of the models as the event loop runs them: their contacts as one law, and what is observed of a stretch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.contact.combined import Both, Together
from kernels.contact.coulomb import Contact, Coulomb, FrictionPhases, Penalised
from kernels.contact.law import Law, Point
from kernels.contact.wall import BEHIND, ELASTIC, LIFTED, MAY_BE_ABSENT, OFF, Pressed, Wall
from kernels.exact import event_loop, quadrature
from kernels.exact.event_loop import State, Stretch
from kernels.exact.forward_sensitivity import follow
from kernels.excitation.multi_tone import Driven, Excitation, excitation_of
from kernels.models.schemes import FEATURES, NOTHING_ELSE, Asked
from kernels.models.status import Status
from kernels.numerics.elementary import sincos
from kernels.numerics.numbers import Array, all_finite
from kernels.observables import block_means, impact_pattern, impacts, rubbing
from kernels.observables import statistics as observed
from kernels.observables.interval import Interval
from kernels.observables.push import Push, Within
from kernels.segments.two_bodies import Centre, relative

RIGID, PENALISED = "rigid", "penalised"  # friction
STOP, BUCKLING = "stop", "buckling_wall"  # walls


class Kind(NamedTuple):
    """Which contacts an oscillator has (compile-time).

    Attributes:
        friction: RIGID, PENALISED, or None where nothing is pressed on a support. wall: STOP, BUCKLING or None.
        bends: whether the damping of the wall may vary while it yields, on top of its force.
        asked: what is observed besides.
    """

    friction: str | None
    wall: str | None = None
    bends: bool = False
    asked: Asked = NOTHING_ELSE


class Sums(NamedTuple):
    """Sums of a run: of the contacts that it has, of the stop's steady window, and of what is asked for besides, else None."""

    rubbing: rubbing.Rubbing | None
    shock: impacts.Shock | None
    impacting: impact_pattern.Impacting | None = None
    blocks: Array | None = None
    statistics: observed.Statistics | None = None


class Setup(NamedTuple):
    """What `events.machine` needs to know of an oscillator.

    Attributes:
        p: resolved parameters, those of the relative motion where there are two bodies, whose centre of mass is `centre`.
        law, excitation, observe, sums, finite, instants: see `events.machine`. friction, wall: the parts of the law.
    """

    p: dict[str, Any]
    law: Law[Any]
    excitation: Excitation
    observe: Callable[[Sums, Any, Any, Stretch], Sums]
    sums: Sums
    finite: Array
    friction: FrictionPhases | None
    wall: Wall | None
    centre: Centre | None
    instants: Array | None = None


def friction_of(p: dict[str, Any], friction: str) -> FrictionPhases:
    """The friction of resolved parameters, RIGID or PENALISED."""
    if friction == RIGID:
        return FrictionPhases(p["m"], Coulomb.of(p))
    contact = Penalised.of(p)
    # without friction the contact does nothing, whatever its stiffness
    holds = contact.static_limit > 0.0
    return FrictionPhases(p["m"], contact._replace(k_t=jnp.where(holds, contact.k_t, 1.0), c_t=jnp.where(holds, contact.c_t, 0.0)))


def setup(p: dict[str, Any], kind: Kind) -> Setup:
    """The oscillator of resolved parameters (see `simulate`)."""
    read = [value for name, value in p.items() if name not in {*MAY_BE_ABSENT, *FEATURES["tones"], "bank"}]
    centre = None
    if kind.wall is not None:
        p, centre = relative(p)
    excitation = excitation_of(p)
    zero = jnp.zeros_like(p["m"])
    friction = None if kind.friction is None else friction_of(p, kind.friction)
    wall = None if kind.wall is None else Wall.of(p, kind.wall == BUCKLING, kind.bends)
    if friction is not None and isinstance(friction.law, Penalised):
        read += [friction.law.k_t, friction.law.c_t]
    law: Any = Together(friction, wall) if friction is not None and wall is not None else friction if wall is None else wall
    rubs = None if friction is None else rubbing.init(zero)
    hits = None
    if wall is not None:
        pressed, _ = wall.start(_released(p, excitation))
        hits = impacts.init(zero, pressed.phase != OFF, p["v0"] + zero, pressed.buckled > 0.0, p["window_start"])

    instants = block_means.bounds(p, kind.asked.blocks) if kind.asked.blocks else None
    worn = block_means.init(zero, kind.asked.blocks) if kind.asked.blocks else None
    seen = observed.init(zero, 2 if wall is None else 3) if kind.asked.statistics else None

    def observe(sums: Sums, before: Any, after: Any, now: Stretch) -> Sums:
        return Sums(
            None if sums.rubbing is None else rub(sums.rubbing, _friction(before), now),
            None if sums.shock is None or wall is None else hit(sums.shock, wall, _wall(before), _wall(after), now),
            None if sums.impacting is None else strike(sums.impacting, _wall(before), _wall(after), now, 2.0 * math.pi / p["omega"]),
            None
            if sums.blocks is None or instants is None
            else block_means.update(sums.blocks, instants, now.time, _wear(p, friction, before, now)),
            None if sums.statistics is None else quadrature.look(sums.statistics, _curves(p, friction, wall, before, now), now),
        )

    sums = Sums(rubs, hits, None, worn, seen)
    return Setup(p, law, excitation, observe, sums, all_finite(read), friction, wall, centre, instants)


def build(made: Setup) -> event_loop.Machine[Any, Sums]:
    """Its event loop."""
    return event_loop.machine(made.law, made.excitation, made.p, made.observe, made.sums, made.finite, instants=made.instants)


def _released(p: dict[str, Any], excitation: Excitation) -> Point:
    """What a wall needs to know of the motion at t = 0."""
    zero = jnp.zeros_like(p["m"])
    x, v = p["x0"] + zero, p["v0"] + zero
    force = excitation.force(sincos(excitation.phase + zero)[0])
    needed = (excitation.with_record(force, zero) if isinstance(excitation, Driven) else force) - p["k"] * x
    return Point(x, zero, v, (needed - p["c"] * v) / p["m"], zero, zero, needed, p["c"])


def _friction(memory: Any) -> Contact:
    contact: Contact = memory.friction if isinstance(memory, Both) else memory
    return contact


def _wall(memory: Any) -> Pressed:
    pressed: Pressed = memory.wall if isinstance(memory, Both) else memory
    return pressed


def rub(sums: rubbing.Rubbing, contact: Contact, now: Stretch) -> rubbing.Rubbing:
    """The sums of friction after a stretch, given the contact's memory during it."""
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


def hit(sums: impacts.Shock, wall: Wall, before: Pressed, after: Pressed, now: Stretch) -> impacts.Shock:
    """The sums of a wall after a stretch, given its memory during it and after it."""
    y0, y = wall.compression(before, now.x - now.moved), wall.compression(before, now.x)
    force, last = wall.force(before, y0), wall.force(before, y)
    zero = jnp.zeros_like(y)
    pushes = before.phase >= ELASTIC
    start, end = (jnp.maximum(each.at(at, before.side * v), 0.0) for each, at, v in ((force, y0, now.v0), (last, y, now.before)))
    inside = (before.phase != OFF) & (now.duration > 0.0)
    area = y0 * now.duration + before.side * now.area
    viscous = 0.5 * (force.damping + last.damping) * before.side * now.moved  # the damping is linear in the displacement
    return impacts.update(
        sums,
        Push(
            time=now.time,
            velocity=now.before,
            entered=(before.phase == OFF) & (after.phase != OFF),
            left=(before.phase != OFF) & (after.phase == OFF),
            parted=pushes & ((after.phase == OFF) | (after.phase == BEHIND) | (after.phase == LIFTED)),
            buckled=after.buckled > before.buckled,
            force=jnp.where(pushes & (now.duration > 0.0), jnp.maximum(start, end), zero),
            pressed=jnp.where(pushes, now.duration, zero),
            impulse=jnp.where(pushes, force.constant * now.duration + force.stiffness * area + viscous, zero),
            compression=jnp.where(inside, jnp.maximum(y0, y), zero),
            within=Within(jnp.where(pushes & now.inside, now.duration, zero), now.inside),
        ),
    )


def strike(seen: impact_pattern.Impacting, before: Pressed, after: Pressed, now: Stretch, period: Array) -> impact_pattern.Impacting:
    """What is seen of the impacts after a stretch, given the wall's memory during it and after it."""
    inside, entered = before.phase != OFF, (before.phase == OFF) & (after.phase != OFF)
    return impact_pattern.update(seen, now.duration, inside, entered, after.side * now.before, after.side, period)


def _wear(p: dict[str, Any], friction: FrictionPhases | None, before: Any, now: Stretch) -> Array:
    """Wear energy of a stretch in the window [J]."""
    if friction is None:
        return jnp.zeros_like(now.moved)
    slips = now.inside & (_friction(before).direction != 0.0)
    energy: Array = jnp.where(slips, p["normal_force"] * jnp.abs(now.moved), 0.0)
    return energy


def _curves(p: dict[str, Any], friction: FrictionPhases | None, wall: Wall | None, before: Any, now: Stretch) -> quadrature.Curves:
    """Displacement and forces along a stretch, given the law's memory during it."""
    zero = jnp.zeros_like(now.moved)
    moves, force, spring, damper, inertia = zero + 1.0, zero, zero, zero, zero
    if friction is not None:
        contact = _friction(before)
        holds, force = contact.direction == 0.0, contact.force
        if isinstance(friction.law, Penalised):
            spring, damper = jnp.where(holds, -friction.law.k_t, 0.0), jnp.where(holds, -friction.law.c_t, 0.0)
        else:  # friction holds the mass against the external force
            moves, inertia = jnp.where(holds, 0.0, 1.0), jnp.where(holds, -p["m"], 0.0)
    x = now.x - now.moved
    curves = [(x, moves, zero, zero, zero), (force, spring, damper, inertia, zero)]
    if wall is not None:
        pressed = _wall(before)
        y, side = wall.compression(pressed, x), pressed.side
        push = wall.force(pressed, y)
        bend = zero if now.bend is None else side * now.bend
        curves.append((push.at(y, side * now.v0), side * push.stiffness * moves, side * push.damping * moves, zero, bend))
    value, on_d, on_v, on_a, on_dv = (jnp.stack(each) for each in zip(*curves, strict=True))
    return quadrature.Curves(value, on_d, on_v, on_a, on_dv, moves)


def finish(setup: Setup, last: State[Any, Sums], status: Array, period: Array) -> tuple[dict[str, Array], Array]:
    """Observables by name (scalars) of a run that ended in a state, and its status."""
    p, zero = setup.p, jnp.zeros_like(last.t)
    found = rubbing.nothing(zero) if last.sums.rubbing is None else rubbing.finish(last.sums.rubbing, p)
    if last.sums.blocks is not None:
        found |= block_means.finish(last.sums.blocks, p)
    if last.sums.statistics is not None:
        found |= observed.finish(last.sums.statistics)
    x, v = last.x, last.anchor.v
    if setup.wall is not None and setup.centre is not None and last.sums.shock is not None:
        pressed = _wall(last.memory)
        found |= impacts.finish(last.sums.shock, p)
        if setup.wall.envelope is None:
            del found["buckling_time"]
        else:
            found["plastic_set"] = setup.wall.plastic_set(pressed, x)
            envelope, reached = setup.wall.envelope, setup.wall.reached(pressed, x)
            found["wall_regime"] = envelope.regime(reached, pressed.buckled, last.sums.shock.impacts)
            beyond = (status == int(Status.OK)) & envelope.beyond_table(reached)
            status = jnp.where(beyond, int(Status.BEYOND_TABLE), status)
        x, v, found["x_end_2"], found["v_end_2"] = setup.centre.bodies(p, setup.excitation, x, v)
    return {
        **found,
        "x_end": x,
        "v_end": v,
        "period": period,
        "time_reached": last.t,
        "accepted_steps": zero,
        "rejected_steps": zero,
    }, status


def simulate(p: dict[str, Any], kind: Kind, asked: Asked = NOTHING_ELSE) -> tuple[dict[str, Array], Array]:
    """Run one oscillator.

    Args:
        p: resolved parameters of its model (scalars, tables (n,) padded with NaN; SI units).
        kind: its contacts. Rigid friction does not read k_t and c_t; penalised friction needs them finite unless there is no friction.
        asked: what is told besides.

    Returns:
        Observables by name (scalars), and the status code. A row whose numbers are not finite returns at once.

    Differentiable in every parameter (forward mode) except exactly at a graze. Validated by
    tests/kernels/exact/test_penalised_friction.py and
    tests/kernels/exact/test_walls.py.
    """
    kind = kind._replace(asked=asked)
    made = setup(p, kind)
    last: State[Any, Sums] = follow(lambda p: build(setup(p, kind)), event_loop.MOST_EVENTS, p, one_by_one=kind.wall is not None)
    return finish(made, last, event_loop.outcome(last, made.finite), jnp.zeros_like(last.t))
