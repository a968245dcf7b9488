"""Response spectra and intensities of records of base acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.spectra.request import SpectraRequest
from tribosweep.sweep.results.analysis import LOOK, RECORDS, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.spectra.result import Spectra


def _compute(sources: Path | Sequence[Path], request: SpectraRequest, _tell: Tell | None) -> Spectra:
    from tribosweep.sweep.analyses.spectra import read

    return read.read_spectra([sources] if isinstance(sources, Path) else sources, request)


ANALYSIS = Analysis(
    name="spectrum",
    method="spectra",
    task=LOOK,
    takes=RECORDS,
    examples=(
        "spectrum quake",
        "spectrum main_shock.csv --unit g --damping 0.02 --out spectra.png",
        "spectrum random_support --draws 100",
        "spectrum runs/quake --point 0",
    ),
    request=SpectraRequest,
    compute=_compute,
    returns="The spectra and intensities of each record, as tables and a picture.",
    raises="the study has no accelerations",
)
