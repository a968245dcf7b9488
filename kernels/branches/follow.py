"""Pseudo-arclength continuation of many branches side by side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tribosweep.kernels.branches.events import GRAZING, Found, between, happens, smooth
from tribosweep.kernels.branches.grazing import behind, differ
from tribosweep.kernels.branches.problem import BRANCH_POINT, FOLD, Plane, Points, Problem, joined

LOST, MERGES, CLOSED, KNOWN = "lost", "merges", "closed", "known"
ENDS = ("bound", CLOSED, GRAZING, MERGES, KNOWN, LOST, "most points")  # why a branch ends
NOTHING_MORE = ("bound", CLOSED, MERGES, KNOWN, "most points")  # ends behind which no other branch begins


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps along branches, in u: the first, the largest, the least one that is tried, and how many points each side has at most."""

    first: float = 0.01
    largest: float = 0.03
    least: float = 1e-9
    most: int = 2000


@dataclass(slots=True)
class Side:
    """One side of a branch, from its start on.

    Attributes:
        points: the points, in their order: tables of many sides, and the place of each in its table. kinds: what is special at each, or "".
        end: why it ends, one of `ENDS`. looked_behind: whether other motions were looked for behind its end.
        table: all points, once the side has ended.
    """

    points: list[tuple[Points, int]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    end: str = LOST
    looked_behind: bool = False
    table: Points | None = None

    def point(self, number: int) -> Points:
        """One of the points."""
        table, place = self.points[number]
        return table.take(np.array([place]))

    def cut(self, last: int) -> None:
        """End it at one of its points, behind which it is on a branch that is known."""
        points = self.together().take(np.arange(last + 1))
        self.table, self.kinds, self.end = points, self.kinds[: last + 1], KNOWN
        self.points = [(points, place) for place in range(last + 1)]

    def together(self) -> Points:
        """The points as one table."""
        if self.table is None:
            _put_together([self])
        return self.table  # type: ignore[return-value]


def _put_together(sides: list[Side]) -> None:
    """Give sides their tables."""
    tables = {id(table): table for side in sides for table, _ in side.points}
    first = dict(zip(tables, np.cumsum([0, *map(len, tables.values())]).tolist(), strict=False))
    whole = joined(list(tables.values()))
    for side in sides:
        side.table = whole.take(np.array([first[id(table)] + place for table, place in side.points]))
        side.points = [(side.table, place) for place in range(len(side.points))]


_MERGED = 0.01  # distance in u between the two halves of a motion below which it counts as one of half as many periods
_STUCK = 1e-4  # length of a step from which on another section is tried
_OF_RMS, _LARGER = 1.5, 3.0  # scale over the root mean square of the velocity; factor between two scales from which another one is taken
_SECTIONS = 16  # sections that are compared
_APART = 4  # points between two restarts
_LOOKED = 1e-6  # length of a step from which half of its way is looked at
_STRAIGHT = 1e-3  # part of a step by which the guess is off where that is not needed
_WIDEST, _WIDE = 0.35, 0.15  # angles [rad] between tangents at the ends of a step: not allowed; the next step is not longer


@dataclass(frozen=True, slots=True)
class _Tried:
    """One step of each of some sides.

    Attributes:
        side: (N,) numbers of the sides. before, after: the points. good: whether the point behind was found. bound: whether it lies on a
            bound of the parameter. length: in u. count: evaluations. turned: angle between the tangents [rad].
    """

    side: np.ndarray
    before: Points
    after: Points
    good: np.ndarray
    bound: np.ndarray
    length: np.ndarray
    count: np.ndarray
    turned: np.ndarray

    @property
    def numbers(self) -> tuple[np.ndarray, ...]:
        """What stands behind the points, in its order."""
        return self.good, self.bound, self.length, self.count, self.turned

    def take(self, which: np.ndarray) -> _Tried:
        """Those of some places, or of a mask."""
        one = self.before.take(which), self.after.take(which)
        return _Tried(self.side[which], *one, *(each[which] for each in self.numbers))

    def beside(self, others: _Tried) -> _Tried:
        """These and others."""
        one = joined([self.before, others.before]), joined([self.after, others.after])
        pairs = zip(self.numbers, others.numbers, strict=True)
        return _Tried(np.append(self.side, others.side), *one, *(np.append(*pair) for pair in pairs))


def follow(problem: Problem, start: Points, steps: Steps = Steps()) -> list[Side]:
    """Follow branches from their first points, in the direction of the tangents of these, until each ends.

    Returns the sides, in the order of `start`. Special points are among the points. Where a branch ends by grazing, the last point is the
    last one before it.

    A special point takes many evaluations one after the other. A side that comes to one waits until half of the sides do, and these
    points are located together.
    """
    return _Following(problem, start, steps).run()


class _Following:
    """Sides on their way.

    Attributes:
        sides: the sides. now: where each is. step: length of its next step. moved: how many points it had when it changed its section.
    """

    def __init__(self, problem: Problem, start: Points, steps: Steps) -> None:
        count = len(start)
        start = problem.observed(start)
        self.problem, self.start, self.steps = problem, start, steps
        self.sides = [Side([(start, i)], [""]) for i in range(count)]
        self.now, self.step, self.moved = start, np.full(count, steps.first), np.zeros(count, dtype=int)

    def run(self) -> list[Side]:
        """Follow all sides to their ends."""
        active, waiting = np.arange(len(self.sides)), None
        while active.size or waiting is not None:
            if waiting is not None and len(waiting.side) >= active.size:
                active, waiting = np.sort(np.append(active, self.settled(waiting))), None
                continue
            tried = self.tried(active)
            later = self.takes_long(tried)
            if later.any():
                slow = tried.take(later)
                waiting = slow if waiting is None else waiting.beside(slow)
            active = self.settled(tried.take(~later)) if not later.all() else active[:0]
        if self.sides:
            _put_together(self.sides)
        return self.sides

    def lengths(self, side: np.ndarray) -> np.ndarray:
        """Number of points of some sides."""
        return np.array([len(self.sides[i].points) for i in side])

    def stuck(self, tried: _Tried) -> np.ndarray:
        """Whether a step did not succeed though it is short, at a place where the side has not yet changed its section (N,)."""
        stuck: np.ndarray = ~tried.good & (tried.length < _STUCK) & (self.moved[tried.side] != self.lengths(tried.side))
        return stuck

    def tried(self, active: np.ndarray) -> _Tried:
        """A step of some sides."""
        at, h = self.now.take(active), self.step[active]
        target, bound = _bounded(at, h)
        guess = at.u + h[:, None] * at.tangent
        plane = Plane.through(guess, at.tangent)
        across = np.zeros_like(guess)
        across[:, -1] = 1.0
        part = np.where(bound, (target - at.u[:, -1]) / np.where(at.tangent[:, -1] != 0.0, at.tangent[:, -1], 1.0), h)
        guess = np.where(bound[:, None], at.u + part[:, None] * at.tangent, guess)
        plane = Plane(np.where(bound[:, None], across, plane.normal), np.where(bound, target, plane.offset))
        new, good, count = self.problem.correct(at.places, guess, plane, statistics=True)
        new = new.oriented(at.tangent)
        good &= bound | ((new.u[:, -1] >= 0.0) & (new.u[:, -1] <= 1.0))
        cosine = np.sum(new.tangent * at.tangent, axis=1)
        turned = np.arccos(np.clip(np.nan_to_num(cosine, nan=-1.0), -1.0, 1.0))
        good &= np.isfinite(new.tangent).all(axis=1) & (np.linalg.norm(new.u - at.u, axis=1) < 3.0 * h)
        other = differ(new, at)
        good &= (turned < _WIDEST) | (h <= np.where(other, 10.0, 100.0) * self.steps.least)
        straight = (count <= 2) & (np.linalg.norm(new.u - guess, axis=1) < _STRAIGHT * h)
        far = np.flatnonzero(good & (h > _LOOKED) & ~straight)
        if far.size:
            good[far] = smooth(self.problem, at.take(far), new.take(far))
        return _Tried(active, at, new, good, bound, h, count, turned)

    def takes_long(self, tried: _Tried) -> np.ndarray:
        """Whether steps (N,) have special points in them, or did not succeed so that something else must be tried."""
        good = tried.good
        long = ~good & (tried.length <= self.steps.least) | self.stuck(tried)
        if good.any():
            long[good] = happens(tried.before.take(good), tried.after.take(good))
        return np.asarray(long)

    def settled(self, tried: _Tried) -> np.ndarray:
        """Add what steps have found to their sides: the numbers of the sides that go on."""
        active, at, new, good, bound, h = tried.side, tried.before, tried.after, tried.good, tried.bound, tried.length.copy()
        sides, steps = self.sides, self.steps
        ends = np.full(active.size, "", dtype=object)
        start = self.start.take(active)
        back = good & _closed(at, new, start, h, self.lengths(active))
        new = new.where(back, start)
        if good.any():
            accepted = np.flatnonzero(good)
            stops, wrong = _record(self.problem, sides, active[accepted], at.take(accepted), new.take(accepted), h[accepted] > _LOOKED)
            ends[accepted] = stops
            good[accepted[wrong]] = False
        ends[good & bound & (ends == "")] = "bound"
        counts = self.lengths(active)
        ends[good & back & (ends == "")] = CLOSED
        ends[good & (counts >= steps.most) & (ends == "")] = "most points"
        ends[~good & (h <= steps.least)] = LOST
        self.now = self.now.put(active[good], in_scale(new.take(good)))
        restarted = np.zeros(active.size, dtype=bool)
        halted = np.flatnonzero((ends == LOST) | (ends == GRAZING))
        if halted.size:
            last = [self.now.take(active[[i]]) if ends[i] == LOST else sides[active[i]].point(-1) for i in halted]
            there, found, ends[halted] = _restarted(self.problem, [sides[i] for i in active[halted]], joined(last), ends[halted])
            self.now = self.now.put(active[halted[found]], there.take(found))
            h[halted[found]] = 10.0 * steps.least
            restarted[halted[found]] = True
        stuck = np.flatnonzero(self.stuck(tried) & ~restarted & (ends == ""))
        if stuck.size:
            self.moved[active[stuck]] = self.lengths(active[stuck])
            there, better = elsewhere(self.problem, self.now.take(active[stuck]))
            self.now = self.now.put(active[stuck[better]], there.take(better))
            h[stuck[better]] = 2.5 * steps.first
        easy, turned = (tried.count <= 3) & (tried.turned < _WIDE), tried.turned
        self.step[active] = np.where(good, np.where(easy, 1.5 * h, np.where(turned > 0.7 * _WIDEST, 0.6 * h, h)), 0.4 * h).clip(
            0.0, steps.largest
        )
        for place, end in zip(active, ends, strict=True):
            if end:
                sides[place].end = end
        return np.asarray(active[ends == ""])


def elsewhere(problem: Problem, points: Points) -> tuple[Points, np.ndarray]:
    """The same motions at the section that is farthest from the wall, or where a rubbing mass is fastest; and where that is another one.

    There a point of the section changes smoothly along a branch, which it does not where the section lies in a stiff contact.
    """
    count = len(points)
    many = points.take(np.repeat(np.arange(count), _SECTIONS))
    parts = np.tile(np.arange(1, _SECTIONS + 1) / _SECTIONS, count)
    u, direction = problem.later(many, parts)
    n = problem.map.dimension
    away = problem.map.clearance(problem.row[many.branch], problem.value(u[:, n:]), u[:, :n] * many.speed[:, None])
    best = np.argmax(np.nan_to_num(away, nan=-np.inf).reshape(count, _SECTIONS), axis=1)
    chosen = np.arange(count) * _SECTIONS + best
    across = np.broadcast_to(np.eye(points.u.shape[1])[n:], (count, points.u.shape[1] - n, points.u.shape[1]))
    places = points.places._replace(direction=direction[chosen], shift=np.mod(points.shift + parts[chosen], 1.0))
    found, good, _ = problem.correct(places, u[chosen], Plane(across, points.u[:, n:]), statistics=True)
    ahead = np.sign(points.tangent[:, -1]) * np.sign(found.tangent[:, -1])
    found = replace(found, tangent=found.tangent * np.where(ahead < 0.0, -1.0, 1.0)[:, None])
    return found, good & (best != _SECTIONS - 1) & np.isfinite(found.tangent).all(axis=1)


def in_scale(points: Points) -> Points:
    """The points in the scales of their motions, where these have become much larger or smaller than the scales they had."""
    speed = _OF_RMS * points.observables["v_rms"]
    usable = np.isfinite(speed) & (speed > 0.0)
    far = usable & ((speed > _LARGER * points.speed) | (speed < points.speed / _LARGER))
    return points.where(far, points.scaled(np.where(far, speed, points.speed)))


def _bounded(at: Points, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bound (0 or 1) of s that a step of length h would reach, and whether it does."""
    there = at.u[:, -1] + h * at.tangent[:, -1]
    target = np.where(at.tangent[:, -1] > 0.0, 1.0, 0.0)
    return target, (there >= 1.0) | (there <= 0.0)


def _closed(at: Points, new: Points, start: Points, h: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Whether steps bring a branch back to its start, which is near their ends and ahead."""
    near = (np.linalg.norm(new.u - start.u, axis=1) < h) & (new.shift == start.shift) & (new.speed == start.speed)
    ahead = (np.sum((start.u - at.u) * at.tangent, axis=1) > 0.0) & (np.sum(new.tangent * start.tangent, axis=1) > 0.9)
    closed: np.ndarray = near & ahead & (counts > 5)
    return closed


def _record(
    problem: Problem, sides: list[Side], active: np.ndarray, before: Points, after: Points, shorter: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Add the points of a step, with the special ones in it, to their sides.

    Returns why a side ends there, or "", and the steps that are refused: those to another branch, where a `shorter` one may be tried.
    """
    found, wrong = between(problem, before, after)
    wrong &= shorter
    ends = np.full(len(active), "", dtype=object)
    special: list[list[tuple[float, str, tuple[Points, int], bool]]] = [[] for _ in active]
    places = np.cumsum([0, *(len(each.points) for each in found)])
    seen = problem.observed(joined([each.points for each in found])) if places[-1] else after
    for each, first in zip(found, places, strict=False):
        for i, owner in enumerate(each.owner):
            special[owner].append((float(each.at[i]), each.kind, (seen, int(first) + i), bool(each.goes_on[i])))
    merges = _merging(problem, found)
    for place, owner in enumerate(active):
        side = sides[owner]
        if wrong[place]:
            continue
        for at, kind, point, goes_on in sorted(special[place], key=lambda one: one[0]):
            meets = (place, at) in merges and kind in (BRANCH_POINT, FOLD)
            side.points.append(point)
            side.kinds.append(BRANCH_POINT if meets else kind)  # both are located there, in either order
            if not goes_on:
                ends[place] = GRAZING
                break
            if meets:
                ends[place] = MERGES
                break
        else:
            side.points.append((after, place))
            side.kinds.append("")
    return ends, wrong


def _restarted(problem: Problem, sides: list[Side], last: Points, ends: np.ndarray) -> tuple[Points, np.ndarray, np.ndarray]:
    """Go on behind the grazings at which sides have come to a halt: first points behind, whether each was found, and the ends of sides.

    Sides that go on get a point and have no end any more; one with no motion behind its grazing ends there.
    """
    here, there, found, changes = behind(problem, last)
    found &= [GRAZING not in side.kinds[-_APART:-1] for side in sides]  # not for ever
    if changes.any():
        here = here.put(np.flatnonzero(changes), problem.observed(here.take(changes)))
    if found.any():
        there = there.put(np.flatnonzero(found), problem.observed(there.take(found)))
    for i, side in enumerate(sides):
        if changes[i]:
            if side.kinds[-1] == GRAZING:
                del side.points[-1], side.kinds[-1]
            side.points.append((here, i))
            side.kinds.append(GRAZING)
        if found[i]:
            side.points.append((there, i))
            side.kinds.append("")
    return there, found, np.where(found, "", np.where(changes, GRAZING, ends))


def _merging(problem: Problem, found: list[Found]) -> set[tuple[int, float]]:
    """Where branches of an even number of periods meet those of half of it: (place of the step, how far along it)."""
    meets: set[tuple[int, float]] = set()
    for each in found:
        if each.kind not in (BRANCH_POINT, FOLD) or not len(each.points):
            continue
        periods = problem.periods[each.points.branch]
        even = np.flatnonzero(periods % 2 == 0)
        if not even.size:
            continue
        points = each.points.take(even)
        there, _ = problem.later(points, periods[even] / 2)
        same = np.abs(there - points.u).max(axis=1) < _MERGED
        meets |= {(int(each.owner[even[i]]), float(each.at[even[i]])) for i in np.flatnonzero(same)}
    return meets
