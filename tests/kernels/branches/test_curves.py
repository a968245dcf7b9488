"""Curves of special points in two parameters: on maps whose curves are known, and of oscillators against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from tests.kernels.branches.test_normal_forms import HIGH, LOW, followed
from tribosweep import sweep
from tribosweep.kernels.branches.collect import branches
from tribosweep.kernels.branches.curve_steps import STEPS
from tribosweep.kernels.branches.curves import SpecialCurve, along_surfaces, curves
from tribosweep.kernels.branches.problem import Problem
from tribosweep.kernels.branches.section_map import Images
from tribosweep.kernels.models import RUBBING_MASS, STOP
from tribosweep.kernels.reference.closed_forms import den_hartog_limit

Form = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
SECOND = 0.3


def cusp(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Fixed points a + b y0 = y0^3; folds at 27 a^2 = 4 b^3, with a cusp at 0; flips at the other side, where b = 3 y0^2 - 2."""
    return np.stack([y[:, 0] + a + b * y[:, 0] - y[:, 0] ** 3, 0.3 * y[:, 1]], axis=1)


def henon(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The map of Henon: folds at a = -(1 - b)^2 / 4, flips at a = 3 (1 - b)^2 / 4."""
    return np.stack([a - y[:, 0] ** 2 + y[:, 1], b * y[:, 0]], axis=1)


def delayed(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The multipliers of y = 0 have the product 1 + a + b and the sum 4 b: at a = -b they are on the circle, complex for |b| < 1/2."""
    size = np.sum(y**2, axis=1)
    return np.stack([4.0 * b * y[:, 0] - (1.0 + a + b) * y[:, 1] - size * y[:, 0], y[:, 0]], axis=1)


class Plane2:
    """A map of two parameters as `SectionMap` is one, with derivatives by complex steps."""

    names, count, dimension = ("a", "b"), 1, 2

    def __init__(self, form: Form) -> None:
        self.form = form

    def omega(self, which: np.ndarray, values: Any) -> np.ndarray:
        return np.ones(len(which))

    def clearance(self, which: Any, values: Any, y: np.ndarray) -> np.ndarray:
        return np.ones(len(y))

    def __call__(
        self, which: Any, values: np.ndarray, y: np.ndarray, direction: np.ndarray, periods: np.ndarray, shift: Any, statistics: Any = None
    ) -> Images:
        h, (a, b) = 1e-30, values.T
        by_point = np.stack([self.form(y + 1j * h * unit, a + 0j, b + 0j).imag / h for unit in np.eye(2)], axis=2)
        by_values = np.stack([self.form(y + 0j, a + 1j * h, b + 0j).imag / h, self.form(y + 0j, a + 0j, b + 1j * h).imag / h], axis=2)
        numbers = {name: np.zeros(len(y)) for name in ("entries", "slip_phases", "stops")}
        observables = {**numbers, "v_rms": np.full(len(y), np.nan)}
        return Images(self.form(y, a, b), direction, by_point, by_values, observables, np.ones(len(y), bool))


@np.errstate(all="ignore")  # as in `curves`
def curves_of(form: Form, y: tuple[float, float], at: float, second: float = SECOND) -> list[SpecialCurve]:
    """The curves of the special points of the branch along a, through a fixed point at `at`, where b = second."""
    found = followed(lambda y, a: form(y, a, second + 0.0 * a), y, at, periods=1)
    low, high = np.array([LOW, -0.9]), np.array([HIGH, 0.9])
    problem = Problem(Plane2(form), low, high, np.array([False, False]), np.zeros(0, int), np.zeros(0))  # type: ignore[arg-type]
    return along_surfaces(problem, np.array([second]), found)


def test_one_curve_of_folds_goes_through_a_cusp() -> None:
    found = curves_of(cusp, (0.0, 0.0), 0.0)
    assert [curve.kind for curve in found] == ["flip", "fold", "flip"]  # two folds of the branch lie on one curve
    for curve in found:
        assert (curve.row, curve.branch, curve.periods, curve.ends) == (0, 0, 1, ("bound", "bound"))
        (a, b), y = curve.value.T, curve.y[:, 0]
        np.testing.assert_allclose(a, y**3 - b * y, atol=1e-10)
        np.testing.assert_allclose(b, 3.0 * y**2 - (2.0 if curve.kind == "flip" else 0.0), atol=1e-10)
        multiplier = {"flip": -1.0, "fold": 1.0}[curve.kind]
        np.testing.assert_allclose(np.abs(curve.multipliers - multiplier).min(axis=1), 0.0, atol=1e-10)
    a, b = found[1].value.T
    assert {tuple(np.sign(a[[0, -1]])), tuple(b[[0, -1]])} == {(1.0, -1.0), (0.9, 0.9)}


def test_folds_and_flips_of_the_map_of_henon_lie_on_their_parabolas() -> None:
    found = curves_of(henon, (0.5, 0.15), 0.45)
    assert sorted(curve.kind for curve in found) == ["flip", "fold"]
    for curve in found:
        a, b = curve.value.T
        np.testing.assert_allclose(a, {"fold": -0.25, "flip": 0.75}[curve.kind] * (1.0 - b) ** 2, atol=1e-10)
        assert np.ptp(b) > 0.8


def test_a_curve_that_begins_on_a_bound_ends_there() -> None:
    found = curves_of(henon, (0.5, 0.5), 0.3, second=0.9)
    assert found
    for curve in found:
        assert set(curve.ends) == {"bound"}
        b = curve.value[:, 1]
        assert b.max() == 0.9
        assert len(np.unique(b)) == len(b)


def test_complex_multipliers_stay_on_the_circle_until_they_meet() -> None:
    (curve,) = curves_of(delayed, (0.0, 0.0), -0.6)
    assert (curve.kind, curve.ends) == ("Neimark-Sacker", ("resonance", "resonance"))
    a, b = curve.value.T
    np.testing.assert_allclose(a, -b, atol=1e-10)
    np.testing.assert_allclose(np.abs(curve.multipliers), 1.0, atol=1e-8)
    np.testing.assert_allclose(sorted(b[[0, -1]]), [-0.5, 0.5], atol=1e-4)


@pytest.mark.long
@pytest.mark.slow
def test_rests_begin_on_den_hartogs_curve_and_with_damping_where_bisection_finds_them(tmp_path: Path) -> None:
    bounds, damping = ((0.3, 0.95), (0.55, 4.0)), np.array([0.0, 0.1])
    fixed = {"m": 1.0, "k": 1.0, "g": 1.0, "a0": 1.0}
    columns = {**fixed, "omega": 1.5, "c": damping}
    found = branches(RUBBING_MASS, columns, "mu", bounds[0], places=1)
    steps = replace(STEPS, largest=0.1)
    known, damped = curves(RUBBING_MASS, columns, ("mu", "omega"), bounds, (False, False), found, steps)
    for curve in (known, damped):
        assert (curve.kind, curve.ends) == ("grazing", ("bound", "bound"))
        assert sorted(curve.value[[0, -1], 1]) == list(bounds[1])
        assert (np.abs(curve.multipliers) < 1.0 + 1e-9).all()
    np.testing.assert_allclose(known.value[:, 0], [den_hartog_limit(each) for each in known.value[:, 1]], atol=1e-10)

    ranges = zip(("mu", "omega"), (bounds[0], (0.55, 1.7)), strict=True)
    axes = {name: {"from": low, "to": high, "count": 5} for name, (low, high) in ranges}
    asked = {"design": "boundary", "observable": "regime", "halvings": 2, "width": 1e-6}
    parameters = {**fixed, "c": float(damping[1])}
    drawn = sweep.run({"parameters": parameters, "time": {"window": "steady"}, "sweep": {**asked, "axes": axes}}, tmp_path / "a")
    border = drawn.boundaries().to_pandas()
    assert set(border["between"]) == {"stick-slip | slip-slip"}
    assert len(border) > 15
    order = np.argsort(damped.value[:, 1])
    between = CubicSpline(damped.value[order, 1], damped.value[order, 0])
    np.testing.assert_allclose(border["mu"], between(border["omega"]), atol=1e-5)  # of the spline


@pytest.mark.slow
@pytest.mark.long
def test_a_mass_first_touches_its_stop_on_the_amplitude_of_its_free_motion_and_where_bisection_finds_it(tmp_path: Path) -> None:
    bounds = ((0.3, 0.5), (1.05, 1.35))  # at higher frequencies some gaps that the free motion does not fill have motions with impacts, too
    fixed = {"m": 1.0, "k": 1.0, "c": 0.3, "k_n": 100.0, "c_n": 2.0, "a0": 1.0, "mu": 0.0}
    columns = {**fixed, "gap": np.array([1.2])}
    found = branches(STOP, columns, "omega", bounds[0], places=3, periods=1)
    (touch,) = curves(STOP, columns, ("omega", "gap"), bounds, (False, False), found, replace(STEPS, largest=0.1))
    assert (touch.kind, touch.ends) == ("grazing", ("bound", "bound"))
    assert len(touch.value) > 15

    def amplitude(omega: np.ndarray) -> np.ndarray:
        return 1.0 / np.abs(1.0 - omega**2 + 0.3j * omega)

    np.testing.assert_allclose(touch.value[:, 1], amplitude(touch.value[:, 0]), atol=1e-10)

    axes = {name: {"from": low, "to": high, "count": 5} for name, (low, high) in zip(("omega", "gap"), bounds, strict=True)}
    asked = {"design": "boundary", "observable": "impacts", "level": 0.5, "halvings": 2, "width": 1e-6}
    study = {"study": {"model": "stop"}, "parameters": fixed, "time": {"window": "steady"}, "sweep": {**asked, "axes": axes}}
    border = sweep.run(study, tmp_path / "touch").boundaries().to_pandas()
    assert len(border) > 15
    np.testing.assert_allclose(border["gap"], amplitude(border["omega"].to_numpy()), atol=1e-6)
