"""Intervals of counted probabilities hold the truth where rows share records, as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tribosweep.sweep.analyses.fragility.clusters import interval_of_clusters
from tribosweep.sweep.study.event import share_interval

REPLICATES, RECORDS, EACH, LEVEL = 600, 24, 4, 0.9


def replicates(chance: float, alike: float, seed: int) -> tuple[float, float]:
    """Parts of replicates whose interval holds the truth: with groups, and of rows that are taken as independent.

    A row has the event where the sum of a number of its record and one of its own, together standard normal, is below a threshold. `alike`
    is the part of the variance that is of the record.
    """
    rng, limit = np.random.default_rng(seed), stats.norm.ppf(chance)
    groups = np.repeat(np.arange(RECORDS), EACH)
    held = np.zeros(2)
    for _ in range(REPLICATES):
        capacity = np.sqrt(alike) * rng.normal(size=RECORDS)[groups] + np.sqrt(1.0 - alike) * rng.normal(size=len(groups))
        hit = capacity < limit
        low, high = interval_of_clusters(hit, np.zeros(len(hit), int), groups, LEVEL)
        plain = share_interval(np.array([hit.sum()]), np.array([len(hit)]), LEVEL)
        held += [low[0] <= chance <= high[0], plain[0][0] <= chance <= plain[1][0]]
    return float(held[0] / REPLICATES), float(held[1] / REPLICATES)


@pytest.mark.parametrize("chance", [0.1, 0.5])
@pytest.mark.parametrize("alike", [0.0, 0.5, 0.95])
def test_intervals_of_clusters_hold_the_truth(chance: float, alike: float) -> None:
    whole, single = replicates(chance, alike, 5)
    assert 0.87 <= whole <= 0.99  # 0.9 is asked for; below 0.87 has a probability of 1 % at 0.9
    if alike > 0.9:
        assert single < 0.75  # of 96 rows as if they were independent


def test_rows_with_records_of_their_own_have_the_interval_of_independent_rows() -> None:
    hit, bins = np.array([True, False, True, True, False, False]), np.array([0, 0, 0, 1, 1, 1])
    low, high = interval_of_clusters(hit, bins, np.array([0, 1, 2, 0, 1, 2]), 0.95)
    first = stats.binomtest(2, 3).proportion_ci(0.95, method="exact")
    assert (low[0], high[0]) == pytest.approx((first.low, first.high))
    assert low[1] == pytest.approx(stats.binomtest(1, 3).proportion_ci(0.95, method="exact").low)


def test_bins_in_which_all_rows_agree_count_their_records() -> None:
    """Four records that hold in 20 rows: 1 - high is that of 4 of 4."""
    groups = np.repeat(np.arange(4), 5)
    low, high = interval_of_clusters(np.zeros(20, bool), np.zeros(20, int), groups, 0.95)
    reach = (stats.t.ppf(0.975, 19) / stats.t.ppf(0.975, 3)) ** 2
    assert (low[0], high[0]) == pytest.approx((0.0, 1.0 - 0.025 ** (1.0 / max(4.0 * reach, 1.0))))
    assert interval_of_clusters(np.ones(5, bool), np.zeros(5, int), np.zeros(5, int), 0.95)[1][0] == 1.0
