"""Response spectra of records and of studies: `spectra`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis import spectra as analysis
from tribosweep.sweep.excitation.response_spectrum import DAMPING, ResponseSpectrum
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.plots import spectra as plots

if TYPE_CHECKING:
    import pandas as pd

    from tribosweep.sweep.results.picture import Picture


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RecordSpectra:
    """Response spectra and intensities of several records of base acceleration.

    Attributes:
        names: of the R records or draws.
        spectrum: their peaks, (R, P), at P frequencies: a `ResponseSpectrum`.
        measures: name -> (R,) pga [m/s^2], pgv [m/s], arias [m/s], cav [m/s], and Sa at `periods` [m/s^2], named as in `intensities`.
    """

    names: tuple[str, ...]
    spectrum: ResponseSpectrum
    measures: dict[str, np.ndarray]
    _found: analysis.Spectra

    def __repr__(self) -> str:
        """One line: how many records and frequencies."""
        return f"<RecordSpectra: {len(self.names)} records at {len(self.spectrum.periods)} frequencies>"

    def to_pandas(self) -> pd.DataFrame:
        """One row for each record and frequency: record, frequency [Hz], period [s], Sd [m], Sv [m/s], Sa [m/s^2], PSv, PSa."""
        return self._found.table()

    def picture(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw Sa over frequency, of more than four records their median and spread; `out`: a .png, .svg or .pdf file to write."""
        return plots.draw(self._found, None if out is None else Path(out))


def spectra(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    frequencies: Any = None,
    damping: float = DAMPING,
    draws: int = analysis.DRAWS,
    time: str = "time",
    acceleration: str = "acceleration",
    unit: str | None = None,
    periods: Sequence[float] = (),
    points: Sequence[int] = (),
) -> RecordSpectra:
    """Compute response spectra of records in files, or of the records or random draws of a study. `response_spectrum` takes arrays.

    Args:
        source: a .csv or .parquet file with a record, or a list of them; or a study: a TOML file, a shipped one, or a run's directory.
        frequencies: natural frequencies [Hz], > 0; default 100 from 0.2 to 33 Hz at equal ratios.
        damping: part of critical damping, at least 0 and less than 1.
        draws: of a study with random accelerations: how many draws, from draw 0 on.
        time: of files: name of the column of times [s]. acceleration: of files: name of the column of accelerations.
        unit: of files: unit of the accelerations, such as "g"; default what the header says, or m/s^2.
        periods: natural periods [s] whose Sa at this damping are among the measures.
        points: of a study: numbers of points whose response is the record: the total acceleration of the mass (a floor spectrum).

    Raises:
        ConfigError: a file or study that cannot be read, a study without accelerations, numbers out of their bounds.

    Examples:
        >>> found = tribosweep.spectra("random_support", [1.0, 5.0, 10.0], damping=0.02, draws=3)
        >>> found.spectrum.acceleration.shape
        (3, 3)
        >>> found.to_pandas().record.unique().tolist()
        ['draw 0', 'draw 1', 'draw 2']
        >>> found.picture()
        >>> sorted(tribosweep.spectra("random_support", [1.0], damping=0.02, draws=3, periods=[0.5]).measures)
        ['arias', 'cav', 'pga', 'pgv', 'sa_0.5s_2%']
    """
    if frequencies is None:
        asked = analysis.frequencies_of(analysis.LOWEST, analysis.HIGHEST, analysis.COUNT)
    else:
        asked = np.atleast_1d(np.asarray(frequencies, float))
        if asked.ndim != 1 or not asked.size or not (np.isfinite(asked) & (asked > 0.0)).all():
            raise ConfigError("frequencies", [Problem("", f"must be positive numbers [Hz], not {frequencies}")])
    files = [source] if isinstance(source, str | os.PathLike) else list(source)
    found = analysis.read_spectra(files, asked, damping, draws, time, acceleration, unit, periods, points)
    return RecordSpectra(found.names, found.spectrum, found.measures, found)
