"""Richardson extrapolation of a series of refined results: order of convergence, limit and error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROUNDING = 1e-12  # smaller relative differences may be rounding of the sums of a million steps
MEMORY = 5  # number of differences that the order is fitted to
LEAST_CONTRACTION = 1.25  # least ratio of successive differences for an order and an extrapolated limit
EVEN = 1.5  # largest factor between the last contraction and that of the order, for extrapolation


@dataclass(frozen=True, slots=True)
class LimitEstimate:
    """Estimates from n series, (n,) float64 each.

    Attributes:
        value: the finest result; NaN if there is none.
        order: p in error ~ h^p, where h is refined; NaN if the differences do not shrink, or if fewer than two exceed rounding.
        extrapolated: limit of the series with that order; NaN unless the last differences shrink steadily and have the same sign.
        error: estimated |error| of `value`: its distance from the limit; without a limit, the larger of the last two differences; NaN
            if neither of these two results was finer than the one before.
    """

    value: np.ndarray
    order: np.ndarray
    extrapolated: np.ndarray
    error: np.ndarray


def agree(previous: np.ndarray, last: np.ndarray, digits: int) -> np.ndarray:
    """Mask of the entries of two arrays that agree to `digits` significant digits; 0 agrees with 0, NaN with nothing."""
    mask: np.ndarray = (np.abs(last - previous) < 0.5 * 10.0**-digits * np.abs(last)) | (last == previous)
    return mask


def estimate(values: np.ndarray, divisor: np.ndarray, refined: np.ndarray) -> LimitEstimate:
    """Estimate order, limit and error of series of results.

    h is divided by b from level to level. With error ~ h^p the differences d_n = v_n - v_(n-1) shrink by b^p, and the limit is
    v_n + d_n / (b^p - 1). The order is fitted as a straight line to the logarithms of the last five differences. The ratio of only two
    differences is unreliable for a motion that sticks and slips, because a phase may end anywhere within a step.

    Args:
        values: (levels, n) results, level by level; NaN from where a series ends.
        divisor: (n,) b > 1.
        refined: (levels, n) mask of the results that are finer than the one before; of others the difference tells nothing.

    Returns:
        See `LimitEstimate`. Source: L. F. Richardson, Phil. Trans. R. Soc. A 210 (1911), 307-357.
    """
    columns = np.arange(values.shape[1])
    finest = np.isfinite(values).sum(axis=0) - 1
    value = values[finest, columns]
    differences = np.where(refined, np.diff(values, axis=0, prepend=np.nan), np.nan)
    level = np.arange(len(values))[:, np.newaxis]
    recent = np.where((level > finest - MEMORY) & (np.abs(differences) > ROUNDING * np.abs(values)), differences, np.nan)
    before, last = differences[np.maximum(finest - 1, 0), columns], differences[finest, columns]
    with np.errstate(all="ignore"):
        order = -slopes(np.log(np.abs(recent)) / np.log(divisor))
        contraction = divisor**order
        order = np.where(contraction >= LEAST_CONTRACTION, order, np.nan)
        even = np.abs(np.log(before / last / contraction)) < np.log(EVEN)
        steady = even & (contraction >= LEAST_CONTRACTION) & (np.abs(last) > ROUNDING * np.abs(value))
        extrapolated = np.where(steady, value + last / (contraction - 1.0), np.nan)
        error = np.where(steady, np.abs(extrapolated - value), np.fmax(np.abs(before), np.abs(last)))
    return LimitEstimate(value, order, extrapolated, error)


def slopes(heights: np.ndarray) -> np.ndarray:
    """Slope of the least-squares line through the finite values of each column of (levels, n) `heights`; NaN for fewer than two values."""
    there = np.isfinite(heights)
    places = np.where(there, np.arange(len(heights))[:, np.newaxis], np.nan)
    count = there.sum(axis=0)
    across = places - np.nansum(places, axis=0) / count
    slope: np.ndarray = np.nansum(across * heights, axis=0) / np.nansum(across**2, axis=0)
    return slope
