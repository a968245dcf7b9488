"""The number, length and width of the curves found by a boundary study."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.execution.adaptive.boundary_table import BETWEEN, CLOSED, CURVE, FAILED_SIDES, WIDTH, read_boundaries
from tribosweep.sweep.execution.adaptive.boundary_tracing import boundary_design
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.study.load import load


@dataclass(frozen=True, slots=True)
class BoundarySummary:
    """The curves found by a boundary study, in numbers.

    Attributes:
        design: the design of the study.
        rows: for each curve: its number, the regimes on its sides, its number of places, whether it is closed, its widest bracket.
        failed: number of cell sides that have no result at one end.
    """

    design: Boundary
    rows: list[tuple[int, str, int, bool, float]]
    failed: int

    def to_json(self) -> dict[str, Any]:
        """The summary as a dict for JSON."""
        return {
            "curves": [dict(zip((CURVE, BETWEEN, "places", CLOSED, WIDTH), row, strict=True)) for row in self.rows],
            "failed_sides": self.failed,
            "cells_grid_points": self.design.fine_count,
            "width_grid_points": self.design.sharp_count,
        }


def curves_of(path: Path) -> BoundarySummary:
    """Summarise the boundary study in a directory; FileNotFoundError if it is not complete."""
    table = read_boundaries(path)
    design = boundary_design(load(RunDirectory(path).read_document()))
    columns: dict[str, list[Any]] = table.select([CURVE, BETWEEN, CLOSED, WIDTH]).to_pydict()
    places, widest = Counter(columns[CURVE]), dict[int, float]()
    for curve, width in zip(columns[CURVE], columns[WIDTH], strict=True):
        widest[curve] = max(width, widest.get(curve, 0.0))
    facts = dict(zip(columns[CURVE], zip(columns[BETWEEN], columns[CLOSED], strict=True), strict=True))
    rows = [(curve, between, places[curve], closed, widest[curve]) for curve, (between, closed) in facts.items()]
    return BoundarySummary(design, rows, int(table.schema.metadata[FAILED_SIDES]))
