"""Reading the measured data of a calibration: columns with standard deviations and weights, tests and traces."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.models import Model
from kernels.models.quantity import Quantity, by_name
from kernels.models.schemes import STEADY
from sweep.analysis.calibration.data import Measurements
from sweep.analysis.calibration.sheet import (
    Sheet,
    check_columns,
    read_labels,
    read_measured,
    read_positive,
    read_setting,
    read_sheet,
)
from sweep.analysis.calibration.sources import IN_TIME, Compared, Source
from sweep.io.errors import Problem, advise, report
from sweep.io.values import padded, read_value, written
from sweep.study.schema import TIME_KEYS, belongs

TIME_COLUMN = "time"


class MeasuredRows:
    """Collects the measured numbers of the sources, one entry per number."""

    def __init__(self) -> None:
        """Start empty."""
        self.run: list[np.ndarray] = []
        self.name: list[str] = []
        self.measured: list[np.ndarray] = []
        self.sd: list[np.ndarray] = []
        self.weight: list[np.ndarray] = []

    def add(self, sheet: Sheet, compared: Compared, first: int, keep: np.ndarray, problems: list[Problem]) -> None:
        """Add the rows `keep` of a column; the runs of the sheet are numbered from `first`."""
        missing = [name for name in compared.columns if name not in sheet.columns]
        problems += [
            Problem(compared.path, f"{sheet.label} has no column {name!r}; {advise(name, list(sheet.columns))}") for name in missing
        ]
        if missing:
            return
        quantity = compared.observable
        measured = read_measured(sheet, compared.column, quantity, problems)
        sd: Any = compared.sd
        own = f"{compared.column}_sd"
        if sd is None and compared.relative is None and own in sheet.columns:
            sd = own
        if isinstance(sd, str):
            spread = read_positive(sheet, sd, quantity, "sd", measured, problems)
        elif compared.relative is not None:
            spread = compared.relative * np.abs(measured)
            for row in np.flatnonzero(spread == 0.0).tolist():
                message = "0, whose relative standard deviation is 0: give sd as a number or a column"
                problems.append(Problem(sheet.place(compared.column, row), message))
        elif sd is not None:
            spread = np.full(sheet.count, sd)
        else:
            problems.append(
                Problem(compared.path, f"missing: sd (a number in {quantity.unit}, or a column), relative_sd, or a column {own}")
            )
            return
        weight = (
            read_positive(sheet, compared.weight, quantity, "weight", measured, problems)
            if isinstance(compared.weight, str)
            else np.full(sheet.count, compared.weight)
        )
        rows = np.flatnonzero(np.isfinite(measured) & keep)
        places = np.cumsum(keep) - 1
        self.run.append(first + places[rows])
        self.name += [quantity.name] * len(rows)
        self.measured.append(measured[rows])
        self.sd.append(spread[rows])
        self.weight.append(weight[rows])


@dataclass(frozen=True, slots=True)
class SourceRuns:
    """The runs of one source.

    Attributes:
        settings: parameter -> (runs,) values, or (runs, L) of a table. labels: names of the runs. times: of samples [s], else NaN.
    """

    settings: dict[str, np.ndarray]
    labels: list[str]
    times: np.ndarray


def read_data(
    sources: Sequence[Source], model: Model, free: set[str], study: Mapping[str, Any], problems: list[Problem]
) -> tuple[Measurements, list[dict[str, list[Any]]]] | None:
    """Read the files of measurements.

    Args:
        sources: the files. model: columns may name its parameters. free: names of the free parameters.
        study: the file without [calibration]. problems: list to which problems are added.

    Returns:
        The measurements, and the runs as parts of a design: parameter -> values in the format of a study; a trace contributes its last
        sample. None if the files are unusable.
    """
    before = len(problems)
    rows, parts = MeasuredRows(), []
    skipped = runs = 0
    for source in sources:
        sheet = read_sheet(source.file, source.path, problems)
        if sheet is None:
            continue
        # columns of observables that are not compared are ignored
        measurable = [*IN_TIME] if source.traced else [quantity.name for quantity in model.observables]
        known = {name for each in source.compared for name in (*each.columns, f"{each.column}_sd")}
        known |= {name for each in measurable for name in (each, f"{each}_sd")}
        if source.traced:
            part, keep = read_trace(source, sheet, model, free, known, problems)
        else:
            part, keep = read_tests(sheet, model, free, known, problems), np.ones(sheet.count, dtype=bool)
        for compared in source.compared:
            rows.add(sheet, compared, runs, keep, problems)
        skipped += int(np.count_nonzero(~keep)) * len(source.compared)
        runs += len(part.labels)
        parts.append(part)
    if any(source.traced for source in sources) and study.get("time", {}).get("window") == STEADY:
        problems.append(Problem("time.window", f'"{STEADY}" is of motions without a beginning, and traces begin at t = 0: leave it out'))
    if not sum(map(len, rows.measured)) and len(problems) == before:
        problems.append(Problem(sources[0].path if sources else "calibration.data", "nothing was measured: every cell is empty"))
    if len(problems) > before:
        return None
    settings = joined(parts, model, study, problems)
    names = dict.fromkeys(rows.name)
    observables = {**by_name(model.observables), **IN_TIME}
    place = {name: position for position, name in enumerate(names)}
    data = Measurements(
        observables={name: observables[name] for name in names},
        settings=settings,
        runs=tuple(label for part in parts for label in part.labels),
        tests=tests_of(parts),
        times=np.concatenate([part.times for part in parts]),
        run=np.concatenate(rows.run),
        observable=np.array([place[name] for name in rows.name]),
        measured=np.concatenate(rows.measured),
        sd=np.concatenate(rows.sd),
        weight=np.concatenate(rows.weight),
        skipped=skipped,
    )
    return (data, designs_of(parts, model)) if len(problems) == before else None


def read_tests(sheet: Sheet, model: Model, free: set[str], known: set[str], problems: list[Problem]) -> SourceRuns:
    """The runs of a file of tests; its columns that are parameters are the settings."""
    quantities = by_name(model.parameters)
    check_columns(sheet, [*quantities, *known], problems)
    names = [name for name in sheet.columns if name in quantities and name not in known]
    problems += [Problem(sheet.place(name), "is free: a setting of the tests is known") for name in names if name in free]
    read = {name: read_setting(sheet, quantities[name], problems) for name in names if name not in free}
    return SourceRuns({name: each for name, each in read.items() if each is not None}, read_labels(sheet), np.full(sheet.count, math.nan))


def read_trace(
    source: Source, sheet: Sheet, model: Model, free: set[str], known: set[str], problems: list[Problem]
) -> tuple[SourceRuns, np.ndarray]:
    """The runs of a trace, one per sample, and the positions of these samples; samples at t = 0 are skipped."""
    check_columns(sheet, [TIME_COLUMN, *known], problems)
    quantities = by_name(model.parameters)
    path = source.path.removesuffix(".file")
    times = np.zeros(sheet.count)
    if TIME_COLUMN not in sheet.columns:
        problems.append(
            Problem(source.path, f"{sheet.label} has no column {TIME_COLUMN!r} [s]; {advise(TIME_COLUMN, list(sheet.columns))}")
        )
    else:
        found: list[Problem] = []
        times = read_measured(sheet, TIME_COLUMN, Quantity(TIME_COLUMN, "s", "time of a sample"), found)
        wrong = np.flatnonzero(~(times >= 0.0)).tolist() if not found else []
        found += [Problem(sheet.place(TIME_COLUMN, row), f"{float(times[row])!r}: a sample has a time >= 0 (unit s)") for row in wrong]
        report(found, sheet.place(TIME_COLUMN), problems)
    keep = times > 0.0
    settings = {}
    for name, value in source.settings.items():
        where = f"{path}.settings.{name}"
        if name not in quantities:
            problems.append(Problem(where, belongs(str(name), model)))
        elif name in free:
            problems.append(Problem(where, "is free: a setting of a trace is known"))
        elif name in TIME_KEYS:
            problems.append(Problem(where, "a trace has times of its own: leave it out"))
        else:
            settings[name] = np.array([read_value(quantities[name], where, value, problems)] * int(keep.sum()))
    kept = times[keep]
    settings |= {"end": kept, "window_start": np.zeros(len(kept)), "window_end": kept}
    return SourceRuns(settings, [f"{source.file.name}, {time:g} s" for time in kept], kept), keep


def joined(parts: Sequence[SourceRuns], model: Model, study: Mapping[str, Any], problems: list[Problem]) -> dict[str, np.ndarray]:
    """The settings of all runs; a part without a setting takes the value of the study or the documented default."""
    names = dict.fromkeys(name for part in parts for name in part.settings)
    if len(parts) == 1:
        return dict(parts[0].settings)
    settings = {}
    for name in names:
        quantity = model.parameter(name)
        pieces = [
            part.settings[name] if name in part.settings else filled(quantity, model, len(part.labels), study, problems) for part in parts
        ]
        if quantity.kind == "list":
            settings[name] = padded([row for piece in pieces for row in piece])
        else:
            settings[name] = np.concatenate(pieces)
    return settings


def filled(quantity: Quantity, model: Model, count: int, study: Mapping[str, Any], problems: list[Problem]) -> np.ndarray:
    """The value of the study for a setting that some runs omit, repeated `count` times."""
    name, time = quantity.name, study.get("time", {})
    given = study.get("parameters", {}).get(name, time.get(name))
    window = time.get("window")
    if name in ("window_start", "window_end") and isinstance(window, list) and len(window) == 2:
        given = window[name == "window_end"]
    if given is None and name == "window_end":
        return filled(model.parameter("end"), model, count, study, problems)
    if given is None and quantity.default is None:
        message = f"some tests or traces give it and others do not, and its default follows from other parameters: {quantity.default_rule}"
        problems.append(Problem(f"parameters.{name}", message))
        return np.full(count, math.nan)
    value = quantity.default if given is None else read_value(quantity, f"parameters.{name}", given, [])
    return np.array([np.asarray(value, dtype=float)] * count)


def tests_of(parts: Sequence[SourceRuns]) -> np.ndarray:
    """(runs,) number of the test to which each run belongs."""
    found: list[np.ndarray] = []
    for part in parts:
        first = 0 if not found else int(found[-1][-1]) + 1
        found.append(np.full(len(part.labels), first) if np.isfinite(part.times).any() else first + np.arange(len(part.labels)))
    return np.concatenate(found)


def designs_of(parts: Sequence[SourceRuns], model: Model) -> list[dict[str, list[Any]]]:
    """The parts of a design: one point for each test, and one for the last sample of each trace."""
    designs = []
    for part in parts:
        rows = [int(np.argmax(part.times))] if np.isfinite(part.times).any() else range(len(part.labels))
        axes = {name: [written(model.parameter(name), values[row]) for row in rows] for name, values in part.settings.items()}
        designs.append(axes)
    return designs
