"""Mean and standard deviation of observables over one parameter, such as the draws of a random excitation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.models import Model
from kernels.models.quantity import Quantity, by_name
from sweep.analysis.event import read_events, share_interval
from sweep.analysis.run_rows import have_results, varying_of
from sweep.analysis.run_state import model_of, shown_table, state_of
from sweep.design.axis import SCHEME
from sweep.execution.dataset import Dataset
from sweep.execution.parquet import WORDS, column, described
from sweep.io.errors import ConfigError, Problem, advise
from sweep.study.convergence import CONVERGENCE

if TYPE_CHECKING:
    import pyarrow as pa


CONFIDENCE = 0.95
STATUS = "status"
ABOUT = {
    "observable": "observable, or event, to which the numbers belong",
    "unit": "unit of the numbers",
    "rows": "number of rows used: those that did not fail and have a value of the observable; of an event all that did not fail",
    "failed": "number of rows that failed and are left out",
    "void": "number of rows without a value, where nothing happened: left out of a mean, and without the event in a chance",
    "mean": "arithmetic mean; of an event the part of the rows in which it happened",
    "std": "standard deviation of one row, with rows - 1 in its denominator; null for one row",
    "std_error": "standard deviation of the mean, std / sqrt(rows)",
    "lower": "lower end of the interval of the mean (Student's t with rows - 1 degrees of freedom; of an event Clopper and Pearson)",
    "upper": "upper end of that interval",
}


def group_statistics(
    path: Path, over: str, observables: Sequence[str] = (), confidence: float = CONFIDENCE, chances: Sequence[str] = ()
) -> pa.Table:
    """Compute mean and spread, and chances of events, over one parameter, at each point of the other parameters.

    Args:
        path: directory of a run, complete or not.
        over: name of a parameter that the run sweeps, such as "draw" or "record".
        observables: names of the observables; if empty, and without `chances`, all numeric observables that have a unit.
        confidence: level of the intervals, in (0, 1).
        chances: events such as "buckled=1" or "wear_power>2" (see `event.read_events`).

    Returns:
        One row for each point and observable, with the points in the order of the design. The columns are the other swept parameters (and
        `scheme`), then those of ABOUT. The intervals assume independent rows whose mean is nearly normal, such as the mean of many draws.

    Raises:
        ConfigError: there is no run or no row, `over` is not swept, an observable or event is unknown, or `confidence` is not in (0, 1).
    """
    import pyarrow as pa

    state, model = state_of(path), model_of(path)
    dataset = Dataset(path) if state["rows"] else None
    problems: list[Problem] = []
    if dataset is None:
        problems.append(Problem("", "no shard is written yet: nothing to average"))
    if state["design"] == CONVERGENCE:
        problems.append(Problem("", "a convergence study has rows of several steps for a point: nothing to average"))
    if not 0.0 < confidence < 1.0:
        problems.append(Problem("--confidence", f"{confidence:g} is out of bounds: must be > 0 and < 1"))
    if problems or dataset is None:
        raise ConfigError(str(path), problems)
    names = [name for name in dataset.names if name in by_name(model.parameters) or name == SCHEME]
    table = dataset.table([*names, STATUS])
    varying = varying_of(table, names)
    if over not in varying:
        same = "is the same in every row" if over in names else "is nothing that this run sweeps"
        problems.append(Problem("--over", f"{over!r} {same}; {advise(over, varying)}"))
    wanted = [] if chances and not observables else choose(model, dataset.names, observables, problems)
    events = read_events("--chance", chances, model)
    problems += [
        Problem("--chance", f"{event.observable} is no column of this run") for event in events if event.observable not in dataset.names
    ]
    if problems:
        raise ConfigError(str(path), problems)
    keys = [name for name in varying if name != over]
    groups = group(table, keys)
    good = have_results(table.column(STATUS))
    first = np.unique(groups, return_index=True)[1]
    parts: list[dict[str, Any]] = []
    for quantity in wanted:
        values = np.asarray(dataset.table([quantity.name]).column(quantity.name).to_numpy(), dtype=np.float64)
        parts.append({"observable": quantity.name, "unit": quantity.unit, **numbers_of(values, good, groups, len(first), confidence)})
    for event in events:
        values = event.values_in(model, dataset.table([event.observable]).column(event.observable))
        happened = event.happens(by_name(model.observables)[event.observable], values)
        numbers = numbers_of(happened.astype(float), good, groups, len(first), confidence)
        hits = np.bincount(groups[good & happened], minlength=len(first))
        numbers["lower"], numbers["upper"] = share_interval(hits, numbers["rows"], confidence)
        numbers["void"] = np.bincount(groups[good & np.isnan(values)], minlength=len(first))
        parts.append({"observable": str(event), "unit": "1", **numbers})
    place = np.arange(len(first) * len(parts)).reshape(len(parts), len(first)).T.ravel()  # all observables of a point follow each other
    heads = table.select(keys).take(first[place % len(first)])
    columns = [heads.column(name) for name in keys]
    for name in ABOUT:
        cells = np.concatenate([np.broadcast_to(part[name], len(first)) for part in parts])[place]
        columns.append(pa.array(cells, from_pandas=True))
    fields = [field_of(model, name) for name in keys]
    fields += [described(name, columns[len(keys) + n].type, "", about) for n, (name, about) in enumerate(ABOUT.items())]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata={"over": over, "confidence": f"{confidence:g}"}))


def field_of(model: Model, name: str) -> pa.Field:
    """The Arrow field of a parameter or of the scheme."""
    return described(SCHEME, WORDS, "", "scheme that computed the rows") if name == SCHEME else column(model.parameter(name))


def choose(model: Model, columns: Sequence[str], observables: Sequence[str], problems: list[Problem]) -> list[Quantity]:
    """Choose the observables to average; add a problem for each unknown name."""
    known = {
        q.name: q for q in model.observables if q.name in columns and (q.kind == "float" or (q.kind == "integer" and q.name in observables))
    }
    problems += [
        Problem("--observable", f"{name!r} is no number of this run; {advise(name, known)}") for name in observables if name not in known
    ]
    return [known[name] for name in dict.fromkeys(observables or known) if name in known]


def group(table: pa.Table, keys: Sequence[str]) -> np.ndarray:
    """(n,) group numbers of rows; rows that agree in all `keys` share a group, and groups are numbered in the order of their first rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = np.zeros(table.num_rows, dtype=np.int64)
    for name in keys:
        cells = table.column(name)
        if pa.types.is_list(cells.type):
            cells = pa.chunked_array([pa.array([shown_table(cell) for cell in cells.to_pylist()], pa.string())])
        elif pa.types.is_dictionary(cells.type):
            cells = cells.cast(pa.string())
        encoded = pc.dictionary_encode(cells, null_encoding="encode").combine_chunks()
        codes = np.unique(codes * (len(encoded.dictionary) + 1) + encoded.indices.to_numpy(), return_inverse=True)[1]
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])


def numbers_of(values: np.ndarray, good: np.ndarray, groups: np.ndarray, count: int, confidence: float) -> dict[str, np.ndarray]:
    """The numbers of ABOUT for each of `count` groups; NaN if a group has too few rows."""
    from scipy import stats

    used = good & np.isfinite(values)
    at, kept = groups[used], values[used]
    rows = np.bincount(at, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(at, kept, count) / rows
        mean += np.bincount(at, kept - mean[at], count) / rows  # corrects the rounding error of the first mean
        std = np.sqrt(np.bincount(at, (kept - mean[at]) ** 2, count) / (rows - 1.0))
        std[rows < 2] = np.nan
        error = std / np.sqrt(rows)
        half = stats.t.ppf(0.5 + 0.5 * confidence, np.maximum(rows - 1, 1)) * error
    failed = np.bincount(groups[~good], minlength=count)
    void = np.bincount(groups[good & ~np.isfinite(values)], minlength=count)
    return {
        "rows": rows,
        "failed": failed,
        "void": void,
        "mean": mean,
        "std": std,
        "std_error": error,
        "lower": mean - half,
        "upper": mean + half,
    }


def keys_of(table: pa.Table) -> list[str]:
    """Names of the parameters of a table of means."""
    return [name for name in table.column_names if name not in ABOUT]
