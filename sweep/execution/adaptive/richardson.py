"""Richardson extrapolation of a series of refined results: order of convergence, limit and error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROUNDING = 1e-12  # a relative difference below it may be that of the sums of a run of a million steps
MEMORY = 5  # differences that an order is fitted to
LEAST_CONTRACTION = 1.25  # of successive differences, for an order to be observed and a limit extrapolated
EVEN = 1.5  # factor by which the last contraction may differ from that of the order, for the same


@dataclass(frozen=True, slots=True)
class LimitEstimate:
    """What n series say, (n,) float64 each.

    Attributes:
        value: the finest result; NaN without one.
        order: p in error ~ h^p, where h is what is refined; NaN if the differences do not shrink, or fewer than two are above rounding.
        extrapolated: limit of the series with that order; NaN if the last differences do not shrink steadily and to one side.
        error: estimated |error| of `value`: its distance from the limit, or else the larger of the last two differences.
    """

    value: np.ndarray
    order: np.ndarray
    extrapolated: np.ndarray
    error: np.ndarray


def agree(previous: np.ndarray, last: np.ndarray, digits: int) -> np.ndarray:
    """Mask of the entries of two arrays that agree to so many significant digits; 0 agrees with 0, NaN with nothing."""
    mask: np.ndarray = (np.abs(last - previous) < 0.5 * 10.0**-digits * np.abs(last)) | (last == previous)
    return mask


def estimate(values: np.ndarray, divisor: np.ndarray) -> LimitEstimate:
    """Order, limit and error of series of results.

    With h divided by b from level to level and error ~ h^p, the differences d_n = v_n - v_(n-1) shrink by b^p, and the limit is
    v_n + d_n / (b^p - 1). The order is that of the straight line through the logarithms of the last five differences: where a motion sticks
    and slips, a phase ends anywhere within a step, and the ratio of two differences alone says little.

    Args:
        values: (levels, n) results, level by level; NaN from where a series ends.
        divisor: (n,) b > 1.

    Returns:
        See `LimitEstimate`. Source: L. F. Richardson, Phil. Trans. R. Soc. A 210 (1911), 307-357.
    """
    columns = np.arange(values.shape[1])
    finest = np.isfinite(values).sum(axis=0) - 1
    value = values[finest, columns]
    differences = np.diff(values, axis=0, prepend=np.nan)
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
    """Slope of the straight line (least squares) through each column of (levels, n) `heights`, NaN apart; NaN for fewer than two."""
    there = np.isfinite(heights)
    places = np.where(there, np.arange(len(heights))[:, np.newaxis], np.nan)
    count = there.sum(axis=0)
    across = places - np.nansum(places, axis=0) / count
    slope: np.ndarray = np.nansum(across * heights, axis=0) / np.nansum(across**2, axis=0)
    return slope
