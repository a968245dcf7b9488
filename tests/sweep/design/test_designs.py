"""Which points a design has: from the index range alone, in the promised order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.design.axis import Continuous, Listed, Spaced
from tribosweep.sweep.design.designs import Concatenation, Design
from tribosweep.sweep.design.subset_simulation import LimitState, SubsetSimulation


def design(sweep: dict[str, Any], **study: Any) -> Design:
    """The design of a study with that [sweep]."""
    return load({**study, "sweep": sweep}).design


def test_without_a_sweep_there_is_one_point() -> None:
    points = load({}).design.points(0, 1)
    assert (points.count, points.columns) == (1, {})


def test_the_last_axis_of_a_grid_runs_fastest() -> None:
    points = design({"axes": {"a0": [1.0, 2.0], "mu": [0.1, 0.2, 0.3]}}).points(0, 6)
    assert points.columns["a0"].tolist() == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    assert points.columns["mu"].tolist() == [0.1, 0.2, 0.3] * 2


def test_a_zip_goes_side_by_side_with_defaults_and_schemes() -> None:
    sweep = {"design": "zip", "axes": {"a0": [1, 2], "scheme": ["exact", "euler"], "k_t": ["default", 9e6]}}
    points = design(sweep).points(0, 2)
    assert points.columns["a0"].tolist() == [1.0, 2.0]
    assert points.schemes is not None
    assert points.schemes.tolist() == [0, 1]
    assert points.absent["k_t"].tolist() == [True, False]


@given(st.integers(0, 59), st.integers(0, 59))
def test_any_block_is_the_same_part_of_the_whole(first: int, second: int) -> None:
    start, stop = sorted((first, second))
    grid = design({"axes": {"a0": {"from": 1, "to": 2, "count": 4}, "mu": [0.1, "default", 0.3], "g": {"from": 1, "to": 9, "count": 5}}})
    whole, block = grid.points(0, 60), grid.points(start, stop)
    for name, values in whole.columns.items():
        np.testing.assert_array_equal(block.columns[name], values[start:stop])
    np.testing.assert_array_equal(block.absent["mu"], whole.absent["mu"][start:stop])


def test_a_billion_points_cost_no_memory() -> None:
    axes = {"a0": {"from": 1, "to": 2, "count": 10**6}, "mu": {"from": 0.1, "to": 0.2, "count": 10**6}}
    grid = design({"axes": axes}, output={"shard_points": 2**20})
    last = grid.points(10**12 - 2, 10**12)
    assert last.columns["a0"].tolist() == [2.0, 2.0]
    assert last.columns["mu"][-1] == 0.2


@pytest.mark.parametrize(("start", "stop", "count"), [(1.0, 10.0, 10), (-3.0, 7.0, 11), (5.0, 1.0, 3), (0.1, 0.7, 7)])
def test_a_linear_range_is_linspace(start: float, stop: float, count: int) -> None:
    axis = Spaced("x0", start, stop, count, logarithmic=False)
    values = axis.at(np.arange(count))
    np.testing.assert_array_equal(values, np.linspace(start, stop, count))


@pytest.mark.parametrize(("start", "stop", "count"), [(1.0, 1000.0, 4), (0.3, 7e6, 13), (-1.0, -100.0, 3), (1e-300, 1e300, 7)])
def test_a_log_range_is_geomspace_and_hits_its_ends(start: float, stop: float, count: int) -> None:
    values = Spaced("x0", start, stop, count, logarithmic=True).at(np.arange(count))
    np.testing.assert_allclose(values, np.geomspace(start, stop, count), rtol=1e-12)
    assert (values[0], values[-1]) == (start, stop)


def test_a_range_of_one_value_is_its_start() -> None:
    assert Spaced("x0", 3.0, 5.0, 1, logarithmic=False).at(np.arange(1)).tolist() == [3.0]


def test_csv_and_parquet_tables_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("mu, a0 ,scheme,k_t\n0.1,15,exact,\n,nan,,\n0.3,inf,euler,9e6\n default ,-inf,exact,\n")
    table = {
        "mu": [0.1, None, 0.3, None],
        "a0": [15.0, np.nan, np.inf, -np.inf],
        "scheme": ["exact", None, "euler", "exact"],
        "k_t": [None, None, 9_000_000, None],
    }
    pq.write_table(pa.table(table), tmp_path / "points.parquet")
    for name in ("points.csv", "points.parquet"):
        read = design({"design": "table", "file": str(tmp_path / name)}).points(0, 4)
        np.testing.assert_array_equal(read.columns["a0"], table["a0"])
        np.testing.assert_array_equal(read.columns["mu"][[0, 2]], [0.1, 0.3])
        assert read.absent["mu"].tolist() == [False, True, False, True]
        assert read.absent["k_t"].tolist() == [True, True, False, True]
        assert "a0" not in read.absent
        assert read.schemes is not None
        assert read.schemes.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_large_table_is_not_held_in_memory(tmp_path: Path, kind: str) -> None:
    rows = 300_000
    table = pa.table({"mu": np.linspace(0.1, 0.9, rows), "a0": np.arange(rows) + 1.0, "k": [None] * (rows - 1) + [5.0]})
    if kind == "csv":
        csv.write_csv(table, tmp_path / "points.csv")
    else:
        pq.write_table(table, tmp_path / "points.parquet", row_group_size=70_000)
    made = design({"design": "table", "file": str(tmp_path / f"points.{kind}")})
    assert all(isinstance(axis, Listed) and isinstance(axis.values, np.memmap) for axis in made.axes)
    points = made.points(rows - 3, rows)
    assert points.columns["a0"].tolist() == [rows - 2.0, rows - 1.0, rows]
    assert points.absent["k"].tolist() == [True, True, False]
    np.testing.assert_array_equal(made.points(0, rows).columns["mu"], table.column("mu").to_numpy())


def test_a_bad_cell_far_down_a_table_is_named_by_its_row(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("mu\n" + "0.125000\n" * 300_000 + "high\n")
    with pytest.raises(ConfigError, match="column mu, row 300001: 'high' is not a number"):
        design({"design": "table", "file": str(tmp_path / "points.csv")})


def test_a_listed_axis_without_defaults_has_no_mask() -> None:
    axis = Listed("mu", np.array([1.0, 2.0]), np.zeros(2, dtype=bool))
    assert axis.absent_at(np.arange(2)) is None


def test_whole_numbers_are_an_axis() -> None:
    points = design({"axes": {"retries": {"from": 2, "to": 5, "spacing": "integer"}, "mu": [0.1, 0.2]}}).points(0, 8)
    assert points.columns["retries"].tolist() == [2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]


PARTS = [
    {"axes": {"a0": [1.0, 2.0], "scheme": ["exact", "exact"]}},
    {"design": "sobol", "count": 100, "seed": 3, "axes": {"a0": {"from": 1.0, "to": 2.0}, "mu": [0.1, "default"]}},
    {"design": "zip", "axes": {"k": [0.0, 1.0], "k_t": ["default", 9e6], "scheme": ["exact", "euler"]}},
]


def test_a_concatenation_has_the_points_of_each_design_with_the_columns_of_all() -> None:
    joined = design(PARTS, parameters={"k": 7.0})  # type: ignore[arg-type]
    assert isinstance(joined, Concatenation)
    assert joined.count == 4 + 100 + 2
    points = joined.points(0, joined.count)
    assert points.numbers.tolist() == list(range(106))
    assert points.columns["a0"][:4].tolist() == [1.0, 1.0, 2.0, 2.0]
    assert points.columns["k"].tolist() == [7.0] * 104 + [0.0, 1.0]  # where a part does not sweep it, the parameter
    assert points.absent["a0"].tolist() == [False] * 104 + [True] * 2  # or the default
    assert points.absent["k_t"].tolist() == [True] * 105 + [False]
    assert not points.absent["k"].any()
    assert points.schemes is not None
    assert points.schemes.tolist() == [0] * 105 + [1]
    np.testing.assert_array_equal(points.columns["a0"][4:104], joined.parts[1].points(0, 100).columns["a0"])


@given(st.integers(0, 106), st.integers(0, 106))
def test_any_block_of_a_concatenation_is_the_same_part_of_the_whole(first: int, second: int) -> None:
    start, stop = sorted((first, second))
    joined = design(PARTS)  # type: ignore[arg-type]
    whole, block = joined.points(0, 106), joined.points(start, stop)
    for name, values in whole.columns.items():
        np.testing.assert_array_equal(block.columns[name], values[start:stop])
        np.testing.assert_array_equal(block.absent[name], whole.absent[name][start:stop])
    assert block.schemes is not None
    assert whole.schemes is not None
    np.testing.assert_array_equal(block.schemes, whole.schemes[start:stop])


def test_a_concatenation_reads_back_as_itself(tmp_path: Path) -> None:
    config = load({"parameters": {"k": 7.0}, "sweep": PARTS})
    (tmp_path / "study.toml").write_text(config.to_toml())
    again = load(tmp_path / "study.toml")
    assert (again.document, again.digest) == (config.document, config.digest)


def test_what_a_part_does_not_sweep_is_checked_with_what_stands_there() -> None:
    with pytest.raises(ConfigError, match="point 2: scheme 'euler' needs the tangential stiffness"):
        load({"sweep": [{"axes": {"a0": [1.0, 2.0]}}, {"axes": {"scheme": ["euler"]}}]})


def test_points_of_a_subset_simulation_belong_to_the_repeat_and_the_chain_whose_numbers_they_have() -> None:
    event = LimitState("peak_force", ">", 1.0)
    design = SubsetSimulation((Continuous("v0", 0.0, 1.0, False),), 20, 1, event, 0.25, 3, 3)  # 5 chains of 4 states
    seen: list[int] = []
    for level, steps in enumerate((1, 3, 3, 3)):
        for step in range(1, steps + 1):
            for repeat in range(3):
                numbers = design.numbers(repeat, level, step)
                seen += numbers.tolist()
                chains = [-1] * 20 if level == 0 else [5 * repeat + chain for chain in range(5)]
                assert design.chains_of(numbers).tolist() == chains
    assert seen == list(range(design.most_points))
