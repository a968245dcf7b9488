"""An analysis as another package brings it, and others that cannot be used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from tribosweep.sweep.results.analysis import ASK, RECORDS, STUDY, Analysis, Held, Request, Tell

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
OF_FILES = replace(ANALYSIS, name="of_files", takes="file")
DRAWN = replace(ANALYSIS, name="drawn", takes=RECORDS, file="drawn.png")
CHECKED = replace(ANALYSIS, name="checked", takes=STUDY, check=lambda _study, _request: None)
BOTH = replace(CHECKED, name="both", takes=ANALYSIS.takes, file="both.png")
OF_STUDIES = replace(ANALYSIS, name="of_studies", takes=STUDY)
