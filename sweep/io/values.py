"""Values of quantities in files: parsing with units and bounds, and writing."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.io.errors import Problem, advise, report, shorten
from tribosweep.sweep.io.units import in_unit

DEFAULT = "default"
WRITTEN_NUMBERS = tuple("+-.0123456789")  # first characters of a number, with or without a unit
Value = float | np.ndarray  # a number, the code of a word, or the (L,) nodes of a table


def number(quantity: Quantity, value: Any) -> float:
    """Convert a value of the file to a float.

    Args:
        quantity: quantity of the value.
        value: content of the file, in the quantity's unit, or text with its own unit ("1 Hz").

    Raises:
        ValueError: not a number, not finite or out of bounds; the message gives bound, meaning and unit.
    """
    meaning = f"({quantity.description}{f', unit {quantity.unit}' if quantity.unit else ''})"
    if isinstance(value, str) and quantity.unit and value.strip()[:1] in WRITTEN_NUMBERS:
        try:
            value = in_unit(value, quantity.unit)
        except ValueError as error:
            raise ValueError(f"{error} {meaning}") from None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"must be a number, not {shorten(value)} {meaning}")  # noqa: TRY004 - callers treat all three alike
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise ValueError(f"must be a finite number, not {shorten(value)} {meaning}")
    if quantity.out_of_bounds(result):
        raise ValueError(f"{shorten(value)} is out of bounds: must be {quantity.bounds} {meaning}")
    return result


def code_of(quantity: Quantity, value: Any) -> float:
    """The code of a word of the file; ValueError if it is none of the quantity's words."""
    if not isinstance(value, str) or value not in quantity.words:
        raise ValueError(f"{shorten(value)} is not a word of it; {advise(value, quantity.words)} ({quantity.description})")
    return float(quantity.words.index(value))


def read_number(quantity: Quantity, path: str, value: Any, problems: list[Problem]) -> float | None:
    """Read a value of the file as a float; None and a problem at `path` if it is no valid number."""
    try:
        return number(quantity, value)
    except ValueError as error:
        problems.append(Problem(path, str(error)))
    return None


def read_value(quantity: Quantity, path: str, value: Any, problems: list[Problem]) -> Value:
    """Read a value of the file in the form of the kernels; NaN or no nodes, and problems, if it is invalid.

    Args:
        quantity: quantity of the value.
        path: its key. value: content of the file.
        problems: list to which problems are added; a table may add one per node.
    """
    if quantity.kind == "list":
        return read_nodes(quantity, path, value, problems)
    try:
        return code_of(quantity, value) if quantity.kind == "word" else number(quantity, value)
    except ValueError as error:
        problems.append(Problem(path, str(error)))
    return math.nan


def read_nodes(quantity: Quantity, path: str, value: Any, problems: list[Problem]) -> np.ndarray:
    """Read the (L,) nodes of a table; no nodes, and problems, if there are any problems."""
    if not isinstance(value, list):
        meaning = f"({quantity.description}, unit {quantity.unit})"
        problems.append(Problem(path, f"must be a list of numbers such as [2.0, 3.0], not {shorten(value)} {meaning}"))
        return np.empty(0)
    found: list[Problem] = []
    nodes = np.full(len(value), math.nan)
    for node, one in enumerate(value):
        try:
            nodes[node] = number(quantity, one)
        except ValueError as error:
            found.append(Problem(f"{path}[{node}]", f"node {node}: {error}"))
    return np.empty(0) if report(found, path, problems) else nodes


def padded(tables: Sequence[Any]) -> np.ndarray:
    """(n, L) float64 of n tables of any length; shorter tables are padded with NaN."""
    rows = np.full((len(tables), max(map(len, tables), default=0)), math.nan)
    for row, table in zip(rows, tables, strict=True):
        row[: len(table)] = table
    return rows


def written(quantity: Quantity | None, value: Any) -> Any:
    """A value in the format of a study file: a float, a whole number, a word, or a list of floats."""
    if quantity is not None and quantity.kind == "list":
        nodes = np.asarray(value, float)
        return nodes[~np.isnan(nodes)].tolist()
    if quantity is not None and quantity.kind == "word":
        return quantity.words[int(value)]
    return int(value) if quantity is not None and quantity.kind == "integer" else float(value)


def number_like(value: Any) -> bool:
    """Whether `value` is a number other than a boolean, and no whole number beyond those that a float holds."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True
