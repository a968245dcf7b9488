"""Maps of groups: a mean, a deviation, a quantile, a probability or a frequent word of the rows at each place of two parameters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analysis.group_numbers import (
    Frequencies,
    Groups,
    Interval,
    deviations_of,
    frequencies_of,
    means_of,
    probabilities_of,
    quantiles_of,
)
from tribosweep.sweep.analysis.group_statistics import CONFIDENCE, check_levels, drawn_together, group, with_joint
from tribosweep.sweep.analysis.map_areas import FAILED, MISSING, NOTHING, Areas, areas_of, choose_shade, columns_of, require_shade, shown_of
from tribosweep.sweep.analysis.map_places import PROBABILITY_AREAS
from tribosweep.sweep.analysis.regime_map import GRID, OF_PROBABILITY, RegimeMap, map_of, read_map, spread_over
from tribosweep.sweep.analysis.run_rows import RunRows, have_results, read_rows, varying_of
from tribosweep.sweep.analysis.run_state import model_of, state_of
from tribosweep.sweep.analysis.supports import with_entries
from tribosweep.sweep.analysis.theory import read_measured
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.capabilities import BOUNDARY
from tribosweep.sweep.study.event import Event, named_in, outcome_in, read_events, values_in

MEAN, STD, QUANTILE, CHANCE, SHARE, ENTROPY, ROWS = "mean", "std", "quantile", "chance", "share", "entropy", "rows"
OF_NUMBERS = (MEAN, STD, QUANTILE)  # statistics of the shaded observable
OF_WORDS = {SHARE: "share of the most frequent word", ENTROPY: "entropy of the words"}
FREQUENCIES = ("never", "sometimes", "always")
STATUS = "status"
MOST_BINS = 1000


@dataclass(frozen=True, slots=True)
class Statistic:
    """What a map of groups shows.

    Attributes:
        kind: MEAN, STD or QUANTILE of an observable, CHANCE of an event, SHARE or ENTROPY of words, or ROWS for their number.
        event: of a probability. probability: of a quantile.
    """

    kind: str = MEAN
    event: str = ""
    probability: float = 0.5


def read_groups(
    path: Path, statistic: Statistic, over: Sequence[str] = (), x: str | None = None, y: str | None = None, at: Sequence[str] = (),
    color: str | None = None, areas: str | None = None, support: str | None = None, bins: int | None = None,
    confidence: float = CONFIDENCE,
) -> RegimeMap:  # fmt: skip
    """Arrange a statistic of the rows over two of a run's parameters.

    Args:
        path: directory of the run, complete or not. statistic: what is computed of the rows of each place.
        over: the parameters over which it is taken, such as "draw"; default those that the design draws
            at every combination of the others. Without any a place has a single row.
        x, y, at: see `run_rows.read_rows`.
        color, areas, support: see `regime_map.read_map`; the areas are those of the most frequent word, of a probability never,
            sometimes and always.
        bins: number of equal parts of each axis (of the logarithm, if the axis is spaced in it) whose rows are taken together, for rows
            that are on no grid. Whatever else varies is taken over.
        confidence: level of the intervals of the numbers, in (0, 1).

    Raises:
        ConfigError: see `run_rows.read_rows` and `regime_map.read_map`; or a number is out of its bounds, or the event is unknown.
    """
    check_numbers(statistic, bins, confidence)
    if state_of(path)["design"] == SUBSET:
        message = (
            f"the rows of a subset simulation crowd around its event: no statistics; the probability of the event: tribosweep rare {path}"
        )
        raise ConfigError(str(path), [Problem("", message)])
    model = with_entries(model_of(path))
    event = read_events("--chance", [statistic.event], model)[0] if statistic.kind == CHANCE else None
    chosen: list[Quantity] = []

    def wanted(model: Model, problems: list[Problem]) -> list[str]:
        if event is not None:
            return [STATUS, *named_in(event)]
        shown = shown_of(model, color, areas, support, problems)
        shade = choose_shade(path, model, shown.color, problems) if statistic.kind in OF_NUMBERS else None
        if statistic.kind in OF_NUMBERS and shown.color == NOTHING:
            problems.append(Problem("--color", f"a {statistic.kind} needs an observable"))
        chosen.extend([shade] if shade else [])
        return [*columns_of(model, shown, problems), *(quantity.name for quantity in chosen)]

    taken = parameters_over(path, over, (x, y))
    if bins is not None and x is not None and y is not None:
        taken = tuple(dict.fromkeys([*taken, *others_than({x, y, *(wish.partition("=")[0].strip() for wish in at)}, path, model)]))
    rows = read_rows(path, wanted, x, y, at, over=taken)
    absent = [name for name in ([] if event is None else named_in(event)) if name not in rows.table.column_names]
    if absent:
        raise ConfigError(str(path), [Problem("--chance", f"{name} is no column of this run") for name in absent])
    require_shade(path, rows, chosen[0] if chosen else None)
    if bins is not None:
        rows, taken = binned(rows, bins), (*taken, *rows.loose)
    of = group(rows.table, [axis.name for axis in rows.axes])
    first = np.unique(of, return_index=True)[1]
    groups = Groups(of, len(first), have_results(rows.table.column(STATUS)))
    if event is not None:
        numbers, found_areas = probability_in(rows, event, groups, confidence)
    else:
        shown = shown_of(rows.model, color, areas, support, [])
        each = areas_of(path, rows, shown)
        words = frequencies_of(each.codes, groups, each.words)
        found_areas = Areas(each.name, each.words, np.where(words.most < 0, FAILED, words.most).astype(np.int8))
        numbers = numbers_in(rows, statistic, chosen, groups, words, confidence)
    shade = shade_of(statistic, event, chosen[0] if chosen else None)
    return laid_out(path, rows, first, taken, shade, numbers, found_areas, placed=bins is None)


def map_for(
    path: Path, statistic: Statistic | None, over: Sequence[str], x: str | None, y: str | None, color: str | None, at: Sequence[str],
    areas: str | None, support: str | None, bins: int | None, confidence: float,
) -> RegimeMap:  # fmt: skip
    """The map of a statistic if one is asked for, or groups are; of the probability that a boundary study traces; else the map of the rows.

    Args:
        path: directory of the run. The others are those of `read_groups`.

    Raises:
        ConfigError: see `read_groups`; or an option belongs to another statistic.
    """
    directory = RunDirectory(path)
    directory.read_run(to_continue=False)  # whether it is one that this version reads
    sweep = directory.read_document().get("sweep", {})
    sought = "" if isinstance(sweep, list) or sweep.get("design") != BOUNDARY else str(sweep.get("event", ""))
    if statistic is None and sought and not (over or bins or color or areas):
        statistic = Statistic(CHANCE, sought)
    grouped = bool(over or bins) or (not at and bool(parameters_over(path, (), (x, y))))
    if statistic is None and not grouped:
        return read_map(path, x, y, color, at, areas, support)
    statistic = statistic or Statistic()
    if statistic.kind == CHANCE and not (color is areas is support is None):
        raise ConfigError("--chance", [Problem("", "shades by the probability and needs no --color, no --areas and no --support")])
    if statistic.kind in (SHARE, ENTROPY, ROWS) and color is not None:
        raise ConfigError("--color", [Problem("", f"{statistic.kind} shades this map")])
    return read_groups(path, statistic, over, x, y, at, color, areas, support, bins, confidence)


def statistic_of(kinds: Sequence[str], quantile: float | None = None, chance: str | None = None) -> Statistic | None:
    """The statistic that is asked for by at most one option; None without any.

    Raises:
        ConfigError: several are asked for.
    """
    asked = [*kinds, *([QUANTILE] if quantile is not None else []), *([CHANCE] if chance is not None else [])]
    if len(asked) > 1:
        raise ConfigError(f"--{asked[1]}", [Problem("", f"a map shows one statistic, and --{asked[0]} is one")])
    return Statistic(asked[0], chance or "", 0.5 if quantile is None else quantile) if asked else None


def check_numbers(statistic: Statistic, bins: int | None, confidence: float) -> None:
    """Raise ConfigError if a number is out of its bounds."""
    problems: list[Problem] = []
    check_levels([("--quantile", statistic.probability), ("--confidence", confidence)], problems)
    if bins is not None and not 1 < bins <= MOST_BINS:
        problems.append(Problem("--bins", f"{bins} is out of bounds: must be >= 2 and <= {MOST_BINS:,} (parts of each axis)"))
    if problems:
        raise ConfigError("tribosweep map", problems)


def parameters_over(path: Path, over: Sequence[str] = (), axes: Collection[str | None] = ()) -> tuple[str, ...]:
    """The parameters that groups are taken over.

    Args:
        path: directory of the run. over: the parameters asked for; those drawn with them are added.
        axes: parameters on the axes of a map.

    Returns:
        Without any asked for: those that the design draws at every combination of at least one other parameter; none of another design.
    """
    document = RunDirectory(path).read_document()
    varying = others_than((), path, model_of(path))
    if over:
        return with_joint(over, document, varying)
    drawn = drawn_together(document, varying)
    return tuple(name for name in drawn if name not in axes) if len(drawn) < len(varying) else ()


def others_than(names: Collection[str], path: Path, model: Model) -> list[str]:
    """The parameters, and the scheme, that a run varies besides some."""
    dataset = Dataset(path)
    there = [name for name in dataset.names if name in by_name(model.parameters) or name == SCHEME]
    return [name for name in varying_of(dataset.table(there), there) if name not in names]


def binned(rows: RunRows, bins: int) -> RunRows:
    """The rows with their places moved to the middles of equal parts of the axes."""
    import pyarrow as pa

    table = rows.table
    for axis in rows.axes:
        log, values = rows.is_logarithmic(axis), rows.along(axis)
        v = np.log(values) if log else values
        low, high = float(v.min()), float(v.max())
        part = np.clip(((v - low) / ((high - low) or 1.0) * bins).astype(np.int64), 0, bins - 1)
        middle = low + (np.arange(bins) + 0.5) * (high - low) / bins
        column = pa.array((np.exp(middle) if log else middle)[part])
        table = table.set_column(table.column_names.index(axis.name), axis.name, column)
    return replace(rows, table=table)


def probability_in(rows: RunRows, event: Event, groups: Groups, confidence: float) -> tuple[Interval, Areas]:
    """The probability of an event in each group, and whether it happened never, sometimes or always."""
    happened, unknown = outcome_in(event, rows.model, values_in(event, rows.model, rows.table))
    found = probabilities_of(happened, groups, confidence, unknown)
    codes = np.where(np.isnan(found.value), FAILED, np.where(found.value == 0.0, 0, np.where(found.value == 1.0, 2, 1)))
    return found, Areas(PROBABILITY_AREAS, FREQUENCIES, codes.astype(np.int8))


def numbers_in(
    rows: RunRows, statistic: Statistic, chosen: Sequence[Quantity], groups: Groups, words: Frequencies, confidence: float
) -> Interval:
    """The statistic of each group, except probabilities."""
    nothing = np.full(groups.count, np.nan)
    if statistic.kind == ROWS:
        return Interval(groups.number(groups.good).astype(float), nothing, nothing)
    if statistic.kind == SHARE:
        return words.share(confidence)
    if statistic.kind == ENTROPY:
        return Interval(words.entropy, nothing, nothing)
    values = np.asarray(rows.table.column(chosen[0].name).to_numpy(), dtype=np.float64)
    if statistic.kind == QUANTILE:
        return quantiles_of(values, groups, statistic.probability, confidence)
    return (means_of if statistic.kind == MEAN else deviations_of)(values, groups, confidence)


def shade_of(statistic: Statistic, event: Event | None, quantity: Quantity | None) -> Quantity:
    """What shades the map, as a quantity of its own."""
    if event is not None:
        return Quantity(f"{OF_PROBABILITY}{event}", "1", "part of the rows of a place in which it happened")
    if quantity is not None:
        part = f"{statistic.probability:g} quantile" if statistic.kind == QUANTILE else {MEAN: "mean", STD: "std"}[statistic.kind]
        return Quantity(f"{part} of {quantity.name}", quantity.unit, f"{part} of {quantity.name} over the rows of a place")
    if statistic.kind == ROWS:
        return Quantity("rows", "1", "number of rows of a place that did not fail")
    return Quantity(OF_WORDS[statistic.kind], "bit" if statistic.kind == ENTROPY else "1", f"{OF_WORDS[statistic.kind]} of a place")


def laid_out(
    path: Path, rows: RunRows, first: np.ndarray, over: tuple[str, ...], shade: Quantity, numbers: Interval, areas: Areas, placed: bool
) -> RegimeMap:
    """The map of groups, `first` being a row of each; places of a grid or of bins without rows stay empty."""
    import pyarrow as pa

    at = [rows.along(axis)[first] for axis in rows.axes]
    values = np.stack([numbers.value, numbers.lower, numbers.upper])
    codes = areas.codes
    if rows.state["design"] == GRID or not placed:
        (x, in_x), (y, in_y) = (np.unique(each, return_inverse=True) for each in at)
        places = in_y * len(x) + in_x
        at = [np.tile(x, len(y)), np.repeat(y, len(x))]
        values, codes = np.full((3, len(at[0])), np.nan), np.full(len(at[0]), MISSING, np.int8)
        values[:, places], codes[places] = np.stack([numbers.value, numbers.lower, numbers.upper]), areas.codes
    columns = {axis.name: pa.array(each) for axis, each in zip(rows.axes, at, strict=True)} | {shade.name: pa.array(values[0])}
    state: dict[str, Any] = {**rows.state, "points": max(len(codes), 1), "rows": len(codes)}
    loose = rows.loose if placed else ()
    drawn = map_of(path, replace(rows, table=pa.table(columns), state=state, loose=loose), shade, replace(areas, codes=codes))
    ends = values[1], values[2]
    if drawn.cells is not None:
        ends = spread_over(drawn.cells, ends[0], np.nan), spread_over(drawn.cells, ends[1], np.nan)
    names = tuple(axis.name for axis in rows.axes)
    whole = not rows.held and not loose
    return replace(
        drawn,
        done=rows.state["rows"],
        points=rows.state["points"],
        rows=rows.table.num_rows,
        over=over,
        ends=ends,
        measured=read_measured(path, *names) if whole else (),
    )
