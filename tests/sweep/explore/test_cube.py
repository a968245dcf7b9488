"""All rows by the bins of several columns at once: the counts are those of pandas, at every level of the pyramid."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.sweep.explore.conftest import SmallRun
from tribosweep.sweep.explore import cube
from tribosweep.sweep.explore.rows import Rows, View
from tribosweep.sweep.io.errors import ConfigError

NAMES, FEWER = ("a0", "mu", "wear_power", "regime"), ("mu", "wear_power", "regime")


@pytest.fixture(scope="module")
def opened(small: SmallRun) -> tuple[Rows, View]:
    """The small run with one view."""
    rows = Rows(small.directory)
    return rows, rows.view(NAMES, ["wear_power"])


def content(rows: Rows, table: str) -> pd.DataFrame:
    """The rows of a table of the database."""
    with rows.cursor(limit=None) as cursor:
        return pd.DataFrame(cursor.sql(f"SELECT * FROM {table}").to_arrow_table().to_pandas())


def expected(small: SmallRun, rows: Rows, view: View, together: int = 1) -> pd.Series:
    """Rows by combination, according to pandas."""
    codes = {name: np.clip(np.digitize(small.table[name], view.bins[name].edges()) - 1, 0, view.bins[name].count - 1) // together
             for name in view.bins}  # fmt: skip
    words = small.table["regime"].map({word: code for code, word in enumerate(rows.columns["regime"].words)}).astype(int)
    return pd.DataFrame(codes | {"regime": words})[[*view.names]].value_counts().sort_index()


@pytest.mark.parametrize("names", [NAMES, FEWER])  # of NAMES no two rows are alike, of FEWER many are
@pytest.mark.parametrize("few", [0, 10**9])
def test_combinations_are_counted_as_pandas_does(
    opened: tuple[Rows, View], small: SmallRun, monkeypatch: pytest.MonkeyPatch, few: int, names: tuple[str, ...]
) -> None:
    rows, _ = opened
    view = rows.view(names, ["wear_power"])
    monkeypatch.setattr(cube, "FEW", few)
    monkeypatch.setattr(cube, "CHUNK", 1000)
    heard: list[tuple[int, int]] = []
    progress = cube.Progress()
    found = content(rows, cube.build(rows, view, progress, lambda *how: heard.append(how)))
    assert heard == [(1, 3), (2, 3), (3, 3)]
    assert progress.groups == len(found)
    assert (len(found) == 2400) == (few > 0 or names == NAMES)
    counts = found.groupby([f"bin:{name}" for name in names])["rows:"].sum()
    assert counts.to_numpy().tolist() == expected(small, rows, view).to_numpy().tolist()
    assert found["sum:wear_power"].sum() == pytest.approx(small.table["wear_power"].sum(), rel=1e-12)
    assert found["valid:wear_power"].sum() == 2400
    cube.drop(rows, view.number)


def test_a_coarser_level_joins_bins_until_it_fits(opened: tuple[Rows, View], small: SmallRun) -> None:
    rows, view = opened
    built = cube.build(rows, view)
    for most, bins in ((400, 8), (1800, 2)):
        table, joined = cube.coarsen(rows, view, built, most)
        found = content(rows, table)
        assert joined == bins
        assert len(found) <= most
        counts = found.groupby([f"bin:{name}" for name in ("a0", "mu", "wear_power", "regime")])["rows:"].sum()
        assert counts.to_numpy().tolist() == expected(small, rows, view, joined).to_numpy().tolist()
    assert view.bins["a0"].joined(2).edges().tolist() == view.bins["a0"].edges()[::2].tolist()
    with pytest.raises(ConfigError, match="name fewer with --column"):
        cube.coarsen(rows, view, table, 1)


def test_a_cube_that_is_not_wanted_any_more_stops(opened: tuple[Rows, View]) -> None:
    progress = cube.Progress()
    progress.stop.set()
    with pytest.raises(cube.StoppedError):
        cube.build(*opened, progress)
