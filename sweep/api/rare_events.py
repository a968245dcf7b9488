"""The chance of a rare event: what `Run.rare_event` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.analysis import rare_event
from tribosweep.sweep.analysis.rare_event import RareEvent

if TYPE_CHECKING:
    import pandas as pd

    from tribosweep.sweep.results.picture import Picture


@dataclass(frozen=True, slots=True, repr=False)
class RareChance:
    """The chance of a rare event with its coefficient of variation and interval, and the levels that lead to it; a notebook shows it.

    Attributes:
        result: the numbers as they were computed.
    """

    result: RareEvent = field(repr=False)

    def __repr__(self) -> str:
        """One line: the event and its chance."""
        if self.result.estimate is None:
            return f"<RareChance of {self.result.event}: not reached>"
        return f"<RareChance of {self.result.event}: {self.probability:.3g} ({self.interval[0]:.2g} to {self.interval[1]:.2g})>"

    def _repr_html_(self) -> str:
        from tribosweep.sweep.results.html import said

        return "\n".join(
            [f"<div>{said(repr(self)[1:-1])}</div>", self.to_pandas().to_html(index=False), *(f"<div>{said(n)}</div>" for n in self.notes)]
        )

    @property
    def probability(self) -> float:
        """The chance of the event; NaN if no repeat has reached it."""
        return float("nan") if self.result.estimate is None else self.result.estimate.probability

    @property
    def variation(self) -> float:
        """The coefficient of variation of the chance; NaN if no repeat has reached the event."""
        return float("nan") if self.result.estimate is None else self.result.estimate.variation

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval of the chance; (0, NaN) if no repeat has reached the event."""
        return (0.0, float("nan")) if self.result.estimate is None else (self.result.estimate.low, self.result.estimate.high)

    @property
    def notes(self) -> list[str]:
        """Sentences for the reader, such as how many rows failed."""
        return list(self.result.notes)

    def facts(self) -> dict[str, Any]:
        """All results as dicts and lists, as `tribosweep rare --json` prints them."""
        return rare_event.facts(self.result)

    def to_pandas(self, table: str = "levels") -> pd.DataFrame:
        """The "levels" (one row per repeat and level) or the "curve" (chance to pass each value, with its interval).

        Raises:
            ConfigError: there is no such table.
        """
        import pandas as pd

        from tribosweep.sweep.io.errors import ConfigError, Problem, advise

        tables = {"levels": self.result.levels, "curve": rare_event.facts(self.result)["curve"]}
        if table not in tables:
            raise ConfigError("to_pandas", [Problem("table", f"{table!r} is none; {advise(table, tables)}")])
        return pd.DataFrame(tables[table])

    def plot(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw the chance over the observable; needs `tribosweep[plot]`.

        Args:
            out: file to write too, .png, .svg or .pdf.
        """
        from tribosweep.sweep.plots.rare_event import draw

        return draw(self.result, None if out is None else Path(out))


def estimate_run(directory: Path, confidence: float) -> RareChance:
    """Estimate the chance of the event of a run; see `Run.rare_event`."""
    return RareChance(rare_event.read(directory, confidence))
