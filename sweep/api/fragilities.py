"""How the chance of an event grows with an intensity: what `Run.fragility` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.fragility.analysis import Curve, FragilityRequest, FragilityResult, analyse
from tribosweep.sweep.analysis.fragility.results import COLUMNS, FITS, name_of, to_arrow, write
from tribosweep.sweep.api import frames
from tribosweep.sweep.io.errors import ConfigError, Problem, advise

if TYPE_CHECKING:
    import pandas as pd

    from tribosweep.sweep.plots.figure import Picture


@dataclass(frozen=True, slots=True, repr=False)
class Fragility:
    """Lognormal fragility curves and counted chances; a notebook shows them.

    Attributes:
        result: the numbers as they were computed.
    """

    result: FragilityResult = field(repr=False)

    def __repr__(self) -> str:
        """One line: the event, the intensity, and theta and beta of each curve."""
        rows = self.result.rows
        unit = rows.intensity.unit_suffix
        curves = []
        for curve in self.result.curves:
            name = f"{name_of(curve)}: " if curve.label else ""
            curves.append(f"{name}theta = {curve.fit.theta:.4g}{unit}, beta = {curve.fit.beta:.3g}" if curve.fit else f"{name}no curve")
        return f"<Fragility of {rows.event} over {rows.intensity.name}: {'; '.join(curves)}>"

    def _repr_html_(self) -> str:
        from tribosweep.sweep.api.display import said

        return "\n".join([self.to_pandas().to_html(index=False), *(f"<div>{said(note)}</div>" for note in self.notes)])

    @property
    def notes(self) -> list[str]:
        """Sentences for the reader, such as why there is no curve."""
        return list(self.result.notes)

    @property
    def fitted(self) -> bool:
        """Whether every curve has a fit."""
        return self.result.fitted

    def chance(self, intensity: Any, curve: int = 0) -> np.ndarray:
        """The chance of the event by the lognormal curve.

        Args:
            intensity: intensities > 0 of any shape, in SI units. curve: number of the curve, in the order of the values of `by`.

        Raises:
            ConfigError: no such curve, or it has no fit.
        """
        found = self._curve(curve)
        if found.fit is None:
            raise ConfigError("chance", [Problem("curve", f"{curve} has no fit: {found.reason}")])
        return found.fit.chance(np.asarray(intensity, dtype=np.float64))

    def to_pandas(self, table: str = FITS) -> pd.DataFrame:
        """One of the tables: "fits" (theta, beta and their intervals), "points" (counted chances) or "curves" (with their bands).

        Returns:
            One row per curve, counted chance or intensity; `attrs` as in `Run.to_pandas`.

        Raises:
            ConfigError: there is no such table.
        """
        if table not in COLUMNS:
            raise ConfigError("to_pandas", [Problem("table", f"{table!r} is none; {advise(table, COLUMNS)}")])
        return frames.to_pandas(to_arrow(self.result, table))

    def plot(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw counted chances and curves with their intervals; needs `tribosweep[plot]`.

        Args:
            out: file to write too, .png, .svg or .pdf.
        """
        from tribosweep.sweep.plots.fragility import draw

        return draw(self.result, None if out is None else Path(out))

    def write(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the tables as Parquet files into `fragility/` of a directory, and return their paths."""
        return list(write(self.result, Path(directory)))

    def _curve(self, number: int) -> Curve:
        if not 0 <= number < len(self.result.curves):
            raise ConfigError("chance", [Problem("curve", f"{number} is none of {len(self.result.curves)}")])
        return self.result.curves[number]


def analyse_run(directory: Path, event: str, intensity: str, **more: Any) -> Fragility:
    """Analyse a run; see `Run.fragility`. `more` are further fields of the request."""
    return Fragility(analyse(directory, FragilityRequest(event, intensity, **more)))
