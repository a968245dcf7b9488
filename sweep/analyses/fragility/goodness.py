"""Whether counted probabilities agree with a fragility curve: the chi-squared test of Pearson over merged bins."""

from __future__ import annotations

import math

import numpy as np

FEWEST = 5.0  # rows with and without the event that the curve expects in a bin; smaller bins are merged [Cochran, Biometrics 10 (1954) 417]
FITTED = 2  # parameters of the curve


def misfit(chance: np.ndarray, happened: np.ndarray, bins: np.ndarray) -> float:
    """The probability of counts that are at least as far from the curve, if the rows are independent and the curve is true.

    Args:
        chance: (n,) probability of each row by the curve. happened: (n,) mask. bins: (n,) numbers of bins, in the order of the intensity.

    Returns:
        The p-value; NaN if too few bins are left after merging.
    """
    from scipy.stats import chi2

    count = int(bins.max()) + 1
    cells = np.stack([np.bincount(bins, weight, count) for weight in (np.ones(len(bins)), chance, happened.astype(float))], axis=1)
    merged, open_cell = [], np.zeros(3)
    for cell in cells:
        open_cell = open_cell + cell
        if min(open_cell[1], open_cell[0] - open_cell[1]) >= FEWEST:
            merged.append(open_cell)
            open_cell = np.zeros(3)
    if merged:
        merged[-1] = merged[-1] + open_cell
    freedom = len(merged) - FITTED
    if freedom < 1:
        return math.nan
    rows, expected, events = np.array(merged).T
    return float(chi2.sf(np.sum((events - expected) ** 2 / (expected * (1.0 - expected / rows))), freedom))
