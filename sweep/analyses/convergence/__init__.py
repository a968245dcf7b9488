"""Convergence: how the points of a convergence study approach exact and their own limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.results.analysis import LOOK, Analysis, Request, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.convergence.result import ConvergenceCurves


class ConvergenceRequest(Request):
    """Draw how the points of a convergence study approach exact and their own limit."""


def _compute(directory: Path, _request: ConvergenceRequest, _tell: Tell | None) -> ConvergenceCurves:
    from tribosweep.sweep.analyses.convergence.read import read_curves

    return read_curves(directory)


ANALYSIS = Analysis(
    name="convergence",
    method="convergence_curves",
    task=LOOK,
    examples=("convergence runs/convergence",),
    request=ConvergenceRequest,
    compute=_compute,
    file="convergence.png",
    returns="The relative differences of the observable at each step or tolerance.",
    raises="the design of the run is no convergence study, or no difference is above 0",
)
