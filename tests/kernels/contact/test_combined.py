"""Several contacts of one mass: each sees the forces of the others as external ones. By hand."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

from tribosweep.kernels.contact.combined import Combined
from tribosweep.kernels.contact.coulomb import Coulomb
from tribosweep.kernels.contact.friction_phases import FRICTION_EVENTS, RigidPhases
from tribosweep.kernels.contact.law import Guard, Instant, alike, choose, idle
from tribosweep.kernels.contact.wall import ELASTIC, OFF, WALL_EVENTS, Wall
from tribosweep.kernels.contact.wall_outcome import of_either, prefixes
from tribosweep.kernels.models.contacts import BUCKLING, WallLaw

SCALES = {"omega": 1.0, "k": 0.0, "x0": 0.0, "v0": 0.0, "a0": 0.0, "f0": 0.0, "load": 0.0}  # of the penetrations that rounding may decide
STOP = SCALES | {"m": 2.0, "gap": 0.1, "k_n": 100.0, "c_n": 4.0, "sides": 1.0}


def wall(sides: int = 0) -> Wall:
    return Wall.of({name: jnp.asarray(value) for name, value in STOP.items()}, buckles=False, sides=sides)


def law() -> Combined:
    return Combined(RigidPhases(jnp.asarray(2.0), Coulomb(jnp.asarray(10.0), jnp.asarray(6.0))), (wall(),))


def instant(x: float, v: float, needed: float = 0.0, a: float = 0.0) -> Instant:
    zero = jnp.asarray(0.0)
    return Instant(*(jnp.asarray(each) for each in (x, 0.0, v, a)), zero, zero, jnp.asarray(needed), zero)


def masks(place: int, count: int) -> tuple[Any, ...]:
    return tuple(jnp.asarray(each == place) for each in range(count))


def test_friction_holds_a_mass_against_a_wall() -> None:
    """0.05 m inside the wall it pushes with 5 N: friction holds it. With 12 N it does not."""
    held, force = law().start(instant(0.15, 0.0))
    assert held.friction is not None
    assert [float(held.friction.direction), float(force)] == [0.0, pytest.approx(0.0)]
    phase = law().phase(held, *(jnp.asarray(each) for each in (0.15, 0.0, 0.0)))
    assert phase.moves is not None
    assert float(phase.moves) == 0.0
    assert all(float(guard.on_d) == 0.0 for guard in phase.guards)  # nothing happens at the wall
    pushed, force = law().start(instant(0.22, 0.0))
    assert pushed.friction is not None
    assert [float(pushed.friction.direction), float(force)] == [-1.0, pytest.approx(-12.0 + 6.0)]


def test_a_slip_hits_the_wall() -> None:
    """The wall adds its spring and its damper; the damper acts at once, and friction goes on."""
    both = law()
    free, _ = both.start(instant(0.05, 1.0))
    crossed = masks(2, 5)  # the first guard of the wall
    after, v, a = both.transition(free, crossed, jnp.asarray(1.0), instant(0.1, 1.0, a=-3.0))
    assert [float(v), float(a)] == pytest.approx([1.0, -3.0 - 4.0 * 1.0 / 2.0])
    assert after.friction is not None
    assert (float(after.friction.direction), float(after.walls[0].phase)) == (1.0, ELASTIC)
    assert both.kinds[int(both.kind(free, crossed, after))] == "impact"
    phase = both.phase(after, *(jnp.asarray(each) for each in (0.1, 1.0, -5.0)))
    assert [float(phase.stiffness), float(phase.damping)] == [100.0, 4.0]


def test_two_walls_have_events_of_their_own() -> None:
    both = Combined(None, (wall(1), wall(-1)), ("", "left "))
    assert both.kinds == ("", *WALL_EVENTS[1:], *(f"left {each}" for each in WALL_EVENTS[1:]))
    assert law().kinds == ("", *FRICTION_EVENTS[1:], *WALL_EVENTS[1:])
    state, force = both.start(instant(-0.15, 0.0))
    assert ([float(each.phase) for each in state.walls], float(force)) == ([OFF, ELASTIC], pytest.approx(5.0))


def test_guards_are_chosen_number_by_number() -> None:
    one = Guard(*(jnp.asarray(each) for each in (1.0, 2.0, 3.0, 4.0)), on_n=jnp.asarray(5.0))
    other = idle(jnp.asarray(0.0))
    assert [float(each) for each in alike(one, other)[1][:5]] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert float(choose(jnp.asarray(True), one, other).value) == 1.0
    chosen = choose(jnp.asarray(False), one, other).on_n
    assert chosen is not None
    assert float(chosen) == 0.0


def test_the_names_and_the_sum_of_several_walls() -> None:
    assert prefixes([WallLaw(BUCKLING)]) == ("",)
    assert prefixes([WallLaw(BUCKLING), WallLaw(BUCKLING, "left_", -1)]) == ("right_", "left_")
    assert float(of_either([jnp.asarray(0.0), jnp.asarray(1.0)])["buckled"]) == 1.0
