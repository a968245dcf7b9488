"""Distributions of uncertain parameters, which turn a coordinate of the unit interval into a value.

A range { from, to } is uniform, or with spacing = "log" uniform in the logarithm. The other laws are defined here. Each value is the
quantile of its coordinate, so that a block of points needs only its index range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tribosweep.sweep.design.axis import Continuous, Listed

LEAST, MOST = 2.0**-54, 1.0 - 2.0**-53  # limits of the coordinates, so that no quantile is infinite

Quantile = Callable[..., np.ndarray]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A continuous distribution.

    Attributes:
        keys: the parameters of the distribution. optional: those with a default.
        quantile: function of coordinates in (0, 1) and the parameters, which returns values.
        meaning: explanation of the parameters, for messages and documents.
        bounded: whether it has a least and a largest value if all its parameters are given.
    """

    keys: tuple[str, ...]
    quantile: Quantile
    meaning: str
    optional: tuple[str, ...] = ()
    bounded: bool = False


def normal(u: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Quantiles of the normal distribution."""
    from scipy.special import ndtri

    return np.asarray(mean + std * ndtri(u))


def truncated_normal(u: np.ndarray, mean: float, std: float, lower: float = -math.inf, upper: float = math.inf) -> np.ndarray:
    """Quantiles of the truncated normal distribution; mean and standard deviation are those before truncation."""
    from scipy.special import ndtr, ndtri

    a, b = (lower - mean) / std, (upper - mean) / std
    if a > 0.0:  # the upper tail uses the complement, because small probabilities keep all their digits
        low, high = ndtr(-b), ndtr(-a)
        z = -ndtri(low + (1.0 - u) * (high - low))
    else:
        low, high = ndtr(a), ndtr(b)
        z = ndtri(low + u * (high - low))
    return np.asarray(np.clip(mean + std * z, lower, upper))


def log_normal(u: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Quantiles of the log-normal distribution whose values have this mean and standard deviation."""
    from scipy.special import ndtri

    median, spread = log_normal_scale(mean, std)
    return np.asarray(median * np.exp(spread * ndtri(u)))


def log_normal_scale(mean: float, std: float) -> tuple[float, float]:
    """Median, and standard deviation of the logarithm, of the log-normal distribution with this mean and standard deviation."""
    ratio = std / mean
    square = math.log1p(ratio * ratio)  # infinite where a power would raise OverflowError
    return mean * math.exp(-0.5 * square), math.sqrt(square)


def triangular(u: np.ndarray, start: float, mode: float, stop: float) -> np.ndarray:
    """Quantiles of the triangular distribution."""
    width = stop - start
    left = start + np.sqrt(u * width * (mode - start))
    right = stop - np.sqrt((1.0 - u) * width * (stop - mode))
    return np.where(u * width < mode - start, left, right)


UNIFORM, LOG_UNIFORM, NORMAL, TRUNCATED, LOG_NORMAL, TRIANGULAR, INTEGERS, CHOICE = (
    "uniform", "log_uniform", "normal", "truncated_normal", "log_normal", "triangular", "integer", "choice"
)  # fmt: skip
LAWS: dict[str, Distribution] = {
    NORMAL: Distribution(("mean", "std"), normal, "mean and standard deviation"),
    TRUNCATED: Distribution(
        ("mean", "std", "lower", "upper"),
        truncated_normal,
        "mean and standard deviation of the normal distribution, and one bound or both",
        ("lower", "upper"),
    ),
    LOG_NORMAL: Distribution(("mean", "std"), log_normal, "mean and standard deviation of the values"),
    TRIANGULAR: Distribution(
        ("from", "mode", "to"), lambda u, **at: triangular(u, at["from"], at["mode"], at["to"]), "ends and most likely value", bounded=True
    ),
}
DISTRIBUTIONS: dict[str, str] = {
    UNIFORM: "from, to",
    LOG_UNIFORM: "from, to",
    **{name: ", ".join(law.keys) for name, law in LAWS.items()},
    INTEGERS: "from, to",
    CHOICE: "values, weights",
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A parameter with a distribution.

    Attributes:
        name: name of the parameter.
        law: name of its distribution in LAWS.
        numbers: keys of the distribution with their values, in the parameter's unit.
    """

    name: str
    law: str
    numbers: tuple[tuple[str, float], ...]

    def at(self, fractions: np.ndarray) -> np.ndarray:
        """The quantiles of `fractions`, in [0, 1], same shape, float64."""
        return np.asarray(LAWS[self.law].quantile(np.clip(fractions, LEAST, MOST), **dict(self.numbers)))

    def absent_at(self, fractions: np.ndarray) -> None:
        """None: a distribution has no default entries."""

    def to_document(self) -> dict[str, Any]:
        """The axis in the format of a study file."""
        return {"distribution": self.law, **dict(self.numbers)}

    @property
    def bounded(self) -> bool:
        """Whether it has a least and a largest value."""
        return LAWS[self.law].bounded or {"lower", "upper"} <= dict(self.numbers).keys()


@dataclass(frozen=True, slots=True)
class Weighted:
    """Listed values with probabilities.

    Attributes:
        listed: the values: numbers, words or tables.
        weights: weight of each value, >= 0; a probability is a weight divided by the sum of the weights.
    """

    listed: Listed
    weights: tuple[float, ...]

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.listed.name

    @property
    def values(self) -> np.ndarray:
        """The listed values."""
        return self.listed.values

    def positions(self, fractions: np.ndarray) -> np.ndarray:
        """The position of the value that each of the (n,) `fractions` in [0, 1] selects."""
        ends = np.cumsum(self.weights) / math.fsum(self.weights)
        last = max(position for position, weight in enumerate(self.weights) if weight > 0.0)
        return np.minimum(np.searchsorted(ends, fractions, side="right"), last)

    def at(self, fractions: np.ndarray) -> np.ndarray:
        """The values at (n,) `fractions`; for tables with one more axis, at the end."""
        return self.listed.at(self.positions(fractions))

    def absent_at(self, fractions: np.ndarray) -> np.ndarray | None:
        """Mask of the default entries at `fractions`; None if the axis has none."""
        return self.listed.absent_at(self.positions(fractions))

    def to_document(self) -> dict[str, Any]:
        """The axis in the format of a study file."""
        return {"distribution": CHOICE, "values": self.listed.to_document(), "weights": list(self.weights)}


@dataclass(frozen=True, slots=True)
class Scaled:
    """A table whose nodes are all multiplied by one random factor.

    Attributes:
        factor: distribution of the factor, dimensionless, under the name of the table.
        table: the nodes for factor 1, in the parameter's unit.
    """

    factor: Continuous | Drawn
    table: tuple[float, ...]

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.factor.name

    @property
    def values(self) -> np.ndarray:
        """The table, (1, L)."""
        return np.array([self.table])

    def at(self, fractions: np.ndarray) -> np.ndarray:
        """(n, L) tables at (n,) `fractions`."""
        return np.asarray(np.multiply.outer(self.factor.at(fractions), np.array(self.table)))

    def absent_at(self, fractions: np.ndarray) -> None:
        """None: a distribution has no default entries."""

    def to_document(self) -> dict[str, Any]:
        """The axis in the format of a study file."""
        return {**self.factor.to_document(), "times": list(self.table)}
