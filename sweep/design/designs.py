"""All designs: their names, the concatenation of several designs, and the schemes of their points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tribosweep.sweep.design.axis import DRAW, SCHEME, SCHEME_NAMES, Axis, Listed
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.draws import Draws
from tribosweep.sweep.design.grid import Grid, Zip
from tribosweep.sweep.design.points import Missing, Points, join
from tribosweep.sweep.design.refinement import Convergence
from tribosweep.sweep.design.sensitivity import ABOUT, Sampling
from tribosweep.sweep.design.subset_simulation import ABOUT_SUBSET, SUBSET, SubsetSimulation

DESIGNS: dict[str, str] = {
    "grid": "every combination of the axes' values; the last axis runs fastest",
    "zip": "the axes' values side by side: point i takes value i of every axis",
    "sobol": "`count` points of the scrambled Sobol sequence between the ends of the axes; a longer one begins with the same points",
    "latin_hypercube": "`count` random points, one in each of `count` equal parts of each axis",
    **ABOUT,
    "draws": "every combination of the axes' values, each with the same `count` independent draws of the axes with a distribution",
    "table": "one point per row of a CSV or Parquet file, columns named as parameters; an empty cell is the default",
    "convergence": "every combination of the axes' values, each with half the step (a tenth of the tolerance) again and again until its "
    "observable is settled",
    "boundary": "a grid of two axes whose cells are divided, and their sides bisected, along the boundaries between the words of an "
    "observable, or where a number passes `level`, or where the probability of an `event` over further axes is `chance`",
    SUBSET: ABOUT_SUBSET,
}
BY_LEVELS = ("convergence", "boundary", SUBSET)  # the names of the `Adaptive` designs
CONCATENATION = "concatenation"
ABOUT_CONCATENATION = "several [[sweep]] tables instead of one [sweep]: the points of each, one design after the other"
Adaptive = Convergence | Boundary | SubsetSimulation  # computed level by level: `points` is the first, and its rows determine the next
Part = Grid | Zip | Sampling | Draws


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Several designs, whose points follow each other.

    Attributes:
        parts: the designs.
        missing: every swept parameter -> its value in the rows of parts that do not sweep it.
        scheme: code of the scheme that runs the rows of parts that do not sweep the scheme; None if no part sweeps it.
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
        """The number of points."""
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
    """The distinct schemes that run points of a design; `scheme` unless it is swept."""
    parts = design.parts if isinstance(design, Concatenation) else (design,)
    found: list[str] = []
    for part in parts:
        axis = next((axis for axis in part.axes if axis.name == SCHEME), None)
        codes = axis.values if isinstance(axis, Listed) else ()
        found += [scheme] if axis is None else [SCHEME_NAMES[code] for code in codes]
    return list(dict.fromkeys(found))


def most_draws(design: Design, points: int, counted: bool = True) -> int:
    """An upper bound of the number of different draws among any `points` successive points of a design.

    Without `counted` the bound also holds for any such design with longer axes of draws.
    """
    parts = design.parts if isinstance(design, Concatenation) else (design,)
    return min(points, sum(draws_of(part, points, counted) for part in parts))


def draws_of(part: Part | Adaptive, points: int, counted: bool) -> int:
    """The bound of `most_draws` for one part of a design."""
    place = next((place for place, axis in enumerate(part.axes) if axis.name == DRAW), None)
    if place is None:
        return 1
    there: int = getattr(part.axes[place], "count", points) if counted else points
    if not isinstance(part, Grid):
        return min(points, there)
    within = math.prod(axis.count for axis in part.axes[place + 1 :])  # successive points with the same draw
    return min(points, there, (points + within - 2) // within + 1)
