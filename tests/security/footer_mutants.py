"""Parquet files whose footers are changed at random, and what becomes of them.

`python -m tests.security.footer_mutants SEED COUNT FOLDER` takes so many in one process in each of four ways, and prints as JSON how
many had which end:

- `read`: by the reader of tables from other hands; `basis`: by that of modal bases;
- `decode`: as a part of a run with right checksums;
- `describe`: as pyarrow describes the chunks of a footer that is not refused.
"""

from __future__ import annotations

import io
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tribosweep.sweep.io import parquet_footer, sealed_parquet, tables
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.structure import basis_files

OPTIONAL, REQUIRED = b"\x25\x02\x18", b"\x25\x00\x18"  # in the schema of a footer, before the name of a column
NUMBERS = ("INT32", "INT64", "FLOAT", "DOUBLE")
BYTES = (0, 1, 2, 3, 4, 9, 15, 16, 21, 22, 25, 28, 32, 255)  # heads of fields and lists, ends, long numbers


def contradictory(data: bytes) -> bytes:
    """A Parquet file whose columns have no cell without a value, though its chunks count such cells (not those of pyarrow 19)."""
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


def footer_of(data: bytes) -> bytes:
    """The footer of a file."""
    return data[-8 - int.from_bytes(data[-8:-4], "little") : -8]


def with_footer(data: bytes, footer: bytes, length: int | None = None) -> bytes:
    """A file with another footer, which the file says to have so many bytes."""
    stated = len(footer) if length is None else length
    return data[: -8 - len(footer_of(data))] + footer + stated.to_bytes(4, "little") + b"PAR1"


def long_footer(columns: int, chunks: int, groups: int) -> bytes:
    """A Parquet file of many columns, or of groups without rows, each of which has many chunks that say nothing."""
    elements = b"".join(b"\x15\x0a%%\x00\x18\x07c%06d\x00" % number for number in range(columns))
    schema = b"\x19\xfc" + long_number(columns + 1) + b"\x48\x01r\x15" + long_number(2 * columns) + b"\x00" + elements
    group = b"\x19\xfc" + long_number(chunks) + b"\x26\x00\x00" * chunks + b"\x16\x00\x16\x00\x00"
    footer = b"\x15\x04" + schema + b"\x16\x00\x19\xfc" + long_number(groups) + group * groups + b"\x00"
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def long_number(number: int) -> bytes:
    """A number without sign in Thrift's compact protocol, of four bytes."""
    return bytes([number & 127 | 128, number >> 7 & 127 | 128, number >> 14 & 127 | 128, number >> 21 & 127])


def changed(rng: random.Random, data: bytes) -> bytes:
    """A file whose footer has other, more or fewer bytes, or another length."""
    footer = bytearray(footer_of(data))
    at = rng.randrange(len(footer))
    how = rng.randrange(10)
    if how < 6:
        for _ in range(rng.choice((1, 1, 2, 3))):
            footer[rng.randrange(len(footer))] = rng.choice((*BYTES, rng.randrange(256), rng.randrange(256)))
    elif how == 6:
        footer[at:at] = rng.randbytes(rng.choice((1, 1, 2, 5)))
    elif how == 7:
        del footer[at : at + rng.choice((1, 1, 2, 5))]
    elif how == 8:
        footer += rng.choice((b"\0", rng.randbytes(3), bytes(30), bytes(footer)))
    else:
        first = rng.randrange(len(footer))
        footer[at:at] = footer[first : first + rng.randrange(60)]
    near = (len(footer) - 1, len(footer) + 1, len(footer) // 2, 0, len(data) - 8, len(data) - 7, 2**31, 2**32 - 1)
    return with_footer(data, bytes(footer), rng.choice(near) if rng.random() < 0.1 else None)


def describe(metadata: pq.FileMetaData) -> int:
    """Ask pyarrow for all that the product asks of chunks; how many of them have ends."""
    ends = []
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            assert min(chunk.num_values, chunk.total_uncompressed_size) >= 0
            if chunk.physical_type in NUMBERS and chunk.is_stats_set and chunk.statistics.has_min_max:
                with suppress(pa.ArrowNotImplementedError):  # of whole numbers that stand for decimal ones; pyarrow 19
                    ends.append((chunk.statistics.min, chunk.statistics.max))
    return len(ends)


def described(data: bytes, _: Path) -> None:
    """Describe a file whose footer is not refused."""
    groups, metadata = parquet_footer.groups_of(data), pq.read_metadata(io.BytesIO(data))
    parquet_footer.check(groups, metadata, 1000)
    describe(metadata)


def read(data: bytes, path: Path) -> None:
    """Read a file as a table of another hand."""
    path.write_bytes(data)
    for _ in tables.read_parquet(path).pieces:
        pass


def read_basis(data: bytes, path: Path) -> None:
    """Read a file as a basis."""
    path.write_bytes(data)
    basis_files.read_basis(path)


WAYS: dict[str, Callable[[bytes, Path], object]] = {
    "read": read, "basis": read_basis, "decode": lambda data, _: sealed_parquet.decode(data), "describe": described,
}  # fmt: skip


def bases(how: str) -> list[bytes]:
    """Sound files, and some that contradict themselves."""
    if how == "basis":
        modes = pa.table({"frequency": [1.0, 2.0, 3.0], "tip.x": [1.0, 0.5, 0.2], "tip.y": [0.0, 0.1, 0.2]})
        sound = [written(modes, row_group_size=size) for size in (2, 3)]
    else:
        table = of_all_kinds(12)
        hows = [{}, {"write_page_index": True}, {"compression": "none", "use_dictionary": False}]
        sound = [written(table, row_group_size=size, store_schema=False, **each) for size, each in zip((6, 12, 5), hows, strict=True)]
    return [*sound, sound[0], contradictory(sound[1])]


def ends_of(how: str, seed: int, count: int, folder: Path) -> Counter[str]:
    """What becomes of so many mutants; any other exception than those of a refusal passes."""
    found: Counter[str] = Counter()
    kinds = bases(how)
    for number in range(seed, seed + count):  # each that ends the process ends this test
        rng = random.Random(number)
        try:
            WAYS[how](changed(rng, kinds[number % len(kinds)]), folder / "mutant.parquet")
        except (ConfigError, ValueError, OSError, pa.ArrowException, OverflowError) as error:
            found[parquet_footer.WRONG if parquet_footer.WRONG in str(error) else "refused"] += 1
        else:
            found["read"] += 1
    return found


if __name__ == "__main__":
    print(json.dumps({how: ends_of(how, int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])) for how in WAYS}))
