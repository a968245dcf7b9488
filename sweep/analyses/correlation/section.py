"""Rank correlations in a report, of runs to which `tribosweep correlation` has been applied."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tribosweep.sweep.analyses.correlation.result import COLUMNS, MOST_COLUMNS, PAIRS, Correlation, strongest
from tribosweep.sweep.execution.stored import Finite, Line, Stored
from tribosweep.sweep.results.section import Section, Shown, written_tables

NAMED = 3  # parameters of a sentence


class WrittenRequest(Stored):
    """What was asked of correlations, as far as a page shows it."""

    confidence: Finite
    columns: Annotated[list[Line], Field(max_length=MOST_COLUMNS)]
    parameters: Annotated[list[Line], Field(max_length=MOST_COLUMNS)]


def section_of(shown: Shown) -> Section | str:
    """The pairs in `correlation/` of a run, or the reason why they are not shown ("" if there are none)."""
    directory, state = shown.directory, shown.state
    import pyarrow as pa

    text, whole, number = pa.string(), pa.int64(), pa.float64()
    kinds = dict(zip(COLUMNS, (text, text, whole, number, number, number), strict=True))
    try:
        found = written_tables(directory, Correlation.folder, {PAIRS: kinds}, state, WrittenRequest, whole=("first", "second", "rows"))
    except ValueError as problem:
        return f"No rank correlation: {directory / Correlation.folder} {problem} (tribosweep correlation)."
    if found is None:
        return ""
    tables, asked = found
    pairs = tables[PAIRS].to_pylist()
    observables = [name for name in asked["columns"] if name not in asked["parameters"]]
    facts = {"pairs": pairs, "columns": asked["columns"], "parameters": asked["parameters"], "level": asked["confidence"]}
    summary = []
    for observable in observables[:NAMED]:
        if ranked := strongest(pairs, asked["parameters"], observable)[:NAMED]:
            words = ", ".join(f"{name} ({value:+.2f})" for name, value in ranked)
            summary.append(("Rank correlation", f"{observable} correlates most strongly with {words}."))
    return Section(facts, summary)
