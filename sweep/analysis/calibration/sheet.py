"""Files of measurements: CSV or Parquet, one row per test or sample; problems name the row."""

from __future__ import annotations

import errno
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.io.columns import split_unit
from tribosweep.sweep.io.errors import Findings, Problem, advise, first_of, shorten
from tribosweep.sweep.io.foreign import UnreadableError
from tribosweep.sweep.io.tables import MOST_BYTES, READERS, read_numbers, read_text, why
from tribosweep.sweep.io.values import DEFAULT
from tribosweep.sweep.study.point_table import factor_in, read_cells, split_of_support

if TYPE_CHECKING:
    import pyarrow as pa

UNIT = "_unit"  # ending of a column that gives the unit of another column
LABEL = "test"  # the column that names the rows
POSITIVE = {"sd": "standard deviation", "weight": "weight"}


@dataclass(frozen=True, slots=True)
class Sheet:
    """The cells of a file of measurements, before interpretation.

    Attributes:
        file: the name of the file. label: the key that names it, and its name, for messages.
        columns: name -> its cells.
        count: how many rows.
        units: name -> the unit that its header states, for the columns that have one.
    """

    file: str
    label: str
    columns: dict[str, pa.ChunkedArray]
    count: int
    units: dict[str, str] = field(default_factory=dict)

    def place(self, column: str, row: int | None = None) -> str:
        """The location named in a message; the first row below the header is row 1."""
        return f"{self.label}, column {column}" + ("" if row is None else f", row {row + 1}")


def read_sheet(path: Path, where: str, problems: list[Problem], named: Collection[str] = ()) -> Sheet | None:
    """Read a .csv or .parquet file; None and problems if it cannot be read, has no rows or has a column twice.

    A header may state a unit, as `force [kN]` or `force (kN)`. Its column is called `force`, unless the study has `named` it in full.
    """
    import pyarrow as pa

    if path.suffix.lower() not in READERS:
        problems.append(Problem(where, f"{path}: must end in {' or '.join(READERS)}"))
        return None
    try:
        source = READERS[path.suffix.lower()](path)
        parts = list(limited(source.pieces, path))
        table = pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({name: [] for name in source.names})
    except (OSError, UnreadableError, pa.ArrowException, UnicodeError) as error:
        problems.append(Problem(where, f"cannot read {path}: {why(error)}"))
        return None
    label = f"{where}: {path.name}"
    headers = [name.strip() for name in source.names]
    stated = [stated_in(header) for header in headers]
    names = [header if header in named else name for header, (name, _) in zip(headers, stated, strict=True)]
    said = {header.strip(): unit for header, unit in source.units.items()}
    units = {name: said[header] for name, header in zip(names, headers, strict=True) if header in said}
    units |= {name: unit for name, (_, unit) in zip(names, stated, strict=True) if unit is not None}
    twice = [name for name, count in Counter(names).items() if count > 1]
    problems += first_of(twice, lambda name: Problem(f"{label}, column {name}", "given twice"), label, "columns")
    if table.num_rows == 0:
        problems.append(Problem(where, f"{path} has no rows: nothing was measured"))
    if not table.num_rows or twice:
        return None
    return Sheet(path.name, label, dict(zip(names, table.columns, strict=True)), table.num_rows, units)


def limited(pieces: Iterable[pa.Table], path: Path) -> Iterator[pa.Table]:
    """The pieces of a file; OSError when they have more cells, nodes of lists included, than are kept in memory."""
    held = 0
    for piece in pieces:
        held += piece.nbytes
        if held > MOST_BYTES:
            raise OSError(errno.EFBIG, f"its cells take more than {MOST_BYTES:,} bytes of memory", str(path))
        yield piece


def stated_in(header: str) -> tuple[str, str | None]:
    """The name and the unit of a header; "x[centre]" and "normal_force_peak[ring]" are names, as no space is before their brackets."""
    name, unit = split_of_support(header) or split_unit(header)
    return (name, unit) if name else (header, None)


def factor_to(sheet: Sheet, column: str, quantity: Quantity, problems: list[Problem]) -> float:
    """The factor from the unit that the header of a column states to that of a quantity; 1 where it states none."""
    return factor_in(column, sheet.units.get(column), quantity, sheet.label, problems)


def check_columns(sheet: Sheet, known: Iterable[str], problems: list[Problem]) -> None:
    """Check that every column is known or gives the unit of a known column."""
    names = dict.fromkeys([*known, LABEL])
    unknown = [column for column in sheet.columns if column not in names and column.removesuffix(UNIT) not in names]
    message = "neither a parameter of the model nor compared with an observable"
    problems += first_of(unknown, lambda name: Problem(sheet.place(name), f"{message}; {advise(name, names)}"), sheet.label, "columns")


def read_setting(sheet: Sheet, quantity: Quantity, problems: list[Problem]) -> np.ndarray | None:
    """Read the (rows,) values of a parameter, or (rows, L) of a table; None and problems if a cell is wrong.

    An empty cell means the documented default. If the default depends on other parameters, either all cells or none must be empty.
    """
    name = quantity.name
    found, factor = Findings(), factor_to(sheet, name, quantity, problems)
    values, absent = read_cells(sheet.columns[name], quantity, factor, sheet.place(name), 0, found)
    check_unit(sheet, name, quantity, found)
    if not found.count and quantity.kind != "list":
        meaning = f"({quantity.description}{f', unit {quantity.unit}' if quantity.unit else ''})"
        wrong = np.flatnonzero(~np.isfinite(values) & ~absent).tolist()
        found.add_all(wrong, lambda row: Problem(sheet.place(name, row), f"{float(values[row])!r} is not a finite number {meaning}"))
    if not found.count and absent.any() and quantity.default is None:
        message = f"empty, and its default follows from other parameters ({quantity.default_rule}): give it in every row, or in none"
        found.add_all(np.flatnonzero(absent).tolist(), lambda row: Problem(sheet.place(name, row), message))
    if found.report(sheet.place(name), problems):
        return None
    if absent.any():
        default = np.asarray(quantity.default, dtype=float)
        if quantity.kind == "list":
            width = max(values.shape[1], len(default))
            values, default = (np.pad(each, [*[(0, 0)] * (each.ndim - 1), (0, width - each.shape[-1])], constant_values=math.nan)
                               for each in (values, default))  # fmt: skip
            return np.where(absent[:, np.newaxis], default, values)
        return np.where(absent, default, values)
    return values


def read_measured(sheet: Sheet, column: str, quantity: Quantity, problems: list[Problem]) -> np.ndarray:
    """Read the (rows,) numbers of a column, NaN for an empty cell; add problems if a cell holds no finite number."""
    found = Findings()
    free = Quantity(quantity.name, quantity.unit, quantity.description)
    factor = factor_to(sheet, column, quantity, problems)
    values, absent = read_numbers(sheet.columns[column], free, sheet.place(column), 0, found, [""], factor)
    check_unit(sheet, column, quantity, found)
    wrong = np.flatnonzero(~np.isfinite(values) & ~absent).tolist() if not found.count else []
    message = f"is not a finite number ({quantity.description}); a cell is empty where nothing was measured"
    found.add_all(wrong, lambda row: Problem(sheet.place(column, row), f"{float(values[row])!r} {message}"))
    return np.where(absent, math.nan, values) if not found.report(sheet.place(column), problems) else np.full(sheet.count, math.nan)


def read_positive(sheet: Sheet, column: str, quantity: Quantity, what: str, measured: np.ndarray, problems: list[Problem]) -> np.ndarray:
    """Read the (rows,) standard deviations or weights (`what`) of a column; they must be positive wherever there is a measured number."""
    found = Findings()
    unit = quantity.unit if what == "sd" else "1"
    meaning = Quantity(what, unit, f"{POSITIVE[what]} of {quantity.name}")
    factor = factor_to(sheet, column, meaning, problems)
    values, absent = read_numbers(sheet.columns[column], meaning, sheet.place(column), 0, found, [""], factor)
    check_unit(sheet, column, meaning, found)

    def problem(row: int) -> Problem:
        said = "empty" if absent[row] else f"{float(values[row])!r}"
        message = f"{said}: the {POSITIVE[what]} of a number that was measured must be finite and > 0 (unit {unit})"
        return Problem(sheet.place(column, row), message)

    if not found.count:
        found.add_all(np.flatnonzero(np.isfinite(measured) & ~(np.isfinite(values) & (values > 0.0))).tolist(), problem)
    return np.ones(sheet.count) if found.report(sheet.place(column), problems) else values


def check_unit(sheet: Sheet, column: str, quantity: Quantity, found: Findings) -> None:
    """Check that the unit column of a column, if there is one, agrees with the unit of the model."""
    place = f"{column}{UNIT}"
    for row, cell in enumerate(read_text(sheet.columns[place], sheet.place(place), 0, found) if place in sheet.columns else []):
        word = "" if cell is None else str(cell).strip()
        if word not in ("", DEFAULT, sheet.units.get(column, quantity.unit)):
            needed = f"the header of {column} says {sheet.units[column]}" if column in sheet.units else ""
            needed = needed or f"{column} must be in {quantity.unit or 'no unit'}"
            message = f"{shorten(word)} disagrees: {needed} ({quantity.description})"
            found.add(sheet.place(place, row), message)


def read_labels(sheet: Sheet, problems: list[Problem]) -> list[str]:
    """The labels of the rows: from the column "test", or their numbers."""
    found = Findings()
    said = read_text(sheet.columns[LABEL], sheet.place(LABEL), 0, found) if LABEL in sheet.columns else [None] * sheet.count
    found.report(sheet.place(LABEL), problems)
    return [f"row {row + 1}" if cell is None or not str(cell).strip() else str(cell).strip() for row, cell in enumerate(said)]
