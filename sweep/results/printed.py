"""Numbers and tables as the terminal prints them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table for the terminal.

    Attributes:
        title: above it; may be empty. header: names of the columns. rows: the cells; floats are shown with 7 significant digits.
        right: names of the columns that are aligned right.
        most: how many rows are printed. what: the noun of the rows, for the sentence on those that are not.
        spare: names of the columns that are left out, in this order, where the table is too wide.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    right: Sequence[str] = ()
    most: int = 1000
    what: str = "rows"
    spare: Sequence[str] = ()


def short(value: float | None, digits: int = 5) -> str:
    """A number with few digits; "-" if it is undefined."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def cell(value: object) -> str:
    """A cell of a table of records: a float with few digits, "-" for a missing value, all else as it is."""
    return short(value) if value is None or isinstance(value, float) else str(value)
