"""Signals of the rows for a report: spectra, cycles, crossings and impacts, their medians with the spread over rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tribosweep.sweep.analyses.signals.read import read_signals
from tribosweep.sweep.analyses.signals.result import FREQUENCY, MOST_CURVES, SHARES, Signal, SignalCurve
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.results.packing import COARSE, pack_floats
from tribosweep.sweep.results.section import Section, Shown

MOST_PANELS = 12
MOST_ENTRIES = 1000  # of a curve
MOST_ROWS = 200_000


def section_of(shown: Shown) -> Section | str:
    """The signals of a run, or the reason why they are not shown ("" if the study asks for none)."""
    rows = shown.rows
    if "signals" not in rows.document.get("output", {}):
        return ""
    if rows.state["rows"] > MOST_ROWS:
        return f"No signals: there are more than {MOST_ROWS:,} rows; tribosweep signals {shown.directory} shows single points."
    apart = rows.table.num_rows <= MOST_CURVES
    together = shown.over if apart else [*shown.over, *(axis.name for axis in rows.axes), *rows.loose]
    try:
        found = read_signals(shown.directory, over=together, at=shown.at)
    except ConfigError as error:
        return f"No signals: {'; '.join(problem.message for problem in error.problems)}."
    drawn = [signal for signal in found.signals if signal.along]
    facts = {
        "title": f"Signals: medians over {', '.join(found.over)}" if found.over else "Signals",
        "shares": list(SHARES),
        "panels": [panel_of(signal) for signal in drawn[:MOST_PANELS]],
        "numbers": [number_of(signal, curve) for signal in found.signals for curve in signal.curves[:MOST_CURVES]],
    }
    left = ", ".join(signal.name for signal in drawn[MOST_PANELS:])
    return Section(facts, notes=[f"Signals without a picture here: {left}."] if left else [])


def panel_of(signal: Signal) -> dict[str, Any]:
    """A signal with its curves as text; of a spectrum with many lines the means of neighbouring ones."""
    stride = math.ceil(len(signal.entries) / MOST_ENTRIES) if signal.along == FREQUENCY else 1
    entries = averaged(signal.entries, stride)
    curves = [
        {"name": curve.label, "rows": curve.rows, "values": [pack_floats(averaged(each, stride), COARSE) for each in curve.quantiles]}
        for curve in signal.curves[:MOST_CURVES]
    ]
    about = {"name": signal.name, "unit": signal.unit, "about": signal.description, "counts": signal.counts, "stride": stride}
    along = {"along": signal.along, "along_unit": signal.along_unit, "entries": [float(f"{each:.7g}") for each in entries]}
    return {**about, **along, "signed": "cross_psd_" in signal.name, "curves": curves}


def averaged(values: np.ndarray, stride: int) -> np.ndarray:
    """The means of each `stride` neighbours, and of those that remain."""
    return np.add.reduceat(values, np.arange(0, len(values), stride)) / np.diff([*range(0, len(values), stride), len(values)])


def number_of(signal: Signal, curve: SignalCurve) -> dict[str, Any]:
    """The numbers of a curve: the total, and the largest entry with its place."""
    value, place = signal.largest(curve)
    numbers = {"total": signal.total(curve), "largest": value, "at": place}
    about = {"signal": signal.name, "unit": signal.unit, "curve": curve.label, "rows": curve.rows, "along_unit": signal.along_unit}
    return about | {name: number if math.isfinite(number) else None for name, number in numbers.items()}
