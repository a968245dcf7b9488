"""Designs that sample: the points are those of the published sequences, and any shard is made alone."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, qmc

from tribosweep.sweep import load
from tribosweep.sweep.design.axis import Continuous, Listed
from tribosweep.sweep.design.designs import Design
from tribosweep.sweep.design.latin_hypercube import LatinHypercube, permuted
from tribosweep.sweep.design.sobol import BITS, Sobol, direction_numbers, sobol

UNIT = tuple(Continuous(name, 0.0, 1.0, logarithmic=False) for name in ("a0", "mu", "k", "c", "x0"))


def design(kind: str, count: int, axes: dict[str, Any], seed: int = 0) -> Design:
    """The design of a study that samples."""
    return load({"sweep": {"design": kind, "count": count, "seed": seed, "axes": axes}}).design


def cube(made: Design, start: int, stop: int) -> np.ndarray:
    """(n, d) coordinates of points."""
    return np.stack(list(made.points(start, stop).columns.values()), axis=1)


@pytest.mark.parametrize(("dimensions", "seed"), [(1, 0), (5, 7)])
def test_sobol_points_are_those_of_scipy(dimensions: int, seed: int) -> None:
    engine = qmc.Sobol(dimensions, scramble=True, bits=BITS, rng=np.random.default_rng(seed))
    whole = engine.random_base2(19)
    for start, stop in ((0, 4096), (131_000, 131_200), (300_001, 300_129), (524_280, 524_288)):
        np.testing.assert_array_equal(cube(Sobol(UNIT[:dimensions], 2**20, seed), start, stop), whole[start:stop])


@pytest.mark.parametrize(("dimensions", "seed", "power"), [(1, 2, 22), (41, 1, 17), (163, 4, 13)])
def test_sobol_points_in_many_dimensions_are_those_of_scipy(dimensions: int, seed: int, power: int) -> None:
    theirs = qmc.Sobol(dimensions, scramble=True, bits=BITS, rng=np.random.default_rng(seed)).random_base2(power)[-99:]
    np.testing.assert_array_equal(np.stack(sobol(dimensions, seed, np.arange(2**power - 99, 2**power)), axis=1), theirs)


@pytest.mark.parametrize(
    ("dimensions", "seed", "digest"),
    [
        (1, 0, "c1222bf0344698e664f80b9d32e585835f98567fecbf613470c6022f79e4c099"),
        (5, 7, "69d872823a127f926f1e3adee73e3130f4f4e3dc28eb906e32288cec61269b56"),
        (41, 1, "b93d24ad04e24a6da0929051c84fe83ec95810ca45e75285a752b9e42804bfe9"),
        (163, 4, "ba43ecd61658e5fe92bf1e868788516d967a376d53cd7158975b0c89da2ba0e4"),
    ],
)
def test_sobol_points_that_scipy_cannot_reach_have_not_changed(dimensions: int, seed: int, digest: str) -> None:
    # points at and beside each power of two up to 2^52, as computed from the direction numbers that scipy 1.17 stores (Sobol._sv)
    powers = 2 ** np.arange(1, BITS)
    points = np.stack(sobol(dimensions, seed, np.concatenate([powers - 1, powers, 2**BITS - powers])))
    assert hashlib.sha256((points * 2.0**BITS).astype("<u8").tobytes()).hexdigest() == digest


def test_sobol_points_have_as_many_dimensions_as_there_are_direction_numbers() -> None:
    with pytest.raises(ValueError, match="21201"):
        sobol(21_202, 0, np.arange(2))


def test_other_direction_numbers_than_expected_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    points = qmc.Sobol(9, scramble=False, bits=BITS).random_base2(6)
    points[32, 8] += 2.0**-6
    monkeypatch.setattr(qmc.Sobol, "random_base2", lambda self, m: points[: 2**m])
    with pytest.raises(ValueError, match="Joe and Kuo"):
        direction_numbers(9)


@given(st.integers(0, 2**40), st.integers(1, 300))
def test_any_block_of_sobol_points_is_part_of_the_whole(start: int, count: int) -> None:
    whole = np.stack(sobol(3, 1, np.arange(start, start + count)))
    for split in (0, count // 3, count - 1):
        np.testing.assert_array_equal(np.stack(sobol(3, 1, np.arange(start + split, start + count))), whole[:, split:])


def test_sobol_points_are_spread_evenly() -> None:
    points = cube(Sobol(UNIT, 2**12, 5), 0, 2**12)
    for axis in points.T:  # one point in each of 2^12 parts
        assert np.bincount((axis * 2**12).astype(int), minlength=2**12).tolist() == [1] * 2**12
    assert qmc.discrepancy(points) < 0.05 * qmc.discrepancy(np.random.default_rng(1).random((2**12, 5)))


@pytest.mark.slow
def test_a_shard_of_a_billion_points_takes_the_time_of_one_shard() -> None:
    axes = {"a0": {"from": 0.5, "to": 20.0}, "mu": {"from": 0.01, "to": 1.0, "spacing": "log"}, "k": {"from": 0.0, "to": 9.0}}
    for kind in ("sobol", "latin_hypercube"):
        made = design(kind, 10**9, axes)
        made.points(0, 131_072)  # loads scipy
        seconds = []
        for number in (0, 3_000, 7_628):
            start = time.process_time()
            points = made.points(number * 131_072, (number + 1) * 131_072)
            seconds.append(time.process_time() - start)
            assert points.count == 131_072
        assert max(seconds) < 0.5, kind  # 0.02 s; skipping 10^9 points one by one takes ten


@given(st.integers(1, 2_000), st.integers(0, 2**63 - 1))
def test_a_permutation_is_one(count: int, key: int) -> None:
    assert np.sort(permuted(np.arange(count), count, key)).tolist() == list(range(count))


def test_permutations_look_random() -> None:
    count = 10_007
    first, second = (permuted(np.arange(count), count, key) for key in (1, 2))
    for order in (first, second):
        assert abs(np.corrcoef(np.arange(count), order)[0, 1]) < 0.05
        assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 0.05
        cells = np.bincount(np.arange(count) * 16 // count * 16 + order * 16 // count, minlength=256)
        assert chisquare(cells).pvalue > 1e-4
    cells = np.bincount(first * 16 // count * 16 + second * 16 // count, minlength=256)
    assert chisquare(cells).pvalue > 1e-4


@pytest.mark.parametrize("count", [1, 2, 7, 1000, 4096])
def test_a_latin_hypercube_has_one_point_in_every_part_of_every_axis(count: int) -> None:
    points = cube(LatinHypercube(UNIT, count, 11), 0, count)
    for axis in points.T:
        assert np.sort((axis * count).astype(int)).tolist() == list(range(count))
    if count >= 1000:
        assert qmc.discrepancy(points) < 0.7 * qmc.discrepancy(np.random.default_rng(1).random((count, 5)))
        assert chisquare(np.bincount((points[:, 0] * count % 1.0 * 10).astype(int), minlength=10)).pvalue > 1e-4


@given(st.integers(0, 10**12 - 100))
def test_blocks_of_a_huge_latin_hypercube_keep_to_their_parts(start: int) -> None:
    made = LatinHypercube(UNIT[:2], 10**12, 3)
    points, part = cube(made, start, start + 100), permuted(np.arange(start, start + 100), 10**12, 5)
    np.testing.assert_array_equal(cube(made, start + 40, start + 100), points[40:])
    assert len(np.unique((points[:, 0] * 10**12).astype(np.int64))) == len(np.unique(part)) == 100


@pytest.mark.parametrize("kind", ["sobol", "latin_hypercube"])
def test_words_whole_numbers_and_defaults_are_drawn_as_often_as_each_other(kind: str) -> None:
    axes = {
        "scheme": ["exact", "rk54", "rk32", "euler"],
        "retries": {"from": 3, "to": 6, "spacing": "integer"},
        "mu": {"from": 0.01, "to": 1.0, "spacing": "log"},
        "k_t": [9e6, 8e6],
    }
    points = design(kind, 1024, axes).points(0, 1024)
    assert points.schemes is not None
    assert set(np.unique(points.schemes, return_counts=True)[1]) == {256}
    values, counts = np.unique(points.columns["retries"], return_counts=True)
    assert (values.tolist(), set(counts)) == ([3.0, 4.0, 5.0, 6.0], {256})
    decades = np.histogram(points.columns["mu"], [0.01, 0.1, 1.0])[0]
    assert decades.tolist() == [512, 512]
    listed = Listed("k_t", np.array([9e6, np.nan]), np.array([False, True]))
    drawn = LatinHypercube((listed,), 10, 0).points(0, 10)
    assert drawn.absent["k_t"].sum() == 5


def test_seeds_differ_and_a_longer_sobol_design_begins_with_the_shorter() -> None:
    axes = {"a0": {"from": 0.5, "to": 20.0}, "mu": {"from": 0.01, "to": 1.0}}
    short, long, other = design("sobol", 100, axes), design("sobol", 5_000, axes), design("sobol", 100, axes, seed=1)
    assert short.points(0, 100).digest() == long.points(0, 100).digest() != other.points(0, 100).digest()


def test_values_stay_between_the_ends() -> None:
    for start, stop, logarithmic in ((0.1, 0.3, False), (1e-3, 7.0, True), (-5.0, -0.01, True), (3.0, -3.0, False)):
        values = Continuous("x0", start, stop, logarithmic).at(np.array([0.0, 0.5, 1.0 - 2.0**-53]))
        assert min(start, stop) <= values.min() <= values.max() <= max(start, stop)
