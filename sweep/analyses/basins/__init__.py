"""Basins of attraction: which steady motion each start of a run leads to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.basins.request import BasinsRequest
from tribosweep.sweep.results.analysis import ASK, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.basins.result import Basins


def _compute(directory: Path, request: BasinsRequest, tell: Tell | None) -> Basins:
    from tribosweep.sweep.analyses.basins.search import find

    return find(directory, request, tell)


ANALYSIS = Analysis(
    name="basins",
    task=ASK,
    examples=("basins runs/basins_stop --out basins.png", "basins runs/my_study --at a0=0.7 --tolerance 1e-4"),
    request=BasinsRequest,
    compute=_compute,
    returns="The motions with their shares, and the motion of each start.",
    raises="neither x0 nor v0 varies, or the run is not one of a model with steady motions by scheme exact over a given time",
    python=(
        ">>> found = run.basins()",
        '>>> found.to_pandas()[["attractor", "periods", "share", "regime"]]',
        '>>> found.plot("basins.png")',
    ),
    things="starts",
)
