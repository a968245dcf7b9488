"""Free parameters: their bounds and scales, and the unbounded angles that the fit moves.

Each parameter has a coordinate u: its value, or on a logarithmic scale the logarithm of its value. u = middle + half width sin(y) lies
within the bounds for every angle y. Source of the transformation: F. James and M. Roos, Computer Physics Communications 10 (1975),
343-367 (Minuit).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tribosweep.sweep.study.free import Free

AT_BOUND = 1e-7  # a parameter nearer to a bound than this part of the range lies on it


class Space:
    """The space of the free parameters, which are the last axis of all arrays, (..., n).

    Attributes:
        frees: the parameters. names: their names. low, width: (n,) lower bounds of the coordinates, and distances of the bounds.
    """

    def __init__(self, frees: Sequence[Free]) -> None:
        """Collect names and bounds of the parameters."""
        self.frees = tuple(frees)
        self.names = tuple(free.name for free in frees)
        self.logarithmic = np.array([free.logarithmic for free in frees], dtype=bool)
        self.low = self.coordinates(np.array([free.lower for free in frees]))
        self.width = self.coordinates(np.array([free.upper for free in frees])) - self.low

    @property
    def starts(self) -> np.ndarray:
        """(n,) parameter values where the first fit begins."""
        return np.array([free.start for free in self.frees])

    def coordinates(self, values: np.ndarray) -> np.ndarray:
        """Convert values to coordinates u."""
        return np.where(self.logarithmic, np.log(np.where(self.logarithmic, values, 1.0)), values)

    def values(self, coordinates: np.ndarray) -> np.ndarray:
        """Convert coordinates u to values."""
        return np.where(self.logarithmic, np.exp(np.where(self.logarithmic, coordinates, 0.0)), coordinates)

    def rates(self, values: np.ndarray) -> np.ndarray:
        """Derivatives of the values with respect to the coordinates."""
        return np.where(self.logarithmic, values, 1.0)

    def at(self, angles: np.ndarray) -> np.ndarray:
        """Convert angles y to coordinates u."""
        return np.asarray(self.low + 0.5 * self.width * (1.0 + np.sin(angles)))

    def turning(self, angles: np.ndarray) -> np.ndarray:
        """Derivatives of the coordinates with respect to the angles."""
        return np.asarray(0.5 * self.width * np.cos(angles))

    def angles(self, coordinates: np.ndarray) -> np.ndarray:
        """Convert coordinates within the bounds to angles in [-pi/2, pi/2]."""
        return np.asarray(np.arcsin(np.clip(2.0 * (coordinates - self.low) / self.width - 1.0, -1.0, 1.0)))

    def on_bound(self, coordinates: np.ndarray) -> np.ndarray:
        """Mask of coordinates that lie on a bound."""
        place = (coordinates - self.low) / self.width
        return np.asarray((place < AT_BOUND) | (place > 1.0 - AT_BOUND))
