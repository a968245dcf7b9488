"""Fragility of a cloud: a straight line through ln(demand) over ln(intensity), and a limit of the demand.

ln D = a + b ln x + e, where e is normal with the standard deviation s, so that P(D > d | x) = Phi((a + b ln x - ln d) / sqrt(s^2 + s_c^2)),
with s_c the logarithmic standard deviation of the limit itself [Cornell et al., J. Struct. Eng. 128 (2002) 526;
Jalayer, Cornell, Earthquake Eng. Struct. Dyn. 38 (2009) 951].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.analyses.fragility.lognormal import Fit, NoMaximumError, falling

FEWEST = 3


@dataclass(frozen=True, slots=True)
class Cloud:
    """Demands over intensities.

    Attributes:
        log_intensity, log_demand: (n,) logarithms. log_limit: logarithm of the limit.
        capacity_beta: logarithmic standard deviation of the limit.
    """

    log_intensity: np.ndarray
    log_demand: np.ndarray
    log_limit: float
    capacity_beta: float


@dataclass(frozen=True, slots=True)
class Regression:
    """The straight line ln(demand) = intercept + slope * ln(intensity), and the standard deviation of one row about it."""

    intercept: float
    slope: float
    spread: float


def regress(cloud: Cloud, weight: np.ndarray | None = None) -> tuple[Regression, Fit]:
    """Fit the line by least squares, and the lognormal curve that follows.

    Args:
        cloud: the rows. weight: (n,) number of times that each counts; default 1.

    Raises:
        NoMaximumError: fewer than three rows, one intensity, no scatter, or a demand that does not grow.
    """
    w = np.ones(len(cloud.log_demand)) if weight is None else weight
    total = float(w.sum())
    if total < FEWEST or np.ptp(cloud.log_intensity[w > 0]) == 0.0:
        message = "a cloud needs three rows at two intensities at least whose demand and intensity are positive"
        raise NoMaximumError(message, math.nan, math.nan)
    middle = float(w @ cloud.log_intensity) / total
    u = cloud.log_intensity - middle
    squares = float(w @ u**2)
    height = float(w @ cloud.log_demand) / total
    slope = float(w @ (u * (cloud.log_demand - height))) / squares
    rest = cloud.log_demand - height - slope * u
    variance = float(w @ rest**2) / (total - 2.0)
    if slope <= 0.0:
        raise NoMaximumError(falling(), math.nan, math.inf)
    whole = math.sqrt(variance + cloud.capacity_beta**2)
    if whole <= 1e-12 * (1.0 + abs(height)):
        message = "the demand has no scatter about its line, so that beta is 0: the event happens above theta, and never below"
        raise NoMaximumError(message, math.exp(middle + (cloud.log_limit - height) / slope), 0.0)
    # eta = (height - log_limit + slope * u) / whole; (height, slope, variance) are independent
    level = (height - cloud.log_limit) / whole
    by_variance = np.array([level, slope / whole]) / (-2.0 * whole**2)
    cov = np.diag([variance / total, variance / squares]) / whole**2
    cov += np.outer(by_variance, by_variance) * (2.0 * variance**2 / (total - 2.0))
    back = np.array([[1.0, -middle], [0.0, 1.0]])
    a, b = back @ np.array([level, slope / whole])
    likelihood = -0.5 * total * (math.log(2.0 * math.pi * variance * (total - 2.0) / total) + 1.0) if variance > 0.0 else math.inf
    line = Regression(height - slope * middle, slope, math.sqrt(variance))
    return line, Fit(float(a), float(b), back @ cov @ back.T, likelihood)
