"""What designs that sample share: coordinates of the unit cube, and from these design points.

Every point has a place in the unit cube, and each axis turns its coordinate into a value. A list, and a range of whole numbers, is cut into
as many equal parts as it has values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sweep.design.axis import Axis, Counted
from sweep.design.copula import Correlation, correlate
from sweep.design.points import Points, gather


class Sampled:
    """A design whose points have coordinates in the unit cube."""

    __slots__ = ()
    axes: tuple[Axis, ...]

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) places in [0, 1] of the points from `start` up to, not including, `stop`, one array an axis."""
        raise NotImplementedError

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        return points_at(self.axes, self.coordinates(start, stop), start, stop)


@dataclass(frozen=True, slots=True)
class PlainSample(Sampled):
    """A design whose points are a plain sample of the unit cube.

    Attributes:
        axes: one dimension each.
        count: how many points.
        seed: of the random numbers.
        correlations: of the normal scores of parameters, two by two.
    """

    axes: tuple[Axis, ...]
    count: int
    seed: int
    correlations: tuple[Correlation, ...] = ()

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) places in [0, 1) of the points from `start` up to, not including, `stop`, one array an axis."""
        return correlate(self.axes, self.correlations, self.independent(start, stop))

    def independent(self, start: int, stop: int) -> list[np.ndarray]:
        """`coordinates` before parameters are correlated."""
        raise NotImplementedError


def points_at(axes: tuple[Axis, ...], coordinates: list[np.ndarray], start: int, stop: int) -> Points:
    """The points from `start` up to, not including, `stop`, whose (n,) coordinates in the unit cube are given, one array an axis."""
    return gather(axes, places(axes, coordinates), np.arange(start, stop))


def places(axes: tuple[Axis, ...], coordinates: list[np.ndarray]) -> list[np.ndarray]:
    """Where the (n,) coordinates in [0, 1] lie along each axis: the position of a value if the axis counts them, else the coordinate."""
    return [
        np.minimum((each * axis.count).astype(np.int64), axis.count - 1) if isinstance(axis, Counted) else each
        for axis, each in zip(axes, coordinates, strict=True)
    ]
