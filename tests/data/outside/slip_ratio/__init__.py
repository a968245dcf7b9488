"""An analysis of this package: the part of the rows whose slip distance exceeds a given one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from tribosweep.sweep.results.analysis import ASK, Analysis, Request, Tell

if TYPE_CHECKING:
    from slip_ratio.result import SlipRatio


class SlipRatioRequest(Request):
    """Count the rows that slip farther than a given distance."""

    farther: float = Field(default=0.0, ge=0.0, description="Slip distance [m] that counts.")


def _compute(directory: Path, request: SlipRatioRequest, _tell: Tell | None) -> SlipRatio:
    from slip_ratio.result import count

    return count(directory, request.farther)


ANALYSIS = Analysis(
    name="slip_ratio",
    task=ASK,
    examples=("slip_ratio runs/my_study --farther 0.1",),
    request=SlipRatioRequest,
    compute=_compute,
    returns="The part of the rows that slip farther.",
    raises="the run has no slip distance",
)
