"""Columns of numbers from CSV or Parquet files, with units from the header or from the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.io import tables
from tribosweep.sweep.io.errors import Findings, Problem, advise, shorten
from tribosweep.sweep.io.foreign import UnreadableError
from tribosweep.sweep.io.units import in_unit, spelled

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS = 2**24
MOST_WRITTEN = 2**19  # rows whose numbers the resolved study holds, as text of at most 32 MiB


@dataclass(frozen=True, slots=True)
class Wanted:
    """A column to be read.

    Attributes:
        what: its default name and its meaning.
        unit: SI unit of the result, and of the cells if no other unit is stated.
        name: its name in the file.
        key: key of the study that gives the name; empty if none does.
        given: unit that the study states; None if it does not. given_by: the key that states it.
    """

    what: str
    unit: str
    name: str
    key: str = ""
    given: str | None = None
    given_by: str = ""


def read_columns(
    path: Path, wanted: Sequence[Wanted], where: str, problems: list[Problem], most: int = MOST_ROWS
) -> list[np.ndarray] | None:
    """Read columns of a file in SI units.

    Args:
        path: a .csv or .parquet file. Lines of a CSV file before its header that begin with # are skipped.
        wanted: the columns. Their headers may state a unit: `acceleration`, `acceleration [g]`, `acceleration (g)`, and so may
            the metadata of a column of Parquet.
        where: the key that names the file, for messages.
        problems: list to which problems are added, with row (the first row below the header is row 1), value, unit and advice.
        most: how many rows are read; more are a problem.

    Returns:
        (n,) float64 of each column, all finite; None if there are problems.
    """
    import pyarrow as pa

    if path.suffix.lower() not in tables.READERS:
        problems.append(Problem(where, f"{path}: must end in {' or '.join(tables.READERS)}"))
    else:
        try:
            return read_open(path, wanted, f"{where}: {path.name}", problems, most)
        except (OSError, UnreadableError, pa.ArrowException, UnicodeError) as error:
            problems.append(Problem(where, f"cannot read {path}: {tables.why(error)}"))
    return None


def read_open(path: Path, wanted: Sequence[Wanted], label: str, problems: list[Problem], most: int) -> list[np.ndarray] | None:
    """Do the work of `read_columns`; errors of the file readers are not caught."""
    source = tables.READERS[path.suffix.lower()](path)
    headers, said = source.names, source.units
    places = [find_column(headers, column, label, problems) for column in wanted]
    if None in places:
        return None
    units = [
        split_unit(header)[1] or said.get(header) or column.given or column.unit
        for column, header in zip(wanted, [headers[place or 0] for place in places], strict=True)
    ]
    chosen = [
        (column, place, f"{label}, column {headers[place].strip()}")
        for column, place in zip(wanted, places, strict=True)
        if place is not None
    ]
    before = len(problems)
    factors = [factor_of(column, headers[place], where, problems, said.get(headers[place])) for column, place, where in chosen]
    if len(problems) > before:
        return None
    parts: list[list[np.ndarray]] = [[np.empty(0)] for _ in wanted]
    found = Findings()
    rows, most_rows = 0, min(most, tables.MOST_NUMBERS // len(wanted))
    for piece in source.pieces:
        for part, unit, (column, place, where) in zip(parts, units, chosen, strict=True):
            part.append(read_cells(piece.column(place), f"({column.what}, unit {unit})", where, rows, found))
        rows += piece.num_rows
        if rows > most_rows:
            columns = f" of {len(wanted)} columns" if len(wanted) > 2 else ""
            problems.append(Problem(label, f"more than {most_rows:,} rows{columns}"))
            return None
    if found.report(label, problems):
        return None
    return [factor * np.concatenate(part) for factor, part in zip(factors, parts, strict=True)]


def split_unit(header: str) -> tuple[str, str | None]:
    """Split a header into name and unit: "acceleration [g]" and "acceleration (g)" become "acceleration" and "g"."""
    text = header.strip()
    name = text.replace("(", "[").partition("[")[0]
    return (name.rstrip(), text[len(name) + 1 : -1].strip()) if len(name) < len(text) and text[-1] in "])" else (text, None)


def find_column(headers: list[str], wanted: Wanted, label: str, problems: list[Problem]) -> int | None:
    """The position of a column; None and a problem if there is not exactly one with that name."""
    name = wanted.name.strip()
    exact = [place for place, header in enumerate(headers) if header.strip() == name]
    alike = [place for place, header in enumerate(headers) if split_unit(header)[0].casefold() == split_unit(name)[0].casefold()]
    found = exact or alike
    if len(found) == 1:
        return found[0]
    if found:
        problems.append(Problem(f"{label}, column {name}", f"given {len(found)} times"))
    elif all(is_number(header) for header in headers):
        problems.append(Problem(label, f"its first line holds numbers: it must name the columns, of which {name!r} is one"))
    else:
        separator = "; columns are separated by commas" if any(";" in header for header in headers) else ""
        called = f'; {wanted.key} = "..." says what it is called' if wanted.key else ""
        problems.append(Problem(label, f"has no column {name!r}; {advise(name, [h.strip() for h in headers])}{called}{separator}"))
    return None


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        tables.number_in(text)
    except ValueError:
        return False
    return True


def factor_of(wanted: Wanted, header: str, label: str, problems: list[Problem], metadata: str | None = None) -> float:
    """The factor from the unit of a column, of its header or else of its metadata, to SI.

    It is 1, with a problem, if the unit does not fit, or if two units are stated.
    """
    stated, source = split_unit(header)[1], "the header"
    if stated is None:
        stated, source = metadata, "the metadata"
    factors = []
    for place, unit in ((source, stated), (wanted.given_by, wanted.given)):
        if unit is not None:
            try:
                factors.append(1.0 if unit == wanted.unit else in_unit(f"1 {spelled(unit)}", wanted.unit))
            except ValueError as error:
                fitting = "give plain numbers" if wanted.unit in ("", "1") else f"write one such as {wanted.unit}"
                turning = "; it may be turns or radians" if "turns or radians" in str(error) else ""
                problems.append(Problem(label, f"{unit!r}, as {place} says, is no unit of {wanted.what}: {fitting}{turning}"))
                return 1.0
    if len(set(factors)) > 1:
        problems.append(Problem(label, f"{source} says {stated!r} and {wanted.given_by} {wanted.given!r}: leave out what is wrong"))
    return factors[0] if factors else 1.0


def read_cells(cells: pa.ChunkedArray, meaning: str, label: str, before: int, found: Findings) -> np.ndarray:
    """Read numbers, after `before` rows; add to `found`, with their `meaning`, where a cell is empty, no number or not finite."""
    values, empty, words = tables.cells_as_numbers(cells, meaning, label, before, found, [""])

    def problem(row: int) -> Problem:
        comma = "; numbers have a decimal point" if "," in words.get(row, "") else ""
        said = f"{shorten(words[row])} is no number{comma}" if row in words else "is empty" if empty[row] else f"{float(values[row])!r}"
        return Problem(f"{label}, row {before + row + 1}", f"{said}: must be a finite number {meaning}")

    found.add_all(np.flatnonzero(~np.isfinite(values)).tolist(), problem)
    return np.asarray(values, float)
