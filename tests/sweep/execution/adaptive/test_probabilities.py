"""Boundaries on which a probability over draws has a value: against closed forms, on fields and on walls that buckle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tribosweep.sweep import ConfigError, load, resume, run
from tribosweep.sweep.analysis.group_map import CHANCE, Statistic, read_groups
from tribosweep.sweep.analysis.map_places import shades_between
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.draws import Draws, uniform
from tribosweep.sweep.design.grid import Grid
from tribosweep.sweep.execution.adaptive.probabilities import classify
from tribosweep.sweep.execution.adaptive.quadtree import FAILED
from tribosweep.sweep.execution.dataset import Dataset

SPREAD, CHANCE_SOUGHT = 0.2, 0.1  # of f_crit, whose mean is 1; probability on the line


def study(draws: int, seed: int = 1, **keys: Any) -> dict[str, Any]:
    """Walls with uncertain strength over speed and mass."""
    axes = {
        "v0": {"from": 0.5, "to": 1.3, "count": 5}, "m": {"from": 0.5, "to": 2.0, "count": 4, "spacing": "log"},
        "f_crit": {"distribution": "log_normal", "mean": 1.0, "std": SPREAD},
    }  # fmt: skip
    return {
        "study": {"name": "walls", "model": "buckling_wall"}, "parameters": {"k_post": 1.0, "f_post": 0.3}, "time": {"end": 5.0},
        "sweep": {"design": "boundary", "event": "buckled=1", "chance": CHANCE_SOUGHT, "count": draws, "seed": seed, "halvings": 1,
                  "width": 1e-4, "axes": axes, **keys},
    }  # fmt: skip


def strength() -> Any:
    """The distribution of f_crit as scipy has it."""
    sigma = np.sqrt(np.log(1.0 + SPREAD**2))
    return stats.lognorm(sigma, scale=np.exp(-0.5 * sigma**2))


def energies(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """v0 sqrt(m k_n) of the places of the line and of the two sides of its band: where a wall of that strength just buckles."""
    found = {}
    for name, rows in table.groupby("between", observed=True):
        part = "upper" if "upper end" in str(name) else "lower" if "lower end" in str(name) else "line"
        found[part] = (rows["v0"] * np.sqrt(rows["m"])).to_numpy()
    return found


@pytest.mark.slow
def test_the_line_of_a_chance_is_the_quantile_of_the_strength(tmp_path: Path) -> None:
    """A wall buckles where m v0^2 k_n >= f_crit^2, so the line for the probability p is v0 sqrt(m k_n) = the p quantile of f_crit."""
    found = run(study(200), tmp_path / "run")
    table = found.boundaries().to_pandas()
    at = energies(table)
    drawn = np.sort(strength().ppf(uniform(np.arange(200), 1, 0)))
    counted = drawn[round(CHANCE_SOUGHT * 200) - 1]  # the draw with which one wall in ten has buckled
    np.testing.assert_allclose(at["line"], counted, rtol=2e-4)
    assert at["upper"].max() < strength().ppf(CHANCE_SOUGHT) < at["lower"].min()
    tail = stats.binom(200, CHANCE_SOUGHT)
    wide = strength().ppf([tail.ppf(0.01) / 200, tail.ppf(0.99) / 200])
    assert wide[0] < counted < wide[1]
    rows = found.to_pandas()
    assert rows.groupby(["v0", "m"]).size().eq(200).all()
    assert len(rows["f_crit"].unique()) == 200  # the same draws at every place
    assert resume(tmp_path / "run").computed == 0
    drawn_map = read_groups(tmp_path / "run", Statistic(CHANCE, "buckled=1"))
    assert len(drawn_map.measured) == 3
    assert main(["map", str(tmp_path / "run"), "--out", str(tmp_path / "map.png")]) == 0
    assert main(["report", str(tmp_path / "run"), "--traces", "0"]) == 0


@pytest.mark.slow
def test_a_study_that_lost_shards_continues_with_the_same_places(tmp_path: Path) -> None:
    document = {**study(40), "output": {"shard_points": 400}}
    whole = run(document, tmp_path / "run").boundaries()
    shards = sorted((tmp_path / "run" / "points").iterdir())
    assert len(shards) > 4
    for shard in shards[2:]:
        shard.unlink()
    (tmp_path / "run" / "_SUCCESS").unlink()
    again = resume(tmp_path / "run")
    assert 0 < again.computed < again.rows
    assert again.boundaries().equals(whole)


@pytest.mark.parametrize(("relation", "sign"), [(">", 1.0), (">=", 1.0), ("<", -1.0)])
def test_classes_and_heights_of_places_are_those_of_a_count(relation: str, sign: float) -> None:
    import pyarrow as pa

    config = load(study(50, event=f"peak_force {relation} 0.5"))
    rng = np.random.default_rng(2)
    values, good = rng.normal(rng.normal(0.5, 1.0, (60, 1)), 0.7, (60, 50)), rng.random((60, 50)) > 0.1
    good[7] = False
    classes, heights = classify(config.design, config.model, pa.table({"peak_force": values.ravel()}), good.ravel())  # type: ignore[arg-type]
    for place in range(60):
        own = values[place][good[place]]
        if place == 7:
            assert classes[place] == FAILED
            continue
        hits = int(np.sum(own > 0.5)) if sign > 0.0 else int(np.sum(own < 0.5))
        ends = stats.binomtest(hits, len(own)).proportion_ci(0.95, method="exact")
        assert classes[place] == sum(float(chance) >= CHANCE_SOUGHT for chance in (ends.low, hits / len(own), ends.high))
        assert (heights[place] > 0.0) == (classes[place] >= 2)


@pytest.mark.slow
def test_draws_are_the_same_at_every_combination_and_independent_of_each_other(tmp_path: Path) -> None:
    axes = {"v0": [0.5, 1.0], "m": {"from": 1.0, "to": 2.0, "count": 3}, "f_crit": {"distribution": "normal", "mean": 1.0, "std": 0.1}}
    document = study(0) | {"sweep": {"design": "draws", "count": 300, "axes": axes}}
    config = load(document)
    assert isinstance(config.design, Draws)
    assert load(config.document).digest == config.digest
    points = config.design.points(0, config.design.count)
    force = points.columns["f_crit"].reshape(6, 300)
    np.testing.assert_array_equal(force, np.tile(force[0], (6, 1)))
    grid = Grid(config.design.crossed).points(0, 6)
    np.testing.assert_array_equal(points.columns["v0"][::300], grid.columns["v0"])
    np.testing.assert_array_equal(points.columns["m"][::300], grid.columns["m"])
    np.testing.assert_array_equal(config.design.points(311, 500).columns["f_crit"], points.columns["f_crit"][311:500])
    several = np.stack([uniform(np.arange(20_000), 5, axis) for axis in range(3)])
    assert all(stats.kstest(each, "uniform").pvalue > 1e-3 for each in several)
    assert np.abs(np.corrcoef(several) - np.eye(3)).max() < 0.03
    assert np.abs(np.corrcoef(several[0][1:], several[0][:-1])[0, 1]) < 0.03
    run(document, tmp_path / "run")
    drawn = read_groups(tmp_path / "run", Statistic(CHANCE, "buckled=1"))
    assert drawn.over == ("f_crit",)
    assert drawn.gridded
    assert drawn.shades is not None
    counted = np.array([[np.mean(v0 * np.sqrt(m) >= force[0]) for v0 in (0.5, 1.0)] for m in (1.0, 1.5, 2.0)])
    np.testing.assert_allclose(drawn.shades, counted)
    assert Dataset(tmp_path / "run").table(["f_crit"]).num_rows == 1800


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"event": "bucled=1"}, "did you mean 'buckled'"),
        ({"chance": None}, "sweep.chance: missing"),
        ({"chance": 1.5}, "sweep.chance: 1.5 is out of bounds"),
        ({"confidence": 0.0}, "sweep.confidence: 0.0 is out of bounds"),
        ({"count": None}, "sweep.count: missing: the number of draws of f_crit"),
        ({"count": 10_000_000}, "20,000,000"),
        ({"observable": "buckled"}, "sweep.observable: an event names its observable"),
        ({"event": None}, "belongs to a boundary with an event"),
        ({"axes": {"v0": {"from": 0.5, "to": 1.3, "count": 5}, "m": {"from": 0.5, "to": 2.0, "count": 5}}}, "further axes"),
        ({"axes": {"v0": {"from": 0.5, "to": 1.3, "count": 5}, "m": [1.0, 2.0]}}, "two ranges with a count"),
    ],
)
def test_what_means_nothing_is_refused(keys: dict[str, Any], said: str) -> None:
    document = study(50)
    document["sweep"] = {key: value for key, value in {**document["sweep"], **keys}.items() if value is not None}
    with pytest.raises(ConfigError) as told:
        load(document)
    assert said in str(told.value)


@pytest.mark.slow
def test_shades_between_scattered_rows_are_linear_within_an_area(tmp_path: Path) -> None:
    """Below buckling the peak force is v0 sqrt(m k_n); linear in v0, so that the triangles of a boundary study give it between its rows."""
    document = study(1)
    document["sweep"] = {
        "design": "boundary", "observable": "buckled", "halvings": 2, "width": 1e-3,
        "axes": {"v0": {"from": 0.5, "to": 1.5, "count": 5}, "f_crit": {"from": 0.7, "to": 1.4, "count": 5}},
    }  # fmt: skip
    found = run(document, tmp_path / "run")
    from tribosweep.sweep.analysis.regime_map import read_map

    drawn = read_map(tmp_path / "run", color="peak_force")
    x, y = np.linspace(0.55, 1.0, 30), np.full(30, 1.3)
    elastic = drawn.words.index(next(word for word in drawn.words if word.startswith("0")))
    shades = shades_between(drawn, x, y[:1], np.full((1, 30), elastic))
    assert shades is not None
    np.testing.assert_allclose(shades[0], x, rtol=1e-9)
    found.map(color="peak_force", out=tmp_path / "map.png")
