"""The chance of a rare event for a report, of subset simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tribosweep.sweep.analysis.rare_event import facts, read
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.execution.adaptive.levels_table import limit_of
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.io.text import visible

SHOWN = ("estimate", "repeats", "levels", "curve", "unit", "confidence", "rows", "failed", "unknown", "monte_carlo_rows", "across", "notes")


def rare_of(path: Path, state: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The chance of the event of a run for JSON, and else the reason why it is not shown ("" for other designs)."""
    if state["design"] != SUBSET:
        return None, ""
    try:
        result = read(path)
    except ConfigError as error:
        return None, f"No chance of the event: {'; '.join(problem.message for problem in error.problems)}."
    found = facts(result)
    unit = "" if found["unit"] == "1" else found["unit"]
    title = f"chance of {visible(found['event'])}"
    return {**{name: found[name] for name in SHOWN}, "unit": unit, "title": title, "limit": limit_of(result.design)}, ""


def sentence_of(rare: dict[str, Any]) -> list[tuple[str, str]]:
    """The (heading, sentence) of the chance for the summary of a report; none without an estimate."""
    found = rare["estimate"]
    if not found:
        return []
    ends = f"{100.0 * rare['confidence']:g} % interval {found['low']:.3g} to {found['high']:.3g}"
    return [
        ("Rare event", f"{rare['title']}: {found['probability']:.3g}, {ends}. Points crowd around the event: their shares are no chances.")
    ]
