"""Intervals of a lognormal fragility curve: delta method, profile likelihood, bootstrap of groups of rows.

The first two take all rows as independent. Rows that share a record or a draw are not, and the bootstrap draws these as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.analyses.fragility.lognormal import Capacities, Fit, NoMaximumError, climb, derivatives

PROFILE, DELTA, BOOTSTRAP = "profile", "delta", "bootstrap"
INTERVALS = {
    PROFILE: "profile likelihood, against chi-squared with one degree of freedom; the band by the delta method",
    DELTA: "delta method in ln(theta), ln(beta) and on probit paper",
    BOOTSTRAP: "percentiles of a bootstrap of whole records or draws, or of rows where each is one",
}
FARTHEST = 500.0  # way from the maximum, in logarithms, after which an end counts as infinite
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of a curve.

    Attributes:
        theta, beta: lower and upper ends, 0 or inf where there is none.
        low, high: (n,) ends of the pointwise band of the probability.
        limits: number of bootstrap samples whose likelihood has no finite maximum; they count with the limits of theta and beta.
    """

    theta: Ends
    beta: Ends
    low: np.ndarray
    high: np.ndarray
    limits: int = 0


def by_delta(fit: Fit, intensity: np.ndarray, reach: float) -> Intervals:
    """Intervals from the covariance of the fit, `reach` standard deviations to each side; the band at (n,) intensities."""
    from scipy.special import ndtr

    cov, a, b = fit.covariance, fit.intercept, fit.slope
    of_theta = np.array([-1.0 / b, a / b**2])
    of_beta = np.array([0.0, 1.0 / b])
    spread_theta, spread_beta = (reach * math.sqrt(float(each @ cov @ each)) for each in (of_theta, of_beta))
    u = np.log(intensity)
    half = reach * np.sqrt(np.maximum(cov[0, 0] + 2.0 * u * cov[0, 1] + u**2 * cov[1, 1], 0.0))
    return Intervals(
        around(fit.theta, spread_theta), around(fit.beta, spread_beta), ndtr(a + b * u - half), ndtr(a + b * u + half)
    )  # fmt: skip


def around(value: float, spread: float) -> Ends:
    """The ends at exp(-spread) and exp(spread) times a value; infinite where they are too far to be represented."""
    factor = math.exp(min(spread, 700.0))
    return value / factor, value * factor


def by_profile(known: Capacities, fit: Fit, intensity: np.ndarray, confidence: float) -> Intervals:
    """Intervals that hold the theta and the beta which a likelihood ratio test does not refuse; the band by the delta method."""
    from scipy.stats import chi2, norm

    limit = float(chi2.ppf(confidence, 1))
    reach = float(norm.ppf(0.5 + 0.5 * confidence))
    delta = by_delta(fit, intensity, reach)
    scaled, middle, width = known.scaled()
    slope = fit.slope * width
    place = (math.log(fit.theta) - middle) / width
    flat = float(np.sum(known.weight)) * math.log(0.5)  # of a probability of one half everywhere: beta is infinite
    open_ended = not (np.isfinite(known.lower) & np.isfinite(known.upper) & (known.weight > 0)).any()

    def of_theta(at: float) -> float:
        best = climb(scaled, np.zeros(2), np.array([[-at], [1.0]]), np.array([slope]))
        value = derivatives(scaled, best)[0] if best[1] > 0.0 else flat if open_ended else -math.inf
        return 2.0 * (fit.log_likelihood - value) - limit

    def of_slope(logarithm: float) -> float:
        b = math.exp(logarithm)
        best = climb(scaled, np.array([0.0, b]), np.array([[1.0], [0.0]]), np.array([-b * place]))
        return 2.0 * (fit.log_likelihood - derivatives(scaled, best)[0]) - limit

    steps = [math.log(ends[1] / value) for ends, value in ((delta.theta, fit.theta), (delta.beta, fit.beta))]
    of_first, of_second = (min(max(step, 1e-6), 0.5) for step in (steps[0] / width, steps[1]))
    low, high = (crossing(of_theta, place, sign * of_first) for sign in (-1.0, 1.0))
    steep, gentle = (crossing(of_slope, math.log(slope), sign * of_second) for sign in (1.0, -1.0))
    theta = tuple(bounded_exp(middle + width * end) for end in (low, high))
    beta = tuple(bounded_exp(math.log(width) - end) for end in (steep, gentle))
    return Intervals((theta[0], theta[1]), (beta[0], beta[1]), delta.low, delta.high)


def crossing(excess: Callable[[float], float], start: float, step: float) -> float:
    """Where an excess, negative at `start`, becomes positive in the direction of `step`; infinite if it does not."""
    from scipy.optimize import brentq

    inside, outside = start, start + step
    while abs(outside - start) < FARTHEST:
        if excess(outside) > 0.0:
            return float(brentq(excess, inside, outside, xtol=1e-10, rtol=1e-12))
        inside, outside = outside, outside + (outside - start)
    return math.copysign(math.inf, step)


def bounded_exp(logarithm: float) -> float:
    """The exponential; inf where it is too large."""
    return math.inf if logarithm > 700.0 else math.exp(logarithm)


def by_bootstrap(
    refit: Callable[[np.ndarray], Fit], groups: np.ndarray, intensity: np.ndarray, confidence: float, resamples: int, seed: int
) -> Intervals:
    """Percentile intervals of a bootstrap that draws groups of rows with replacement.

    Args:
        refit: (n,) number of times that each row counts -> its curve, or NoMaximumError.
        groups: (n,) numbers of the groups, from 0 on. intensity: (m,) places of the band.
        confidence, resamples, seed: level, number of samples, seed of the draws.
    """
    theta, beta, chance = np.empty(resamples), np.empty(resamples), np.empty((resamples, len(intensity)))
    limits = 0
    for place, weight in enumerate(samples(groups, resamples, seed)):
        try:
            found = refit(weight)
            theta[place], beta[place], chance[place] = found.theta, found.beta, found.chance(intensity)
        except NoMaximumError as limit:
            limits += 1
            theta[place], beta[place], chance[place] = limit.theta, limit.beta, limit.chance(intensity)
    tail = 0.5 * (1.0 - confidence)
    ends = [percentiles(values, tail) for values in (theta, beta)]
    low, high = np.nanquantile(chance, [tail, 1.0 - tail], axis=0)
    return Intervals(ends[0], ends[1], low, high, limits)


def samples(groups: np.ndarray, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """For each sample, how many times each row counts, (n,)."""
    rng = np.random.default_rng(seed)
    count = int(groups.max()) + 1
    for _ in range(resamples):
        yield np.bincount(rng.integers(0, count, count), minlength=count)[groups].astype(np.float64)


def percentiles(values: np.ndarray, tail: float) -> Ends:
    """The quantiles at both tails, values that are infinite included; where a limit is not known at all, the interval is all numbers."""
    if np.isnan(values).mean() > tail:
        return 0.0, math.inf
    known = values[~np.isnan(values)]
    low, high = np.quantile(known, [tail, 1.0 - tail], method="inverted_cdf")
    return float(low), float(high)
