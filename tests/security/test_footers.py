"""Footers of Parquet files that contradict themselves: pyarrow ends the process where it is asked to describe their chunks."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.security.footer_mutants import contradictory, describe, footer_of, long_footer, of_all_kinds, with_footer, written
from tests.security.written_run import write_run
from tribosweep import sweep
from tribosweep.sweep.analysis.calibration import load as calibration
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.explore.rows import Rows
from tribosweep.sweep.io import parquet_footer, sealed_parquet, tables
from tribosweep.sweep.io.foreign import UnreadableError
from tribosweep.sweep.io.parquet_footer import FooterError
from tribosweep.sweep.io.sealed_parquet import DamageError
from tribosweep.sweep.structure import basis_files
from tribosweep.sweep.structure.basis_files import read_basis

ROOT = Path(__file__).resolve().parents[2]


def fault_of(data: bytes) -> str:
    """What is wrong with a footer."""
    try:
        parquet_footer.check(parquet_footer.groups_of(data), pq.read_metadata(io.BytesIO(data)), 1000)
    except FooterError as error:
        return str(error)
    return ""


writes_levels = pytest.mark.skipif(int(pa.__version__.partition(".")[0]) < 20, reason="pyarrow 19 writes no numbers of levels")
HOWS = [
    {}, {"row_group_size": 1}, {"compression": "none", "use_dictionary": False}, {"version": "1.0"}, {"write_statistics": False},
    {"data_page_version": "2.0", "write_page_index": True, "write_page_checksum": True, "compression": "zstd"}, {"store_schema": False},
    {"sorting_columns": [pq.SortingColumn(0), pq.SortingColumn(1, descending=True)], "use_deprecated_int96_timestamps": True},
    {"use_dictionary": False, "column_encoding": {"number": "BYTE_STREAM_SPLIT", "whole": "DELTA_BINARY_PACKED"}},
]  # fmt: skip


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_footers_of_sound_files_are_sound(how: dict[str, object], tmp_path: Path) -> None:
    table = of_all_kinds(20).replace_schema_metadata({f"key{number}": "x" * 300 for number in range(40)})
    table = table.drop_columns(["time"]) if how.get("version") == "1.0" else table
    for data in (written(table, **how), written(table.slice(0, 0), **how)):
        assert fault_of(data) == ""
        describe(pq.read_metadata(io.BytesIO(data)))
        (tmp_path / "table.parquet").write_bytes(data)
        rows = sum(piece.num_rows for piece in tables.read_parquet(tmp_path / "table.parquet").pieces)
        assert rows == pq.read_metadata(io.BytesIO(data)).num_rows
    assert "1,001 values in a column: at most 1,000" in fault_of(written(pa.table({"a": np.zeros(1001)})))


def test_files_of_other_tools_are_read(tmp_path: Path) -> None:
    pandas, polars, duckdb = (pytest.importorskip(name) for name in ("pandas", "polars", "duckdb"))
    frame = pandas.DataFrame({"a": np.arange(9.0), "b": [*"abcabcabc"], "t": pandas.date_range("2020", periods=9)})
    frame["c"], frame["i"] = frame["b"].astype("category"), frame["a"].where(frame["a"] > 3).astype("Int64")
    frame.set_index("b").to_parquet(tmp_path / "pandas.parquet")
    for number, how in enumerate(({}, {"statistics": "full", "row_group_size": 3}, {"statistics": False, "compression": "uncompressed"})):
        lists = {
            "l": [[1.0, 2.0]] * 9,
            "s": [{"q": 1, "r": "t"}] * 9,
            "n": [None] * 9,
            "w": polars.Series([*"uvw"] * 3, dtype=polars.Categorical),
        }
        polars.DataFrame({"a": np.arange(9.0), **lists}).write_parquet(tmp_path / f"polars{number}.parquet", **how)
    columns = "i::DOUBLE a, [i, i + 1] l, {'x': i} s, MAP {'k': i} m, i::DECIMAL(9, 2) d, NULL n, now() t, uuid() u"
    for version in ("v1", "v2"):
        copy = f"COPY (SELECT {columns} FROM range(9) t(i)) TO '{tmp_path}/duckdb{version}.parquet' (PARQUET_VERSION {version})"
        duckdb.connect().execute(copy)
    for path in sorted(tmp_path.iterdir()):
        data = path.read_bytes()
        assert fault_of(data) == "", path.name
        assert describe(pq.read_metadata(path)) or path.name == "polars2.parquet"
        assert sum(piece.num_rows for piece in tables.read_parquet(path).pieces) == 9


@pytest.mark.parametrize("encoding", ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
def test_text_in_an_encoding_that_is_not_read_is_refused_with_advice(encoding: str, tmp_path: Path) -> None:
    table = pa.table({"number": [1.0], "text": ["word"], "list": [["a", "b"]]})
    path = tmp_path / "table.parquet"
    path.write_bytes(written(table, use_dictionary=False, column_encoding={"text": encoding}))
    with pytest.raises(UnreadableError, match=f"column 'text' has text in the encoding {encoding}, which is not read; write it with"):
        tables.read_parquet(path)
    path.write_bytes(written(table, use_dictionary=False, column_encoding={"list.list.element": encoding}))
    assert next(tables.read_parquet(path).pieces).to_pylist() == table.to_pylist()


@pytest.mark.parametrize("count", [200, pytest.param(20_000, marks=[pytest.mark.slow, pytest.mark.long])])
def test_changed_footers_are_read_or_refused(count: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.security.footer_mutants", "0", str(count), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # must not end before the last
    assert done.returncode == 0, done.stderr[-2000:]
    for how, found in json.loads(done.stdout).items():
        assert sum(found.values()) == count
        assert found["read"] > count / 40, how
        assert found[parquet_footer.WRONG] > count / 3, how
        assert found["refused"] > count / 40, how


@writes_levels
@pytest.mark.parametrize("key", ["points", "record"])
def test_a_table_of_another_hand_with_such_a_footer_is_refused(key: str, tmp_path: Path) -> None:
    columns = {"points": ["a0", "mu"], "record": ["time", "acceleration"]}[key]
    (tmp_path / "table.parquet").write_bytes(contradictory(written(pa.table({name: np.arange(1.0, 9.0) for name in columns}))))
    study = {"points": '[sweep]\ndesign = "table"\nfile = "table.parquet"\n', "record": '[excitation]\nrecords = "table.parquet"\n'}[key]
    (tmp_path / "study.toml").write_text(study)
    with pytest.raises(sweep.ConfigError, match=r"table.parquet: its footer contradicts itself"):
        sweep.load(tmp_path / "study.toml")


FIT = {"free": {"k_n": {"from": 0.1, "to": 10.0}}, "compare": {"peak_force": {"column": "force", "sd": 0.1}}}
USERS: dict[str, tuple[tuple[str, ...], Callable[[Any], object], dict[str, Any]]] = {
    "points": (("a0", "mu"), sweep.load, {"sweep": {"design": "table", "file": "table.parquet"}}),
    "posterior": (("a0", "mu"), sweep.load, {"sweep": {"design": "posterior", "file": "table.parquet"}}),
    "record": (("time", "acceleration"), sweep.load, {"excitation": {"records": "table.parquet"}}),
    "measured": (("v0", "force"), calibration.load, {"study": {"model": "stop"}, "calibration": {**FIT, "data": "table.parquet"}}),
}


@pytest.mark.parametrize("user", USERS)
def test_the_footer_of_a_table_is_looked_at_and_read_once(user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, load, study = USERS[user]
    pq.write_table(pa.table({name: np.linspace(0.0, 16.0, 9) for name in names}), tmp_path / "table.parquet")
    monkeypatch.chdir(tmp_path)
    looked, read = [], []
    groups_of, read_metadata = parquet_footer.groups_of, pq.read_metadata
    monkeypatch.setattr(parquet_footer, "groups_of", lambda data: (looked.append(data), groups_of(data))[1])
    monkeypatch.setattr(pq, "read_metadata", lambda data: (read.append(len(looked)), read_metadata(data))[1])
    monkeypatch.setattr(pq, "read_schema", None)
    load(study)
    assert (read, len(looked)) == ([1], 1)


@writes_levels
def test_a_part_of_a_run_with_such_a_footer_is_damaged(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", sweep.load({"sweep": {"axes": {"a0": {"from": 1.0, "to": 9.0, "count": 8}}}}))
    shard = RunDirectory(run.path).shard(0)
    data = shard.read_bytes()
    place = data.index(sealed_parquet.KEY)
    digits = sealed_parquet.find(data, place)
    unsealed = data[:digits] + sealed_parquet.BLANK + data[digits + len(sealed_parquet.BLANK) :]
    shard.write_bytes(sealed_parquet.seal(pa.py_buffer(contradictory(unsealed))))
    sealed_parquet.verify(shard)
    with pytest.raises(DamageError, match="its footer contradicts itself"):
        sealed_parquet.read_metadata(shard, chunks=True)
    with pytest.raises(sweep.ConfigError, match="its footer contradicts itself"):
        Rows(run.path)


@pytest.mark.parametrize("behind", ["a byte", "zeros", "a sound footer"])
def test_bytes_behind_a_footer_are_refused(behind: str, tmp_path: Path) -> None:
    data, path = contradictory(written(pa.table({"a": np.arange(9.0)}))), tmp_path / "table.parquet"
    sound = written(pa.table([np.arange(9.0)], pa.schema([pa.field("a", pa.float64(), nullable=False)])), store_schema=False)
    others = {"a byte": b"\0", "zeros": bytes(4000), "a sound footer": bytes(8) + footer_of(sound)}[behind]
    path.write_bytes(with_footer(data, footer_of(data) + others))
    assert pq.read_metadata(path).serialized_size < len(footer_of(path.read_bytes()))
    with pytest.raises(UnreadableError, match=parquet_footer.WRONG):  # pyarrow ends the process where it describes the chunk
        tables.read_parquet(path)
    path.write_bytes(data[:-8] + (len(data) - 7).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(UnreadableError, match="it is cut short, or no Parquet file"):
        tables.read_parquet(path)


def test_chunks_that_moved_to_another_group_are_refused() -> None:
    data = written(pa.table({"a": np.arange(4.0), "b": ["x"] * 4}), row_group_size=2)
    metadata, groups = pq.read_metadata(io.BytesIO(data)), parquet_footer.groups_of(data)
    parquet_footer.check(groups, metadata, 1000)
    for moved in ([[*groups[0], groups[1][0]], groups[1][1:]], groups[:1], [groups[0][::-1], groups[1]]):
        with pytest.raises(FooterError, match=parquet_footer.WRONG):
            parquet_footer.check(moved, metadata, 1000)


# What follows the first field of a footer, its version, and takes the place of the rest: each is refused at once.
HOSTILE = {
    "a structure that ends with 0x10": b"\x10", "no end": b"", "a list of 2^31 doubles": b"\xf9\xf7\xff\xff\xff\xff\x07\x00",
    "a list of 2^69 doubles": b"\xf9\xf7" + b"\xff" * 9 + b"\x07\x00", "items of kind 0": b"\xf9\x30" + bytes(4),
    "a double cut short": b"\xf7\x00", "a text beyond the end": b"\x58\x7f\x00", "2^35 bytes of text": b"\x58" + b"\x80" * 5 + b"\x01\x00",
    "2^31 bytes of text": b"\x58\xff\xff\xff\xff\x07\x00", "a number of 80 bits": b"\x26" + b"\xff" * 11 + b"\x01\x00",
    "a version again": b"\x05\x02\x04\x00", "a version as a text": b"\x08\x02\x00\x00", "groups as a set": b"\x3a\x0c\x00",
    "groups of numbers": b"\x39\x15\x02\x00", "a map": b"\xfb\x00\x00", "lists in lists": b"\xf9" + b"\x19" * 5000 + b"\x00",
    "structures in structures": b"\xfc" + b"\x1c" * 5000 + bytes(5001), "kind 13": b"\xfd" + bytes(17),
    "field 2^15 of 16 bits": b"\x05\xfe\xff\x03\x00\x15\x00\x00", "field 0": b"\x05\x00\x00\x00", "field -3": b"\x05\x05\x00\x00",
    "groups again after 2^16 fields": b"\x39\x0c\x05\xfe\xff\x03\x00" + b"\xf5\x00" * 2184 + b"\xb5\x00\x19\x1c\x00\x00",
}  # fmt: skip


@pytest.mark.parametrize("rest", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_thrift_would_not_read_is_refused_at_once(rest: bytes) -> None:
    start = time.process_time()
    with pytest.raises(FooterError):
        parquet_footer.groups_of(with_footer(bytes(8), b"\x15\x04" + rest))
    assert time.process_time() - start < 0.1
    assert parquet_footer.groups_of(with_footer(bytes(8), b"\x15\x04" + b"\x00")) == []  # alone, the first field is read


def nested(count: int) -> bytes:
    """A file without rows whose schema has so many elements in each other: its root, groups, and a column of whole numbers."""
    elements = b"\x48\x01s\x15\x02\x00" + b"\x35\x00\x18\x01g\x15\x02\x00" * (count - 2) + b"\x15\x02\x25\x00\x18\x01x\x00"
    size = bytes([count & 127 | 128, count >> 7 & 127 | 128, count >> 14])
    return with_footer(b"PAR1" + bytes(8), b"\x15\x04\x19\xfc" + size + elements + b"\x16\x00\x19\x0c\x00")


def test_a_schema_that_is_nested_too_deeply_is_refused_before_pyarrow_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "basis.parquet"
    assert parquet_footer.groups_of(nested(100)) == []
    assert pq.read_metadata(io.BytesIO(nested(100))).num_columns == 1
    monkeypatch.setattr(pq, "read_metadata", None)  # older releases of pyarrow end the process
    monkeypatch.setattr(pq, "ParquetFile", None)
    for count in (101, 20_000):
        path.write_bytes(nested(count))
        for read in (tables.read_parquet, basis_files.READERS[".parquet"]):
            with pytest.raises(FooterError, match="its schema is nested too deeply: at most 100"):
                read(path)
        for reader in (sealed_parquet.decode, sealed_parquet.read_metadata):
            with pytest.raises(DamageError, match="its schema is nested too deeply: at most 100"):
                reader(nested(count))


def test_elements_beside_each_other_are_not_nested() -> None:
    parquet_footer.check_nesting([200, *[0] * 200])
    parquet_footer.check_nesting([3, *[1] * 98, 0, *[1] * 98, 0, 0])
    for children in ([3, *[1] * 98, 0, *[1] * 99, 0, 0], [2, *[1] * 100]):
        with pytest.raises(FooterError, match="nested too deeply"):
            parquet_footer.check_nesting(children)


@pytest.mark.parametrize("item", [b"", b"\x15\x02"], ids=["empty", "with a number"])
def test_the_work_for_a_footer_is_bounded(item: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_footer, "MOST_PARTS", 4000)
    lists = b"".join(b"\xf9\xfc\x64" + 100 * (item + b"\x00") for _ in range(20))  # of a field that Parquet has not
    start = time.process_time()
    with pytest.raises(FooterError, match="its footer has more than 4,000 values"):
        parquet_footer.groups_of(with_footer(bytes(8), b"\x15\x04" + lists + b"\x00"))
    assert time.process_time() - start < 0.1


@pytest.mark.parametrize(("bound", "columns", "chunks", "said"), [
    ("MOST_CHUNKS", 1, 20, "it has 40 chunks of columns: at most 10"), ("MOST_ELEMENTS", 20, 1, "its schema has 21 elements: at most 10"),
    ("MOST_PARTS", 1, 20, "its footer has more than 10 values"),
])  # fmt: skip
def test_arrow_is_not_asked_for_a_footer_beyond_the_bounds(
    bound: str, columns: int, chunks: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_footer, bound, 10)
    for name in ("ParquetFile", "read_metadata", "read_table", "read_schema"):
        monkeypatch.setattr(pq, name, lambda *_, **__: pytest.fail("Arrow is asked"))
    path, data = tmp_path / "a.parquet", long_footer(columns, chunks, 2)
    path.write_bytes(data)
    with pytest.raises(sweep.ConfigError, match=said):
        read_basis(path)
    with pytest.raises(UnreadableError, match=said):
        tables.read_parquet(path)
    with pytest.raises(UnreadableError, match=said):
        tables.read_footer(path)
    for decode in (sealed_parquet.decode, sealed_parquet.read_metadata):
        with pytest.raises(DamageError, match=said):
            decode(data)
