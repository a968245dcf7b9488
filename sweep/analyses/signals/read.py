"""Reading the signals of a run: of single rows, or their quantiles over draws and others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.analyses.signals.result import SHARES, Signal, SignalCurve, Signals
from tribosweep.sweep.analysis.fixed_values import value_in_words
from tribosweep.sweep.analysis.group_statistics import group
from tribosweep.sweep.analysis.run_rows import as_text, have_results, slice_at, varying_of
from tribosweep.sweep.analysis.run_state import model_of, state_of
from tribosweep.sweep.design.axis import DRAW, RECORD, SCHEME
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.parquet import ENTRIES, ENTRIES_UNIT, ENTRIES_VALUES, POINT, STATUS
from tribosweep.sweep.io.errors import ConfigError, Problem, advise

if TYPE_CHECKING:
    import pyarrow as pa


def read_signals(
    path: Path, columns: Sequence[str] = (), points: Sequence[int] = (), over: Sequence[str] = (), at: Sequence[str] = ()
) -> Signals:
    """Read signals of a run, complete or not.

    Args:
        path: directory of the run. columns: names of columns; default all signals.
        points: numbers of points, each of which is a curve; default all rows, in groups.
        over: parameters whose values share a curve; default draws and records, where they vary. at: "name=value" texts that hold others.

    Raises:
        ConfigError: there is no run, no row or no signal, or a name or number is wrong.
    """
    state, model = state_of(path), model_of(path)
    if not state["rows"]:
        raise ConfigError(str(path), [Problem("", "no shard is written yet")])
    dataset, problems = Dataset(path), list[Problem]()
    fields = dataset.signals
    if not fields:
        raise ConfigError(str(path), [Problem("output.signals", "is missing in its study: the run has no signals")])
    problems += [
        Problem("--column", f"{name!r} is no signal of this run; {advise(name, fields)}") for name in columns if name not in fields
    ]
    names = [name for name in dataset.names if name in by_name(model.parameters) or name == SCHEME]
    chosen = [name for name in dict.fromkeys(columns or fields) if name in fields]
    table = dataset.table([POINT, *names, STATUS, *chosen])
    varying = varying_of(table, names)
    random: tuple[str, ...] = ()
    held: dict[str, Any] = {}
    if points:
        table = of_points(table, points, over, at, problems)
        keys = [POINT]
    else:
        random = random_of(over, varying, problems)
        table, held = slice_at(table, varying, at, problems)
        keys = [name for name in varying_of(table, names) if name not in random]
    if problems:
        raise ConfigError(str(path), problems)
    of = group(table, keys)
    first = np.unique(of, return_index=True)[1]
    labels = [", ".join(f"{name} = {in_words(table.column(name), int(row))}" for name in keys) for row in first]
    good = have_results(table.column(STATUS))
    found = []
    for name in chosen:
        field, values = fields[name], values_of(table.column(name))
        curves = tuple(curve_of(label, values[(of == number) & good]) for number, label in enumerate(labels))
        found.append(signal_of(field, curves))
    return Signals(state["study"], tuple(found), tuple(random), held)


def in_words(column: pa.ChunkedArray, row: int) -> str:
    """A cell of a column of parameters in readable form."""
    value = column[row].as_py()
    return value_in_words(value) if isinstance(value, float) else str(as_text(column)[row].as_py())


def of_points(table: pa.Table, points: Sequence[int], over: Sequence[str], at: Sequence[str], problems: list[Problem]) -> pa.Table:
    """The rows of some points, in their order."""
    numbers = table.column(POINT).to_numpy()
    places = {int(number): place for place, number in enumerate(numbers)}
    problems += [Problem("--point", f"{point}: the run has no such row") for point in points if point not in places]
    if over or at:
        problems.append(Problem("--point", "names single rows: leave out --over and --at"))
    return table.take(np.array([places[point] for point in dict.fromkeys(points) if point in places], np.int64))


def random_of(over: Sequence[str], varying: Sequence[str], problems: list[Problem]) -> tuple[str, ...]:
    """The parameters whose values share a curve."""
    problems += [
        Problem("--over", f"{name!r} is nothing that this run varies; {advise(name, varying)}") for name in over if name not in varying
    ]
    return tuple(dict.fromkeys(over)) or tuple(name for name in (DRAW, RECORD) if name in varying)


def values_of(column: pa.ChunkedArray) -> np.ndarray:
    """(n, L) entries of the lists of a column, or (n, 1) numbers; NaN where a cell is null."""
    import pyarrow as pa

    if not pa.types.is_list(column.type):
        return np.asarray(column.to_numpy(), np.float64)[:, np.newaxis]
    whole = column.combine_chunks()
    there = np.asarray(whole.is_valid())
    lengths = np.asarray(whole.value_lengths().fill_null(0))
    values = np.full((len(whole), int(lengths.max(initial=0))), np.nan)
    values[there] = np.asarray(whole.flatten(), np.float64).reshape(int(there.sum()), values.shape[1])
    return values


def curve_of(label: str, values: np.ndarray) -> SignalCurve:
    """The curve of rows (n, L)."""
    whole = values[~np.isnan(values).any(axis=1)]
    quantiles = np.quantile(whole, SHARES, axis=0) if len(whole) else np.full((3, values.shape[1]), np.nan)
    return SignalCurve(label, len(whole), quantiles)


def signal_of(field: pa.Field, curves: tuple[SignalCurve, ...]) -> Signal:
    """A signal from the field of its column."""
    about = {key.decode(): value.decode() for key, value in field.metadata.items()}
    entries = np.asarray(json.loads(about.get(ENTRIES_VALUES, "[NaN]")), np.float64)
    width = len(entries)
    filled = tuple(each if each.quantiles.shape[1] == width else SignalCurve(each.label, 0, np.full((3, width), np.nan)) for each in curves)
    return Signal(field.name, about["unit"], about["description"], about[ENTRIES], about.get(ENTRIES_UNIT, ""), entries, filled)
