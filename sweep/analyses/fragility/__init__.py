"""Fragility: the probability of an event over an intensity, as a lognormal curve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.fragility.request import FragilityRequest
from tribosweep.sweep.results.analysis import ASK, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.fragility.result import Fragility


def _compute(directory: Path, request: FragilityRequest, _tell: Tell | None) -> Fragility:
    from tribosweep.sweep.analyses.fragility.curves import analyse

    return analyse(directory, request)


ANALYSIS = Analysis(
    name="fragility",
    task=ASK,
    examples=(
        "fragility runs/fragility --event buckled=1 --intensity sa_0.4s --out fragility.png",
        "fragility runs/quake --event 'peak_force > 5 kN' --intensity record_scale --by mu --method incremental",
    ),
    request=FragilityRequest,
    compute=_compute,
    section=True,
    returns="The curves and counted probabilities.",
    raises="the event is wrong, or a parameter varies that has no place",
    python=(
        '>>> found = run.fragility("buckled=1", "v0")',
        ">>> found.chance([0.5, 1.0, 2.0])",
        '>>> found.to_pandas()[["theta", "theta_low", "theta_high", "beta"]]',
        '>>> found.plot("fragility.png")',
    ),
)
