"""Quantiles and probabilities over draws for a report, with their intervals, at every place of the other parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analysis.group_numbers import Groups, Interval, probabilities_of, quantiles_of
from tribosweep.sweep.analysis.group_statistics import CONFIDENCE
from tribosweep.sweep.analysis.isolines import contour
from tribosweep.sweep.analysis.map_areas import Areas, unknown_in
from tribosweep.sweep.analysis.regime_map import RegimeMap, spread_over
from tribosweep.sweep.analysis.run_rows import RunRows, have_results
from tribosweep.sweep.report.means import STATUS, grouped
from tribosweep.sweep.results.packing import COARSE, pack_floats
from tribosweep.sweep.study.capabilities import BOUNDARY
from tribosweep.sweep.study.event import Comparison, Event, outcome_in, read_events, values_in

QUANTILES = (0.05, 0.5, 0.95)
LINES = (0.05, 0.5, 0.95)  # probabilities that have a line on a map
MOST_PLACES = 20_000
MOST_EVENTS = 8
FEWEST_ROWS = 2  # at a place, for a quantile to say more than the value


def groups_of(
    rows: RunRows, over: Sequence[str], drawn: RegimeMap | None, shade: Quantity, areas: Areas
) -> tuple[dict[str, Any] | None, str]:
    """Quantiles of an observable, and probabilities of words and of what happens or not, over draws, ready for JSON.

    Args:
        rows: all rows of the run or slice. over: the parameters that are drawn; without any there is nothing to show.
        drawn: the map of the places, whose rows are numbered as the places are in `means.grouped`; None along one axis.
        shade: the observable. areas: the words of the rows.

    Returns:
        The facts, and else the reason why they are not shown ("" without draws).
    """
    if not over:
        return None, ""
    of, first = grouped(rows)
    groups = Groups(of, len(first), have_results(rows.table.column(STATUS)))
    if len(first) > MOST_PLACES:
        return None, f"No quantiles and probabilities: there are more than {MOST_PLACES:,} places; tribosweep map draws them."
    counts = groups.number(groups.good)
    if counts.max(initial=0) < FEWEST_ROWS:
        return None, ""
    quantiles = quantiles_in(rows, groups, shade)
    chances = [probability_in(rows, groups, event, areas) for event in events_of(rows, areas)]
    sought = level_of(rows.document)
    places = [rows.along(axis)[first] for axis in rows.axes]
    order = np.argsort(places[0], kind="stable") if drawn is None else np.arange(len(first))
    facts = {
        "title": f"Over {', '.join(over)}",
        "rows": [int(counts.min()), int(counts.max())],
        "confidence": CONFIDENCE,
        "count": len(first),
        "gridded": drawn is not None and drawn.gridded,
        "places": [pack_floats(values[order]) for values in places],
        "quantity": {"name": shade.name, "unit": shade.unit_suffix.strip()},
        "quantiles": [packed(name, found, order, drawn, ()) for name, found in quantiles],
        "chances": [packed(name, found, order, drawn, sought or LINES) for name, found in chances],
        "sought": sought[0] if sought else None,
    }
    return facts, ""


def quantiles_in(rows: RunRows, groups: Groups, shade: Quantity) -> list[tuple[str, Interval]]:
    """The quantiles of an observable at each place, by their names."""
    values = np.asarray(rows.table.column(shade.name).to_numpy(), dtype=np.float64)
    return [(f"{100.0 * each:g} % quantile", quantiles_of(values, groups, each, CONFIDENCE)) for each in QUANTILES]


def level_of(document: Mapping[str, Any]) -> tuple[float, ...]:
    """The probability whose line a boundary study traces; none of another study."""
    sweep = document.get("sweep", {})
    sought = isinstance(sweep, Mapping) and sweep.get("design") == BOUNDARY and "event" in sweep
    return (float(sweep["chance"]),) if sought else ()


def events_of(rows: RunRows, areas: Areas) -> list[Event]:
    """The events whose probability is shown: that of a boundary study alone; else the words that occur, and numbers that are 0 or 1."""
    sweep = rows.document.get("sweep", {})
    if level_of(rows.document):
        return list(read_events("sweep.event", [str(sweep["event"])], rows.model))
    quantities, found = by_name(rows.model.observables), list[Event]()
    of = quantities.get(areas.name)
    if of is not None and of.kind == "word":
        hits = np.bincount(areas.codes[areas.codes >= 0], minlength=len(areas.words))
        there = [areas.words[code] for code in np.argsort(-hits, kind="stable") if hits[code] and areas.words[code] in of.words]
        found += [Comparison(areas.name, "=", word) for word in there] if len(there) > 1 else []
    for name, quantity in quantities.items():
        if quantity.kind == "integer" and name in rows.table.column_names:
            values = np.asarray(rows.table.column(name).to_numpy(), dtype=np.float64)
            if set(np.unique(values[np.isfinite(values)]).tolist()) == {0.0, 1.0}:
                found.append(Comparison(name, "=", 1.0))
    return found[:MOST_EVENTS]


def probability_in(rows: RunRows, groups: Groups, event: Event, areas: Areas) -> tuple[str, Interval]:
    """The probability of an event at each place, with its name."""
    if isinstance(event, Comparison) and event.observable == areas.name and isinstance(event.value, str):
        return str(event), probabilities_of(areas.codes == areas.words.index(event.value), groups, CONFIDENCE, unknown_in(areas))
    happened, unknown = outcome_in(event, rows.model, values_in(event, rows.model, rows.table))
    return str(event), probabilities_of(happened, groups, CONFIDENCE, unknown)


def packed(name: str, found: Interval, order: np.ndarray, drawn: RegimeMap | None, levels: Sequence[float]) -> dict[str, Any]:
    """A statistic of the places as text, with its lines on a map and, of a single level, those of the ends of its interval."""
    ends = {"value": found.value, "lower": found.lower, "upper": found.upper}
    lines = []
    if drawn is not None and drawn.cells is not None and min(drawn.cells.shape) > 1:
        for level in levels:
            for of, values in ends.items():
                if of == "value" or len(levels) == 1:
                    pieces = contour(drawn, spread_over(drawn.cells, np.where(np.isfinite(values), values, np.nan), np.nan), level)
                    lines += [{"level": level, "of": of, **joined(pieces)}] if pieces else []
    return {"name": name, "lines": lines, **{of: pack_floats(values[order], COARSE) for of, values in ends.items()}}


def joined(pieces: Sequence[np.ndarray]) -> dict[str, list[float | None]]:
    """The pieces of a line for plotly, with null between them."""
    x: list[float | None] = []
    y: list[float | None] = []
    for piece in pieces:
        x += [*(float(f"{value:.7g}") for value in piece[:, 0]), None]
        y += [*(float(f"{value:.7g}") for value in piece[:, 1]), None]
    return {"x": x, "y": y}
