"""The table of the curves of a boundary study, with unit and description of every column."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.execution import dataset, parquet
from tribosweep.sweep.execution.adaptive import probabilities
from tribosweep.sweep.execution.adaptive.boundary_tracing import boundary_design
from tribosweep.sweep.execution.adaptive.quadtree import NONE
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.job import Job
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.io.atomic import make_inner_folder, write_whole
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    from tribosweep.sweep.execution.adaptive.boundary_tracing import TracingHistory

CURVE, BETWEEN, WIDTH, CLOSED = "curve", "between", "width", "closed"
FAILED_SIDES = b"failed_sides"
NOTHING = "none"
KINDS = {CURVE: pa.int64(), BETWEEN: parquet.WORDS, WIDTH: pa.float64(), CLOSED: pa.bool_()}


def read_boundaries(path: str | os.PathLike[str]) -> pa.Table:
    """Read the curves of the run in a directory.

    Returns:
        One row per place on a curve, curve by curve, in order along each: `curve` (int64), the two parameters under their names, `between`
        (the regimes on both sides), `width` (relative width of the bracket of that place), `closed` (whether the last place connects to the
        first). Units and descriptions are in the fields' metadata.

    Raises:
        FileNotFoundError: the run is no boundary study, or is not complete.
        ConfigError: the file is not as it was written.
    """
    directory = RunDirectory(Path(path))
    table = dataset.read_table(directory, directory.boundaries, KINDS, KINDS)
    if not (table.schema.metadata or {}).get(FAILED_SIDES, b"").isdigit():
        raise dataset.damaged(directory, directory.boundaries, "its metadata do not count the sides that failed")
    return table


def schema(config: Config, provenance: Mapping[str, str]) -> pa.Schema:
    """The Arrow schema of the table; `provenance` is what computed it (jax, device, dtype ...)."""
    design = boundary_design(config)
    fields = [
        parquet.described(CURVE, pa.int64(), "", "number of the curve, from 0 on", nullable=False),
        *(parquet.column(config.model.parameter(axis.name)) for axis in design.plane),
        parquet.described(
            BETWEEN,
            parquet.WORDS,
            "",
            f"values of {design.sought} on the two sides of the curve, or the level that it crosses there",
        ),
        parquet.described(
            WIDTH, pa.float64(), "1", "width of the bracket that contains the curve there, relative to the parameter along the bracket"
        ),
        parquet.described(CLOSED, pa.bool_(), "", "whether the curve goes on from its last place to its first"),
    ]
    return pa.schema(fields, metadata=parquet.schema(config, provenance).metadata)


def tabulate(history: TracingHistory, provenance: Mapping[str, str]) -> pa.Table:
    """Build the table of a study with all its levels; `provenance` as in `schema`."""
    found, config, design = history.found, history.config, history.design
    if found is None:
        raise ValueError(f"{config.name} has levels to come")
    order = np.concatenate([np.empty(0, dtype=np.int64), *(curve.crossings for curve in found.curves)])
    lengths = [len(curve.crossings) for curve in found.curves]
    brackets = found.brackets.part(order)
    middle = 0.5 * (brackets.low + brackets.high)
    x, y = (np.where(brackets.along == axis, middle, brackets.others) for axis in (0, 1))
    ends = np.stack([np.maximum(np.abs(axis.start), np.abs(axis.stop)) for axis in design.plane])
    touches = np.array([axis.start * axis.stop <= 0.0 for axis in design.plane])
    scale = np.where(touches[brackets.along], ends[brackets.along], np.abs(middle))
    names = [
        probabilities.label(design, curve.classes) if design.event else label(config, design.observable, design.level, curve.classes)
        for curve in found.curves
    ]
    known = tuple(dict.fromkeys(names))
    columns = [
        parquet.numbers(np.repeat(np.arange(len(lengths)), lengths)),
        parquet.numbers(x),
        parquet.numbers(y),
        parquet.words(np.repeat(np.array([known.index(name) for name in names], dtype=np.int64), lengths), known),
        parquet.numbers(np.abs(brackets.high - brackets.low) / scale),
        pa.array(np.repeat(np.array([curve.closed for curve in found.curves], dtype=bool), lengths)),
    ]
    layout = schema(config, provenance)
    return pa.Table.from_arrays(columns, schema=layout.with_metadata({**layout.metadata, FAILED_SIDES: str(found.failed)}))


def label(config: Config, observable: str, level: float | None, classes: tuple[int, int]) -> str:
    """The label of what a curve separates: two words, two whole numbers, or the sides of a level."""
    quantity: Quantity = by_name(config.model.observables)[observable]
    if level is not None and NONE not in classes:
        return f"{observable} = {level:.12g}{quantity.unit_suffix}"
    if level is not None:
        return f"{NOTHING} | {observable}"
    named = [NOTHING if code == NONE else quantity.words[code] if quantity.kind == "word" else str(code) for code in classes]
    return f"{' | '.join(named)}" if quantity.kind == "word" else f"{observable} {' | '.join(named)}"


def write(job: Job, history: TracingHistory) -> None:
    """Write the table of the curves of a study with all its levels."""
    make_inner_folder(job.directory.boundaries.parent)
    write_whole(job.directory.boundaries, sealed_parquet.to_bytes(tabulate(history, job.setting.provenance)))
