"""Spearman's coefficients of the columns of a run, and their bootstrap intervals.

The coefficient is that of linear correlation between ranks, of which equal values share the mean. A pair of columns is of the rows that
have both values: where something did not happen, an observable has none, as the time of buckling of a wall that never buckled. Intervals
are the quantiles over bootstrap samples (percentile method). Rows that share a random draw, a record or a group of the design are drawn
together, whichever of these they share. A sample is a number of times for each row; then the ranks follow from sums over the sorted values,
and nothing is sorted again. Of more than 131,072 rows n (or groups of rows) a sample draws m = 131,072, and its distance from the
coefficient is multiplied by sqrt(m / n), as coefficients scatter (Bickel, Goetze and van Zwet, Statistica Sinica 7, 1997).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.analyses.correlation.request import CorrelationRequest
from tribosweep.sweep.analyses.correlation.result import MOST_COLUMNS, Correlation
from tribosweep.sweep.analysis.run_rows import MOST_CELLS, have_results, slice_at, varying_of
from tribosweep.sweep.analysis.run_state import model_of, state_of
from tribosweep.sweep.analysis.supports import add_entries, lists_of, with_entries
from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.design.designs import BY_LEVELS, Concatenation, Design
from tribosweep.sweep.design.draws import Draws
from tribosweep.sweep.design.posterior import Posterior
from tribosweep.sweep.design.sensitivity import SAMPLERS, Morris, Saltelli
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.analysis import Tell
from tribosweep.sweep.study.load import load

if TYPE_CHECKING:
    import pyarrow as pa

RANDOM = (*(name for name in SAMPLERS if name != "fast"), "draws")  # the points of fast lie on curves
SHARED = (DRAW, RECORD)  # random parts of an excitation, which rows may share
FEWEST = 4  # rows of a pair
FEW_GROUPS = 10
MOST_DRAWN = 2**17  # rows, or groups of rows, of a bootstrap sample
MOST_NUMBERS = 2**27  # that bootstrap samples keep: 1 GiB
MOST_PLACES = 2**29  # of values among the different ones of their columns, for all patterns of missing values: 4 GiB
LOST = 0.05  # part of bootstrap samples without a coefficient, above which an interval is unknown
COUNTERS = ("time_reached", "accepted_steps", "rejected_steps")  # observables of the computation rather than of the motion


@dataclass(frozen=True, slots=True)
class Columns:
    """What is correlated.

    Attributes:
        names: of the k columns. values: (k, n), NaN where a row has none. parameters: how many are parameters.
        clusters: (n,) number of what is drawn as a whole: a row, the rows that share draws and records, or a group of the design.
        failed: number of rows left out. held: parameter -> value at which `at` holds it.
        unknown: those names whose missing values are ones that could not be computed.
    """

    names: tuple[str, ...]
    values: np.ndarray
    parameters: int
    clusters: np.ndarray
    failed: int
    held: dict[str, Any]
    unknown: tuple[str, ...]


def correlate(directory: Path, request: CorrelationRequest, tell: Tell | None = None) -> Correlation:
    """The rank correlations of a run, complete or not.

    Args:
        directory: of the run. request: what is asked. tell: called with the number of bootstrap samples that are done, and of all.

    Raises:
        ConfigError: there is no run or no row, its design adapts to its rows, or a column holds no numbers.
    """
    state = state_of(directory)
    if state["design"] in BY_LEVELS:
        message = f"is a study by {state['design']}: its points follow from its rows, and their ranks say nothing of the parameters"
        raise ConfigError(str(directory), [Problem("", message)])
    if not state["rows"]:
        raise ConfigError(str(directory), [Problem("", "no shard is written yet: nothing to correlate")])
    columns = read_columns(directory, int(state["rows"]), request)
    found, low, high, rows = with_intervals(columns.values, columns.clusters, request.confidence, request.resamples, request.seed, tell)
    asked = {
        **request.model_dump(mode="json"),
        "held": columns.held,
        "columns": columns.names,
        "parameters": columns.names[: columns.parameters],
    }
    return Correlation(
        names=columns.names,
        parameters=columns.parameters,
        correlation=found,
        low=low,
        high=high,
        rows=rows,
        failed=columns.failed,
        confidence=request.confidence,
        state=state,
        request=asked,
        notes=notes_on(state, columns, rows, found),
    )


def notes_on(state: dict[str, Any], columns: Columns, rows: np.ndarray, found: np.ndarray) -> list[str]:
    """What a reader should know of the numbers."""
    notes = []
    if state["state"] != "complete":
        notes.append(f"The run is not complete: {state['rows']:,} of {state['points']:,} points count.")
    if columns.failed:
        failed = counted(columns.failed, "row")
        notes.append(f"{failed} failed and {'does' if columns.failed == 1 else 'do'} not count.")
    count = len(columns.clusters)
    fewer = [name for name, own in zip(columns.names, np.diagonal(rows), strict=True) if own < count]
    if fewer:
        notes.append(f"Not all rows have a value of {', '.join(fewer)}; each pair uses the rows that have both values.")
    for name in columns.unknown:
        lost = count - int(rows[columns.names.index(name), columns.names.index(name)])
        if lost:
            notes.append(f"{name} could not be computed in {counted(lost, 'row')}, of which its coefficients know nothing.")
    if (few := np.triu(np.isnan(found), 1)).any():
        pairs = {" and ".join(sorted((columns.names[i], columns.names[j]))) for i, j in np.argwhere(few)}
        notes.append(
            f"No coefficient of {', '.join(sorted(pairs))}: fewer than {FEWEST} rows have both, or one is the same in all of them."
        )
    drawn = len(np.unique(columns.clusters))
    if drawn < count:
        notes.append(f"Bootstrap samples draw {drawn:,} groups of rows: those that share a draw, a record or a group of the design.")
    if 0 < drawn < FEW_GROUPS:
        what = counted(drawn, "group" if drawn < count else "row")
        notes.append(f"A bootstrap of {what} says little of their spread{'' if drawn > 1 else ': there are no intervals'}.")
    if state["design"] not in RANDOM and drawn == count:
        notes.append(
            f"The design ({state['design']}) is no random sample: intervals tell how coefficients would scatter if points like these were"
            " drawn at random."
        )
    return notes


def read_columns(directory: Path, count: int, request: CorrelationRequest) -> Columns:
    """The columns of `count` rows that are asked for; ConfigError if one is not in the run or holds no numbers."""
    model, dataset = with_entries(model_of(directory)), Dataset(directory)
    known, there = by_name(model.parameters), dataset.names
    swept = [name for name in there if name in known]
    problems: list[Problem] = []
    observables = asked_of(model, there, request.observables, problems)
    entries = lists_of(model, observables, there)
    read = list(dict.fromkeys([*swept, *(name for name in observables if name in there), *(base for base, _ in entries.values())]))
    if count * len(read) > MOST_CELLS:
        problems.append(Problem("", f"more than {MOST_CELLS:,} cells would be read into memory: name fewer observables"))
    if problems:
        raise ConfigError(str(directory), problems)
    table = add_entries(dataset.table(["point", *read, "status"]), model, entries)
    table, held = slice_at(table, varying_of(table, swept), request.at, problems)
    good = have_results(table.column("status"))
    varying = varying_of(table, swept)
    shared = [name for name in varying if name in SHARED]
    numbers = [name for name in varying if name not in SHARED and known[name].kind in ("float", "integer")]
    incomplete = [name for name in numbers if table.column(name).null_count]
    problems += [Problem(name, "some rows leave it at its default: its values are needed in every row") for name in incomplete]
    if not numbers:
        problems.append(Problem("", "no parameter with numbers varies: there is nothing to correlate with"))
    if len(numbers) + len(observables) > MOST_COLUMNS:
        problems.append(Problem("--observable", f"{len(numbers) + len(observables)} columns: at most {MOST_COLUMNS} are correlated"))
    if problems:
        raise ConfigError(str(directory), problems)
    kept = table.filter(good)
    names = (*numbers, *observables)
    values = np.stack([np.asarray(kept.column(name).to_numpy(zero_copy_only=False), float) for name in names])
    values[~np.isfinite(values)] = np.nan
    quantities = by_name(model.observables)
    unknown = tuple(name for name in observables if quantities[name].unknown)
    return Columns(names, values, len(numbers), clusters_of(directory, kept, shared), int(np.count_nonzero(~good)), held, unknown)


def asked_of(model: Model, there: Sequence[str], observables: Sequence[str], problems: list[Problem]) -> list[str]:
    """The observables that are asked for, or the main one of the model."""
    known = by_name(model.observables)
    numbers = [name for name, each in known.items() if each.kind in ("float", "integer") and name not in COUNTERS]
    found = []
    for name in dict.fromkeys(observables or (model.main,)):
        base = name.partition("[")[0]
        if name not in known or (name not in there and base not in there):
            problems.append(Problem("--observable", f"{name!r} is no observable of this run; {advise(name, numbers)}"))
        elif known[name].kind not in ("float", "integer"):
            problems.append(Problem("--observable", f"{name} holds {known[name].kind}s, which have no ranks; {advise(name, numbers)}"))
        else:
            found.append(name)
    return found


def clusters_of(directory: Path, table: pa.Table, shared: Sequence[str]) -> np.ndarray:
    """(n,) the number of what is drawn as a whole with each row: what shares a draw, a record or a group of the design belongs together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    points = table.column("point").to_numpy()
    labels = [groups_of(load(RunDirectory(directory).read_document()).design, points)]
    labels += [np.unique(np.asarray(table.column(name).to_pylist(), dtype=str), return_inverse=True)[1] for name in shared]
    if len(labels) == 1:
        return labels[0]
    rows, places, start = np.arange(len(points)), [], len(points)
    for label in labels:
        places.append(start + label)
        start += int(label.max(initial=-1)) + 1
    ends = np.tile(rows, len(labels)), np.concatenate(places)
    joined = coo_array((np.ones(len(ends[0]), bool), ends), shape=(start, start))
    found: np.ndarray = np.unique(connected_components(joined, directed=False)[1][: len(points)], return_inverse=True)[1]
    return found


def groups_of(design: Design, points: np.ndarray) -> np.ndarray:
    """(n,) the number of the group of a design to which each point belongs: one whose parameters repeat or follow from each other."""
    found, start = np.zeros(len(points), np.int64), 0
    for number, part in enumerate(design.parts if isinstance(design, Concatenation) else (design,)):
        own = (points >= start) & (points < start + part.count)
        within = points[own] - start
        if isinstance(part, Saltelli | Morris):
            within = within // part.group_size
        elif isinstance(part, Posterior):
            within = within // part.combinations
        elif isinstance(part, Draws) and part.random:
            within = within % part.draws
        found[own] = number * (design.count + 1) + within
        start += part.count
    groups: np.ndarray = np.unique(found, return_inverse=True)[1]
    return groups


def with_intervals(
    values: np.ndarray, clusters: np.ndarray, confidence: float, resamples: int, seed: int, tell: Tell | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients of the columns `values` (k, n), both ends of their intervals, and numbers of rows, (k, k) each.

    Raises:
        ConfigError: more numbers would be kept than memory should hold.
    """
    count = len(values)
    if resamples * count * (count + 1) // 2 > MOST_NUMBERS:
        refuse(f"{count} columns with {resamples:,} samples")
    parts = parts_of(values)
    found, rows = np.full((count, count), np.nan), np.zeros((count, count), np.int64)
    for part in parts:
        part.put(part.coefficients(np.ones(values.shape[1])), found)
        part.put(np.full((len(part.columns),) * 2, len(part.rows)), rows)
    found[rows < FEWEST] = np.nan
    generator, whole = np.random.default_rng(seed), int(clusters.max(initial=-1)) + 1
    if whole < 2:
        nothing = np.full_like(found, np.nan)
        return found, nothing, nothing, rows
    upper, size = np.triu_indices(count), min(whole, MOST_DRAWN)
    drawn, matrix = np.empty((resamples, len(upper[0]))), np.full((count, count), np.nan)
    for number in range(resamples):
        times = np.bincount(generator.integers(whole, size=size), minlength=whole)
        for part in parts:
            part.put(part.coefficients(times[clusters].astype(float)), matrix)
        drawn[number] = matrix[upper]
        if tell is not None:
            tell(number + 1, resamples)
    unknown = (np.isnan(drawn).mean(axis=0) > LOST) | np.isnan(found[upper])
    if size < whole:
        drawn = np.clip(found[upper] + math.sqrt(size / whole) * (drawn - found[upper]), -1.0, 1.0)
    drawn[:, unknown] = 0.0  # of which nothing is taken
    ends = np.nanquantile(drawn, [0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence], axis=0)
    ends[:, unknown] = np.nan
    low, high = np.empty_like(found), np.empty_like(found)
    for matrix, values_of_pairs in zip((low, high), ends, strict=True):
        matrix[upper] = matrix.T[upper] = values_of_pairs
    return found, low, high, rows


@dataclass(frozen=True, slots=True)
class Part:
    """Columns of which the same rows have values, in pairs.

    Attributes:
        columns: their numbers. rows: the rows. order: of each column, the place of the value of each row among its different values.
        pairs: (k, k) mask of the pairs of all columns that are of these rows.
    """

    columns: np.ndarray
    rows: np.ndarray
    order: list[np.ndarray]
    pairs: np.ndarray

    def coefficients(self, times: np.ndarray) -> np.ndarray:
        """The coefficients of a sample in which row i stands times[i] times; NaN with a column that is the same in all of it."""
        weights = times[self.rows]
        there = np.flatnonzero(weights)
        weights = weights[there]
        ranks = np.empty((len(self.columns), len(there)))
        for line, order in zip(ranks, self.order, strict=True):
            places = order[there]
            sizes = np.bincount(places, weights)
            line[:] = (np.cumsum(sizes) - 0.5 * (sizes - 1.0))[places]  # of equal values the mean of their ranks
        ranks -= 0.5 * (weights.sum() + 1.0)
        products = (ranks * weights) @ ranks.T
        spread = np.sqrt(np.diagonal(products))
        with np.errstate(divide="ignore", invalid="ignore"):
            found: np.ndarray = np.clip(products / np.outer(spread, spread), -1.0, 1.0)
        np.fill_diagonal(found, np.where(spread > 0.0, 1.0, np.nan))
        return found

    def put(self, own: np.ndarray, whole: np.ndarray) -> None:
        """Put numbers of pairs of these columns into a matrix of all."""
        inner = self.pairs[np.ix_(self.columns, self.columns)]
        first, second = np.nonzero(inner)
        whole[self.columns[first], self.columns[second]] = own[first, second]


def refuse(what: str) -> NoReturn:
    """Raise ConfigError for what takes too much memory."""
    message = f"{what} take too much memory: name fewer observables, or ask for fewer samples"
    raise ConfigError("tribosweep correlation", [Problem("--observable", message)])


def parts_of(values: np.ndarray) -> list[Part]:
    """The pairs of columns by the rows that have both values; ConfigError if their places take more memory than there should be."""
    there = np.isfinite(values)
    masks: dict[bytes, list[tuple[int, int]]] = {}
    for first in range(len(values)):
        for second in range(first, len(values)):
            masks.setdefault(np.packbits(there[first] & there[second]).tobytes(), []).append((first, second))
    parts, places = [], 0
    for pairs in masks.values():
        rows = np.flatnonzero(there[pairs[0][0]] & there[pairs[0][1]])
        if not len(rows):
            continue
        chosen = np.zeros((len(values),) * 2, bool)
        for first, second in pairs:
            chosen[first, second] = chosen[second, first] = True
        columns = np.flatnonzero(chosen.any(axis=0))
        places += len(columns) * len(rows)
        if places > MOST_PLACES:
            refuse(f"{len(masks):,} patterns of missing values in {len(values)} columns")
        order = [np.unique(values[column, rows], return_inverse=True)[1] for column in columns]
        parts.append(Part(columns, rows, order, chosen))
    return parts
