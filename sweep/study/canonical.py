"""A study as nested tables in canonical order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kernels.models import Model
from kernels.schemes import DOUBLE, STEADY
from sweep.io.values import Value, written
from sweep.study import excitation as excitations
from sweep.study.designs import Reading, sweep_document
from sweep.study.excitation import Excitation
from sweep.study.schema import TIME_KEYS, Document, Time


def canonical_document(
    document: Document, name: str, model: Model, fixed: dict[str, Value], read: Reading, excitation: Excitation | None, folder: Path
) -> dict[str, Any]:
    """The study in canonical order, numbers as floats, paths absolute; reading it again gives the same points."""
    precision = document.study.precision if document.study.precision != DOUBLE else None
    study = {"name": name, "model": document.study.model, "scheme": document.study.scheme, "precision": precision}
    time: dict[str, Any] = {key: fixed[key] for key in Time.model_fields if key in fixed}
    if "window_start" in fixed:
        time["window"] = [fixed["window_start"], fixed["window_end"]]
    elif document.time.window == STEADY:
        time["window"] = STEADY
    if document.time.blocks is not None:
        time["blocks"] = document.time.blocks
    tables: dict[str, Any] = {
        "study": {key: value for key, value in study.items() if value is not None},
        "parameters": {key: written(model.parameter(key), value) for key, value in fixed.items() if key not in TIME_KEYS},
        "time": time,
        "excitation": {}
        if excitation is None or document.excitation is None
        else excitations.section_document(document.excitation, excitation),
        "sweep": sweep_document(document.sweep, read.design, folder),
        "output": {key: value for key, value in dict(document.output).items() if value not in (None, False)},
    }
    return {key: table for key, table in tables.items() if table}


def without_files(sweeps: dict[str, Any] | list[dict[str, Any]] | None) -> Any:
    """[sweep] without the paths of its tables."""
    if isinstance(sweeps, list):
        return [without_files(each) for each in sweeps]
    return sweeps if sweeps is None else {key: value for key, value in sweeps.items() if key != "file"}
