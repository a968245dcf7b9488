"""The footer of a Parquet file: its place, and the schema and chunks of columns in it, looked at before Arrow describes them.

Where the footer contradicts itself, `RowGroupMetaData.column` of pyarrow raises an exception of C++ that ends the process; older releases
also end it where the schema is nested deeply. Thrift's compact protocol:
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md; numbers of fields: parquet.thrift in
https://github.com/apache/parquet-format.

What is accepted here is read by Thrift in the same way: a known field has the kind that Parquet gives it (Thrift would skip it otherwise),
no field occurs twice, numbers fit their width, those of fields too, a structure ends with a byte of 0, and the footer ends where the file
says.
"""

from __future__ import annotations

from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from tribosweep.sweep.io.foreign import UnreadableError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

TAIL = 8  # bytes at the end of a file: the length of its footer, and MAGIC
MAGIC = b"PAR1"
SIGNATURE = 28  # bytes behind a footer that is signed
MOST_CHUNKS = 100_000  # in a file, each of which takes about 20 microseconds to look at
SHORT = 2**18  # bytes of a footer that is remembered
MOST_ELEMENTS = 2**17  # of a schema: columns, and what lists and structures consist of
MOST_PARTS = 2**24  # values in a footer, where a structure counts as STRUCTURE_PARTS of them; a chunk has about a hundred
STRUCTURE_PARTS = 4
MOST_DEPTH = 24  # of structures and lists in each other; Parquet has 9
MOST_NESTED = 100  # elements of the schema in each other, its root and a column among them, as newer releases of pyarrow have it

# Kinds of values.
TRUE = 1
FALSE = 2
BYTE = 3
I16 = 4
I32 = 5
I64 = 6
DOUBLE = 7
BINARY = 8
LIST = 9
SET = 10
STRUCT = 12
INTEGER_BITS = {I16: 16, I32: 32, I64: 64}
FIXED_BYTES = {TRUE: 1, FALSE: 1, BYTE: 1, DOUBLE: 8}  # of a value that is in a list

# Numbers of fields: of the file, of an element of its schema, of a group of rows, of a chunk, of the data of a chunk, of their sizes.
SCHEMA = 2
GROUPS = 4
ALGORITHM = 8
CHILDREN = 5
CHUNKS = 1
CHUNK_DATA = 3
ENCRYPTED = frozenset({8, 9})
KIND = 1
VALUES = 5
BYTES = 6
STATISTICS = 12
SIZES = 16
ENDS = (1, 2, 5, 6)  # of the statistics
TEXT_BYTES = 1
REPETITIONS = 2
DEFINITIONS = 3
LARGEST_NUMBER = 2**15 - 1  # Thrift counts with 16 bits: the number after it would be negative

# Number of a field -> its kind, and what it lists or has as fields, None if that is passed over.
Shape = dict[int, tuple[int, Any]]
STATISTICS_SHAPE: Shape = dict.fromkeys(ENDS, (BINARY, None)) | {3: (I64, None), 4: (I64, None), 7: (TRUE, None), 8: (TRUE, None)}
SIZES_SHAPE: Shape = {TEXT_BYTES: (I64, None), REPETITIONS: (LIST, (I64, None)), DEFINITIONS: (LIST, (I64, None))}
PLACES_SHAPE: Shape = {1: (STRUCT, None), 2: (LIST, (I32, None))}  # statistics of geometry
DATA_SHAPE: Shape = {
    **dict.fromkeys((VALUES, BYTES, 7, 9, 10, 11, 14), (I64, None)), KIND: (I32, None), 2: (LIST, (I32, None)), 3: (LIST, (BINARY, None)),
    4: (I32, None), 8: (LIST, (STRUCT, None)), STATISTICS: (STRUCT, STATISTICS_SHAPE), 13: (LIST, (STRUCT, None)), 15: (I32, None),
    SIZES: (STRUCT, SIZES_SHAPE), 17: (STRUCT, PLACES_SHAPE),
}  # fmt: skip
CHUNK_SHAPE: Shape = {
    1: (BINARY, None), 2: (I64, None), CHUNK_DATA: (STRUCT, DATA_SHAPE), 4: (I64, None), 5: (I32, None), 6: (I64, None), 7: (I32, None),
    8: (STRUCT, None), 9: (BINARY, None),
}  # fmt: skip
GROUP_SHAPE: Shape = {
    CHUNKS: (LIST, (STRUCT, CHUNK_SHAPE)), 2: (I64, None), 3: (I64, None), 4: (LIST, (STRUCT, None)), 5: (I64, None), 6: (I64, None),
    7: (I16, None),
}  # fmt: skip
ELEMENT_SHAPE: Shape = {
    **dict.fromkeys((1, 2, 3, CHILDREN, 6, 7, 8, 9), (I32, None)), 4: (BINARY, None), 10: (STRUCT, None),
}  # fmt: skip
FILE_SHAPE: Shape = {
    1: (I32, None), SCHEMA: (LIST, (STRUCT, ELEMENT_SHAPE)), 3: (I64, None), GROUPS: (LIST, (STRUCT, GROUP_SHAPE)),
    5: (LIST, (STRUCT, None)), 6: (BINARY, None), 7: (LIST, (STRUCT, None)), ALGORITHM: (STRUCT, None), 9: (BINARY, None),
}  # fmt: skip
VALUE_WIDTHS = {
    "BOOLEAN": 1,
    "INT32": 4,
    "INT64": 8,
    "INT96": None,
    "FLOAT": 4,
    "DOUBLE": 8,
    "BYTE_ARRAY": None,
    "FIXED_LEN_BYTE_ARRAY": None,
}  # physical types in the order of their numbers -> bytes of a value, or None where statistics do not matter
TYPES = [*VALUE_WIDTHS]
CUT = "it is cut short, or no Parquet file"
WRONG = "its footer contradicts itself"


class FooterError(UnreadableError):
    """A footer that is refused; the message is a clause that begins with "it" or "its"."""


class Chunk(NamedTuple):
    """A column in a group of rows, as the footer describes it.

    Attributes:
        kind: number of its physical type, None if there is none. values, size: how many values and bytes it has, -1 if that is not said.
        ends: bytes of the smallest and the largest value. texts: whether it counts the bytes of texts.
        repetitions, definitions: how many levels its sizes count; 0 if they do not.
    """

    kind: int | None
    values: int
    size: int
    ends: tuple[bytes, ...]
    texts: bool
    repetitions: int
    definitions: int


Groups = list[list[Chunk]]


def length_in(tail: bytes | bytearray, size: int) -> int:
    """Bytes of the footer of a file of `size` bytes that ends with `tail`; FooterError if it is no Parquet file, or cut short."""
    length = int.from_bytes(tail[-TAIL:-4], "little")
    if tail[-4:] != MAGIC or len(tail) < TAIL or length > size - TAIL:
        raise FooterError(CUT)
    return length


def end_of(file: IO[bytes], size: int, most: int) -> bytes:
    """The end of an open file of `size` bytes, from its footer on; FooterError as `length_in`, or for one of more than `most` bytes."""
    file.seek(max(0, size - TAIL))
    tail = file.read(TAIL)
    length = length_in(tail, size)
    if length > most:
        raise FooterError(f"its footer has {length:,} bytes: at most {most:,} are read")
    file.seek(size - TAIL - length)
    return file.read(length + TAIL)


def groups_of(data: bytes) -> Groups:
    """The chunks of each group of rows, by the footer at the end of a file; pyarrow may be given a file whose footer is not refused here.

    Raises:
        FooterError: Thrift would not read this footer, or read it otherwise; it or its schema is too long; its schema is nested too
            deeply; chunks are encrypted.
    """
    length = length_in(data, len(data))
    footer = bytes(data[len(data) - TAIL - length : -TAIL])
    return _groups_again(footer) if length <= SHORT else _groups_in(footer)


def _groups_in(data: bytes) -> Groups:
    """The chunks of each group of rows by a footer; errors as `groups_of`."""
    reader = Reader(data)
    try:
        footer, end = reader.structure(0, FILE_SHAPE, 0)
    except (IndexError, RecursionError):
        raise FooterError(WRONG) from None
    if reader.end - end != (SIGNATURE if ALGORITHM in footer else 0):
        raise FooterError(WRONG)
    check_nesting([element.get(CHILDREN, 0) for element in footer.get(SCHEMA, [])])
    groups = [group.get(CHUNKS, []) for group in footer.get(GROUPS, [])]
    if (count := sum(max(1, len(group)) for group in groups)) > MOST_CHUNKS:
        raise FooterError(f"it has {count:,} chunks of columns: at most {MOST_CHUNKS:,} are read; write larger groups of rows")
    if any(not ENCRYPTED.isdisjoint(chunk) for group in groups for chunk in group):
        raise FooterError("it has columns that are encrypted")
    return [[described(chunk.get(CHUNK_DATA, {})) for chunk in group] for group in groups]


_groups_again = lru_cache(maxsize=16)(_groups_in)  # a shard is looked at when it is verified, when its metadata are read, and decoded


def check_nesting(children: list[int]) -> None:
    """Check how deeply elements of a schema are nested, by the number of `children` of each, which follow it; FooterError if too deeply."""
    left: list[int] = []  # children to come of each element that contains the next one
    for count in children:
        if len(left) >= MOST_NESTED:
            raise FooterError(f"its schema is nested too deeply: at most {MOST_NESTED} elements in each other are read")
        left.append(count)
        while left and left[-1] <= 0:
            left.pop()
            if left:
                left[-1] -= 1


def described(data: dict[int, Any]) -> Chunk:
    """A chunk by the fields of its data."""
    sizes, statistics = data.get(SIZES, {}), data.get(STATISTICS, {})
    ends = tuple(statistics[number] for number in ENDS if number in statistics)
    levels = len(sizes.get(REPETITIONS, ())), len(sizes.get(DEFINITIONS, ()))
    return Chunk(data.get(KIND), data.get(VALUES, -1), data.get(BYTES, -1), ends, TEXT_BYTES in sizes, *levels)


def check(groups: Groups, metadata: pq.FileMetaData, most_values: int) -> None:
    """Compare the chunks with what pyarrow has read; FooterError if it cannot describe each of them, or one has too many values."""
    columns = [metadata.schema.column(place) for place in range(metadata.num_columns)]
    known = [(each.physical_type, each.max_repetition_level + 1, each.max_definition_level + 1) for each in columns]
    if len(groups) != metadata.num_row_groups or any(len(group) != len(known) for group in groups):
        raise FooterError(WRONG)
    for group in groups:
        for chunk, about in zip(group, known, strict=True):
            if not is_sound(chunk, *about):
                raise FooterError(WRONG)
            if chunk.values > most_values:
                raise FooterError(f"it has {chunk.values:,} values in a column: at most {most_values:,} are read")


def is_sound(chunk: Chunk, kind: str, repeated: int, defined: int) -> bool:
    """Whether pyarrow can describe a chunk of a physical type whose repetition and definition have so many levels."""
    width = VALUE_WIDTHS.get(kind)
    return (
        kind in TYPES
        and chunk.kind == TYPES.index(kind)
        and chunk.values >= 0
        and chunk.size >= 0
        and (not chunk.texts or kind == "BYTE_ARRAY")
        and chunk.repetitions in (0, repeated)
        and chunk.definitions in (0, defined)
        and (width is None or {*map(len, chunk.ends)} <= {width})
    )


class Reader:
    """Thrift's compact protocol over the bytes of a footer, each of which is read once; IndexError behind their end."""

    def __init__(self, data: bytes) -> None:
        """Begin at the first byte."""
        self.data, self.end, self.left = data, len(data), MOST_PARTS

    def spend(self, parts: int) -> None:
        """Count values; FooterError if there are too many."""
        self.left -= parts
        if self.left < 0:
            raise FooterError(f"its footer has more than {MOST_PARTS:,} values")

    def structure(self, at: int, shape: Shape, depth: int) -> tuple[dict[int, Any], int]:
        """The fields of a structure that its shape names, and the place behind it; FooterError or IndexError if it is none."""
        data, number, count = self.data, 0, STRUCTURE_PARTS
        fields: dict[int, Any] = {}
        while head := data[at]:
            at += 1
            count += 1
            kind = head & 15
            if head > 15:
                number += head >> 4
            else:
                number, at = self.integer(at, I16)
            if number not in shape:
                at = self.behind_other(at, number, kind, depth)
                continue
            expected, inside = shape[number]
            if number in fields or (kind != expected and (kind, expected) != (FALSE, TRUE)):
                raise FooterError(WRONG)
            if I16 <= kind <= I64:
                if (byte := data[at]) < 128:  # most fields are short
                    fields[number] = (byte >> 1) ^ -(byte & 1)
                    at += 1
                else:
                    fields[number], at = self.integer(at, kind)
            elif kind == BINARY:
                first, at = self.text(at)
                fields[number] = data[first:at]
            elif kind == STRUCT and inside is not None:
                fields[number], at = self.structure(at, inside, depth + 1)
            elif kind == LIST:
                fields[number], at = self.listed(at, inside, depth + 1)
            else:
                fields[number], at = None, self.behind(at, kind, depth)
        self.spend(count)
        return fields, at + 1

    def listed(self, at: int, items: tuple[int, Shape | None], depth: int) -> tuple[list[Any], int]:
        """The items of a list, None for those passed over, and the place behind it; errors as `structure`.

        Arrow does not look at the kind of what is listed, so that it must be as expected.
        """
        (expected, shape), (kind, count, at) = items, self.head(at)
        if kind != expected and count:
            raise FooterError(WRONG)
        if shape is ELEMENT_SHAPE and count > MOST_ELEMENTS:
            raise FooterError(f"its schema has {count:,} elements: at most {MOST_ELEMENTS:,} are read; write fewer columns")
        if shape is None:
            return [None] * count, self.behind_items(at, kind, count, depth)
        found = []
        for _ in range(count):
            item, at = self.structure(at, shape, depth)
            found.append(item)
        return found, at

    def head(self, at: int) -> tuple[int, int, int]:
        """Kind and number of the items of a list, and the place of the first; FooterError if there cannot be so many."""
        head = self.data[at]
        at += 1
        count = head >> 4
        if count == 15:
            count, at = self.whole(at, 32)
        if count > self.end - at:  # each takes a byte
            raise FooterError(WRONG)
        self.spend(count)
        return head & 15, count, at

    def behind_other(self, at: int, number: int, kind: int, depth: int) -> int:
        """The place behind a field that a shape does not name; errors as `structure`, and FooterError if no field has its number."""
        if not 0 < number <= LARGEST_NUMBER:
            raise FooterError(WRONG)
        return self.behind(at, kind, depth)

    def behind(self, at: int, kind: int, depth: int) -> int:
        """The place behind a value of a field; errors as `structure`."""
        if kind in (TRUE, FALSE):  # the kind says which
            return at
        if kind == BINARY:
            return self.text(at)[1]
        if kind in (LIST, SET):
            kind, count, at = self.head(at)
            return self.behind_items(at, kind, count, depth + 1)
        return self.behind_items(at, kind, 1, depth + 1)

    def behind_items(self, at: int, kind: int, count: int, depth: int) -> int:
        """The place behind `count` values of a kind; errors as `structure`."""
        if depth > MOST_DEPTH:
            raise FooterError("its footer is nested too deeply")
        if kind in FIXED_BYTES:
            at += FIXED_BYTES[kind] * count
        elif kind in INTEGER_BITS:
            for _ in range(count):
                at = at + 1 if self.data[at] < 128 else self.whole(at, INTEGER_BITS[kind])[1]
        elif kind == STRUCT:
            for _ in range(count):
                at = self.behind_structure(at, depth)
        elif kind in (BINARY, LIST, SET):
            for _ in range(count):
                at = self.behind(at, kind, depth)
        elif count:
            raise FooterError(WRONG)  # maps, which Parquet has not
        if at > self.end:
            raise FooterError(WRONG)
        return at

    def behind_structure(self, at: int, depth: int) -> int:
        """The place behind a structure; errors as `structure`."""
        data, parts = self.data, STRUCTURE_PARTS
        while head := data[at]:
            at += 1
            parts += 1
            if head < 16:
                _, at = self.integer(at, I16)
            at = at + 1 if I16 <= head & 15 <= I64 and data[at] < 128 else self.behind(at, head & 15, depth)
        self.spend(parts)
        return at + 1

    def text(self, at: int) -> tuple[int, int]:
        """First byte of a text and the place behind it; errors as `structure`."""
        length = self.data[at]
        at += 1
        if length > 127:
            length, at = self.whole(at - 1, 32)
        if length > self.end - at:
            raise FooterError(WRONG)
        return at, at + length

    def whole(self, at: int, bits: int) -> tuple[int, int]:
        """A whole number without sign, and the place behind it; FooterError if it has more bits."""
        data, value = self.data, 0
        for shift in range(0, bits, 7):
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                if value >> bits:
                    break
                return value, at
        raise FooterError(WRONG)

    def integer(self, at: int, kind: int) -> tuple[int, int]:
        """A whole number with its sign, and the place behind it; FooterError if it has more bits than its kind."""
        value, at = self.whole(at, INTEGER_BITS[kind])
        return (value >> 1) ^ -(value & 1), at
