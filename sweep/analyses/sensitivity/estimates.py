"""Common parts of the estimators: a number with its interval, and bootstrap weights."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

BLOCK = 1 << 15  # rows that are weighted at a time
DRAWN = 1 << 25  # random numbers in memory at a time


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a result.

    Attributes:
        measure: name of the measure, such as "S1".
        value: the number; NaN if it is undefined.
        low, high: ends of its confidence interval; NaN if it has none.
        parameter, other: names of the parameters of the measure; empty if it has none.
    """

    measure: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    parameter: str = ""
    other: str = ""

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return 0.5 * (self.high - self.low)


def around(measure: str, value: float, half: float, parameter: str = "", other: str = "") -> Estimate:
    """A number with a symmetric interval."""
    return Estimate(measure, float(value), float(value - half), float(value + half), parameter, other)


def factor_of(level: float) -> float:
    """Half width of a two-sided interval of this level, in standard deviations of a normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + 0.5 * level))


@functools.lru_cache(maxsize=2)
def resampled(count: int, resamples: int, seed: int) -> np.ndarray:
    """(resamples, count) uint8: how often each of `count` groups occurs in each bootstrap sample.

    The samples are those that SALib 1.6 draws with the same seed: column by column of `default_rng(seed).integers(count, size=(count,
    resamples))`. The counts weight sums in a matrix product, whereas SALib copies every column `resamples` times.
    """
    rng = np.random.default_rng(seed)
    weights = np.zeros((resamples, count), np.uint8)
    step = max(1, DRAWN // resamples)
    for start in range(0, count, step):
        rows = rng.integers(count, size=(min(step, count - start), resamples))
        for sample, column in enumerate(np.ascontiguousarray(rows.T)):
            weights[sample] += np.bincount(column, minlength=count).astype(np.uint8)
    weights.flags.writeable = False  # shared by every observable
    return weights


def means(columns: list[np.ndarray], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (k,) means of k columns, and the (resamples, k) means of their bootstrap samples.

    Args:
        columns: (n,) each. weights: (resamples, n) from `resampled`.
    """
    count, plain = len(columns[0]), np.zeros(len(columns))
    again = np.zeros((len(weights), len(columns)))
    for start in range(0, count, BLOCK):
        block = np.stack([column[start : start + BLOCK] for column in columns], axis=1)
        plain += block.sum(axis=0)
        again += weights[:, start : start + BLOCK].astype(np.float64) @ block
    return plain / count, again / count
