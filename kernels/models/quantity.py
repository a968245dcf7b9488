"""Physical quantities: name, unit, default, bounds. The one source for validation, columns, labels and documents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Values = Mapping[str, Any]  # resolved parameters by name: floats or arrays that broadcast


@dataclass(frozen=True, slots=True)
class Quantity:
    """A named physical quantity: a parameter that users set or an observable that a run returns.

    Attributes:
        name: identifier in configurations, columns and the Python interface.
        unit: SI unit, "1" when dimensionless, "" for words and counts of no unit.
        description: one sentence without a full stop.
        symbol: how axis labels write it (mathtext without dollar signs); empty: the name.
        kind: "float", "integer" (a whole number), "word" (one of `words`) or "list" (a table: any number of floats, along the last axis of
            an array, padded with NaN).
        default: value when omitted (of a "word" its code); None when `default_rule` derives it or when there is no default.
        default_rule: how a derived default is found, in words.
        lower, upper: bounds of admissible values, in `unit`.
        lower_open, upper_open: True when the bound itself is not admissible.
        words: the admissible words of a "word"; the position of a word is the code that kernels take and return.
        optional: of an observable: NaN (null) if its event did not happen, which is no failure.
        unknown: of an optional observable: NaN (null) where it could not be computed. What did happen is then not known.
        survives: of an observable: kept in a row that fails.
        steady: of an observable: returned only by a run to its steady motion.
        length: of a list: the number of its entries, each of which may be NaN; 0 for any number of them.
        needs: of an observable: names of parameters and outputs without which a run does not return it; of names with | between them one.
    """

    name: str
    unit: str
    description: str
    symbol: str = ""
    kind: Literal["float", "integer", "word", "list"] = "float"
    default: float | tuple[float, ...] | None = None
    default_rule: str = ""
    lower: float = -math.inf
    upper: float = math.inf
    lower_open: bool = False
    upper_open: bool = False
    words: tuple[str, ...] = ()
    optional: bool = False
    survives: bool = False
    steady: bool = False
    needs: tuple[str, ...] = ()
    length: int = 0
    unknown: bool = False

    @property
    def bounds(self) -> str:
        """The admissible values in words, empty when every finite number is: "> 0", "in [0, 1]"."""
        if self.kind == "integer":
            return f"a whole number {f'>= {self.lower:g}' if math.isinf(self.upper) else f'from {self.lower:g} to {self.upper:g}'}"
        below = "" if math.isinf(self.lower) else f"{'>' if self.lower_open else '>='} {self.lower:g}"
        above = "" if math.isinf(self.upper) else f"{'<' if self.upper_open else '<='} {self.upper:g}"
        return " and ".join(part for part in (below, above) if part)

    @property
    def unit_suffix(self) -> str:
        """The unit as written after a number: " m/s", or nothing when dimensionless."""
        return "" if self.unit in ("", "1") else f" {self.unit}"

    @property
    def label(self) -> str:
        """Axis label: symbol and unit, with mathtext."""
        head = f"${self.symbol}$" if self.symbol else self.name.replace("_", " ")
        return head if self.unit in ("", "1") else f"{head} [{self.unit}]"

    def out_of_bounds(self, values: Any, xp: Any = np) -> Any:
        """Mask of the finite entries of `values` (any shape, in `unit`) that are not admissible. `xp`: array module, numpy or jax.numpy."""
        array = xp.asarray(values, dtype=xp.float64)
        low = array <= self.lower if self.lower_open else array < self.lower
        high = array >= self.upper if self.upper_open else array > self.upper
        return xp.isfinite(array) & (low | high | (xp.floor(array) != array if self.kind == "integer" else np.False_))


def by_name(quantities: tuple[Quantity, ...]) -> dict[str, Quantity]:
    """Index quantities by their name, in order."""
    return {quantity.name: quantity for quantity in quantities}
