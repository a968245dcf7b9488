"""Fixed points of the Poincare map as a function of parameters: unknowns, residuals, and Newton's method on planes across a branch.

The unknowns u of a point are its n section coordinates over a speed of its branch, and the places s of the d parameters between their
bounds (0 to 1, of the logarithm where that is asked for). G(u) = (P^q(y) - y) / speed. With one parameter the zeros of G are the branches;
with two they are surfaces, and the special points of branches are curves on them (`curves`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from tribosweep.kernels.branches.section_map import SectionMap

CONVERGED, STALLED = 1e-11, 1e-8  # Newton steps in u that end the iteration: at once; where the steps do not get smaller any more
RESIDUAL = 1e-10  # of G where they do not get smaller: between the two maps at a grazing Newton's method goes to and fro
CLOSES = 1e-8  # largest G of a motion that counts as periodic
MOST_STEPS = 8
FARTHEST = 0.5  # largest Newton step in u
SIGNATURE = ("entries", "slip_phases", "stops")  # what one period of a motion consists of; a touch of a wall is an entry too


class Places(NamedTuple):
    """Where the unknowns of points are measured, (N,) each.

    Attributes:
        branch: number of the branch. direction: of slip at the section. shift: of the section, in periods of the excitation.
        speed: scale of the section coordinates [m/s].
    """

    branch: np.ndarray
    direction: np.ndarray
    shift: np.ndarray
    speed: np.ndarray

    def take(self, which: np.ndarray) -> Places:
        """Those of some places, or of a mask."""
        return Places(*(each[which] for each in self))


@dataclass(frozen=True, slots=True)
class Points:
    """Points of branches, one entry for each.

    Attributes:
        branch, direction, shift, speed: see `Places`. u: (N, n + d) unknowns. tangent: (N, n + d) unit vector
            along the branch. residual: (N,) largest component of G. jacobian: (N, n, n) of P^q. slope: (N, n, d) derivatives of G by s.
        signature: (N, k) counts of `SIGNATURE`. observables: name -> (N,).
    """

    branch: np.ndarray
    u: np.ndarray
    direction: np.ndarray
    shift: np.ndarray
    speed: np.ndarray
    tangent: np.ndarray
    residual: np.ndarray
    jacobian: np.ndarray
    slope: np.ndarray
    signature: np.ndarray
    observables: dict[str, np.ndarray]

    def __len__(self) -> int:
        """The number of points."""
        return len(self.branch)

    @property
    def places(self) -> Places:
        """Where the unknowns are measured."""
        return Places(self.branch, self.direction, self.shift, self.speed)

    @property
    def closes(self) -> np.ndarray:
        """Whether the motions repeat after their periods, to `CLOSES` (N,)."""
        return np.asarray(self.residual <= CLOSES)

    @property
    def y(self) -> np.ndarray:
        """The points of the section (N, n) [m/s]."""
        return np.asarray(self.u[:, : self.jacobian.shape[1]] * self.speed[:, None])

    def scaled(self, speed: np.ndarray) -> Points:
        """The same with the unknowns and tangents in another scale (N,) [m/s]."""
        n = self.jacobian.shape[1]
        factor = np.where(np.arange(self.u.shape[1]) < n, (self.speed / speed)[:, None], 1.0)
        tangent = self.tangent * factor
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        residual = self.residual * factor[:, 0]
        return replace(self, u=self.u * factor, speed=speed, tangent=tangent, residual=residual, slope=self.slope * factor[:, :n, None])

    def take(self, which: np.ndarray) -> Points:
        """Those of some places, or of a mask."""
        arrays = {field.name: getattr(self, field.name)[which] for field in fields(self) if field.name != "observables"}
        return Points(**arrays, observables={name: values[which] for name, values in self.observables.items()})

    def where(self, mask: np.ndarray, other: Points) -> Points:
        """`other` where the mask (N,) holds."""

        def chosen(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
            return np.where(mask.reshape(-1, *[1] * (ours.ndim - 1)), theirs, ours)

        arrays = {f.name: chosen(getattr(self, f.name), getattr(other, f.name)) for f in fields(self) if f.name != "observables"}
        return Points(**arrays, observables={name: chosen(values, other.observables[name]) for name, values in self.observables.items()})

    def put(self, places: np.ndarray, new: Points) -> Points:
        """The same with those at some places replaced."""
        order = np.arange(len(self))
        order[places] = len(self) + np.arange(len(new))
        return joined([self, new]).take(order)

    def oriented(self, along: np.ndarray) -> Points:
        """The same with tangents that do not point against `along` (N, n + d)."""
        sign = np.where(np.sum(self.tangent * along, axis=1) < 0.0, -1.0, 1.0)
        return replace(self, tangent=self.tangent * sign[:, None])


def joined(parts: list[Points]) -> Points:
    """The points of several groups, of the same map."""
    arrays = {f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Points) if f.name != "observables"}
    names = parts[0].observables
    return Points(**arrays, observables={name: np.concatenate([part.observables[name] for part in parts]) for name in names})


@dataclass(frozen=True, slots=True)
class Plane:
    """The planes normal . u = offset on which points are looked for, d of each: normal (N, d, n + d), offset (N, d).

    With one parameter they are (N, n + 1) and (N,).
    """

    normal: np.ndarray
    offset: np.ndarray

    @classmethod
    def through(cls, u: np.ndarray, normal: np.ndarray) -> Plane:
        """The planes across `normal` through the points u."""
        return cls(normal, np.sum(normal * u, axis=1))

    def take(self, which: np.ndarray) -> Plane:
        """The planes of some places, or of a mask."""
        return Plane(self.normal[which], self.offset[which])

    def beside(self, other: Plane) -> Plane:
        """Two planes for each point of two parameters, from one of each."""
        return Plane(np.stack([self.normal, other.normal], axis=1), np.stack([self.offset, other.offset], axis=1))


@dataclass(frozen=True, slots=True)
class Problem:
    """The branches of one call.

    Attributes:
        map: the Poincare map; `names` has the d parameters. low, high: their bounds. logarithmic: whether s is that of the logarithm.
            These three are (d,), or numbers of one parameter.
        row: (B,) number of the row of each branch. periods: (B,) of the excitation after which its motions repeat.
    """

    map: SectionMap
    low: float | np.ndarray
    high: float | np.ndarray
    logarithmic: bool | np.ndarray
    row: np.ndarray
    periods: np.ndarray

    def value(self, s: np.ndarray) -> np.ndarray:
        """The parameter at places s."""
        return np.where(self.logarithmic, self.low * np.divide(self.high, self.low) ** s, self.low + (self.high - self.low) * s)

    def place(self, value: np.ndarray | float) -> np.ndarray:
        """The place s of values of the parameter."""
        value = np.asarray(value, dtype=float)
        in_logarithm = np.log(value / self.low) / np.log(np.divide(self.high, self.low))
        return np.where(self.logarithmic, in_logarithm, (value - self.low) / (self.high - self.low))

    def rate(self, s: np.ndarray) -> np.ndarray:
        """The derivative of the parameter by s."""
        return np.where(self.logarithmic, self.value(s) * np.log(np.divide(self.high, self.low)), self.high - self.low)

    def images(
        self, places: Places, u: np.ndarray, statistics: np.ndarray | None = None
    ) -> tuple[Points, np.ndarray, np.ndarray, np.ndarray]:
        """Points at u without tangents, G there (N, n), the direction at the image (N,), and a mask of those that were computed.

        `statistics`: where their statistics are asked for (N,); they are NaN elsewhere.
        """
        branch, direction, shift, speeds = places
        n, speed = self.map.dimension, speeds[:, None]
        s = u[:, n:]
        found = self.map(self.row[branch], self.value(s), u[:, :n] * speed, direction, self.periods[branch], shift, statistics)
        counts = [np.nan_to_num(found.observables[name], nan=-1.0) for name in SIGNATURE if name in found.observables]
        slope = found.by_parameters * (self.rate(s) / speed)[:, None, :]
        signature = np.stack(counts, axis=1).round().astype(int)
        residual = found.y / speed - u[:, :n]
        largest = np.abs(residual).max(axis=1)
        points = Points(branch, u, direction, shift, speeds, np.zeros_like(u), largest, found.by_point, slope, signature, found.observables)
        return points, residual, found.direction, found.good

    def observed(self, points: Points) -> Points:
        """The same points with their statistics."""
        lacking = np.flatnonzero(np.isnan(points.observables["v_rms"]))
        if not lacking.size:
            return points
        seen = self.images(points.places.take(lacking), points.u[lacking], np.ones(lacking.size, dtype=bool))[0].observables
        whole = {name: values.copy() for name, values in points.observables.items()}
        for name, values in seen.items():
            whole[name][lacking] = values
        return replace(points, observables=whole)

    def later(self, points: Points, periods: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Unknowns u (N, n + d) and directions (N,) of the motions through `points` some periods later, a fraction or more each."""
        s = points.u[:, self.map.dimension :]
        found = self.map(self.row[points.branch], self.value(s), points.y, points.direction, periods, points.shift)
        return np.concatenate([found.y / points.speed[:, None], s], axis=1), found.direction

    def correct(self, places: Places, u: np.ndarray, plane: Plane, statistics: bool = False) -> tuple[Points, np.ndarray, np.ndarray]:
        """Newton's method for fixed points on planes, from the guesses u (N, n + d).

        `statistics`: whether those of the points that are found are asked for. They are looked at where the step before foretells that
        the next one ends the iteration.

        Returns the points (their tangents are oriented along the normals of the first planes), a mask of those found, and the number of
        evaluations of each.
        """
        u, direction, n = u.copy(), places.direction.copy(), self.map.dimension
        normals, offsets = plane.normal.reshape(len(u), -1, u.shape[1]), plane.offset.reshape(len(u), -1)
        todo, found = np.arange(len(u)), np.zeros(len(u), dtype=bool)
        count, before = np.zeros(len(u), dtype=int), np.full(len(u), np.inf)
        best: Points | None = None
        ahead = np.full(len(u), np.inf)  # the step foretold
        for _ in range(MOST_STEPS):
            if not todo.size:
                break
            points, residual, facing, good = self.images(
                places._replace(direction=direction).take(todo), u[todo], ahead[todo] <= CONVERGED if statistics else None
            )
            count[todo] += 1
            apart = np.sum(normals[todo] * u[todo][:, None], axis=2) - offsets[todo]
            step = -solved(bordered(points, normals[todo]), np.concatenate([residual, apart], axis=1))
            size = np.abs(step).max(axis=1)
            alike = (facing == 0.0) == (direction[todo] == 0.0)
            still = (size <= STALLED) & (size >= 0.5 * before[todo]) & (points.residual <= RESIDUAL)
            ends = alike & (((size <= CONVERGED) & points.closes) | still)
            best = points if best is None else _stored(best, todo, points)
            found[todo] = good & ends
            goes_on = good & ~ends & (size <= FARTHEST) & ((size < 2.0 * before[todo]) | ~alike)
            ahead[todo] = size * size * np.where(np.isfinite(before[todo]), size / before[todo] ** 2, 10.0)  # Newton's steps are squared
            before[todo] = size
            u[todo] += np.where(goes_on[:, None], step, 0.0)
            # a contact that holds at the image holds at the point, and the other way round
            changed = goes_on & ~alike
            direction[todo[changed]] = facing[changed]
            u[todo[changed], :n] += residual[changed] - step[changed, :n]
            todo = todo[goes_on]
        if best is None:
            raise ValueError("no points")
        best = replace(best, tangent=tangents(best, normals))
        if statistics and found.any():
            best = _stored(best, np.flatnonzero(found), self.observed(best.take(found)))
        return best, found, count


def _stored(all_points: Points, places: np.ndarray, points: Points) -> Points:
    """`all_points` with those at some places replaced."""
    arrays = {}
    for field in fields(Points):
        if field.name != "observables":
            arrays[field.name] = getattr(all_points, field.name).copy()
            arrays[field.name][places] = getattr(points, field.name)
    observables = {name: values.copy() for name, values in all_points.observables.items()}
    for name, values in points.observables.items():
        observables[name][places] = values
    return Points(**arrays, observables=observables)


def bordered(points: Points, normal: np.ndarray) -> np.ndarray:
    """The Jacobian of G by u with a further row for each parameter, (N, n + d) or (N, d, n + d): (N, n + d, n + d)."""
    n, size = points.jacobian.shape[1], points.u.shape[1]
    matrix = np.empty((len(points), size, size))
    matrix[:, :n, :n] = points.jacobian - np.eye(n)
    matrix[:, :n, n:] = points.slope
    matrix[:, n:, :] = normal.reshape(len(points), -1, size)
    return matrix


def solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions (N, m) of linear systems; NaN where a matrix is singular or not finite."""
    usable = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(right).all(axis=1)
    found = np.full_like(right, np.nan)
    usable[usable] = np.abs(np.linalg.det(matrix[usable])) > np.finfo(float).tiny
    if usable.any():
        found[usable] = np.linalg.solve(matrix[usable], right[usable][..., None])[..., 0]
    return found


def tangents(points: Points, along: np.ndarray) -> np.ndarray:
    """Unit vectors (N, n + d) on which G does not change, nor any row of `along` (see `bordered`) but the first, which grows."""
    right = np.zeros_like(points.u)
    right[:, points.jacobian.shape[1]] = 1.0
    found = solved(bordered(points, along), right)
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.where(length > 0.0, found / np.where(length > 0.0, length, 1.0), np.nan)


Value = Callable[[Points], np.ndarray]


def _eigenvalues(matrix: np.ndarray) -> np.ndarray:
    """The eigenvalues (N, n) of matrices (N, n, n), complex; NaN where one is not finite."""
    usable = np.isfinite(matrix).all(axis=(1, 2))
    values = np.full(matrix.shape[:2], np.nan, dtype=complex)
    values[usable] = np.linalg.eigvals(matrix[usable])
    return values


def multipliers(points: Points) -> np.ndarray:
    """The Floquet multipliers (N, n), complex, the largest first."""
    values = _eigenvalues(points.jacobian)
    order = np.argsort(-np.abs(values), axis=1, kind="stable")
    return np.take_along_axis(values, order, axis=1)


def _fold(points: Points) -> np.ndarray:
    """Changes its sign where the parameter turns back along a branch."""
    return points.tangent[:, -1]


def _branching(points: Points) -> np.ndarray:
    """Changes its sign where two branches cross."""
    determinant: np.ndarray = np.linalg.det(bordered(points, points.tangent))
    return determinant


def _flip(points: Points) -> np.ndarray:
    """Changes its sign where a multiplier passes -1."""
    determinant: np.ndarray = np.linalg.det(points.jacobian + np.eye(points.jacobian.shape[1]))
    return determinant


def _neimark_sacker(points: Points) -> np.ndarray:
    """Changes its sign where the product of two multipliers passes 1: a pair of complex ones passes the unit circle."""
    values = _eigenvalues(points.jacobian)
    n = values.shape[1]
    product = np.ones(len(points), dtype=complex)
    for i in range(n):
        for j in range(i):
            product *= values[:, i] * values[:, j] - 1.0
    return product.real


BRANCH_POINT, FOLD, FLIP, NEIMARK_SACKER = "branch point", "fold", "flip", "Neimark-Sacker"  # kinds of special points
TESTS: Mapping[str, Value] = {BRANCH_POINT: _branching, FOLD: _fold, FLIP: _flip, NEIMARK_SACKER: _neimark_sacker}
