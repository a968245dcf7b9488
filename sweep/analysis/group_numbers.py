"""Numbers of groups of rows: moments, quantiles, probabilities and words of many groups at once, each with its interval.

All groups are computed in one pass over the rows, sorted by group: a million rows take a fraction of a second. Intervals are those of
independent rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.study.event import share_interval


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows that belong to groups.

    Attributes:
        of: (n,) the number of the group of each row. count: the number of groups. good: (n,) mask of the rows that did not fail.
    """

    of: np.ndarray
    count: int
    good: np.ndarray

    def number(self, mask: np.ndarray) -> np.ndarray:
        """(count,) the number of rows of a mask in each group."""
        return np.bincount(self.of[mask], minlength=self.count)


@dataclass(frozen=True, slots=True)
class Interval:
    """A number of each group with its interval, (count,) each; NaN where a group has too few rows."""

    value: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def moments_of(values: np.ndarray, groups: Groups) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(count,) numbers of the rows with a value, means, and standard deviations with n - 1; NaN where there are too few rows."""
    used = groups.good & np.isfinite(values)
    at, kept, count = groups.of[used], values[used], groups.count
    rows = np.bincount(at, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(at, kept, count) / rows
        mean += np.bincount(at, kept - mean[at], count) / rows  # corrects the rounding error of the first mean
        std = np.sqrt(np.bincount(at, (kept - mean[at]) ** 2, count) / (rows - 1.0))
    std[rows < 2] = np.nan
    return rows, mean, std


def means_of(values: np.ndarray, groups: Groups, confidence: float) -> Interval:
    """Means with the intervals of Student's t."""
    from scipy.special import stdtrit

    rows, mean, std = moments_of(values, groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = stdtrit(np.maximum(rows - 1, 1), 0.5 + 0.5 * confidence) * std / np.sqrt(rows)
    return Interval(mean, mean - half, mean + half)


def deviations_of(values: np.ndarray, groups: Groups, confidence: float) -> Interval:
    """Standard deviations; their intervals follow from the fourth moment, normal in log(std), as those of `sensitivity`."""
    from scipy.special import ndtri

    rows, mean, std = moments_of(values, groups)
    used = groups.good & np.isfinite(values)
    at = groups.of[used]
    with np.errstate(invalid="ignore", divide="ignore"):
        fourth = np.bincount(at, (values[used] - mean[at]) ** 4, groups.count) / rows
        spread = np.sqrt(np.maximum(fourth - std**4 * (rows - 3.0) / (rows - 1.0), 0.0) / rows) / (2.0 * std)
        grown = np.exp(ndtri(0.5 + 0.5 * confidence) * spread / std)
    grown[std == 0.0] = 1.0
    return Interval(std, std / grown, std * grown)


def quantiles_of(values: np.ndarray, groups: Groups, probability: float, confidence: float) -> Interval:
    """Quantiles between neighbouring values in proportion, as numpy's; intervals between two ordered values (see `order_statistics`).

    An end is infinite where a group has too few rows for it.
    """
    used = groups.good & np.isfinite(values)
    at, kept = groups.of[used], values[used]
    ordered = kept[np.lexsort((kept, at))]
    rows = np.bincount(at, minlength=groups.count)
    first = np.cumsum(rows) - rows
    some = np.flatnonzero(rows)
    value, lower, upper = np.full((3, groups.count), np.nan)
    place = (rows[some] - 1) * probability
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, rows[some] - 1)
    below, above = ordered[first[some] + low], ordered[first[some] + high]
    value[some] = below + (place - low) * (above - below)
    for number in np.unique(rows[some]).tolist():
        ranks = order_statistics(number, probability, confidence)
        same = np.flatnonzero(rows == number)
        lower[same] = ordered[first[same] + ranks[0] - 1] if ranks[0] >= 1 else -np.inf
        upper[same] = ordered[first[same] + ranks[1] - 1] if ranks[1] <= number else np.inf
    return Interval(value, lower, upper)


def probabilities_of(happened: np.ndarray, groups: Groups, confidence: float, unknown: np.ndarray | None = None) -> Interval:
    """Parts of the rows without failure in which an event happened, with the intervals of Clopper and Pearson.

    Rows of which that is `unknown` are left out; the lower end counts them as rows without the event, the upper end as rows with it.
    """
    rows, hits = groups.number(groups.good), groups.number(groups.good & happened)
    open_rows = np.zeros_like(rows) if unknown is None else groups.number(groups.good & unknown)
    with np.errstate(invalid="ignore"):
        value = hits / (rows - open_rows)
    lower, upper = share_interval(hits, rows, confidence)[0], share_interval(hits + open_rows, rows, confidence)[1]
    return Interval(value, np.where(rows, lower, np.nan), np.where(rows, upper, np.nan))


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How often each word occurs in each group: `hits` (count, number of words) among `rows` (count,) and `unknown` ones, (count,) or 0."""

    hits: np.ndarray
    rows: np.ndarray
    unknown: np.ndarray | int = 0

    @property
    def most(self) -> np.ndarray:
        """(count,) position of the most frequent word, the first of equals; -1 without rows."""
        return np.where(self.rows, self.hits.argmax(axis=1), -1)

    def share(self, confidence: float) -> Interval:
        """The share of the most frequent word; its interval is that of Clopper and Pearson, for a word that was chosen beforehand."""
        hits = self.hits.max(axis=1)
        with np.errstate(invalid="ignore"):
            value = hits / self.rows
        lower = share_interval(hits, self.rows + self.unknown, confidence)[0]
        upper = share_interval(hits + self.unknown, self.rows + self.unknown, confidence)[1]
        return Interval(value, np.where(self.rows, lower, np.nan), np.where(self.rows, upper, np.nan))

    @property
    def entropy(self) -> np.ndarray:
        """(count,) Shannon's entropy of the words [bit], 0 where one word has all rows; biased low by about (words - 1) / (2 n ln 2)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            part = self.hits / self.rows[:, np.newaxis]
            found = -np.sum(np.where(part > 0.0, part * np.log2(part), 0.0), axis=1)
        return np.where(self.rows, np.abs(found), np.nan)


def frequencies_of(codes: np.ndarray, groups: Groups, words: Sequence[str], unknown: np.ndarray | int = 0) -> Frequencies:
    """Count words given as (n,) positions in `words`; negative ones, and rows that failed, count for nothing.

    `unknown`: (count,) numbers of rows of each group whose word could not be computed; intervals of shares hold all that it may be.
    """
    used = groups.good & (codes >= 0)
    numbers = groups.of[used] * len(words) + codes[used]
    hits = np.bincount(numbers, minlength=groups.count * len(words)).reshape(groups.count, len(words))
    return Frequencies(hits, hits.sum(axis=1), unknown)


def order_statistics(count: int, p: float, level: float) -> tuple[int, int]:
    """Ranks, from 1 on, of the two ordered values that enclose the quantile `p` with at least the probability `level`; equal tails.

    Ranks 0 and count + 1 mean that there is no such value. P(X_(r) <= q) = P(B >= r) with B binomial (count, p). Source: H. A. David and
    H. N. Nagaraja, Order Statistics (2003), section 7.1.
    """
    from scipy.stats import binom

    tail = 0.5 * (1.0 - level)
    first = int(binom.ppf(tail, count, p))  # the largest r with P(B < r) <= tail
    first = first if binom.cdf(first - 1, count, p) <= tail else first - 1
    last = int(binom.ppf(1.0 - tail, count, p)) + 1
    return max(first, 0), min(last, count + 1)
