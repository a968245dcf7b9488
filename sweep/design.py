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
}
PLANNED = ("sobol", "latin_hypercube")


@dataclass(frozen=True, slots=True)
class Points:
    """A block of design points.

    Attributes:
        start: position of the first in the design.
        count: how many, n.
        columns: swept parameter -> (n,) float64 in its unit, NaN where absent.
        absent: swept parameter -> (n,) mask of the rows that take its documented default; only where there are any.
        schemes: (n,) int8 positions in SCHEMES when the scheme is swept.
    """

    start: int
    count: int
    columns: dict[str, np.ndarray]
    absent: dict[str, np.ndarray]
    schemes: np.ndarray | None


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
        positions = np.arange(start, stop)
        digits: list[np.ndarray] = []
        for axis in reversed(self.axes):
            positions, digit = np.divmod(positions, axis.count)
            digits.append(digit)
        return gather(self.axes, digits[::-1], start, stop)


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
        return gather(self.axes, [np.arange(start, stop)] * len(self.axes), start, stop)


Design = Grid | Zip


def gather(axes: tuple[Axis, ...], positions: list[np.ndarray], start: int, stop: int) -> Points:
    """Look up each axis at its own (n,) `positions`."""
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
    return Points(start, stop - start, columns, absent, schemes)
