"""Conversion of cells of CSV and Parquet files to numbers, words and lists."""

from __future__ import annotations

import errno
import hashlib
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.io import parquet_footer, system
from tribosweep.sweep.io.csv_files import MOST_COLUMNS, Columns, read_csv
from tribosweep.sweep.io.errors import Findings, Problem, advise, shorten
from tribosweep.sweep.io.files import MEBIBYTE, MOST_FOOTER, require_regular
from tribosweep.sweep.io.foreign import UnreadableError, guarded, guarded_items, words_of
from tribosweep.sweep.io.values import DEFAULT

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MOST_BYTES = 512 * MEBIBYTE  # of a column in a group of rows of a Parquet file; its pieces have a quarter of that
# Of a group of rows, of which a page of each column is in memory at once, and pages may be as long as their column.
MOST_GROUP = 4 * MOST_BYTES
MOST_NUMBERS = 2**25  # that are kept in memory of one file
MOST_NODES, MOST_WORDS = 2**24, 2**16  # of lists in a group of rows of a Parquet file; of a piece of a table, with its padding
PADDED = 16  # times the nodes that a table of lists has may be those with its padding, if they are more than MOST_NODES
UNREAD = ("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")  # encodings of text that pyarrow does not read as a dictionary
PIECE = 65_536  # rows of a Parquet file


def read_parquet(path: Path) -> Columns:
    """The columns of a Parquet file of any types; errors as of `read_csv`.

    A few bytes of such a file may stand for any number of cells. Its metadata are read first, and pieces are as short as its columns are
    many and wide. Text is read as a dictionary, and becomes text when its length is known.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    metadata, groups = read_footer(path)
    schema = metadata.schema.to_arrow_schema()
    rows = rows_of_a_piece(path, metadata, groups)
    texts = [field.name for field in schema if is_text(field.type)]
    require_dictionaries(metadata, texts)

    def pieces() -> Iterator[pa.Table]:
        with pq.ParquetFile(path, metadata=metadata, read_dictionary=texts) as file:
            for batch in file.iter_batches(rows):
                batch.validate(full=True)  # text may be no UTF-8
                cells = [spelled_out(path, column, field) for column, field in zip(batch.columns, schema, strict=True)]
                yield pa.Table.from_arrays(cells, schema=schema)

    return Columns(list(schema.names), guarded_items(pieces()), {field.name: field.metadata or {} for field in schema})


def read_footer(path: Path) -> tuple[pq.FileMetaData, parquet_footer.Groups]:
    """What pyarrow reads of the end of a Parquet file, and its chunks; pyarrow may be asked for them, as they are sound.

    Raises:
        OSError, UnreadableError: it cannot be read, or its footer is refused.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = require_regular(path).st_size
    with os.fdopen(system.open_to_read(path), "rb") as file:
        end = parquet_footer.end_of(file, size, MOST_FOOTER)
    groups = parquet_footer.groups_of(end)
    with guarded():
        metadata = pq.read_metadata(pa.BufferReader(end))
        columns = len(metadata.schema.to_arrow_schema())
    if columns > MOST_COLUMNS:
        raise OSError(errno.EFBIG, f"has {columns:,} columns: at most {MOST_COLUMNS:,} are read", str(path))
    parquet_footer.check(groups, metadata, sys.maxsize)
    return metadata, groups


def rows_of_a_piece(path: Path, metadata: pq.FileMetaData, groups: parquet_footer.Groups) -> int:
    """How many rows of a Parquet file are read at once; OSError if a group of rows holds more than a piece may."""
    kinds = [metadata.schema.column(place) for place in range(metadata.num_columns)]
    width = sum(max(8, kind.length or 0) for kind in kinds) + sum(8 * nodes_in(field.type) for field in metadata.schema.to_arrow_schema())
    for number, group in enumerate(groups):
        if (size := sum(chunk.size for chunk in group)) > MOST_GROUP:
            message = f"has {size:,} bytes in a group of rows: at most {MOST_GROUP:,} are read; write smaller groups of rows"
            raise OSError(errno.EFBIG, message, str(path))
        for chunk, kind in zip(group, kinds, strict=True):
            what = ""
            if chunk.size > MOST_BYTES:
                what = f"{chunk.size:,} bytes in a group of rows: at most {MOST_BYTES:,} are read"
            most = MOST_WORDS if kind.physical_type == "BYTE_ARRAY" else MOST_NODES
            if kind.max_repetition_level and chunk.values > most:
                what = f"{chunk.values:,} nodes in a group of {metadata.row_group(number).num_rows:,} rows: at most {most:,} are read"
            if what:
                name = shorten(kind.path.partition(".")[0])
                raise OSError(errno.EFBIG, f"column {name} has {what}; write smaller groups of rows", str(path))
    return max(1, min(PIECE, MOST_BYTES // 4 // max(8, width)))


def require_dictionaries(metadata: pq.FileMetaData, texts: Sequence[str]) -> None:
    """UnreadableError if a column of text has an encoding that cannot be read as a dictionary: no footer bounds its length otherwise."""
    wanted = frozenset(texts)
    for place in range(metadata.num_columns):
        if (name := metadata.schema.column(place).path) in wanted:
            for number in range(metadata.num_row_groups):
                if found := [each for each in metadata.row_group(number).column(place).encodings if each in UNREAD]:
                    advice = "write it with the encoding PLAIN or with a dictionary, as DuckDB does with PARQUET_VERSION v1"
                    raise UnreadableError(f"column {shorten(name)} has text in the encoding {found[0]}, which is not read; {advice}")


def nodes_in(kind: pa.DataType) -> int:
    """The number of nodes that each list of a type has, also one that is null; 0 for other types."""
    import pyarrow as pa

    return int(kind.list_size) if pa.types.is_fixed_size_list(kind) else 0


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is text or bytes of any length."""
    import pyarrow as pa

    return any(check(kind) for check in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary))


def spelled_out(path: Path, column: pa.Array, field: pa.Field) -> pa.Array:
    """A column with the type of its field; OSError if its words, each written out, are longer than a piece may be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return column
    length = pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0
    if length > MOST_BYTES // 4:
        what = f"has {length:,} bytes of text in {len(column):,} rows: at most {MOST_BYTES // 4:,} are read"
        raise OSError(errno.EFBIG, f"column {shorten(field.name)} {what}", str(path))
    return column.cast(field.type)


def why(error: Exception) -> str:
    """Why a file cannot be read, without its name, on one line."""
    return " ".join(str(error.strerror or error).split()) if isinstance(error, OSError) else words_of(error)


READERS = {".csv": read_csv, ".parquet": read_parquet}
EMPTY = ("", DEFAULT)  # cells of parameters that stand for the documented default


def cells_as_numbers(
    column: pa.ChunkedArray, meaning: str, label: str, before: int, found: Findings, empty: Sequence[str] = EMPTY
) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
    """The values of a column (NaN for no number), the mask of its empty cells, and row -> word for cells that are no numbers.

    If the column has another type, a problem with the `meaning` is added once: when `before`, the number of rows read so far, is 0. Text is
    as `empty` as a cell of nothing if it is one of these words.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return parse_numbers(column, empty)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_null(column.type):
        return pc.cast(column, pa.float64(), safe=False).fill_null(math.nan).to_numpy(), column.is_null().to_numpy(), {}
    if before == 0:
        found.add(label, f"must hold numbers, not {shorten_type(column.type)} {meaning}")
    return np.empty(0), np.empty(0, bool), {}


def shorten_type(kind: pa.DataType) -> str:
    """A type of Arrow in messages; those of nested columns have no end."""
    text = " ".join(str(kind).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def read_numbers(
    column: pa.ChunkedArray,
    quantity: Quantity,
    label: str,
    before: int,
    found: Findings,
    empty: Sequence[str] = EMPTY,
    factor: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Values times `factor` and absent mask of numbers, after `before` rows; add to `found` where a cell is no number or out of bounds."""
    meaning = f"({quantity.description}, unit {quantity.unit})"
    values, absent, words = cells_as_numbers(column, meaning, label, before, found, empty)
    values = factor * values if factor != 1.0 else values

    def problem(row: int) -> Problem:
        wrong = f"{float(values[row])!r} is out of bounds: must be {quantity.bounds}"
        if row in words:
            wrong = f"{shorten(words[row])} is not a number{'; numbers have a decimal point' if ',' in words[row] else ''}"
        return Problem(f"{label}, row {before + row + 1}", f"{wrong} {meaning}")

    found.add_all(list(words), problem)
    found.add_all(np.flatnonzero(quantity.out_of_bounds(values)).tolist(), problem)
    return values, absent


def read_words(column: pa.ChunkedArray, quantity: Quantity, label: str, before: int, found: Findings) -> tuple[np.ndarray, np.ndarray]:
    """Codes and absent mask of words, after `before` rows; add to `found` where a cell is none of the words."""
    known = {word: code for code, word in enumerate(quantity.words)}
    codes = codes_of(column, known, "a word of it", f" ({quantity.description})", label, before, found)
    return codes, np.isnan(codes)


def codes_of(
    column: pa.ChunkedArray, known: Mapping[str, int], what: str, meaning: str, label: str, before: int, found: Findings
) -> np.ndarray:
    """The codes of the cells, NaN for an empty one, after `before` rows; add to `found` where a cell is none of the `known` words."""
    cells = read_text(column, label, before, found)
    empty = np.array([cell is None or (isinstance(cell, str) and cell in EMPTY) for cell in cells], bool)
    codes = np.array([known.get(cell, -1) if isinstance(cell, str) else -1 for cell in cells], float)
    codes[empty] = math.nan

    def problem(row: int) -> Problem:
        message = f"{shorten(cells[row])} is not {what}; {advise(cells[row], known)}{meaning}"
        return Problem(f"{label}, row {before + row + 1}", message)

    found.add_all(np.flatnonzero(codes == -1).tolist(), problem)
    return codes


def read_text(column: pa.ChunkedArray, label: str, before: int, found: Findings) -> list[Any]:
    """The cells of a column of words, None for an empty one, after `before` rows; add to `found` if its type has none.

    Numbers are as they are. Dates and times become text, because Python has not all those that files may hold.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    try:
        if pa.types.is_temporal(kind):
            column, kind = pc.cast(column.cast(kind), pa.string()), pa.string()
    except pa.ArrowException:  # a time without a date, or of an unknown zone
        pass
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating)
    if any(check(kind) for check in plain):
        return [cell.strip() if isinstance(cell, str) else cell for cell in column.to_pylist()]
    if before == 0:
        found.add(label, f"must hold words, not {shorten_type(column.type)}")
    return [None] * len(column)


def read_lists(
    column: pa.ChunkedArray, quantity: Quantity, label: str, before: int, found: Findings, factor: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Tables (n, L) times `factor`, padded with NaN, and absent mask, after `before` rows; add to `found` what is not finite or allowed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    meaning = f"({quantity.description}, unit {quantity.unit})"
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        absent = pc.or_kleene(text.is_null(), pc.is_in(text, pa.array(EMPTY))).to_numpy()
        cells = pc.split_pattern(pc.if_else(pa.chunked_array([absent]), None, text), ";")
        values, empty, words = parse_numbers(pc.list_flatten(cells), EMPTY)
    elif is_list(kind) and any(check(kind.value_type) for check in (pa.types.is_null, pa.types.is_integer, pa.types.is_floating)):
        absent, cells, words = column.is_null().to_numpy(), column, {}
        nodes = pc.list_flatten(cells)
        values, empty = pc.cast(nodes, pa.float64(), safe=False).fill_null(math.nan).to_numpy(), nodes.is_null().to_numpy()
    else:
        if before == 0:
            found.add(label, f"must hold lists of numbers, such as 2;3;4;5 in CSV, not {shorten_type(kind)} {meaning}")
        return np.empty((0, 0)), np.empty(0, bool)
    values = factor * values if factor != 1.0 else values
    lengths = pc.list_value_length(cells).fill_null(0).to_numpy()
    rows = np.repeat(np.arange(len(lengths)), lengths)
    node = np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)

    def problem(place: int) -> Problem:
        said = shorten(words[place]) if place in words else "an empty cell" if empty[place] else f"{float(values[place])!r}"
        wrong = f"is out of bounds: must be {quantity.bounds}" if np.isfinite(values[place]) else "is not a finite number"
        return Problem(f"{label}, row {before + rows[place] + 1}, node {node[place]}", f"{said} {wrong} {meaning}")

    found.add_all(np.flatnonzero(~np.isfinite(values) | quantity.out_of_bounds(values)).tolist(), problem)
    width = int(lengths.max(initial=0))
    if too_wide := padding_problem(len(values), len(lengths), width):
        found.add(f"{label}, row {before + int(np.argmax(lengths)) + 1}", too_wide)
        return np.empty((0, 0)), np.empty(0, bool)
    tables = np.full((len(lengths), width), math.nan)
    tables[rows, node] = values
    return tables, absent


def padding_problem(nodes: int, rows: int, width: int) -> str:
    """What is wrong with lists of `nodes` numbers in all that are padded to tables of one `width`; empty if they fit into memory."""
    if rows * width <= max(MOST_NODES, PADDED * nodes):
        return ""
    return (
        f"a list of {width:,} nodes among {rows:,} rows, which would all be padded to it: at most {MOST_NODES:,} nodes in all, "
        f"or {PADDED} times those that there are"
    )


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a list type."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def parse_numbers(column: pa.ChunkedArray, empty: Sequence[str]) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
    """Text cells as (values, mask of the absent ones, which are null or one of the `empty` words, row -> word that is not a number)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column)
    absent = pc.or_(text.is_null(), pc.is_in(text, pa.array(empty))).to_numpy()
    filled = pc.if_else(pa.chunked_array([absent]), "nan", text)
    try:
        values = pc.cast(filled, pa.float64()).to_numpy().copy()
        doubted = np.flatnonzero(np.isnan(values) & ~absent)  # Arrow reads "nan(1)" as a number too
    except pa.ArrowInvalid:
        values, doubted = np.full(len(absent), math.nan), np.flatnonzero(~absent)
    words = {}
    for row, word in zip(doubted.tolist(), filled.take(doubted).to_pylist(), strict=True):
        try:
            values[row] = number_in(word)
        except ValueError:
            words[row] = word
    return values, absent, words


def number_in(text: str) -> float:
    """The number that a text states, in ASCII digits without the `_` that Python allows between them; ValueError if it states none."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is no number")
    return float(text)


def digest(path: Path) -> str:
    """SHA-256 of the file's bytes. It is part of the hash of a study, because a study with other points is another study."""
    require_regular(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
