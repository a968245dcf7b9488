"""Fragility curves in a report, of runs to which `tribosweep fragility` has been applied."""

from __future__ import annotations

import math
from typing import Any

from tribosweep.sweep.analyses.fragility.result import COLUMNS, FITS, Fragility, kinds_of
from tribosweep.sweep.execution.stored import Finite, Line, Stored
from tribosweep.sweep.io.text import visible
from tribosweep.sweep.results.section import Section, Shown, written_tables

TITLE = "probability of {event} over {intensity}"


class WrittenRequest(Stored):
    """What was asked of fragility curves, as far as a page shows it."""

    event: Line
    intensity: Line
    confidence: Finite


def section_of(shown: Shown) -> Section | str:
    """The tables in `fragility/` of a run, or the reason why they are not shown ("" if there are none)."""
    directory, state = shown.directory, shown.state
    try:
        found = written_tables(directory, Fragility.folder, {which: kinds_of(which) for which in COLUMNS}, state, WrittenRequest)
    except ValueError as problem:
        return f"No fragility: {directory / Fragility.folder} {problem} (tribosweep fragility)."
    if found is None:
        return ""
    tables, request = found
    unit = (tables[FITS].schema.field("theta").metadata or {}).get(b"unit", b"").decode()
    facts = {
        "title": visible(TITLE.format(event=request["event"], intensity=request["intensity"])),
        "intensity": request["intensity"],
        "unit": "" if unit == "1" else unit,
        "level": request["confidence"],
        **{which: [finite(row) for row in table.to_pylist()] for which, table in tables.items()},
    }
    return Section(facts)


def finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row without numbers that JSON has not; an infinite end is a word."""
    return {name: "inf" if isinstance(cell, float) and math.isinf(cell) else cell for name, cell in row.items()}
