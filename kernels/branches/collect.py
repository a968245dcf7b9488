"""All branches of periodic motions that can be reached: from steady motions at several places, through flips, crossings and grazings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.branches.branch import Branch
from tribosweep.kernels.branches.follow import CLOSED, MERGES, NOTHING_MORE, Side, Steps, elsewhere, follow, in_scale
from tribosweep.kernels.branches.known import cut_where_fewer, cut_where_known, least_periods, on_branches, seen_before
from tribosweep.kernels.branches.problem import BRANCH_POINT, CLOSES, FLIP, Places, Plane, Points, Problem, joined, multipliers
from tribosweep.kernels.branches.section_map import SectionMap
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.schemes import EXACT, PAIR, STEADY
from tribosweep.kernels.models.status import Status

SEED = "steady motion"
_AWAY = (1e-3, 1e-2, 1e-4)  # distances in u from a point where branches meet, tried one after the other
_BEHIND = 1e-3  # distance in s from the end of a branch at which other motions are looked for
_CLOSING = 3  # evaluations, and Newton steps between them, until a motion closes at t = 0
_SAME_MOTION = 1e-4  # distance in u at t = 0 within which Newton's method has stayed at a motion
_SETTLING = 60  # repetitions of a motion that are run until the stretch of its penalised contact repeats


@dataclass(frozen=True, slots=True)
class _Seed:
    """A place to look for a steady motion from: row, place s, displacement [m] and velocity [m/s] at the start, branch that led there."""

    row: int
    s: float
    x: float
    v: float
    origin: str = SEED
    parent: int = -1


@dataclass(frozen=True, slots=True)
class _Start:
    """The first point of a branch.

    Attributes:
        row: number of the row. point: with the tangent along which it is followed. periods: see `Problem`.
        origin, parent: see `Branch`. both: whether it has a second side.
    """

    row: int
    point: Points
    periods: float
    origin: str
    parent: int
    both: bool


class _Collector:
    """The branches found so far."""

    def __init__(
        self, model: Model, columns: Mapping[str, np.ndarray | float], problem: Problem, steps: Steps, periods: int, most: int
    ) -> None:
        self.model, self.columns, self.problem, self.steps, self.periods, self.most = model, columns, problem, steps, periods, most
        self.sides: list[list[Side]] = []  # of each branch
        self.origins: list[tuple[str, int]] = []
        self.special: list[tuple[int, str, Points, float]] = []  # special points, not looked at: branch, kind, point, way from it
        self.fewer: list[_Start] = []  # motions of fewer periods than the branch or the start that came to them, not looked at

    def room(self, row: int) -> bool:
        """Whether a row may have one more branch."""
        return int(np.count_nonzero(self.problem.row == row)) < self.most

    def follow(self, starts: list[_Start]) -> None:
        """Follow new branches from their first points, at most one of a row and a number of periods.

        A motion that closes over fewer periods than its start says is followed as one of these, unless it is known.
        """
        starts = self._of_least_periods(starts)
        if not starts:
            return
        first, p = len(self.sides), self.problem
        self.problem = replace(
            p,
            row=np.append(p.row, [start.row for start in starts]),
            periods=np.append(p.periods, [start.periods for start in starts]),
        )
        self.origins += [(start.origin, start.parent) for start in starts]
        self.sides += [[] for _ in starts]
        forward = [replace(start.point, branch=np.array([first + i])) for i, start in enumerate(starts)]
        backward = [replace(point, tangent=-point.tangent) for point, start in zip(forward, starts, strict=True) if start.both]
        both = joined(forward + backward)
        for branch, side in zip(both.branch, follow(self.problem, both, self.steps), strict=True):
            if not (self.sides[branch] and self.sides[branch][0].end == CLOSED):  # the other side is the same, backwards
                self.sides[branch].append(side)
        new = [(number, side) for number in range(first, len(self.sides)) for side in self.sides[number]]
        fewer = [(number, side.point(-1), self.problem.periods[number] / 2.0) for number, side in new if side.end == MERGES]
        fewer += cut_where_fewer(self.problem, new)
        rows = self.problem.row
        self.fewer += [_Start(int(rows[number]), point, periods, BRANCH_POINT, number, both=True) for number, point, periods in fewer]
        cut_where_known(self.problem, self.sides, new)
        for number, side in new:
            for i, kind in enumerate(side.kinds):
                if kind and not (side.end == MERGES and i == len(side.kinds) - 1):
                    self.special += [(number, kind, side.point(i), sign) for sign in ((1.0, -1.0) if kind == BRANCH_POINT else (1.0,))]

    def _of_least_periods(self, starts: list[_Start]) -> list[_Start]:
        """The starts whose motions close over no fewer periods than they say; `fewer` takes the others, with their own number."""
        if not starts:
            return []
        points = replace(joined([start.point for start in starts]), branch=np.arange(len(starts)))
        trial = replace(self.problem, row=np.array([start.row for start in starts]), periods=np.array([start.periods for start in starts]))
        least = least_periods(trial, points)
        both = list(zip(starts, least, strict=True))
        self.fewer += [replace(start, periods=float(periods), both=True) for start, periods in both if periods < start.periods]
        return [start for start, periods in both if periods == start.periods]

    def from_seeds(self, seeds: Sequence[_Seed]) -> None:
        """Follow the branches of the steady motions to which runs from `seeds` tend, one of each row, unless they are known."""
        if not seeds:
            return
        row, s = np.array([seed.row for seed in seeds]), np.array([seed.s for seed in seeds])
        value, tables = self.problem.value(s), self.model.tables
        columns = {name: np.asarray(each)[row] if np.ndim(each) > (name in tables) else each for name, each in self.columns.items()}
        columns |= {self.problem.map.names[0]: value, "x0": np.array([one.x for one in seeds]), "v0": np.array([one.v for one in seeds])}
        found = solve(self.model, EXACT, columns, count=len(seeds), window=STEADY, room=self.problem.map.count)
        good = np.flatnonzero(
            (found.status == int(Status.OK)) & (found.observables["period"] > 0) & (found.observables["period"] <= self.periods)
        )
        if not good.size:
            return
        omega = np.broadcast_to(self.model.resolve(columns)["omega"], len(seeds))[good]
        x, v = found.observables["poincare_x"][good], found.observables["poincare_v"][good]
        periods = found.observables["period"][good].astype(float)
        phases = np.stack([v, x * omega[:, None]], axis=2)  # (rows, 64, 2)
        start = np.concatenate([phases[:, 0], np.zeros((good.size, self.problem.map.dimension - 2))], axis=1)
        y, direction = self._settled(row[good], value[good], start, np.sign(v[:, 0]), periods)
        speed = self._speeds(found.observables, phases, good)
        u = np.concatenate([y / speed[:, None], s[good][:, None]], axis=1)
        across = np.zeros_like(u)
        across[:, -1] = 1.0
        trial = replace(self.problem, row=row[good], periods=periods)
        places = Places(np.arange(good.size), direction, np.zeros(good.size), speed)
        points, ok, _ = trial.correct(places, u, Plane.through(u, across), statistics=True)
        there, better = elsewhere(trial, points)
        points = in_scale(points.where(ok & better, there))
        usable = np.flatnonzero(ok & np.isfinite(points.tangent).all(axis=1))
        known = on_branches(self.problem, self.sides, trial, points.take(usable))
        starts = []
        for i in usable[~known]:
            seed = seeds[good[i]]
            starts.append(_Start(seed.row, points.take(np.array([i])), periods[i], seed.origin, seed.parent, both=True))
        self.follow(starts)

    def _speeds(self, observables: Mapping[str, np.ndarray], phases: np.ndarray, good: np.ndarray) -> np.ndarray:
        """Scales [m/s] of motions, > 0: of their sections, of their slip, or 1 where nothing moves."""
        sizes = np.nanmax(np.abs(phases), axis=(1, 2))
        if "max_slip_speed" in observables:
            sizes = np.maximum(sizes, np.nan_to_num(observables["max_slip_speed"][good]))
        return np.where(sizes > 0.0, sizes, 1.0)

    def _settled(
        self, row: np.ndarray, value: np.ndarray, y: np.ndarray, direction: np.ndarray, periods: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Section points and directions after some repetitions more: the search of steady motions does not return the stretch."""
        if self.problem.map.key.friction is None:
            return y, np.zeros(len(row))
        for _ in range(_SETTLING if self.problem.map.dimension > 2 else 2):
            found = self.problem.map(row, value[:, None], y, direction, periods, np.zeros(len(row)))
            near = np.abs(found.y - y).max(axis=1) <= 1e-9 * np.abs(found.y).max(axis=1)
            y, direction = found.y, found.direction
            if near.all():
                break
        return y, direction

    def switched(self) -> None:
        """Follow the branches that begin at flips and crossings of those found last, and those into which they merge."""
        self._of_fewer_periods()
        special, self.special = self.special, []
        busy: set[tuple[int, float]] = set()  # of a row and its periods one place at a time: the next may be where that branch ends
        begins: list[tuple[int, str, Points, float, float]] = []  # branch, kind, point, periods, way
        for number, kind, point, way in special:
            row, periods = int(self.problem.row[number]), self.problem.periods[number]
            if kind not in (FLIP, BRANCH_POINT) or not self.room(row):
                continue
            doubled = 2.0 if kind == FLIP else 1.0
            if periods * doubled > self.periods:
                continue
            if (row, periods * doubled) in busy:
                self.special.append((number, kind, point, way))
                continue
            busy.add((row, periods * doubled))
            begins.append((number, kind, point, periods * doubled, way))
        if not begins:
            return
        numbers, kinds, points, periods_of, ways = (list(each) for each in zip(*begins, strict=True))
        found, good = self._beside(joined(points), np.array(kinds), np.array(periods_of), np.array(ways))
        good = np.flatnonzero(good)
        if good.size:
            trial = replace(self.problem, row=self.problem.row[np.array(numbers)], periods=np.array(periods_of))
            good = good[~on_branches(self.problem, self.sides, trial, found.take(good))]
        self.follow([
            _Start(int(self.problem.row[numbers[i]]), found.take(np.array([i])), periods_of[i], kinds[i], numbers[i], both=False)
            for i in good
        ])  # fmt: skip

    def _of_fewer_periods(self) -> None:
        """Follow the branches of the motions of fewer periods that were found last, one of each row, unless they are known.

        Jacobian, tangent and observables of a point depend on its number of periods, so they are computed anew.
        """
        busy: set[int] = set()
        now: list[_Start] = []
        later: list[_Start] = []
        for start in self.fewer:
            if self.room(start.row):
                (later if start.row in busy else now).append(start)
                busy.add(start.row)
        self.fewer = later
        if not now:
            return
        points = joined([start.point for start in now])
        trial = replace(self.problem, row=np.array([start.row for start in now]), periods=np.array([start.periods for start in now]))
        across = np.zeros_like(points.u)
        across[:, -1] = 1.0
        places = points.places._replace(branch=np.arange(len(now)))
        found, good, _ = trial.correct(places, points.u, Plane.through(points.u, across), statistics=True)
        new = np.flatnonzero(good & np.isfinite(found.tangent).all(axis=1))
        new = new[~on_branches(self.problem, self.sides, trial, found.take(new))]
        self.follow([replace(now[i], point=found.take(np.array([i]))) for i in new])

    def _beside(self, points: Points, kinds: np.ndarray, periods: np.ndarray, signs: np.ndarray) -> tuple[Points, np.ndarray]:
        """The first points of branches that begin at flips and branch points (N), and whether each was found."""
        count, n = len(points), points.jacobian.shape[1]
        flips = kinds == FLIP
        values, vectors = np.linalg.eig(points.jacobian)
        nearest = np.argmin(np.abs(values - np.where(flips, -1.0, 1.0)[:, None]), axis=1)
        along = np.real(vectors[np.arange(count), :, nearest])
        away = np.zeros_like(points.u)
        away[:, :n] = along / np.linalg.norm(along, axis=1, keepdims=True)
        ahead = np.sum(away * points.tangent, axis=1, keepdims=True)
        away = np.where(flips[:, None], away, away - ahead * points.tangent)  # where branches cross, leave that of the point
        away *= signs[:, None] / np.linalg.norm(away, axis=1, keepdims=True)
        trial = replace(self.problem, row=self.problem.row[points.branch], periods=periods)
        found, good = points, np.zeros(count, dtype=bool)
        for distance in _AWAY:
            todo = np.flatnonzero(~good)
            if not todo.size:
                break
            guess = points.u[todo] + distance * away[todo]
            new, ok, _ = trial.correct(points.places._replace(branch=np.arange(count)).take(todo), guess, Plane.through(guess, away[todo]))
            apart = np.linalg.norm(new.u - points.u[todo], axis=1)
            ok &= (0.5 * distance < apart) & (apart < 3.0 * distance) & np.isfinite(new.tangent).all(axis=1)
            found, good[todo[ok]] = found.put(todo[ok], new.take(ok)), True
        return found, good

    def behind_ends(self) -> list[_Seed]:
        """Places to look for motions behind the ends of branches that were not followed beyond, and forget these ends."""
        ended: list[tuple[int, int, Side]] = []  # branch, row, side
        for number, sides in enumerate(self.sides):
            for side in sides:
                if side.end in NOTHING_MORE or side.looked_behind:
                    continue
                side.looked_behind = True
                row = int(self.problem.row[number])
                if self.room(row):
                    ended.append((number, row, side))
        if not ended:
            return []
        last = joined([side.point(-1) for _, _, side in ended])
        seeds = []
        for (number, row, side), y, at in zip(ended, at_zero(self.problem, last), last.u[:, -1], strict=True):
            beside = [s for s in (at + _BEHIND, at - _BEHIND) if 0.0 <= s <= 1.0]
            seeds += [_Seed(row, s, y[1] / self._omega(row, s), y[0], side.end, number) for s in beside]
        return seeds

    def _omega(self, row: int, s: float) -> float:
        """The angular frequency of the excitation of a row at a place [rad/s]."""
        columns = {"omega": self.columns["omega"]} if "omega" in self.columns else {}
        if self.problem.map.names[0] == "omega":
            return float(self.problem.value(np.array(s)))
        value = self.model.resolve(columns)["omega"]
        return float(np.broadcast_to(value, self.problem.map.count)[row])

    def branches(self) -> list[Branch]:
        """The branches, the two sides of each put together."""
        whole = [self._together(number) for number in range(len(self.sides))]
        if not whole:
            return []
        every = joined([points for points, _, _ in whole])
        y_of, closes = closing_at_zero(self.problem, every)
        first, found = 0, []
        for number, (_, every_kind, ends) in enumerate(whole):
            origin, parent = self.origins[number]
            own = closes[first : first + len(every_kind)]
            kept = np.flatnonzero(own | np.array([bool(kind) for kind in every_kind]) | ~own.any())
            points, y, kinds = every.take(first + kept), y_of[first + kept], [every_kind[i] for i in kept]
            first += len(every_kind)
            row, periods, value = int(self.problem.row[number]), int(self.problem.periods[number]), self.problem.value(points.u[:, -1])
            omega = value if self.problem.map.names[0] == "omega" else self._omega(row, 0.0)
            found.append(Branch(row, periods, origin, parent, ends, value, points, kinds, y, y[:, 1] / omega, multipliers(points)))
        for i, place in seen_before(self.problem, found):  # special points are those of the first branch on which they lie
            found[i].kinds[place] = ""
        return found

    def _together(self, number: int) -> tuple[Points, list[str], tuple[str, str]]:
        """The points of a branch from end to end, what is special at them, and why it ends."""
        sides = self.sides[number]
        points, kinds, ends = sides[0].together(), list(sides[0].kinds), ("start", sides[0].end)
        if len(sides) > 1:
            back = sides[1].together()
            order = np.arange(len(back))[:0:-1]
            back = back.take(order)
            points = joined([replace(back, tangent=-back.tangent), points])
            kinds = [sides[1].kinds[i] for i in order] + kinds
            ends = (sides[1].end, sides[0].end)
        return points, kinds, ends


def at_zero(problem: Problem, points: Points) -> np.ndarray:
    """The section points (N, n) of motions at t = 0 [m/s]."""
    y, (moved, u, _) = points.y, _moved_to_zero(problem, points)
    y[moved] = u[:, : problem.map.dimension] * points.speed[moved, None]
    return y


def _moved_to_zero(problem: Problem, points: Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which points (k,) are of sections at another time than t = 0, their unknowns there (k, n + d) and their directions (k,)."""
    moved = np.flatnonzero(points.shift > 0.0)
    if not moved.size:
        return moved, points.u[:0], points.direction[:0]
    some = points.take(moved)
    return moved, *problem.later(some, 1.0 - some.shift)


def closing_at_zero(problem: Problem, points: Points) -> tuple[np.ndarray, np.ndarray]:
    """The section points (N, n) of motions at t = 0 [m/s], from which they close as far as they can, and whether that is to `CLOSES` (N,).

    A point that closes at its own section may do so less well at t = 0: a motion in a stiff contact is sensitive.
    """
    y, closes, n = points.y, points.closes, problem.map.dimension
    moved, u, direction = _moved_to_zero(problem, points)
    if not moved.size:
        return y, closes
    places = Places(points.branch[moved], direction, np.zeros(moved.size), points.speed[moved])
    first, best, least, todo = u.copy(), u.copy(), np.full(moved.size, np.inf), np.arange(moved.size)
    for _ in range(_CLOSING):
        here, residual, _, good = problem.images(places.take(todo), u[todo])
        same = np.abs(u[todo] - first[todo]).max(axis=1) <= _SAME_MOTION  # near a fold a step may lead to another one
        better = good & same & (here.residual < least[todo])
        best[todo[better]], least[todo[better]] = u[todo[better]], here.residual[better]
        again = better & (here.residual > 0.1 * CLOSES)
        todo = todo[again]
        if not todo.size:
            break
        # at a fold no step along the branch
        inverse = np.linalg.pinv(here.jacobian[again] - np.eye(n), rcond=1e-9)
        u[todo, :n] -= np.einsum("nij,nj->ni", inverse, residual[again])
    y[moved], closes[moved] = best[:, :n] * points.speed[moved, None], least <= CLOSES
    return y, closes


def branches(
    model: Model,
    columns: Mapping[str, np.ndarray | float],
    parameter: str,
    bounds: tuple[float, float],
    logarithmic: bool = False,
    places: int = 3,
    steps: Steps | None = None,
    periods: int = 8,
    most: int = 32,
    rows: int = 1,
) -> list[Branch]:
    """Follow the branches of periodic motions of many oscillators in one parameter.

    Args:
        model: a model with steady windows (rigid or penalised friction, stops, or both). columns: parameter name -> value of all rows, or
            (rows,) (SI units), without the parameter itself; x0 and v0, of two bodies less x0_2 and v0_2, are where runs to steady motions
            begin.
        parameter: what changes along branches. bounds: where they end, low < high.
        logarithmic: whether steps are those of the parameter's logarithm.
        places: number of values of the parameter, bounds included, at which runs to steady motions begin.
        steps: the steps along branches. periods: of the excitation after which a followed motion repeats, at most (1 to 16).
        most: number of branches of a row. rows: number of rows, where all columns are numbers.

    Returns:
        The branches, in the order in which they were found. Each row closes at t = 0 to 1e-8 of its speed. Special points are kept where
        they close at their own section alone, and if no row of a branch closes at t = 0, all of its rows are returned. Branches that begin
        at flips (period doublings) and at crossings of branches are followed too, stable or not; where events of a period change and a
        branch does not go on, a steady motion beside that point is looked for.

    Raises:
        ValueError: rows whose contacts differ in kind.
    """
    columns = {name: value for name, value in _relative(columns).items() if name != parameter}
    with np.errstate(all="ignore"):  # guesses that lead nowhere
        return _branches(model, columns, parameter, bounds, logarithmic, places, steps or Steps(), periods, most, rows)


def _relative(columns: Mapping[str, np.ndarray | float]) -> dict[str, np.ndarray | float]:
    """The same columns, of two bodies with the start of their relative motion: branches are of it alone."""
    second = {name: columns[f"{name}_2"] for name in ("x0", "v0") if f"{name}_2" in columns}
    kept = {name: value for name, value in columns.items() if name not in PAIR[1:]}
    return kept | {name: np.asarray(columns.get(name, 0.0)) - np.asarray(value) for name, value in second.items()}


def _branches(
    model: Model, columns: Mapping[str, np.ndarray | float], parameter: str, bounds: tuple[float, float], logarithmic: bool, places: int,
    steps: Steps, periods: int, most: int, rows: int,
) -> list[Branch]:  # fmt: skip
    """See `branches`."""
    section = SectionMap(model, columns, (parameter,), (bounds,), rows)
    none = np.zeros(0)
    problem = Problem(section, *bounds, logarithmic, none.astype(int), none)
    collected = _Collector(model, columns, problem, steps, periods, most)

    def start(name: str, row: int) -> float:
        return float(np.broadcast_to(columns.get(name, 0.0), section.count)[row])

    waiting = [
        _Seed(row, s, start("x0", row), start("v0", row)) for s in np.linspace(0.0, 1.0, max(places, 1)) for row in range(section.count)
    ]
    while waiting:
        busy: set[int] = set()
        now: list[_Seed] = []
        later: list[_Seed] = []
        for seed in waiting:
            (later if seed.row in busy else now).append(seed)
            busy.add(seed.row)
        collected.from_seeds([seed for seed in now if collected.room(seed.row)])
        while collected.special or collected.fewer:
            collected.switched()
        waiting = later + collected.behind_ends()
    return collected.branches()
