"""The sources of measurements: [calibration.compare], [[calibration.traces]] and [[calibration.loops]]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.loops import LOOP_COLUMNS
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.structure_columns import sampled
from tribosweep.sweep.io.errors import Problem, advise, first_of
from tribosweep.sweep.io.units import in_unit
from tribosweep.sweep.io.values import read_number
from tribosweep.sweep.study.calibration import COMPARED_MISSING, TIME_COLUMN, Calibrate, Comparison
from tribosweep.sweep.study.grammar import unsaid

WITH_UNIT = re.compile(r"[-+]?(?:\d*\.\d|\d\S*\s+\S)")  # a text that is no name of a column: "0.05 mm", "0.05mm"
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


def read_sources(asked: Calibrate, section: Mapping[str, Any], model: Model, folder: Path, problems: list[Problem]) -> list[Source]:
    """The files that [calibration], in the file `section`, names, and their compared observables; add problems for invalid entries."""
    sources = []
    if asked.data is not None:
        quantities = {q.name: q for q in model.observables if q.kind == "float" and not q.survives and not q.steady}
        compared = read_compared(asked.compare, "calibration.compare", quantities, problems)
        sources.append(Source("calibration.data", folder / asked.data, compared, {}, False))
    for place, trace in enumerate(asked.traces):
        if trace is not None:
            path = f"calibration.traces[{place}]"
            compared = read_compared(trace.compare, f"{path}.compare", in_time(model), problems)
            sources.append(Source(f"{path}.file", folder / trace.file, compared, trace.settings, True, time=trace.time))
    if asked.loops and model.structure is not None:
        message = f"a {model.name} has no loops of an imposed displacement: they are of contacts of oscillators with one coordinate"
        problems.append(Problem("calibration.loops", message))
    for place, loop in enumerate(asked.loops if model.structure is None else ()):
        if loop is not None:
            path = f"calibration.loops[{place}]"
            compared = read_compared(loop.compare, f"{path}.compare", ON_PATH, problems)
            file = folder / loop.file
            sources.append(Source(f"{path}.file", file, compared, loop.settings, False, loop.displacement, loop.steady, loop.time))
    if asked.loops and ("data" in section or section.get("traces")):
        problems.append(Problem("calibration.loops", "loops of an imposed displacement stand alone: leave out data and traces"))
    if not any(section.get(key) for key in ("data", "traces", "loops")):
        message = "missing: a file of measurements, .csv or .parquet, or [[calibration.traces]], or [[calibration.loops]]"
        problems.append(Problem("calibration.data", message))
    if "compare" in section and "data" not in section:
        problems.append(Problem("calibration.data", "missing: the file whose columns calibration.compare names"))
    return sources


def read_compared(
    asked: Mapping[str, Comparison | None], path: str, quantities: Mapping[str, Quantity], problems: list[Problem]
) -> tuple[Compared, ...]:
    """Read the comparisons, one per observable."""
    if not asked and unsaid(path, problems):
        problems.append(Problem(path, COMPARED_MISSING))
    unknown, message = [name for name in asked if name not in quantities], "no observable that can be compared"
    problems += first_of(unknown, lambda name: Problem(f"{path}.{name}", f"{message}; {advise(name, quantities)}"), path, "keys")
    known = {name: each for name, each in asked.items() if name in quantities and each is not None}
    return tuple(read_terms(quantities[name], each, f"{path}.{name}", problems) for name, each in known.items())


def is_value(text: str, unit: str) -> bool:
    """Whether a text is a number with a unit: with a point, a blank, or a unit that fits. Others are names of columns, such as 2nd_sd."""
    if WITH_UNIT.match(text):
        return True
    try:
        in_unit(text, unit or "1")
    except ValueError:
        return False
    return True


def read_terms(quantity: Quantity, asked: Comparison, where: str, problems: list[Problem]) -> Compared:
    """Read column, standard deviation and weight of one comparison."""
    read: dict[str, Any] = {}
    for key, unit, words in (("sd", quantity.unit, "standard deviation"), ("weight", "1", "as how many measurements")):
        given = getattr(asked, key)
        if given is None or (isinstance(given, str) and not is_value(given, unit)):
            read[key] = given
        else:
            read[key] = read_number(Quantity(key, unit, words, lower=0.0, lower_open=True), f"{where}.{key}", given, problems)
    if asked.sd is not None and asked.relative_sd is not None:
        problems.append(Problem(where, "give either sd or relative_sd"))
    weight = 1.0 if read["weight"] is None else read["weight"]
    return Compared(where, quantity, quantity.name if asked.column is None else asked.column, read["sd"], asked.relative_sd, weight)
