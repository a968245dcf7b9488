"""The wear law KWU-EPRI: against a computation by hand, on courses of a run, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.models.kwu_epri import kwu_epri

COEFFICIENTS: dict[str, Any] = {
    "wear_coefficient": 2e-15, "impact_coefficient": 3e-2, "sliding_coefficient": 0.4, "service_time": 1e7,
}  # fmt: skip


def test_four_instants_are_those_of_a_computation_by_hand() -> None:
    # classes of force: 20 N wide with middles 10, 30, 50, 70, 90 N; of speed: 0.2 m/s wide with middles 0.1, 0.3, 0.5, 0.7, 0.9 m/s
    #   t      0     1     2     3     4     5     6       each stands for 1 s, the first and the last for 0.5 s
    force = [100.0, 35.0, 15.0, 0.0, 55.0, 20.0, 0.0]
    speed = [0.1, 1.0, 0.05, 9.0, -0.5, 0.2, 7.0]
    found = kwu_epri(range(7), force, speed, **COEFFICIENTS)
    # in contact for 4.5 s: (force 5, speed 1) 0.5; (2, 5) 1; (1, 1) 1; (3, 3) 1; (1, 1) 1
    shares = np.zeros((5, 5))
    shares[0, 4], shares[4, 1], shares[0, 0], shares[2, 2] = 0.5 / 4.5, 1.0 / 4.5, 2.0 / 4.5, 1.0 / 4.5
    assert np.allclose(found.shares, shares, rtol=0.0, atol=1e-15)
    # impacts: 0.03 * 5 * [(2/4.5) (10/10)^3 + (0.5/4.5) (90/10)^3] = 0.15 * (0.44444 + 81) = 12.21667
    assert found.impacts == pytest.approx(0.15 * (2.0 / 4.5 + 0.5 / 4.5 * 729.0), rel=1e-14)
    # sliding: 0.4 * [(1/4.5) 30 * 0.81 + (1/4.5) 50 * 0.25 + (2/4.5) 10 * 0.01] = 0.4 * (5.4 + 2.77778 + 0.04444) = 3.28889
    assert found.sliding == pytest.approx(0.4 * (24.3 + 12.5 + 0.2) / 4.5, rel=1e-14)
    assert found.intensity == pytest.approx(3.288888888888889**2 / (3.288888888888889 + 12.216666666666667), rel=1e-12)
    # wear power: (0.5 * 10 + 35 + 0.75 + 27.5 + 4) W s in 6 s
    assert found.wear_power == pytest.approx(72.25 / 6.0, rel=1e-14)
    assert found.volume == pytest.approx(2e-15 * found.intensity * 72.25 / 6.0 * 1e7, rel=1e-12)


def test_uneven_instants_count_for_their_time() -> None:
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0.0, 1.0, 400))
    force, speed = np.maximum(0.0, np.sin(20.0 * t)) * 40.0, np.abs(np.cos(31.0 * t)) * 0.3
    found = kwu_epri(t, force, speed, force_max=45.0, speed_max=0.25, **COEFFICIENTS)
    weights = np.gradient(t) * np.where((np.arange(400) == 0) | (np.arange(400) == 399), 0.5, 1.0)
    weights[1:-1] = 0.5 * (t[2:] - t[:-2])
    counts, _, _ = np.histogram2d(
        np.minimum(speed, 0.2499)[force > 0], np.minimum(force, 44.99)[force > 0], bins=5, range=[[0.0, 0.25], [0.0, 45.0]],
        weights=weights[force > 0],
    )  # fmt: skip
    assert np.allclose(found.shares, counts / counts.sum(), rtol=0.0, atol=1e-12)


def test_the_law_holds_where_impacts_dominate() -> None:
    t = np.arange(5.0)
    slides = kwu_epri(t, np.full(5, 10.0), np.full(5, 1.0), **COEFFICIENTS)
    assert slides.sliding > slides.impacts
    assert math.isnan(slides.volume)
    flies = kwu_epri(t, np.zeros(5), np.ones(5), **COEFFICIENTS)
    assert (flies.volume, flies.wear_power, flies.shares.sum()) == (0.0, 0.0, 0.0)
    still = kwu_epri(t, np.full(5, 10.0), np.zeros(5), **COEFFICIENTS)
    assert still.volume == 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": [0.0, 1.0, 1.0]}, "time must ascend, and entry 2 is 1 s after 1 s"),
        ({"normal_force": [1.0, -2.0, 0.0]}, "normal_force must be >= 0 N, and entry 1 is -2 N"),
        ({"sliding_speed": [0.0, math.nan, 0.0]}, "sliding_speed must be finite, and entry 1 is nan"),
        ({"sliding_speed": [0.0, 1.0]}, "must be of one length, not of 3, 3 and 2"),
        ({"time": [0.0]}, "time must be a list of at least 2 numbers"),
        ({"wear_coefficient": -1.0}, "wear_coefficient must be >= 0 and finite, not -1"),
        ({"reference_force": 0.0}, "reference_force must be > 0 and finite, not 0"),
        ({"force_max": 0.0}, "force_max must be > 0 and finite, not 0"),
        ({"normal_force": [0.0, 0.0, 0.0], "force_max": -3.0}, "force_max must be > 0 and finite, not -3"),
        ({"time": "a"}, "time must be a list of numbers"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], message: str) -> None:
    arrays = {"time": [0.0, 1.0, 2.0], "normal_force": [1.0, 2.0, 0.0], "sliding_speed": [0.1, 0.2, 0.3]}
    with pytest.raises(ValueError, match=message):
        kwu_epri(**{**arrays, **COEFFICIENTS, **changes})
