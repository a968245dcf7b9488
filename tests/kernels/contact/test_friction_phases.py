"""Friction as phases between events: forces, guards and transitions by hand. 2 kg, 10 N at rest, 6 N in slip."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

from tribosweep.kernels.contact.friction_phases import FRICTION_EVENTS, FrictionPhases, FrictionState, PenalisedPhases, RigidPhases
from tribosweep.kernels.contact.law import Guard, Instant
from tribosweep.kernels.contact.varied_phases import VARIED_EVENTS, VariedPhases, phases_of
from tribosweep.kernels.models.contacts import PENALISED, RIGID

NUMBERS = {"m": 2.0, "mu_s": 0.5, "mu_d": 0.3, "normal_force": 20.0, "k_t": 1000.0, "c_t": 4.0}
SWINGS = {"normal_amplitude": 40.0, "normal_omega": 2.0, "normal_phase": 0.0, "friction_sides": 1.0}


def friction(kind: str, **others: float) -> FrictionPhases:
    return phases_of({name: jnp.asarray(value) for name, value in (NUMBERS | others).items()}, kind)


def instant(v: float, needed: float = 0.0, moved: float = 0.0, a: float = 0.0, swing: tuple[float, float] | None = None) -> Instant:
    zero = jnp.asarray(0.0)
    swings = None if swing is None else (jnp.asarray(swing[0]), jnp.asarray(swing[1]))
    return Instant(zero, *(jnp.asarray(each) for each in (moved, v, a)), zero, zero, jnp.asarray(needed), zero, elapsed=zero, swing=swings)


def value(guard: Guard, moved: float = 0.0, dv: float = 0.0, da: float = 0.0) -> float:
    return float(guard.value + guard.on_d * moved + guard.on_v * dv + guard.on_a * da)


def happens(law: FrictionPhases, state: FrictionState, place: int, at: Instant, v0: float = 0.0) -> tuple[FrictionState, float, float, str]:
    """The state, the velocity and the acceleration after the guard of this number, and the name of the event."""
    crossed: tuple[Any, ...] = tuple(jnp.asarray(each == place) for each in range(law.guard_count))
    after, v, a = law.transition(state, crossed, jnp.asarray(v0), at)
    return after, float(v), float(a), law.kinds[int(law.kind(state, crossed, after))]


def guards(law: FrictionPhases, state: FrictionState, v: float, a: float) -> tuple[Guard, ...]:
    return law.phase(state, jnp.asarray(0.0), jnp.asarray(v), jnp.asarray(a)).guards


@pytest.mark.parametrize(
    ("v", "needed", "direction", "force"),
    [(0.0, 4.0, 0.0, -4.0), (0.0, 12.0, 1.0, -6.0), (0.0, -12.0, -1.0, 6.0), (0.5, 0.0, 1.0, -6.0), (-0.5, 20.0, -1.0, 6.0)],
)
def test_rigid_friction_at_the_start(v: float, needed: float, direction: float, force: float) -> None:
    law = friction(RIGID)
    assert isinstance(law, RigidPhases)
    state, found = law.start(instant(v, needed))
    assert (float(state.direction), float(found)) == (direction, pytest.approx(force))
    assert bool(state.holds) == (direction == 0.0)


def test_rigid_friction_holds_until_the_force_leaves_its_limits() -> None:
    law = friction(RIGID)
    state, _ = law.start(instant(0.0, 4.0))
    phase = law.phase(state, *(jnp.asarray(0.0),) * 3)
    assert phase.moves is not None
    assert float(phase.moves) == 0.0
    upper, lower = phase.guards
    # the friction of -4 N is 14 N below its upper limit and 6 N above its lower one: 3 m/s^2 of the 2 kg more end the rest
    assert [value(upper), value(lower), value(lower, da=3.0), value(upper, da=-7.0)] == pytest.approx([14.0, 6.0, 0.0, 0.0], abs=1e-8)
    slips, v, a, kind = happens(law, state, 1, instant(0.0, 10.0))
    assert (float(slips.direction), v, kind) == (1.0, 0.0, "release")
    assert [a, float(slips.force)] == pytest.approx([(10.0 - 6.0) / 2.0, -6.0], rel=1e-9)
    assert float(slips.begins) == 1.0


def test_slip_passes_its_largest_speed_and_stops() -> None:
    law = friction(RIGID)
    state, _ = law.start(instant(0.0, 12.0))
    peak, never = guards(law, state, 0.5, 3.0)
    assert [value(peak), value(peak, da=-3.0), value(never, 1.0, -1.0, -9.0)] == [3.0, 0.0, 1.0]
    falls, _, a, kind = happens(law, state, 0, instant(0.7, 6.0, a=1e-17))
    assert (float(falls.rising), a, kind) == (0.0, 0.0, "largest speed")
    stop, valley = guards(law, falls, 0.7, -2.0)
    assert [value(stop), value(stop, dv=-0.7), value(valley), value(valley, da=2.0)] == pytest.approx([0.7, 0.0, 2.0, 0.0])
    again, _, a, kind = happens(law, falls, 1, instant(0.3, 6.0, a=1e-17))
    assert (float(again.rising), a, kind) == (1.0, 0.0, "least speed")


@pytest.mark.parametrize(
    ("needed", "direction", "force", "a", "kind"),
    [(5.0, 0.0, -5.0, 0.0, "stop"), (-12.0, -1.0, 6.0, -3.0, "reversal"), (-10.0, 0.0, 10.0, 0.0, "stop")],
)
def test_where_rigid_slip_stops_it_sticks_within_the_limit_or_turns_back(
    needed: float, direction: float, force: float, a: float, kind: str
) -> None:
    law = friction(RIGID)
    state = law.start(instant(0.5, 12.0))[0]._replace(rising=jnp.asarray(0.0))
    after, v, found, name = happens(law, state, 0, instant(1e-17, needed, a=(needed - 6.0) / 2.0))
    assert (float(after.direction), v, name) == (direction, 0.0, kind)
    assert [float(after.force), found] == pytest.approx([force, a])
    assert float(after.last) == (direction or 1.0)


def test_a_penalised_contact_is_a_spring_and_a_damper_until_it_slips() -> None:
    law = friction(PENALISED)
    assert isinstance(law, PenalisedPhases)
    state, force = law.start(instant(0.0, 4.0))
    assert (float(state.direction), float(force)) == (0.0, 0.0)  # an unloaded spring
    phase = law.phase(state, *(jnp.asarray(0.0),) * 3)
    assert [float(phase.stiffness), float(phase.damping), phase.moves] == [1000.0, 4.0, None]
    upper, lower = phase.guards
    assert [value(upper), value(lower, 9e-3, 0.25)] == pytest.approx([10.0, 0.0], abs=1e-8)  # 9 N of the spring, 1 N of the damper
    assert value(upper, 9e-3, 0.25) == pytest.approx(20.0)
    slips, v, a, kind = happens(law, state, 1, instant(0.25, 4.0, moved=9e-3))
    assert (float(slips.direction), v, kind) == (1.0, 0.25, "release")
    assert [a, float(slips.force)] == pytest.approx([(4.0 - 6.0) / 2.0, -6.0])


def test_a_penalised_slip_stops_with_its_own_force() -> None:
    law = friction(PENALISED)
    state = law.start(instant(0.5))[0]._replace(rising=jnp.asarray(0.0))
    after, v, a, kind = happens(law, state, 0, instant(1e-17, 4.0))
    assert (float(after.direction), v, kind) == (0.0, 0.0, "stop")
    assert [float(after.force), a, float(after.resting)] == pytest.approx([-6.0, -1.0, 1.0])
    brief, *_ = happens(law, state, 0, instant(1e-17, 12.0))
    assert float(brief.resting) == 0.0  # the mass cannot rest there: the spring unloads


def test_without_friction_a_mass_slips_for_ever() -> None:
    law = friction(RIGID, mu_s=0.0, mu_d=0.0)
    state, force = law.start(instant(0.0, 4.0, a=2.0))
    assert (float(state.direction), float(force)) == (1.0, 0.0)


def test_a_surface_that_moves_carries_the_mass() -> None:
    law = friction(RIGID, belt_speed=0.5)
    assert isinstance(law, VariedPhases)
    state, force = law.start(instant(0.5, 4.0))
    assert (float(state.direction), float(force)) == (0.0, -4.0)
    carries = law.phase(state, *(jnp.asarray(each) for each in (0.0, 0.5, 0.0))).carries
    assert carries is not None
    assert float(carries) == 0.5
    state, force = law.start(instant(0.2, 4.0))  # slower than the surface, which draws it on
    assert (float(state.direction), float(force)) == (-1.0, pytest.approx(6.0))


def test_a_mass_leaves_its_support_where_the_normal_force_is_zero() -> None:
    """20 + 40 sin 2 t: at t = 0 20 N and 80 N/s. The limit and the friction of a slip follow it."""
    law = friction(RIGID, **SWINGS)
    assert law.kinds == VARIED_EVENTS
    state, force = law.start(instant(0.5, 0.0, swing=(0.0, 80.0)))
    assert (float(state.direction), float(force)) == (1.0, pytest.approx(-6.0))
    following = law.following(state)
    assert following is not None
    assert float(following) == pytest.approx(-0.3)
    normal = guards(law, state, 0.5, -3.0)[0]
    assert normal.on_n is not None
    assert float(normal.value + normal.on_n * -20.0) == 0.0
    off, v, a, kind = happens(law, state, 0, instant(0.4, 0.0, swing=(-20.0, -69.0)))
    assert (float(off.direction), float(off.force), v, kind) == (0.0, 0.0, 0.4, "loss of contact")
    assert not bool(off.holds)
    on, v, a, kind = happens(law, off, 0, instant(0.4, 1.0, swing=(-20.0, 69.0)))
    assert (float(on.direction), v, kind) == (1.0, 0.4, "contact")
    assert a == pytest.approx(0.5)  # the friction grows from 0


def test_between_two_surfaces_it_presses_on_the_other() -> None:
    law = friction(RIGID, **SWINGS | {"friction_sides": 2.0})
    state, _ = law.start(instant(0.5, 0.0, swing=(0.0, 80.0)))
    after, _, _, kind = happens(law, state, 0, instant(0.4, 0.0, swing=(-20.0, -69.0)))
    assert (float(after.direction), kind) == (1.0, "other surface")
    assert after.pressed is not None
    assert float(after.pressed) == -1.0
    assert set(FRICTION_EVENTS) < set(VARIED_EVENTS)
