"""Reading design points from a file: CSV or Parquet, one row per point, columns named after parameters."""

from __future__ import annotations

import errno
import math
import re
import tempfile
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.design.axis import SCHEME, SCHEME_NAMES, Listed
from tribosweep.sweep.io.columns import Wanted, factor_of, split_unit
from tribosweep.sweep.io.errors import Findings, Problem, advise, first_of
from tribosweep.sweep.io.foreign import UnreadableError
from tribosweep.sweep.io.tables import READERS, codes_of, padding_problem, read_lists, read_numbers, read_words, why
from tribosweep.sweep.study.document import of_another
from tribosweep.sweep.study.schema import PARAMETERS

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 2**30  # of a file of points, on the disk
NODE = re.compile(r"\s*+((\w++)\[\d++\])(?:\s*+[\[(].*[\])])?\s*+")  # a node of a table, as a calibration names it, and a unit
OF_A_SUPPORT = re.compile(r"[^\s\[\]]++\[[^\]]*+\]")  # a name with brackets of its own


@dataclass(frozen=True, slots=True)
class Selection:
    """Which columns of a file of draws are read: parameters, and nodes of tables such as "post_stiffness[0]".

    Attributes:
        skipped: names of columns that are never read. skipped_role: the role, in their metadata, of others that are not.
        chosen: names of the columns that are read; None for all others. key: the key that gives them, for messages.
    """

    skipped: tuple[str, ...]
    chosen: tuple[str, ...] | None
    key: str
    skipped_role: str

    def without(self, roles: Mapping[str, str]) -> Selection:
        """The same, with the columns of the skipped role among the skipped ones; `roles` are those of columns."""
        return replace(self, skipped=(*self.skipped, *(name for name, role in roles.items() if role == self.skipped_role)))

    def known(self, headers: Collection[str], model: Model) -> dict[str, Quantity | None]:
        """The names that columns may have -> what they are."""
        parameters = by_name(model.parameters)
        nodes = {
            found[1]: replace(parameters[found[2]], name=found[1], kind="float")
            for header in headers
            if (found := NODE.fullmatch(header)) and found[2] in parameters and parameters[found[2]].kind == "list"
        }
        return {**parameters, **nodes}

    def takes(self, name: str) -> bool:
        """Whether a column is read."""
        return name not in self.skipped if self.chosen is None else name in self.chosen

    def absent(self, names: Collection[str]) -> list[Problem]:
        """The problems of chosen columns that a file does not have."""
        wrong = [name for name in dict.fromkeys(self.chosen or ()) if name not in names]
        return [Problem(self.key, f"{name!r} is no column of the file; {advise(name, [*names])}") for name in wrong]


@dataclass(slots=True)
class Column:
    """A column that is being read, with its cells on disk.

    Attributes:
        name: name of the parameter, or "scheme".
        quantity: the parameter; None for "scheme".
        factor: from the unit that its header states to the unit of the parameter.
        values, absent: files of its values (float64, or int8 codes of schemes) and of its mask.
        shapes: shapes of the pieces of `values`: (rows,), or (rows, L) for tables, with L nodes in the widest table of the piece.
        problems: the problems of its cells so far.
        width, nodes: of tables, the nodes of the widest one, and of all together.
    """

    name: str
    quantity: Quantity | None
    values: IO[bytes]
    absent: IO[bytes]
    factor: float = 1.0
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    problems: Findings = field(default_factory=Findings)
    width: int = 1
    nodes: int = 0

    def add(self, values: np.ndarray, absent: np.ndarray) -> None:
        """Append cells."""
        self.values.write(values.tobytes())
        self.absent.write(absent.tobytes())
        self.shapes.append(values.shape)
        if values.ndim > 1:
            self.width = max(self.width, values.shape[1])
            self.nodes += int(np.count_nonzero(~np.isnan(values)))

    def axis(self) -> Listed:
        """The column as an axis, whose cells are read from disk when needed, even after the files are closed."""
        self.absent.flush()
        return Listed(self.name, self.cells(), np.memmap(self.absent, bool, mode="r"), self.quantity)

    def cells(self) -> np.ndarray:
        """The values on disk, (n,) or (n, L) for tables; all pieces are padded to the widest one."""
        kind = np.int8 if self.name == SCHEME else np.float64
        width = max(shape[1:] for shape in self.shapes)
        whole = (sum(shape[0] for shape in self.shapes), *width)
        if width == (0,):  # an empty file cannot be mapped
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


def read_points(
    path: Path, model: Model, scheme: str, where: str, problems: list[Problem], selection: Selection | None = None
) -> tuple[Listed, ...]:
    """Read and check a table of points piece by piece, with only one piece in memory.

    Args:
        path: a .csv or .parquet file.
        model: the columns name its parameters, with a unit or without: `a0`, `a0 [mm/s^2]`, `a0 (g)`; "scheme" may be a column too.
        scheme: the scheme that an empty cell of "scheme" stands for.
        where: the key that names the file, for messages.
        problems: list to which problems are added, with column and row (the first row below the header is row 1).
        selection: the columns that are read; None for all, each of which must be a parameter or "scheme".

    Returns:
        One axis per column, all as long as the table. A cell that is empty (CSV), null (Parquet) or "default" is absent. NaN and infinite
        cells are kept, and their rows get a status. A cell of a list parameter is text such as "2;3;4;5", or a Parquet list, with finite
        entries. A cell of a word parameter is one of its words.
    """
    import pyarrow as pa

    if path.suffix.lower() not in READERS:
        problems.append(Problem(where, f"{path}: must end in {' or '.join(READERS)}"))
        return ()
    with ExitStack() as files:
        try:
            return read_columns(path, model, scheme, where, problems, files, selection)
        except (OSError, UnreadableError, pa.ArrowException, UnicodeError) as error:
            problems.append(Problem(where, f"cannot read {path}: {why(error)}"))
            return ()


def read_columns(
    path: Path, model: Model, scheme: str, where: str, problems: list[Problem], files: ExitStack, selection: Selection | None
) -> tuple[Listed, ...]:
    """Do the work of `read_points` with `files` for the cells; errors of the file readers are not caught."""
    before, rows = len(problems), 0
    source = READERS[path.suffix.lower()](path)
    if selection is not None:
        selection = selection.without(source.said("role"))
    names = [name.strip() for name in source.names]
    columns = choose_columns(names, source.units, model, f"{where}: {path.name}", problems, files, selection)
    for piece in source.pieces:
        for position, column in columns.items():
            label = f"{where}: {path.name}, column {column.name}"
            if column.quantity is None:
                column.add(*read_schemes(piece.column(position), model, scheme, label, rows, column.problems))
            else:
                column.add(*read_cells(piece.column(position), column.quantity, column.factor, label, rows, column.problems))
        rows += piece.num_rows
        if rows * sum(column.width for column in columns.values()) > MOST_CELLS:
            raise OSError(errno.EFBIG, f"has more than {MOST_CELLS:,} cells, with the padding of its lists", str(path))
    for column in columns.values():
        if column.width > 1 and (too_wide := padding_problem(column.nodes, rows, column.width)):
            column.problems.add(f"{where}: {path.name}, column {column.name}", too_wide)
    if rows == 0:
        problems.append(Problem(where, f"{path} has no rows: 0 points"))
    for column in columns.values():
        column.problems.report(f"{where}: {path.name}, column {column.name}", problems)
    return tuple(column.axis() for column in columns.values()) if len(problems) == before else ()


def choose_columns(
    names: list[str],
    units: Mapping[str, str],
    model: Model,
    label: str,
    problems: list[Problem],
    files: ExitStack,
    selection: Selection | None,
) -> dict[int, Column]:
    """Choose the columns that can be read, by position, and give them temporary `files`; add problems for the others.

    `units` are those that the metadata of the columns state; a unit in the header comes first.
    """
    known = {**by_name(model.parameters), SCHEME: None} if selection is None else selection.known(names, model)
    columns: dict[int, Column] = {}
    seen: set[str] = set()
    twice, unknown = [], []
    for position, header in enumerate(names):
        name, unit = split_header(header, known)
        if selection is not None and not selection.takes(name):
            pass
        elif name in seen:
            twice.append(name)
        elif name in known:
            values, absent = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))  # noqa: SIM115 - `files` closes them
            factor = factor_in(header, unit, known[name], label, problems, units.get(header))
            columns[position] = Column(name, known[name], values, absent, factor)
        else:
            unknown.append(name)
        seen.add(name)

    def problem(name: str) -> Problem:
        separator = "; columns are separated by commas" if ";" in name else ""
        others = f"; {selection.key} chooses the columns that are read" if selection else ""
        message = of_another(name, model) or f"unknown parameter; {advise(name, known, PARAMETERS)}{separator}{others}"
        return Problem(f"{label}, column {name}", message)

    problems += first_of(unknown, problem, label, "columns")
    problems += first_of(twice, lambda name: Problem(f"{label}, column {name}", "given twice"), label, "columns")
    problems += selection.absent(seen) if selection else []
    return columns


def split_header(header: str, known: Collection[str]) -> tuple[str, str | None]:
    """The parameter of a header and its unit, None if it states none: "a0 [mm/s^2]", "gap[second] [mm]"; gap[second] is a parameter."""
    if header in known:
        return header, None
    return (split_of_support(header) if any("[" in name for name in known) else None) or split_unit(header)


def split_of_support(header: str) -> tuple[str, str | None] | None:
    """A name with brackets of its own, and the unit after it or None: "gap[second] [mm]"; None if a header has no such name."""
    text = header.strip()
    found = OF_A_SUPPORT.match(text)
    rest, unit = split_unit(text[found.end() :]) if found else ("", None)
    return (found[0], unit) if found and not rest else None


def factor_in(
    header: str, unit: str | None, quantity: Quantity | None, label: str, problems: list[Problem], metadata: str | None = None
) -> float:
    """The factor from the unit that a header, or else the metadata, states to that of the parameter.

    It is 1 if neither states one, and with a problem if it is none.
    """
    given_by = "the header"
    if unit is None and quantity is not None and quantity.unit != "":
        unit, given_by = metadata, "the metadata"
    if unit is None:
        return 1.0
    if quantity is None or quantity.unit == "":
        what = "words" if quantity is None or quantity.kind == "word" else "whole numbers"
        problems.append(Problem(f"{label}, column {header}", f"a column of {what} has no unit"))
        return 1.0
    wanted = Wanted(quantity.name, quantity.unit, quantity.name, given=unit, given_by=given_by)
    return factor_of(wanted, "", f"{label}, column {header}", problems)


def read_cells(
    column: pa.ChunkedArray, quantity: Quantity, factor: float, label: str, before: int, found: Findings
) -> tuple[np.ndarray, np.ndarray]:
    """Values and absent mask of a column of parameters, after `before` rows; add to `found` where a cell is wrong."""
    if quantity.kind == "word":
        return read_words(column, quantity, label, before, found)
    read = read_lists if quantity.kind == "list" else read_numbers
    return read(column, quantity, label, before, found, factor=factor)


def read_schemes(
    column: pa.ChunkedArray, model: Model, scheme: str, label: str, before: int, found: Findings
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the column "scheme", after `before` rows, none of them absent; add to `found` where a cell is no scheme."""
    known = {name: SCHEME_NAMES.index(name) for name in model.schemes}
    codes = codes_of(column, known, "a scheme", "", label, before, found)
    return np.where(np.isnan(codes), known.get(scheme, 0), codes).astype(np.int8), np.zeros(len(codes), dtype=bool)
