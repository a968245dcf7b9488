"""Rare events: the probability of an event from a subset simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.rare_event.request import RareEventRequest
from tribosweep.sweep.results.analysis import ASK, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.rare_event.result import RareEvent


def _compute(directory: Path, request: RareEventRequest, _tell: Tell | None) -> RareEvent:
    from tribosweep.sweep.analyses.rare_event.estimate import read

    return read(directory, request.confidence)


ANALYSIS = Analysis(
    name="rare",
    method="rare_event",
    task=ASK,
    examples=("rare runs/rare_buckling --out rare.png",),
    request=RareEventRequest,
    compute=_compute,
    section=True,
    returns="The probability, its coefficient of variation and its interval; the levels and the curve as tables and a picture.",
    raises="the design of the run is no subset simulation, or no level is complete",
    python=(
        '>>> study = {"study": {"model": "stop"}, "parameters": {"k_n": 100.0}, "time": {"end": 1.0}, "sweep": {',
        '...     "design": "subset_simulation", "event": "peak_force > 18 N", "count": 200,',
        '...     "axes": {"v0": {"distribution": "normal", "mean": 1.0, "std": 0.2}}}}',
        '>>> found = tribosweep.run(study, "runs/rare").rare_event()',
        ">>> found.probability, found.interval",
        '>>> found.plot("rare.png")',
    ),
)
