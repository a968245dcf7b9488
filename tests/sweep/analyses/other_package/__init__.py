"""An analysis as another package brings it, and two that cannot be used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from tribosweep.sweep.results.analysis import ASK, Analysis, Held, Request, Tell

if TYPE_CHECKING:
    from tests.sweep.analyses.other_package.result import Other


class OtherRequest(Request):
    """Multiply the number of rows."""

    factor: float = Field(gt=0.0, description="What it is multiplied by.")
    at: Held = Field(default=(), description="Not used.")


class OddRequest(Request):
    """Ask for what every command has."""

    out: str = Field(default="", description="A file.")


class ListsRequest(Request):
    """Ask for numbers."""

    sizes: tuple[bool, ...] = Field(default=(), description="Numbers.")


def _compute(directory: Path, request: OtherRequest, _tell: Tell | None) -> Other:
    from tests.sweep.analyses.other_package.result import Other

    return Other(directory, request.factor)


ANALYSIS = Analysis("other", ASK, ("other runs/study",), OtherRequest, _compute, "A number.", "never")
ODD = replace(ANALYSIS, name="odd", request=OddRequest)
LISTED = replace(ANALYSIS, name="list")
LISTS = replace(ANALYSIS, name="lists", request=ListsRequest)
