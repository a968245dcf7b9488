"""Friction that varies: Stribeck's weight, a normal force that comes and goes, and the energies of a step, by hand."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.friction_law import NormalForces, SupportStep
from tribosweep.kernels.contact.grip import AWAY, UNMOVED, Grip
from tribosweep.kernels.contact.normal_force import Pressing
from tribosweep.kernels.contact.varying_friction import Stribeck, Varied
from tribosweep.kernels.excitation.harmonic import Harmonic

NUMBERS = {"mu_s": 0.5, "mu_d": 0.3, "normal_force": 20.0, "k_t": 1000.0, "c_t": 2.0}
SWINGS = {"normal_amplitude": 40.0, "normal_omega": 2.0, "normal_phase": 0.0, "friction_sides": 1.0}


def law(**others: float) -> Varied:
    return Varied.of({name: jnp.asarray(value) for name, value in (NUMBERS | others).items()})


def grip(state: float, spring: float = 0.0) -> Grip:
    return Grip(jnp.asarray(state), jnp.asarray(spring))


def test_stribecks_weight() -> None:
    assert [float(Stribeck(jnp.asarray(0.1), None).weight(jnp.asarray(v))) for v in (0.0, -0.1)] == pytest.approx([1.0, math.exp(-1.0)])
    gaussian = Stribeck(jnp.asarray(0.1), jnp.asarray(2.0))
    assert [float(gaussian.weight(jnp.asarray(v))) for v in (0.0, 0.2)] == pytest.approx([1.0, math.exp(-4.0)])


def test_the_coefficient_falls_from_the_static_to_the_dynamic_one() -> None:
    found = law(stribeck_speed=0.1)
    assert [float(found.coefficient(jnp.asarray(v))) for v in (0.0, 0.1, 100.0)] == pytest.approx([0.5, 0.3 + 0.2 / math.e, 0.3])
    force, after = found.evaluate(grip(1.0, -6.0), *(jnp.asarray(each) for each in (1e-3, 0.1, 0.0)))
    assert float(force) == pytest.approx(-20.0 * (0.3 + 0.2 / math.e))
    assert float(after.slip_state) == 1.0


@pytest.mark.parametrize(
    ("state", "spring", "normal", "sides", "force", "after"),
    [
        (UNMOVED, 0.0, -5.0, 1.0, 0.0, -AWAY),  # off its support, which it has never slipped on
        (1.0, -6.0, -5.0, 1.0, 0.0, AWAY),
        (UNMOVED, 0.0, -5.0, 2.0, -1.0, UNMOVED),  # between two surfaces it presses on the other: |-5| holds 2.5 N
        (1.0, -6.0, -5.0, 2.0, -1.5, 1.0),
        (AWAY, 0.0, 8.0, 1.0, -1.0, 0.0),  # pressed again: an unloaded spring holds it, at rest after a slip
        (UNMOVED, -7.0, 8.0, 1.0, -2.4, 1.0),  # the limit has fallen to 4 N: it slips against the force that it had
    ],
)
def test_under_a_normal_force_that_varies(state: float, spring: float, normal: float, sides: float, force: float, after: float) -> None:
    moves = 0.5e-3 if state != 1.0 else 1e-3
    speed = 0.25 if state != 1.0 else 0.1
    found, now = law(**SWINGS | {"friction_sides": sides}).evaluate(
        grip(state, spring), *(jnp.asarray(each) for each in (moves, speed, 0.0, normal))
    )
    assert float(found) == pytest.approx(force)
    assert float(now.slip_state) == after


def test_the_energies_of_a_step() -> None:
    """2 m/s for 0.5 s under a normal force that grows from 1 to 3 N: 2 N in the mean, so 2 J of wear."""
    still = grip(1.0)
    step = SupportStep(*(jnp.asarray(each) for each in (0.5, 2.0, 2.0, 1.0)), NormalForces(*jnp.array([1.0, 2.0, 3.0])), still, still)
    found = law(**SWINGS).rubs(step)
    assert found.wear is not None
    assert float(found.wear) == pytest.approx(2.0)
    half = law(**SWINGS).rubs_between(step, jnp.asarray(0.0), jnp.asarray(0.5))
    assert half.wear is not None
    assert [float(half.slid), float(half.wear)] == pytest.approx([0.5, 0.75])  # 1.5 N over 0.5 m
    dissipated = law(stribeck_speed=2.0).rubs(step._replace(normal_forces=None)).friction
    assert dissipated is not None
    assert float(dissipated) == pytest.approx(20.0 * (0.3 + 0.2 / math.e))


def test_the_largest_force_of_a_contact_that_holds_is_a_parabola() -> None:
    still = grip(UNMOVED)
    step = SupportStep(*(jnp.asarray(each) for each in (0.5, 2.0, 2.0, 1.0)), NormalForces(*jnp.array([1.0, 2.5, 3.0])), still, still)
    constant, linear, square = (float(each) for each in law(**SWINGS).largest_hold(step))
    assert [constant + linear * u + square * u * u for u in (0.0, 0.5, 1.0)] == pytest.approx([0.5, 1.25, 1.5], rel=1e-9)


@pytest.mark.parametrize(
    ("time", "until"), [(0.0, 7.0 / 12.0 * math.pi), (7.0 / 12.0 * math.pi, math.pi / 3.0), (3.0, 19.0 / 12.0 * math.pi - 3.0)]
)
def test_when_a_normal_force_is_zero(time: float, until: float) -> None:
    """20 + 40 sin 2 t is 0 where 2 t = 7 pi / 6 and 11 pi / 6."""
    found = Pressing.of({name: jnp.asarray(value) for name, value in (NUMBERS | SWINGS).items()})
    assert bool(found.crosses)
    assert float(found.until_zero(jnp.asarray(time))) == pytest.approx(until, abs=1e-8)


def test_a_normal_force_that_only_touches_zero_does_not_cross_it() -> None:
    swing = Harmonic(*jnp.array([20.0, 2.0, 0.0, 20.0]))
    found = Pressing(swing, jnp.asarray(1.0))
    assert not bool(found.crosses)
    assert float(found.until_zero(jnp.asarray(0.0))) == np.inf
    np.testing.assert_array_equal(found.contact(jnp.array([-3.0, 3.0])), [0.0, 3.0])
    np.testing.assert_array_equal(Pressing(swing, jnp.asarray(2.0)).contact(jnp.array([-3.0, 3.0])), [3.0, 3.0])
    np.testing.assert_array_equal(found.off(jnp.array([0.0, 3.0])), [True, False])
