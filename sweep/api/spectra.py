"""Response spectra of records and of studies: `spectra`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.spectra import ANALYSIS
from tribosweep.sweep.analyses.spectra.request import SpectraRequest
from tribosweep.sweep.excitation.response_spectrum import DAMPING
from tribosweep.sweep.io.argument_names import in_python

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.spectra.result import Spectra


def spectra(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    frequencies: float | Sequence[float] = (),
    damping: float = DAMPING,
    *,
    draws: int = 20,
    points: int | Sequence[int] = (),
    periods: float | Sequence[float] = (),
    lowest: float = 0.2,
    highest: float = 33.0,
    count: int = 100,
    time: str = "time",
    acceleration: str = "acceleration",
    unit: str | None = None,
) -> Spectra:
    """Compute response spectra of records in files, or of the records or random draws of a study. `response_spectrum` takes arrays.

    Args:
        source: a .csv or .parquet file with a record, or a list of them; or a study: a TOML file, a shipped one, or a run's directory.
        frequencies: natural frequencies [Hz], > 0; default those of `lowest`, `highest` and `count`.
        damping: part of critical damping, at least 0 and less than 1.
        draws: of a study with random accelerations: how many draws, from draw 0 on.
        points: of a study: numbers of points whose response is the record: the total acceleration of the mass (a floor spectrum).
        periods: natural periods [s] whose Sa at this damping are among the measures.
        lowest: the lowest frequency [Hz].
        highest: the highest frequency [Hz].
        count: how many frequencies, at equal ratios.
        time: of files: name of the column of times [s].
        acceleration: of files: name of the column of accelerations.
        unit: of files: unit of the accelerations, such as "g"; default what the header says, or m/s^2.

    Returns:
        The spectra and intensities of each record, as tables and a picture.

    Raises:
        ConfigError: a file or study that cannot be read, a study without accelerations, numbers out of their bounds.

    Examples:
        >>> found = tribosweep.spectra("random_support", [1.0, 5.0, 10.0], damping=0.02, draws=3)
        >>> found.spectrum.acceleration.shape
        (3, 3)
        >>> found.to_pandas().record.unique().tolist()
        ['draw 0', 'draw 1', 'draw 2']
        >>> found.plot()
        >>> sorted(tribosweep.spectra("random_support", [1.0], damping=0.02, draws=3, periods=[0.5]).measures)
        ['arias', 'cav', 'pga', 'pgv', 'sa_0.5s_2%']
    """
    from tribosweep.sweep.analyses.spectra.read import read_spectra

    asked = {name: value for name, value in locals().items() if name in SpectraRequest.model_fields}
    paths = [source] if isinstance(source, str | os.PathLike) else source
    with in_python(ANALYSIS.arguments):
        return read_spectra([Path(each) for each in paths], ANALYSIS.read(asked, python=True))
