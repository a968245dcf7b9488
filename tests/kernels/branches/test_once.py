"""Branches of maps whose motions are known: each motion is on one branch once, closes, and no step passes over a fold."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.kernels.branches.test_normal_forms import Form, Plain, followed, special
from tribosweep.kernels.branches import collect, curves, known
from tribosweep.kernels.branches.branch import Branch
from tribosweep.kernels.branches.events import GRAZING
from tribosweep.kernels.branches.follow import Side
from tribosweep.kernels.branches.problem import Places, Points, Problem
from tribosweep.kernels.branches.section_map import Images

TWO = 0.3  # multiplier of the second coordinate


def one(form: Form) -> Form:
    """A map of the plane that is `form` of the first coordinate."""
    return lambda y, at: np.stack([form(y[:, 0], at), TWO * y[:, 1]], axis=1)


def bubble(y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """x (1 - x) times a factor that is largest at 0: periods 1, 2 and 4 follow each other, and go back in the opposite order."""
    return (3.5 - 1.2 * at**2) * y * (1.0 - y)


def island(y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Fixed points on a circle around 0."""
    return y + 0.5 * (0.25 - y**2 - at**2)


def crossed_circle(y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Fixed points y = 0, and a circle around 0 that crosses this line twice."""
    return y + y * (0.25 - y**2 - at**2)


def narrow(y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Fixed points at = y - 0.004 tanh(y / 0.001), which turn back twice within a tenth of the largest step."""
    return y + 0.5 * (at - y + 0.004 * np.tanh(y / 0.001))


def orbit(form: Form, branch: Branch) -> np.ndarray:
    """Rows of a branch in the plane of parameter and first coordinate, at all its periods (q, N, 2)."""
    y, found = branch.y, []
    for _ in range(branch.periods):
        found.append(np.stack([branch.value, y[:, 0]], axis=1))
        y = form(y, branch.value)
    np.testing.assert_allclose(y, branch.y, atol=1e-8)  # it closes
    return np.array(found)


def apart(form: Form, branch: Branch, other: Branch) -> np.ndarray:
    """Distance of each row of a branch from the lines between the rows of another one at any of its periods (N,)."""
    nearest = np.full(len(branch.value), np.inf)
    here = np.stack([branch.value, branch.y[:, 0]], axis=1)
    for line in orbit(form, other):
        a, chord = line[:-1], np.diff(line, axis=0)
        part = np.clip(np.sum((here[:, None] - a) * chord, axis=2) / np.maximum(np.sum(chord**2, axis=1), 1e-300), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(here[:, None] - a - part[:, :, None] * chord, axis=2).min(axis=1))
    return nearest


def test_branches_between_two_flips_are_followed_once_at_each_doubling() -> None:
    found = followed(one(bubble), (1.0 - 1.0 / (3.5 - 1.2 * 0.81), 0.0), -0.9, periods=4)
    assert [branch.periods for branch in found] == [1, 2, 4]
    for branch, r in zip(found, (3.0, 1.0 + math.sqrt(6.0), None), strict=True):
        expected = [] if r is None else [-math.sqrt((3.5 - r) / 1.2), math.sqrt((3.5 - r) / 1.2)]
        assert [kind for kind, _ in special(branch)] == ["flip"] * len(expected)
        np.testing.assert_allclose(sorted(value for _, value in special(branch)), expected, atol=1e-9)
    assert [branch.ends for branch in found] == [("bound", "bound"), ("start", "merges"), ("start", "merges")]
    for branch, other in itertools.combinations(found, 2):
        assert (apart(one(bubble), branch, other) < 1e-6).mean() < 0.1  # but where they begin and end


def test_a_closed_branch_is_not_followed_backwards_too() -> None:
    (branch,) = followed(one(island), (0.3, 0.0), -0.4, periods=1)
    angle = np.unwrap(np.arctan2(branch.y[:, 0], branch.value))
    assert abs(angle[-1] - angle[0]) == pytest.approx(2.0 * math.pi, abs=0.1)
    assert (np.abs(np.diff(angle)) > 0.0).all()
    assert [kind for kind, _ in special(branch)] == ["fold", "fold"]
    np.testing.assert_allclose(sorted(value for _, value in special(branch)), [-0.5, 0.5], atol=1e-10)


def test_a_branch_that_crosses_another_one_twice_is_followed_once_and_its_crossings_count_once() -> None:
    line, circle = followed(one(crossed_circle), (0.0, 0.0), -0.9, periods=1)
    assert [(kind, round(value, 8)) for kind, value in sorted(special(line), key=lambda each: each[1])] == [
        ("branch point", -0.5),
        ("branch point", 0.5),
    ]
    np.testing.assert_allclose(circle.value**2 + circle.y[:, 0] ** 2, 0.25, atol=1e-8)
    angle = np.unwrap(np.arctan2(circle.y[:, 0], circle.value))
    assert abs(angle[-1] - angle[0]) == pytest.approx(2.0 * math.pi, abs=0.1)
    assert {kind for kind, _ in special(circle)} <= {"fold"}


def test_a_step_over_two_folds_is_made_shorter() -> None:
    (branch,) = followed(one(narrow), (-0.5, 0.0), -0.496, periods=1)
    assert [kind for kind, _ in special(branch)] == ["fold", "fold"]
    y = 0.001 * math.atanh(math.sqrt(0.75))
    expected = 0.004 * math.sqrt(0.75) - y
    np.testing.assert_allclose(sorted(value for _, value in special(branch)), [-expected, expected], atol=1e-10)


class Line:
    """Stands in for the points of a side: they lie on a line."""

    def __init__(self, u: np.ndarray) -> None:
        self.u = u

    def take(self, which: np.ndarray) -> Line:
        return Line(self.u[which])

    def __len__(self) -> int:
        return len(self.u)


@pytest.mark.parametrize("grazings", [(2,), (2, 3), (1, 2, 3, 4), ()])
@pytest.mark.parametrize("begins", [1, 3, 5])  # row from which on the side is on the other branch
def test_a_side_that_comes_to_a_branch_behind_several_grazings_ends_at_the_first(
    grazings: tuple[int, ...], begins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row behind a grazing may be the next one, which is no end of the side."""
    count = 7
    line = Line(np.stack([np.arange(count, dtype=float)] * 2, axis=1))
    kinds = [GRAZING if row in grazings else "" for row in range(count)]
    side = Side([(line, row) for row in range(count)], kinds, "lost", table=line)  # type: ignore[list-item, arg-type]
    monkeypatch.setattr(known, "joined", lambda points: Line(np.concatenate([one.u for one in points])))
    monkeypatch.setattr(known, "on_branches", lambda *given: given[3].u[:, 0] >= begins)
    problem: Any = SimpleNamespace(row=np.zeros(2), periods=np.ones(2))
    known.cut_where_known(problem, [[side], [side]], [(0, side)])
    behind = [row for row in grazings if row + 1 >= begins]
    assert len(side.together()) - 1 == min([*behind, begins - 1])
    assert side.end == "known"


@pytest.mark.parametrize("given", [2.0, 4.0])
def test_a_motion_that_closes_over_fewer_periods_is_followed_as_one_of_these(given: float) -> None:
    """Runs, and Newton's method beside a flip, may come to a motion of one period where one of two is asked for."""
    start = (one(bubble), (1.0 - 1.0 / (3.5 - 1.2 * 0.81), 0.0), -0.9)
    found, plain = followed(*start, periods=4, given=given), followed(*start, periods=4)
    assert [branch.periods for branch in found] == [1, 2, 4]
    for branch, other in zip(found, plain, strict=True):
        assert branch.kinds == other.kinds
        np.testing.assert_allclose(branch.multipliers, other.multipliers, rtol=0.0, atol=1e-9)


def test_least_periods_are_found_from_prime_factors() -> None:
    pairs = np.array([(whole, least) for whole in range(1, 40) for least in range(1, whole + 1) if whole % least == 0])

    def later(motions: Line, parts: np.ndarray) -> tuple[np.ndarray, None]:
        return motions.u + np.where(parts[:, None] % motions.u[:, 1:] == 0.0, 0.0, 1.0), None

    points: Any = Line(pairs.astype(float))
    points.branch = np.arange(len(pairs))
    problem: Any = SimpleNamespace(periods=pairs[:, 0].astype(float), later=later)
    np.testing.assert_array_equal(known.least_periods(problem, points), pairs[:, 1])


@pytest.mark.parametrize(
    ("fewer", "kinds", "last", "end"),
    [
        ((3, 4, 5, 6), {3: GRAZING}, 3, "merges"),  # the branch goes on at a grazing as one of fewer periods
        ((4, 5, 6), {3: "fold"}, 3, "merges"),  # where they cross, motions are less near than they close
        ((4, 5, 6), {3: "flip"}, 3, "known"),  # at a flip no branch of fewer periods is met
        ((4, 5, 6), {}, 3, "known"),  # a step passed over the place where they meet
        ((3,), {3: GRAZING}, 6, "bound"),  # a branch of three periods passes through one of one period
        ((), {}, 6, "bound"),
    ],
)
def test_a_side_ends_where_its_motions_become_those_of_fewer_periods(
    fewer: tuple[int, ...], kinds: dict[int, str], last: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 7
    line = Line(np.stack([np.arange(count, dtype=float)] * 2, axis=1))
    side = Side([(line, row) for row in range(count)], [kinds.get(row, "") for row in range(count)], "bound", table=line)  # type: ignore[list-item, arg-type]
    monkeypatch.setattr(known, "joined", lambda points: Line(np.concatenate([one.u for one in points])))
    monkeypatch.setattr(known, "least_periods", lambda *given: np.where(np.isin(given[1].u[:, 0], fewer), 1.0, 4.0))
    problem: Any = SimpleNamespace(periods=np.array([4.0]))
    found = known.cut_where_fewer(problem, [(0, side)])
    assert (len(side.together()) - 1, side.end) == (last, end)
    assert [(number, periods) for number, _, periods in found] == ([(0, 1.0)] if last < count - 1 else [])


class Halves(Plain):
    """The map of a form at half a period; at t = 0 the point is 1e5 times as large, as in a stiff contact."""

    def omega(self, which: np.ndarray, _values: Any) -> np.ndarray:
        """The frequency of the excitation of motions [rad/s]."""
        return np.ones(len(which))

    def __call__(
        self, which: Any, values: np.ndarray, y: np.ndarray, direction: np.ndarray, periods: np.ndarray, shift: Any, statistics: Any = None
    ) -> Images:
        """Motions from a section at half a period are seen there, and at t = 0 as all others."""
        inner = np.where(shift[:, None] == 0.5, y, y / 1e5)  # the point at half a period before
        found = super().__call__(which, values, inner, direction, np.floor(periods), shift, statistics)
        at_zero = (shift + periods) % 1.0 == 0.0
        return replace(found, y=np.where(at_zero[:, None], 1e5 * found.y, found.y))


FIXED = 1.0 - 1.0 / (3.5 - 1.2 * 0.81)


def halves() -> tuple[Problem, Points]:
    """Fixed points of `Halves` with errors of 1e-12 at half a period, where their section lies."""
    problem = Problem(Halves(one(bubble)), -1.0, 0.8, False, np.zeros(2, int), np.ones(2))  # type: ignore[arg-type]
    u = np.array([[FIXED + 1e-12, 0.0, 0.1 / 1.8], [FIXED, 2e-12, 0.1 / 1.8]])
    points = problem.images(Places(np.arange(2), np.zeros(2), np.full(2, 0.5), np.ones(2)), u)[0]
    assert points.closes.all()
    return problem, points


@np.errstate(all="ignore")  # as in `branches`
def test_rows_that_close_at_their_own_section_close_at_the_start_of_a_period_too() -> None:
    """An error of 1e-12 where a section lies at half a period is one of 1e-7 at t = 0."""
    y, closes = collect.closing_at_zero(*halves())
    assert closes.all()
    np.testing.assert_allclose(y, [[1e5 * FIXED, 0.0]] * 2, rtol=0.0, atol=1e-9)


@np.errstate(all="ignore")
def test_points_of_a_curve_close_at_the_start_of_a_period_too() -> None:
    problem, points = halves()
    side: Any = SimpleNamespace(points=[points], end="bound")
    np.testing.assert_allclose(curves._curve(problem, 0, "fold", [side]).y, [[1e5 * FIXED, 0.0]] * 2, rtol=0.0, atol=1e-9)  # noqa: SLF001


def test_rows_that_all_have_as_many_branches_as_they_may_have_are_asked_for_no_steady_motion() -> None:
    nothing = SimpleNamespace()
    collect._Collector.from_seeds(nothing, [])  # type: ignore[arg-type]  # noqa: SLF001
    assert vars(nothing) == {}
