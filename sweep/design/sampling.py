"""From coordinates of the unit cube to design points."""

from __future__ import annotations

import numpy as np

from sweep.design.axis import Axis, Counted
from sweep.design.points import Points, gather


class Sampled:
    """What designs that sample share: every point has a place in the unit cube, and each axis turns its coordinate into a value."""

    __slots__ = ()
    axes: tuple[Axis, ...]

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) places in [0, 1] of the points from `start` up to, not including, `stop`, one array an axis."""
        raise NotImplementedError

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        return points_at(self.axes, self.coordinates(start, stop), start, stop)


def points_at(axes: tuple[Axis, ...], coordinates: list[np.ndarray], start: int, stop: int) -> Points:
    """The points from `start` up to, not including, `stop`, whose (n,) coordinates in the unit cube are given, one array an axis."""
    return gather(axes, places(axes, coordinates), np.arange(start, stop))


def places(axes: tuple[Axis, ...], coordinates: list[np.ndarray]) -> list[np.ndarray]:
    """Where the (n,) coordinates in [0, 1] lie along each axis: the position of a value if the axis counts them, else the coordinate."""
    return [
        np.minimum((each * axis.count).astype(np.int64), axis.count - 1) if isinstance(axis, Counted) else each
        for axis, each in zip(axes, coordinates, strict=True)
    ]
