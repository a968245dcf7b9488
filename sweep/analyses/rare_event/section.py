"""The probability of a rare event in a report, of subset simulations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tribosweep.sweep.analyses.rare_event.estimate import read
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.execution.adaptive.levels_table import limit_of
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.io.text import visible
from tribosweep.sweep.results.section import Section, Shown

SHOWN = ("estimate", "repeats", "levels", "curve", "unit", "confidence", "rows", "failed", "unknown", "monte_carlo_rows", "across")


def section_of(shown: Shown) -> Section | str:
    """The probability of the event of a run, or the reason why it is not shown ("" for other designs)."""
    directory, state = shown.directory, shown.state
    if state["design"] != SUBSET:
        return ""
    try:
        result = read(directory)
    except ConfigError as error:
        return f"No probability of the event: {'; '.join(problem.message for problem in error.problems)}."
    found = result.facts()
    unit = "" if found["unit"] == "1" else found["unit"]
    title = f"probability of {visible(found['event'])}"
    facts = {**{name: found[name] for name in SHOWN}, "notes": result.notes, "unit": unit, "title": title, "limit": limit_of(result.design)}
    return Section(facts, [("Rare event", sentence_of(facts))] if found["estimate"] else [])


def sentence_of(facts: Mapping[str, Any]) -> str:
    """The probability in a sentence for the summary of a report."""
    found = facts["estimate"]
    ends = f"{100.0 * facts['confidence']:g} % interval {found['low']:.3g} to {found['high']:.3g}"
    return f"{facts['title']}: {found['probability']:.3g}, {ends}. Points crowd around the event: their shares are no probabilities."
