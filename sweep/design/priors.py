"""Prior distributions of the sampled numbers, each truncated to its bounds, and the unbounded coordinates in which samplers move.

A number v between lower and upper has the coordinate u = v, or ln v on a logarithmic scale, and the unbounded coordinate y with
u = u_lower + (u_upper - u_lower) / (1 + exp(-y)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tribosweep.sweep.design.distributions import LOG_NORMAL, LOG_UNIFORM, NORMAL, TRIANGULAR, TRUNCATED, UNIFORM, log_normal_scale

PRIORS = (UNIFORM, LOG_UNIFORM, NORMAL, TRUNCATED, LOG_NORMAL, TRIANGULAR)  # the distributions of numbers
ROOT_2_PI = 0.5 * math.log(2.0 * math.pi)
TINY = 1e-300
PARAMETER, NOISE = "parameter", "noise"  # what a sampled number is


@dataclass(frozen=True, slots=True)
class Sampled:
    """One number that a sampler moves, with its prior.

    Attributes:
        name: of its column. unit: its unit.
        lower, upper: bounds of its values. logarithmic: whether its coordinate is the logarithm.
        law: name of its distribution, one of PRIORS. numbers: keys of the distribution with their values, in the unit; those of a uniform
            or log-uniform one are `from` and `to`.
        given: whether the study states the distribution; else it follows from the bounds.
        role: PARAMETER, or NOISE for the common factor of the standard deviations of the data.
        symbol: in pictures, in mathtext.
    """

    name: str
    unit: str
    lower: float
    upper: float
    logarithmic: bool
    law: str
    numbers: tuple[tuple[str, float], ...]
    given: bool = False
    role: str = PARAMETER
    symbol: str = ""

    @property
    def support(self) -> tuple[float, float]:
        """The least and the largest value: bounds, or where the distribution ends if it ends between them."""
        at = dict(self.numbers)
        low, high = (at.get("lower"), at.get("upper")) if self.law == TRUNCATED else (at.get("from"), at.get("to"))
        return max(self.lower, -math.inf if low is None else low), min(self.upper, math.inf if high is None else high)

    @property
    def mass(self) -> float:
        """The probability of the support under the distribution before it is truncated to the bounds."""
        low, high = (self.base_scale(each) for each in self.support)
        base = self.base()
        return float(base.cdf(high) - base.cdf(low)) if low < base.median() else float(base.sf(low) - base.sf(high))

    def base(self) -> Any:
        """The distribution before it is truncated, frozen, of `base_scale` of the value."""
        from scipy import stats

        at = dict(self.numbers)
        if self.law in (NORMAL, TRUNCATED):
            return stats.norm(at["mean"], at["std"])
        if self.law == LOG_NORMAL:
            median, spread = log_normal_scale(at["mean"], at["std"])
            return stats.norm(math.log(median), spread)
        first, last = self.base_scale(at["from"]), self.base_scale(at["to"])
        if self.law == TRIANGULAR:
            return stats.triang((at["mode"] - first) / (last - first), first, last - first)
        return stats.uniform(first, last - first)

    def base_scale(self, value: float) -> float:
        """The value, or its logarithm where the distribution is one of the logarithm."""
        if self.law not in (LOG_NORMAL, LOG_UNIFORM):
            return value
        return math.log(value) if value > 0.0 else -math.inf

    def quantile(self, fractions: np.ndarray) -> np.ndarray:
        """The values whose prior probability to be less is `fractions`, in [0, 1], same shape."""
        low, high = (self.base_scale(each) for each in self.support)
        base = self.base()
        if low < base.median():
            first, last = base.cdf(low), base.cdf(high)
            found = base.ppf(first + fractions * (last - first))
        else:  # the upper tail, by its complement: small probabilities keep their digits
            first, last = base.sf(low), base.sf(high)
            found = base.isf(first + fractions * (last - first))
        values = np.exp(found) if self.law in (LOG_NORMAL, LOG_UNIFORM) else np.asarray(found)
        return np.asarray(np.clip(values, *self.support))

    def log_density(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The logarithm of the prior density at values within the support, and its derivative by the value, same shape."""
        at, log_mass = dict(self.numbers), math.log(self.mass)
        if self.law in (NORMAL, TRUNCATED):
            z = (v - at["mean"]) / at["std"]
            return -0.5 * z**2 - math.log(at["std"]) - ROOT_2_PI - log_mass, -z / at["std"]
        if self.law == LOG_NORMAL:
            median, spread = log_normal_scale(at["mean"], at["std"])
            z = (np.log(v) - math.log(median)) / spread
            return -0.5 * z**2 - np.log(v) - math.log(spread) - ROOT_2_PI - log_mass, -(z / spread + 1.0) / v
        first, last = at["from"], at["to"]
        if self.law == LOG_UNIFORM:
            return -np.log(v) - math.log(math.log(last / first)) - log_mass, -1.0 / v
        if self.law == UNIFORM:
            return np.full(np.shape(v), -math.log(last - first) - log_mass), np.zeros(np.shape(v))
        mode, height = at["mode"], math.log(2.0 / (last - first)) - log_mass
        rises, distance = v < mode, np.maximum(np.where(v < mode, v - first, last - v), TINY)
        side = np.where(rises, max(mode - first, TINY), max(last - mode, TINY))
        return np.log(distance / side) + height, np.where(rises, 1.0, -1.0) / distance

    def words(self) -> str:
        """The prior as text: "log_normal, mean = 1, std = 0.5 N/m, between 0.2 and 5 N/m"."""
        unit = f" {self.unit}" if self.unit not in ("", "1") else ""
        low, high = self.support
        between = f"between {low:g} and {high:g}{unit}"
        if self.law in (UNIFORM, LOG_UNIFORM):
            return f"{self.law} {between}{'' if self.given else ', from its bounds'}"
        return f"{self.law}, {', '.join(f'{key} = {value:g}' for key, value in self.numbers)}{unit}, {between}"


def from_bounds(name: str, unit: str, lower: float, upper: float, logarithmic: bool, **more: Any) -> Sampled:
    """A number without a prior of its own: uniform between its bounds, on its scale."""
    law = LOG_UNIFORM if logarithmic else UNIFORM
    return Sampled(name, unit, lower, upper, logarithmic, law, (("from", lower), ("to", upper)), **more)
