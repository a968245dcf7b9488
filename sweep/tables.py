"""Design points from a file: CSV or Parquet, one row a point, columns named as parameters."""

from __future__ import annotations

import codecs
import hashlib
import itertools
import math
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from kernels.models import Model
from kernels.models.quantity import Quantity, by_name
from sweep.axes import DEFAULT, SCHEME, SCHEME_NAMES, Listed, code_of, report
from sweep.problems import Problem, advise, shorten
from sweep.sections import of_another

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(slots=True)
class Column:
    """A column that is being read, its cells on disk.

    Attributes:
        name: parameter, or "scheme".
        quantity: the parameter; None of "scheme".
        values, absent: files of its values (float64, or int8 codes of schemes) and of its mask.
        shapes: of the pieces of `values`, (rows,) or of tables (rows, L), with L the widest of the piece.
        problems: what is wrong with its cells so far.
    """

    name: str
    quantity: Quantity | None
    values: IO[bytes]
    absent: IO[bytes]
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, values: np.ndarray, absent: np.ndarray) -> None:
        """Append cells."""
        self.values.write(values.tobytes())
        self.absent.write(absent.tobytes())
        self.shapes.append(values.shape)

    def axis(self) -> Listed:
        """The column as an axis, whose cells are read from disk where they are needed, also when the files are closed."""
        self.absent.flush()
        return Listed(self.name, self.cells(), np.memmap(self.absent, bool, mode="r"), self.quantity)

    def cells(self) -> np.ndarray:
        """The values on disk, (n,) or of tables (n, L), where all pieces are as wide as the widest."""
        kind = np.int8 if self.name == SCHEME else np.float64
        width = max(shape[1:] for shape in self.shapes)
        whole = (sum(shape[0] for shape in self.shapes), *width)
        if width == (0,):  # a file of nothing cannot be mapped
            return np.empty(whole)
        if all(shape[1:] == width for shape in self.shapes):
            self.values.flush()
            return np.memmap(self.values, kind, mode="r", shape=whole)
        with tempfile.TemporaryFile() as widened:
            self.values.seek(0)
            for shape in self.shapes:
                piece = np.frombuffer(self.values.read(8 * shape[0] * shape[1])).reshape(shape)
                widened.write(np.pad(piece, [(0, 0), (0, width[0] - shape[1])], constant_values=math.nan).tobytes())
            widened.flush()
            return np.memmap(widened, kind, mode="r", shape=whole)


def read_points(path: Path, model: Model, scheme: str, where: str, problems: list[Problem]) -> tuple[Listed, ...]:
    """Read and check a table of points, piece by piece: of a table of any size, no more than a piece is held in memory.

    Args:
        path: a .csv or .parquet file.
        model: whose parameters the columns name; "scheme" is a column too.
        scheme: what an empty cell of "scheme" stands for.
        where: the key that names the file, for messages.
        problems: where problems are added, with column and row (the first row below the header is row 1).

    Returns:
        One axis per column, all as long as the table. A cell that is empty (CSV), null (Parquet) or "default" is absent; NaN and
        infinite cells are kept: their rows get a status. A cell of a list parameter is text such as "2;3;4;5" or a Parquet list, whose
        entries must be finite; a cell of a word is one of its words.
    """
    import pyarrow as pa

    if path.suffix.lower() not in READERS:
        problems.append(Problem(where, f"{path}: must end in {' or '.join(READERS)}"))
        return ()
    with ExitStack() as files:
        try:
            return read_columns(path, model, scheme, where, problems, files)
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            problems.append(Problem(where, f"cannot read {path}: {' '.join(str(error).split())}"))
            return ()


def read_columns(path: Path, model: Model, scheme: str, where: str, problems: list[Problem], files: ExitStack) -> tuple[Listed, ...]:
    """As `read_points`, with `files` for the cells; raises what readers of files raise."""
    before, rows = len(problems), 0
    names, pieces = READERS[path.suffix.lower()](path)
    columns = choose_columns([name.strip() for name in names], model, f"{where}: {path.name}", problems, files)
    for piece in pieces:
        for position, column in columns.items():
            label = f"{where}: {path.name}, column {column.name}"
            if column.quantity is None:
                column.add(*read_schemes(piece.column(position), model, scheme, label, rows, column.problems))
            else:
                read = {"word": read_words, "list": read_lists}.get(column.quantity.kind, read_numbers)
                column.add(*read(piece.column(position), column.quantity, label, rows, column.problems))
        rows += piece.num_rows
    if rows == 0:
        problems.append(Problem(where, f"{path} has no rows: 0 points"))
    for column in columns.values():
        report(column.problems, f"{where}: {path.name}, column {column.name}", problems)
    return tuple(column.axis() for column in columns.values()) if len(problems) == before else ()


def choose_columns(names: list[str], model: Model, label: str, problems: list[Problem], files: ExitStack) -> dict[int, Column]:
    """The columns that can be read, by their position, with temporary `files`; problems for the others."""
    known: dict[str, Quantity | None] = {**by_name(model.parameters), SCHEME: None}
    columns: dict[int, Column] = {}
    for position, name in enumerate(names):
        if name in names[:position]:
            problems.append(Problem(f"{label}, column {name}", "given twice"))
        elif name in known:
            values, absent = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))  # noqa: SIM115 - `files` closes them
            columns[position] = Column(name, known[name], values, absent)
        else:
            separator = "; columns are separated by commas" if ";" in name else ""
            unknown = of_another(name, model) or f"unknown parameter; {advise(name, known)}{separator}"
            problems.append(Problem(f"{label}, column {name}", unknown))
    return columns


def read_csv(path: Path) -> tuple[list[str], Iterator[pa.Table]]:
    """The names and the pieces of a CSV file, every cell as text, so that a bad one can be named by its row; empty cells are null.

    Lines before the header that begin with # are passed over.
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
    """The names and the pieces of a Parquet file, whatever its types."""
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
    """Values (NaN where there is none), mask of the empty cells, and by row the words that are no numbers.

    A problem that says its `meaning` where the column is of another type, once: where `before`, the number of rows read, is 0.
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
    """Values and absent mask of numbers, after `before` rows; problems where a cell is no number or is out of bounds."""
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
    """Codes and absent mask of words, after `before` rows; problems where a cell is none of them."""
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
    """Tables (n, L), padded with NaN, and absent mask, after `before` rows; problems where a node is no finite number or out of bounds."""
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


def read_schemes(
    column: pa.ChunkedArray, model: Model, scheme: str, label: str, before: int, problems: list[Problem]
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the column "scheme", after `before` rows, of which none is absent; problems where a cell is no scheme."""
    codes = np.zeros(len(column), dtype=np.int8)
    for row, cell in enumerate(column.to_pylist()):
        word: Any = cell.strip() if isinstance(cell, str) else cell
        name = scheme if word in (None, "", DEFAULT) else word
        if name in model.schemes:
            codes[row] = SCHEME_NAMES.index(name)
        else:
            message = f"{shorten(word)} is not a scheme; {advise(str(word), model.schemes)}"
            problems.append(Problem(f"{label}, row {before + row + 1}", message))
    return codes, np.zeros(len(codes), dtype=bool)


def digest(path: Path) -> str:
    """SHA-256 of the file's bytes: a study is another one when its points are."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
