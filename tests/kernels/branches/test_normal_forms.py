"""Continuation on maps whose branches and special points are known: the normal forms of maps of the plane."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.branches.branch import Branch
from tribosweep.kernels.branches.collect import _Collector, _Start
from tribosweep.kernels.branches.follow import Steps
from tribosweep.kernels.branches.problem import Places, Plane, Problem
from tribosweep.kernels.branches.section_map import Images

LOW, HIGH = -1.0, 0.8
ANGLE = 1.0  # rad, by which the map of the Neimark-Sacker point turns
Form = Callable[[np.ndarray, np.ndarray], np.ndarray]


def fold(y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Fixed points y0 = +-root(at)."""
    return np.stack([y[:, 0] + at - y[:, 0] ** 2, 0.3 * y[:, 1]], axis=1)


def flip(y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The fixed point 0 doubles its period at 0: y0 = +-root(at)."""
    return np.stack([-(1.0 + at) * y[:, 0] + y[:, 0] ** 3, 0.3 * y[:, 1]], axis=1)


def pitchfork(y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The branches y0 = 0 and y0^2 = at cross at 0."""
    return np.stack([(1.0 + at) * y[:, 0] - y[:, 0] ** 3, 0.3 * y[:, 1]], axis=1)


def turning(y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The multipliers (1 + at) e^(+-i ANGLE) of the fixed point 0 pass the unit circle at 0."""
    turn = np.array([[math.cos(ANGLE), -math.sin(ANGLE)], [math.sin(ANGLE), math.cos(ANGLE)]])
    size = np.sum(y**2, axis=1, keepdims=True)
    return (1.0 + at[:, None] - size) * (y @ turn.T)


class Plain:
    """A map as `SectionMap` is one, with derivatives by complex steps."""

    names, count, dimension = ("omega",), 1, 2

    def __init__(self, form: Form) -> None:
        self.form = form

    def times(self, y: np.ndarray, at: np.ndarray, periods: np.ndarray) -> np.ndarray:
        for number in range(int(periods.max())):
            y = np.where(number < periods[:, None], self.form(y, at), y)
        return y

    def __call__(
        self, which: Any, values: np.ndarray, y: np.ndarray, direction: np.ndarray, periods: np.ndarray, shift: Any, statistics: Any = None
    ) -> Images:
        at, h = values[:, 0], 1e-30
        by_point = np.stack([self.times(y + 1j * h * unit, at + 0j, periods).imag / h for unit in np.eye(2)], axis=2)
        by_value = self.times(y + 0j, at + 1j * h, periods).imag / h
        numbers = {name: np.zeros(len(y)) for name in ("entries", "slip_phases", "stops")}
        observables = {**numbers, "v_rms": np.full(len(y), np.nan)}
        return Images(self.times(y, at, periods), direction, by_point, by_value[:, :, None], observables, np.ones(len(y), bool))


@np.errstate(all="ignore")  # as in `branches`
def followed(form: Form | Plain, y: tuple[float, float], at: float, periods: int = 2, given: float = 1.0) -> list[Branch]:
    """The branch through a fixed point that is `given` as one of so many periods, and those that begin on it."""
    none = np.zeros(0)
    plain = form if isinstance(form, Plain) else Plain(form)
    found = _Collector(None, {}, Problem(plain, LOW, HIGH, False, none.astype(int), none), Steps(), periods, 8)  # type: ignore[arg-type]
    trial = Problem(found.problem.map, LOW, HIGH, False, np.zeros(1, int), np.array([given]))
    u = np.array([[*y, float(trial.place(at))]])
    across = np.array([[0.0, 0.0, 1.0]])
    point, good, _ = trial.correct(Places(np.zeros(1, int), np.zeros(1), np.zeros(1), np.ones(1)), u, Plane.through(u, across))
    assert good.all()
    found.follow([_Start(0, point, given, "given", -1, both=True)])
    while found.special or found.fewer:
        found.switched()
    return found.branches()


def special(branch: Branch) -> list[tuple[str, float]]:
    return [(kind, float(value)) for kind, value in zip(branch.kinds, branch.value, strict=True) if kind]


def test_a_fold_is_passed_and_located() -> None:
    (branch,) = followed(fold, (0.7, 0.0), 0.49)
    assert branch.ends == ("bound", "bound")
    np.testing.assert_allclose(branch.y[:, 0] ** 2, branch.value, atol=1e-10)
    assert [kind for kind, _ in special(branch)] == ["fold"]
    assert special(branch)[0][1] == pytest.approx(0.0, abs=1e-10)
    elsewhere = np.array([not kind for kind in branch.kinds])
    np.testing.assert_array_equal(branch.stable[elsewhere], branch.y[elsewhere, 0] > 0.0)


def test_a_motion_of_twice_the_period_is_followed_from_a_flip() -> None:
    first, second = followed(flip, (0.0, 0.0), -0.5)
    assert [kind for kind, _ in special(first)] == ["flip"]
    assert special(first)[0][1] == pytest.approx(0.0, abs=1e-10)
    assert (second.origin, second.parent, second.periods) == ("flip", 0, 2)
    # y0 -> -y0: (1 + at) y0 - y0^3 = y0
    np.testing.assert_allclose(second.y[:, 0] ** 2, second.value, atol=1e-9)
    assert second.ends == ("start", "bound")


def test_both_sides_of_a_branch_that_crosses_are_followed() -> None:
    straight, *sides = followed(pitchfork, (0.0, 0.0), -0.5)
    assert [kind for kind, _ in special(straight)] == ["branch point"]
    assert special(straight)[0][1] == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_array_equal(straight.stable, straight.value < 0.0)
    assert len(sides) == 2
    for branch, sign in zip(sorted(sides, key=lambda each: -each.y[-1, 0]), (1.0, -1.0), strict=True):
        assert (branch.origin, branch.ends) == ("branch point", ("start", "bound"))
        np.testing.assert_allclose(branch.y[:, 0], sign * np.sqrt(branch.value), atol=1e-8)


def test_complex_multipliers_that_pass_the_unit_circle_are_located() -> None:
    (branch,) = followed(turning, (0.0, 0.0), -0.5)
    assert [kind for kind, _ in special(branch)] == ["Neimark-Sacker"]
    assert special(branch)[0][1] == pytest.approx(0.0, abs=1e-10)
    here = branch.kinds.index("Neimark-Sacker")
    np.testing.assert_allclose(np.sort_complex(branch.multipliers[here]), np.exp(1j * np.array([-ANGLE, ANGLE])), atol=1e-9)
