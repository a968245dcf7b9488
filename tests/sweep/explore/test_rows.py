"""The rows behind a page: counts are those of pandas, and the page can neither write nor read anything else."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tests.sweep.explore.conftest import SmallRun
from tribosweep.sweep.explore import rows as module
from tribosweep.sweep.explore.columns import NUMBER, Column
from tribosweep.sweep.explore.rows import RefusedError, Rows, View
from tribosweep.sweep.io.errors import ConfigError

NAMES = ("a0", "mu", "wear_power", "regime")


@pytest.fixture(scope="module")
def opened(small: SmallRun) -> tuple[Rows, View]:
    """The small run with one view."""
    rows = Rows(small.directory)
    return rows, rows.view(NAMES, ["wear_power"])


def answer(rows: Rows, statement: str) -> dict[str, list[object]]:
    """What a statement returns."""
    return dict(pa.ipc.open_stream(rows.select(statement)).read_all().to_pydict())


def test_counts_are_those_of_pandas(opened: tuple[Rows, View], small: SmallRun) -> None:
    rows, view = opened
    for name in ("a0", "mu", "wear_power"):
        found = answer(rows, f'SELECT "bin:{name}" AS code, sum("rows:") AS n FROM {view.table} GROUP BY ALL')
        expected, _ = np.histogram(small.table[name], view.bins[name].edges())
        counted = np.zeros(view.bins[name].count)
        counted[found["code"]] = found["n"]
        assert np.array_equal(counted, expected), name
    assert view.bins["a0"].count == 60
    assert view.bins["mu"].count == 40
    assert view.bins["mu"].logarithmic


def test_words_are_counted_as_words(opened: tuple[Rows, View], small: SmallRun) -> None:
    rows, view = opened
    found = answer(rows, f'SELECT "bin:regime" AS code, count(*) AS n FROM {view.table} GROUP BY ALL')
    words = rows.columns["regime"].words
    assert {words[code]: n for code, n in zip(found["code"], found["n"], strict=True)} == small.table["regime"].value_counts().to_dict()


def test_means_are_those_of_pandas(opened: tuple[Rows, View], small: SmallRun) -> None:
    rows, view = opened
    statement = f'SELECT sum("sum:wear_power") / sum("valid:wear_power") AS mean FROM {view.table} WHERE "bin:a0" BETWEEN 10 AND 19'
    low, high = view.bins["a0"].edges()[[10, 20]]
    chosen = small.table[(small.table["a0"] > low) & (small.table["a0"] < high)]
    assert len(chosen) == 400
    assert answer(rows, statement)["mean"] == [pytest.approx(chosen["wear_power"].mean(), rel=1e-12)]


def test_columns_know_units_ranges_and_words(opened: tuple[Rows, View], small: SmallRun) -> None:
    columns = opened[0].columns
    assert columns["wear_power"].unit == "W"
    assert columns["mu"].unit == ""
    assert columns["mu"].swept
    assert not columns["m"].varies
    assert columns["m"].to_json()["held"] == 1.0
    assert (columns["a0"].low, columns["a0"].high) == (small.table["a0"].min(), small.table["a0"].max())
    assert columns["status"].words == ("ok",)
    assert columns["scheme"].words == ("exact",)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP VIEW run",
        "CREATE TABLE mine AS SELECT 1",
        "INSERT INTO loaded SELECT * FROM loaded",
        "DELETE FROM loaded",
        "SET threads = 1",
        "COPY (SELECT 1) TO '/tmp/tribosweep_explore'",
        "ATTACH '/tmp/tribosweep_explore'",
        "PRAGMA enable_profiling",  # DuckDB before 2 calls a PRAGMA that only reads a SELECT
        "CALL pragma_version()",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP VIEW run",
        "EXPLAIN ANALYZE SELECT 1",
        "INSTALL httpfs",
        "LOAD httpfs",
        "",
        "SELECT nonsense FROM run",
        "not sql",
        "UPDATE loaded SET mu = 1",
        "RESET threads",
        "VACUUM",
        "BEGIN TRANSACTION",
        "EXPORT DATABASE '/tmp/tribosweep_explore'",
    ],
)
def test_every_statement_but_a_select_is_refused(opened: tuple[Rows, View], statement: str) -> None:
    with pytest.raises(RefusedError):
        opened[0].select(statement)
    with pytest.raises(RefusedError):
        opened[0].keep("preagg_1f", statement)
    assert answer(opened[0], "SELECT count(*) AS n FROM run") == {"n": [2400]}


@pytest.mark.parametrize(
    "reader", ["read_csv", "read_text", "read_blob", "read_parquet", "read_json", "glob", "parquet_metadata", "sniff_csv"]
)
def test_no_other_file_can_be_read(opened: tuple[Rows, View], small: SmallRun, reader: str) -> None:
    for file in ("/etc/passwd", small.directory / "manifest.json", small.directory / "points" / ".." / "config.toml", "/tmp/*"):
        with pytest.raises(RefusedError, match=r"disabled by configuration|Permission"):
            opened[0].select(f"SELECT * FROM {reader}('{file}')")


def test_a_select_reads_no_variable_of_python(opened: tuple[Rows, View]) -> None:
    secret = pa.table({"value": [1]})
    assert secret.num_rows
    with pytest.raises(RefusedError, match="does not exist"):
        opened[0].select("SELECT * FROM secret")


def test_kept_tables_are_few_and_have_plain_names(opened: tuple[Rows, View], monkeypatch: pytest.MonkeyPatch) -> None:
    rows, view = opened
    monkeypatch.setattr(module, "MOST_KEPT", 2)
    for number in range(4):
        rows.keep(f"preagg_{number}", f"SELECT count(*) AS n FROM {view.table}")
    assert answer(rows, "SELECT n FROM kept.preagg_3") == {"n": [2400]}
    with pytest.raises(RefusedError, match="does not exist"):
        rows.select("SELECT * FROM kept.preagg_0")
    with pytest.raises(RefusedError, match="no name of a kept table"):
        rows.keep('x" AS SELECT 1; DROP VIEW run; --', "SELECT 1")


def test_a_long_query_is_stopped(opened: tuple[Rows, View], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 0.2)
    with pytest.raises(RefusedError, match=r"given up"):
        opened[0].select("SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3")


def test_unknown_columns_are_refused_with_the_nearest_name(opened: tuple[Rows, View]) -> None:
    with pytest.raises(ConfigError, match="wear_power"):
        opened[0].view(["wear_powr"])


def test_a_large_run_begins_with_a_sample_and_says_so(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SMALL", 1000)
    monkeypatch.setattr(module, "SAMPLE", 600)
    rows = Rows(small.directory)
    assert (rows.every, rows.count, rows.verified) == (4, 2400, False)
    view = rows.view(["mu", "regime"], ["wear_power"])
    points = answer(rows, f"SELECT point, mu, regime FROM {view.table}")
    chosen = small.table.set_index("point").loc[points["point"]]
    assert 450 < len(chosen) < 750
    assert chosen["mu"].tolist() == points["mu"]
    assert chosen["regime"].tolist() == points["regime"]
    assert set(chosen["mu"]) == set(small.table["mu"])  # every 4th row of the grid would hold a quarter of its values
    rows.close()


def test_a_shard_that_is_not_as_it_was_written_is_refused(small: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Path(shutil.copytree(small.directory, tmp_path / "run"))
    shard = copy / "points" / "part-000001.parquet"
    data = bytearray(shard.read_bytes())
    data[100] ^= 1
    shard.write_bytes(data)
    with pytest.raises(ConfigError, match="checksum"):
        Rows(copy)
    monkeypatch.setattr(module, "SMALL", 1000)
    shard.write_bytes(data[:-40])
    with pytest.raises(ConfigError, match="cut short"):
        Rows(copy)


@pytest.mark.parametrize(("values", "skew"), [(np.geomspace(1.0, 1e4, 100), True), (np.linspace(1.0, 1e4, 100), False)])
def test_values_that_mostly_lie_within_one_of_fifty_bars_get_logarithmic_bins(values: np.ndarray, skew: bool) -> None:
    assert (np.histogram(values, 50)[0][0] > 50) == skew
    connection = duckdb.connect()
    connection.execute("CREATE TABLE loaded AS SELECT unnest(?) AS peak_force", [values.tolist()])
    rows = cast("Rows", SimpleNamespace(_connection=connection))
    column = Column("peak_force", "N", "", NUMBER, low=1.0, high=1e4)
    assert Rows._is_skew(rows, column) == skew  # noqa: SLF001 - a run of such values would take seconds
