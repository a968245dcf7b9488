"""Which motions and special points are on branches that are known already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels.branches.follow import MERGES, Side
from kernels.branches.problem import Places, Plane, Points, Problem

_NEAR, _SAME = 0.05, 1e-6  # distances in u from a branch: of a motion that may lie on it, and that does
_MERGED = 1e-4  # distance in s of the place where a branch merges from the special point where that is


@dataclass(frozen=True, slots=True)
class _Passing:
    """A place where a branch passes the parameter of a motion.

    Attributes:
        motion: number of the motion. shift: of the section of the branch. s: the place of the parameter.
        places: where the unknowns of the branch are measured. y: (n,) the point between two points of the branch [m/s].
    """

    motion: int
    shift: float
    s: float
    places: Places
    y: np.ndarray


def on_branches(problem: Problem, sides: list[list[Side]], trial: Problem, found: Points) -> np.ndarray:
    """Whether motions lie on branches of their rows (N,).

    Args:
        problem: of the branches. sides: of each branch. trial: the problem in which the motions are points. found: the motions.
    """
    known = np.zeros(len(found), dtype=bool)
    beside = [one for i in range(len(found)) for one in _passing(problem, sides, trial, found.take(np.array([i])), i)]
    if not beside:
        return known
    asked = list(dict.fromkeys((each.motion, each.shift) for each in beside))
    seen = dict(zip(asked, _sections(trial, found, asked), strict=True))

    def apart(each: _Passing, y: np.ndarray) -> float:  # over its speed
        return float(np.abs(seen[each.motion, each.shift] - y).max(axis=1).min() / each.places.speed[0])

    near = [each for each in beside if not apart(each, each.y) > _NEAR]
    if not near:
        return known
    places = Places(*(np.concatenate(parts) for parts in zip(*(each.places for each in near), strict=True)))
    s = np.array([each.s for each in near])
    u = np.concatenate([np.stack([each.y for each in near]) / places.speed[:, None], s[:, None]], axis=1)
    across = np.zeros_like(u)
    across[:, -1] = 1.0
    exact, ok, _ = problem.correct(places, u, Plane(across, s))
    for i, each in enumerate(near):
        known[each.motion] |= not ok[i] or apart(each, exact.y[i]) < _SAME
    return known


def _passing(problem: Problem, sides: list[list[Side]], trial: Problem, point: Points, motion: int) -> list[_Passing]:
    """Where branches of the row of a motion pass its parameter. `trial`: the problem in which `point` is a point."""
    row, periods, s = trial.row[point.branch[0]], trial.periods[point.branch[0]], float(point.u[0, -1])
    found = []
    for number in np.flatnonzero((problem.row == row) & (problem.periods == periods)):
        for side in sides[number]:
            points = side.together()
            at = points.u[:, -1]
            for i in np.flatnonzero((at[:-1] - s) * (at[1:] - s) <= 0.0):
                if points.shift[i] != points.shift[i + 1]:
                    continue
                part = 0.0 if at[i + 1] == at[i] else (s - at[i]) / (at[i + 1] - at[i])
                y, after = points.take(np.array([i, i + 1])).y
                found.append(_Passing(motion, float(points.shift[i]), s, points.places.take(np.array([i])), y + part * (after - y)))
    return found


def begins_here(problem: Problem, sides: list[list[Side]], row: int, periods: float, point: Points, parent: int) -> bool:
    """Whether a branch with so many periods has ended or begun at this point already."""
    for number in np.flatnonzero((problem.row == row) & (problem.periods == periods)):
        if number == parent:
            continue
        for side in sides[number]:
            first, last = side.point(0), side.point(-1)
            if side.end == MERGES and abs(last.u[0, -1] - point.u[0, -1]) < _MERGED:
                return True
            for place in (first, last):
                apart = np.append((place.y[0] - point.y[0]) / point.speed[0], place.u[0, -1] - point.u[0, -1])
                if place.shift[0] == point.shift[0] and np.abs(apart).max() < _SAME:
                    return True
    return False


def _sections(problem: Problem, motions: Points, asked: Sequence[tuple[int, float]]) -> list[np.ndarray]:
    """The points (q, n) of motions at sections, one period after the other [m/s]: for each number of a motion and shift of its section."""
    number = np.array([motion for motion, _ in asked])
    count = problem.periods[motions.branch[number]].astype(int)
    many = motions.take(np.repeat(number, count))
    wait = (np.repeat([shift for _, shift in asked], count) - many.shift) % 1.0
    periods = wait + np.concatenate([np.arange(each) for each in count])
    periods = np.where(periods == 0.0, np.repeat(count, count).astype(float), periods)
    u, _ = problem.later(many, periods)
    return np.split(u[:, :-1] * many.speed[:, None], np.cumsum(count)[:-1])
