"""The time history of one point of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.trace.request import ROWS, TraceRequest
from tribosweep.sweep.results.analysis import LOOK, STUDY, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.trace.result import TimeTrace


def _compute(study: Path, request: TraceRequest, _tell: Tell | None) -> TimeTrace:
    from tribosweep.sweep.analyses.trace import motion
    from tribosweep.sweep.analysis.study_rows import read_study

    rows = ROWS if request.rows is None else request.rows
    return motion.trace_of(read_study(study), request.point, rows, request.start, request.stop, request.support)


ANALYSIS = Analysis(
    name="trace",
    task=LOOK,
    takes=STUDY,
    examples=("trace sdnd104 --point 1 --out trace.png", "trace runs/my_study --point 7 --from 10 --to 12 --out trace.csv"),
    request=TraceRequest,
    compute=_compute,
    returns="A row for each instant with time, motion and forces, in SI units, and a picture.",
    raises="there is no such point or support, times are outside the run, or its run fails",
    python=(
        ">>> found = run.trace(100, stop=4.0, rows=20_000)",
        '>>> found.to_pandas().attrs["units"]["x"]',
        '>>> found.plot("trace.png")',
    ),
)
