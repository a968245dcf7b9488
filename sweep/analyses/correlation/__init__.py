"""Rank correlation: how far parameters and observables rise together, whatever the shape of the relation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.correlation.request import CorrelationRequest
from tribosweep.sweep.results.analysis import ASK, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.correlation.result import Correlation


def _compute(directory: Path, request: CorrelationRequest, tell: Tell | None) -> Correlation:
    from tribosweep.sweep.analyses.correlation.correlate import correlate

    return correlate(directory, request, tell)


ANALYSIS = Analysis(
    name="correlation",
    task=ASK,
    examples=(
        "correlation runs/sensitivity_wear --out ranks.png",
        "correlation runs/my_study --observable wear_power --observable stick_fraction",
    ),
    request=CorrelationRequest,
    compute=_compute,
    section=True,
    returns="The coefficients of all pairs, with their intervals.",
    raises="a column holds no numbers, or the design of the run adapts to its rows",
    python=(
        '>>> found = run.correlation(observables=["wear_power", "stick_fraction"])',
        '>>> found.of("mu", "wear_power")',
        '>>> found.plot("ranks.png")',
    ),
    things="samples",
)
