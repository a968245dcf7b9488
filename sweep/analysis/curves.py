"""An observable of a run over one parameter, one line for each value of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.map_areas import NOTHING, choose_shade, require_shade
from tribosweep.sweep.analysis.run_rows import RunRows, as_text, is_numeric, read_rows
from tribosweep.sweep.io.errors import ConfigError, Problem

MOST = 8  # lines


@dataclass(frozen=True, slots=True)
class Curves:
    """What is drawn.

    Attributes:
        rows: the rows, with the parameters on their axes. observable: what is drawn over the first of them.
        by: the parameter whose values are lines, if any. lines: (label, mask of the rows) of each line; empty where rows are scattered.
        values: number of values of `by`.
    """

    rows: RunRows
    observable: Quantity
    by: str | None
    lines: list[tuple[str, np.ndarray]]
    values: int


def read_curves(path: Path, observable: str | None = None, x: str | None = None, by: str | None = None, at: Sequence[str] = ()) -> Curves:
    """Read the rows of a run as curves.

    Args:
        path: directory of the run, complete or not.
        observable: a numeric observable; default the main one of the model.
        x: the parameter that the curves are over; default the first that varies. by: the parameter whose values are lines, a number or a
            word; default the other one that varies.
        at: "name=value" texts that hold further parameters at a value.

    Raises:
        ConfigError: see `run_rows.read_rows`; or the observable is unknown, or not in the run.
    """
    chosen: list[Quantity] = []

    def wanted(model: Model, problems: list[Problem]) -> list[str]:
        shade = choose_shade(path, model, model.main if observable is None else observable, problems, "observable")
        chosen.extend([shade] if shade else [])
        return [*(quantity.name for quantity in chosen), "status"]

    if observable == NOTHING:
        raise ConfigError(str(path), [Problem("observable", "a curve needs one")])
    rows = read_rows(path, wanted, x, None, at, fewest=1, over=() if by is None else (by,))
    require_shade(path, rows, chosen[0], "observable")
    name = by or (rows.axes[1].name if len(rows.axes) > 1 else None)
    values = len(rows.table.column(name).unique()) if name else 0
    return Curves(rows, chosen[0], name, lines_of(rows, name) if not rows.loose else [], values)


def lines_of(rows: RunRows, by: str | None) -> list[tuple[str, np.ndarray]]:
    """Label and mask of the rows of each line, at most MOST of them, spread over the values; empty where hardly any value repeats."""
    if by is None:
        return [("", np.ones(rows.table.num_rows, dtype=bool))]
    column = rows.table.column(by)
    values = np.asarray(column.to_numpy() if is_numeric(column) else as_text(column).to_numpy())
    distinct = np.unique(values[~np.isnan(values)] if is_numeric(column) else values)
    if 2 * len(distinct) > len(values):
        return []
    kept = distinct[np.unique(np.linspace(0, len(distinct) - 1, min(MOST, len(distinct))).round().astype(int))]
    return [(f"{by} = {value:.4g}" if is_numeric(column) else f"{by} = {value}", values == value) for value in kept]
