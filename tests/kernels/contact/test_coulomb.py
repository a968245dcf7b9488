"""Rigid friction: its limits, and where a rest ends under a sine."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.coulomb import Coulomb, release
from tribosweep.kernels.excitation.harmonic import Harmonic

LAW = Coulomb(np.float64(2.0), np.float64(1.0))


def sine(amplitude: float, load: float = 0.0) -> Harmonic:
    return Harmonic(*(jnp.asarray(each) for each in (amplitude, 1.0, 0.0, load)))


def test_a_mass_at_rest_begins_to_slip_beyond_the_limit_alone() -> None:
    found = LAW.direction_at_rest(jnp.array([3.0, -3.0, 2.0, -1.9]))
    np.testing.assert_array_equal(found, [1.0, -1.0, 0.0, 0.0])


def test_the_limits_of_resolved_parameters() -> None:
    law = Coulomb.of({"mu_s": jnp.asarray(0.3), "mu_d": jnp.asarray(0.2), "normal_force": jnp.asarray(10.0)})
    assert float(law.static_limit) == pytest.approx(3.0, rel=1e-9)
    assert float(law.dynamic_force) == pytest.approx(2.0, rel=1e-15)


@pytest.mark.parametrize(
    ("amplitude", "pull", "angle", "turn", "direction"),
    [
        (4.0, 0.0, 0.0, math.asin(0.5), 1.0),  # 4 sin reaches 2
        (4.0, 0.0, math.pi, math.asin(0.5), -1.0),  # and -2 half a period later
        (4.0, 1.0, 0.0, math.asin(0.25), 1.0),  # 1 + 4 sin reaches 2
        (4.0, 1.0, math.pi, math.asin(0.75), -1.0),  # and -2
        (-4.0, 0.0, 0.0, math.asin(0.5), -1.0),
        (2.5, 1.0, math.pi, math.pi + math.asin(0.4), 1.0),  # 1 - 2.5 is within the limit: it waits for the next crest
        (4.0, 0.0, math.asin(0.5), 0.0, 1.0),  # just crossing
    ],
)
def test_a_rest_ends_where_the_force_needed_leaves_the_limit(
    amplitude: float, pull: float, angle: float, turn: float, direction: float
) -> None:
    excitation = sine(amplitude)
    found = release(LAW.thresholds(excitation, jnp.asarray(pull)), excitation, jnp.asarray(angle))
    assert bool(found.happens)
    assert float(found.turn) == pytest.approx(turn, abs=1e-14)
    assert float(found.direction) == direction


@pytest.mark.parametrize(("amplitude", "pull"), [(1.9, 0.0), (2.0, 0.0), (0.0, 1.0), (0.5, 1.5)])
def test_a_force_within_the_limit_or_that_only_touches_it_never_ends_a_rest(amplitude: float, pull: float) -> None:
    excitation = sine(amplitude)
    assert not bool(release(LAW.thresholds(excitation, jnp.asarray(pull)), excitation, jnp.asarray(0.3)).happens)
