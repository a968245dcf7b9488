"""Bins: every value lies between the edges of its bin, and those of a grid lie in the middle."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from tribosweep.sweep.explore.bins import MOST, NONE, Bins, bins_of


def codes(bins: Bins, values: list[float | None]) -> list[int]:
    """The codes that DuckDB gives to values."""
    rows = ", ".join(f"({place}, {'NULL' if value is None else repr(str(value))}::DOUBLE)" for place, value in enumerate(values))
    statement = f'SELECT {bins.code("of")} FROM (VALUES {rows}) AS t(place, "of") ORDER BY place'
    return [code for (code,) in duckdb.connect().execute(statement).fetchall()]


@pytest.mark.parametrize(
    ("low", "high", "logarithmic"), [(0.0, 1.0, False), (-3.7, 9e4, False), (1e-9, 2.0, True), (5.0, 5.0, False), (1.0, 1.0 + 4e-16, False)]
)
def test_every_value_lies_within_its_bin(low: float, high: float, logarithmic: bool) -> None:
    bins = bins_of(low, high, logarithmic)
    drawn = np.random.default_rng(1).uniform(low, high, 200) if not logarithmic else np.geomspace(low, high, 200)
    values = [low, high, *np.clip(drawn, low, high)]
    found, edges = np.array(codes(bins, values)), bins.edges()
    room = 1e-9 * max(abs(low), abs(high))
    assert 1 <= bins.count <= MOST + 1
    assert (edges[found] <= np.array(values) + room).all()
    assert (np.array(values) <= edges[found + 1] + room).all()


@pytest.mark.parametrize("count", [2, 40, 128, 300, 1000])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_each_bin_of_a_grid_holds_as_many_of_its_values(count: int, logarithmic: bool) -> None:
    values = np.geomspace(0.01, 3.0, count) if logarithmic else np.linspace(-0.3, 0.7, count)
    bins = bins_of(values[0], values[-1], logarithmic, values=values.tolist())
    held = np.bincount(codes(bins, values.tolist()), minlength=bins.count)
    assert len(held) == bins.count <= MOST
    assert set(held[:-1]) == {-(-count // MOST)}


def test_whole_numbers_lie_in_the_middle_of_bins() -> None:
    bins = bins_of(0.0, 17.0, whole=True)
    assert bins.count == 18
    assert codes(bins, [0.0, 5.0, 17.0]) == [0, 5, 17]
    assert bins_of(0.0, 1e6, whole=True).count <= MOST


def test_what_is_no_value_has_no_bin() -> None:
    assert codes(bins_of(0.1, 10.0), [None, float("nan"), float("inf"), 5.0])[:3] == [NONE] * 3
    assert codes(bins_of(0.1, 10.0, logarithmic=True), [0.0, -1.0, float("nan")]) == [NONE] * 3


def test_edges_are_numbers_that_people_read_easily() -> None:
    bins = bins_of(0.013, 27.4)
    assert bins.width == 0.25
    assert bins.edges()[:3].tolist() == [0.0, 0.25, 0.5]
