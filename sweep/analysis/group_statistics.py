"""Means, deviations, quantiles, probabilities and words of observables over parameters, such as the draws of a random excitation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analysis.group_numbers import Groups, frequencies_of, means_of, moments_of, probabilities_of, quantiles_of
from tribosweep.sweep.analysis.run_rows import have_results, varying_of
from tribosweep.sweep.analysis.run_state import model_of, shown_table, state_of
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.parquet import WORDS, column, described
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.capabilities import BOUNDARY, CONVERGENCE
from tribosweep.sweep.study.draws import DRAWS
from tribosweep.sweep.study.event import Comparison, Event, named_in, numbers_of, outcome_in, read_events, values_in
from tribosweep.sweep.study.posterior import POSTERIOR, is_crossed

if TYPE_CHECKING:
    import pyarrow as pa


CONFIDENCE = 0.95
CROSSING = (POSTERIOR, DRAWS, BOUNDARY)  # designs that draw some parameters at every combination of the others
STATUS, WORD = "status", "word"
ABOUT = {
    "observable": "observable, or event, to which the numbers belong",
    "unit": "unit of the numbers",
    "rows": "number of rows used: those that did not fail and have a value of the observable; of an event all that did not fail",
    "failed": "number of rows that failed and are left out",
    "void": "number of rows without a value, where nothing happened: left out of a mean, and without the event in a probability",
    "unknown": "number of rows whose value could not be computed: left out; the interval of a probability holds both outcomes of them",
    "mean": "arithmetic mean; of an event the part of the rows in which it happened, of words the part that the most frequent one has",
    "std": "standard deviation of one row, with rows - 1 in its denominator; null for one row",
    "std_error": "standard deviation of the mean, std / sqrt(rows)",
    "lower": "lower end of the interval of the mean (Student's t with rows - 1 degrees of freedom; of an event Clopper and Pearson)",
    "upper": "upper end of that interval",
}


def group_statistics(
    path: Path, over: str | Sequence[str], observables: Sequence[str] = (), confidence: float = CONFIDENCE, chances: Sequence[str] = (),
    quantiles: Sequence[float] = (),
) -> pa.Table:  # fmt: skip
    """Compute mean and spread, quantiles, probabilities of events and frequent words over parameters, at each point of the others.

    Args:
        path: directory of a run, complete or not.
        over: name of a parameter that the run sweeps, such as "draw" or "record", or several of them. One that a design draws
            at random at every combination of its other axes brings those drawn with it.
        observables: names of the observables; if empty, and without `chances`, all numeric observables that have a unit. A word gives its
            most frequent value with the part of the rows that have it, its entropy, and the probability of each of its values.
        confidence: level of the intervals, in (0, 1).
        chances: events such as "buckled=1" or "wear_power>2" (see `event.read_events`).
        quantiles: probabilities of quantiles of the numeric observables, in (0, 1).

    Returns:
        One row for each point and observable, with the points in the order of the design. The columns are the other swept parameters (and
        `scheme`), those of ABOUT, `word` if an observable is a word, and for each quantile "quantile 0.95" and its two ends. The intervals
        assume independent rows; that of a mean also that it is nearly normal, such as the mean of many draws.

    Raises:
        ConfigError: there is no run or no row, `over` is not swept, an observable or event is unknown, or a number is not in (0, 1).
    """
    import pyarrow as pa

    state, model = state_of(path), model_of(path)
    dataset = Dataset(path) if state["rows"] else None
    problems: list[Problem] = []
    if dataset is None:
        problems.append(Problem("", "no shard is written yet: nothing to average"))
    if state["design"] == SUBSET:
        message = f"the rows of a subset simulation crowd around its event: no means; the probability of the event: tribosweep rare {path}"
        problems.append(Problem("", message))
    if state["design"] == CONVERGENCE:
        problems.append(Problem("", "a convergence study has rows of several steps for a point: nothing to average"))
    check_levels([("--confidence", confidence), *(("--quantile", each) for each in quantiles)], problems)
    if problems or dataset is None:
        raise ConfigError(str(path), problems)
    names = [name for name in dataset.names if name in by_name(model.parameters) or name == SCHEME]
    table = dataset.table([*names, STATUS])
    varying = varying_of(table, names)
    document = RunDirectory(path).read_document()
    apart = with_joint([over] if isinstance(over, str) else over, document, varying)
    drawn = drawn_together(document, varying)
    for name in apart:
        if name not in varying:
            same = "is the same in every row" if name in names else "is nothing that this run sweeps"
            random = f"; its design draws {', '.join(drawn)}" if drawn else ""
            problems.append(Problem("--over", f"{name!r} {same}{random}; {advise(name, varying)}"))
    words = [name for name in observables if name in dataset.names and by_name(model.observables)[name].kind == "word"]
    numeric = [name for name in observables if name not in words]
    wanted = [] if (chances or words) and not numeric else choose(model, dataset.names, numeric, problems)
    events = read_events("--chance", chances, model)
    problems += [
        Problem("--chance", f"{name} is no column of this run") for event in events for name in named_in(event) if name not in dataset.names
    ]
    if problems:
        raise ConfigError(str(path), problems)
    keys = [name for name in varying if name not in apart]
    of = group(table, keys)
    first = np.unique(of, return_index=True)[1]
    groups = Groups(of, len(first), have_results(table.column(STATUS)))
    parts: list[dict[str, Any]] = []
    for quantity in wanted:
        values = np.asarray(dataset.table([quantity.name]).column(quantity.name).to_numpy(), dtype=np.float64)
        parts.append({"observable": quantity.name, "unit": quantity.unit, **statistics_of(values, groups, confidence, quantity.unknown)})
        parts[-1] |= quantile_columns(values, groups, quantiles, confidence)
    parts += [probability_of(event, model, dataset.table(named_in(event)), groups, confidence) for event in events]
    for name in words:
        parts += words_of(by_name(model.observables)[name], model, dataset.table([name]), groups, confidence)
    about = ABOUT | ({WORD: "most frequent word of an observable that is one"} if words else {})
    about |= quantile_descriptions(quantiles if wanted else (), confidence)
    place = np.arange(len(first) * len(parts)).reshape(len(parts), len(first)).T.ravel()  # all observables of a point follow each other
    heads = table.select(keys).take(first[place % len(first)])
    columns = [heads.column(name) for name in keys]
    for name in about:
        nothing: Any = None if name == WORD else np.nan
        cells = np.concatenate([np.broadcast_to(np.asarray(part.get(name, nothing)), len(first)) for part in parts])[place]
        columns.append(pa.array(cells, from_pandas=True))
    fields = [field_of(model, name) for name in keys]
    fields += [described(name, columns[len(keys) + n].type, "", text) for n, (name, text) in enumerate(about.items())]
    metadata = {"over": ", ".join(apart), "confidence": f"{confidence:g}", "keys": json.dumps(keys)}
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=metadata))


def check_levels(levels: Iterable[tuple[str, float]], problems: list[Problem]) -> None:
    """Add a problem for each number, named by its option, that is not between 0 and 1."""
    problems += [Problem(option, f"{value:g} is out of bounds: must be > 0 and < 1") for option, value in levels if not 0.0 < value < 1.0]


def probability_of(event: Event, model: Model, table: pa.Table, groups: Groups, confidence: float) -> dict[str, Any]:
    """The numbers of ABOUT of an event, from a table with the columns of its observables."""
    values = values_in(event, model, table)
    happened, unknown = outcome_in(event, model, values)
    void = np.any([np.isnan(each) for each in values.values()], axis=0) & ~happened & ~unknown
    numbers = statistics_of(np.where(unknown, np.nan, happened.astype(float)), groups, confidence, unknown=True)
    chance = probabilities_of(happened, groups, confidence, unknown)
    numbers |= {"lower": chance.lower, "upper": chance.upper, "void": groups.number(groups.good & void)}
    return {"observable": str(event), "unit": "1", **numbers}


def words_of(quantity: Quantity, model: Model, table: pa.Table, groups: Groups, confidence: float) -> list[dict[str, Any]]:
    """The most frequent word of an observable and its share, the entropy, and the probability of each word that occurs."""
    codes = np.nan_to_num(numbers_of(quantity, table.column(quantity.name)), nan=-1.0).astype(np.int64)
    void = groups.number(groups.good & (codes < 0))
    found = frequencies_of(codes, groups, quantity.words, void if quantity.unknown else 0)
    share = found.share(confidence)
    same: dict[str, Any] = {"rows": found.rows, "failed": groups.number(~groups.good)}
    same |= {"void": 0 * void, "unknown": void} if quantity.unknown else {"void": void, "unknown": 0 * void}
    most = np.array([None, *quantity.words], dtype=object)[found.most + 1]
    lines: list[dict[str, Any]] = [
        {"observable": quantity.name, "unit": "1", **same, "mean": share.value, "lower": share.lower, "upper": share.upper, WORD: most},
        {"observable": f"entropy of {quantity.name}", "unit": "bit", **same, "mean": found.entropy},
    ]
    there = [word for word, hits in zip(quantity.words, found.hits.sum(axis=0), strict=True) if hits]
    return lines + [probability_of(Comparison(quantity.name, "=", word), model, table, groups, confidence) for word in there]


def quantile_columns(values: np.ndarray, groups: Groups, quantiles: Sequence[float], confidence: float) -> dict[str, np.ndarray]:
    """The columns of the quantiles of an observable."""
    columns: dict[str, np.ndarray] = {}
    for probability in quantiles:
        found = quantiles_of(values, groups, probability, confidence)
        ends = (found.value, found.lower, found.upper)
        columns |= dict(zip(quantile_descriptions([probability], confidence), ends, strict=True))
    return columns


def quantile_descriptions(quantiles: Sequence[float], confidence: float) -> dict[str, str]:
    """Column -> description of the columns of quantiles."""
    found = {}
    for probability in quantiles:
        name = f"quantile {probability:g}"
        found[name] = f"value that the part {probability:g} of the rows is below"
        found[f"{name}, lower"] = f"lower end of its {100.0 * confidence:g} % interval (order statistics); -inf if there are too few rows"
        found[f"{name}, upper"] = "upper end of that interval; inf if there are too few rows"
    return found


def with_joint(over: Sequence[str], document: Mapping[str, Any], varying: Sequence[str]) -> tuple[str, ...]:
    """The parameters of groups; one that is drawn at random brings the others that are drawn with it."""
    drawn = drawn_together(document, varying)
    return tuple(dict.fromkeys([*over, *(drawn if any(name in drawn for name in over) else ())]))


def drawn_together(document: Mapping[str, Any], varying: Sequence[str]) -> tuple[str, ...]:
    """The parameters that vary and that a design draws together, at every combination of its other axes; none of another design."""
    sweep = document.get("sweep", {})
    if isinstance(sweep, list) or sweep.get("design") not in CROSSING:
        return ()
    crossed = [name for name, raw in sweep.get("axes", {}).items() if is_crossed(raw)]
    if sweep["design"] == BOUNDARY:  # whatever is not on its plane
        crossed = [name for name, raw in sweep.get("axes", {}).items() if isinstance(raw, dict) and "count" in raw]
    return tuple(name for name in varying if name not in crossed and name != SCHEME)


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


def statistics_of(values: np.ndarray, groups: Groups, confidence: float, unknown: bool) -> dict[str, np.ndarray]:
    """The numbers of ABOUT for each group; NaN if a group has too few rows. `unknown`: whether a missing value is one not computed."""
    rows, _, std = moments_of(values, groups)
    mean, missing, none = means_of(values, groups, confidence), groups.number(groups.good & ~np.isfinite(values)), np.zeros_like(rows)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = std / np.sqrt(rows)
    return {
        "rows": rows,
        "failed": groups.number(~groups.good),
        "void": none if unknown else missing,
        "unknown": missing if unknown else none,
        "mean": mean.value,
        "std": std,
        "std_error": error,
        "lower": mean.lower,
        "upper": mean.upper,
    }


def keys_of(table: pa.Table) -> list[str]:
    """Names of the parameters of a table of means."""
    return [str(name) for name in json.loads(table.schema.metadata[b"keys"])]
