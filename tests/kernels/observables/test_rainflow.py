"""Rainflow cycles against the example of ASTM E1049-85, and counted piece by piece against the whole series at once."""

import numpy as np
import pytest
from rainflow import count_cycles, extract_cycles

from tribosweep.kernels.observables.rainflow import Cycles, turning_points

ASTM = np.array([-2.0, 1.0, -3.0, 5.0, -1.0, 3.0, -4.0, 4.0, -2.0])  # figure 6 of the standard
KNOWN = {3.0: 0.5, 4.0: 1.5, 6.0: 0.5, 8.0: 1.0, 9.0: 0.5}
EDGES = tuple(float(each) for each in range(10))


@pytest.mark.parametrize("piece", [1, 2, 4, 9])
def test_the_example_of_astm_e1049(piece):
    cycles = Cycles(1, EDGES, 3.0)
    for first in range(0, len(ASTM), piece):
        cycles.add(ASTM[np.newaxis, first : first + piece])
    expected = [KNOWN.get(edge, 0.0) for edge in EDGES]
    assert cycles.counts().tolist() == [expected]
    damage = sum(count * size**3 for size, count in KNOWN.items())
    assert cycles.equivalent(np.array([4.0]))[0] == pytest.approx((damage / 4.0) ** (1.0 / 3.0), rel=1e-14)


def test_pieces_give_the_cycles_of_the_whole_series():
    random = np.random.default_rng(3)
    rows = np.round(np.cumsum(random.normal(size=(6, 900)), axis=1) + random.normal(size=(6, 900)), 2)  # with plateaus
    cycles = Cycles(6, tuple(np.linspace(0.0, 60.0, 25)), 5.0)
    for part in np.split(rows, [1, 2, 7, 300, 301, 640], axis=1):
        cycles.add(part)
    for row, counts, size in zip(rows, cycles.counts(), cycles.equivalent(np.full(6, 10.0)), strict=True):
        whole = [(width, count) for width, _, count, *_ in extract_cycles(row)]
        expected = np.histogram(*np.array(whole).T[:1], np.append(np.linspace(0.0, 60.0, 25), np.inf), weights=[c for _, c in whole])[0]
        np.testing.assert_array_equal(counts, expected)
        assert size == pytest.approx((sum(count * width**5 for width, count in whole) / 10.0) ** 0.2, rel=1e-12)
        assert sum(counts) == sum(count for _, count in count_cycles(row))


def test_turning_points_drop_what_lies_between():
    assert turning_points(np.array([0.0, 0.0, 1.0, 2.0, 2.0, 1.0, 1.0, 3.0])).tolist() == [0.0, 2.0, 1.0, 3.0]
    assert turning_points(np.array([1.0, 1.0])).tolist() == [1.0]
    assert turning_points(np.empty(0)).size == 0


def test_a_motion_at_rest_has_no_cycles():
    cycles = Cycles(1, (0.0, 1.0), 3.0)
    cycles.add(np.zeros((1, 5)))
    cycles.add(np.zeros((1, 5)))
    assert cycles.counts().tolist() == [[0.0, 0.0]]
    assert cycles.equivalent(np.array([1.0])).tolist() == [0.0]
