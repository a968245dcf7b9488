"""Modes of draws: found where there are some, with their parts; rarely seen where there is one."""

from __future__ import annotations

import numpy as np
import pytest

from tribosweep.sweep.analysis.calibration.posterior.modes import groups_of, modes_of, words


def test_modes_and_their_parts_are_found() -> None:
    rng = np.random.default_rng(1)
    draws = np.concatenate([rng.normal(0.2, 0.013, 530), rng.normal(0.49, 0.011, 420), rng.normal(0.9, 0.002, 50)])
    found = modes_of(rng.permutation(draws))
    assert [each.part for each in found] == pytest.approx([0.53, 0.42, 0.05])
    assert [each.mean for each in found] == pytest.approx([0.2, 0.49, 0.9], abs=0.002)
    told = words("f", "N", found[1:])
    assert told.startswith("f has 2 modes, around 0.4")
    assert told.endswith("(5 % of the draws): mean and interval describe neither.")


def test_one_peak_is_one_mode() -> None:
    rng = np.random.default_rng(2)
    laws = (rng.standard_normal, rng.exponential, rng.uniform, rng.lognormal)
    several = [len(modes_of(law(size=1000))) > 1 for law in laws for _ in range(25)]
    assert np.mean(several) <= 0.03
    assert len(modes_of(np.full(100, 0.3))) == 1


def test_groups_lie_in_the_same_mode_of_every_number() -> None:
    rng = np.random.default_rng(3)
    middles = np.repeat([[0.0, 0.0], [0.0, 5.0], [5.0, 0.0]], [500, 300, 200], axis=0)
    stray = np.array([[5.0, 5.0]])
    groups = groups_of(np.concatenate([middles + 0.3 * rng.standard_normal(middles.shape), stray]))
    assert [len(np.unique(groups[first:last])) for first, last in ((0, 500), (500, 800), (800, 1000))] == [1, 1, 1]
    assert len(np.unique(groups)) == 3
    assert groups[-1] == groups[0]  # one draw is no group: it joins the largest
    assert len(np.unique(groups_of(rng.standard_normal((1000, 3))))) == 1
