"""Modal bases: how a structure moves, as frequencies, damping and shapes at its points. Nothing here imports JAX."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tribosweep.kernels.models.arguments import nearest
from tribosweep.kernels.models.eigenmodes import eigenvectors

MOST_MODES = 2000
AXES = ("x", "y", "z")


def too_many(count: int) -> str:
    """The problem of a basis of more modes than are taken."""
    return f"the basis has {count:,} modes, of which at most {MOST_MODES:,} are taken: leave out those of high frequency"


@dataclass(frozen=True, eq=False)
class Basis:
    """N coordinates q with m_i (q_i'' + 2 xi_i w_i q_i' + w_i^2 q_i) = the generalised force i.

    Attributes:
        omega: circular frequencies w [rad/s], (N,), >= 0. mass: modal masses m [kg], (N,).
        damping: damping ratios xi, (N,), or a full matrix of modal damping C [N s/m], (N, N), in place of 2 xi w m.
        points: name of a point -> shapes, (3, N): displacements along x, y, z for each coordinate of 1.
        participation: (3, N): a base acceleration a along x, y, z adds -m_i participation_i a to the generalised force i.
        position: name of a point -> its place along the structure [m]; a support may stand between points that have one.
        projection: (N, M), by which q = projection @ u follows from the coordinates u [m] in which a start is given: of M matrices
            coordinates. None if a start is given as q.

    Raises:
        ValueError: wrong shapes, numbers that are not finite, masses that are not positive, negative frequencies.
    """

    omega: np.ndarray
    mass: np.ndarray
    damping: np.ndarray
    points: Mapping[str, np.ndarray]
    participation: np.ndarray
    position: Mapping[str, float] = field(default_factory=dict)
    projection: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Check shapes and numbers, and convert to float64."""
        omega = _array(self.omega, "frequencies")
        count = omega.size
        if omega.ndim != 1 or not count:
            raise ValueError(f"frequencies must be a list of at least one number, not an array of shape {omega.shape}")
        if count > MOST_MODES:
            raise ValueError(too_many(count))
        mass = _of_shape(self.mass, (count,), "modal masses")
        damping = _array(self.damping, "damping")
        if damping.shape not in ((count,), (count, count)):
            raise ValueError(f"damping must have {count} ratios, or be a matrix of {count} rows and columns, not {damping.shape}")
        if (omega < 0.0).any():
            raise ValueError(f"frequency {_first(omega < 0.0)} is negative: {omega[omega < 0.0][0]:g} rad/s")
        if (mass <= 0.0).any():
            raise ValueError(f"modal mass {_first(mass <= 0.0)} is {mass[mass <= 0.0][0]:g} kg: masses must be positive")
        if damping.ndim == 1 and (damping < 0.0).any():
            raise ValueError(f"damping ratio {_first(damping < 0.0)} is negative: {damping[damping < 0.0][0]:g}")
        points = {name: _of_shape(shape, (3, count), f"the shapes at point {name!r}") for name, shape in self.points.items()}
        participation = _of_shape(self.participation, (3, count), "participation")
        strange = [name for name in self.position if name not in points]
        if strange:
            raise ValueError(f"there is a position but no shape of the point {strange[0]!r}")
        if self.projection is not None:
            projection = _array(self.projection, "projection")
            if projection.ndim != 2 or len(projection) != count:
                raise ValueError(f"projection must have {count} rows, one for each mode, not the shape {projection.shape}")
            object.__setattr__(self, "projection", projection)
        for name, place in self.position.items():
            if _array(place, f"the position of point {name!r}").shape:
                raise ValueError(
                    f"the position of point {name!r} is one number, its place along the structure [m], not {np.shape(place)} of them"
                )
        for name, value in (("omega", omega), ("mass", mass), ("damping", damping), ("points", points), ("participation", participation)):
            object.__setattr__(self, name, value)

    @property
    def count(self) -> int:
        """Number of coordinates."""
        return int(self.omega.size)

    @property
    def moving(self) -> np.ndarray:
        """(N,): 1 for a coordinate that something moves or holds, 0 for one that `widened` has added."""
        seen = [np.any(shape != 0.0, axis=0) for shape in (*self.points.values(), self.participation)]
        damped = self.damping != 0.0 if self.damping.ndim == 1 else np.any((self.damping != 0.0) | (self.damping.T != 0.0), axis=0)
        found: np.ndarray = np.any([self.omega > 0.0, damped, *seen], axis=0).astype(float)
        return found

    def at(self, point: str) -> np.ndarray:
        """(3, N) shapes at a point; ValueError that names the nearest one if there is none of that name."""
        if point not in self.points:
            raise ValueError(f"the basis has no point {point!r}; {nearest(point, self.points)}it has {', '.join(self.points) or 'none'}")
        return self.points[point]

    @functools.cached_property
    def places(self) -> np.ndarray:
        """(P,) positions of points [m], ascending; none where two points at one position move in different ways."""
        order = sorted(self.position, key=lambda name: self.position[name])
        kept: list[str] = []
        for name in order:
            if kept and self.position[kept[-1]] == self.position[name]:
                if not np.array_equal(self.points[kept[-1]], self.points[name]):
                    return np.zeros(0)
                continue
            kept.append(name)
        return np.array([self.position[name] for name in kept])

    @functools.cached_property
    def curve(self) -> np.ndarray:
        """(P - 1, 4, 3, N) coefficients of the shapes along `places`: of the third to the 0th power of the distance from the place before.

        It is the cubic spline through the points ("not-a-knot"), the parabola through three and the line through two.
        """
        at = {self.position[name]: self.points[name] for name in self.position}
        return spline(self.places, np.stack([at[place] for place in self.places]))

    def shape_at(self, place: float) -> np.ndarray:
        """(3, N) shapes at a position [m] between the first and the last point that has one."""
        piece = int(np.clip(np.searchsorted(self.places, place, side="right") - 1, 0, len(self.places) - 2))
        powers = (place - self.places[piece]) ** np.arange(3, -1, -1)
        found: np.ndarray = np.tensordot(powers, self.curve[piece], 1)
        return found

    def widened(self, count: int) -> Basis:
        """The basis with coordinates that nothing moves behind its own, `count` in all."""
        more = count - self.count
        return Basis(
            np.pad(self.omega, (0, more)),
            np.pad(self.mass, (0, more), constant_values=1.0),
            np.pad(self.damping, [(0, more)] * self.damping.ndim),
            {name: np.pad(shape, [(0, 0), (0, more)]) for name, shape in self.points.items()},
            np.pad(self.participation, [(0, 0), (0, more)]),
            self.position,
            None if self.projection is None else np.pad(self.projection, [(0, more), (0, 0)]),
        )

    def first(self, count: int) -> Basis:
        """The basis of its first `count` coordinates."""
        keep = slice(count)
        return Basis(
            self.omega[keep],
            self.mass[keep],
            self.damping[keep] if self.damping.ndim == 1 else self.damping[keep, keep],
            {name: shape[:, keep] for name, shape in self.points.items()},
            self.participation[:, keep],
            self.position,
            None if self.projection is None else self.projection[keep],
        )

    @classmethod
    def of_matrices(
        cls,
        mass: Any,
        stiffness: Any,
        damping: Any,
        points: Mapping[str, Any],
        participation: Any,
        position: Mapping[str, float] | None = None,
    ) -> Basis:
        """The basis of M u'' + C u' + K u = forces, in the eigenvectors of K u = w^2 M u with unit modal masses.

        Args:
            mass, stiffness: symmetric (N, N) matrices; M positive definite, K positive semidefinite.
            damping: (N, N), symmetric or not (gyroscopic terms). points, participation: in the coordinates u, (3, N).
            position: see `Basis`.

        Raises:
            ValueError: matrices that are not of that kind.

        Nearly rigid members would spoil low frequencies if w^2 were sought: 1/w^2 is found (see `eigenvectors`).
        """
        if (count := max(np.shape(mass), default=0)) > MOST_MODES:  # before its eigenvectors
            raise ValueError(too_many(count))
        mass, stiffness, damping = (_array(value, name) for value, name in ((mass, "M"), (stiffness, "K"), (damping, "C")))
        count = mass.shape[0] if mass.ndim else 0
        for name, value in (("M", mass), ("K", stiffness), ("C", damping)):
            _of_shape(value, (count, count), name)
        for name, value in (("M", mass), ("K", stiffness)):
            if np.abs(value - value.T).max() > 1e-9 * np.abs(value).max():
                raise ValueError(f"{name} must be symmetric")
        squares, vectors = eigenvectors(mass, stiffness)
        modal = vectors.T @ damping @ vectors
        return cls(
            np.sqrt(squares),
            np.ones(count),
            modal,
            {name: _of_shape(shape, (3, count), f"the shapes at point {name!r}") @ vectors for name, shape in points.items()},
            # the force -M r a on u is -vectors^T M r a on q
            _of_shape(participation, (3, count), "participation") @ mass @ vectors,
            position or {},
            vectors.T @ mass,  # the inverse of u = vectors q, as vectors^T M vectors = 1
        )


def spline(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(P - 1, 4, ...) coefficients of the cubic spline through values (P, ...) at ascending places (P,), P >= 2; see `Basis.curve`.

    Its third derivative is continuous at the second and the last but one place.
    """
    steps = np.diff(places)
    along = steps.reshape(-1, *[1] * (values.ndim - 1))
    slopes = np.diff(values, axis=0) / along
    count = len(places)
    if count == 2:
        bends = np.zeros_like(values)
    elif count == 3:
        bends = np.repeat(2.0 * np.diff(slopes, axis=0) / steps.sum(), 3, axis=0)
    else:
        matrix = np.zeros((count, count))
        matrix[0, :3] = steps[1], -(steps[0] + steps[1]), steps[0]
        matrix[-1, -3:] = steps[-1], -(steps[-1] + steps[-2]), steps[-2]
        for row in range(1, count - 1):
            matrix[row, row - 1 : row + 2] = steps[row - 1], 2.0 * (steps[row - 1] + steps[row]), steps[row]
        right = np.zeros((count, values[0].size))
        right[1:-1] = 6.0 * np.diff(slopes, axis=0).reshape(count - 2, -1)
        bends = np.linalg.solve(matrix, right).reshape(values.shape)
    cubic, rise = np.diff(bends, axis=0) / (6.0 * along), slopes - along * (2.0 * bends[:-1] + bends[1:]) / 6.0
    return np.stack([cubic, 0.5 * bends[:-1], rise, values[:-1]], axis=1)


def alike(bases: Mapping[str, Basis]) -> dict[str, Basis]:
    """Bases of the same number of coordinates, by name; ValueError if they differ in their points or positions."""
    names = list(bases)
    first = bases[names[0]]
    for name in names[1:]:
        if lacking := [point for point in first.points if point not in bases[name].points]:
            raise ValueError(f"the basis {name!r} has no point {lacking[0]!r}, which {names[0]!r} has")
        if dict(bases[name].position) != dict(first.position):
            raise ValueError(f"the bases {names[0]!r} and {name!r} have their points at different positions")
    most = max(basis.count for basis in bases.values())
    return {name: basis if basis.count == most else basis.widened(most) for name, basis in bases.items()}


def _array(value: Any, what: str) -> np.ndarray:
    """Finite float64 numbers."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers: {error}") from error
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        where = f", entry {', '.join(map(str, place))}," if place else ""
        raise ValueError(f"{what}{where} must be finite, not {array[place]}")
    return array


def _of_shape(value: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Finite numbers of a given shape."""
    array = _array(value, what)
    if array.shape != shape:
        raise ValueError(f"{what} must have the shape {shape}, not {array.shape}")
    return array


def _first(mask: np.ndarray) -> int:
    """The place of the first entry that is true, counted from 0."""
    return int(np.flatnonzero(mask)[0])
