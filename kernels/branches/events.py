"""What happens along a branch between two of its points: changes of stability, and changes of the events that a period consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tribosweep.kernels.branches.problem import (
    BRANCH_POINT,
    NEIMARK_SACKER,
    TESTS,
    Plane,
    Points,
    Problem,
    Value,
    bordered,
    joined,
    multipliers,
    solved,
    tangents,
)

GRAZING = "grazing"
LOCATED = 1e-12  # width in u of the bracket around a located point
_APART = 1e-6  # points at both sides of a grazing that are farther apart than this in u lie on different branches
_HALVINGS, _MOST_ROOTS = 60, 40
_OFF, _OFF_CORNER = 0.02, 0.1  # most of a step by which a branch may be off its cubic; with a change of the events in the step
_ZERO = 1e-3  # part of the values at the ends of a step below which a test counts as zero
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


def smooth(problem: Problem, before: Points, after: Points) -> np.ndarray:
    """Whether steps from `before` to `after` seem to lie on one branch, with one special point of a kind at most (N,).

    Half of the way, the map is looked at on the cubic through both ends: the branch must be near, its events must be those of one of the
    ends, and no test may have another sign there than at both ends. A step that passes over a fold and a grazing, or comes to the same
    motion one period later, has ends that fit each other, multipliers included.
    """
    count = len(before)
    guess = cubic(before, after, np.full(count, 0.5))
    chord = after.u - before.u
    length = np.linalg.norm(chord, axis=1)
    along = chord / np.where(length > 0.0, length, 1.0)[:, None]
    points, residual, facing, good = problem.images(before.places, guess)
    apart = np.linalg.norm(solved(bordered(points, along), np.append(residual, np.zeros((count, 1)), axis=1)), axis=1)
    points = replace(points, tangent=tangents(points, along))
    same = np.all(before.signature == after.signature, axis=1)
    known = np.all(points.signature == before.signature, axis=1) | np.all(points.signature == after.signature, axis=1)
    fits = good & known & (apart < np.where(same, _OFF, _OFF_CORNER) * length)
    for value in TESTS.values():
        a, b, c = value(before), value(points), value(after)
        fits &= ~(_passes_zero(a, b) & _passes_zero(b, c))
    holds = (before.direction == 0.0, facing == 0.0, after.direction == 0.0)
    comparable = (holds[0] == holds[1]) & (holds[1] == holds[2]) & (before.shift == after.shift) & (before.speed == after.speed)
    return np.asarray(fits | ~comparable)


def between(problem: Problem, before: Points, after: Points) -> tuple[list[Found], np.ndarray]:
    """All special points of steps along branches, from `before` (N) to `after` (N), and which steps seem to go to another branch (N,).

    A test that changes its sign without a zero, or with one where no periodic motion is, belongs to a step from a branch to another one.
    """
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
    special, wrong = _smooth(problem, parts)
    return found + special, np.isin(np.arange(len(before)), wrong)


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


def _smooth(problem: Problem, parts: list[_Part]) -> tuple[list[Found], np.ndarray]:
    """The special points in parts of steps, located together, and the numbers of the steps that seem to go to another branch."""
    parts = [part for part in parts if part.owner.size]
    changes = [(kind, part.take(_passes_zero(value(part.left), value(part.right)))) for part in parts for kind, value in TESTS.items()]
    changes = [(kind, part) for kind, part in changes if part.owner.size]
    none = np.zeros(0, dtype=int)
    if not changes:
        return [], none
    kinds = np.repeat([kind for kind, _ in changes], [len(part.owner) for _, part in changes])
    left, right = joined([part.left for _, part in changes]), joined([part.right for _, part in changes])
    points, at, good = located(problem, left, right, kinds, TESTS)
    at_ends = np.maximum(np.abs(_tested(left, kinds, TESTS)), np.abs(_tested(right, kinds, TESTS)))
    crossings = np.flatnonzero(kinds == BRANCH_POINT)
    if crossings.size:
        points = points.put(crossings, _nearer(problem, points.take(crossings)))
    good = np.where(kinds == BRANCH_POINT, points.closes, good & (np.abs(_tested(points, kinds, TESTS)) < _ZERO * at_ends))
    owner = np.concatenate([part.owner for _, part in changes])
    crossed = owner[good & (kinds == BRANCH_POINT)]  # nor has it for the fold of a branch that merges
    wrong = owner[~good & ~np.isin(owner, crossed)]
    good &= (kinds != NEIMARK_SACKER) | on_circle(points)  # the product of two real ones may be 1
    found: list[Found] = []
    stop = 0
    for kind, part in changes:
        these = np.arange(stop, stop := stop + len(part.owner))
        these, ok = these[good[these]], good[these]
        places = part.start + at[stop - len(part.owner) : stop] * (part.end - part.start)
        here = points.take(these)
        found.append(Found(kind, part.owner[ok], places[ok], here, here, np.ones(len(these), bool)))
    return found, wrong


def _nearer(problem: Problem, points: Points) -> Points:
    """Points near crossings of branches after a step in which the direction that is singular there has no part, if they close better."""
    n = points.jacobian.shape[1]
    matrix = np.concatenate([points.jacobian - np.eye(n), points.slope], axis=2)
    _, residual, _, good = problem.images(points.places, points.u)
    left, values, right = np.linalg.svd(np.where(np.isfinite(matrix), matrix, 0.0), full_matrices=False)
    part = np.einsum("nij,ni->nj", left, residual) / np.where(values > 0.0, values, np.inf)
    part[:, -1] = 0.0
    new, _, _, there = problem.images(points.places, points.u - np.einsum("nij,ni->nj", right, part))
    better = good & there & (new.residual < points.residual)
    return points.where(better, replace(new, tangent=points.tangent))


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


def cubic(left: Points, right: Points, part: np.ndarray) -> np.ndarray:
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

    A point where branches cross counts as not found: it lies on the cubic through both ends.

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
        guess = cubic(*ends, middle)
        chord, planes = ends[1].u - ends[0].u, _planes(*ends, middle, _taken(within, todo))
        new, converged, crosses = ends[0], np.zeros(todo.size, dtype=bool), kinds[todo] == BRANCH_POINT
        for which in (np.flatnonzero(crosses), np.flatnonzero(~crosses)):
            if not which.size:
                continue
            places = ends[0].places.take(which)
            if crosses[which[0]]:  # Newton's method has no isolated solution there: the guess is as near as one comes
                along = chord[which] / np.linalg.norm(chord[which], axis=1, keepdims=True)
                new = new.put(which, replace(problem.images(places, guess[which])[0], tangent=along))
            else:
                found, converged[which], _ = problem.correct(places, guess[which], planes.take(which))
                new = new.put(which, found.oriented(chord[which]))
        f = _tested(new, kinds[todo], tests)
        good[todo] = converged & np.isfinite(f)
        goes_on = np.isfinite(f) & (converged | crosses)
        points = points.put(todo, new)
        same = np.sign(f) == np.sign(fa)
        low[todo], at_low[todo] = np.where(same, middle, a), np.where(same, f, np.where(side[todo] < 0.0, 0.5 * fa, fa))
        high[todo], at_high[todo] = np.where(same, b, middle), np.where(same, np.where(side[todo] > 0.0, 0.5 * fb, fb), f)
        side[todo] = np.where(same, 1.0, -1.0)
        step = np.minimum(middle - a, b - middle) * width[todo]
        todo = todo[goes_on & (f != 0.0) & (step > LOCATED)]
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
