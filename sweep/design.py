"""Which points a study has. Any block of points is computed from its index range alone, so 10^9 points cost no memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sweep.axes import SCHEME, SCHEME_NAMES, Axis, Counted, Listed, Spaced
from sweep.blocks import Missing, Points, gather, join
from sweep.sensitivity.designs import ABOUT, Sampling

DESIGNS: dict[str, str] = {
    "grid": "every combination of the axes' values; the last axis runs fastest",
    "zip": "the axes' values side by side: point i takes value i of every axis",
    "sobol": "`count` points of the scrambled Sobol sequence between the ends of the axes; one with more points begins with the same",
    "latin_hypercube": "`count` random points, one in each of `count` equal parts of each axis",
    **ABOUT,
    "table": "one point per row of a CSV or Parquet file, columns named as parameters; an empty cell is the default",
    "convergence": "every combination of the axes' values, each with half the step (a tenth of the tolerance) again and again until its "
    "observable is settled",
    "boundary": "a grid of two axes whose cells are divided, and their sides bisected, along the boundaries between the words of an "
    "observable, or where a number passes `level`",
}
CONCATENATION = "concatenation"
ABOUT_CONCATENATION = "several [[sweep]] tables instead of one [sweep]: the points of each, one design after the other"


@dataclass(frozen=True, slots=True)
class Grid:
    """Every combination of the axes' values, the last axis fastest; without axes, one point."""

    axes: tuple[Counted, ...]

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

    axes: tuple[Counted, ...]

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


@dataclass(frozen=True, slots=True)
class Boundary:
    """Points along the boundaries between the regimes of a grid of two axes; `sweep.boundary` says which.

    Attributes:
        axes: of the coarse grid.
        observable: name of what the boundaries are of: a word, a whole number, or with a `level` any number.
        level: the boundary is where the observable passes it, in its unit; None for that between different values.
        width: of the bracket in which a boundary is found at last, relative to the parameter.
        halvings: how many times the cells of the coarse grid are halved along the boundaries.
        seeds: points, in the axes' units, that are looked at besides.
    """

    axes: tuple[Spaced, Spaced]
    observable: str
    level: float | None
    width: float
    halvings: int
    seeds: tuple[tuple[float, float], ...]

    @property
    def count(self) -> int:
        """How many points the coarse grid has."""
        return math.prod(axis.count for axis in self.axes)

    @property
    def fine_count(self) -> int:
        """How many points a grid of the smallest cells would have."""
        return math.prod(((axis.count - 1) << self.halvings) + 1 for axis in self.axes)

    @property
    def sharp_count(self) -> float:
        """How many points a grid would have whose neighbours are as close as the brackets are wide."""
        return math.prod(axis_steps(axis, self.width) for axis in self.axes)

    def points(self, start: int, stop: int) -> Points:
        """The points of the coarse grid from `start` up to, not including, `stop`."""
        return Grid(self.axes).points(start, stop)


def axis_steps(axis: Spaced, width: float) -> float:
    """How many values it takes from one end of an axis to the other, neighbours that relative width apart."""
    near, far = sorted((abs(axis.start), abs(axis.stop)))
    if axis.start * axis.stop <= 0.0:
        return abs(axis.stop - axis.start) / (width * far)
    return math.log(far / near) / width


Adaptive = Convergence | Boundary  # whose points follow from the rows of earlier ones: level by level, the first being those of `points`
Part = Grid | Zip | Sampling


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Several designs, the points of one after those of the other.

    Attributes:
        parts: the designs.
        missing: every swept parameter -> what stands in the rows of parts that do not sweep it.
        scheme: code of the scheme that runs the rows of parts that do not sweep it; None where no part does.
    """

    parts: tuple[Part, ...]
    missing: Mapping[str, Missing] = field(default_factory=dict)
    scheme: int | None = None

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of all parts, one part after the other."""
        return tuple(axis for part in self.parts for axis in part.axes)

    @property
    def count(self) -> int:
        """How many points."""
        return sum(part.count for part in self.parts)

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        blocks, before = [], 0
        for part in self.parts:
            first, last = max(start - before, 0), min(stop - before, part.count)
            if first < last:
                blocks.append(part.points(first, last))
            before += part.count
        return join(blocks or [self.parts[0].points(0, 0)], np.arange(start, stop), self.missing, self.scheme)


Design = Part | Concatenation | Adaptive


def schemes_of(design: Design, scheme: str) -> list[str]:
    """The schemes that run points of a design, each once; `scheme` where it does not say."""
    parts = design.parts if isinstance(design, Concatenation) else (design,)
    found: list[str] = []
    for part in parts:
        axis = next((axis for axis in part.axes if axis.name == SCHEME), None)
        codes = axis.values if isinstance(axis, Listed) else ()
        found += [scheme] if axis is None else [SCHEME_NAMES[code] for code in codes]
    return list(dict.fromkeys(found))
