"""Events and impacts of single points of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.events.request import EventsRequest
from tribosweep.sweep.results.analysis import LOOK, STUDY, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.events.result import Events


def _compute(study: Path, request: EventsRequest, _tell: Tell | None) -> Events:
    from tribosweep.sweep.analyses.events.log import events_of
    from tribosweep.sweep.analysis.study_rows import read_study

    return events_of(read_study(study), request)


ANALYSIS = Analysis(
    name="events",
    task=LOOK,
    takes=STUDY,
    examples=("events sdnd104 --point 1", "events runs/my_study --impacts --out impacts.parquet"),
    request=EventsRequest,
    compute=_compute,
    returns="A row for each event or impact, with units; `notes` name the points whose events end before their run.",
    raises="there is no such point, or no events of its model",
    python=(
        ">>> found = run.events([0, 3])",
        '>>> found.to_pandas().groupby("point").event.value_counts()',
    ),
)
