"""Signals: spectra, cycles, crossings and impacts of the rows of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.signals.request import SignalsRequest
from tribosweep.sweep.results.analysis import LOOK, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.signals.result import Signals


def _compute(directory: Path, request: SignalsRequest, _tell: Tell | None) -> Signals:
    from tribosweep.sweep.analyses.signals import read

    return read.read_signals(directory, request.columns, request.points, request.over, request.at)


ANALYSIS = Analysis(
    name="signals",
    task=LOOK,
    examples=("signals runs/signals --out signals.png", "signals runs/signals --point 7 --column psd_x"),
    request=SignalsRequest,
    compute=_compute,
    section=True,
    returns="The signals, with their frequencies, levels or edges, as tables and pictures.",
    raises="the study asks for no signals",
)
