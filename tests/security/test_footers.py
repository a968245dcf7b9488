"""Footers of Parquet files that contradict themselves: pyarrow ends the process where it is asked to describe their chunks."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sweep
from sweep.execution.directory import RunDirectory
from sweep.explore.rows import Rows
from sweep.io import parquet_footer, sealed_parquet
from sweep.io.sealed_parquet import DamageError
from tests.security.written_run import write_run

OPTIONAL, REQUIRED = b"\x25\x02\x18", b"\x25\x00\x18"  # in the schema of a footer, before the name of a column
NUMBERS = ("INT32", "INT64", "FLOAT", "DOUBLE")


def contradictory(data: bytes) -> bytes:
    """A Parquet file whose columns have no cell without a value, though its chunks count such cells."""
    assert OPTIONAL in data
    return data.replace(OPTIONAL, REQUIRED)


def written(table: pa.Table, **how: object) -> bytes:
    """A table as Parquet."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **how)
    return sink.getvalue()


def of_all_kinds(count: int) -> pa.Table:
    """Columns of every kind that the product reads, and some that it does not."""
    numbers = np.arange(count)
    words = pa.array([f"w{number % 3}" for number in numbers], pa.string())
    nested = pa.struct([("a", pa.int8()), ("b", pa.list_(pa.int64()))])
    return pa.table({
        "number": numbers / 3.0, "whole": numbers, "word": words.dictionary_encode(), "text": words,
        "short": pa.array(numbers, pa.float32()), "list": pa.array([[1.0] * (number % 3) for number in numbers], pa.list_(pa.float64())),
        "truth": numbers > 2, "gaps": pa.array([None if number % 2 else 1.0 for number in numbers], pa.float64()),
        "day": pa.array(numbers, pa.int32()).cast(pa.date32()), "nested": pa.array([{"a": 1, "b": [2]}] * count, nested),
        "none": pa.nulls(count), "bytes": pa.array([b"abc"] * count, pa.binary(3)), "time": pa.array(numbers, pa.timestamp("ns")),
    })  # fmt: skip


def fault_of(data: bytes) -> str:
    """What is wrong with a footer."""
    return parquet_footer.fault(data, pq.read_metadata(io.BytesIO(data)), 1000)


def describe(metadata: pq.FileMetaData) -> int:
    """Ask pyarrow for all that the product asks of chunks; how many of them have ends."""
    ends = []
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            assert chunk.num_values + chunk.total_uncompressed_size is not None
            if chunk.physical_type in NUMBERS and chunk.is_stats_set and chunk.statistics.has_min_max:
                ends.append((chunk.statistics.min, chunk.statistics.max))
    return len(ends)


@pytest.mark.parametrize("how", [{}, {"row_group_size": 3}, {"compression": "none", "use_dictionary": False}, {"version": "1.0"},
                                 {"write_statistics": False}, {"data_page_version": "2.0", "write_page_index": True}], ids=str)  # fmt: skip
def test_footers_of_sound_files_are_sound(how: dict[str, object]) -> None:
    table = of_all_kinds(20)
    table = table.drop_columns(["time"]) if how.get("version") == "1.0" else table
    for data in (written(table, **how), written(table.slice(0, 0), **how)):
        assert fault_of(data) == ""
        describe(pq.read_metadata(io.BytesIO(data)))
    assert "1,001 values in a column: at most 1,000" in fault_of(written(pa.table({"a": np.zeros(1001)})))


def test_damaged_footers_are_refused_or_described() -> None:
    bases = [written(of_all_kinds(12), row_group_size=size, store_schema=False) for size in (6, 12)]
    refused = described = 0
    for seed in range(1500):  # each that ends the process ends this test
        rng = random.Random(seed)
        data = bytearray(bases[seed % 2])
        first = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        for _ in range(rng.choice((1, 1, 2, 3))):
            data[rng.randrange(first, len(data) - 8)] = rng.choice((0, 1, 2, 3, 9, 16, 21, 22, 25, 28, *(rng.randrange(256),) * 4))
        try:
            metadata = pq.read_metadata(io.BytesIO(data))
        except (pa.ArrowException, OSError, ValueError):
            continue
        if parquet_footer.fault(bytes(data), metadata, 1000):
            refused += 1
            continue
        try:
            describe(metadata)
        except (pa.ArrowException, ValueError, OverflowError, UnicodeDecodeError):  # in Python
            continue
        described += 1
    assert min(refused, described) > 60


@pytest.mark.parametrize("key", ["points", "record"])
def test_a_table_of_another_hand_with_such_a_footer_is_refused(key: str, tmp_path: Path) -> None:
    columns = {"points": ["a0", "mu"], "record": ["time", "acceleration"]}[key]
    (tmp_path / "table.parquet").write_bytes(contradictory(written(pa.table({name: np.arange(1.0, 9.0) for name in columns}))))
    study = {"points": '[sweep]\ndesign = "table"\nfile = "table.parquet"\n', "record": '[excitation]\nrecords = "table.parquet"\n'}[key]
    (tmp_path / "study.toml").write_text(study)
    with pytest.raises(sweep.ConfigError, match=r"table.parquet: its footer contradicts itself"):
        sweep.load(tmp_path / "study.toml")


def test_a_part_of_a_run_with_such_a_footer_is_damaged(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", sweep.load({"sweep": {"axes": {"a0": {"from": 1.0, "to": 9.0, "count": 8}}}}))
    shard = RunDirectory(run.path).shard(0)
    data = shard.read_bytes()
    place = data.index(sealed_parquet.KEY)
    digits = sealed_parquet.find(data, place)
    unsealed = data[:digits] + sealed_parquet.BLANK + data[digits + len(sealed_parquet.BLANK) :]
    shard.write_bytes(sealed_parquet.seal(pa.py_buffer(contradictory(unsealed))))
    sealed_parquet.verify(shard)
    for read in (lambda: sealed_parquet.read(shard), lambda: sealed_parquet.read_metadata(shard, chunks=True)):
        with pytest.raises(DamageError, match="its footer contradicts itself"):
            read()
    with pytest.raises(sweep.ConfigError, match="its footer contradicts itself"):
        Rows(run.path)
