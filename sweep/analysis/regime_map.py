"""A regime map: the regimes of a run, and one shaded observable, over two parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.map_areas import MISSING, VOID, Areas, areas_of, choose_shade, columns_of, require_shade, shown_of, sought_in
from tribosweep.sweep.analysis.run_rows import RunRows, read_rows
from tribosweep.sweep.analysis.theory import BoundaryLine, known_boundaries, read_measured
from tribosweep.sweep.io.errors import ConfigError, Problem

GRID = "grid"
MOST_EMPTY = 100  # places of a grid that is not complete for each row
OF_PROBABILITY = "probability of "  # begins the name of a shade that is one


@dataclass(frozen=True, slots=True)
class IsoLine:
    """Where the shades of a map, or the ends of their intervals, pass a level.

    Attributes:
        level: in the unit of the shades. of: "value", "lower" or "upper", the end of the interval that passes it.
        pieces: (n, 2) float64 each, x and y in the units of the axes, in order along the line.
    """

    level: float
    of: str
    pieces: tuple[np.ndarray, ...]


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
        over: the parameters over whose values the shades are statistics; none of a map of rows.
        ends: the lower and the upper end of the interval of each shade, shaped as `regimes`; NaN without one.
        lines: where the shades, or the ends of their intervals, pass a level.
        rounding: size of rounding errors of the shades, relative to the largest.
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
    over: tuple[str, ...] = ()
    ends: tuple[np.ndarray, np.ndarray] | None = None
    lines: tuple[IsoLine, ...] = ()
    rounding: float = 0.0

    @property
    def gridded(self) -> bool:
        """Whether the rows so far hold every combination of a value of x with a value of y."""
        return self.cells is not None


def read_map(
    path: Path, x: str | None = None, y: str | None = None, color: str | None = None, at: Sequence[str] = (), areas: str | None = None,
    support: str | None = None,
) -> RegimeMap:  # fmt: skip
    """Arrange the rows of a run over two of its parameters.

    Args:
        path: directory of the run, complete or not.
        x, y, at: see `run_rows.read_rows`.
        color: name of a numeric observable to shade by, or "none"; default: the main observable of the model (`Model.main`), and nothing
            for a boundary study.
        areas: see `map_areas.areas_of`.
        support: of a structure: the support whose observables these are; default the first.

    Raises:
        ConfigError: see `run_rows.read_rows`; or an observable is not in the run, or holds nothing that can be drawn.
    """
    chosen: list[Quantity] = []

    def wanted(model: Model, problems: list[Problem]) -> list[str]:
        shown = shown_of(model, color, areas, support, problems, sought_in(path))
        shade = choose_shade(path, model, shown.color, problems)
        chosen.extend([shade] if shade else [])
        return [*columns_of(model, shown, problems), *(quantity.name for quantity in chosen)]

    rows = read_rows(path, wanted, x, y, at)
    require_shade(path, rows, chosen[0] if chosen else None)
    shown = shown_of(rows.model, color, areas, support, [], sought_in(path))
    return map_of(path, rows, chosen[0] if chosen else None, areas_of(path, rows, shown))


def map_of(path: Path, rows: RunRows, shade: Quantity | None, areas: Areas) -> RegimeMap:
    """The map of rows with two axes, shaded by an observable that is one of their columns (see `read_map`)."""
    if shade and not np.isfinite(rows.table.column(shade.name).to_numpy()).any():
        message = f"{shade.name} has no value in any row; --color none leaves it out, the column `status` says why"
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
        rounding=rounding_of(state),
    )  # fmt: skip


def rounding_of(state: dict[str, Any]) -> float:
    """The size of the rounding errors of a run's numbers, relative to the largest: those of many operations in its precision."""
    eps = float(np.finfo(state["provenance"].get("dtype", "float64")).eps)
    return math.pow(eps, 0.6)


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
    x_values, y_values = (np.unique(values) for values in places)
    size, count = len(x_values) * len(y_values), rows.table.num_rows
    begun = rows.state["design"] == GRID and rows.state["rows"] < rows.state["points"] and size <= MOST_EMPTY * count
    if rows.loose or not (size == count or begun):
        return (places[0], places[1]), None
    numbers = np.searchsorted(y_values, places[1]) * len(x_values)
    numbers += np.searchsorted(x_values, places[0])
    cells = np.full(size, -1)
    cells[numbers] = np.arange(count)
    if np.count_nonzero(cells >= 0) < count:
        return (places[0], places[1]), None
    return (x_values, y_values), cells.reshape(len(y_values), len(x_values))


def spread_over(cells: np.ndarray, values: np.ndarray, missing: float) -> np.ndarray:
    """Put values of rows into the cells that hold these rows."""
    return np.where(cells >= 0, values[cells], np.asarray(missing, values.dtype))
