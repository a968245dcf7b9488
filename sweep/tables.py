"""Design points from a file: CSV or Parquet, one row a point, columns named as parameters."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.models import Model
from kernels.quantity import Quantity
from sweep.axes import DEFAULT, SCHEME, SCHEME_NAMES, Axis, Listed, code_of, report
from sweep.problems import Problem, advise, shorten
from sweep.sections import of_another

if TYPE_CHECKING:
    import pyarrow as pa


def read_points(path: Path, model: Model, scheme: str, problems: list[Problem]) -> tuple[Axis, ...]:
    """Read and check a table of points.

    Args:
        path: a .csv or .parquet file.
        model: whose parameters the columns name; "scheme" is a column too.
        scheme: what an empty cell of "scheme" stands for.
        problems: where problems are added, with column and row (the first row below the header is row 1).

    Returns:
        One axis per column, all as long as the table. A cell that is empty (CSV), null (Parquet) or "default" is absent; NaN and
        infinite cells are kept: their rows get a status. A cell of a list parameter is text such as "2;3;4;5" or a Parquet list, whose
        entries must be finite; a cell of a word is one of its words.
    """
    import pyarrow as pa

    where = "sweep.file"
    if path.suffix.lower() not in READERS:
        problems.append(Problem(where, f"{path}: must end in {' or '.join(READERS)}"))
        return ()
    try:
        table = READERS[path.suffix.lower()](path)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        problems.append(Problem(where, f"cannot read {path}: {' '.join(str(error).split())}"))
        return ()
    names = [name.strip() for name in table.column_names]
    if table.num_rows == 0 or not names:
        problems.append(Problem(where, f"{path} has no rows: 0 points"))
    quantities = {quantity.name: quantity for quantity in model.parameters}
    axes: list[Axis] = []
    for position, name in enumerate(names):
        label = f"{where}: {path.name}, column {name}"
        if name in names[:position]:
            problems.append(Problem(label, "given twice"))
        elif name == SCHEME:
            axes += word_column(table.column(position), model, scheme, label, problems)
        elif name in quantities:
            read = {"word": named_column, "list": list_column}.get(quantities[name].kind, number_column)
            axes += read(table.column(position), quantities[name], label, problems)
        else:
            separator = "; columns are separated by commas" if ";" in name else ""
            unknown = of_another(name, model) or f"unknown parameter; {advise(name, [*quantities, SCHEME])}{separator}"
            problems.append(Problem(label, unknown))
    return tuple(axes)


def read_csv(path: Path) -> pa.Table:
    """A CSV file with every cell as text, so that a bad one can be named by its row; empty cells are null."""
    import pyarrow as pa
    from pyarrow import csv

    with csv.open_csv(path) as reader:
        names = reader.schema.names
    convert = csv.ConvertOptions(
        column_types={name: pa.string() for name in names}, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=True
    )
    return csv.read_csv(path, convert_options=convert)


def read_parquet(path: Path) -> pa.Table:
    """A Parquet file, whatever its types."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read()


READERS = {".csv": read_csv, ".parquet": read_parquet}


def number_column(column: pa.ChunkedArray, quantity: Quantity, label: str, problems: list[Problem]) -> list[Axis]:
    """A column of numbers as an axis; nothing, and problems, when a cell is no number or is out of bounds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    meaning = f"({quantity.description}, unit {quantity.unit})"
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values, absent, words = parse_numbers(column)
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_null(column.type):
        absent = column.is_null().to_numpy()
        values = pc.cast(column, pa.float64(), safe=False).fill_null(math.nan).to_numpy()
        words = {}
    else:
        problems.append(Problem(label, f"must hold numbers, not {column.type} {meaning}"))
        return []
    found = [Problem(f"{label}, row {row + 1}", f"{shorten(word)} is not a number {meaning}") for row, word in words.items()]
    for row in np.flatnonzero(quantity.out_of_bounds(values)):
        message = f"{float(values[row])!r} is out of bounds: must be {quantity.bounds} {meaning}"
        found.append(Problem(f"{label}, row {row + 1}", message))
    return [] if report(found, label, problems) else [Listed(quantity.name, values, absent, quantity)]


def named_column(column: pa.ChunkedArray, quantity: Quantity, label: str, problems: list[Problem]) -> list[Axis]:
    """A column of words as an axis of their codes; nothing, and problems, when a cell is none of them."""
    codes = np.full(len(column), math.nan)
    found: list[Problem] = []
    for row, cell in enumerate(column.to_pylist()):
        text: Any = cell.strip() if isinstance(cell, str) else cell
        if text not in (None, "", DEFAULT):
            try:
                codes[row] = code_of(quantity, text)
            except ValueError as error:
                found.append(Problem(f"{label}, row {row + 1}", str(error)))
    return [] if report(found, label, problems) else [Listed(quantity.name, codes, np.isnan(codes), quantity)]


def list_column(column: pa.ChunkedArray, quantity: Quantity, label: str, problems: list[Problem]) -> list[Axis]:
    """A column of tables as an axis, (n, L) padded with NaN; nothing, and problems, when a node is no finite number or out of bounds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    meaning = f"({quantity.description}, unit {quantity.unit})"
    kind = column.type
    found: list[Problem] = []
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
        problems.append(Problem(label, f"must hold lists of numbers, such as 2;3;4;5 in CSV, not {kind} {meaning}"))
        return []
    lengths = pc.list_value_length(cells).fill_null(0).to_numpy()
    rows = np.repeat(np.arange(len(lengths)), lengths)
    node = np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    for place in map(int, np.flatnonzero(~np.isfinite(values) | quantity.out_of_bounds(values))):
        said = shorten(words[place]) if place in words else "an empty cell" if empty[place] else f"{float(values[place])!r}"
        wrong = f"is out of bounds: must be {quantity.bounds}" if np.isfinite(values[place]) else "is not a finite number"
        found.append(Problem(f"{label}, row {rows[place] + 1}, node {node[place]}", f"{said} {wrong} {meaning}"))
    padded = np.full((len(lengths), int(lengths.max(initial=0))), math.nan)
    padded[rows, node] = values
    return [] if report(found, label, problems) else [Listed(quantity.name, padded, absent, quantity)]


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of lists."""
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
            values[row] = float(word)
        except ValueError:
            words[row] = word
    return values, absent, words


def word_column(column: pa.ChunkedArray, model: Model, scheme: str, label: str, problems: list[Problem]) -> list[Axis]:
    """The column "scheme" as an axis of codes."""
    codes = np.zeros(len(column), dtype=np.int8)
    found: list[Problem] = []
    for row, cell in enumerate(column.to_pylist()):
        word: Any = cell.strip() if isinstance(cell, str) else cell
        name = scheme if word in (None, "", DEFAULT) else word
        if name in model.schemes:
            codes[row] = SCHEME_NAMES.index(name)
        else:
            found.append(Problem(f"{label}, row {row + 1}", f"{shorten(word)} is not a scheme; {advise(str(word), model.schemes)}"))
    return [] if report(found, label, problems) else [Listed(SCHEME, codes, np.zeros(len(codes), dtype=bool))]


def digest(path: Path) -> str:
    """SHA-256 of the file's bytes: a study is another one when its points are."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
