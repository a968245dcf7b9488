"""Fragility curves for a report, of runs to which `tribosweep fragility` has been applied."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from sweep.analysis.fragility.results import CURVES, FITS, FOLDER, POINTS
from sweep.io.text import visible

TITLE = "chance of {event} over {intensity}"


def fragility_of(path: Path, state: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The tables in `fragility/` of a run for JSON, and else the reason why they are not shown ("" if there are none)."""
    from sweep.io import sealed_parquet

    files = {which: path / FOLDER / f"{which}.parquet" for which in (FITS, POINTS, CURVES)}
    if not all(file.is_file() for file in files.values()):
        return None, ""
    try:
        tables = {which: sealed_parquet.read(file) for which, file in files.items()}
    except sealed_parquet.DamageError as damage:
        return None, f"No fragility: {path / FOLDER}: {damage}."
    metadata = {key.decode(): value.decode() for key, value in (tables[FITS].schema.metadata or {}).items()}
    if metadata.get("config_hash") != str(state.get("config_hash", "")):
        return None, f"No fragility: {path / FOLDER} is of another study; tribosweep fragility computes it anew."
    request = json.loads(metadata["request"])
    unit = (tables[FITS].schema.field("theta").metadata or {}).get(b"unit", b"").decode()
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
