"""Propagated uncertainty of an observable: mean, standard deviation, quantiles, exceedance probabilities, with sampling errors.

The errors of one sample are those of as many independent points. They come from the central limit theorem for the mean, the fourth moment
for the standard deviation, order statistics for quantiles, and Clopper and Pearson for probabilities. The points of a Latin hypercube and
of scrambled Sobol and Halton sequences are spread more evenly. Their true errors are smaller, usually much smaller for means, but one
sample cannot show by how much: its intervals are on the safe side. Replicates ([[sweep]] tables that differ only in their seed) can show
it: every number is then the mean over the replicates, with Student's interval of their scatter.

Sources: A. B. Owen, Annals of Statistics 25 (1997), 1541-1562 (Sobol); M. Stein, Technometrics 29 (1987), 143-151 (Latin hypercube).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tribosweep.sweep.analyses.sensitivity.estimates import Estimate, factor_of
from tribosweep.sweep.analysis.group_numbers import order_statistics
from tribosweep.sweep.study.event import share_interval

LEAST = 2  # fewest values that have a spread


def propagate(values: Sequence[np.ndarray], quantiles: Sequence[float], level: float) -> list[Estimate]:
    """Compute mean, standard deviation and quantiles of an observable.

    Args:
        values: (n,) for each replicate; a single array for a single sample.
        quantiles: the probabilities of the quantiles, in (0, 1). level: level of the confidence intervals.

    Returns:
        "mean", "std", "quantile 0.05" ...
    """
    return over_replicates([describe(one, quantiles, level) for one in values], level)


def chance(happened: Sequence[np.ndarray], measure: str, level: float) -> Estimate:
    """The probability of an event, named `measure`, from (n,) masks of the rows in which it happened, one for each replicate."""
    return over_replicates([[share(int(np.count_nonzero(one)), len(one), measure, level)] for one in happened], level)[0]


def share(hits: int, n: int, measure: str, level: float) -> Estimate:
    """The probability of an event that happened in `hits` of `n` independent rows, with the interval of Clopper and Pearson."""
    low, high = share_interval(hits, n, level)
    return Estimate(measure, hits / n, float(low), float(high))


def over_replicates(each: Sequence[list[Estimate]], level: float) -> list[Estimate]:
    """The estimates of one sample as they are; of several replicates their means with Student's interval."""
    if len(each) == 1:
        return each[0]
    from scipy.special import stdtrit

    reach = float(stdtrit(len(each) - 1, 0.5 + 0.5 * level)) / math.sqrt(len(each))
    found = []
    for same in zip(*each, strict=True):
        drawn = np.array([one.value for one in same])
        mean, half = float(drawn.mean()), reach * float(drawn.std(ddof=1))
        found.append(Estimate(same[0].measure, mean, mean - half, mean + half))
    return found


def describe(values: np.ndarray, quantiles: Sequence[float], level: float) -> list[Estimate]:
    """The estimates from one sample, with the errors of independent points."""
    n, ordered = len(values), np.sort(values)
    mean, z = float(values.mean()), factor_of(level)
    offsets = values - mean
    variance = float((offsets**2).sum() / (n - 1))
    std = math.sqrt(variance)
    fourth = float((offsets**4).mean())
    spread = math.sqrt(max(fourth - variance**2 * (n - 3) / (n - 1), 0.0) / n) / (2.0 * std) if std > 0.0 else 0.0
    half = z * std / math.sqrt(n)
    grown = math.exp(z * spread / std) if std > 0.0 else 1.0  # log(std) is closer to normal than std
    found = [Estimate("mean", mean, mean - half, mean + half), Estimate("std", std, std / grown, std * grown)]
    for p in quantiles:
        first, last = order_statistics(n, p, level)
        low = float(ordered[first - 1]) if first >= 1 else -math.inf
        high = float(ordered[last - 1]) if last <= n else math.inf
        found.append(Estimate(f"quantile {p:g}", float(np.quantile(ordered, p)), low, high))
    return found
