"""Means over parameters, such as the draws of a random excitation, at every place of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.run_rows import RunRows, as_text, have_results, is_numeric
from tribosweep.sweep.analysis.run_state import POINT

STATUS = "status"


def means_over(rows: RunRows, over: Sequence[str], shade: Quantity) -> tuple[RunRows, Quantity]:
    """One row for each place of the axes and the loose parameters, instead of one for each value of `over`.

    A number is the mean over the rows that have one, a word the most frequent, the status that of a row with results if there is one, the
    point the first.

    Returns:
        The rows, and the standard deviation of `shade` over `over`, which is one more column of theirs.
    """
    table = rows.table
    groups, first = grouped(rows)
    count = len(first)
    good = have_results(table.column(STATUS))
    kept = [axis.name for axis in rows.axes] + list(rows.loose) + [POINT]
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if name in over:
            continue
        if name in kept:
            columns[name] = column.take(first)
        elif name == STATUS:
            columns[name] = frequent(as_text(column).to_pylist(), groups, count, np.where(good, 1_000_000, 1))
        elif is_numeric(column):
            columns[name] = pa.array(mean_of(np.asarray(column.to_numpy(), dtype=np.float64), groups, count), from_pandas=True)
        else:
            columns[name] = frequent(column.to_pylist(), groups, count, np.ones(len(groups), dtype=np.int64))
    of = Quantity(f"{shade.name}, standard deviation", shade.unit, f"standard deviation over {', '.join(over)} of {shade.name}")
    values = np.asarray(table.column(shade.name).to_numpy(), dtype=np.float64)
    mean = mean_of(values, groups, count)
    number = np.bincount(groups, np.isfinite(values), count)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(mean_of((values - mean[groups]) ** 2, groups, count) * number / (number - 1.0))
    columns[of.name] = pa.array(np.where(number > 1, spread, np.nan))
    return replace(rows, table=pa.table(columns)), of


def grouped(rows: RunRows) -> tuple[np.ndarray, np.ndarray]:
    """(n,) the number of the place of each row, and the first row of each place."""
    keys = []
    for name in [*(axis.name for axis in rows.axes), *rows.loose]:
        column = rows.table.column(name)
        keys.append(np.unique(column.to_numpy() if is_numeric(column) else np.array(as_text(column).to_pylist()), return_inverse=True)[1])
    _, first, groups = np.unique(np.stack(keys, axis=1), axis=0, return_index=True, return_inverse=True)
    return groups.ravel(), first


def mean_of(values: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray:
    """(count,) means of the finite values of each group; NaN where there is none."""
    there = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(groups[there], values[there], count) / np.bincount(groups[there], minlength=count))


def frequent(words: list[str | None], groups: np.ndarray, count: int, weights: np.ndarray) -> pa.Array:
    """The word with the largest weight in each group; None where there is none."""
    known = sorted({word for word in words if word is not None})
    if not known:
        return pa.array([None] * count, pa.string())
    codes = np.array([-1 if word is None else known.index(word) for word in words])
    there = codes >= 0
    weight = np.bincount(groups[there] * len(known) + codes[there], weights[there], count * len(known)).reshape(count, len(known))
    best = weight.argmax(axis=1)
    return pa.array([known[place] if weight[group, place] > 0 else None for group, place in enumerate(best)], pa.string())
