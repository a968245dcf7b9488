"""Grids and zips. A block of points is computed from its index range alone, so 10^9 points cost no memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from sweep.design.axis import Counted
from sweep.design.points import Points, gather


@dataclass(frozen=True, slots=True)
class Grid:
    """Every combination of the axes' values, the last axis fastest; without axes, one point."""

    axes: tuple[Counted, ...]
    shape: tuple[int, ...] = field(init=False)  # how many values each axis has
    count: int = field(init=False)  # how many points

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
