"""An axis of a design: the values of one parameter, or of the scheme."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import SCHEMES
from tribosweep.sweep.io.values import DEFAULT, written

SCHEME = "scheme"
SCHEME_NAMES = tuple(SCHEMES)
INTEGER = "integer"
RECORD, DRAW = "record", "draw"


class Axis(Protocol):
    """The interface of an axis. Places along it are positions of values if the axis has a number of values, else fractions in [0, 1]."""

    @property
    def name(self) -> str:
        """Name of the parameter, or "scheme"."""

    def at(self, places: np.ndarray, /) -> np.ndarray:
        """The values at `places`, same shape; for tables with one more axis, at the end."""

    def absent_at(self, places: np.ndarray, /) -> np.ndarray | None:
        """Mask of the default entries at `places`; None if the axis has none."""

    def to_document(self) -> Any:
        """The axis in the format of a study file."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Values listed one by one.

    Attributes:
        name: name of the parameter, or "scheme".
        values: (n,) float64 in the parameter's unit, NaN if absent; the codes of words; (n, L) for tables, each padded with NaN; for
            "scheme" the (n,) int8 positions in SCHEMES.
        absent: (n,) mask of the entries that take the documented default.
        quantity: the parameter; None for "scheme" and for plain numbers.
    """

    name: str
    values: np.ndarray
    absent: np.ndarray
    quantity: Quantity | None = None

    @property
    def count(self) -> int:
        """The number of values."""
        return len(self.values)

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The values at `positions`, same shape; for tables with one more axis, at the end."""
        return np.asarray(self.values[positions])

    def absent_at(self, positions: np.ndarray) -> np.ndarray | None:
        """Mask of the default entries at `positions`; None if the axis has none."""
        return np.asarray(self.absent[positions]) if self.absent.any() else None

    def to_document(self) -> list[Any]:
        """The axis in the format of a study file."""
        if self.name == SCHEME:
            return [SCHEME_NAMES[code] for code in self.values]
        return [DEFAULT if absent else written(self.quantity, value) for value, absent in zip(self.values, self.absent, strict=True)]


@dataclass(frozen=True, slots=True)
class Spaced:
    """Evenly spaced values, computed when they are needed, so that an axis of any length costs no memory.

    Attributes:
        name: name of the parameter.
        start, stop: first and last value, in its unit; both are exact.
        count: number of values, at least 1 (then `start`).
        logarithmic: whether the logarithms are evenly spaced instead of the values.
    """

    name: str
    start: float
    stop: float
    count: int
    logarithmic: bool

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The values at `positions`, same shape, float64."""
        first, last = self.start, self.stop
        if self.logarithmic:
            first, last = math.log10(abs(first)), math.log10(abs(last))
        step = (last - first) / max(self.count - 1, 1)
        values = first + positions * step
        if self.logarithmic:
            values = math.copysign(1.0, self.start) * 10.0**values
        values = np.where(positions == self.count - 1, self.stop, values)
        return np.where(positions == 0, self.start, values)

    def absent_at(self, positions: np.ndarray) -> None:
        """None: a range has no default entries."""

    def to_document(self) -> dict[str, Any]:
        """The axis in the format of a study file."""
        return {"from": self.start, "to": self.stop, "count": self.count, "spacing": "log" if self.logarithmic else "linear"}


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole numbers from `start` to `stop`, both included; computed when they are needed."""

    name: str
    start: int
    stop: int

    @property
    def count(self) -> int:
        """The number of values."""
        return self.stop - self.start + 1

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The values at `positions`, same shape, float64."""
        return np.asarray(self.start + positions, dtype=np.float64)

    def absent_at(self, positions: np.ndarray) -> None:
        """None: a range has no default entries."""

    def to_document(self) -> dict[str, Any]:
        """The axis in the format of a study file."""
        return {"from": float(self.start), "to": float(self.stop), "spacing": INTEGER}


@dataclass(frozen=True, slots=True)
class Continuous:
    """All values between two ends, as an axis of a sampling design.

    Attributes:
        name: name of the parameter.
        start, stop: the ends, in its unit; only rounding can reach `stop` itself.
        logarithmic: whether the logarithm is uniform instead of the value.
    """

    name: str
    start: float
    stop: float
    logarithmic: bool

    def at(self, fractions: np.ndarray) -> np.ndarray:
        """The values at `fractions` of the way from `start` to `stop`, in [0, 1), same shape, float64."""
        first, last = self.start, self.stop
        if self.logarithmic:
            first, last = math.log10(abs(first)), math.log10(abs(last))
        values = first + fractions * (last - first)
        if self.logarithmic:
            values = math.copysign(1.0, self.start) * 10.0**values
        return np.clip(values, min(self.start, self.stop), max(self.start, self.stop))

    def absent_at(self, fractions: np.ndarray) -> None:
        """None: a range has no default entries."""

    def to_document(self) -> dict[str, Any]:
        """The axis in the format of a study file."""
        return {"from": self.start, "to": self.stop, "spacing": "log" if self.logarithmic else "linear"}


Counted = Listed | Spaced | Whole
