"""Bifurcation diagrams: Poincare points of steady motions over a parameter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.bifurcation.request import BifurcationRequest
from tribosweep.sweep.results.analysis import LOOK, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.bifurcation.result import Bifurcation


def _compute(directory: Path, request: BifurcationRequest, _tell: Tell | None) -> Bifurcation:
    from tribosweep.sweep.analyses.bifurcation.read import read_bifurcation

    return read_bifurcation(directory, request.x, request.y)


ANALYSIS = Analysis(
    name="bifurcation",
    task=LOOK,
    examples=("bifurcation runs/bouncing_ball --y poincare_v",),
    request=BifurcationRequest,
    compute=_compute,
    file="bifurcation.png",
    returns="The points, with the periods of their motions.",
    raises="the run has no steady window, or other parameters vary",
)
