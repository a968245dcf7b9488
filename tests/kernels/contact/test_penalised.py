"""Penalised friction, one evaluation after the other, with numbers by hand: k_t 1000 N/m, c_t 2 N s/m, 10 N at rest, 6 N in slip."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.friction_law import SupportStep
from tribosweep.kernels.contact.grip import AWAY, BRIEFLY, UNMOVED, Grip, new_grip
from tribosweep.kernels.contact.penalised import Penalised
from tribosweep.kernels.stepping.dense_output import Polynomial

LAW = Penalised(*(np.float64(each) for each in (10.0, 6.0, 1000.0, 2.0)))


def grip(state: float, spring: float = 0.0) -> Grip:
    return Grip(jnp.asarray(state), jnp.asarray(spring))


@pytest.mark.parametrize(
    ("memory", "moved", "v", "needed", "force", "state", "spring"),
    [
        ((UNMOVED, 0.0), 5e-3, 0.1, 0.0, -5.2, UNMOVED, -5.0),  # 5 N of the spring and 0.2 N of the damper: it holds
        ((UNMOVED, 0.0), 2e-2, 0.1, 0.0, -6.0, 1.0, -6.0),  # 20.2 N are too much: it slips
        ((UNMOVED, 0.0), -2e-2, -0.1, 0.0, 6.0, -1.0, 6.0),
        ((1.0, -6.0), 1e-3, 0.1, 0.0, -6.0, 1.0, -6.0),  # slip goes on, whatever the trial
        ((1.0, -6.0), 1e-5, 1e-7, 0.0, -6.0 - 0.01 - 2e-7, 0.0, -6.01),  # too slow to slip: it rests, as no force moves it
        ((1.0, -6.0), 1e-5, 1e-7, 11.0, -6.0 - 0.01 - 2e-7, BRIEFLY, -6.01),  # the mass cannot rest: the spring unloads
        ((1.0, -6.0), -1e-5, -0.1, 20.0, -5.79, BRIEFLY, -5.99),  # turned back: the spring holds first
        ((1.0, -6.0), -2e-2, -0.1, 20.0, 6.0, -1.0, 6.0),  # in one step so far that it slips back
        ((UNMOVED, 9.0), -3e-3, 0.0, 0.0, 6.0, -1.0, 6.0),  # at v = 0 it slips against the force of the trial
    ],
)
def test_one_evaluation(
    memory: tuple[float, float], moved: float, v: float, needed: float, force: float, state: float, spring: float
) -> None:
    found, after = LAW.evaluate(grip(*memory), jnp.asarray(moved), jnp.asarray(v), jnp.asarray(needed))
    assert float(found) == pytest.approx(force, rel=1e-14)
    assert float(after.slip_state) == state
    assert float(after.spring) == pytest.approx(spring, rel=1e-14)
    assert float(LAW.force(after, jnp.asarray(v))) == pytest.approx(force, rel=1e-14)


def test_a_contact_whose_limit_has_fallen_slips_against_its_force() -> None:
    _, after = LAW.evaluate(grip(UNMOVED, 12.0), *(jnp.asarray(each) for each in (0.0, 1e-3, 0.0)), lets_go=jnp.asarray(True))
    assert float(after.slip_state) == -1.0


def test_the_start() -> None:
    np.testing.assert_array_equal(new_grip(jnp.array([0.0, 2.0, -2.0]), jnp.asarray(6.0)), [[UNMOVED, 1.0, -1.0], [0.0, -6.0, 6.0]])


def test_what_a_state_says() -> None:
    states = jnp.array([1.0, -1.0, BRIEFLY, 0.0, UNMOVED, AWAY, -AWAY])
    found = Grip(states, jnp.zeros(7))
    np.testing.assert_array_equal(found.slips, [True, True, False, False, False, False, False])
    np.testing.assert_array_equal(found.rests, [False, False, False, True, False, False, False])
    np.testing.assert_array_equal(found.is_away, [False] * 5 + [True] * 2)


@pytest.mark.parametrize(
    ("before", "after", "begins", "stops"),
    [
        (UNMOVED, 1.0, True, False),
        (0.0, -1.0, True, False),
        (1.0, 1.0, False, False),  # it goes on
        (BRIEFLY, 1.0, False, False),  # the spring has unloaded and loaded again: the same slip
        (BRIEFLY, -1.0, True, False),
        (1.0, -1.0, True, False),
        (1.0, 0.0, False, True),
        (0.0, 0.0, False, False),
    ],
)
def test_slips_begin_after_a_rest_or_the_other_way(before: float, after: float, begins: bool, stops: bool) -> None:
    now, was = grip(after), grip(before)
    assert bool(now.begins(was)) == begins
    assert bool(now.stops(was)) == stops


def test_where_slip_begins_within_a_step() -> None:
    """At 1 m/s the spring of 1000 N/m grows by 20 N in 20 ms; beside the 2 N of the damper it has 8 N at 8 ms."""
    step = SupportStep(*(jnp.asarray(each) for each in (0.02, 1.0, 1.0, 0.02)), None, grip(UNMOVED), grip(1.0, -6.0))
    course, speed = Polynomial((jnp.asarray(0.0), jnp.asarray(0.02))), Polynomial((jnp.asarray(1.0), jnp.asarray(0.0)))
    assert float(LAW.lets_go_at(step, course, speed, jnp.asarray(0.0))) == pytest.approx(0.4)
