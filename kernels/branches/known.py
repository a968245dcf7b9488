"""Which motions and special points are on branches that are known already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.branches.events import GRAZING, cubic
from tribosweep.kernels.branches.follow import CLOSED, MERGES, Side
from tribosweep.kernels.branches.problem import BRANCH_POINT, CLOSES, FLIP, FOLD, Plane, Points, Problem, joined

if TYPE_CHECKING:
    from tribosweep.kernels.branches.branch import Branch

_NEAR = 0.1  # distance from the chord of two rows, in its length, from which on a motion cannot lie between them: they turn by 0.35 at most
_SAME = 1e-6  # distance in u of a motion from the branch on which it lies
_BEHIND = 1e-4  # distance in u behind a grazing at which a branch is compared with others: they may be as near as `_SAME` at its start
_SAME_PLACE, _SAME_MOTION = 1e-6, 0.02  # distances in s and over the speed of a special point from the same one on another branch


def on_branches(
    problem: Problem, sides: Sequence[Sequence[Side]], trial: Problem, found: Points, without: Sequence[int] | None = None
) -> np.ndarray:
    """Whether motions lie on branches of their rows and periods, at any of their periods (N,).

    Args:
        problem: of the branches. sides: of each branch. trial: the problem in which the motions are points. found: the motions.
        without: (N,) number of a branch with which each is not compared.
    """
    known = np.zeros(len(found), dtype=bool)
    rows, periods = trial.row[found.branch], trial.periods[found.branch]
    beside: list[tuple[int, Points, Points]] = []  # motion; left and right ends of the pieces of a side
    for i in range(len(found)):
        for number in np.flatnonzero((problem.row == rows[i]) & (problem.periods == periods[i])).tolist():
            if without is None or number != without[i]:
                beside += [(i, *pieces) for pieces in (_pieces(problem, side) for side in sides[number]) if len(pieces[0])]
    if not beside:
        return known
    asked = list(dict.fromkeys((i, float(shift)) for i, left, _ in beside for shift in np.unique(left.shift)))
    seen = dict(zip(asked, _sections(trial, found, asked), strict=True))
    motions: list[int] = []
    parts: list[tuple[Points, Points, np.ndarray, float]] = []  # ends of a piece, the motion in its unknowns, how far along
    for i, left, right in beside:
        for shift in np.unique(left.shift):
            here = np.flatnonzero(left.shift == shift)
            for place, z, at in _nearest(left.take(here), right.take(here), seen[i, float(shift)], found.u[i, -1]):
                motions.append(i)
                parts.append((left.take(here[[place]]), right.take(here[[place]]), z, at))
    if not parts:
        return known
    left, right = joined([one[0] for one in parts]), joined([one[1] for one in parts])
    z, along = np.stack([one[2] for one in parts]), np.array([one[3] for one in parts])
    chord = right.u - left.u
    exact, ok, _ = problem.correct(left.places, cubic(left, right, along), Plane.through(z, chord / np.linalg.norm(chord, axis=1)[:, None]))
    same = ok & (np.abs(exact.u - z).max(axis=1) < _SAME)
    known[np.array(motions)[same]] = True
    return known


def _pieces(problem: Problem, side: Side) -> tuple[Points, Points]:
    """The ends of the pieces between rows of a side, at the same section and in the same scale each."""
    points = side.together()
    left, right = points.take(np.arange(len(points) - 1)), points.take(np.arange(1, len(points)))
    moved = np.flatnonzero(left.shift != right.shift)
    if moved.size:
        some, target = left.take(moved), right.take(moved)
        u, direction = problem.later(some, (target.shift - some.shift) % 1.0)
        unknown = np.full_like(some.tangent, np.nan)  # there
        left = left.put(moved, replace(some, u=u, direction=direction, shift=target.shift, tangent=unknown))
    left = left.scaled(right.speed)
    apart = np.flatnonzero(np.linalg.norm(right.u - left.u, axis=1) > 0.0)
    return left.take(apart), right.take(apart)


def _nearest(left: Points, right: Points, y: np.ndarray, s: float) -> list[tuple[int, np.ndarray, float]]:
    """Where motions (q, n) [m/s] at a place s may lie between rows: the nearest piece, their unknowns there, and how far along."""
    found = []
    chord = right.u - left.u
    length = np.linalg.norm(chord, axis=1)
    for one in y:
        z = np.append(one / left.speed[:, None], np.full((len(left), 1), s), axis=1)
        part = np.clip(np.sum((z - left.u) * chord, axis=1) / length**2, 0.0, 1.0)
        off = np.linalg.norm(z - left.u - part[:, None] * chord, axis=1) / (_NEAR * length + _SAME)
        place = int(np.argmin(np.nan_to_num(off, nan=np.inf)))
        if off[place] < 1.0:
            found.append((place, z[place], float(part[place])))
    return found


def least_periods(problem: Problem, points: Points) -> np.ndarray:
    """The least periods after which motions close, those of their branches or a divisor of them (N,).

    A motion of fewer periods closes over the number divided by one of its prime factors.
    """
    least: np.ndarray = problem.periods[points.branch].copy()
    todo, most = np.arange(len(points)), int(least.max(initial=1.0))
    primes = [n for n in range(2, most + 1) if all(n % d for d in range(2, n))]
    while asked := [(i, least[i] / prime) for i in todo for prime in primes if least[i] % prime == 0.0]:
        which, parts = np.array([i for i, _ in asked]), np.array([part for _, part in asked])
        u, _ = problem.later(points.take(which), parts)
        same = np.abs(u - points.u[which]).max(axis=1) <= CLOSES
        np.minimum.at(least, which[same], parts[same])
        todo = np.unique(which[same])
    return least


def cut_where_fewer(problem: Problem, new: Sequence[tuple[int, Side]]) -> list[tuple[int, Points, float]]:
    """End sides of new branches (number, side) where their motions become those of fewer periods.

    The motions behind a grazing may be those of a branch that meets this one there. A single row does not end a side: a branch of three
    periods passes through one of one period.

    Returns:
        Branches, the first motions that are of fewer periods, and these periods, where sides were cut.
    """
    several = [(number, side) for number, side in new if problem.periods[number] > 1.0 and len(side.kinds) > 1]
    if not several:
        return []
    least = least_periods(problem, joined([side.together() for _, side in several]))
    found: list[tuple[int, Points, float]] = []
    for (number, side), periods in zip(several, np.split(least, np.cumsum([len(side.kinds) for _, side in several])[:-1]), strict=True):
        fewer = periods < problem.periods[number]
        run = np.flatnonzero(fewer[:-1] & fewer[1:])
        if not run.size:
            continue
        first = int(run[0])
        last = first if side.kinds[first] else max(first - 1, 0)
        found.append((number, side.point(first + 1), float(periods[first + 1])))
        kind = side.kinds[last]
        side.cut(last)
        if kind in (GRAZING, FOLD, BRANCH_POINT):  # there they meet; else, as at a flip, a step passed over that place
            side.kinds[-1], side.end = kind if kind == GRAZING else BRANCH_POINT, MERGES
    return found


def cut_where_known(problem: Problem, sides: Sequence[Sequence[Side]], new: Sequence[tuple[int, Side]]) -> None:
    """End sides of new branches (number, side) where they come to another branch, which may be behind a grazing."""
    probes: list[tuple[int, int, int | None, int]] = []  # place in `new`, row, grazing before it (None at an end), branch
    for place, (number, side) in enumerate(new):
        points = side.together()
        last = len(points) - 1
        for i in (i for i, kind in enumerate(side.kinds) if kind == GRAZING):
            away = np.flatnonzero(np.linalg.norm(points.u[i:] - points.u[i], axis=1) > _BEHIND)
            if away.size and i + away[0] < last:
                probes.append((place, i + int(away[0]), i, number))
        if side.end not in (MERGES, GRAZING, CLOSED) and last > 0:
            probes.append((place, last, None, number))
    others = [(int(problem.row[number]), float(problem.periods[number])) for number, each in enumerate(sides) if each]
    probes = [one for one in probes if others.count((int(problem.row[one[3]]), float(problem.periods[one[3]]))) > 1]
    if not probes:
        return
    points = joined([new[place][1].point(row) for place, row, _, _ in probes])
    known = on_branches(problem, sides, problem, points, [number for _, _, _, number in probes])
    for (place, row, grazing, number), is_known in zip(reversed(probes), known[::-1], strict=True):  # the end of a side is its first
        side = new[place][1]
        if is_known and grazing is None:  # it may have come to the other branch before, where they cross
            rows = side.together().take(np.arange(1, row))
            before = on_branches(problem, sides, problem, rows, [number] * len(rows)) if len(rows) else np.zeros(0, dtype=bool)
            side.cut(int(np.flatnonzero(~before)[-1]) + 1 if not before.all() else 0)
        elif is_known and grazing is not None and grazing < len(side.kinds):
            side.cut(grazing)


def seen_before(problem: Problem, found: Sequence[Branch]) -> list[tuple[int, int]]:
    """Branch points (number of the branch, row) that are flips or branch points of a branch before it, or earlier on the same branch."""
    special = [
        (number, i, kind) for number, branch in enumerate(found) for i, kind in enumerate(branch.kinds) if kind in (FLIP, BRANCH_POINT)
    ]
    if not any(kind == BRANCH_POINT for _, _, kind in special):
        return []
    points = joined([found[number].points.take(np.array([i])) for number, i, _ in special])
    whole = _sections(problem, points, [(place, 0.0) for place in range(len(special))])
    again = []
    for place, (number, i, kind) in enumerate(special):
        for before, (other, _, of) in enumerate(special[:place] if kind == BRANCH_POINT else []):
            if found[other].row != found[number].row or (other == number and of == FLIP):
                continue
            apart = np.abs(whole[before] - whole[place][0]).max(axis=1).min() / points.speed[place]
            if abs(points.u[before, -1] - points.u[place, -1]) < _SAME_PLACE and apart < _SAME_MOTION:
                again.append((number, i))
                break
    return again


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
