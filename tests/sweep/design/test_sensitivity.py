"""Designs for sensitivity: row for row those of SALib and scipy, and any block from its index range alone."""

from __future__ import annotations

import time
import types
from typing import Any

import numpy as np
import pytest
from SALib.sample import fast_sampler
from SALib.sample import sobol as salib_sobol
from SALib.sample.morris import morris as salib_morris
from scipy.stats import qmc

from tribosweep.sweep import load
from tribosweep.sweep.design.axis import Continuous
from tribosweep.sweep.design.sensitivity import Fast, Halton, Morris, Saltelli, Sampling, remarks_on
from tribosweep.sweep.design.sobol import BITS

UNIT = tuple(Continuous(name, 0.0, 1.0, logarithmic=False) for name in ("a0", "mu", "k", "c", "x0"))
RANGES = [[0.5, 20.0], [0.01, 1.0], [-3.0, 4.0]]
AXES = tuple(Continuous(name, low, high, logarithmic=False) for name, (low, high) in zip(("a0", "mu", "x0"), RANGES, strict=True))
PROBLEM = {"num_vars": 3, "names": ["a0", "mu", "x0"], "bounds": RANGES}


def rows(made: Sampling, start: int = 0, stop: int | None = None) -> np.ndarray:
    """(n, d) values of points."""
    return np.stack(list(made.points(start, made.count if stop is None else stop).columns.values()), axis=1)


@pytest.mark.parametrize("second_order", [False, True])
def test_saltelli_groups_are_those_of_salib(second_order: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the base sequence in 53 bits, where SALib asks scipy for its default of 30."""
    fine = types.SimpleNamespace(
        Sobol=lambda d, scramble, seed: qmc.Sobol(d, scramble=scramble, bits=BITS, rng=np.random.default_rng(seed))
    )
    monkeypatch.setattr(salib_sobol, "qmc", fine)
    theirs = salib_sobol.sample(PROBLEM, 64, calc_second_order=second_order, seed=7)
    np.testing.assert_array_equal(rows(Saltelli(AXES, 64, 7, second_order)), theirs)


def test_halton_points_are_those_of_scipy() -> None:
    theirs = qmc.Halton(5, scramble=True, rng=np.random.default_rng(3)).random(3000)
    made = Halton(UNIT, 10**12, 3)
    for start, stop in ((0, 100), (1234, 1300), (2990, 3000)):
        np.testing.assert_array_equal(rows(made, start, stop), theirs[start:stop])


def test_morris_trajectories_are_those_of_salib() -> None:
    for levels in (4, 6):
        made = Morris(UNIT, 50, 9, levels)
        for number in (0, 7, 49):
            rng = np.random.default_rng([9, number])
            theirs = salib_morris._generate_trajectory(np.eye(5), rng, levels)  # noqa: SLF001
            np.testing.assert_array_equal(rows(made, 6 * number, 6 * number + 6), theirs)


def test_fast_curves_are_those_of_salib() -> None:
    for count, harmonics, axes in ((65, 4, 3), (257, 4, 3), (101, 2, 3)):
        theirs = fast_sampler.sample(PROBLEM, count, M=harmonics, seed=5)
        np.testing.assert_array_equal(rows(Fast(AXES[:axes], count, 5, harmonics)), theirs)
    many = {"num_vars": 5, "names": [axis.name for axis in UNIT], "bounds": [[0.0, 1.0]] * 5}
    np.testing.assert_array_equal(rows(Fast(UNIT, 65, 1)), fast_sampler.sample(many, 65, seed=1))


@pytest.mark.parametrize(
    "made",
    [Saltelli(UNIT, 100, 1), Saltelli(UNIT, 100, 1, second_order=True), Morris(UNIT, 100, 1), Fast(UNIT, 129, 1), Halton(UNIT, 500, 1)],
)
def test_any_block_is_part_of_the_whole(made: Sampling) -> None:
    whole = rows(made)
    for start, stop in ((0, 1), (5, 17), (131, 404), (made.count - 3, made.count), (40, 40)):
        np.testing.assert_array_equal(rows(made, start, stop), whole[start:stop])


@pytest.mark.parametrize("kind", ["saltelli", "morris", "halton"])
def test_a_longer_design_begins_with_the_same_points(kind: str) -> None:
    axes = {"a0": {"from": 1.0, "to": 2.0}, "mu": {"from": 0.1, "to": 0.2}}
    short, long = (load({"sweep": {"design": kind, "count": count, "seed": 4, "axes": axes}}).design for count in (8, 32))
    assert short.points(0, short.count).digest() == long.points(0, short.count).digest()


def test_a_shard_of_a_huge_design_takes_the_time_of_one_shard() -> None:
    for made in (Saltelli(UNIT, 2**37, 1), Morris(UNIT, 10**11, 1), Fast(UNIT, 10**10 + 1, 1), Halton(UNIT, 10**12, 1)):
        made.points(0, 8192)
        start = time.process_time()
        assert made.points(made.count - 8192, made.count).count == 8192
        assert time.process_time() - start < 0.5, made  # 0.02 s


def test_parameters_of_a_study_reach_the_design() -> None:
    axes = {"a0": {"from": 1.0, "to": 2.0}, "mu": {"from": 0.1, "to": 0.2}}

    def made(**keys: Any) -> Any:
        return load({"sweep": {"count": 100, "seed": 2, "axes": axes, **keys}})

    assert (made(design="saltelli", second_order=True).design.group_size, made(design="saltelli").design.group_size) == (6, 4)
    assert made(design="morris", levels=6).design.levels == 6
    assert made(design="fast", harmonics=2).design.count == 200
    for keys in ({"design": "saltelli", "second_order": True}, {"design": "morris", "levels": 6}, {"design": "fast", "harmonics": 2}):
        assert load(made(**keys).document).digest == made(**keys).digest


def test_a_number_of_points_that_is_no_power_of_two_is_remarked_on_and_says_what_is_lost() -> None:
    axes = {"a0": {"from": 1.0, "to": 2.0}}
    for kind, noun in (("sobol", "points"), ("saltelli", "groups")):
        (remark,) = remarks_on(load({"sweep": {"design": kind, "count": 1000, "axes": axes}}).design)
        assert f"1,000 {noun} of a Sobol sequence are no power of two: the last 488" in remark
        assert "512 or 1,024" in remark
        assert remarks_on(load({"sweep": {"design": kind, "count": 1024, "axes": axes}}).design) == []
    assert remarks_on(load({"sweep": {"design": "halton", "count": 1000, "axes": axes}}).design) == []
