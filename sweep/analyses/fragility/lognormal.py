"""Lognormal fragility by maximum likelihood, of capacities that are known between two intensities.

The probability of an event at the intensity x is Phi((ln x - ln theta) / beta): the capacity, the intensity at which the event happens
first, is lognormal with the median theta and the logarithmic standard deviation beta. A row with the event says that the capacity is at
most x, a row without it that the capacity is larger; a record scaled up until it happens says that it lies between the last two
intensities. With the intercept a = -ln theta / beta and the slope b = 1 / beta, the log-likelihood

    sum of weight * ln(Phi(a + b ln upper) - Phi(a + b ln lower))

is concave in (a, b), for a difference of two values of a log-concave distribution is log-concave in both ends; so Newton's method with a
line search finds its only maximum. For rows with and without the event it is the probit model in ln x [Baker, Earthquake Spectra 31 (2015)
579; Shinozuka et al., J. Eng. Mech. 126 (2000) 1224].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

TURNS, HALVINGS = 200, 60
SETTLED = 1e-12  # Newton's decrement; the error after its last step is about its square


class NoMaximumError(ValueError):
    """The likelihood has no finite maximum.

    Attributes:
        theta, beta: their limits as the likelihood grows, NaN if unknown; beta is 0 for a step, infinite for a flat probability.
        share: probability that the limit has at every intensity, where beta is infinite, or NaN.
    """

    def __init__(self, message: str, theta: float, beta: float, share: float = math.nan) -> None:
        """Keep the reason and the limits."""
        super().__init__(message)
        self.theta, self.beta, self.share = theta, beta, share

    def chance(self, intensity: np.ndarray) -> np.ndarray:
        """The limit of the probability at intensities."""
        if not math.isnan(self.share):
            return np.full(np.shape(intensity), self.share)
        if math.isnan(self.theta):
            return np.full(np.shape(intensity), math.nan)
        return np.asarray(np.where(intensity >= self.theta, 1.0, 0.0))


@dataclass(frozen=True, slots=True)
class Capacities:
    """What is known of capacities: kind k lies between lower[k] and upper[k], and counts weight[k] times.

    Attributes:
        lower, upper: (n,) logarithms of intensities; -inf and inf where nothing is known. weight: (n,) how often each counts.
    """

    lower: np.ndarray
    upper: np.ndarray
    weight: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        """The finite ends of all that count."""
        used = self.weight > 0
        both = np.concatenate([self.lower[used], self.upper[used]])
        return np.asarray(both[np.isfinite(both)])

    def scaled(self) -> tuple[Capacities, float, float]:
        """The same with ends of mean 0 and standard deviation 1, and what was subtracted and divided by."""
        ends = self.ends
        middle, width = float(ends.mean()), float(ends.std())
        return Capacities((self.lower - middle) / width, (self.upper - middle) / width, self.weight), middle, width


@dataclass(frozen=True, slots=True)
class Fit:
    """A lognormal curve as a straight line on probit paper, Phi^-1(probability) = intercept + slope * ln(intensity).

    Attributes:
        intercept, slope: of the line. covariance: (2, 2) of both.
        log_likelihood: at the maximum.
    """

    intercept: float
    slope: float
    covariance: np.ndarray
    log_likelihood: float

    @property
    def theta(self) -> float:
        """The intensity at which the probability is one half."""
        return math.exp(-self.intercept / self.slope)

    @property
    def beta(self) -> float:
        """The standard deviation of the logarithm of the capacity."""
        return 1.0 / self.slope

    def chance(self, intensity: np.ndarray) -> np.ndarray:
        """The probability of the event at intensities, of any shape."""
        from scipy.special import ndtr

        return np.asarray(ndtr(self.intercept + self.slope * np.log(intensity)))


def rows_of(log_intensity: np.ndarray, happened: np.ndarray) -> tuple[Capacities, np.ndarray]:
    """Rows with and without an event as kinds of capacities, and the kind of each row, (n,).

    Args:
        log_intensity: (n,) logarithms of intensities. happened: (n,) mask.
    """
    places, inverse = np.unique(log_intensity, return_inverse=True)
    kinds = 2 * inverse + happened
    weight = np.bincount(kinds, minlength=2 * len(places)).astype(np.float64)
    lower, upper = np.full(2 * len(places), -np.inf), np.full(2 * len(places), np.inf)
    lower[0::2], upper[1::2] = places, places
    return Capacities(lower, upper, weight), kinds


def require_maximum(known: Capacities) -> None:
    """Raise NoMaximumError if the likelihood grows without end along a direction of (a, b)."""
    used = known.weight > 0
    lower, upper, weight = known.lower[used], known.upper[used], known.weight[used]
    if not np.isfinite(lower).any():
        raise NoMaximumError("the event happens in every row: the capacity is at most the smallest intensity", 0.0, 0.0)
    if not np.isfinite(upper).any():
        raise NoMaximumError("the event happens in no row: the capacity is larger than the largest intensity", math.inf, 0.0)
    if lower.max() <= upper.min():
        low, high = math.exp(lower.max()), math.exp(upper.min())
        where = f"at {low:.6g}" if low == high else f"between {low:.6g} and {high:.6g}"
        message = (
            f"the data are separated {where}: below the event never happens, above always, so the likelihood grows without end as beta "
            "goes to 0; it takes intensities closer together there, or more rows, to find beta"
        )
        raise NoMaximumError(message, math.sqrt(low * high), 0.0)
    both = np.isfinite(lower) & np.isfinite(upper)
    if not both.any() and upper.max() <= lower[np.isfinite(lower)].min():
        share = float(weight[np.isfinite(upper)].sum() / weight.sum())
        raise NoMaximumError(falling(), math.nan, math.inf, share)


def falling() -> str:
    """The reason why a probability that falls has no curve."""
    return "the event does not become more frequent as the intensity grows, which no lognormal curve can show"


def fit(known: Capacities) -> Fit:
    """Find the maximum of the likelihood.

    Raises:
        NoMaximumError: there is none with a finite beta > 0; its message says why.
    """
    require_maximum(known)
    scaled, middle, width = known.scaled()
    best = climb(scaled, np.zeros(2), np.eye(2), np.array([0.0, 1.0]))
    if best[1] <= 0.0:
        share = float(known.weight[np.isfinite(known.upper)].sum() / known.weight.sum())
        raise NoMaximumError(falling(), math.nan, math.inf, share)
    value, _, curvature = derivatives(scaled, best)
    back = np.array([[1.0, -middle / width], [0.0, 1.0 / width]])  # from scaled to plain logarithms
    intercept, slope = back @ best
    return Fit(float(intercept), float(slope), back @ np.linalg.inv(-curvature) @ back.T, value)


def climb(known: Capacities, origin: np.ndarray, basis: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Maximise the log-likelihood over origin + basis @ q by Newton's method with halved steps.

    Args:
        origin: (2,) point (a, b). basis: (2, m) directions. start: (m,) first q, at which the likelihood is positive.

    Returns:
        (2,) the point (a, b) of the maximum, which must exist.
    """
    q = np.asarray(start, dtype=np.float64)
    value, gradient, curvature = derivatives(known, origin + basis @ q)
    for _ in range(TURNS):
        step = np.linalg.solve(-(basis.T @ curvature @ basis), basis.T @ gradient)
        decrement = float(step @ (basis.T @ gradient))
        for _ in range(HALVINGS):
            found = derivatives(known, origin + basis @ (q + step))
            if found[0] >= value - 1e-13 * abs(value):
                break
            step = 0.5 * step
        q, (value, gradient, curvature) = q + step, found
        if decrement <= SETTLED:
            break
    return np.asarray(origin + basis @ q)


def derivatives(known: Capacities, point: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The log-likelihood at (a, b), its gradient, (2,), and its second derivatives, (2, 2); -inf where it is not defined."""
    from scipy.special import log_ndtr

    has_low, has_high = np.isfinite(known.lower), np.isfinite(known.upper)
    at_low, at_high = np.where(has_low, known.lower, 0.0), np.where(has_high, known.upper, 0.0)
    low = np.where(has_low, point[0] + point[1] * at_low, -np.inf)
    high = np.where(has_high, point[0] + point[1] * at_high, np.inf)
    mirrored = (low > 0.0) | ~has_high  # Phi(high) - Phi(low) = Phi(-low) - Phi(-high): no cancellation in the upper tail
    top, bottom = np.where(mirrored, -low, high), np.where(mirrored, -high, low)
    ratio = np.exp(np.minimum(log_ndtr(bottom) - log_ndtr(top), 0.0))
    if np.any(low >= high) or np.any(ratio >= 1.0):
        return -math.inf, np.zeros(2), -np.eye(2)
    log_chance = log_ndtr(top) + np.log1p(-ratio)
    of_top, of_bottom = density_ratio(top) / (1.0 - ratio), density_ratio(bottom) * ratio / (1.0 - ratio)
    rate_high, rate_low = np.where(mirrored, of_bottom, of_top), np.where(mirrored, of_top, of_bottom)  # density over probability
    low, high = np.where(has_low, low, 0.0), np.where(has_high, high, 0.0)
    w = known.weight
    gradient = np.array([np.sum(w * (rate_high - rate_low)), np.sum(w * (rate_high * at_high - rate_low * at_low))])
    hh, ll, hl = -high * rate_high - rate_high**2, low * rate_low - rate_low**2, rate_high * rate_low
    first = np.sum(w * (hh + ll + 2.0 * hl))
    mixed = np.sum(w * (hh * at_high + ll * at_low + hl * (at_high + at_low)))
    second = np.sum(w * (hh * at_high**2 + ll * at_low**2 + 2.0 * hl * at_high * at_low))
    return float(np.sum(w * log_chance)), gradient, np.array([[first, mixed], [mixed, second]])


def density_ratio(z: np.ndarray) -> np.ndarray:
    """The normal density over its distribution function, 0 at -inf (where its factor is 0) and at inf."""
    from scipy.special import erfcx

    finite = np.isfinite(z)
    with np.errstate(over="ignore"):
        return np.where(finite, math.sqrt(2.0 / math.pi) / erfcx(np.where(finite, z, 0.0) / -math.sqrt(2.0)), 0.0)
