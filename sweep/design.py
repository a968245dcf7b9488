"""Which points a study has. Any block of points is computed from its index range alone, so 10^9 points cost no memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sweep.axes import SCHEME, Axis

DESIGNS: dict[str, str] = {
    "grid": "every combination of the axes' values; the last axis runs fastest",
    "zip": "the axes' values side by side: point i takes value i of every axis",
    "table": "one point per row of a CSV or Parquet file, columns named as parameters; an empty cell is the default",
    "convergence": "every combination of the axes' values, each with half the step (a tenth of the tolerance) again and again until its "
    "observable is settled",
}
PLANNED = ("sobol", "latin_hypercube")


@dataclass(frozen=True, slots=True)
class Points:
    """A block of design points.

    Attributes:
        numbers: (n,) int64 positions in the design.
        columns: swept parameter -> (n,) float64 in its unit, NaN where absent.
        absent: swept parameter -> (n,) mask of the rows that take its documented default; only where there are any.
        schemes: (n,) int8 positions in SCHEMES when the scheme is swept.
    """

    numbers: np.ndarray
    columns: dict[str, np.ndarray]
    absent: dict[str, np.ndarray]
    schemes: np.ndarray | None

    @property
    def count(self) -> int:
        """How many, n."""
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class Grid:
    """Every combination of the axes' values, the last axis fastest; without axes, one point."""

    axes: tuple[Axis, ...]

    @property
    def count(self) -> int:
        """How many points."""
        return math.prod(axis.count for axis in self.axes)

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        numbers = positions = np.arange(start, stop)
        digits: list[np.ndarray] = []
        for axis in reversed(self.axes):
            positions, digit = np.divmod(positions, axis.count)
            digits.append(digit)
        return gather(self.axes, digits[::-1], numbers)


@dataclass(frozen=True, slots=True)
class Zip:
    """The axes' values side by side; a table of points is one of these, with its columns as axes."""

    axes: tuple[Axis, ...]

    @property
    def count(self) -> int:
        """How many points."""
        return self.axes[0].count

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        numbers = np.arange(start, stop)
        return gather(self.axes, [numbers] * len(self.axes), numbers)


@dataclass(frozen=True, slots=True)
class Convergence:
    """The points of a grid, each with a convergence study of its own; `sweep.convergence.refinement` says how a point is refined.

    Attributes:
        grid: the points as they are at level 0.
        observable: name of the float observable that must settle.
        digits: it is settled when two successive values agree to that many significant digits.
        halvings: how many times a point is refined at most.
        refined: the parameters that are refined, each at the points whose scheme is refined by it.
    """

    grid: Grid
    observable: str
    digits: int
    halvings: int
    refined: tuple[str, ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the grid."""
        return self.grid.axes

    @property
    def count(self) -> int:
        """How many points, each counted once."""
        return self.grid.count

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`, as they are at level 0."""
        return self.grid.points(start, stop)


Design = Grid | Zip | Convergence


def gather(axes: tuple[Axis, ...], positions: list[np.ndarray], numbers: np.ndarray) -> Points:
    """Look up each axis at its own (n,) `positions`; `numbers` are those of the points."""
    columns: dict[str, np.ndarray] = {}
    absent: dict[str, np.ndarray] = {}
    schemes = None
    for axis, position in zip(axes, positions, strict=True):
        if axis.name == SCHEME:
            schemes = axis.at(position)
            continue
        columns[axis.name] = axis.at(position)
        mask = axis.absent_at(position)
        if mask is not None:
            absent[axis.name] = mask
    return Points(numbers, columns, absent, schemes)
