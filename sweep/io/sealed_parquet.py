"""Parquet files with checksums of their own: any byte that changes after the file was written is noticed by the reader.

The footer holds two SHA-256 checksums in hexadecimal digits: one of the whole file, one of the footer alone, so that a reader of metadata
need not read the rows. The digits themselves count as 0 in both. Pages have the CRC-32 of the Parquet format as well, which other readers
can verify (pyarrow: `page_checksum_verification=True`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sweep.io.files import read_bytes, require_regular

KEY = b"tribosweep_sha256"
DIGITS = 64  # of one checksum
BLANK = b"0" * (2 * DIGITS)
PLACE = {KEY.decode(): BLANK.decode()}  # the metadata in whose place the checksums are written
HEADER = b"\x18\x80\x01"  # of a text of 128 bytes in Thrift's compact protocol, the format of the footer
MAGIC = b"PAR1"
TAIL = 8  # bytes at the end: length of the footer, MAGIC

CHANGED = "its bytes are not those that were written (the checksum differs)"
CUT = "it is cut short, or no Parquet file"
FOREIGN = "it was not written by tribosweep, or by an older version"


class DamageError(ValueError):
    """A file that is not as it was written; the message is a clause that begins with "it" or "its"."""


def to_bytes(table: pa.Table) -> bytes:
    """The Parquet file of a small table, with checksums."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema, write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(PLACE)
    return seal(sink.getvalue())


def seal(file: pa.Buffer) -> bytes:
    """Write the checksums into a Parquet file whose metadata hold PLACE."""
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
    """The table in the bytes of a verified file."""
    with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
        return file.read(None if columns is None else list(columns))


def verified(path: Path) -> bytes:
    """The bytes of a file, verified; errors as `read`."""
    return require_whole(read_bytes(path))


def require_whole(data: bytes) -> bytes:
    """The bytes of a file; DamageError if they are not as they were written."""
    footer = footer_of(data)
    place = find(data, footer)
    if data[place : place + len(BLANK)] != checksum(data, 0, place) + checksum(data, footer, place):
        raise DamageError(CHANGED)
    return data


def read_metadata(source: Path | bytes) -> pq.FileMetaData:
    """The metadata of a file, of which only the footer is read and verified, or of the bytes of a verified file; errors as `read`."""
    if isinstance(source, bytes):
        return pq.read_metadata(pa.BufferReader(source))
    require_regular(source)
    with source.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        tail = file.read()
        length = int.from_bytes(tail[:4], "little")
        if len(tail) < TAIL or tail[4:] != MAGIC or length > size - TAIL:
            raise DamageError(CUT)
        file.seek(size - TAIL - length)
        data = file.read()
    place = find(data, 0)
    if data[place + DIGITS : place + len(BLANK)] != checksum(data, 0, place):
        raise DamageError(CHANGED)
    return pq.read_metadata(pa.BufferReader(MAGIC + data))
