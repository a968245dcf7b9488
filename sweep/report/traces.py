"""Traces of a few points spread over the map: motion and forces over time, from the exact engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.models import Model
from kernels.models.quantity import by_name
from kernels.models.schemes import EXACT
from sweep.analysis.run_rows import RunRows
from sweep.execution.record_bank import record_of_row
from sweep.study.excitation import Excitation
from sweep.study.load import load
from sweep.study.rules import check_fixed

PERIODS = 20  # of the excitation: longer traces show only their last ones
SETTLING = 50  # periods for a contact with memory to return to its steady motion
SAMPLES = 600
MOST_EVENTS = 20_000
MOST_MOMENTS = 8000  # longer traces show only their last moments


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of one point.

    Attributes:
        row: its position among the rows. columns: (n,) values for each of `kernels.time_history.TRACE_COLUMNS`.
        period: period of the excitation [s]; NaN if there is none.
    """

    row: int
    columns: dict[str, np.ndarray]
    period: float


def trace_rows(rows: RunRows, chosen: Sequence[int]) -> tuple[list[Trace], str]:
    """Compute the traces of rows; returns them with a sentence on their origin.

    For a fixed window the trace is the run from t = 0 on, cut to its last PERIODS periods. For a steady window it is one period of the
    steady motion, which starts from the row's x_end and v_end. Rows that the exact engine cannot run have no trace.
    """
    traces = []
    excitation = load(rows.document).excitation if "excitation" in rows.document else None
    for row in chosen:
        given = parameters_of(rows.model, rows.fixed, rows.table.slice(row, 1).to_pylist()[0])
        if check_fixed(rows.model, EXACT, given, {}, set()):
            continue
        found = trace_steady(rows, given, row) if rows.steady else trace_run(rows.model, given, excitation)
        if found is not None:
            columns, period = found
            traces.append(Trace(row, {name: values[-MOST_MOMENTS:] for name, values in columns.items()}, period))
    note = "one period of the steady motion" if rows.steady else f"from the start, or the last {PERIODS} periods of the excitation"
    note = f"Traces are computed by the exact engine, whatever the scheme of the rows: {note}."
    return traces, note if traces else "No row has a trace: the exact engine, which computes traces, cannot run these rows to their end."


def parameters_of(model: Model, fixed: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a row that differ from their default, in the format of the kernels."""
    known = by_name(model.parameters)
    given = {name: value for name, value in {**fixed, **row}.items() if name in known and value is not None}
    return {n: float(known[n].words.index(v)) if known[n].kind == "word" and isinstance(v, str) else v for n, v in given.items()}


def excitation_period(model: Model, given: Mapping[str, Any]) -> float:
    """Period of the excitation [s]; NaN if there is none."""
    p = model.resolve(given)
    return 2.0 * math.pi / float(p["omega"]) if float(p["a0"]) != 0.0 or float(p["f0"]) != 0.0 else math.nan


def trace_run(model: Model, given: Mapping[str, Any], excitation: Excitation | None = None) -> tuple[dict[str, np.ndarray], float] | None:
    """Trace a run from t = 0 to its end; None if it has too many events."""
    import kernels

    end, period = float(model.resolve(given)["end"]), excitation_period(model, given)
    start = max(0.0, end - PERIODS * period) if math.isfinite(period) else 0.0
    shaken, records = record_of_row(excitation, given)
    columns = kernels.trace(model.name, shaken, start, SAMPLES, MOST_EVENTS, records)
    return (columns, period) if columns["time"][-1] >= end * (1.0 - 1e-12) else None


def trace_steady(rows: RunRows, given: Mapping[str, Any], row: int) -> tuple[dict[str, np.ndarray], float] | None:
    """Trace one period of a steady motion; None if the row has none."""
    import kernels

    at = {name: rows.table.column(name)[row].as_py() for name in ("x_end", "v_end", "period")}
    period = excitation_period(rows.model, given)
    if at["period"] in (None, 0) or not math.isfinite(period) or at["x_end"] is None or math.isnan(at["x_end"]):
        return None
    length = at["period"] * period
    settling = SETTLING * length if "k_t" in given else 0.0
    timed = {name: value for name, value in given.items() if not name.startswith("window")}
    timed |= {"x0": at["x_end"], "v0": at["v_end"], "end": settling + length}
    columns = kernels.trace(rows.model.name, timed, settling, SAMPLES, MOST_EVENTS)
    columns["time"] -= settling
    return columns, period
