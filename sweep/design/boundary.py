"""The design "boundary": points along the boundaries between regimes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.design.axis import Axis, Spaced
from tribosweep.sweep.design.draws import Draws
from tribosweep.sweep.design.grid import Grid
from tribosweep.sweep.design.points import Points


@dataclass(frozen=True, slots=True)
class Boundary:
    """Points along the boundaries between the regimes of a grid of two axes; `execution.adaptive.boundary_tracing` finds them.

    Attributes:
        plane: axes of the coarse grid.
        observable: the boundaries separate values of this word or whole number or, with a `level`, of any numeric observable; of an event
            its first observable.
        level: the boundary is where the observable crosses this level, in its unit; None for boundaries between different values.
        width: width of the final bracket of a boundary, relative to the parameter.
        halvings: how many times the cells of the coarse grid are halved along the boundaries.
        seeds: additional points, in the axes' units.
        event: event such as "buckled" or "x_max > 3.0 and not buckled" whose probability over the points of `over` is
            sought; "" to seek the observable itself.
        chance: value of the probability on the boundary. confidence: level of the interval of the probability, whose ends have curves too.
        over: the points over which the probability is taken, the same at every place.
    """

    plane: tuple[Spaced, Spaced]
    observable: str
    level: float | None
    width: float
    halvings: int
    seeds: tuple[tuple[float, float], ...]
    event: str = ""
    chance: float | None = None
    confidence: float | None = None
    over: Draws | None = None

    @property
    def sought(self) -> str:
        """What it looks for: the event, else the observable."""
        return self.event or self.observable

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the coarse grid, and those over which a probability is taken."""
        return (*self.plane, *(() if self.over is None else self.over.axes))

    @property
    def repeats(self) -> int:
        """The number of points of a place: those of `over`, or 1."""
        return 1 if self.over is None else self.over.count

    @property
    def count(self) -> int:
        """The number of points of the coarse grid."""
        return self.repeats * math.prod(axis.count for axis in self.plane)

    @property
    def fine_count(self) -> int:
        """The number of points of a grid of the smallest cells."""
        return self.repeats * math.prod(((axis.count - 1) << self.halvings) + 1 for axis in self.plane)

    @property
    def sharp_count(self) -> float:
        """The number of points of a grid with the spacing of the final brackets."""
        return self.repeats * math.prod(axis_steps(axis, self.width) for axis in self.plane)

    def points(self, start: int, stop: int) -> Points:
        """The points of the coarse grid from `start` up to, not including, `stop`."""
        places = np.arange(start, stop) // self.repeats
        nodes = Grid(self.plane).points(0, math.prod(axis.count for axis in self.plane))
        x, y = (nodes.columns[axis.name][places] for axis in self.plane)
        return self.points_at(x, y, np.arange(start, stop))

    def points_at(self, x: np.ndarray, y: np.ndarray, numbers: np.ndarray, level: int = 0) -> Points:
        """The points `numbers` (n,), at (n,) values of the two parameters; a place has `repeats` of them, one after the other."""
        own = dict(zip((axis.name for axis in self.plane), (x, y), strict=True))
        if self.over is None:
            return Points(numbers, own, {}, None, level)
        found = self.over.points(0, self.repeats).part(numbers % self.repeats)
        return Points(numbers, {**own, **found.columns}, found.absent, found.schemes, level)


def axis_steps(axis: Spaced, width: float) -> float:
    """The number of values along an axis if neighbours are separated by the relative `width`."""
    near, far = sorted((abs(axis.start), abs(axis.stop)))
    if axis.start * axis.stop <= 0.0:
        return abs(axis.stop - axis.start) / (width * far)
    return math.log(far / near) / width
