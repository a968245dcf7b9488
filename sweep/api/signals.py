"""Spectra, cycles, crossings and impacts of a run: what `Run.signals` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analysis.signals import RunSignals, Signal
from tribosweep.sweep.io.errors import ConfigError, Problem, advise

if TYPE_CHECKING:
    import pandas as pd

    from tribosweep.sweep.results.picture import Picture


@dataclass(frozen=True, slots=True, repr=False)
class Signals:
    """Signals of single rows or of groups of rows; a notebook shows their table.

    Attributes:
        result: the numbers as they were read.
    """

    result: RunSignals = field(repr=False)

    def __repr__(self) -> str:
        """One line: the signals and how many curves each has."""
        names = ", ".join(self.names)
        return f"<Signals of {self.result.study!r}: {names}; {len(self.result.signals[0].curves)} curves>"

    @property
    def names(self) -> list[str]:
        """The names of the signals."""
        return [signal.name for signal in self.result.signals]

    def __getitem__(self, name: str) -> Signal:
        """One signal: `entries` (L,), and `curves` with `label`, `rows`, `median` (L,) and `quantiles` (3, L).

        Raises:
            ConfigError: there is no such signal.
        """
        found = {signal.name: signal for signal in self.result.signals}
        if name not in found:
            raise ConfigError("signals", [Problem("", f"{name!r} is none of these signals; {advise(name, found)}")])
        return found[name]

    def to_pandas(self) -> pd.DataFrame:
        """One row for each signal, curve and entry, with median and the quantiles of 16 and 84 %."""
        return self.result.table()

    def _repr_html_(self) -> str:
        return str(self.to_pandas().to_html(index=False, max_rows=30))

    def plot(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw a panel for each signal; needs `tribosweep[plot]`.

        Args:
            out: file to write too, .png, .svg or .pdf.
        """
        from tribosweep.sweep.plots.signals import draw

        return draw(self.result, None if out is None else Path(out))
