"""A run as a map: its regimes and one more observable, on a grid of two of its parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.models import Model
from kernels.quantity import Quantity, by_name
from kernels.schemes import STEADY
from kernels.status import RESULTS
from sweep.axes import SCHEME
from sweep.convergence.refinement import CONVERGENCE
from sweep.directory import RunDirectory
from sweep.problems import ConfigError, Problem, advise
from sweep.show import model_of, state_of

if TYPE_CHECKING:
    import pyarrow as pa

REGIME = "regime"
NOTHING = "none"
FREE = "no friction"
KINDS = {"word": "words", "list": "tables"}  # what has no place on an axis
VOID, MISSING, FAILED = -3, -2, -1


@dataclass(frozen=True, slots=True)
class RegimeMap:
    """The rows of a run on a grid of two of its parameters.

    Attributes:
        study: name of the study.
        model: what was simulated.
        x, y: the parameters on the axes.
        x_values: (n_x,) float64 ascending, in the unit of `x`. y_values: (n_y,) the same of `y`.
        regimes: (n_y, n_x) int8 positions in `words`; FAILED where a row failed, MISSING where there is none, VOID where it has no value of
            the observable that is shaded, because the thing did not happen.
        shade: the observable that is shaded; None for none.
        shades: (n_y, n_x) float64 in its unit, NaN where there is none; None without `shade`.
        fixed: parameter -> value of what the study sets for all rows.
        rows, points: how many rows there are, and how many the study has.
    """

    study: str
    model: Model
    x: Quantity
    y: Quantity
    x_values: np.ndarray
    y_values: np.ndarray
    regimes: np.ndarray
    shade: Quantity | None
    shades: np.ndarray | None
    fixed: dict[str, Any]
    rows: int
    points: int

    @property
    def words(self) -> tuple[str, ...]:
        """The regimes by name, and what a mass that touches no support has instead; the position is the code."""
        return (*by_name(self.model.observables)[REGIME].words, FREE)


def read_map(path: Path, x: str | None = None, y: str | None = None, color: str | None = None) -> RegimeMap:
    """Lay the rows of a run on a grid.

    Args:
        path: directory of the run, complete or not.
        x, y: parameters for the axes; the two that the run varies when omitted.
        color: an observable to shade by that is a number, or "none"; that which the model shows first (`Model.main`) when omitted.

    Raises:
        ConfigError: there is no run or no row, an axis or the observable is not in it or holds no numbers, fewer than two parameters vary,
            or the rows are not on a grid of the two axes.
    """
    import pyarrow.dataset as ds

    state = state_of(path)
    if state["design"] == CONVERGENCE:
        message = f"a convergence study has no map; its picture: tribosweep convergence {path}"
        raise ConfigError(str(path), [Problem("", message)])
    if not state["points_done"]:
        raise ConfigError(str(path), [Problem("", "no shard is written yet: nothing to draw")])
    model, fixed = model_of(path), fixed_parameters(RunDirectory(path).read_document())
    dataset = ds.dataset(path / "points", format="parquet")
    parameters = by_name(model.parameters)
    swept = [name for name in dataset.schema.names if name in parameters and name not in fixed]
    problems: list[Problem] = []
    shade = choose_shade(model, model.main if color is None else color, problems)
    table = dataset.to_table(columns=[*swept, REGIME, "status", *([shade.name] if shade else [])])
    varying = [name for name in swept if varies(table.column(name))]
    fixed |= {name: table.column(name)[0].as_py() for name in swept if name not in varying and table.column(name).null_count == 0}
    x, y = choose_axes([name for name in varying if parameters[name].kind not in KINDS], parameters, x, y, problems)
    if shade and not np.isfinite(table.column(shade.name).to_numpy()).any():
        problems.append(Problem("--color", f"{shade.name} is NaN in every row; --color none leaves it out, the column `status` says why"))
    problems += [
        Problem(f"axis {name}", "some rows hold no finite number of it (left at its default, or NaN): they have no place on a map")
        for name in dict.fromkeys((x, y))
        if name in table.column_names and not np.isfinite(table.column(name).to_numpy()).all()
    ]
    if problems:
        raise ConfigError(str(path), problems)

    (x_values, at_x), (y_values, at_y) = (np.unique(table.column(name).to_numpy(), return_inverse=True) for name in (x, y))
    cells = at_y * len(x_values) + at_x
    size = len(x_values) * len(y_values)
    if size > state["points"] or np.bincount(cells, minlength=size).max() > 1:
        others = [name for name in (*swept, SCHEME) if name not in (x, y) and name in dataset.schema.names]
        raise ConfigError(str(path), [off_grid(x_values, y_values, table.num_rows, x, y, others)])
    shape = (len(y_values), len(x_values))
    regimes, shades = np.full(shape, MISSING, np.int8), np.full(shape, math.nan)
    words = by_name(model.observables)[REGIME].words
    found, good = codes(table.column(REGIME), words), have_results(table.column("status"))
    found[good & (found == FAILED)] = len(words)
    if shade:
        shades.flat[cells] = values = table.column(shade.name).to_numpy()
        found[good & np.isnan(values)] = VOID
    regimes.flat[cells] = found
    return RegimeMap(
        study=state["study"], model=model, x=parameters[x], y=parameters[y], x_values=x_values, y_values=y_values, regimes=regimes,
        shade=shade, shades=shades if shade else None, fixed=fixed, rows=table.num_rows, points=state["points"],
    )  # fmt: skip


def fixed_parameters(document: Mapping[str, Any]) -> dict[str, float]:
    """Parameter -> value of what a resolved study sets for all its rows, as far as it says so: a part of a design may sweep what is set."""
    if isinstance(document.get("sweep"), list):
        return {}
    time = dict(document.get("time", {}))
    window = time.pop("window", None)
    ends = {} if window in (None, STEADY) else {"window_start": window[0], "window_end": window[1]}
    return {**document.get("parameters", {}), **time, **ends}


def varies(column: pa.ChunkedArray) -> bool:
    """Whether a column of parameters holds different ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type) and not pa.types.is_integer(column.type):
        return len({repr(cell) for cell in column.to_pylist()}) > 1
    ends = pc.min_max(column).as_py()
    return bool(ends["min"] != ends["max"])


def choose_axes(
    varying: list[str], parameters: Mapping[str, Quantity], x: str | None, y: str | None, problems: list[Problem]
) -> tuple[str, str]:
    """The axes, those that the run varies when they are not named; problems where a name is wrong or the choice is not clear."""
    listed = ", ".join(varying) or "nothing"
    if len(varying) < 2:
        problems.append(Problem("", f"a map needs two parameters that vary; this run varies {listed}"))
        return "", ""
    for option, name in (("--x", x), ("--y", y)):
        if name is not None and name not in varying:
            held = KINDS.get(parameters[name].kind) if name in parameters else None
            still = f"holds {held}" if held else "is the same in every row" if name in parameters else "is no parameter"
            problems.append(Problem(option, f"{name!r} {still}; {advise(name, varying)}"))
    if x is not None and x == y:
        problems.append(Problem("--y", f"{y!r} is on the x axis already; this run varies {listed}"))
    free = [name for name in varying if name not in (x, y)]
    if not problems and len(free) > 2 - (x is not None) - (y is not None):
        problems.append(Problem("--x, --y", f"this run varies {listed}: name the two that are the axes"))
    if problems:
        return "", ""
    return x or free[0], y or free[-1]


def choose_shade(model: Model, color: str, problems: list[Problem]) -> Quantity | None:
    """The observable to shade by; None for "none"."""
    numeric = {q.name: q for q in model.observables if q.kind not in KINDS}
    if color != NOTHING and color not in numeric:
        known = by_name(model.observables).get(color)
        what = f"holds {KINDS[known.kind]}" if known else "is no observable"
        problems.append(Problem("--color", f"{color!r} {what}; {advise(color, [*numeric, NOTHING])}"))
    return numeric.get(color)


def off_grid(x_values: np.ndarray, y_values: np.ndarray, rows: int, x: str, y: str, others: list[str]) -> Problem:
    """Why the rows of a run cannot be laid on a grid of its axes."""
    found = f"{rows:,} rows at {len(x_values):,} values of {x} and {len(y_values):,} of {y}"
    if rows > len(x_values) * len(y_values):
        why = f": {', '.join(others)} has several values too; give it one, for instance with --set, in a run of its own" if others else ""
        return Problem("", f"several rows share a place on the map ({found}){why}")
    need = 'a map needs every value of one with every value of the other, as design = "grid" gives'
    return Problem("", f"the rows are not on a grid of {x} and {y} ({found}); {need}")


def codes(column: pa.ChunkedArray, words: tuple[str, ...]) -> np.ndarray:
    """A column of words as int8 positions in `words`, FAILED where it is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(column.cast(pa.string()), pa.array(words))
    return np.array(found.fill_null(FAILED).to_numpy(), np.int8)


def have_results(statuses: pa.ChunkedArray) -> np.ndarray:
    """Mask of the rows that have results."""
    known: np.ndarray = codes(statuses, tuple(status.sentence for status in RESULTS)) >= 0
    return known
