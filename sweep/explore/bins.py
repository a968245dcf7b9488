"""Bins of a column: equal ones, linear or in the logarithm, whose edges fit the values of a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST = 128  # bins of a column; a code of one byte has room for NONE
NONE = 255  # the code of rows without a value
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # widths that people read easily, times a power of ten


@dataclass(frozen=True, slots=True)
class Bins:
    """Equal bins.

    Attributes:
        low: lower edge of the first bin, in the column's unit, or as its decimal logarithm. width: of a bin, likewise.
        count: number of bins. logarithmic: whether `low` and `width` are logarithms.
    """

    low: float
    width: float
    count: int
    logarithmic: bool = False

    def code(self, name: str) -> str:
        """An SQL expression for the number of a value's bin, from 0 on; NONE without a value, and of values <= 0 on a logarithmic scale."""
        value = f'"{escaped(name)}"::DOUBLE'
        place, real = (f"log10({value})", f"isfinite({value}) AND {value} > 0") if self.logarithmic else (value, f"isfinite({value})")
        number = f"floor(({place} - {self.low!r}::DOUBLE) / {self.width!r}::DOUBLE)"
        return f"(CASE WHEN {real} THEN least(greatest({number}, 0), {self.count - 1}) ELSE {NONE} END)::UTINYINT"

    def edges(self) -> np.ndarray:
        """(count + 1,) edges in the column's unit."""
        places = self.low + self.width * np.arange(self.count + 1)
        return 10.0**places if self.logarithmic else places

    def joined(self, together: int) -> Bins:
        """Bins of which each is as wide as `together` neighbours."""
        return Bins(self.low, self.width * together, math.ceil(self.count / together), self.logarithmic)

    def to_json(self) -> dict[str, Any]:
        """For the page."""
        return {"low": self.low, "width": self.width, "count": self.count, "log": self.logarithmic}


def escaped(name: str) -> str:
    """The name of a column between double quotes of SQL."""
    return name.replace('"', '""')


def bins_of(low: float, high: float, logarithmic: bool = False, whole: bool = False, values: Sequence[float] | None = None) -> Bins:
    """Bins of all values from `low` to `high`.

    Args:
        low, high: finite; of a logarithmic scale positive.
        logarithmic: whether bins are equal in the logarithm. whole: whether all values are whole numbers.
        values: the different values if they are few: where they are evenly spaced, every bin holds as many of them.
    """
    logarithmic = logarithmic and low > 0.0
    if values is not None and (fitting := _around(values, logarithmic)):
        return fitting
    if whole and not logarithmic:
        together = math.ceil((high - low + 1.0) / MOST)
        return Bins(low - 0.5, float(together), math.ceil((high - low + 1.0) / together))
    if logarithmic:
        low, high = math.log10(low), math.log10(high)
    if not high > low:
        return Bins(low - 0.5, 1.0, 1, logarithmic)
    width = _readable((high - low) / MOST)
    first = math.floor(low / width * (1.0 + 1e-12)) * width
    if not (first <= low and math.isfinite(width) and first + width > first):  # a range as narrow as rounding
        first, width = low, (high - low) / MOST
    return Bins(first, width, min(max(math.ceil((high - first) / width * (1.0 - 1e-12)), 1), MOST + 1), logarithmic)


def _around(values: Sequence[float], logarithmic: bool) -> Bins | None:
    """Bins with each value, or as many neighbours, in their middle; None if the values are not evenly spaced."""
    places = np.unique(np.asarray(values, dtype=np.float64))
    if logarithmic:
        places = np.log10(places)
    steps = np.diff(places)
    if len(places) < 2 or np.ptp(steps) > 1e-6 * steps.mean():
        return None
    step, together = float(places[-1] - places[0]) / (len(places) - 1), math.ceil(len(places) / MOST)
    return Bins(float(places[0]) - 0.5 * step, together * step, math.ceil(len(places) / together), logarithmic)


def _readable(width: float) -> float:
    """The next larger width that people read easily."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in STEPS if step * power >= width * (1.0 - 1e-9))
