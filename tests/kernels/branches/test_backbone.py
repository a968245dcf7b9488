"""Backbone curves: against the closed form of one stop, quadrature of the potential, and runs of free motions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.oracle import stop_orbit
from tribosweep import kernels
from tribosweep.kernels.branches.backbone import Potential
from tribosweep.kernels.models import STOP, TWO_WALLS

WALL = {"k": 10.0, "c": 0.0, "k_n": 50.0, "c_n": 0.0, "a0": 0.0, "m": 1.0, "gap": 0.01}  # of SDND122
NONE = (math.inf, 0.0)


def by_quadrature(of: Potential, energy: float) -> float:
    """The frequency of the free motion, 2 pi over the integral of 2/v between its turning points."""

    def potential(x: mpf) -> mpf:
        stops = ((x - gap, k) for (gap, k), x in ((of.right, x), (of.left, -x)) if gap < math.inf)
        return of.k * x**2 / 2 - of.load * x + sum(k * max(mpf(0), way) ** 2 / 2 for way, k in stops)

    with mp.workdps(30):
        found = of.backbone(np.array([energy]))
        rest = mpf(of.rest())
        left, right = (mp.findroot(lambda x: potential(x) - potential(rest) - energy, mpf(x[0])) for x in (found.x_min, found.x_max))
        middle, half = (left + right) / 2, (right - left) / 2

        def time(angle: mpf) -> mpf:  # of x = middle + half sin(angle): smooth up to the turning points
            x = middle + half * mp.sin(angle)
            return half * mp.cos(angle) / mp.sqrt(2 * (energy + potential(rest) - potential(x)) / of.m)

        joints = [mp.asin((mpf(x) - middle) / half) for x in of.joints() if left < x < right]
        return float(mp.pi / mp.quad(time, [-mp.pi / 2, *joints, mp.pi / 2], method="gauss-legendre"))


def test_a_mass_at_one_stop_has_the_period_of_its_two_stretches() -> None:
    energy = np.array([0.00650108331626, 0.01, 1.0, 1e3])
    found = Potential.of(STOP.resolve(WALL)).backbone(energy)
    with mp.workdps(stop_orbit.DIGITS):
        exact = [float(2 * mp.pi / stop_orbit.free_period(WALL, mpf(each))) for each in energy]
    np.testing.assert_allclose(found.omega, exact, rtol=1e-14)
    np.testing.assert_allclose(0.5 * 10.0 * found.x_min**2, energy, rtol=1e-14)
    np.testing.assert_allclose(0.5 * 10.0 * found.x_max**2 + 0.5 * 50.0 * found.max_compression**2, energy, rtol=1e-13)
    np.testing.assert_allclose(found.peak_force, 50.0 * (found.x_max - 0.01), rtol=1e-13)
    below = Potential.of(STOP.resolve(WALL)).backbone(np.array([1e-9, 0.49e-3]))
    np.testing.assert_allclose(below.omega, math.sqrt(10.0), rtol=1e-15)
    assert (below.peak_force == 0.0).all()


@pytest.mark.parametrize(
    "of",
    [
        Potential(1.3, 2.0, 0.7, (0.4, 30.0), (0.2, 5.0)),  # at rest between two stops, off the middle
        Potential(1.0, 3.0, 5.0, (0.5, 40.0)),  # pressed on a stop
        Potential(1.0, 0.0, 10.0, (0.0, 4e3)),  # a ball on a table
        Potential(1.0, 0.0, 0.0, (0.1, 4e3), (0.3, 20.0)),  # free between two stops
        Potential(1.0, 0.0, -3.0, (0.1, 40.0), (0.1, 7.0)),
        Potential(1.0, 0.0, 0.0, (-0.1, 40.0), (0.05, 20.0)),  # held by both
        Potential(2.0, 4.0, 0.0, (0.0, 12.0)),
    ],
)
def test_pieces_of_sines_and_parabolas_add_up_to_the_integral_over_the_potential(of: Potential) -> None:
    for energy in (1e-3, 0.2, 5.0):
        assert of.backbone(np.array([energy])).omega[0] == pytest.approx(by_quadrature(of, energy), rel=1e-13)


def test_without_a_force_that_brings_the_mass_back_there_is_no_free_oscillation() -> None:
    for of in (Potential(1.0, 0.0), Potential(1.0, 0.0, 0.0, (0.1, 40.0)), Potential(1.0, 0.0, -3.0, (0.1, 40.0))):
        assert np.isnan(of.backbone(np.array([1.0, 2.0])).omega).all()


@pytest.mark.slow
def test_a_run_of_a_free_motion_is_back_after_the_period() -> None:
    walls = {"m": 1.3, "k": 2.0, "load": 0.7, "gap": 0.4, "k_n": 30.0, "left_gap": 0.2, "left_k_n": 5.0}
    free = Potential.of(TWO_WALLS.resolve(walls)).backbone(np.array([1.5]))
    start = {"x0": float(free.x_max[0]), "v0": 0.0}
    found = kernels.simulate("two_walls", {**walls, **start, "end": float(2.0 * math.pi / free.omega[0])})
    np.testing.assert_allclose([found["x_end"], found["v_end"]], [start["x0"], 0.0], atol=1e-12)
    half = kernels.simulate("two_walls", {**walls, **start, "end": float(math.pi / free.omega[0])})
    np.testing.assert_allclose([half["x_end"], half["v_end"]], [free.x_min[0], 0.0], atol=1e-12)
