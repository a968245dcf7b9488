"""Walls: forces step by step, phases, guards and transitions, with numbers by hand.

A stop of 100 N/m and 2 N s/m behind 0.1 m, a mass of 0.5 kg; a wall that buckles with the numbers of SDND105 A (V5.01.105).
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.envelope import BEYOND
from tribosweep.kernels.contact.law import Guard, Instant
from tribosweep.kernels.contact.wall import BEHIND, ELASTIC, LIFTED, OFF, WALL_EVENTS, YIELDING, Kept, Pressed, Wall, new_crush

SCALES = {"omega": 1.0, "k": 0.0, "x0": 0.0, "v0": 0.0, "a0": 0.0, "f0": 0.0, "load": 0.0}  # of the penetrations that rounding may decide
STOP = SCALES | {"m": 0.5, "gap": 0.1, "k_n": 100.0, "c_n": 2.0, "sides": 1.0}
BUCKLING = SCALES | {
    "m": 1.0, "gap": 0.0, "k_n": 1.0, "c_n": 0.0, "f_crit": 1.0, "f_post": 0.5, "plateau": 0.0, "softening": 0.0, "k_post": 0.5,
    "c_buckled": 0.0, "damping_criterion": 0.0, "sides": 1.0,
}  # fmt: skip


def numbers(values: dict[str, float]) -> dict[str, Any]:
    return {name: jnp.asarray(value) for name, value in values.items()}


def stop(sides: float = 1.0) -> Wall:
    return Wall.of(numbers(STOP | {"sides": sides}), buckles=False)


def buckling(**others: float) -> Wall:
    tables = {name: jnp.zeros(0) for name in ("post_set", "post_stiffness", "post_damping")}
    return Wall.of(numbers(BUCKLING | others) | tables, buckles=True)


def instant(x: float, v: float, a: float = 0.0, needed: float = 0.0, drag: float = 0.0) -> Instant:
    zero = jnp.asarray(0.0)
    return Instant(*(jnp.asarray(each) for each in (x, 0.0, v, a)), zero, zero, jnp.asarray(needed), jnp.asarray(drag))


def memory(**values: float) -> Pressed:
    given = {"phase": OFF, "side": 1.0, **values}
    return Pressed(*(jnp.asarray(given.get(name, 0.0)) for name in Pressed._fields))


def crossed(place: int, count: int) -> tuple[Any, ...]:
    return tuple(jnp.asarray(each == place) for each in range(count))


def value(guard: Guard, moved: float = 0.0, dv: float = 0.0, da: float = 0.0) -> float:
    return float(guard.value + guard.on_d * moved + guard.on_v * dv + guard.on_a * da)


def happens(wall: Wall, before: Pressed, place: int, at: Instant) -> tuple[Pressed, float, float, str]:
    """The state, the velocity and the acceleration after the guard of this number, and the name of the event."""
    masks = crossed(place, wall.guard_count)
    after, v, a = wall.transition(before, masks, at.v, at)
    return after, float(v), float(a), WALL_EVENTS[int(wall.kind(before, masks, after))]


# ---- step by step


@pytest.mark.parametrize(
    ("sides", "x", "v", "force"),
    [
        (1.0, 0.05, 3.0, 0.0),
        (1.0, 0.15, 0.5, -(5.0 + 1.0)),
        (1.0, 0.15, -5.0, 0.0),  # the damper would pull
        (1.0, 0.1, 0.5, -1.0),  # at the face the damper acts on a mass that moves in
        (1.0, -0.15, -0.5, 0.0),
        (2.0, -0.15, -0.5, 5.0 + 1.0),
    ],
)
def test_a_stop_step_by_step(sides: float, x: float, v: float, force: float) -> None:
    found, after = stop(sides).evaluate(new_crush(jnp.asarray(0.0)), jnp.asarray(x), jnp.asarray(v))
    assert float(found) == pytest.approx(force, rel=1e-14)
    assert float(after.force) == pytest.approx(abs(force), rel=1e-14)


def test_a_wall_buckles_step_by_step() -> None:
    """At 1.5 m, in one step: beyond 1 m the criterion is 0.5 N, the stiffness 0.5 N/m, and the set 0.5 m. At 1.2 m 0.35 N are left."""
    wall = buckling()
    force, first = wall.evaluate(new_crush(jnp.asarray(0.0)), jnp.asarray(1.5), jnp.asarray(1.0))
    assert [float(force), float(first.largest), float(first.plastic), float(first.buckled)] == pytest.approx([-0.5, 1.5, 0.5, 1.0])
    force, second = wall.evaluate(first, jnp.asarray(1.2), jnp.asarray(-1.0))
    assert [float(force), float(second.largest), float(second.plastic)] == pytest.approx([-0.35, 1.5, 0.5])
    assert float(wall.evaluate(second, jnp.asarray(0.4), jnp.asarray(-1.0))[0]) == 0.0  # behind its set


@pytest.mark.parametrize(("criterion", "force"), [(0.0, -0.5), (1.0, -(0.5 + 0.3))])
def test_a_criterion_includes_the_damping_or_has_it_on_top(criterion: float, force: float) -> None:
    wall = buckling(damping_criterion=criterion, c_n=0.3, c_buckled=0.3)
    assert float(wall.evaluate(new_crush(jnp.asarray(0.0)), jnp.asarray(1.5), jnp.asarray(1.0))[0]) == pytest.approx(force)


# ---- phases


def test_a_free_mass_comes_to_the_face() -> None:
    wall = stop(2.0)
    phase = wall.phase(memory(), *(jnp.asarray(each) for each in (0.02, 1.0, 0.0)))
    assert [float(phase.stiffness), float(phase.damping)] == [0.0, 0.0]
    right, left, _ = phase.guards
    assert [value(right), value(right, 0.08), value(left), value(left, -0.12)] == pytest.approx([0.08, 0.0, 0.12, 0.0], abs=1e-15)


def test_a_wall_that_is_pressed_is_a_spring_and_a_damper() -> None:
    wall, inside = stop(), memory(phase=ELASTIC, inward=1.0, rising=1.0)
    phase = wall.phase(inside, *(jnp.asarray(each) for each in (0.15, 0.5, -3.0)))
    assert [float(phase.stiffness), float(phase.damping)] == [100.0, 2.0]
    leaves, turns, extreme = phase.guards
    assert value(leaves) == pytest.approx(6.0)  # the force itself
    assert value(leaves, -0.02, -0.5) == pytest.approx(3.0)
    assert [value(turns), value(turns, 0.0, -0.5)] == [0.5, 0.0]
    assert value(extreme) == pytest.approx(100.0 * 0.5 - 2.0 * 3.0)  # its rate


def test_an_impact_a_turn_and_a_separation() -> None:
    wall = stop()
    inside, v, a, kind = happens(wall, memory(), 0, instant(0.1, 1.5, 0.2))
    assert (float(inside.phase), v, kind) == (ELASTIC, 1.5, "impact")
    assert a == pytest.approx(0.2 - 2.0 * 1.5 / 0.5)  # the damper pushes at once
    assert float(inside.inward) == 1.0
    turned, v, _, kind = happens(wall, inside, 1, instant(0.15, 1e-18, -12.0))
    assert (v, float(turned.inward), kind) == (0.0, 0.0, "turns back")
    assert float(turned.largest) == pytest.approx(0.05)
    away, v, a, kind = happens(wall, turned, 0, instant(0.11, -0.5, 1e-17, needed=0.3, drag=0.1))
    assert (float(away.phase), v, kind) == (LIFTED, -0.5, "separation")  # 1 N of the spring and -1 N of the damper
    assert a == pytest.approx((0.3 + 0.1 * 0.5) / 0.5)
    left, _, _, kind = happens(wall, away, 0, instant(0.1, -0.45))
    assert (float(left.phase), float(left.returns), kind) == (OFF, 1.0, "leaves the wall")
    home, _, _, kind = happens(wall, left, 2, instant(0.0, -0.4))
    assert (float(home.returns), kind) == (0.0, "back at x = 0")


def test_the_other_wall() -> None:
    inside, v, a, kind = happens(stop(2.0), memory(), 1, instant(-0.1, -1.5))
    assert (float(inside.side), float(inside.phase), v, kind) == (-1.0, ELASTIC, -1.5, "impact")
    assert a == pytest.approx(2.0 * 1.5 / 0.5)


def test_a_mass_that_starts_inside_is_pushed() -> None:
    state, force = stop().start(instant(0.15, 0.5))
    assert (float(state.phase), float(force)) == (ELASTIC, pytest.approx(-6.0))
    state, force = stop().start(instant(0.15, -5.0))
    assert (float(state.phase), float(force)) == (LIFTED, 0.0)


def test_a_mass_at_rest_at_the_face_touches_it_where_it_is_driven_inwards() -> None:
    wall = stop()
    state, _ = wall.start(instant(0.1, 0.0, 2.0))
    assert float(wall.touched(state, instant(0.1, 0.0, 2.0)).phase) == ELASTIC
    assert float(wall.touched(state, instant(0.1, 0.0, -2.0)).phase) == OFF


def test_buckling_and_unloading() -> None:
    """Elastic up to 1 N at 1 m; then 0.5 N to 4 m, where the mass turns: set 3 m, and 0.5 N/m back."""
    wall, elastic = buckling(), memory(phase=ELASTIC, inward=1.0, rising=1.0)
    reached = wall.phase(elastic, *(jnp.asarray(each) for each in (0.25, 2.0, 0.0))).guards[3]
    assert [value(reached), value(reached, 0.75)] == [0.75, 0.0]
    yields, v, a, kind = happens(wall, elastic, 3, instant(1.0, math.sqrt(3.0), -1.0))
    assert (float(yields.phase), float(yields.buckled), v, kind) == (YIELDING, 1.0, math.sqrt(3.0), "buckles")
    dropped, _, a, kind = happens(wall, yields, 1, instant(1.0, math.sqrt(3.0), -1.0))
    assert (float(dropped.piece), kind) == (BEYOND, "next piece")
    assert a == pytest.approx(-0.5)  # the softening has no width
    phase = wall.phase(dropped, *(jnp.asarray(each) for each in (2.0, 1.0, -0.5)))
    assert [float(phase.stiffness), float(phase.damping)] == [0.0, 0.0]
    assert float(wall.force(dropped, jnp.asarray(2.0)).at(jnp.asarray(2.0), jnp.asarray(1.0))) == 0.5
    set_, v, _, kind = happens(wall, dropped, 0, instant(4.0, 0.0, -0.5))
    assert (float(set_.phase), v, kind) == (ELASTIC, 0.0, "end of yielding")
    assert [float(set_.largest), float(set_.plastic)] == [4.0, 3.0]
    assert float(wall.phase(set_, *(jnp.asarray(each) for each in (4.0, 0.0, -0.5))).stiffness) == 0.5
    assert float(wall.energy(set_, jnp.asarray(4.0))) == pytest.approx(0.25)
    behind, _, _, kind = happens(wall, set_, 0, instant(3.0, -math.sqrt(0.5)))
    assert (float(behind.phase), kind) == (BEHIND, "separation")
    off, _, _, kind = happens(wall, behind, 0, instant(0.0, -math.sqrt(0.5)))
    assert (float(off.phase), kind) == (OFF, "leaves the wall")
    again, _, _, kind = happens(wall, off, 0, instant(0.0, 1.0))
    assert (float(again.phase), kind) == (BEHIND, "impact")
    touches, _, a, kind = happens(wall, again, 1, instant(3.0, 1.0))
    assert (float(touches.phase), a, kind) == (ELASTIC, 0.0, "touches again")


def test_what_a_wall_remembers_of_an_earlier_run() -> None:
    kept = Kept(*(jnp.asarray(each) for each in (4.0, 3.0, 1.0)))
    state, force = buckling().start(instant(2.0, 1.0), kept)
    assert (float(state.phase), float(force)) == (BEHIND, 0.0)
    state, force = buckling().start(instant(3.5, 1.0), kept)
    assert (float(state.phase), float(force)) == (ELASTIC, pytest.approx(-0.25))
    np.testing.assert_array_equal([float(each) for each in buckling().kept(state, jnp.asarray(3.5)) or ()], [4.0, 3.0, 1.0])
