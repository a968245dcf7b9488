"""A regime map: the regimes of a run, and one shaded observable, over two parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernels.models import Model
from kernels.models.quantity import Quantity, by_name
from kernels.models.status import RESULTS
from kernels.models.supports import named
from sweep.analysis.event import read_events
from sweep.analysis.run_rows import KINDS, RunRows, have_results, read_rows
from sweep.analysis.run_state import model_of
from sweep.analysis.supports import REGIME_OF_CONTACT, WEAR, at_support, in_words, support_in, support_problems, with_entries
from sweep.analysis.theory import BoundaryLine, known_boundaries, read_measured
from sweep.io.errors import ConfigError, Problem, advise
from sweep.study.capabilities import KEYS_OF_ASKED

if TYPE_CHECKING:
    import pyarrow as pa


REGIME, STATUS = "regime", "status"
NOTHING = "none"
FREE = "no friction"
VOID, MISSING, FAILED = -3, -2, -1
GRID = "grid"
MOST_AREAS = 12


@dataclass(frozen=True, slots=True)
class RegimeMap:
    """The rows of a run over two of its parameters, either on a grid (`gridded`) or scattered.

    Attributes:
        study: name of the study.
        model: the simulated model.
        x, y: the parameters on the axes. logarithmic: whether each axis is spaced in the logarithm.
        cells: (n_y, n_x) positions of the rows on the grid, -1 for rows not computed yet; None for scattered rows.
        x_values, y_values: float64 in the unit of the axis. On a grid (n_x,) and (n_y,), ascending; else (n,) each, one per row.
        areas: the observable that defines the areas. words: its values; the last stands for rows without a value (FREE for `regime`).
        regimes: int8 positions in `words`, (n_y, n_x) or (n,); FAILED for a failed row, MISSING for a row not computed, VOID for a row
            without a value of the shaded observable because its event did not happen.
        shade: the shaded observable; None if nothing is shaded.
        shades: float64 values of `shade` in its unit, shaped as `regimes`, NaN without a value; None without `shade`.
        fixed: parameter -> value, for parameters known to be the same in all rows. held: likewise, for those held at a value for a slice.
        steady: whether the rows are steady motions.
        loose: for scattered rows, the parameters that vary besides the axes.
        measured: the boundaries that the run itself has found.
        rows: number of rows in the map. done: number of rows of the run so far. points: final number of rows, or a lower bound of it if the
            results decide. complete: whether the run has all its rows.
        over: the parameter over whose values chances are taken, if any.
    """

    study: str
    model: Model
    x: Quantity
    y: Quantity
    logarithmic: tuple[bool, bool]
    cells: np.ndarray | None
    x_values: np.ndarray
    y_values: np.ndarray
    areas: str
    words: tuple[str, ...]
    regimes: np.ndarray
    shade: Quantity | None
    shades: np.ndarray | None
    fixed: dict[str, Any]
    held: dict[str, Any]
    steady: bool
    loose: tuple[str, ...]
    measured: tuple[BoundaryLine, ...]
    rows: int
    done: int
    points: int
    complete: bool
    over: str | None = None

    @property
    def gridded(self) -> bool:
        """Whether the rows so far hold every combination of a value of x with a value of y."""
        return self.cells is not None


@dataclass(frozen=True, slots=True)
class Areas:
    """The areas of a map.

    Attributes:
        name: the observable. words: its possible values; the last stands for rows that have results but no value of the observable.
        codes: (n,) int8 positions in `words`, one per row; FAILED for a failed row.
    """

    name: str
    words: tuple[str, ...]
    codes: np.ndarray


def read_map(
    path: Path, x: str | None = None, y: str | None = None, color: str | None = None, at: Sequence[str] = (), areas: str | None = None,
    support: str | None = None,
) -> RegimeMap:  # fmt: skip
    """Arrange the rows of a run over two of its parameters.

    Args:
        path: directory of the run, complete or not.
        x, y, at: see `run_rows.read_rows`.
        color: name of a numeric observable to shade by, or "none"; default: the main observable of the model (`Model.main`).
        areas: see `areas_of`.
        support: of a structure: the support whose observables these are; default the first.

    Raises:
        ConfigError: see `run_rows.read_rows`; or an observable is not in the run, or holds nothing that can be drawn.
    """
    chosen: list[Quantity] = []

    def wanted(model: Model, problems: list[Problem]) -> list[str]:
        shown = shown_of(model, color, areas, support, problems)
        shade = choose_shade(model, shown.color, problems)
        chosen.extend([shade] if shade else [])
        words = [quantity.name for quantity in model.observables if quantity.kind == "word"]
        return [*words, "status", *(quantity.name for quantity in chosen), *choose_areas(model, shown.areas, problems)]

    rows = read_rows(path, wanted, x, y, at)
    require_shade(path, rows, chosen[0] if chosen else None)
    return map_of(path, rows, chosen[0] if chosen else None, areas_of(path, rows, shown_of(rows.model, color, areas, support, []).areas))


class Shown(NamedTuple):
    """Names of the observables that shade and divide a map, and the support of a structure to which they belong, if any."""

    color: str
    areas: str | None
    support: str | None


def shown_of(model: Model, color: str | None, areas: str | None, support: str | None, problems: list[Problem]) -> Shown:
    """What a map shows by the options --color, --areas and --support; a problem if the support is unknown.

    Names of a structure are taken as of the support unless they name another one, and the areas of a map without --areas are the words
    of the support that shades it.
    """
    problems += (wrong := support_problems(model, support))
    known = {NOTHING, *(quantity.name for quantity in model.observables)}
    place = None if wrong else support
    default = model.main if place is None else named(WEAR, place)
    color = default if color is None else at_support(color, place, known)
    place = place or support_in(color, model)
    if areas is not None:
        return Shown(color, at_support(areas, place if support else None, known), place)
    words = named(REGIME_OF_CONTACT, str(place))
    return Shown(color, words if words in known else None, place)


def map_of(path: Path, rows: RunRows, shade: Quantity | None, areas: Areas) -> RegimeMap:
    """The map of rows with two axes, shaded by an observable that is one of their columns (see `read_map`)."""
    if shade and not np.isfinite(rows.table.column(shade.name).to_numpy()).any():
        message = f"{shade.name} is NaN in every row; --color none leaves it out, the column `status` says why"
        raise ConfigError(str(path), [Problem("--color", message)])
    (x_values, y_values), cells = lay(rows)
    regimes, shades = areas.codes.copy(), None
    if shade:
        shades = np.asarray(rows.table.column(shade.name).to_numpy(), dtype=np.float64)
        regimes[(regimes >= 0) & np.isnan(shades)] = VOID
    if cells is not None:
        regimes, shades = spread_over(cells, regimes, MISSING), None if shades is None else spread_over(cells, shades, math.nan)
    axes, state = rows.axes, rows.state
    whole = not rows.held and not rows.loose
    return RegimeMap(
        study=state["study"], model=rows.model, x=axes[0], y=axes[1],
        logarithmic=(rows.is_logarithmic(axes[0]), rows.is_logarithmic(axes[1])), cells=cells,
        x_values=x_values, y_values=y_values, areas=areas.name, words=areas.words, regimes=regimes, shade=shade, shades=shades,
        fixed=rows.fixed, held=rows.held, steady=rows.steady, loose=rows.loose,
        measured=read_measured(path, axes[0].name, axes[1].name) if whole else (),
        rows=rows.table.num_rows, done=state["rows"], points=state["points"], complete=state["state"] == "complete",
    )  # fmt: skip


CHANCES = ("never", "sometimes", "always")


def read_chances(path: Path, event: str, over: str | None, x: str | None = None, y: str | None = None, at: Sequence[str] = ()) -> RegimeMap:
    """Arrange the chance of an event over two of a run's parameters: the part of the rows of each place in which it happened.

    Args:
        path: directory of the run, complete or not. event: see `event.read_events`. over: the parameter whose values are the chances, such
            as "draw"; without one the event happens at a place or it does not. x, y, at: see `run_rows.read_rows`.

    Raises:
        ConfigError: see `run_rows.read_rows`; or the event is not one of this run.
    """
    import pyarrow as pa

    wished = read_events("--chance", [event], with_entries(model_of(path)))[0]
    rows = read_rows(path, lambda _model, _problems: ["status", wished.observable], x, y, at, over=over)
    if wished.observable not in rows.table.column_names:
        raise ConfigError(str(path), [Problem("--chance", f"{wished.observable} is no column of this run")])
    places = np.stack([rows.along(axis) for axis in rows.axes], axis=1)
    values, first, group = np.unique(places, axis=0, return_index=True, return_inverse=True)
    good = have_results(rows.table.column("status"))
    quantity = by_name(rows.model.observables)[wished.observable]
    happened = wished.happens(quantity, wished.values_in(rows.model, rows.table.column(wished.observable)))
    count, hits = (np.bincount(group.ravel()[mask], minlength=len(values)) for mask in (good, good & happened))
    with np.errstate(invalid="ignore"):
        chance = hits / count
    codes_ = np.where(count == 0, FAILED, np.where(hits == 0, 0, np.where(hits == count, 2, 1))).astype(np.int8)
    shade = Quantity(f"chance of {wished}", "1", "part of the rows of a place in which it happened")
    table = rows.table.select([axis.name for axis in rows.axes]).take(first).append_column(shade.name, pa.array(chance))
    of = replace(rows, table=table, state={**rows.state, "points": max(len(values), 1), "rows": len(values)} if over else rows.state)
    drawn = map_of(path, of, shade, Areas("chance", CHANCES, codes_))
    return replace(drawn, done=rows.state["rows"], points=rows.state["points"], rows=rows.table.num_rows, measured=(), over=over)


def theory_of(drawn: RegimeMap, x: np.ndarray, y: np.ndarray) -> list[BoundaryLine]:
    """The boundaries that theory gives for a map (see `known_boundaries`); none if parameters besides the axes vary."""
    fixed = drawn.fixed | drawn.held
    return [] if drawn.loose or drawn.over else known_boundaries(drawn.model, (drawn.x, drawn.y), fixed, drawn.steady, x, y)


def lay(rows: RunRows) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray | None]:
    """Find the places of rows over two axes.

    Returns:
        On a grid: its values along x and y, and (n_y, n_x) positions of the rows, -1 where a row is not computed yet. Otherwise: the (n,)
        values of every row along x and y, and None.
    """
    places = [rows.along(axis) for axis in rows.axes]
    (x_values, at_x), (y_values, at_y) = (np.unique(values, return_inverse=True) for values in places)
    size, count = len(x_values) * len(y_values), rows.table.num_rows
    numbers = at_y * len(x_values) + at_x
    whole = size == count or (rows.state["design"] == GRID and rows.state["rows"] < rows.state["points"])
    if rows.loose or not whole or len(np.unique(numbers)) < count:
        return (places[0], places[1]), None
    cells = np.full(size, -1)
    cells[numbers] = np.arange(count)
    return (x_values, y_values), cells.reshape(len(y_values), len(x_values))


def spread_over(cells: np.ndarray, values: np.ndarray, missing: float) -> np.ndarray:
    """Put values of rows into the cells that hold these rows."""
    return np.where(cells >= 0, values[cells], np.asarray(missing, values.dtype))


def choose_areas(model: Model, areas: str | None, problems: list[Problem]) -> list[str]:
    """Names of the observables that may define the areas; add a problem if `areas` names one that cannot."""
    able = [quantity.name for quantity in model.observables if quantity.kind in ("word", "integer")]
    if areas is not None and areas not in able:
        holds = "holds numbers that are not whole" if areas in by_name(model.observables) else "is no observable"
        problems.append(Problem("--areas", f"{areas!r} {holds}; {advise(areas, able)}"))
    return [areas] if areas in able else []


def areas_of(path: Path, rows: RunRows, areas: str | None) -> Areas:
    """Determine the areas of a map of rows.

    Args:
        path: directory of the run. rows: rows with the status and every observable that is a word.
        areas: a word or whole-number observable; default: `regime`, or the next word observable if no row has a regime; without any word
            whether there are results.

    Raises:
        ConfigError: the observable has more different numbers than can be told apart.
    """
    words = [quantity.name for quantity in rows.model.observables if quantity.kind == "word" and quantity.name in rows.table.column_names]
    without = REGIME if REGIME in words else (*words, STATUS)[0]
    name = areas or next((name for name in words if rows.table.column(name).null_count < rows.table.num_rows), without)
    column, good = rows.table.column(name), have_results(rows.table.column(STATUS))
    if name == STATUS:
        known = tuple(status.sentence for status in RESULTS)
        found = codes(column, known)
    elif name in words:
        known = by_name(rows.model.observables)[name].words
        found = codes(column, known)
        known += (FREE if name == REGIME else "none",)
    else:
        numbers = sorted(column.drop_null().unique().to_pylist())
        if len(numbers) > MOST_AREAS:
            message = f"{name} has {len(numbers)} different values, more than {MOST_AREAS} colours tell apart: --color {name} shades by it"
            raise ConfigError(str(path), [Problem("--areas", message)])
        found = np.searchsorted(numbers, np.nan_to_num(column.to_numpy(), nan=-1.0)).astype(np.int8)
        found[np.isnan(np.asarray(column.to_numpy(), dtype=np.float64))] = FAILED
        known = (*(f"{number} {in_words(by_name(rows.model.observables)[name])}" for number in numbers), "none")
    found[good & (found == FAILED)] = len(known) - 1
    return Areas(name, known, found)


def choose_shade(model: Model, color: str, problems: list[Problem]) -> Quantity | None:
    """Choose the observable to shade by; None for "none"."""
    numeric = {q.name: q for q in model.observables if q.kind not in KINDS}
    if color != NOTHING and color not in numeric:
        known = by_name(model.observables).get(color)
        what = f"holds {KINDS[known.kind]}" if known else "is no observable"
        problems.append(Problem("--color", f"{color!r} {what}; {advise(color, [*numeric, NOTHING])}"))
    return numeric.get(color)


def require_shade(path: Path, rows: RunRows, shade: Quantity | None) -> None:
    """Raise ConfigError if the run has no column of the shaded observable."""
    if shade and shade.name not in rows.table.column_names:
        needed = " and ".join(KEYS_OF_ASKED.get(name, f"parameters.{name}") for name in shade.needs)
        message = f"{shade.name} is no column of this run" + (f": its study gives no {needed}" if needed else "")
        raise ConfigError(str(path), [Problem("--color", message)])


def codes(column: pa.ChunkedArray, words: tuple[str, ...]) -> np.ndarray:
    """A column of words as int8 positions in `words`, FAILED where it is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(column.cast(pa.string()), pa.array(words, pa.string()))
    return np.array(found.fill_null(FAILED).to_numpy(), np.int8)


def limits_of(drawn: RegimeMap) -> list[tuple[float, float]]:
    """The ends of the axes: the extremes of scattered rows, or half a cell beyond the values of a grid."""
    found = []
    for values, log in zip((drawn.x_values, drawn.y_values), drawn.logarithmic, strict=True):
        if drawn.gridded:
            found.append(ends(values, log))
        else:
            found.append((float(values.min()), float(values.max())))
    return found


def ends(values: np.ndarray, log: bool) -> tuple[float, float]:
    """The ends of an axis: half a cell beyond the first and the last of its values."""
    v = np.log(values) if log else values
    first, last = v[0] - (v[1] - v[0]) / 2.0, v[-1] + (v[-1] - v[-2]) / 2.0
    return (math.exp(first), math.exp(last)) if log else (float(first), float(last))


def spread(first: float, last: float, log: bool, count: int) -> np.ndarray:
    """The (count,) centres of the pixels of an axis."""
    parts = (np.arange(count) + 0.5) / count
    return np.asarray(first * (last / first) ** parts if log else first + (last - first) * parts)


def nearest(values: np.ndarray, places: np.ndarray, log: bool) -> np.ndarray:
    """Positions of the elements of the ascending `values` that are nearest to `places`."""
    v = np.log(values) if log else values
    return np.searchsorted((v[1:] + v[:-1]) / 2.0, np.log(places) if log else places)


def nearest_rows(drawn: RegimeMap, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n_y, n_x) flat positions of the map's rows nearest to places: on a grid nearest along each axis, else nearest in the picture."""
    if drawn.gridded:
        columns, rows = nearest(drawn.x_values, x, drawn.logarithmic[0]), nearest(drawn.y_values, y, drawn.logarithmic[1])
        return np.asarray(rows[:, np.newaxis] * len(drawn.x_values) + columns[np.newaxis, :])
    from scipy.spatial import cKDTree

    def scaled(values: np.ndarray, rows: np.ndarray, log: bool) -> np.ndarray:
        v, r = (np.log(values), np.log(rows)) if log else (values, rows)
        return np.asarray((v - r.min()) / (np.ptp(r) or 1.0))

    own = ((drawn.x_values, drawn.logarithmic[0]), (drawn.y_values, drawn.logarithmic[1]))
    tree = cKDTree(np.stack([scaled(rows, rows, log) for rows, log in own], axis=1))
    across, up = (scaled(places, rows, log) for places, (rows, log) in zip((x, y), own, strict=True))
    _, found = tree.query(np.stack(np.meshgrid(across, up), axis=-1))
    return np.asarray(found)
