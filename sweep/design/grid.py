"""Grids and zips. A block of points is computed from its index range alone, so 10^9 points cost no memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tribosweep.sweep.design.axis import Counted
from tribosweep.sweep.design.points import Points, gather


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of the axes' values, with the last axis varying fastest; one point if there are no axes."""

    axes: tuple[Counted, ...]
    shape: tuple[int, ...] = field(init=False)  # number of values of each axis
    count: int = field(init=False)  # number of points

    def __post_init__(self) -> None:
        """Count the points."""
        object.__setattr__(self, "shape", tuple(axis.count for axis in self.axes))
        object.__setattr__(self, "count", math.prod(self.shape))

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        numbers = positions = np.arange(start, stop)
        digits: list[np.ndarray] = []
        for length in reversed(self.shape):
            positions, digit = np.divmod(positions, length)
            digits.append(digit)
        return gather(self.axes, digits[::-1], numbers)


@dataclass(frozen=True, slots=True)
class Zip:
    """Axes of equal length that vary together; a table of points is a zip of its columns."""

    axes: tuple[Counted, ...]

    @property
    def count(self) -> int:
        """The number of points."""
        return self.axes[0].count

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        numbers = np.arange(start, stop)
        return gather(self.axes, [numbers] * len(self.axes), numbers)
