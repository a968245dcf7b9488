"""Common parts of sampling designs: coordinates in the unit cube, and the design points that follow from them.

Every point has coordinates in the unit cube, and each axis turns its coordinate into a value. For a list or a range of whole numbers, the
unit interval is cut into as many equal parts as there are values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.design.axis import Axis, Counted
from tribosweep.sweep.design.copula import Correlation, correlate
from tribosweep.sweep.design.points import Points, gather


class Sampled:
    """A design whose points have coordinates in the unit cube."""

    __slots__ = ()
    axes: tuple[Axis, ...]

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) coordinates in [0, 1] of the points from `start` up to, not including, `stop`, one array per axis."""
        raise NotImplementedError

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        return points_at(self.axes, self.coordinates(start, stop), start, stop)


@dataclass(frozen=True, slots=True)
class PlainSample(Sampled):
    """A design whose points are a plain sample of the unit cube.

    Attributes:
        axes: the axes, one dimension each.
        count: number of points.
        seed: seed of the random numbers.
        correlations: correlations of the normal scores of pairs of parameters.
    """

    axes: tuple[Axis, ...]
    count: int
    seed: int
    correlations: tuple[Correlation, ...] = ()

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) coordinates in [0, 1) of the points from `start` up to, not including, `stop`, one array per axis."""
        return correlate(self.axes, self.correlations, self.independent(start, stop))

    def independent(self, start: int, stop: int) -> list[np.ndarray]:
        """The `coordinates` before parameters are correlated."""
        raise NotImplementedError


def points_at(axes: tuple[Axis, ...], coordinates: list[np.ndarray], start: int, stop: int) -> Points:
    """The points from `start` up to, not including, `stop`, from their (n,) coordinates in the unit cube, one array per axis."""
    return gather(axes, places(axes, coordinates), np.arange(start, stop))


def places(axes: tuple[Axis, ...], coordinates: list[np.ndarray]) -> list[np.ndarray]:
    """The (n,) places along each axis: positions of values if the axis has a number of values, else the coordinates in [0, 1]."""
    return [
        np.minimum((each * axis.count).astype(np.int64), axis.count - 1) if isinstance(axis, Counted) else each
        for axis, each in zip(axes, coordinates, strict=True)
    ]
