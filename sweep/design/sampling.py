"""From coordinates of the unit cube to design points."""

from __future__ import annotations

import numpy as np

from sweep.design.axis import Axis, Counted
from sweep.design.points import Points, gather


def drawn(axes: tuple[Axis, ...], coordinates: list[np.ndarray], start: int, stop: int) -> Points:
    """The points from `start` up to, not including, `stop`, whose (n,) coordinates in the unit cube are given, one array an axis."""
    return gather(axes, places(axes, coordinates), np.arange(start, stop))


def places(axes: tuple[Axis, ...], coordinates: list[np.ndarray]) -> list[np.ndarray]:
    """What each axis is asked for at its (n,) coordinates in [0, 1]: the fraction itself, or the position of a value."""
    return [
        np.minimum((each * axis.count).astype(np.int64), axis.count - 1) if isinstance(axis, Counted) else each
        for axis, each in zip(axes, coordinates, strict=True)
    ]
