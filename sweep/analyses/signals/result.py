"""The signals of a run: spectra, cycles, crossings and impacts of single rows, or their quantiles over draws and others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.printed import PrintedTable
from tribosweep.sweep.results.result import Result

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_LINES = 60  # of a printed table
MOST_PANELS, MOST_CURVES = 8, 6  # of a picture
SHARES = (0.16, 0.5, 0.84)
FREQUENCY, LEVEL = "frequency", "level"
COLUMNS = {
    "signal": "column of the run",
    "unit": "unit of its numbers",
    "curve": "what tells the curve from others",
    "rows": "number of rows with results",
    "along": "what the entry is",
    "along_unit": "its unit",
    "entry": "frequency, level or lower edge of a class",
    "median": "median over the rows, or the number of a single one",
    "q16": "quantile 0.16 over the rows",
    "q84": "quantile 0.84 over the rows",
}


@dataclass(frozen=True, slots=True, eq=False)
class SignalCurve:
    """A signal of one row, or of several that differ in what is random.

    Attributes:
        label: what tells it from other curves; empty if there is one. rows: number of rows with results.
        quantiles: (3, L) quantiles SHARES over the rows; of one row three times its values. NaN without rows.
    """

    label: str
    rows: int
    quantiles: np.ndarray

    @property
    def median(self) -> np.ndarray:
        """(L,) medians, or the values of a single row."""
        return np.asarray(self.quantiles[1])


@dataclass(frozen=True, slots=True, eq=False)
class Signal:
    """A column of signals.

    Attributes:
        name, unit, description: of the column.
        along: what its entries belong to, "frequency", "range", "level", "largest force" or "duration"; empty of a single number.
        along_unit: its unit. entries: (L,) frequencies, levels, or lower edges of classes; one NaN of a single number.
    """

    name: str
    unit: str
    description: str
    along: str
    along_unit: str
    entries: np.ndarray
    curves: tuple[SignalCurve, ...]

    @property
    def counts(self) -> bool:
        """Whether its entries are counts of classes."""
        return self.along not in ("", FREQUENCY, LEVEL)

    def total(self, curve: SignalCurve) -> float:
        """The root of the area of a power spectral density, the sum of counts, or a single number; NaN of anything else."""
        values = curve.median
        if self.along == FREQUENCY:
            power = "psd_" in self.name and "cross_psd_" not in self.name
            return float(np.sqrt(np.sum(values) * self.entries[1])) if power else np.nan
        return float(np.sum(values)) if self.along != LEVEL else np.nan

    def largest(self, curve: SignalCurve) -> tuple[float, float]:
        """The entry that is largest in size, and what it belongs to; NaN of a single number and without rows."""
        if not self.along or not np.isfinite(curve.median).any():
            return np.nan, np.nan
        place = int(np.nanargmax(np.abs(curve.median)))
        return float(curve.median[place]), float(self.entries[place])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Signals(Result):
    """Signals of single rows or of groups of rows; a notebook shows their table.

    Attributes:
        study: its name. signals: one entry for each column.
        over: the parameters whose values are random. held: parameter -> value that defines the slice. notes: for the reader.
    """

    study: str
    signals: tuple[Signal, ...]
    over: tuple[str, ...]
    held: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    longest: ClassVar[int] = 30

    def line(self) -> str:
        """The signals, and how many curves each has."""
        return f"{self.study!r}: {', '.join(self.names)}; {counted(len(self.signals[0].curves), 'curve')}"

    @property
    def names(self) -> list[str]:
        """The names of the signals."""
        return [signal.name for signal in self.signals]

    @property
    def drawn(self) -> list[Signal]:
        """The signals that have a panel of a picture: the first lists."""
        return [signal for signal in self.signals if signal.along][:MOST_PANELS]

    def __getitem__(self, name: str) -> Signal:
        """One signal: `entries` (L,), and `curves` with `label`, `rows`, `median` (L,) and `quantiles` (3, L).

        Raises:
            ConfigError: there is no such signal.
        """
        found = {signal.name: signal for signal in self.signals}
        if name not in found:
            raise ConfigError("signals", [Problem("", f"{name!r} is none of these signals; {advise(name, found)}")])
        return found[name]

    def facts(self) -> pd.DataFrame:
        """One row for each column, curve and entry: signal, unit, curve, rows, along, along_unit, entry, median, q16 and q84."""
        import pandas as pd

        parts = []
        for signal in self.signals:
            for curve in signal.curves:
                low, median, high = curve.quantiles
                about = {"signal": signal.name, "unit": signal.unit, "curve": curve.label, "rows": curve.rows, "along": signal.along}
                numbers = {"entry": signal.entries, "median": median, "q16": low, "q84": high}
                parts.append(pd.DataFrame({**about, "along_unit": signal.along_unit, **numbers}))
        return pd.concat(parts, ignore_index=True)

    def tables(self) -> dict[str, pa.Table]:
        """The "signals", one row for each column, curve and entry; see `facts`."""
        import pyarrow as pa

        from tribosweep.sweep.execution.parquet import described

        table = pa.Table.from_pandas(self.facts(), preserve_index=False)
        units, along = ({getattr(signal, name) for signal in self.signals} for name in ("unit", "along_unit"))
        own = {"entry": along, "median": units, "q16": units, "q84": units}  # a column has the unit that all its rows have
        fields = [
            described(field.name, field.type, min(of) if len(of := own.get(field.name, ())) == 1 else "", COLUMNS[field.name])
            for field in table.schema
        ]
        return {"signals": table.cast(pa.schema(fields))}

    def printed(self) -> Iterator[PrintedTable | str]:
        """A line for each signal and curve."""
        lines = []
        for signal in self.signals:
            for curve in signal.curves:
                total, (value, place) = signal.total(curve), signal.largest(curve)
                largest = (f"{value:.4g}", f"{place:.4g} {signal.along_unit}") if np.isfinite(value) else ("", "")
                lines.append([signal.name, signal.unit, curve.label, curve.rows, f"{total:.4g}" if np.isfinite(total) else "", *largest])
        header = ["signal", "unit", "curve", "rows", "total", "largest", "at"]
        if all(not line[2] for line in lines):
            header.remove("curve")
            lines = [[*line[:2], *line[3:]] for line in lines]
        yield PrintedTable("", header, lines, ["rows", "total", "largest", "at"], MOST_LINES, "lines")

    def hints(self, drawn: bool) -> Sequence[str]:
        """What a picture leaves out, or what the printed numbers are."""
        if not drawn:
            of = f"Medians over {' and '.join(self.over)}. " if self.over else ""
            return [f"{of}The total of a spectrum is the root of its area; of classes the sum. A picture: --out signals.png."]
        left = [signal.name for signal in self.signals if signal.along][MOST_PANELS:]
        found = [f"Not drawn: {', '.join(left)}; --column picks some."] if left else []
        curves = len(self.signals[0].curves)
        return found + [f"The first {MOST_CURVES} of {curves} curves are drawn; --at holds parameters."] * (curves > MOST_CURVES)
