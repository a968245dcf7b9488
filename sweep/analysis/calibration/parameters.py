"""Free parameters: their bounds and scales, and the unbounded angles that the fit moves.

Each parameter has a coordinate u: its value, or on a logarithmic scale the logarithm of its value. u = middle + half width sin(y) lies
within the bounds for every angle y. Source of the transformation: F. James and M. Roos, Computer Physics Communications 10 (1975),
343-367 (Minuit).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.calibration.posterior.priors import Sampled, from_bounds
from tribosweep.sweep.design.distributions import LOG_NORMAL, LOG_UNIFORM, NORMAL, TRUNCATED, UNIFORM, log_normal_scale

QUANTILES = 4096  # of a prior, from which its mean and standard deviation on another scale follow
AT_BOUND = 1e-7  # a parameter nearer to a bound than this part of the range lies on it


@dataclass(frozen=True, slots=True)
class Prior:
    """Prior knowledge of a parameter.

    Attributes:
        law: name of its distribution, one of `posterior.priors.PRIORS`. numbers: its keys with their values, in the parameter's unit.
    """

    law: str
    numbers: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Free:
    """One free number that the data determine.

    Attributes:
        name: name in the study: a parameter, or a node of a table such as "post_stiffness[0]".
        quantity: the parameter. node: index of the node of a table; None for other parameters.
        lower, upper: bounds, in its unit. logarithmic: whether its scale is logarithmic.
        start: value where the first fit begins.
        prior: its prior, or None.
    """

    name: str
    quantity: Quantity
    node: int | None
    lower: float
    upper: float
    logarithmic: bool
    start: float
    prior: Prior | None = None

    @property
    def unit(self) -> str:
        """Its unit."""
        return self.quantity.unit

    @property
    def symbol(self) -> str:
        """Its symbol in pictures, in mathtext."""
        head = f"${self.quantity.symbol}$" if self.quantity.symbol else self.quantity.name.replace("_", " ").replace("$", r"\$")
        return head if self.node is None else f"{head} [{self.node}]"

    @property
    def sampled(self) -> Sampled:
        """The parameter with its prior, which without one of its own is uniform between the bounds, on its scale."""
        if self.prior is None:
            return from_bounds(self.name, self.unit, self.lower, self.upper, self.logarithmic, symbol=self.symbol)
        prior = self.prior
        return Sampled(
            self.name, self.unit, self.lower, self.upper, self.logarithmic, prior.law, prior.numbers, given=True, symbol=self.symbol
        )

    @property
    def known(self) -> tuple[float, float] | None:
        """Mean and standard deviation of the coordinate that the fit, which is least squares, takes from the prior.

        Those of a normal prior on a linear scale, and of a log-normal one on a logarithmic scale, are exact. Uniform priors give none.
        """
        if self.prior is None or self.prior.law in (UNIFORM, LOG_UNIFORM):
            return None
        at = dict(self.prior.numbers)
        if self.prior.law in (NORMAL, TRUNCATED) and not self.logarithmic:
            return at["mean"], at["std"]
        if self.prior.law == LOG_NORMAL and self.logarithmic:
            median, spread = log_normal_scale(at["mean"], at["std"])
            return math.log(median), spread
        values = self.sampled.quantile((np.arange(QUANTILES) + 0.5) / QUANTILES)
        coordinates = np.log(values) if self.logarithmic else values
        return float(coordinates.mean()), float(coordinates.std())


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
