"""The sources of measurements: the tables [[calibration.compare]] and [[calibration.traces]]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.models import Model
from kernels.models.quantity import Quantity
from sweep.io.errors import Problem, advise, shorten
from sweep.io.values import read_number

COMPARED_KEYS = ("column", "sd", "relative_sd", "weight")
TRACE_KEYS = ("file", "settings", "compare")
IN_TIME = {
    "x": Quantity("x", "m", "displacement", "x"),
    "v": Quantity("v", "m/s", "velocity", "v"),
    "friction_force": Quantity("friction_force", "N", "friction on the mass", "F_t"),
    "wall_force": Quantity("wall_force", "N", "force of the wall", "F"),
}


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
    """A file of measurements: the tests, or one trace.

    Attributes:
        path: its key. file: path of the file.
        compared: the comparisons made with it.
        settings: for a trace, parameter -> value in the format of the study. traced: whether it is a trace.
    """

    path: str
    file: Path
    compared: tuple[Compared, ...]
    settings: Mapping[str, Any]
    traced: bool


def read_sources(section: Mapping[str, Any], model: Model, folder: Path, problems: list[Problem]) -> list[Source]:
    """Read the files that [calibration] names and their compared observables; add problems for invalid entries."""
    sources = []
    quantities = {q.name: q for q in model.observables if q.kind == "float" and not q.survives and not q.steady}
    if "data" in section:
        compared = read_compared(section.get("compare"), "calibration.compare", quantities, problems)
        sources.append(source_of("calibration.data", section["data"], compared, {}, folder, problems))
    traces = section.get("traces", [])
    if not isinstance(traces, list):
        problems.append(Problem("calibration.traces", f"must be tables, [[calibration.traces]], not {shorten(traces)}"))
        traces = []
    for place, trace in enumerate(traces):
        path = f"calibration.traces[{place}]"
        if not isinstance(trace, dict) or not {"file", "compare"} <= trace.keys():
            problems.append(Problem(path, f"must be a table with file and compare, not {shorten(trace)}"))
            continue
        problems += [Problem(f"{path}.{key}", f"unknown key; {advise(str(key), TRACE_KEYS)}") for key in trace if key not in TRACE_KEYS]
        compared = read_compared(trace["compare"], f"{path}.compare", IN_TIME, problems)
        settings = trace.get("settings", {})
        if not isinstance(settings, dict):
            problems.append(Problem(f"{path}.settings", f"must be a table, {{ a0 = 3.0 }}, not {shorten(settings)}"))
            settings = {}
        sources.append(source_of(f"{path}.file", trace["file"], compared, settings, folder, problems))
    if not sources and not traces:
        problems.append(Problem("calibration.data", "missing: a file of measurements, .csv or .parquet, or [[calibration.traces]]"))
    if "compare" in section and "data" not in section:
        problems.append(Problem("calibration.data", "missing: the file whose columns calibration.compare names"))
    return [source for source in sources if source is not None]


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
    for name, each in raw.items():
        where = f"{path}.{name}"
        given = {"column": each} if isinstance(each, str) else each
        if name not in quantities:
            problems.append(Problem(where, f"no observable that can be compared; {advise(str(name), quantities)}"))
        elif not isinstance(given, dict):
            problems.append(Problem(where, f'must be a column, or {{ column = "set", sd = 0.01 }}, not {shorten(each)}'))
        else:
            found.append(read_terms(quantities[name], given, where, problems))
    return found


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
        if key in given and not (isinstance(given[key], str) and key != "relative_sd"):
            read[key] = read_number(Quantity(key, unit, words[key], lower=0.0, lower_open=True), f"{where}.{key}", given[key], problems)
        elif key in given:
            read[key] = given[key]
    if "sd" in given and "relative_sd" in given:
        problems.append(Problem(where, "give either sd or relative_sd"))
    return Compared(where, quantity, column, read.get("sd"), read.get("relative_sd"), 1.0 if read.get("weight") is None else read["weight"])
