"""The rows of a run over its varied parameters, for maps and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.schemes import STEADY
from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.analysis.run_state import model_of, shown_table, state_of
from tribosweep.sweep.analysis.supports import add_entries, lists_of, with_entries
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.sensitivity import SAMPLERS
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.capabilities import CONVERGENCE
from tribosweep.sweep.study.comparison import limit_in

if TYPE_CHECKING:
    import pyarrow as pa

ZIP, TABLE = "zip", "table"
KINDS = {"word": "words", "list": "tables"}  # kinds that cannot be on an axis
MOST_CELLS = 2**29  # rows times columns that are read into memory: some 4 to 16 GiB
REPEATED = 4  # rows per value; a parameter with at least so many for each value must be held at one


@dataclass(frozen=True, slots=True)
class RunRows:
    """The rows of a run or of a slice of it, and the parameters on its axes.

    Attributes:
        state: state of the run (`run_state.state_of`).
        document: the resolved study. model: the simulated model.
        table: the rows, with the parameters that vary in the run and the requested columns.
        axes: the parameters on the axes, x first.
        fixed: parameter -> value, for parameters known to be the same in all these rows.
        held: parameter or scheme -> value that defines the slice.
        loose: parameters that vary besides the axes.
    """

    state: dict[str, Any]
    document: dict[str, Any]
    model: Model
    table: pa.Table
    axes: tuple[Quantity, ...]
    fixed: dict[str, Any]
    held: dict[str, Any]
    loose: tuple[str, ...]

    @property
    def steady(self) -> bool:
        """Whether the rows are steady motions."""
        return bool(self.document.get("time", {}).get("window") == STEADY)

    def along(self, axis: Quantity) -> np.ndarray:
        """(n,) float64 values of the rows along an axis."""
        return np.asarray(self.table.column(axis.name).to_numpy(), dtype=np.float64)

    def is_logarithmic(self, axis: Quantity) -> bool:
        """Whether an axis is spaced evenly in the logarithm: according to the study, else according to its values."""
        values = np.unique(self.along(axis))
        if values[0] <= 0.0:
            return False
        parts = self.document.get("sweep", {})
        for part in parts if isinstance(parts, list) else [parts]:
            spec = part.get("axes", {}).get(axis.name)
            if isinstance(spec, dict) and "spacing" in spec:
                return bool(spec["spacing"] == "log")
        return is_logarithmic(values)


def read_rows(
    path: Path, wanted: Callable[[Model, list[Problem]], Sequence[str]], x: str | None, y: str | None, at: Sequence[str], fewest: int = 2,
    over: Sequence[str] = (),
) -> RunRows:  # fmt: skip
    """Read the rows of a run, complete or not.

    Args:
        path: directory of the run.
        wanted: (the model, a list for problems) -> the columns to read besides the varied parameters.
        x, y: parameters for the axes; default: the varied parameters; of a design that samples, a zip or a table the two with most values.
        at: "name=value" texts that hold further parameters at a value to make a slice.
        fewest: required number of axes, 1 or 2. over: parameters that may vary besides the axes.

    Raises:
        ConfigError: there is no run or no row; `over` does not vary; an axis is not in it or holds no numbers; fewer parameters vary than
            axes are required; or more parameters vary than there are axes, and `at` does not hold them.
    """
    state = state_of(path)
    if state["design"] == CONVERGENCE:
        message = f"a convergence study has no map; its picture: tribosweep convergence {path}"
        raise ConfigError(str(path), [Problem("", message)])
    if not state["rows"]:
        raise ConfigError(str(path), [Problem("", "no shard is written yet: nothing to draw")])
    model, document = with_entries(model_of(path)), RunDirectory(path).read_document()
    fixed = fixed_parameters(document)
    dataset = Dataset(path)
    parameters = by_name(model.parameters)
    swept = [name for name in dataset.names if name in parameters and name not in fixed]
    swept += [SCHEME] if SCHEME in dataset.names else []
    problems: list[Problem] = []
    asked = list(wanted(model, problems))
    entries = lists_of(model, asked, dataset.names)
    there = [name for name in asked if name in dataset.names]
    names = list(dict.fromkeys([*swept, *there, *(base for base, _ in entries.values())]))
    if state["rows"] * len(names) > MOST_CELLS:
        message = (
            f"{state['rows']:,} rows of {len(names)} columns: at most {MOST_CELLS:,} cells are read into memory; "
            "tribosweep explore shows any number of rows"
        )
        raise ConfigError(str(path), [Problem("", message)])
    table = dataset.table(names)
    table = add_entries(table, model, entries)
    in_run = varying_of(table, swept)
    table, held = slice_at(table, in_run, at, problems)
    varying = varying_of(table, swept)
    fixed |= {n: table.column(n)[0].as_py() for n in swept if n not in varying and n != SCHEME and table.column(n).null_count == 0}
    problems += [
        Problem("--over", f"{each!r} is nothing that this run varies; {advise(each, varying)}") for each in over if each not in varying
    ]
    numeric = [name for name in varying if name in parameters and parameters[name].kind not in KINDS and name not in over]
    sampled = state["design"] in (*SAMPLERS, SUBSET, ZIP, TABLE)  # its parameters vary together, even those with few values
    if sampled and x is y is None:
        x, y = [*most_distinct(table, numeric), None, None][:2]
    others = [name for name in varying if name not in numeric and name not in over]
    axes = choose_axes(numeric, others, parameters, x, y, fewest, problems)
    loose = [name for name in varying if name not in axes and name not in over]
    if axes:
        problems += [must_be_held(table, n) for n in loose if not sampled and (n not in numeric or repeats(table.column(n)))]
    problems += [
        Problem(f"axis {name}", "some rows hold no finite number of it (left at its default, or NaN): they have no place on a map")
        for name in axes or dict.fromkeys((x, y))
        if name in numeric and not np.isfinite(table.column(name).to_numpy()).all()
    ]
    if problems:
        raise ConfigError(str(path), problems)
    return RunRows(state, document, model, table, tuple(parameters[name] for name in axes), fixed, held, tuple(loose))


def stacked_in(places: Sequence[np.ndarray], loose: Sequence[str]) -> str:
    """A sentence on rows that lie one above the other on a map, because other parameters vary too; empty if few do.

    Args:
        places: the (n,) values of the rows along each axis. loose: the parameters that vary besides.
    """
    rows = len(places[0])
    count = len(np.unique(places[0] + 1j * places[-1])) if loose else rows
    if 2 * count > rows:
        return ""
    taken = " ".join(f"--over {name}" for name in loose)
    return f"{rows:,} points lie at {count:,} places, one above the other, and a place shows one of them; {taken} shows their means."


def is_logarithmic(values: np.ndarray) -> bool:
    """Whether ascending values are spaced evenly in their logarithm but not on a linear scale."""
    if len(values) < 4 or values[0] <= 0.0:
        return False
    steps = np.diff(np.log(values))
    return bool(np.ptp(steps) < 1e-6 * steps.mean())


def fixed_parameters(document: Mapping[str, Any]) -> dict[str, float]:
    """Parameter -> value, for parameters with one value in all rows; empty for a concatenation, because its parts may sweep them."""
    if isinstance(document.get("sweep"), list):
        return {}
    time = dict(document.get("time", {}))
    window = time.pop("window", None)
    ends = {} if window in (None, STEADY) else {"window_start": window[0], "window_end": window[1]}
    return {**document.get("parameters", {}), **time, **ends}


def varying_of(table: pa.Table, names: Iterable[str]) -> list[str]:
    """The names whose columns hold different values."""
    return [name for name in names if varies(table.column(name))]


def varies(column: pa.ChunkedArray) -> bool:
    """Whether a column of parameters holds different values."""
    import pyarrow.compute as pc

    if not is_numeric(column):
        return len(words_in(column)) > 1
    if 0 < column.null_count < len(column):  # some rows have the default
        return True
    ends = pc.min_max(column).as_py()
    return bool(ends["min"] != ends["max"])


def have_results(statuses: pa.ChunkedArray) -> np.ndarray:
    """Mask of the rows that have results."""
    import pyarrow as pa
    import pyarrow.compute as pc

    mask: np.ndarray = pc.is_in(statuses.cast(pa.string()), pa.array([status.sentence for status in RESULTS])).to_numpy()
    return mask


def is_numeric(column: pa.ChunkedArray) -> bool:
    """Whether a column holds numbers."""
    import pyarrow as pa

    return bool(pa.types.is_floating(column.type) or pa.types.is_integer(column.type))


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as texts: words as they are, tables as in CSV ("2;3;4;5"), "default" where a row leaves the parameter out."""
    import pyarrow as pa

    if pa.types.is_list(column.type):
        return pa.chunked_array([pa.array([shown_table(cell) for cell in column.to_pylist()], pa.string())]).fill_null("default")
    return column.cast(pa.string()).fill_null("default")


def words_in(column: pa.ChunkedArray) -> list[str]:
    """The distinct texts of a column of words or tables."""
    return sorted(as_text(column).unique().to_pylist())


def repeats(column: pa.ChunkedArray) -> bool:
    """Whether a numeric column has at least REPEATED rows per value on average."""
    return len(column.unique()) * REPEATED <= len(column)


def slice_at(table: pa.Table, varying: Sequence[str], at: Sequence[str], problems: list[Problem]) -> tuple[pa.Table, dict[str, Any]]:
    """Select the rows nearest to the requested values, and return them with their values; add problems if there are no such rows."""
    held: dict[str, Any] = {}
    for wish in at:
        name, sign, text = (part.strip() for part in wish.partition("="))
        if not sign or not text:
            problems.append(Problem("--at", f"{wish!r}: give a parameter and its value, as in --at mu=0.2"))
        elif name not in varying:
            problems.append(Problem("--at", f"{name!r} is nothing that this run varies; {advise(name, varying)}"))
        elif name in held:
            problems.append(Problem("--at", f"{name!r} is held already, at {held[name]}"))
        else:
            found = nearest_value(table.column(name), name, text, unit_in(table.schema.field(name)), problems)
            if found is not None:
                held[name], mask = found
                table = table.filter(mask)
    return table, held


def unit_in(field: pa.Field) -> str:
    """The unit of a column of a run, empty if it has none."""
    return bytes((field.metadata or {}).get(b"unit", b"")).decode()


def nearest_value(column: pa.ChunkedArray, name: str, text: str, unit: str, problems: list[Problem]) -> tuple[Any, Any] | None:
    """The value of a column nearest to the requested one, and the mask of its rows; None and a problem if there is no such value.

    The request is a word, a number in the `unit` of the column, or a number with its own unit.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_numeric(column):
        words = words_in(column)
        if text not in words:
            problems.append(Problem("--at", f"no row has {name} = {text!r}; {advise(text, words)}"))
            return None
        return text, pc.equal(as_text(column), text)
    values = np.unique(column.drop_null().to_numpy())
    try:
        wish = limit_in(text, unit)
    except ValueError as error:
        problems.append(Problem("--at", f"{name}: {error}; the run has {listed(values)}"))
        return None
    value = values[np.argmin(np.abs(values - wish))]
    return value.item(), pc.equal(column, pa.scalar(value.item(), column.type))


def listed(values: np.ndarray) -> str:
    """A few of the values as text."""
    few = [f"{value:.6g}" for value in values[:6]]
    return ", ".join(few) if len(values) <= 6 else f"{len(values):,} values from {values[0]:.6g} to {values[-1]:.6g}"


def most_distinct(table: pa.Table, names: Sequence[str]) -> list[str]:
    """The two columns with most different values, in their order; of columns with as many the first ones."""
    import pyarrow.compute as pc

    counts = {name: pc.count_distinct(table.column(name)).as_py() for name in names}
    chosen = sorted(names, key=lambda name: -counts[name])[:2]
    return [name for name in names if name in chosen]


def must_be_held(table: pa.Table, name: str) -> Problem:
    """The problem of a parameter that has several values but is neither on an axis nor held."""
    column = table.column(name)
    if is_numeric(column):
        found = listed(np.unique(column.drop_null().to_numpy()))
    else:
        words = words_in(column)
        found = ", ".join(words[:6]) + (", ..." if len(words) > 6 else "")
    return Problem("--at", f"{name} has several values too ({found}): hold it at one, as in --at {name}=VALUE")


def choose_axes(
    varying: list[str],
    others: list[str],
    parameters: Mapping[str, Quantity],
    x: str | None,
    y: str | None,
    fewest: int,
    problems: list[Problem],
) -> tuple[str, ...]:
    """Choose the axes; default: the varied parameters. Add problems if a name is unknown or the choice is ambiguous.

    Args:
        varying: the parameters that vary and hold numbers. others: those that hold none. x, y, fewest: see `read_rows`.
    """
    said = ", ".join(varying) or (f"only {', '.join(others)}, which holds no numbers" if others else "nothing")
    if len(varying) < fewest:
        several = "two parameters that vary" if fewest > 1 else "a parameter that varies"
        one = "; tribosweep report draws it over one" if fewest > 1 and varying else ""
        problems.append(Problem("", f"a map needs {several}; this run varies {said}{one}"))
        return ()
    for option, name in (("--x", x), ("--y", y)):
        if name is not None and name not in varying:
            held = KINDS.get(parameters[name].kind) if name in parameters else None
            still = f"holds {held}" if held else "is the same in every row" if name in parameters else "is no parameter"
            problems.append(Problem(option, f"{name!r} {still}; {advise(name, varying)}"))
    if x is not None and x == y:
        problems.append(Problem("--y", f"{y!r} is on the x axis already; this run varies {said}"))
    free = [name for name in varying if name not in (x, y)]
    if not problems and len(free) > (x is None) + (y is None) > 0:
        problems.append(
            Problem("--x, --y", f"this run varies {said}: name the two that are the axes, and hold others with --at NAME=VALUE")
        )
    if problems:
        return ()
    return (x or free[0], y or free[-1]) if len(varying) > 1 else tuple(varying)
