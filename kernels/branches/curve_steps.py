"""Steps along curves of special points in two parameters, of many curves side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tribosweep.kernels.branches.events import GRAZING, bisected, located, on_circle
from tribosweep.kernels.branches.follow import Steps, elsewhere, in_scale
from tribosweep.kernels.branches.grazing import differ
from tribosweep.kernels.branches.problem import FLIP, FOLD, NEIMARK_SACKER, TESTS, Places, Plane, Points, Problem, Value, joined

BOUND, CLOSED, RESONANCE, EVENTS, LOST, MOST = "bound", "closed", "resonance", "other events", "lost", "most points"
ENDS = (BOUND, CLOSED, RESONANCE, EVENTS, LOST, MOST)  # why a curve ends
STEPS = Steps(first=2e-3, largest=0.06, least=1e-5, most=2000)
_WIDEST, _WIDE = 0.35, 0.1  # angles [rad] by which a curve turns in a step: not allowed; the next step is not longer
_NARROWEST, _WIDER, _BRACKETS = 1e-6, 8.0, 6  # half width of a first bracket across a curve, its growth, and how often it may grow
_CLOSED_AFTER = 6  # points
_NO_LENGTH = 1e-9  # in u, of a step that leads nowhere
_BEYOND = 1e-8  # distance in u behind a grazing at which the events are other ones


def folding(points: Points) -> np.ndarray:
    """Changes its sign where a multiplier passes 1."""
    determinant: np.ndarray = np.linalg.det(points.jacobian - np.eye(points.jacobian.shape[1]))
    return determinant


SMOOTH: Mapping[str, Value] = {FOLD: folding, **{kind: TESTS[kind] for kind in (FLIP, NEIMARK_SACKER)}}
FOLLOWED = (*SMOOTH, GRAZING)


@dataclass(slots=True)
class Side:
    """One side of a curve.

    Attributes:
        kind: one of `FOLLOWED`. events: what the motions at this side of a grazing consist of. points: from the start on.
        direction: (m,) unit vector along the curve at the last point.
        step, width: of the next step along it, and of the bracket across it. behind: events of the motions at the other side of a grazing.
        end: why it ends, or "". refused: why it would end here if no shorter step succeeds.
        since: place of the first point on the present section of the motion. tried: at how many points another section was tried last.
    """

    kind: str
    events: np.ndarray
    points: list[Points]
    direction: np.ndarray
    step: float
    width: float = 100.0 * _NARROWEST
    behind: np.ndarray | None = None
    end: str = ""
    refused: str = LOST
    since: int = 0
    tried: int = 0

    @property
    def begins(self) -> bool:
        """Whether the direction of the curve is not known yet, but to 90 degrees."""
        return len(self.points) - self.since == 1

    @property
    def reach(self) -> float:
        """How far from the guess the next point may be."""
        return (20.0 if self.begins else 0.5) * self.step

    def ahead(self) -> tuple[np.ndarray, np.ndarray]:
        """A guess (m,) one step along the curve, on the parabola through the last points, and the unit vector along that."""
        near = [point.u[0] for point in self.points[self.since :][-3:]]
        last, h = near[-1], self.step
        if len(near) < 3:
            return last + h * self.direction, self.direction
        a, b = np.linalg.norm(near[-1] - near[-2]), np.linalg.norm(near[-2] - near[-3])
        first, second = (near[-1] - near[-2]) / a, (near[-2] - near[-3]) / b
        bend = (first - second) / (a + b)
        along = first + (2.0 * h + a) * bend
        return last + h * first + h * (h + a) * bend, along / np.linalg.norm(along)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines on the surface across curves, on which special points are looked for, one for each active side.

    Attributes:
        guess: (N, m). within: the planes in which they lie. across: (N, m) unit vectors along them. bound: whether they lie on a bound.
    """

    guess: np.ndarray
    within: Plane
    across: np.ndarray
    bound: np.ndarray


def _surface(points: Points) -> np.ndarray:
    """Two unit vectors (N, 2, m) that span the surface of fixed points."""
    n = points.jacobian.shape[1]
    matrix = np.concatenate([points.jacobian - np.eye(n), points.slope], axis=2)
    return np.asarray(np.linalg.svd(matrix)[2][:, n:])


def _across(points: Points, along: np.ndarray) -> np.ndarray:
    """Unit vectors (N, m) on the surface across `along`."""
    plane = _surface(points)
    part = np.einsum("nim,nm->ni", plane, along)
    across = -part[:, 1:] * plane[:, 0] + part[:, :1] * plane[:, 1]
    return np.asarray(across / np.linalg.norm(across, axis=1, keepdims=True))


def _lines(problem: Problem, now: Points, sides: Sequence[Side]) -> Lines:
    """The lines one step ahead; where that is outside the bounds of a parameter, on the bound."""
    n = problem.map.dimension
    guess, along = (np.stack(each) for each in zip(*(side.ahead() for side in sides), strict=True))
    across = _across(now, along)
    normal, bound = along.copy(), np.zeros(len(sides), dtype=bool)
    for i in range(len(sides)):
        last, there = now.u[i, n:], guess[i, n:]
        target = np.where(there > last, 1.0, 0.0)
        outside = (there < 0.0) | (there > 1.0)
        if not outside.any():
            continue
        part = np.where(outside, (target - last) / np.where(there == last, 1.0, there - last), np.inf)
        k = int(np.argmin(part))
        bound[i] = True
        guess[i] = now.u[i] + max(part[k], 0.0) * (guess[i] - now.u[i])
        guess[i, n + k] = target[k]
        normal[i] = np.eye(len(guess[i]))[n + k]
        slanted = across[i] - along[i] * (across[i, n + k] / along[i, n + k])
        across[i] = slanted / np.linalg.norm(slanted)
    return Lines(guess, Plane.through(guess, normal), across, bound)


def _bracketed(problem: Problem, now: Points, sides: Sequence[Side], lines: Lines) -> tuple[Points, Points, np.ndarray]:
    """Motions at both sides of special points on lines, and whether they are at both sides."""
    count = len(sides)
    width, most = np.array([side.width for side in sides]), np.array([side.reach for side in sides])
    done = np.zeros(count, dtype=bool)
    left = right = now
    todo = np.arange(count)
    for _ in range(_BRACKETS):
        size = np.minimum(width[todo], most[todo])[:, None] * lines.across[todo]
        both = np.concatenate([lines.guess[todo] - size, lines.guess[todo] + size])
        twice = np.concatenate([todo, todo])
        within = lines.within.take(twice)
        found, good, _ = problem.correct(now.places.take(twice), both, within.beside(Plane.through(both, lines.across[twice])))
        for place, i in enumerate(todo.tolist()):
            a, b = found.take(np.array([place])), found.take(np.array([place + len(todo)]))
            pair, side = (bool(good[place]), bool(good[place + len(todo)])), sides[i]
            swapped = _parted(side, a, b, pair)
            if swapped is None:
                continue
            done[i] = True
            a, b, there = (b, a, pair[0]) if swapped else (a, b, pair[1])
            if side.behind is None and there and not np.array_equal(b.signature[0], side.events):
                side.behind = b.signature[0]
            left, right = left.put(np.array([i]), a), right.put(np.array([i]), b)
        width[todo] *= _WIDER
        todo = todo[~done[todo] & (width[todo] < _WIDER * most[todo])]
        if not todo.size:
            break
    return left, right, done


def _parted(side: Side, a: Points, b: Points, good: tuple[bool, bool]) -> bool | None:
    """Whether two motions are at different sides of a special point: None if not, True if the first one is behind a grazing."""
    side.refused = LOST
    if side.kind != GRAZING:
        if not all(good):
            return None
        if not (np.array_equal(a.signature[0], side.events) and np.array_equal(b.signature[0], side.events)):
            side.refused = EVENTS
            return None
        value = SMOOTH[side.kind]
        return False if float(value(a)[0]) * float(value(b)[0]) < 0.0 else None
    before = [ok and np.array_equal(point.signature[0], side.events) for ok, point in zip(good, (a, b), strict=True)]
    if before[0] == before[1]:
        side.refused = EVENTS if all(good) and not any(before) else LOST
        return None
    other, there = (b, good[1]) if before[0] else (a, good[0])
    if there and side.behind is not None and not np.array_equal(other.signature[0], side.behind):
        side.refused = EVENTS
        return None
    return before[1]


def _special(problem: Problem, left: Points, right: Points, kinds: np.ndarray, within: Plane) -> tuple[Points, np.ndarray]:
    """The special points between motions, and whether each was found."""
    points, found = left, np.zeros(len(left), dtype=bool)
    grazes = kinds == GRAZING
    for which in (np.flatnonzero(grazes), np.flatnonzero(~grazes)):
        if not which.size:
            continue
        ends, plane = (left.take(which), right.take(which)), within.take(which)
        if grazes[which[0]]:
            here, _, _, _ = bisected(problem, *ends, plane)
            across = ends[1].u - ends[0].u
            across /= np.linalg.norm(across, axis=1, keepdims=True)
            beyond, _, _, good = problem.images(here.places, here.u + _BEYOND * across)
            found[which] = good & differ(beyond, here)  # not where Newton's method ends for another reason
        else:
            here, _, found[which] = located(problem, *ends, kinds[which], SMOOTH, plane)
        points = points.put(which, here)
    return points, found


def _follow(problem: Problem, sides: list[Side], steps: Steps) -> None:
    """Follow the sides of curves until each ends."""
    active = [side for side in sides if not side.end]
    while active:
        now = joined([side.points[-1] for side in active])
        lines = _lines(problem, now, active)
        left, right, good = _bracketed(problem, now, active, lines)
        which = np.flatnonzero(good)
        if which.size:
            kinds = np.array([active[i].kind for i in which])
            within = lines.within.take(which)
            new, found = _special(problem, left.take(which), right.take(which), kinds, within)
            new = problem.observed(new)
            good[which] = found
            for place, i in enumerate(which.tolist()):
                if good[i]:
                    one = np.array([place])
                    good[i] = _accepted(problem, active[i], new.take(one), lines, i, steps)
        for i, side in enumerate(active):
            if not good[i]:
                side.step *= 0.4
            if not side.end and side.step < steps.least and not _on_another_section(problem, side, steps):
                side.end = side.refused
        active = [side for side in active if not side.end]


def _on_another_section(problem: Problem, side: Side, steps: Steps) -> bool:
    """Go on from the last point of a side on another section, if there is a better one: an event may come to lie on a section."""
    n, last = problem.map.dimension, side.points[-1]
    if side.refused == RESONANCE or side.tried == len(side.points):
        return False
    side.tried = len(side.points)
    there, better = elsewhere(problem, last)
    if not better[0]:
        return False
    plane = _surface(there)[0]
    direction = np.linalg.lstsq(plane[:, n:].T, side.direction[n:])[0] @ plane
    side.direction = direction / np.linalg.norm(direction)
    side.points[-1] = replace(there, tangent=side.direction[None])
    side.since, side.step, side.width = len(side.points) - 1, steps.first, 100.0 * _NARROWEST
    side.events, side.behind = there.signature[0], None
    return True


def _accepted(problem: Problem, side: Side, new: Points, lines: Lines, i: int, steps: Steps) -> bool:
    """Add a point to a side, unless it is too far away or of another kind; whether it was added."""
    n, last = problem.map.dimension, side.points[-1]
    chord = new.u[0] - last.u[0]
    length = float(np.linalg.norm(chord))
    s = new.u[0, n:]
    if side.kind == NEIMARK_SACKER and not on_circle(new)[0]:  # the product of two real ones is 1
        side.refused = RESONANCE
        return False
    side.refused = LOST
    if not np.isfinite(length) or length > 1.5 * side.step + side.reach or ((s < -1e-9) | (s > 1.0 + 1e-9)).any():
        return False
    if lines.bound[i] and length < _NO_LENGTH:  # it begins there
        side.end = BOUND
        return True
    turned = float(np.arccos(np.clip(np.dot(chord, side.direction) / length, -1.0, 1.0))) if length > 0.0 else 0.0
    if turned > _WIDEST and not side.begins and not lines.bound[i]:
        return False
    off = abs(float(np.dot(new.u[0] - lines.guess[i], lines.across[i])))
    first = side.begins
    side.direction = chord / length if length > 0.0 else side.direction
    side.width = max(3.0 * off, _NARROWEST)
    side.points.append(replace(new, tangent=side.direction[None]))
    scaled = in_scale(new)
    if scaled.speed[0] != new.speed[0]:
        side.points = [point.scaled(scaled.speed) for point in side.points]
        side.direction = side.points[-1].tangent[0]
    if first:
        side.step, side.width = min(2.0 * length, steps.largest), 0.2 * length
    elif turned < _WIDE and off < 0.1 * side.step:
        side.step = min(1.5 * side.step, steps.largest)
    elif turned > 0.7 * _WIDEST:
        side.step *= 0.6
    start = side.points[side.since]
    near = (
        start.shift[0] == new.shift[0]
        and float(np.linalg.norm(new.u[0] - start.u[0])) < side.step
        and float(np.dot(side.direction, start.tangent[0])) > 0.9
    )
    if lines.bound[i]:
        side.end = BOUND
    elif near and len(side.points) - side.since > _CLOSED_AFTER:
        side.end = CLOSED
    elif len(side.points) >= steps.most:
        side.end = MOST
    return True


def follow(
    problem: Problem, kinds: Sequence[str], u: np.ndarray, places: Places, along: np.ndarray, events: np.ndarray, steps: Steps = STEPS
) -> list[list[Side]]:
    """Follow curves to both sides from special points.

    Args:
        problem: of two parameters. kinds: what is special at each. u: (N, m) unknowns; `places`: where they are measured.
        along: (N, m) unit vectors along the branches on which the points were found. events: (N, k) signatures of the points.
        steps: the steps along curves, in u.

    Returns:
        The two sides of each curve, one if it is closed, none if the point is not found again.
    """
    second = np.zeros_like(along)
    second[:, -1] = 1.0
    points, good, _ = problem.correct(places, u, Plane.through(u, along).beside(Plane.through(u, second)))
    points, ok = problem.observed(points), np.flatnonzero(good)
    sides: list[list[Side]] = [[] for _ in kinds]
    if not ok.size:
        return sides
    towards = _across(points.take(ok), along[ok])
    for i, direction in zip(ok.tolist(), towards, strict=True):
        for sign in (1.0, -1.0):
            start = replace(points.take(np.array([i])), tangent=sign * direction[None])
            sides[i].append(Side(kinds[i], events[i], [start], sign * direction, steps.first))
    _follow(problem, [side for pair in sides for side in pair], steps)
    return [pair[:1] if pair and pair[0].end == CLOSED else pair for pair in sides]
