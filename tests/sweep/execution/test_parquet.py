"""The dataset: every reader sees the same rows, units travel with them, and no shard is ever half written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.sweep import Run, run
from tribosweep.sweep.execution import parquet
from tribosweep.sweep.io import atomic, sealed_parquet, system
from tribosweep.sweep.study.load import load

STUDY = {
    "parameters": {"m": 2.0},
    "time": {"end": 8.0, "window": [1.0, 2.0]},
    "sweep": {"axes": {"a0": {"from": 1.0, "to": 2.0, "count": 7}, "mu": [0.1, "default", 0.3], "scheme": ["exact"]}},
}


@pytest.fixture
def finished(fake: FakeKernels, small_shards: int, tmp_path: Path) -> Run:
    """A run of three shards."""
    assert (fake.calls, small_shards) == ([], 10)
    return run(STUDY, tmp_path / "out")


def test_every_reader_sees_the_same_rows(finished: Run) -> None:
    points = finished.directory / "points"
    frame = finished.to_pandas()
    assert frame["point"].tolist() == list(range(21))
    np.testing.assert_allclose(frame["wear_power"], frame["a0"] + 100.0 * frame["mu"].fillna(0.1), rtol=1e-15)
    pd.testing.assert_frame_equal(pd.read_parquet(points), frame)
    assert ds.dataset(points).to_table().equals(finished.to_arrow())
    rows = duckdb.connect().execute(f"select point, mu, wear_power, regime, status from '{points}/*.parquet' order by point").fetchall()
    assert [row[0] for row in rows] == list(range(21))
    assert (rows[1][1], rows[0][3], rows[0][4]) == (None, "stick", "ok")


def test_columns_come_in_the_promised_order_with_their_types(finished: Run) -> None:
    schema = finished.to_arrow().schema
    assert schema.names[:9] == ["point", "a0", "mu", "m", "end", "window_start", "window_end", "scheme", "wear_power"]
    assert schema.names[-1] == "status"
    kinds = {name: str(schema.field(name).type) for name in ("point", "mu", "slip_phases", "regime", "status", "scheme")}
    words = "dictionary<values=string, indices=int32, ordered=0>"
    assert kinds == {"point": "int64", "mu": "double", "slip_phases": "int64", "regime": words, "status": words, "scheme": words}


def test_units_and_origin_travel_with_the_rows(finished: Run, tmp_path: Path) -> None:
    schema = pq.read_schema(finished.directory / "points" / "part-000002.parquet")
    assert schema.field("a0").metadata[b"unit"] == b"m/s^2"
    assert b"mean wear power" in schema.field("wear_power").metadata[b"description"]
    facts = schema.metadata
    assert {b"schema_version", b"tribosweep", b"jax", b"device", b"dtype"} <= facts.keys()
    assert facts[b"config_hash"].decode() == finished.config.digest
    (tmp_path / "again.toml").write_bytes(facts[b"config"])
    assert load(tmp_path / "again.toml").digest == finished.config.digest


def test_a_failed_row_keeps_its_place_with_nulls_and_a_status(fake: FakeKernels, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("a0\n1.0\nnan\ninf\n")
    finished = run({"sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}, tmp_path / "out")
    rows = finished.to_arrow().to_pydict()
    assert fake.calls == [3]
    assert finished.failed == 2
    assert rows["status"] == ["ok", "a parameter is not a finite number", "a parameter is not a finite number"]
    assert [power is None for power in rows["wear_power"]] == [False, True, True]
    assert (rows["slip_phases"][1:], rows["regime"][1:]) == ([None, None], [None, None])
    assert np.isnan(rows["a0"][1])


def test_a_number_that_is_none_is_null_to_every_reader(fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an event that did not happen leaves must not pass a filter, nor enter a mean, as NaN does in polars and DuckDB."""
    import polars as pl

    from tribosweep.kernels.batch import solve as batch

    def without_events(*asked: Any, **more: Any) -> Any:
        found = fake.solve(*asked, **more)
        found.observables["wear_power"][::3] = np.nan
        return found

    monkeypatch.setattr(batch, "solve", without_events)
    finished = run({"sweep": {"axes": {"a0": {"from": 0.0, "to": 11.0, "count": 12}}}, "parameters": {"mu": 0.0}}, tmp_path / "out")
    files = str(finished.directory / "points" / "*.parquet")
    there = [float(a0) for a0 in range(12) if a0 % 3]
    above = [value for value in there if value > 4.0]

    frame = pd.read_parquet(finished.directory / "points")
    assert frame["wear_power"].dtype == np.float64
    assert frame["wear_power"].isna().tolist() == [a0 % 3 == 0 for a0 in range(12)]
    assert frame[frame["wear_power"] > 4.0]["wear_power"].tolist() == above

    rows = pl.read_parquet(files)
    assert rows.filter(pl.col("wear_power") > 4.0)["wear_power"].to_list() == above
    assert (rows["wear_power"].mean(), rows["wear_power"].max(), rows["wear_power"].null_count()) == (np.mean(there), 11.0, 4)

    asked = "SELECT avg(wear_power), max(wear_power), count(wear_power), count(*) FILTER (wear_power > 4), count(*) FROM read_parquet(?)"
    assert duckdb.execute(asked, [files]).fetchall() == [(np.mean(there), 11.0, 8, len(above), 12)]

    table = ds.dataset(finished.directory / "points").to_table(filter=ds.field("wear_power") > 4.0)
    assert table.column("wear_power").to_pylist() == above
    column = pq.read_table(finished.directory / "points").column("wear_power")
    assert (column.null_count, pc.mean(column).as_py(), pc.any(pc.is_nan(column)).as_py()) == (4, np.mean(there), False)


@pytest.mark.parametrize("entries", [[1.0, np.nan, 3.0], [np.nan, 2.0, 3.0]])
def test_an_entry_of_a_list_without_value_is_null_and_the_list_keeps_its_length(entries: list[float]) -> None:
    tables = np.array([entries, [np.nan] * 3])
    found = parquet.lists(tables, np.isnan(tables).all(axis=1), 3)
    assert found.to_pylist() == [[None if cell != cell else cell for cell in entries], None]


def test_a_study_that_names_no_scheme_has_no_column_of_it(fake: FakeKernels, tmp_path: Path) -> None:
    assert "scheme" not in run({}, tmp_path / "a").to_arrow().column_names
    assert run({"study": {"scheme": "exact"}}, tmp_path / "b").to_arrow().column("scheme").to_pylist() == ["exact"]
    assert fake.calls == [1, 1]


def test_a_shard_that_cannot_be_finished_leaves_nothing_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(system, "write", fail)
    with pytest.raises(OSError, match="No space left"):
        atomic.write_whole(tmp_path / "part-000000.parquet", b"PAR1")
    assert list(tmp_path.iterdir()) == []


def test_a_shard_tells_whose_it_is_and_whether_its_bytes_are_those_that_were_written(finished: Run, tmp_path: Path) -> None:
    shard = finished.directory / "points" / "part-000001.parquet"
    whole = shard.read_bytes()
    facts = parquet.read_facts(sealed_parquet.read_metadata(shard))
    assert facts is not None
    assert {key: facts[key] for key in ("config_hash", "number", "statuses", "rows")} == {
        "config_hash": finished.config.digest, "number": 1, "statuses": {"ok": 10}, "rows": 10,
    }  # fmt: skip
    assert facts["seconds"].keys() == {"compiling", "computing", "encoding"}
    assert sealed_parquet.verified(shard) == whole
    other = tmp_path / "other.parquet"
    for content in (b"", b"PAR1", whole[: len(whole) // 2], json.dumps({}).encode()):
        other.write_bytes(content)
        for reader in (sealed_parquet.verified, sealed_parquet.read_metadata):
            with pytest.raises(sealed_parquet.DamageError, match="cut short, or no Parquet file"):
                reader(other)
    pq.write_table(finished.to_arrow().replace_schema_metadata(None), other)
    for reader in (sealed_parquet.verified, sealed_parquet.read_metadata):
        with pytest.raises(sealed_parquet.DamageError, match="not written by tribosweep"):
            reader(other)


@pytest.mark.long
@pytest.mark.slow
def test_no_byte_of_a_shard_can_change_unnoticed(finished: Run, tmp_path: Path) -> None:
    whole = (finished.directory / "points" / "part-000000.parquet").read_bytes()
    footer, other = sealed_parquet.footer_of(whole), tmp_path / "other.parquet"
    digits = range(place := sealed_parquet.find(whole, footer), place + sealed_parquet.DIGITS)  # of the whole file: no part of the footer's
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        other.write_bytes(changed)
        with pytest.raises(sealed_parquet.DamageError):
            sealed_parquet.verified(other)
        if place >= footer and place not in digits:
            with pytest.raises(sealed_parquet.DamageError):
                sealed_parquet.read_metadata(other)
