"""Chains climb to events whose probability is known in closed form, and go on from the same rows after any interruption."""

from __future__ import annotations

import dataclasses
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from tribosweep import sweep
from tribosweep.sweep.analyses.rare_event.estimate import Estimate, at_last, estimate_of
from tribosweep.sweep.design.axis import Continuous, Whole
from tribosweep.sweep.design.subset_simulation import LimitState, SubsetSimulation
from tribosweep.sweep.execution.adaptive.subset_simulation import ALL_LEVELS, GOING, REACHED, STALLED, Climb, next_domain

Function = Callable[[np.ndarray], np.ndarray]
AXES = tuple(Continuous(name, 0.0, 1.0, logarithmic=False) for name in ("a", "b", "c"))
DESIGN = SubsetSimulation(AXES, 1000, 0, LimitState("x", ">", 0.0), 0.1, 12, 1)
MILLIONTH = -float(ndtri(1e-6))
WEIGHTS = np.array([0.7, 0.5, 0.51])
WEIGHTS /= np.linalg.norm(WEIGHTS)


def climbed(function: Function, **changed: object) -> Climb:
    """A simulation of a margin that is known as a function of (n, 3) standard normal numbers."""
    design = dataclasses.replace(DESIGN, **changed)  # type: ignore[arg-type]
    climb = Climb(0, design.start(0))
    while climb.end == GOING:
        candidates = climb.candidates(design)
        climb = climb.followed_by(design, candidates, function(candidates))
    return climb


def estimated(climb: Climb) -> Estimate:
    """The estimate of one simulation."""
    return estimate_of([at_last(climb)], 0.95)


def plane(states: np.ndarray) -> np.ndarray:
    """A margin that is linear, beyond 0 with a probability of 1e-6."""
    return np.asarray(states @ WEIGHTS - MILLIONTH)


def sphere(states: np.ndarray) -> np.ndarray:
    """A margin that is the distance from the centre, beyond 0 with a probability of 1e-6: the event lies on all sides."""
    return np.asarray((states**2).sum(axis=1) - chi2.isf(1e-6, 3))


@pytest.mark.slow
@pytest.mark.parametrize(("function", "runs"), [(plane, 200), (sphere, 120)], ids=["plane", "sphere"])
def test_the_intervals_of_a_millionth_hold_it_as_often_as_they_say(function: Function, runs: int) -> None:
    found = [estimated(climbed(function, seed=seed)) for seed in range(runs)]
    chances = np.array([each.probability for each in found])
    inside = np.mean([each.low <= 1e-6 <= each.high for each in found])
    assert inside >= 0.95 - 3.0 * math.sqrt(0.95 * 0.05 / runs)
    spread = chances.std(ddof=1) / chances.mean()
    assert np.sqrt(np.mean([each.variation**2 for each in found])) == pytest.approx(spread, rel=0.2)
    assert abs(chances.mean() / 1e-6 - 1.0) < 0.06 + 3.0 * spread / math.sqrt(runs)  # the bias falls as 1 / count


def test_a_frequent_event_is_counted_like_any_share() -> None:
    climb = climbed(lambda states: states[:, 0] - 1.0)
    hits = np.count_nonzero(DESIGN.start(0)[:, 0] > 1.0)
    found = estimated(climb)
    assert (climb.end, len(climb.levels), found.probability) == (REACHED, 1, hits / 1000)
    assert found.variation == pytest.approx(math.sqrt((1.0 - hits / 1000) / hits))


def test_the_states_of_a_level_have_the_normal_distribution_within_its_domain() -> None:
    climb = climbed(lambda states: states[:, 0] - 3.2, level_count=20_000)
    level = climb.levels[1]
    values = level.margins.ravel() + 3.2
    share = ndtr(-(level.domain + 3.2))
    for part in (0.25, 0.5, 0.75):
        at = -ndtri(share * (1.0 - part))
        assert np.mean(values < at) == pytest.approx(part, abs=0.03)


def test_failed_rows_count_neither_with_nor_without_the_event() -> None:
    def fails(states: np.ndarray) -> np.ndarray:
        return np.where(states[:, 1] > 0.5, np.nan, states[:, 0] - 3.0)

    found = [climbed(fails, seed=seed) for seed in range(60)]
    assert all(level.failed > 0 for climb in found for level in climb.levels)
    mean = np.mean([estimated(climb).probability for climb in found])
    assert mean == pytest.approx(ndtr(-3.0), rel=0.15)  # the probability among rows with results


def test_equal_margins_are_not_divided() -> None:
    def steps(states: np.ndarray) -> np.ndarray:
        return np.asarray(np.minimum(np.floor(2.0 * states[:, 0]) / 2.0, 3.5) - 3.5)  # half steps, and none above the limit

    mean = np.mean([estimated(climbed(steps, seed=seed, event=LimitState("x", ">=", 0.0))).probability for seed in range(60)])
    assert mean == pytest.approx(ndtr(-3.5), rel=0.25)
    assert next_domain(np.array([1.0, 1.0, 1.0, 2.0, 3.0]), 3) == 2.0
    assert next_domain(np.array([0.0, 1.0, 1.0, 1.0]), 2) == 1.0
    assert next_domain(np.array([1.0, 1.0]), 3) == -math.inf


def test_rows_without_a_value_are_below_all_others() -> None:
    def without(states: np.ndarray) -> np.ndarray:
        return np.where(states[:, 0] < 1.6, -np.inf, states[:, 0] - 3.5)  # 95 % have none

    climb = climbed(without)
    assert climb.end == REACHED
    assert estimated(climb).low < ndtr(-3.5) < estimated(climb).high


@pytest.mark.parametrize(
    ("function", "changed", "end"),
    [
        (lambda states: np.full(len(states), -1.0), {}, STALLED),
        (lambda states: np.full(len(states), -np.inf), {}, STALLED),
        (lambda states: np.full(len(states), np.nan), {}, STALLED),
        (plane, {"levels": 3}, ALL_LEVELS),
    ],
)
def test_what_is_not_reached_has_an_end(function: Function, changed: dict[str, int], end: str) -> None:
    climb = climbed(function, **changed)
    assert climb.end == end
    assert estimated(climb).probability == 0.0


def test_an_event_never_lies_outside_the_next_domain() -> None:
    def few(states: np.ndarray) -> np.ndarray:
        return np.where(states[:, 0] > 2.5, 1.0 + states[:, 0], -1.0)  # all others are equal, and the event is large

    climb = climbed(few, level_count=10_000)
    assert max(level.goal for level in climb.levels) <= 0.0
    assert estimated(climb).low < ndtr(-2.5) < estimated(climb).high


def test_values_without_neighbours_are_kept_or_drawn_anew() -> None:
    design = dataclasses.replace(DESIGN, axes=(AXES[0], Whole("draw", 0, 999), AXES[2]), level_count=4000)
    offsets = 0.4 * np.random.default_rng(5).standard_normal(1000)  # of each draw, as random accelerations have them

    def shaken(states: np.ndarray) -> np.ndarray:
        draws = np.minimum(ndtr(states[:, 1]) * 1000, 999).astype(int)
        return np.asarray(states[:, 0] + offsets[draws] - 4.0)

    exact = ndtr(offsets - 4.0).mean()
    found = [climbed(shaken, axes=design.axes, level_count=4000, seed=seed) for seed in range(40)]
    assert np.mean([estimated(climb).probability for climb in found]) == pytest.approx(exact, rel=0.15)
    assert np.mean([estimated(climb).low < exact < estimated(climb).high for climb in found]) >= 0.85
    moved = Climb(0, design.start(0), found[0].levels[:1], margins=found[0].levels[0].margins[:1]).candidates(design)
    assert np.mean(moved[:, 1] == design.start(0)[:, 1]) == pytest.approx(0.5, abs=0.04)
    assert not np.any(moved[:, 0] == design.start(0)[:, 0])


STOP = {
    "study": {"name": "stop", "model": "stop"},
    "parameters": {"m": 1.0, "k_n": 100.0},
    "time": {"end": 1.0},
    "sweep": {
        "design": "subset_simulation", "event": "peak_force > 18 N", "count": 100, "level_probability": 0.2, "seed": 3, "repeats": 2,
        "axes": {"v0": {"distribution": "normal", "mean": 1.0, "std": 0.2}, "m": {"distribution": "log_normal", "mean": 1.0, "std": 0.1}},
    },
}  # fmt: skip


@pytest.mark.slow
def test_an_interrupted_run_goes_on_with_the_same_points(tmp_path: Path) -> None:
    whole = sweep.run(STOP, tmp_path / "whole")
    shards = sorted((tmp_path / "whole" / "points").iterdir())
    expected = ds.dataset(tmp_path / "whole" / "points").to_table()
    for kept in (0, 1, 3, len(shards) - 1):
        out = tmp_path / f"cut{kept}"
        shutil.copytree(tmp_path / "whole", out)
        (out / "_SUCCESS").unlink()
        (out / "levels.parquet").unlink()
        for shard in shards[kept:]:
            (out / "points" / shard.name).unlink()
        again = sweep.resume(out)
        assert again.computed == expected.num_rows - sum(pq.read_metadata(shard).num_rows for shard in shards[:kept])
        assert ds.dataset(out / "points").to_table().equals(expected)
        levels, first = (pq.read_table(path / "levels.parquet").to_pandas() for path in (out, tmp_path / "whole"))
        assert levels.equals(first)
    assert whole.complete


@pytest.mark.slow
def test_rows_carry_level_and_chain_and_stay_in_their_domain(tmp_path: Path) -> None:
    sweep.run(STOP, tmp_path / "a")
    rows = ds.dataset(tmp_path / "a" / "points").to_table().to_pandas()
    levels = pq.read_table(tmp_path / "a" / "levels.parquet").to_pandas()
    assert rows.point.is_unique
    assert rows.chain.isna().sum() == (rows.level == 0).sum() == 200
    assert set(rows.chain.dropna().unique()) == set(range(40))
    assert (rows[rows.level > 0].groupby(["level", "chain"]).size() == 4).all()
    exact = (rows.v0 * np.sqrt(rows.m * 100.0)).to_numpy()
    np.testing.assert_allclose(rows.peak_force, exact, rtol=1e-9)
    assert levels.groupby("repeat").goal.is_monotonic_increasing.all()
    assert (levels.groupby("repeat").goal.last() == 18.0).all()
    assert (levels.end == "reached").sum() == 2
