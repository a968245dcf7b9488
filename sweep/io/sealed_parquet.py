"""Parquet files with checksums of their own: any byte that changes after the file was written is noticed by the reader.

The footer holds two SHA-256 checksums in hexadecimal digits: one of the whole file, one of the footer alone, so that a reader of metadata
need not read the rows. The digits themselves count as 0 in both. Pages have the CRC-32 of the Parquet format as well, which other readers
can verify (pyarrow: `page_checksum_verification=True`).
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from tribosweep.sweep.io import parquet_footer, system
from tribosweep.sweep.io.errors import cut, shorten
from tribosweep.sweep.io.files import MEBIBYTE, MOST_FOOTER, MOST_TABLE, require_regular

KEY = b"tribosweep_sha256"
DIGITS = 64  # of one checksum
BLANK = b"0" * (2 * DIGITS)
PLACE = {KEY.decode(): BLANK.decode()}  # the metadata in whose place the checksums are written
HEADER = b"\x18\x80\x01"  # of a text of 128 bytes in Thrift's compact protocol, the format of the footer
MAGIC = b"PAR1"
MOST_ROWS = MOST_VALUES = 2**28  # of a file, and of a column in a group of rows: 2 GiB of numbers
SHORT = MEBIBYTE  # bytes of a footer that cannot ask for much memory, whatever it says
TAIL = 8  # bytes at the end: length of the footer, MAGIC

CHANGED = "its bytes are not those that were written (the checksum differs)"
CUT = "it is cut short, or no Parquet file"
FOREIGN = "it was not written by tribosweep, or by an older version"


class DamageError(ValueError):
    """A file that is not as it was written; the message is a clause that begins with "it" or "its"."""


def to_bytes(table: pa.Table) -> bytes:
    """The Parquet file of a small table, with checksums; a number that is none is null."""
    import pyarrow.compute as pc

    columns = [pc.if_else(pc.is_nan(each), None, each) if pa.types.is_floating(each.type) else each for each in table.columns]
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema, write_page_checksum=True) as writer:
        writer.write_table(pa.Table.from_arrays(columns, schema=table.schema))
        writer.add_key_value_metadata(PLACE)
    return seal(sink.getvalue())


def seal(file: pa.Buffer) -> bytes:
    """Write the checksums into a Parquet file whose metadata hold PLACE; OSError if it is larger than any that is read."""
    if file.size > MOST_TABLE:
        message = f"a file of the results has {file.size:,} bytes, at most {MOST_TABLE:,} are read: take fewer points (output.shard_points)"
        raise OSError(errno.EFBIG, message)
    data = bytearray(file)
    footer = footer_of(data)
    place = find(data, footer)
    data[place : place + len(BLANK)] = checksum(data, 0, place) + checksum(data, footer, place)
    return bytes(data)


def footer_of(data: bytes | bytearray) -> int:
    """The position of the footer in a Parquet file, or in its end; DamageError if there is none."""
    length = int.from_bytes(data[-TAIL:-4], "little")
    if len(data) < TAIL or data[-4:] != MAGIC or length > len(data) - TAIL:
        raise DamageError(CUT)
    return len(data) - TAIL - length


def find(data: bytes | bytearray, footer: int) -> int:
    """The position of the checksums in a footer; DamageError if there are none."""
    place = data.rfind(KEY + HEADER, footer)
    if place < 0:
        raise DamageError(FOREIGN)
    return place + len(KEY + HEADER)


def checksum(data: bytes | bytearray, first: int, place: int) -> bytes:
    """SHA-256 of the bytes from position `first` on in hexadecimal digits; the checksums themselves, at `place`, count as 0."""
    view = memoryview(data)
    found = hashlib.sha256(view[first:place])
    found.update(BLANK)
    found.update(view[place + len(BLANK) :])
    return found.hexdigest().encode()


def read(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file with all or the named columns, after its checksum is verified.

    Raises:
        OSError: it cannot be read. DamageError: it is not as it was written.
    """
    return decode(verified(path), columns)


def decode(data: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """The table in the bytes of a verified file; DamageError if they are none that Arrow reads, whatever their checksum says.

    Arrow looks at the chunks itself, and what it raises there does not end the process.
    """
    require_bounded(data)
    try:
        with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
            why = too_much(data, file.metadata)
            table = None if why else file.read(None if columns is None else list(columns))
        if table is not None:
            table.validate(full=True)  # text may be no UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamageError(unreadable(error)) from error
    if table is None:
        raise DamageError(why)
    return table


def require_bounded(data: bytes) -> None:
    """DamageError if a long footer, at the end of the data, is refused: Arrow takes a kilobyte for a chunk of three bytes."""
    if int.from_bytes(data[-TAIL:-4], "little") > SHORT:
        try:
            parquet_footer.groups_of(data)
        except parquet_footer.FooterError as error:
            raise DamageError(str(error)) from error


def too_much(data: bytes, metadata: pq.FileMetaData) -> str:
    """Why a file has more than is read, as a clause that begins with "it" or "its"; empty if it has not. Only lists need the chunks."""
    rows = max(metadata.num_rows, sum(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)))
    if rows > MOST_ROWS:
        return f"it has {rows:,} rows: at most {MOST_ROWS:,} are read"
    lists = any(metadata.schema.column(place).max_repetition_level for place in range(metadata.num_columns))
    return parquet_footer.fault(data, metadata, MOST_VALUES) if lists else ""


def require(table: pa.Table, kinds: Mapping[str, pa.DataType], *, whole: Collection[str] = ()) -> pa.Table:
    """A table of which the named columns have the types that its reader expects.

    Args:
        table: the table. kinds: name -> type. whole: names of the columns without empty cells.

    Raises:
        DamageError: a column is missing, has another type, or has empty cells.
    """
    for name, kind in kinds.items():
        if table.column_names.count(name) != 1:
            raise DamageError(f"it has {'two columns' if name in table.column_names else 'no column'} {shorten(name)}")
        if (found := table.schema.field(name).type) != kind:
            raise DamageError(f"its column {shorten(name)} has the type {cut(str(found), 60)}, not {kind}")
        if name in whole and table.column(name).null_count:
            raise DamageError(f"its column {shorten(name)} has empty cells")
    return table


def unreadable(error: Exception) -> str:
    """Why a file with the right checksum cannot be read."""
    return f"it is no Parquet file that Arrow reads: {cut(' '.join(str(error).split()), 200)}"


def verified(path: Path) -> bytes:
    """The bytes of a file, verified; errors as `read`. One that is too large, or whose footer is not intact, is not read."""
    with opened(path) as (file, size):
        read_footer(file, size)
        file.seek(0)
        data = file.read(size)
    if len(data) != size:
        raise DamageError(CHANGED)
    return require_whole(data)


def require_whole(data: bytes) -> bytes:
    """The bytes of a file; DamageError if they are not as they were written."""
    footer = footer_of(data)
    place = find(data, footer)
    if data[place : place + len(BLANK)] != checksum(data, 0, place) + checksum(data, footer, place):
        raise DamageError(CHANGED)
    return data


def verify(path: Path, *, chunks: bool = False) -> pq.FileMetaData:
    """The metadata of a file, after every byte is verified, with little of it in memory at a time; as `read_metadata`."""
    with opened(path) as (file, size):
        footer = read_footer(file, size)
        file.seek(0)
        place = find(footer, 0)
        told, left = hashlib.sha256(), size - len(footer)
        while left and (piece := file.read(min(left, MEBIBYTE))):
            told.update(piece)
            left -= len(piece)
    told.update(footer[:place] + BLANK + footer[place + len(BLANK) :])
    if left or footer[place : place + DIGITS] != told.hexdigest().encode():
        raise DamageError(CHANGED)
    return decode_metadata(MAGIC + footer, chunks=chunks)


def read_metadata(source: Path | bytes, *, chunks: bool = False) -> pq.FileMetaData:
    """The metadata of a file, of which only the footer is read and verified, or of the bytes of a verified file; errors as `read`.

    Args:
        source: the file, or its bytes. chunks: whether pyarrow will be asked for the chunks of columns, which ends the process if they are
            unsound; DamageError then.
    """
    if isinstance(source, bytes):
        return decode_metadata(source, chunks=chunks)
    with opened(source) as (file, size):
        footer = read_footer(file, size)
    return decode_metadata(MAGIC + footer, chunks=chunks)


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """A file that tribosweep may have written, open, and its size; OSError if it is no regular file, DamageError if it is too large."""
    size = require_regular(path).st_size
    if size > MOST_TABLE:
        raise DamageError(f"it has {size:,} bytes, and tribosweep writes at most {MOST_TABLE:,}")
    with os.fdopen(system.open_to_read(path), "rb") as file:
        yield file, size


def read_footer(file: IO[bytes], size: int) -> bytes:
    """The end of a file from its footer on, verified; DamageError if it is not intact."""
    file.seek(max(0, size - TAIL))
    tail = file.read(TAIL)
    length = int.from_bytes(tail[:4], "little")
    if len(tail) < TAIL or tail[4:] != MAGIC or length > size - TAIL:
        raise DamageError(CUT)
    if length > MOST_FOOTER:
        raise DamageError(f"its footer has {length:,} bytes, and tribosweep writes at most {MOST_FOOTER:,}")
    file.seek(size - TAIL - length)
    data = file.read(length + TAIL)
    place = find(data, 0)
    if data[place + DIGITS : place + len(BLANK)] != checksum(data, 0, place):
        raise DamageError(CHANGED)
    return data


def decode_metadata(data: bytes, *, chunks: bool) -> pq.FileMetaData:
    """The metadata in the bytes of a verified file or of its footer, as `read_metadata`; DamageError as `decode`."""
    require_bounded(data)
    try:
        metadata = pq.read_metadata(pa.BufferReader(data))
        metadata.schema.to_arrow_schema()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamageError(unreadable(error)) from error
    if chunks and (why := parquet_footer.fault(data, metadata, MOST_VALUES)):
        raise DamageError(why)
    return metadata
