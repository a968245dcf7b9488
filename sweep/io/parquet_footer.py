"""The chunks of columns in the footer of a Parquet file, looked at before Arrow describes them.

Where the footer contradicts itself, `RowGroupMetaData.column` of pyarrow raises an exception of C++ that ends the process. Thrift's compact
protocol: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md; numbers of fields: parquet.thrift in
https://github.com/apache/parquet-format.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow.parquet as pq

TAIL = 8  # bytes at the end of a file: the length of its footer, and a mark
MOST_CHUNKS = 100_000  # in a file, each of which takes about 20 microseconds to look at
MOST_FIELD = 1000  # number of a field; Parquet has less than 20 in a structure
BINARY, LIST, SET, MAP, STRUCT = 8, 9, 10, 11, 12  # kinds of values; 1 and 2 are true and false, 3 a byte, 4 to 6 integers, 7 a double
I32, I64 = 5, 6
GROUPS, CHUNKS, OF_CHUNK, KIND, VALUES, STATISTICS, SIZES = 4, 1, 3, 1, 5, 12, 16  # fields
ENCRYPTED = frozenset({8, 9})  # fields of a chunk
LISTS = {  # field -> kind of what it lists, of a file, a group of rows, a chunk, its sizes
    "file": {2: STRUCT, GROUPS: STRUCT, 5: STRUCT, 7: STRUCT},
    "group": {CHUNKS: STRUCT, 4: STRUCT},
    "chunk": {2: I32, 3: BINARY, 8: STRUCT, 13: STRUCT},
    "sizes": {2: I64, 3: I64},
}
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": None, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": None, "FIXED_LEN_BYTE_ARRAY": None}
TYPES = [*WIDTHS]  # physical types in the order of their numbers -> bytes of a value, or None where statistics do not matter
WRONG = "its footer contradicts itself"


def fault(data: bytes, metadata: pq.FileMetaData, most_values: int) -> str:
    """What is wrong with the chunks of columns of a Parquet file; empty if pyarrow can describe each of them.

    Args:
        data: the file, or its end with the whole footer. metadata: what pyarrow has read of it.
        most_values: the largest number of values of a chunk.

    Returns:
        A clause that begins with "it" or "its".
    """
    if (count := metadata.num_row_groups * metadata.num_columns) > MOST_CHUNKS:
        what = f"{metadata.num_row_groups:,} groups of rows of {metadata.num_columns:,} columns"
        return f"it has {what}: at most {MOST_CHUNKS:,} chunks of columns are read"
    start = len(data) - TAIL - int.from_bytes(data[-TAIL:-4], "little")
    try:
        footer, _ = read_struct(data, start)
        groups = listed(footer, "file").get(GROUPS, [])
        chunks = [chunk for group in groups for chunk in listed(group, "group")[CHUNKS]]
        if len(chunks) != count:
            return WRONG
        columns = [metadata.schema.column(place) for place in range(metadata.num_columns)]
        known = [(each.physical_type, each.max_repetition_level + 1, each.max_definition_level + 1) for each in columns]
        for place, chunk in enumerate(chunks):
            if not is_sound(chunk, *known[place % len(known)]):
                return WRONG
            if (values := chunk[OF_CHUNK][VALUES]) > most_values:
                return f"it has {values:,} values in a column: at most {most_values:,} are read"
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError, struct.error):
        return WRONG
    return ""


def is_sound(chunk: dict[int, Any], kind: str, repeated: int, defined: int) -> bool:
    """Whether pyarrow can describe a chunk of a physical type whose repetition and definition have so many levels."""
    about = chunk[OF_CHUNK]
    listed(about, "chunk")
    sizes = about.get(SIZES, {})
    histograms = listed(sizes, "sizes")
    statistics, width = about.get(STATISTICS, {}), WIDTHS[kind]
    ends = [statistics[number] for number in (1, 2, 5, 6) if number in statistics]
    return (
        ENCRYPTED.isdisjoint(chunk)
        and TYPES.index(kind) == about[KIND]
        and (1 not in sizes or kind == "BYTE_ARRAY")
        and len(histograms.get(2, ())) in (0, repeated)
        and len(histograms.get(3, ())) in (0, defined)
        and (width is None or {*map(len, ends)} <= {width})
    )


def listed(fields: dict[int, Any], what: str) -> dict[int, list[Any]]:
    """The lists of a structure; ValueError if one lists what it never does, since Arrow does not look at the kinds of what is listed."""
    found: dict[int, list[Any]] = {}
    for number, expected in LISTS[what].items():
        if number in fields:
            kind, found[number] = fields[number]
            if kind != expected and found[number]:
                raise ValueError(WRONG)
    return found


def read_struct(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """A structure as number of a field -> value, and the place behind it; ValueError or IndexError if it is none."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        if head > 15:
            number += head >> 4
        else:
            number, at = read_integer(data, at)
        if number in fields or not 0 <= number <= MOST_FIELD:
            raise ValueError(WRONG)
        kind = head & 15
        if 3 < kind < 7 and (byte := data[at]) < 128:  # most fields are short integers
            fields[number] = (byte >> 1) ^ -(byte & 1)
            at += 1
        elif kind == BINARY and (at + 1 + (byte := data[at]) < len(data)) and byte < 128:
            fields[number] = data[at + 1 : at + 1 + byte]
            at += 1 + byte
        elif kind < 3:
            fields[number] = kind == 1
        else:
            fields[number], at = read_value(data, at, kind)
    return fields, at + 1


def read_value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """A value of a kind, and the place behind it: lists as (kind, items), other texts than lists as bytes; errors as `read_struct`."""
    if 3 < kind < 7:
        return read_integer(data, at)
    if kind == BINARY:
        length, at = read_count(data, at)
        if at + length > len(data):
            raise ValueError(WRONG)
        return data[at : at + length], at + length
    if kind == STRUCT:
        return read_struct(data, at)
    if kind in (LIST, SET):
        head, count, items = data[at], data[at] >> 4, []
        at += 1
        if count == 15:
            count, at = read_count(data, at)
        kind = head & 15
        for _ in range(count):
            item, at = read_struct(data, at) if kind == STRUCT else read_value(data, at, kind)
            items.append(item)
        return (kind, items), at
    if kind in (1, 2, 3):
        return data[at], at + 1
    if kind == 7:
        return None, at + 8
    raise ValueError(WRONG)  # maps, which Parquet has not


def read_count(data: bytes, at: int) -> tuple[int, int]:
    """A whole number without sign, and the place behind it; errors as `read_struct`."""
    value = data[at]
    at += 1
    if value < 128:
        return value, at
    value &= 127
    for shift in range(7, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError(WRONG)


def read_integer(data: bytes, at: int) -> tuple[int, int]:
    """A whole number with its sign, and the place behind it; errors as `read_struct`."""
    value, at = read_count(data, at)
    return (value >> 1) ^ -(value & 1), at
