"""What a study of boundaries has found, in a few lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep.boundary.table import BETWEEN, CLOSED, CURVE, FAILED_SIDES, WIDTH, read_boundaries
from sweep.boundary.tracing import design_of
from sweep.config import load
from sweep.design import Boundary
from sweep.directory import RunDirectory
from sweep.terminal import print_table, say

MANY = 24  # curves, of which those between the same are counted together


@dataclass(frozen=True, slots=True)
class Curves:
    """What a study of boundaries has found, in numbers.

    Attributes:
        design: of the study.
        rows: of every curve: its number, what is on its sides, how many places it has, whether it is closed, the widest bracket.
        failed: how many sides of cells have no results at one end.
    """

    design: Boundary
    rows: list[tuple[int, str, int, bool, float]]
    failed: int

    def to_json(self) -> dict[str, Any]:
        """As scripts read it."""
        return {
            "curves": [dict(zip((CURVE, BETWEEN, "places", CLOSED, WIDTH), row, strict=True)) for row in self.rows],
            "failed_sides": self.failed,
            "cells_grid_points": self.design.fine_count,
            "width_grid_points": self.design.sharp_count,
        }

    def print(self) -> None:
        """The curves on stdout, one a row, or if they are many one row for all of those that are between the same."""
        if len(self.rows) <= MANY:
            rows = [
                (curve, between, f"{places:,}", "yes" if closed else "no", f"{width:.1e}")
                for curve, between, places, closed, width in self.rows
            ]
            print_table("", [CURVE, BETWEEN, "places", CLOSED, WIDTH], rows, right=["places"])
            return
        groups: dict[str, list[tuple[int, str, int, bool, float]]] = {}
        for row in self.rows:
            groups.setdefault(row[1], []).append(row)
        totals = [
            (name, f"{len(each):,}", f"{sum(row[2] for row in each):,}", f"{max(row[4] for row in each):.1e}")
            for name, each in groups.items()
        ]
        print_table("", [BETWEEN, "curves", "places", WIDTH], totals, right=["curves", "places"])

    def say(self, points: int) -> None:
        """Say what to know of them, given how many `points` it took."""
        design, widest = self.design, max((row[-1] for row in self.rows), default=0.0)
        what = f"{count_of(len(self.rows), 'curve')}, every place within a relative {widest:.1e}," if self.rows else "No curve,"
        grids = f"a uniform grid of the smallest cells has {design.fine_count:,}, one as fine as the brackets {design.sharp_count:.1g}"
        say(f"{what} from {points:,} points; {grids}.")
        say("Islands smaller than a coarse cell are found only where sweep.seeds have a point on them.")
        if self.failed:
            say(f"Where rows failed no curve is drawn: {count_of(self.failed, 'side')} of cells lead to such a row.")


def count_of(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def curves_of(path: Path) -> Curves:
    """What the study of boundaries in a directory has found; FileNotFoundError where it is not complete."""
    table = read_boundaries(path)
    design = design_of(load(RunDirectory(path).read_document()))
    columns: dict[str, list[Any]] = table.select([CURVE, BETWEEN, CLOSED, WIDTH]).to_pydict()
    places, widest = Counter(columns[CURVE]), dict[int, float]()
    for curve, width in zip(columns[CURVE], columns[WIDTH], strict=True):
        widest[curve] = max(width, widest.get(curve, 0.0))
    facts = dict(zip(columns[CURVE], zip(columns[BETWEEN], columns[CLOSED], strict=True), strict=True))
    rows = [(curve, between, places[curve], closed, widest[curve]) for curve, (between, closed) in facts.items()]
    return Curves(design, rows, int(table.schema.metadata[FAILED_SIDES]))
