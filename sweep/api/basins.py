"""Which steady motion each start of a run leads to: what `Run.basins` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analysis.basins.analysis import Basins, find
from tribosweep.sweep.analysis.basins.results import ATTRACTORS, STARTS, to_arrow, write
from tribosweep.sweep.api import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from tribosweep.sweep.plots.figure import Picture


@dataclass(frozen=True, slots=True, repr=False)
class Attractors:
    """The steady motions to which the starts of a run lead; a notebook shows them.

    Attributes:
        result: everything that was computed.
    """

    result: Basins = field(repr=False)

    def __repr__(self) -> str:
        """One line: how many motions of how many starts."""
        starts, motions = len(self.result.attractor), sum(map(len, self.result.motions))
        return f"<Attractors: {motions:,} steady {'motion' if motions == 1 else 'motions'} of {starts:,} starts>"

    def _repr_html_(self) -> str:
        from tribosweep.sweep.api.display import said

        return "\n".join([self.to_pandas().to_html(index=False), *(f"<div>{said(note)}</div>" for note in self.notes)])

    @property
    def notes(self) -> list[str]:
        """Sentences for the reader, such as how many starts came to no periodic motion."""
        return list(self.result.notes)

    def to_pandas(self) -> pd.DataFrame:
        """One row per motion and combination of the other parameters: periods, share of the starts, section point, observables."""
        return frames.to_pandas(to_arrow(self.result, ATTRACTORS))

    def starts(self) -> pd.DataFrame:
        """One row per start: `point` of the run, and `attractor`, the number of its motion, missing where it came to none."""
        return frames.to_pandas(to_arrow(self.result, STARTS))

    def plot(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw the starts in the colours of their motions; needs `tribosweep[plot]`, and starts of one combination of other parameters."""
        from tribosweep.sweep.plots.basins import draw

        return draw(self.result, None if out is None else Path(out))

    def write(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the tables as Parquet files into `basins/` of a directory, and return their paths."""
        return list(write(self.result, Path(directory)))


def analyse_run(directory: Path, at: Sequence[str], tolerance: float, tell: Callable[[int, int], None] | None = None) -> Attractors:
    """Find the basins of a run; see `Run.basins`."""
    return Attractors(find(directory, at, tolerance, tell))
