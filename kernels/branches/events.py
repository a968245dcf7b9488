"""What happens along a branch between two of its points: changes of stability, and changes of the events that a period consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kernels.branches.problem import TESTS, Plane, Points, Problem, Value, joined, multipliers

GRAZING, BRANCH_POINT = "grazing", "branch point"
LOCATED = 1e-12  # width in u of the bracket around a located point
_APART = 1e-6  # points at both sides of a grazing that are farther apart than this in u lie on different branches
_HALVINGS, _MOST_ROOTS = 60, 40
_REAL = 1e-7  # imaginary part below which a multiplier counts as real


@dataclass(frozen=True, slots=True)
class Found:
    """Special points of one kind.

    Attributes:
        kind: a key of `TESTS` or GRAZING. owner: (N,) place of the step in which each lies. at: how far along that step, 0 to 1.
        points: the points; of a grazing those before it. after: those behind a grazing. goes_on: whether the branch goes on there.
    """

    kind: str
    owner: np.ndarray
    at: np.ndarray
    points: Points
    after: Points
    goes_on: np.ndarray


def happens(before: Points, after: Points) -> np.ndarray:
    """Whether special points lie in steps from `before` to `after` (N,)."""
    found = np.any(before.signature != after.signature, axis=1)
    for value in TESTS.values():
        found |= _passes_zero(value(before), value(after))
    return np.asarray(found)


def _passes_zero(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether finite values have other signs at the two ends of steps."""
    passes: np.ndarray = np.isfinite(a) & np.isfinite(b) & (np.sign(a) * np.sign(b) < 0.0)
    return passes


def between(problem: Problem, before: Points, after: Points) -> list[Found]:
    """All special points of steps along branches, from `before` (N) to `after` (N)."""
    found: list[Found] = []
    parts: list[_Part] = []
    whole = _Part(np.arange(len(before)), before, after, np.zeros(len(before)), np.ones(len(before)))
    for _ in range(8):  # changes of the events in one step
        differs = np.any(whole.left.signature != whole.right.signature, axis=1)
        parts.append(whole.take(~differs))
        if not differs.any():
            break
        whole = whole.take(differs)
        here, there, goes_on, part = bisected(problem, whole.left, whole.right)
        at = whole.start + part * (whole.end - whole.start)
        found.append(Found(GRAZING, whole.owner, at, here, there, goes_on))
        parts.append(replace(whole, right=here, end=at))
        whole = replace(whole, left=there, start=at).take(goes_on)
        if not len(whole.owner):
            break
    return found + _smooth(problem, parts)


@dataclass(frozen=True, slots=True)
class _Part:
    """Parts of steps whose motions have the same events: owner, see `Found`; ends, and how far along their steps these lie (N,)."""

    owner: np.ndarray
    left: Points
    right: Points
    start: np.ndarray
    end: np.ndarray

    def take(self, which: np.ndarray) -> _Part:
        """Those of some places, or of a mask."""
        return _Part(self.owner[which], self.left.take(which), self.right.take(which), self.start[which], self.end[which])


def _smooth(problem: Problem, parts: list[_Part]) -> list[Found]:
    """The special points in parts of steps. All are located together."""
    parts = [part for part in parts if part.owner.size]
    changes = [(kind, part.take(_passes_zero(value(part.left), value(part.right)))) for part in parts for kind, value in TESTS.items()]
    changes = [(kind, part) for kind, part in changes if part.owner.size]
    if not changes:
        return []
    kinds = np.repeat([kind for kind, _ in changes], [len(part.owner) for _, part in changes])
    left, right = joined([part.left for _, part in changes]), joined([part.right for _, part in changes])
    every = located(problem, left, right, kinds, TESTS)
    found: list[Found] = []
    stop = 0
    for kind, part in changes:
        these = np.arange(stop, stop := stop + len(part.owner))
        points, at, good = every[0].take(these), every[1][these], every[2][these]
        if kind == "Neimark-Sacker":  # not where the product of two real ones is 1
            good &= on_circle(points)
        if kind == BRANCH_POINT:  # Newton's method has no isolated solution there
            good = np.ones_like(good)
        places = part.start + at * (part.end - part.start)
        found.append(Found(kind, part.owner[good], places[good], points.take(good), points.take(good), np.ones(good.sum(), bool)))
    return found


def _tested(points: Points, kinds: np.ndarray, tests: Mapping[str, Value]) -> np.ndarray:
    """The values (N,) that are zero at special points, each of the kind named beside it: keys of `tests`."""
    found = np.full(len(points), np.nan)
    for kind in set(kinds.tolist()):
        chosen = kinds == kind
        found[chosen] = tests[kind](points.take(chosen))
    return found


def on_circle(points: Points) -> np.ndarray:
    """Whether two complex multipliers lie on the unit circle."""
    values = multipliers(points)
    there: np.ndarray = np.any((np.abs(values.imag) > _REAL) & (np.abs(np.abs(values) - 1.0) < 1e-6), axis=1)
    return there


def _guess(left: Points, right: Points, part: np.ndarray) -> np.ndarray:
    """Points on the cubic with the ends and tangents of steps, at a part of the way (N,)."""
    chord = right.u - left.u
    length = np.linalg.norm(chord, axis=1, keepdims=True)
    unit = chord / np.where(length > 0.0, length, 1.0)

    def stretched(tangent: np.ndarray) -> np.ndarray:
        ahead = np.sum(tangent * unit, axis=1, keepdims=True)
        usable = np.isfinite(tangent).all(axis=1, keepdims=True) & (ahead > 0.2)
        whole: np.ndarray = np.where(usable, tangent * length / np.where(usable, ahead, 1.0), chord)
        return whole

    x = part[:, None]
    guess: np.ndarray = (
        left.u + x * chord + x * (1.0 - x) * ((1.0 - x) * (stretched(left.tangent) - chord) - x * (stretched(right.tangent) - chord))
    )
    return guess


def _planes(left: Points, right: Points, part: np.ndarray, within: Plane | None) -> Plane:
    """The planes across steps at a part of the way, and with two parameters those `within` which the steps lie."""
    chord = right.u - left.u
    length = np.linalg.norm(chord, axis=1, keepdims=True)
    across = Plane.through(left.u + part[:, None] * chord, chord / np.where(length > 0.0, length, 1.0))
    return across if within is None else across.beside(within)


def located(
    problem: Problem, left: Points, right: Points, kinds: np.ndarray, tests: Mapping[str, Value], within: Plane | None = None
) -> tuple[Points, np.ndarray, np.ndarray]:
    """The zeros of values along N steps (regula falsi, Illinois): the points, the part of the way, and whether each was found.

    A point that was not found is the guess on the cubic through both ends.

    Args:
        left, right: the ends of the steps. kinds: (N,) what is looked for in each, a key of `tests`. tests: values of points.
        within: planes to which the steps are confined.
    """
    count = len(left)
    low, high, at_low, at_high = np.zeros(count), np.ones(count), _tested(left, kinds, tests), _tested(right, kinds, tests)
    width = np.linalg.norm(right.u - left.u, axis=1)
    points, part, good = left, np.zeros(count), np.zeros(count, dtype=bool)
    todo = np.arange(count)
    side = np.zeros(count)
    for _ in range(_MOST_ROOTS):
        a, b, fa, fb = low[todo], high[todo], at_low[todo], at_high[todo]
        part[todo] = middle = np.clip((a * fb - b * fa) / (fb - fa), a, b)
        ends = left.take(todo), right.take(todo)
        guess = _guess(*ends, middle)
        new, converged, _ = problem.correct(ends[0].places, guess, _planes(*ends, middle, _taken(within, todo)))
        new = new.oriented(ends[1].u - ends[0].u)
        f = _tested(new, kinds[todo], tests)
        good[todo] = converged & np.isfinite(f)
        if not good[todo].all():  # where branches cross, Newton's method has no isolated solution: the guess is as near as one comes
            plain = problem.images(ends[0].places, guess)[0]
            new = new.where(~good[todo], replace(plain, tangent=ends[0].tangent))
        points = points.put(todo, new)
        same = np.sign(f) == np.sign(fa)
        low[todo], at_low[todo] = np.where(same, middle, a), np.where(same, f, np.where(side[todo] < 0.0, 0.5 * fa, fa))
        high[todo], at_high[todo] = np.where(same, b, middle), np.where(same, np.where(side[todo] > 0.0, 0.5 * fb, fb), f)
        side[todo] = np.where(same, 1.0, -1.0)
        step = np.minimum(middle - a, b - middle) * width[todo]
        todo = todo[good[todo] & (f != 0.0) & (step > LOCATED)]
        if not todo.size:
            break
    return points, part, good


def bisected(problem: Problem, left: Points, right: Points, within: Plane | None = None) -> tuple[Points, Points, np.ndarray, np.ndarray]:
    """Where the events of a period change: the last points before, the first points behind, whether the branch goes on, part of the way."""
    count = len(left)
    low, high = np.zeros(count), np.ones(count)
    here, there = left, right
    width = np.linalg.norm(right.u - left.u, axis=1)
    todo = np.arange(count)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low[todo] + high[todo])
        ends = left.take(todo), right.take(todo)
        a, b = here.take(todo), there.take(todo)
        guess = a.u + ((middle - low[todo]) / (high[todo] - low[todo]))[:, None] * (b.u - a.u)
        new, converged, _ = problem.correct(a.places, guess, _planes(*ends, middle, _taken(within, todo)))
        new = new.oriented(ends[1].u - ends[0].u)
        same = converged & np.all(new.signature == a.signature, axis=1)
        low[todo], high[todo] = np.where(same, middle, low[todo]), np.where(same, high[todo], middle)
        here = here.put(todo[same], new.take(same))
        there = there.put(todo[converged & ~same], new.take(converged & ~same))
        todo = todo[(high[todo] - low[todo]) * width[todo] > LOCATED]
        if not todo.size:
            break
    goes_on = np.linalg.norm(here.u - there.u, axis=1) < _APART
    return here, there, goes_on, 0.5 * (low + high)


def _taken(plane: Plane | None, which: np.ndarray) -> Plane | None:
    """The planes of some places."""
    return None if plane is None else plane.take(which)
