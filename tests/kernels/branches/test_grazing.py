"""Branches at grazings of maps whose motions are known on both sides: through, back, or nothing behind it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.kernels.branches.test_normal_forms import LOW, Form, Plain, followed, special
from tribosweep.kernels.branches.branch import Branch
from tribosweep.kernels.branches.section_map import Images


class Impacting(Plain):
    """A map of one period whose events are others where y0 > 0. It has no other sections."""

    def __call__(
        self, which: Any, values: np.ndarray, y: np.ndarray, direction: np.ndarray, periods: np.ndarray, shift: Any, statistics: Any = None
    ) -> Images:
        found = super().__call__(which, values, y, direction, np.ones_like(periods), shift, statistics)
        entries = {"entries": (y[:, 0] > 0.0).astype(float)}
        return replace(found, observables=found.observables | entries, good=found.good & (periods == 1.0))

    def clearance(self, which: np.ndarray, values: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.arange(len(y))  # the section of the points is as good as any


def nordmark(sign: float) -> Form:
    """Nordmark's map: y0' = a y0 + y1 + at + sign root(y0), y1' = -b y0, the root where y0 > 0 (a = 0.6, b = 0.2)."""

    def form(y: np.ndarray, at: np.ndarray) -> np.ndarray:
        hits = np.real(y[:, 0]) > 0.0
        root = np.where(hits, np.sqrt(np.where(hits, y[:, 0], 1.0)), 0.0)
        return np.stack([0.6 * y[:, 0] + y[:, 1] + at + sign * root, -0.2 * y[:, 0]], axis=1)

    return form


def corner(slope: float, jump: float = 0.0) -> Form:
    """y0' = 0.4 y0 + at where y0 < 0, slope y0 + at + jump where y0 > 0."""

    def form(y: np.ndarray, at: np.ndarray) -> np.ndarray:
        hits = np.real(y[:, 0]) > 0.0
        return np.stack([np.where(hits, slope * y[:, 0] + jump, 0.4 * y[:, 0]) + at, 0.3 * y[:, 1]], axis=1)

    return form


def only(found: list[Branch]) -> Branch:
    (branch,) = found
    return branch


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_nordmarks_square_root_turns_a_branch_back_or_lets_it_through(sign: float) -> None:
    branch = only(followed(Impacting(nordmark(sign)), (-0.5, 0.1), -0.3, periods=1))
    kind, value = special(branch)[0]
    assert (kind, value) == ("grazing", pytest.approx(0.0, abs=1e-10))
    assert branch.kinds.count("grazing") == 1
    hits = branch.y[:, 0] > 0.0
    np.testing.assert_allclose(branch.y[~hits, 0], branch.value[~hits] / 0.6, atol=1e-12)
    # 0.6 y0 = at + sign root(y0), as far as an error of 1e-11 of y0 permits
    root = np.sqrt(branch.y[hits, 0])
    assert (np.abs(0.6 * root**2 - sign * root - branch.value[hits]) < 1e-11 * (2.0 + 0.5 / root)).all()
    near = hits & (branch.y[:, 0] < 1e-4) & (branch.y[:, 0] > 1e-9)
    assert near.sum() > 5
    assert (np.sign(branch.value[near]) == -sign).all()
    # the largest multiplier grows as 1 / (2 root(y0))
    sizes, multipliers = branch.y[near, 0], np.abs(branch.multipliers[near, 0])
    assert np.polyfit(np.log(sizes), np.log(multipliers), 1)[0] == pytest.approx(-0.5, abs=0.01)
    if sign > 0.0:  # and folds where 0.6 = 1 / (2 root(y0))
        fold = branch.kinds.index("fold")
        assert branch.y[fold, 0] == pytest.approx((0.5 / 0.6) ** 2, abs=1e-9)
        assert branch.value[fold] == pytest.approx(-0.25 / 0.6, abs=1e-10)
        assert branch.passages == {branch.kinds.index("grazing"): "turns back"}
    else:
        assert branch.passages == {branch.kinds.index("grazing"): "passes through"}


@pytest.mark.parametrize("slope", [1.6, 1.3, 30.0, 0.2, -0.5, -20.0])
def test_a_corner_of_the_map_turns_a_branch_back_where_its_slope_passes_one(slope: float) -> None:
    branch = only(followed(Impacting(corner(slope)), (-0.5, 0.0), -0.3, periods=1))
    kind, value = special(branch)[0]
    assert (kind, value) == ("grazing", pytest.approx(0.0, abs=1e-10))
    hits = branch.y[:, 0] > 1e-12
    assert hits.any()
    np.testing.assert_allclose(branch.y[hits, 0] * (1.0 - slope), branch.value[hits], atol=1e-10)
    assert branch.ends == ("bound", "bound")
    assert branch.passages[branch.kinds.index("grazing")] == ("turns back" if slope > 1.0 else "passes through")


def test_a_branch_ends_where_the_map_jumps() -> None:
    branch = only(followed(Impacting(corner(0.4, jump=0.3)), (-0.5, 0.0), -0.3, periods=1))
    assert branch.ends == ("bound", "grazing")
    assert branch.value[-1] == pytest.approx(0.0, abs=1e-8)
    assert branch.value[0] == LOW
    assert branch.passages == {len(branch.value) - 1: "ends"}
    assert math.isclose(branch.y[-1, 0], 0.0, abs_tol=1e-8)
