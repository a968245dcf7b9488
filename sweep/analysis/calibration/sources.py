"""The sources of measurements: [calibration.compare], [[calibration.traces]] and [[calibration.loops]]."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.loops import LOOP_COLUMNS
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.structure_columns import sampled
from tribosweep.sweep.io.errors import Problem, advise, first_of, shorten
from tribosweep.sweep.io.units import in_unit
from tribosweep.sweep.io.values import read_number

COMPARED_KEYS = {
    "column": "column of the file; default the name of the observable",
    "sd": "standard deviation: a number in the unit of the observable, a text with another unit, or a column",
    "relative_sd": "instead of sd: standard deviation over the measured number",
    "weight": "as how many measurements each number counts: a number or a column; default 1",
}  # key of a comparison -> what it is
TRACE_KEYS = {
    "file": "CSV or Parquet file with a column time [s] or displacement [m] and columns of what was measured",
    "time": "column of the time of a sample [s]; default time",
    "settings": "parameter -> its value in this measurement",
    "compare": "quantity -> column, as in [calibration.compare]",
}  # key of a trace -> what it is
LOOP_KEYS = {
    **TRACE_KEYS,
    "displacement": "column of the imposed displacement [m]; default x",
    "steady": "true: the path is closed and was repeated before it was measured",
}  # key of a loop -> what it is
WITH_UNIT = re.compile(r"[-+]?(?:\d*\.\d|\d\S*\s+\S)")  # a text that is no name of a column: "0.05 mm", "0.05mm"
TIME_COLUMN = "time"
ON_PATH = by_name(LOOP_COLUMNS)
IN_TIME = {
    "x": Quantity("x", "m", "displacement", "x"),
    "v": Quantity("v", "m/s", "velocity", "v"),
    "friction_force": Quantity("friction_force", "N", "friction on the mass", "F_t"),
    "wall_force": Quantity("wall_force", "N", "force of the wall", "F"),
}


def in_time(model: Model) -> dict[str, Quantity]:
    """What a trace may have measured: of an oscillator displacement, velocity and forces; of a structure its points and supports."""
    return IN_TIME if model.structure is None else sampled(model)


@dataclass(frozen=True, slots=True)
class Compared:
    """A column that is compared with an observable.

    Attributes:
        path: its key. observable: name of the observable. column: name of the column.
        sd: standard deviation, as a number in the observable's unit or as a column name. relative: standard deviation over measured number.
        weight: the number of measurements for which each number counts, or the name of a column with these numbers.
    """

    path: str
    observable: Quantity
    column: str
    sd: float | str | None
    relative: float | None
    weight: float | str

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are read."""
        return [self.column, *(each for each in (self.sd, self.weight) if isinstance(each, str))]


@dataclass(frozen=True, slots=True)
class Source:
    """A file of measurements: the tests, one trace, or one loop of an imposed displacement.

    Attributes:
        path: its key. file: path of the file.
        compared: the comparisons made with it.
        settings: for a trace or a loop, parameter -> value in the format of the study. traced: whether it is a trace.
        displacement: of a loop, the column of the imposed displacement [m]; None for tests and traces.
        time: of a trace or a loop, the column of the time [s].
        steady: of a loop, whether its path is closed and was repeated before it was measured.
    """

    path: str
    file: Path
    compared: tuple[Compared, ...]
    settings: Mapping[str, Any]
    traced: bool
    displacement: str | None = None
    steady: bool = False
    time: str = TIME_COLUMN


def read_sources(section: Mapping[str, Any], model: Model, folder: Path, problems: list[Problem]) -> list[Source]:
    """Read the files that [calibration] names and their compared observables; add problems for invalid entries."""
    sources = []
    quantities = {q.name: q for q in model.observables if q.kind == "float" and not q.survives and not q.steady}
    if "data" in section:
        compared = read_compared(section.get("compare"), "calibration.compare", quantities, problems)
        sources.append(source_of("calibration.data", section["data"], compared, {}, folder, problems))
    for path, trace in tables_of(section, "traces", TRACE_KEYS, problems):
        compared = read_compared(trace["compare"], f"{path}.compare", in_time(model), problems)
        found = source_of(f"{path}.file", trace["file"], compared, settings_of(path, trace, problems), folder, problems)
        sources.append(found and replace(found, time=column_of(path, trace, "time", TIME_COLUMN, problems)))
    loops = tables_of(section, "loops", LOOP_KEYS, problems)
    if loops and model.structure is not None:
        message = f"a {model.name} has no loops of an imposed displacement: they are of contacts of oscillators with one coordinate"
        problems.append(Problem("calibration.loops", message))
        loops = []
    for path, loop in loops:
        compared = read_compared(loop["compare"], f"{path}.compare", ON_PATH, problems)
        found = source_of(f"{path}.file", loop["file"], compared, settings_of(path, loop, problems), folder, problems)
        column, steady = column_of(path, loop, "displacement", "x", problems), loop.get("steady", False)
        time = column_of(path, loop, "time", TIME_COLUMN, problems)
        if not isinstance(steady, bool):
            problems.append(Problem(f"{path}.steady", f"must be true or false, not {shorten(steady)}"))
        elif found is not None:
            sources.append(replace(found, traced=False, displacement=column, steady=steady, time=time))
    if loops and ("data" in section or section.get("traces")):
        problems.append(Problem("calibration.loops", "loops of an imposed displacement stand alone: leave out data and traces"))
    if not any(section.get(key) for key in ("data", "traces", "loops")):
        message = "missing: a file of measurements, .csv or .parquet, or [[calibration.traces]], or [[calibration.loops]]"
        problems.append(Problem("calibration.data", message))
    if "compare" in section and "data" not in section:
        problems.append(Problem("calibration.data", "missing: the file whose columns calibration.compare names"))
    return [source for source in sources if source is not None]


def tables_of(section: Mapping[str, Any], key: str, keys: Collection[str], problems: list[Problem]) -> list[tuple[str, dict[str, Any]]]:
    """The tables of one kind of sources that have a file and comparisons, with their paths; add problems for the others."""
    found = []
    raw = section.get(key, [])
    if not isinstance(raw, list):
        problems.append(Problem(f"calibration.{key}", f"must be tables, [[calibration.{key}]], not {shorten(raw)}"))
        raw = []
    for place, table in enumerate(raw):
        path = f"calibration.{key}[{place}]"
        if not isinstance(table, dict) or not {"file", "compare"} <= table.keys():
            problems.append(Problem(path, f"must be a table with file and compare, not {shorten(table)}"))
            continue
        problems += [Problem(f"{path}.{name}", f"unknown key; {advise(str(name), keys)}") for name in table if name not in keys]
        found.append((path, table))
    return found


def column_of(path: str, table: Mapping[str, Any], key: str, default: str, problems: list[Problem]) -> str:
    """The name of a column of a trace or a loop; the default, and a problem if another is given that is none."""
    column = table.get(key, default)
    if isinstance(column, str):
        return column
    problems.append(Problem(f"{path}.{key}", f"must be the name of a column, not {shorten(column)}"))
    return default


def settings_of(path: str, table: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The settings of a trace or a loop; add a problem if they are no table."""
    settings = table.get("settings", {})
    if not isinstance(settings, dict):
        problems.append(Problem(f"{path}.settings", f"must be a table, {{ a0 = 3.0 }}, not {shorten(settings)}"))
        return {}
    return settings


def source_of(
    path: str, file: Any, compared: list[Compared], settings: Mapping[str, Any], folder: Path, problems: list[Problem]
) -> Source | None:
    """Read one source; None and a problem if it is wrong."""
    if not isinstance(file, str) or not file:
        problems.append(Problem(path, f"must be the path of a .csv or .parquet file, not {shorten(file)}"))
        return None
    return Source(path, folder / file, tuple(compared), settings, path.endswith(".file"))


def read_compared(raw: Any, path: str, quantities: Mapping[str, Quantity], problems: list[Problem]) -> list[Compared]:
    """Read the comparisons, one per observable."""
    if not isinstance(raw, dict) or not raw:
        problems.append(Problem(path, 'missing: which observable is compared with which column, such as { plastic_set = "set" }'))
        return []
    found = []
    unknown, message = [name for name in raw if name not in quantities], "no observable that can be compared"
    problems += first_of(unknown, lambda name: Problem(f"{path}.{name}", f"{message}; {advise(name, quantities)}"), path, "keys")
    for name, each in raw.items():
        where = f"{path}.{name}"
        given = {"column": each} if isinstance(each, str) else each
        if name not in quantities:
            continue
        if not isinstance(given, dict):
            problems.append(Problem(where, f'must be a column, or {{ column = "set", sd = 0.01 }}, not {shorten(each)}'))
        else:
            found.append(read_terms(quantities[name], given, where, problems))
    return found


def is_value(text: str, unit: str) -> bool:
    """Whether a text is a number with a unit: with a point, a blank, or a unit that fits. Others are names of columns, such as 2nd_sd."""
    if WITH_UNIT.match(text):
        return True
    try:
        in_unit(text, unit or "1")
    except ValueError:
        return False
    return True


def read_terms(quantity: Quantity, given: Mapping[str, Any], where: str, problems: list[Problem]) -> Compared:
    """Read column, standard deviation and weight of one comparison."""
    problems += [Problem(f"{where}.{key}", f"unknown key; {advise(str(key), COMPARED_KEYS)}") for key in given if key not in COMPARED_KEYS]
    column = given.get("column", quantity.name)
    if not isinstance(column, str):
        problems.append(Problem(f"{where}.column", f"must be the name of a column, not {shorten(column)}"))
        column = quantity.name
    units = {"sd": quantity.unit, "relative_sd": "1", "weight": "1"}
    words = {
        "sd": "standard deviation", "relative_sd": "standard deviation over the measured number", "weight": "as how many measurements"
    }  # fmt: skip
    read: dict[str, Any] = {}
    for key, unit in units.items():
        if key in given and (key == "relative_sd" or not isinstance(given[key], str) or is_value(given[key], unit)):
            read[key] = read_number(Quantity(key, unit, words[key], lower=0.0, lower_open=True), f"{where}.{key}", given[key], problems)
        elif key in given:
            read[key] = given[key]
    if "sd" in given and "relative_sd" in given:
        problems.append(Problem(where, "give either sd or relative_sd"))
    return Compared(where, quantity, column, read.get("sd"), read.get("relative_sd"), 1.0 if read.get("weight") is None else read["weight"])
