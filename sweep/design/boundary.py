"""The design "boundary": points along the boundaries between regimes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sweep.design.axis import Spaced
from sweep.design.grid import Grid
from sweep.design.points import Points


@dataclass(frozen=True, slots=True)
class Boundary:
    """Points along the boundaries between the regimes of a grid of two axes; `execution.adaptive.boundary_tracing` finds them.

    Attributes:
        axes: axes of the coarse grid.
        observable: the boundaries separate values of this word or whole number or, with a `level`, of any numeric observable.
        level: the boundary is where the observable crosses this level, in its unit; None for boundaries between different values.
        width: width of the final bracket of a boundary, relative to the parameter.
        halvings: how many times the cells of the coarse grid are halved along the boundaries.
        seeds: additional points, in the axes' units.
    """

    axes: tuple[Spaced, Spaced]
    observable: str
    level: float | None
    width: float
    halvings: int
    seeds: tuple[tuple[float, float], ...]

    @property
    def count(self) -> int:
        """The number of points of the coarse grid."""
        return math.prod(axis.count for axis in self.axes)

    @property
    def fine_count(self) -> int:
        """The number of points of a grid of the smallest cells."""
        return math.prod(((axis.count - 1) << self.halvings) + 1 for axis in self.axes)

    @property
    def sharp_count(self) -> float:
        """The number of points of a grid with the spacing of the final brackets."""
        return math.prod(axis_steps(axis, self.width) for axis in self.axes)

    def points(self, start: int, stop: int) -> Points:
        """The points of the coarse grid from `start` up to, not including, `stop`."""
        return Grid(self.axes).points(start, stop)


def axis_steps(axis: Spaced, width: float) -> float:
    """The number of values along an axis if neighbours are separated by the relative `width`."""
    near, far = sorted((abs(axis.start), abs(axis.stop)))
    if axis.start * axis.stop <= 0.0:
        return abs(axis.stop - axis.start) / (width * far)
    return math.log(far / near) / width
