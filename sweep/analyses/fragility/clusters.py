"""Intervals of counted probabilities where rows share a record or a draw, so that they are not independent."""

from __future__ import annotations

import numpy as np

from tribosweep.sweep.study.event import share_interval


def interval_of_clusters(happened: np.ndarray, bins: np.ndarray, groups: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of the share of rows with an event in each bin, in which rows of the same group are alike.

    Clopper and Pearson's interval of the effective number of rows (Korn and Graubard, Survey Methodology 24, 1998, 193-201): that number of
    independent rows has the variance that the shares of the groups show. It is at most the number of rows. Where all rows of a bin are with
    the event, or all without, groups show no variance, and the number of groups takes its place: they may be alike altogether.

    Args:
        happened: (n,) whether the event happened. bins: (n,) numbers of bins from 0 on. groups: (n,) numbers of groups. confidence: level.

    Returns:
        Lower and upper ends, one for each bin. They are those of independent rows where every row of a bin has its own group.
    """
    from scipy.stats import t

    count = int(bins.max()) + 1
    rows = np.bincount(bins, minlength=count).astype(np.float64)
    share = np.bincount(bins, happened, count) / rows
    pairs, places = np.unique(np.stack([bins, groups]), axis=1, return_inverse=True)
    of_bin = pairs[0]
    off = np.bincount(places.ravel(), happened - share[bins])  # of each group in its bin: events less those expected
    clusters = np.bincount(of_bin, minlength=count).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = clusters / (clusters - 1.0) * np.bincount(of_bin, off * off, count) / rows**2
        effective = np.where((share > 0.0) & (share < 1.0), share * (1.0 - share) / variance, clusters)
        reach = [t.ppf(0.5 + 0.5 * confidence, np.maximum(each - 1.0, 1.0)) for each in (rows, clusters)]
    effective = np.where(clusters > 1.0, np.clip(effective * (reach[0] / reach[1]) ** 2, 1.0, rows), 1.0)
    independent = clusters == rows
    size = np.where(independent, rows, effective)
    return share_interval(share * size, size, confidence)
