"""Traces of a few points spread over the map: motion and forces over time, from the exact engine, or of a structure from its scheme."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.supports import named
from tribosweep.sweep.analyses.trace.motion import PERIODS, RESTARTED, clearances_of, excitation_period, steady_trace
from tribosweep.sweep.analysis.run_rows import RunRows
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.execution.record_bank import has_record, record_of_row
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.excitation import Excitation
from tribosweep.sweep.study.load import load
from tribosweep.sweep.study.rules import check_fixed

if TYPE_CHECKING:
    from tribosweep.kernels.excitation.record import Records

SAMPLES = 600
MOST_EVENTS = 20_000
MOST_MOMENTS = 8000  # longer traces show only their last moments
OF_A_SUPPORT = ("place_1", "place_2", "normal_force", "tangential_force", "slips")
INSTANTS = 3000  # of the trace of a structure
SWINGS = 10  # periods of its slowest load that it shows


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of one point.

    Attributes:
        row: its position among the rows.
        columns: (n,) values for each of `tribosweep.kernels.time_history.TRACE_COLUMNS`, or of a structure `time` and those of
            OF_A_SUPPORT that its support has.
        period: period of the excitation [s]; NaN if there is none.
        gap: of a structure: the clearance of the support in this row [m].
    """

    row: int
    columns: dict[str, np.ndarray]
    period: float
    gap: float = math.nan


def trace_rows(rows: RunRows, chosen: Sequence[int], support: str | None = None) -> tuple[list[Trace], str]:
    """Compute the traces of rows, of structures at a support; returns them with a sentence on their origin.

    For a fixed window the trace is the run from t = 0 on, cut to its last PERIODS periods. For a steady window it is one period of the
    steady motion, which starts from the row's x_end and v_end, and of two bodies x_end_2 and v_end_2. Rows that the exact engine cannot run
    have no trace.
    """
    if rows.model.structure is not None:
        return trace_structures(rows, chosen, support)
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


def trace_run(model: Model, given: Mapping[str, Any], excitation: Excitation | None = None) -> tuple[dict[str, np.ndarray], float] | None:
    """Trace a run from t = 0 to its end; None if it has too many events, or no draw."""
    from tribosweep import kernels

    if not has_record(excitation, given):
        return None
    end, period = float(model.resolve(given)["end"]), excitation_period(model, given)
    start = max(0.0, end - PERIODS * period) if math.isfinite(period) else 0.0
    shaken, records = record_of_row(excitation, given)
    columns = kernels.trace(model.name, shaken, start, SAMPLES, MOST_EVENTS, records)
    return (columns, period) if columns["time"][-1] >= end * (1.0 - 1e-12) else None


def trace_steady(rows: RunRows, given: Mapping[str, Any], row: int) -> tuple[dict[str, np.ndarray], float] | None:
    """Trace one period of a steady motion; None if the row has none."""
    at = {name: rows.table.column(name)[row].as_py() for name in RESTARTED if name in rows.table.column_names}
    return steady_trace(rows.model, given, at, SAMPLES)


def trace_structures(rows: RunRows, chosen: Sequence[int], support: str | None) -> tuple[list[Trace], str]:
    """Compute the traces of rows of a structure at one of its supports, side by side; see `trace_rows`."""
    if support is None:
        return [], "There are no traces: the structure has no support."
    try:
        config = load(rows.document)
    except ConfigError as error:  # a file of the study is gone
        return [], f"There are no traces: {error.problems[0]}."
    given = [parameters_of(rows.model, rows.fixed, rows.table.slice(row, 1).to_pylist()[0]) for row in chosen]
    schemes = [str(rows.table.column(SCHEME)[row].as_py()) if SCHEME in rows.table.column_names else config.scheme for row in chosen]
    traces = []
    for scheme in dict.fromkeys(schemes):
        places = [
            n
            for n, each in enumerate(schemes)
            if each == scheme and not check_fixed(rows.model, scheme, given[n], {}, set()) and has_record(config.excitation, given[n])
        ]
        together_ones = trace_together(config, scheme, [given[place] for place in places]) if places else []
        for place, columns in zip(places, together_ones, strict=True):
            if columns is None:
                continue
            full = {name: named(name, support) for name in OF_A_SUPPORT}
            kept = {"time": columns["time"]} | {name: columns[column] for name, column in full.items() if column in columns}
            gap = next(each.gap for each in clearances_of(rows.model, given[place]) if each.name == support)
            traces.append(Trace(chosen[place], kept, math.nan, gap))
    traces.sort(key=lambda trace: chosen.index(trace.row))
    what = f"the last {SWINGS} periods of the slowest load or mode"
    note = f"Traces are those of the support {support}, computed by the scheme of each row: {what}."
    return traces, note if traces else "No row has a trace: these rows cannot be run to their end."


def trace_together(config: Config, scheme: str, given: Sequence[Mapping[str, Any]]) -> list[dict[str, np.ndarray] | None]:
    """The traces of rows of a structure by one scheme; None where a row fails."""
    from tribosweep.kernels import structure_history

    structure = config.model.structure
    rows, records = together(config.excitation, given)
    within = [(last_part(config.model, row), math.inf) for row in given]
    return structure_history.traces(structure.model, rows, scheme, INSTANTS, records, within)


def together(excitation: Excitation | None, given: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], Records | None]:
    """The parameters of rows in the format of the kernels, and one bank of their records, or None."""
    from tribosweep.kernels.excitation.record import Records

    pairs = [record_of_row(excitation, row) for row in given]
    banks = [records for _, records in pairs if records is not None]
    if not banks:
        return [row for row, _ in pairs], None
    longest = max(records.samples.shape[-1] for records in banks)
    pads = [[(0, 0)] * (records.samples.ndim - 1) + [(0, longest - records.samples.shape[-1])] for records in banks]
    samples = np.concatenate([np.pad(records.samples, pad) for records, pad in zip(banks, pads, strict=True)])
    numbers = iter(range(len(banks)))
    return [row | ({"record": float(next(numbers))} if records is not None else {}) for row, records in pairs], Records(
        samples, banks[0].interval
    )


def last_part(model: Model, given: Mapping[str, Any]) -> float:
    """When the trace of a structure begins [s]: SWINGS periods before its end, of its slowest load or, without one, its slowest mode."""
    p = {name: float(np.ravel(value)[0]) for name, value in model.resolve(given).items() if np.size(value)}
    loads = [load.name for load in model.structure.loads if p[named("amplitude", load.name)] != 0.0]
    paces = [p[named("omega", name)] for name in loads]
    if not paces:
        own = [math.sqrt(p["k"] / p["m"])] if model.structure.body else (p["frequency_factor"] * model.structure.basis.omega).tolist()
        paces = [pace for pace in own if pace > 0.0]
    return max(0.0, p["end"] - SWINGS * 2.0 * math.pi / min(paces)) if paces else 0.0
