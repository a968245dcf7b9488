"""Fragility curves for a report, of runs to which `tribosweep fragility` has been applied."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from tribosweep.sweep.analysis.fragility.results import CURVES, FITS, FOLDER, POINTS, kinds_of
from tribosweep.sweep.execution.stored import Finite, Line, Stored, load_json
from tribosweep.sweep.io.text import visible

MOST_ROWS = 100_000  # of a table on a page
TITLE = "chance of {event} over {intensity}"


class WrittenRequest(Stored):
    """What was asked of fragility curves, as far as a page shows it."""

    event: Line
    intensity: Line
    confidence: Finite


def fragility_of(path: Path, state: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The tables in `fragility/` of a run for JSON, and else the reason why they are not shown ("" if there are none)."""
    from tribosweep.sweep.io import sealed_parquet

    files = {which: path / FOLDER / f"{which}.parquet" for which in (FITS, POINTS, CURVES)}
    if not all(file.is_file() for file in files.values()):
        return None, ""
    try:
        tables = {which: sealed_parquet.require(sealed_parquet.read(file), kinds_of(which)) for which, file in files.items()}
        metadata = tables[FITS].schema.metadata or {}
        if metadata.get(b"config_hash", b"").decode() != str(state.get("config_hash", "")):
            return None, f"No fragility: {path / FOLDER} is of another study; tribosweep fragility computes it anew."
        request = load_json(metadata.get(b"request", b""), WrittenRequest)
        unit = (tables[FITS].schema.field("theta").metadata or {}).get(b"unit", b"").decode()
    except ValueError as damage:
        return None, f"No fragility: {path / FOLDER}: {damage}."
    if any(table.num_rows > MOST_ROWS for table in tables.values()):
        return None, f"No fragility: {path / FOLDER}: a table has more than {MOST_ROWS:,} rows."
    facts = {
        "title": visible(TITLE.format(event=request["event"], intensity=request["intensity"])),
        "intensity": request["intensity"],
        "unit": "" if unit == "1" else unit,
        "level": request["confidence"],
        **{which: [finite(row) for row in table.to_pylist()] for which, table in tables.items()},
    }
    return facts, ""


def finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row without numbers that JSON has not; an infinite end is a word."""
    return {name: "inf" if isinstance(cell, float) and math.isinf(cell) else cell for name, cell in row.items()}
