"""The columns of a report: the numbers of its points as text, with their descriptions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analysis.map_areas import MISSING, Areas
from tribosweep.sweep.analysis.map_areas import codes as codes_of
from tribosweep.sweep.analysis.run_rows import RunRows, as_text, is_numeric
from tribosweep.sweep.analysis.run_state import POINT
from tribosweep.sweep.analysis.supports import in_words, support_in
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.results.packing import COARSE, DIGITS, FINE, pack_codes, pack_floats, pack_integers

MOST_FINE = 100_000  # with more rows than this, numbers have fewer than 7 digits
ROOM = 13_000_000  # bytes of packed columns; with plotly.js (4.8 MB) and traces a file stays under 20 MB
STEPS = ("accepted_steps", "rejected_steps", "time_reached")
COUNTS = ("accepted_steps", "rejected_steps", "period")


def pack_columns(
    rows: RunRows, areas: Areas, order: np.ndarray, shade: Quantity, more: tuple[Quantity, ...] = ()
) -> tuple[dict[str, str], list[dict[str, Any]], tuple[str, ...]]:
    """Pack the columns of the rows, with `more` columns besides those of the model.

    The value of a constant column is in its description. The other observables are packed in the order of the model, those of the time
    schemes last, until there is no more room. Steps and periods that are 0 everywhere are left out: exact takes no steps, and only a
    steady motion has a period.

    Returns:
        Packed values, descriptions, and the names of columns without room.
    """
    model, dropped = rows.model, FINE if len(order) <= MOST_FINE else COARSE
    packed: dict[str, str] = {}
    described: list[dict[str, Any]] = []
    left_out = []
    parameters = list(rows.loose)
    quantities = by_name(model.parameters) | by_name(model.observables) | by_name(more)
    there_are = [name for name in rows.table.column_names if name not in COUNTS or counts(rows, name)]
    steps = [name for name in STEPS if name in there_are]
    others = [q.name for q in model.observables if q.name not in (areas.name, shade.name, *STEPS) and q.name in there_are]
    if (support := support_in(shade.name, model)) is not None:  # what is observed where the shade is comes first
        others.sort(key=lambda name: support_in(name, model) != support)
    there = order >= 0
    for name in dict.fromkeys((POINT, areas.name, "status", *parameters, shade.name, *(q.name for q in more), *others, *steps)):
        quantity = quantities.get(name)
        unit = quantity.unit_suffix.strip() if quantity and name != SCHEME else ""
        facts: dict[str, Any] = {"name": name, "unit": unit, "about": quantity.description if quantity else ""}
        if "[" in name and quantity:
            facts["said"] = in_words(quantity)
        if name == areas.name:
            text, facts["kind"], facts["words"] = pack_codes(np.where(there, areas.codes[order], MISSING)), "code", list(areas.words)
        elif not is_numeric(column := rows.table.column(name)):
            column = as_text(column) if name in parameters else column
            words = sorted({str(word) for word in column.unique().to_pylist() if word is not None})
            text, facts["kind"], facts["words"] = pack_codes(np.where(there, codes_of(column, tuple(words))[order], -1)), "code", words
            if len(words) == 1 and there.all():
                text, facts["same"] = "", words[0]
        elif name == POINT:
            text, facts["kind"] = pack_integers(np.where(there, column.to_numpy()[order], -1)), "integer"
        else:
            values = np.where(there, np.asarray(column.to_numpy(), dtype=np.float64)[order], np.nan)
            facts |= {
                "kind": "float",
                "integer": bool(quantity and quantity.kind == "integer"),
                "dropped": dropped,
                "digits": DIGITS[dropped],
            }
            facts["parameter"] = name in parameters
            if (values == values[0]).all() or np.isnan(values).all():
                text, facts["same"] = "", None if np.isnan(values[0]) else float(values[0])
            else:
                text = pack_floats(values, dropped)
        if sum(map(len, packed.values())) + len(text) > ROOM and name not in (areas.name, "status"):
            left_out.append(name)
            continue
        if text:
            packed[name] = text
        described.append(facts)
    return packed, described, tuple(left_out)


def counts(rows: RunRows, name: str) -> bool:
    """Whether a column of whole numbers holds another one than 0."""
    values = np.asarray(rows.table.column(name).to_numpy(), dtype=np.float64)
    return bool(np.any(np.nan_to_num(values) != 0.0))
