"""Rank correlations: the coefficients of all pairs, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.results.printed import PrintedTable, short
from tribosweep.sweep.results.result import Result, finite_or_none, metadata_of

if TYPE_CHECKING:
    import pyarrow as pa


PAIRS = "pairs"
COLUMNS = ("first", "second", "rows", "correlation", "low", "high")
MOST_COLUMNS = 60
LISTED = 40  # pairs in a printed table
WIDEST = 8  # columns of a printed matrix


@dataclass(frozen=True, slots=True, repr=False)
class Correlation(Result):
    """Spearman's coefficients of rank correlation between parameters and observables; a notebook shows them.

    Attributes:
        names: of the k columns, the parameters before the observables. parameters: how many of them are parameters.
        correlation, low, high: (k, k) coefficients and the ends of their intervals; NaN where they are unknown.
        rows: (k, k) numbers of rows with both values.
        failed: number of rows without results, which do not count.
        confidence: level of the intervals. state: of the run (`run_state.state_of`). request: what was asked, and the values held.
        notes: for the reader.
    """

    names: tuple[str, ...]
    parameters: int
    correlation: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray
    failed: int
    confidence: float
    state: dict[str, Any]
    request: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    folder: ClassVar[str] = "correlation"

    def line(self) -> str:
        """The pair of a parameter and an observable whose ranks go together most."""
        found = [(abs(r), f"{a} and {b}: {r:.3g}") for a, b, r, _, _, _ in self.pairs() if (a in self._given) != (b in self._given)]
        known = [each for each in found if np.isfinite(each[0])]
        return f"{len(self.names)} columns{f': {max(known)[1]}' if known else ''}"

    @property
    def _given(self) -> tuple[str, ...]:
        """The parameters."""
        return self.names[: self.parameters]

    @property
    def has_failures(self) -> bool:
        """Whether a coefficient is unknown, or rows failed."""
        return self.failed > 0 or bool(np.isnan(self.correlation).any())

    def of(self, first: str, second: str) -> tuple[float, float, float]:
        """The coefficient of two columns and both ends of its interval; ConfigError if there is no such column."""
        unknown = [name for name in (first, second) if name not in self.names]
        if unknown:
            raise ConfigError("of", [Problem("", f"{name!r} is none of the columns; {advise(name, self.names)}") for name in unknown])
        place = self.names.index(first), self.names.index(second)
        return float(self.correlation[place]), float(self.low[place]), float(self.high[place])

    def pairs(self) -> list[tuple[str, str, float, float, float, int]]:
        """(first, second, coefficient, low, high, rows) of each pair, the strongest first, unknown ones last."""
        first, second = np.triu_indices(len(self.names), 1)
        strength = np.abs(self.correlation[first, second])
        order = np.lexsort((second, first, -np.where(np.isnan(strength), -1.0, strength)))
        return [
            (self.names[i], self.names[j], *(float(each[i, j]) for each in (self.correlation, self.low, self.high)), int(self.rows[i, j]))
            for i, j in zip(first[order], second[order], strict=True)
        ]

    def records(self) -> list[dict[str, Any]]:
        """One dict for each pair; None in place of NaN."""
        return [
            dict(zip(COLUMNS, (first, second, rows, *map(finite_or_none, (r, low, high))), strict=True))
            for first, second, r, low, high, rows in self.pairs()
        ]

    def tables(self) -> dict[str, pa.Table]:
        """The "pairs", one row for each two columns."""
        import pyarrow as pa

        from tribosweep.sweep.execution.parquet import described

        level = f"{100.0 * self.confidence:g} %"
        about = ("a parameter or an observable", "another one", "rows with both values", "Spearman's coefficient of rank correlation",
                 f"lower end of its {level} interval", "upper end")  # fmt: skip
        kinds = (pa.string(), pa.string(), pa.int64(), pa.float64(), pa.float64(), pa.float64())
        units = ("", "", "", "1", "1", "1")
        fields = [described(*each) for each in zip(COLUMNS, kinds, units, about, strict=True)]
        return {PAIRS: pa.Table.from_pylist(self.records(), schema=pa.schema(fields, metadata_of(self.state, self.request)))}

    def facts(self) -> dict[str, Any]:
        """The columns, the level and the pairs."""
        return {"columns": list(self.names), "parameters": list(self._given), "held": self.request["held"], "confidence": self.confidence,
                "failed": self.failed, PAIRS: self.records()}  # fmt: skip

    def printed(self) -> Iterator[PrintedTable | str]:
        """The matrix if it is narrow, and the pairs with their intervals."""
        if len(self.names) <= WIDEST:
            rows = [[name, *(short(value, 3) for value in line)] for name, line in zip(self.names, self.correlation, strict=True)]
            yield PrintedTable("Rank correlation (Spearman)", ["", *self.names], rows, self.names)
            yield ""
        header = ["first", "second", "correlation", f"from ({100.0 * self.confidence:g} %)", "to", "rows"]
        lines = [[first, second, *(short(v, 4) for v in (r, low, high)), f"{rows:,}"] for first, second, r, low, high, rows in self.pairs()]
        yield PrintedTable("Pairs, the strongest first", header, lines, header[2:], LISTED, "pairs")


def strongest(pairs: Sequence[dict[str, Any]], parameters: Sequence[str], observable: str) -> list[tuple[str, float]]:
    """The parameters whose intervals leave out zero, with their coefficients with an observable, the strongest first."""
    found = []
    for pair in pairs:
        names = [pair["first"], pair["second"]]
        numbers = [pair[name] for name in ("correlation", "low", "high")]
        if observable in names and None not in numbers and (numbers[1] > 0.0 or numbers[2] < 0.0):
            names.remove(observable)
            found += [(name, pair["correlation"]) for name in names if name in parameters]
    return found
