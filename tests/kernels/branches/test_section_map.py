"""The Poincare map and its derivatives: against closed forms, an integration of its own, and differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp

from tests.oracle import impacts_on_section, stop_orbit
from tribosweep.kernels.branches.section_map import Images, SectionMap
from tribosweep.kernels.models import RUBBING_MASS, STOP

SPRING = {"k": 1.0, "c": 0.1, "k_n": 100.0, "c_n": 0.2, "a0": 1.0, "m": 1.0}
WALL = {"k": 10.0, "c": 0.0, "k_n": 50.0, "c_n": 0.0, "a0": 0.0, "m": 1.0, "gap": 0.01}  # of SDND122


@pytest.fixture(scope="module")
def stop() -> SectionMap:
    rows = [{**SPRING, "gap": 0.0}, {**SPRING, "gap": 30.0}, WALL]
    return SectionMap(STOP, {name: np.array([row[name] for row in rows]) for name in WALL}, ("omega",), ((1.0, 4.0),))


@pytest.mark.slow
@pytest.mark.long
def test_the_multipliers_of_a_linear_oscillator_are_those_of_its_free_motion(stop: SectionMap) -> None:
    omega = np.array([1.3, 2.0, 3.7])
    periods = np.array([1.0, 1.0, 2.0])
    y = np.array([[0.3, 0.2], [-0.1, 0.4], [0.2, -0.3]])
    found = stop(np.array([1, 1, 1]), omega[:, None], y, np.zeros(3), periods, np.zeros(3))
    for i in range(3):
        free = np.exp((-0.05 + 1j * math.sqrt(1.0 - 0.05**2)) * periods[i] * 2.0 * math.pi / omega[i])
        values = np.linalg.eigvals(found.by_point[i])
        values = values[np.argsort(-values.imag)]
        free = free if free.imag > 0.0 else free.conjugate()
        np.testing.assert_allclose(values, [free, free.conjugate()], atol=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_a_free_motion_lies_on_the_backbone_of_its_closed_form_and_near_a_published_nonlinear_mode(stop: SectionMap) -> None:
    energy = 0.00650108331626  # J, of SDND122A (V5.01.122)
    with mp.workdps(stop_orbit.DIGITS):
        period = stop_orbit.free_period(WALL, mp.mpf(energy))
        slope = float(mp.diff(lambda e: stop_orbit.free_period(WALL, e), mp.mpf(energy)))  # s/J
    omega, speed = 2.0 * math.pi / float(period), math.sqrt(2.0 * energy)
    found = stop(np.array([2]), np.array([[omega]]), np.array([[speed, 0.0]]), np.zeros(1), np.ones(1), np.zeros(1))
    np.testing.assert_allclose(found.y[0], [speed, 0.0], atol=1e-13)
    # a faster start is ahead or behind by what the period changes with energy
    np.testing.assert_allclose(found.by_point[0], [[1.0, 0.0], [-omega * speed**2 * slope, 1.0]], atol=1e-10)
    assert 1.0 / float(period) == pytest.approx(0.64669392749957, rel=1e-4)  # Hz, by harmonic balance with a smoothed stop


@pytest.mark.slow
@pytest.mark.parametrize(("omega", "periods"), [(1.5, 1), (3.5, 2), (1.1612903225806452, 2), (5.5, 3)])
def test_images_and_multipliers_are_those_of_an_independent_integration(stop: SectionMap, omega: float, periods: int) -> None:
    row = {**SPRING, "omega": omega}
    start = (-0.95, -0.77)
    there = np.array(impacts_on_section.periods(row, start, periods), float)
    y = np.array([[start[1], start[0] * omega]])
    found = stop(np.array([0]), np.array([[omega]]), y, np.zeros(1), np.array([float(periods)]), np.zeros(1))
    np.testing.assert_allclose(found.y[0], [there[-1][1], there[-1][0] * omega], atol=1e-10)
    independent = np.sort_complex(np.array(impacts_on_section.multipliers(row, start, periods), complex))
    np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(found.by_point[0]).astype(complex)), independent, atol=1e-7)


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_of_a_penalised_contact_and_a_stop_are_those_of_differences() -> None:
    columns = {**SPRING, "omega": 1.7, "g": 1.0, "k_t": 40.0, "c_t": 0.3, "gap": 0.3}
    section = SectionMap(STOP, columns, ("mu",), ((0.05, 0.4),))
    assert section.dimension == 3
    assert set(section.key.along) == {"mu_s", "mu_d"}
    y, mu = np.array([[0.9, -0.4, 0.0], [0.02, 0.3, 0.004], [-0.7, 0.2, 0.0]]), np.array([[0.1], [0.3], [0.2]])
    direction = np.array([1.0, 0.0, -1.0])

    def image(y: np.ndarray, mu: np.ndarray) -> np.ndarray:
        return section(np.zeros(3, int), mu, y, direction, np.ones(3), np.zeros(3)).y

    found, h = section(np.zeros(3, int), mu, y, direction, np.ones(3), np.zeros(3)), 1e-6
    np.testing.assert_allclose(found.by_parameters[:, :, 0], (image(y, mu + h) - image(y, mu - h)) / (2.0 * h), atol=3e-7)
    for i in range(3):
        step = h * np.eye(3)[i]
        usable = ~((direction != 0.0) & (i == 2))  # the contact has no stretch while it slips
        differences = (image(y + step, mu) - image(y - step, mu)) / (2.0 * h)
        np.testing.assert_allclose(found.by_point[usable][:, :, i], differences[usable], atol=3e-7)


@pytest.mark.slow
def test_rows_of_several_kinds_of_contacts_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of 2 kinds of contacts"):
        SectionMap(RUBBING_MASS, {"mu": 0.1, "k_t": np.array([np.inf, 1e3]), "a0": 1.0}, ("omega",), ((1.0, 2.0),))


def test_images_come_in_the_order_of_their_points(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def some(self: SectionMap, blocks: tuple[int, int, int], points: tuple[np.ndarray, ...]) -> Images:
        which, _, y, direction, periods, shift, _ = points
        sizes.append(len(which))
        return Images(y, direction, np.zeros((len(y), 2, 2)), shift[:, None, None], {"periods": periods}, which >= 0)

    monkeypatch.setattr(SectionMap, "_some", some)
    every = SectionMap(STOP, SPRING | {"gap": 1.0}, ("omega",), ((1.0, 4.0),))
    number = np.arange(5000.0)
    periods = 1.0 + number * 7.0 % 11.0
    found = every(np.zeros(5000, int), np.ones((5000, 1)), np.stack([number, -number], axis=1), number, periods, number)
    assert len(sizes) > 1
    np.testing.assert_array_equal(found.y, np.stack([number, -number], axis=1))
    np.testing.assert_array_equal(found.direction, number)
    np.testing.assert_array_equal(found.by_parameters[:, 0, 0], number)
    np.testing.assert_array_equal(found.observables["periods"], periods)
