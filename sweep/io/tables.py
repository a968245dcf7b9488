"""Conversion of cells of CSV and Parquet files to numbers, words and lists."""

from __future__ import annotations

import codecs
import hashlib
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.models.quantity import Quantity
from sweep.io.errors import Problem, shorten
from sweep.io.values import DEFAULT, code_of

if TYPE_CHECKING:
    import pyarrow as pa


def read_csv(path: Path) -> tuple[list[str], Iterator[pa.Table]]:
    """The names and the pieces of a CSV file. Cells are text, so that a wrong one can be reported with its row; empty cells are null.

    Lines before the header that begin with # are skipped.
    """
    import pyarrow as pa
    from pyarrow import csv

    with path.open("rb") as file:
        remarks = sum(1 for _ in itertools.takewhile(lambda line: line.removeprefix(codecs.BOM_UTF8).startswith(b"#"), file))
    reading = csv.ReadOptions(skip_rows=remarks)
    with csv.open_csv(path, reading) as reader:
        names = list(reader.schema.names)
    convert = csv.ConvertOptions(
        column_types={name: pa.string() for name in names}, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=True
    )

    def pieces() -> Iterator[pa.Table]:
        with csv.open_csv(path, reading, convert_options=convert) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])

    return names, pieces()


def read_parquet(path: Path) -> tuple[list[str], Iterator[pa.Table]]:
    """The names and the pieces of a Parquet file of any types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def pieces() -> Iterator[pa.Table]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield pa.Table.from_batches([batch])

    return list(pq.read_schema(path).names), pieces()


READERS = {".csv": read_csv, ".parquet": read_parquet}


def cells_as_numbers(
    column: pa.ChunkedArray, meaning: str, label: str, before: int, problems: list[Problem]
) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
    """The values of a column (NaN for no number), the mask of its empty cells, and row -> word for cells that are no numbers.

    If the column has another type, a problem with the `meaning` is added once: when `before`, the number of rows read so far, is 0.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return parse_numbers(column)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_null(column.type):
        return pc.cast(column, pa.float64(), safe=False).fill_null(math.nan).to_numpy(), column.is_null().to_numpy(), {}
    if before == 0:
        problems.append(Problem(label, f"must hold numbers, not {column.type} {meaning}"))
    return np.empty(0), np.empty(0, bool), {}


def read_numbers(
    column: pa.ChunkedArray, quantity: Quantity, label: str, before: int, problems: list[Problem]
) -> tuple[np.ndarray, np.ndarray]:
    """Values and absent mask of numbers, after `before` rows; add problems if a cell is no number or out of bounds."""
    meaning = f"({quantity.description}, unit {quantity.unit})"
    values, absent, words = cells_as_numbers(column, meaning, label, before, problems)
    for row, word in words.items():
        problems.append(Problem(f"{label}, row {before + row + 1}", f"{shorten(word)} is not a number {meaning}"))
    for row in np.flatnonzero(quantity.out_of_bounds(values)).tolist():
        message = f"{float(values[row])!r} is out of bounds: must be {quantity.bounds} {meaning}"
        problems.append(Problem(f"{label}, row {before + row + 1}", message))
    return values, absent


def read_words(
    column: pa.ChunkedArray, quantity: Quantity, label: str, before: int, problems: list[Problem]
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and absent mask of words, after `before` rows; add problems if a cell is none of the words."""
    codes = np.full(len(column), math.nan)
    for row, cell in enumerate(column.to_pylist()):
        text: Any = cell.strip() if isinstance(cell, str) else cell
        if text not in (None, "", DEFAULT):
            try:
                codes[row] = code_of(quantity, text)
            except ValueError as error:
                problems.append(Problem(f"{label}, row {before + row + 1}", str(error)))
    return codes, np.isnan(codes)


def read_lists(
    column: pa.ChunkedArray, quantity: Quantity, label: str, before: int, problems: list[Problem]
) -> tuple[np.ndarray, np.ndarray]:
    """Tables (n, L), padded with NaN, and absent mask, after `before` rows; add problems if a node is not finite or out of bounds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    meaning = f"({quantity.description}, unit {quantity.unit})"
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        absent = pc.or_kleene(text.is_null(), pc.is_in(text, pa.array(["", DEFAULT]))).to_numpy()
        cells = pc.split_pattern(pc.if_else(pa.chunked_array([absent]), None, text), ";")
        values, empty, words = parse_numbers(pc.list_flatten(cells))
    elif is_list(kind) and any(check(kind.value_type) for check in (pa.types.is_null, pa.types.is_integer, pa.types.is_floating)):
        absent, cells, words = column.is_null().to_numpy(), column, {}
        nodes = pc.list_flatten(cells)
        values, empty = pc.cast(nodes, pa.float64(), safe=False).fill_null(math.nan).to_numpy(), nodes.is_null().to_numpy()
    else:
        if before == 0:
            problems.append(Problem(label, f"must hold lists of numbers, such as 2;3;4;5 in CSV, not {kind} {meaning}"))
        return np.empty((0, 0)), np.empty(0, bool)
    lengths = pc.list_value_length(cells).fill_null(0).to_numpy()
    rows = np.repeat(np.arange(len(lengths)), lengths)
    node = np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    for place in map(int, np.flatnonzero(~np.isfinite(values) | quantity.out_of_bounds(values))):
        said = shorten(words[place]) if place in words else "an empty cell" if empty[place] else f"{float(values[place])!r}"
        wrong = f"is out of bounds: must be {quantity.bounds}" if np.isfinite(values[place]) else "is not a finite number"
        problems.append(Problem(f"{label}, row {before + rows[place] + 1}, node {node[place]}", f"{said} {wrong} {meaning}"))
    tables = np.full((len(lengths), int(lengths.max(initial=0))), math.nan)
    tables[rows, node] = values
    return tables, absent


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a list type."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def parse_numbers(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
    """Text cells as (values, absent mask, row -> word that is not a number)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column)
    absent = pc.or_(text.is_null(), pc.is_in(text, pa.array(["", DEFAULT]))).to_numpy()
    filled = pc.if_else(pa.chunked_array([absent]), "nan", text)
    try:
        return pc.cast(filled, pa.float64()).to_numpy(), absent, {}
    except pa.ArrowInvalid:
        values, words = np.full(len(absent), math.nan), {}
    for row, word in enumerate(filled.to_pylist()):
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
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
