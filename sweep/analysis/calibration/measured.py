"""Reading the measured data of a calibration: columns with standard deviations and weights; tests, traces and loops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.loops import check_loop
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.schemes import EXACT, STEADY
from tribosweep.sweep.analysis.calibration.data import Histories, ImposedPaths, Measurements
from tribosweep.sweep.analysis.calibration.sheet import (
    Sheet,
    check_columns,
    read_labels,
    read_measured,
    read_positive,
    read_setting,
    read_sheet,
)
from tribosweep.sweep.analysis.calibration.sources import ON_PATH, Compared, Source, in_time
from tribosweep.sweep.io.errors import Findings, Problem, advise, first_of
from tribosweep.sweep.io.tables import MOST_NUMBERS
from tribosweep.sweep.io.values import padded, read_value, written
from tribosweep.sweep.study.calibration import TIME_COLUMN
from tribosweep.sweep.study.document import belongs
from tribosweep.sweep.study.schema import TIME_KEYS


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
            Problem(compared.path, f"{sheet.file} has no column {name!r}; {advise(name, list(sheet.columns))}") for name in missing
        ]
        if missing:
            return
        quantity = compared.observable
        measured = np.where(keep, read_measured(sheet, compared.column, quantity, problems), math.nan)
        sd: Any = compared.sd
        own = f"{compared.column}_sd"
        if sd is None and compared.relative is None and own in sheet.columns:
            sd = own
        if isinstance(sd, str):
            if compared.column in sheet.units and sd not in sheet.units:
                message = f"its header states no unit, and that of {compared.column} says {sheet.units[compared.column]}: state it here too"
                problems.append(Problem(sheet.place(sd), message))
            spread = read_positive(sheet, sd, quantity, "sd", measured, problems)
        elif compared.relative is not None:
            spread = compared.relative * np.abs(measured)
            found = Findings()
            message = "0, whose relative standard deviation is 0: give sd as a number or a column"
            found.add_all(np.flatnonzero(spread == 0.0).tolist(), lambda row: Problem(sheet.place(compared.column, row), message))
            found.report(sheet.place(compared.column), problems)
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
        rows = np.flatnonzero(np.isfinite(measured))
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
        path: of a loop, its displacement [m] and its times [s], (L,) each, and the position of its first measured sample; else None.
        timed: whether the times of a loop are those of its file.
    """

    settings: dict[str, np.ndarray]
    labels: list[str]
    times: np.ndarray
    path: tuple[np.ndarray, np.ndarray, int] | None = None
    timed: bool = False

    @property
    def one_test(self) -> bool:
        """Whether its runs are the samples of one test."""
        return self.path is not None or bool(np.isfinite(self.times).any())


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
    stepped = model.structure is not None or study.get("study", {}).get("scheme") not in (None, EXACT)
    skipped = runs = 0
    for source in sources:
        named = {column for each in source.compared for column in each.columns}
        sheet = read_sheet(source.file, source.path, problems, named)
        if sheet is None:
            continue
        # columns of observables that are not compared are ignored
        loop = source.displacement is not None
        measurable = [*in_time(model)] if source.traced else [*ON_PATH] if loop else [quantity.name for quantity in model.observables]
        known = {name for each in source.compared for name in (*each.columns, f"{each.column}_sd")}
        known |= {name for each in measurable for name in (each, f"{each}_sd")}
        if source.traced:
            part, keep = read_trace(source, sheet, model, free, known, stepped, problems)
            if stepped and all(each.traced for each in sources):
                check_end(sheet, part.times, np.flatnonzero(keep), source.time, model, study, problems)
        elif loop:
            part = read_loop(source, sheet, model, free, known, study, problems)
            keep = np.ones(sheet.count, dtype=bool)
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
    if len(problems) > before or len({part.path is None for part in parts}) > 1:  # `read_sources` has reported a mixture
        return None
    if too_large := padding_of(parts, stepped):
        problems.append(Problem(sources[0].path, too_large))
        return None
    settings = joined(parts, model, study, problems)
    names = dict.fromkeys(rows.name)
    observables = {**by_name(model.observables), **in_time(model), **(ON_PATH if parts[0].path is not None else {})}
    if len({part.timed for part in parts if part.path is not None}) > 1:
        problems.append(Problem("calibration.loops", f"some files have a column {TIME_COLUMN!r} and others do not: all of them, or none"))
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
        paths=paths_of(parts),
        histories=histories_of(parts) if stepped and any(source.traced for source in sources) else None,
    )
    return (data, designs_of(parts, model)) if len(problems) == before else None


def read_tests(sheet: Sheet, model: Model, free: set[str], known: set[str], problems: list[Problem]) -> SourceRuns:
    """The runs of a file of tests; its columns that are parameters are the settings."""
    quantities = by_name(model.parameters)
    check_columns(sheet, [*quantities, *sorted(known)], problems)
    names = [name for name in sheet.columns if name in quantities and name not in known]
    problems += [Problem(sheet.place(name), "is free: a setting of the tests is known") for name in names if name in free]
    read = {name: read_setting(sheet, quantities[name], problems) for name in names if name not in free}
    settings = {name: each for name, each in read.items() if each is not None}
    return SourceRuns(settings, read_labels(sheet, problems), np.full(sheet.count, math.nan))


def read_trace(
    source: Source, sheet: Sheet, model: Model, free: set[str], known: set[str], stepped: bool, problems: list[Problem]
) -> tuple[SourceRuns, np.ndarray]:
    """The runs of a trace, one per sample, and the positions of these samples; samples at t = 0 are skipped.

    Each run of the exact engine ends at its sample; those of a time scheme (`stepped`) share the run that ends at the last sample.
    """
    check_columns(sheet, [source.time, *sorted(known)], problems)
    path = source.path.removesuffix(".file")
    times = np.zeros(sheet.count)
    if source.time not in sheet.columns:
        problems.append(Problem(sheet.label, without_time(source, sheet, path)))
    else:
        before, found = len(problems), Findings()
        times = read_measured(sheet, source.time, Quantity(source.time, "s", "time of a sample"), problems)
        wrong = np.flatnonzero(~(times >= 0.0)).tolist() if len(problems) == before else []
        message = "a sample has a time >= 0 (unit s)"
        found.add_all(wrong, lambda row: Problem(sheet.place(source.time, row), f"{float(times[row])!r}: {message}"))
        found.report(sheet.place(source.time), problems)
    keep = times > 0.0
    settings = settings_of(source, path, model, free, int(keep.sum()), problems)
    kept = times[keep]
    ends = kept if not stepped else np.full(len(kept), np.max(kept, initial=0.0))
    settings |= {"end": ends, "window_start": np.zeros(len(kept)), "window_end": ends}
    return SourceRuns(settings, [f"{source.file.name}, {time:g} s" for time in kept], kept), keep


def without_time(source: Source, sheet: Sheet, path: str) -> str:
    """What is said of a file without its column of the time."""
    return f'has no column {source.time!r} [s]; {advise(source.time, list(sheet.columns))}; {path}.time = "..." says what it is called'


def check_end(
    sheet: Sheet, times: np.ndarray, rows: np.ndarray, column: str, model: Model, study: Mapping[str, Any], problems: list[Problem]
) -> None:
    """Add a problem for each sample after the end of the run, if the study gives that.

    `times` are those of the `rows` of the sheet, from its `column`.
    """
    given, said = study.get("time", {}).get("end"), list[Problem]()
    if given is None:
        return
    end, found = read_value(model.parameter("end"), "time.end", given, said), Findings()
    if not said:
        message = f"s is after the end of the run, time.end = {float(end):g} s: leave time.end out, and the run ends at its last sample"
        late = np.flatnonzero(times > float(end)).tolist()
        found.add_all(late, lambda place: Problem(sheet.place(column, int(rows[place])), f"{float(times[place])!r} {message}"))
        found.report(sheet.place(column), problems, "samples")


def settings_of(source: Source, path: str, model: Model, free: set[str], count: int, problems: list[Problem]) -> dict[str, np.ndarray]:
    """The settings of a trace or a loop, repeated for each of its `count` samples."""
    settings, quantities = {}, by_name(model.parameters)
    unknown = [name for name in source.settings if name not in quantities]
    place = f"{path}.settings"
    problems += first_of(unknown, lambda name: Problem(f"{place}.{name}", belongs(name, model)), place, "keys")
    for name, value in source.settings.items():
        where = f"{place}.{name}"
        if name not in quantities:
            continue
        if name in free:
            problems.append(Problem(where, "is free: a setting of a trace or a loop is known"))
        elif name in TIME_KEYS:
            problems.append(Problem(where, "a trace or a loop has times of its own: leave it out"))
        else:
            given = np.asarray(read_value(quantities[name], where, value, problems), float)
            if given.size * count > MOST_NUMBERS:
                problems.append(Problem(where, f"{given.size:,} nodes for {count:,} samples: at most {MOST_NUMBERS:,} in their product"))
                continue
            settings[name] = np.broadcast_to(given, (count, *given.shape)).copy()
    return settings


def read_loop(
    source: Source, sheet: Sheet, model: Model, free: set[str], known: set[str], study: Mapping[str, Any], problems: list[Problem]
) -> SourceRuns:
    """The runs of a loop of an imposed displacement, one per sample, in the order of the samples."""
    path, column = source.path.removesuffix(".file"), str(source.displacement)
    check_columns(sheet, [column, source.time, *sorted(known)], problems)
    timed, found, before = source.time in sheet.columns, Findings(), len(problems)
    x, times = np.zeros(sheet.count), np.arange(float(sheet.count))
    if column not in sheet.columns:
        found.add(f"{path}.displacement", f"{source.file.name} has no column {column!r} [m]; {advise(column, list(sheet.columns))}")
    else:
        x = read_measured(sheet, column, Quantity(column, "m", "imposed displacement"), problems)
        gaps = np.flatnonzero(~np.isfinite(x)).tolist() if len(problems) == before else []
        found.add_all(gaps, lambda row: Problem(sheet.place(column, row), "missing: every sample of a loop has a displacement"))
    if not timed and source.time != TIME_COLUMN:
        problems.append(Problem(sheet.label, without_time(source, sheet, path)))
    if timed:
        told = len(problems)
        times = read_measured(sheet, source.time, Quantity(source.time, "s", "time of a sample"), problems)
        late = np.flatnonzero(~(np.diff(times) > 0.0)).tolist() if len(problems) == told else []
        message = "the times of a loop ascend from sample to sample"
        found.add_all(late, lambda row: Problem(sheet.place(source.time, row + 1), message))
    if sheet.count < 2:
        found.add(sheet.label, f"has {sheet.count} samples: a loop has two at least")
    found.report(sheet.place(column), problems)
    settings = settings_of(source, path, model, free, sheet.count, problems)
    stated = {**study.get("parameters", {}), **source.settings}
    given = {*stated, *settings, *free}
    rubbing = {q.name: read_value(q, q.name, stated[q.name], []) for q in model.parameters if q.name in ("mu", "mu_s") and q.name in stated}
    friction = model.resolve(rubbing)  # what is wrong with these is said where the study is checked
    rubs = not free.isdisjoint(("mu", "mu_s")) or bool(np.any(np.asarray(friction["mu_s"]) > 0.0))
    if why := check_loop(given, timed, rubs):
        problems.append(Problem(f"parameters.{why[0]}", why[1]))
    first = 0
    if source.steady and len(problems) == before:
        step = times[-1] - times[-2]
        x, times, first = np.concatenate([x, x]), np.concatenate([times, times + times[-1] - times[0] + step]), sheet.count
    labels = [f"{source.file.name}, sample {sample + 1}" for sample in range(sheet.count)]
    return SourceRuns(settings, labels, np.full(sheet.count, math.nan), (x, times, first), timed)


def padding_of(parts: Sequence[SourceRuns], stepped: bool) -> str:
    """Why the runs do not fit into memory, where each is as long as the longest; empty if they do."""
    runs = sum(len(part.labels) for part in parts)
    tests = sum(1 if part.one_test else len(part.labels) for part in parts)
    samples = max(len(part.labels) if part.one_test and stepped else 1 for part in parts)
    path = max(len(part.path[0]) if part.path is not None else 1 for part in parts)
    nodes = max([1, *(values.shape[-1] for part in parts for values in part.settings.values() if values.ndim > 1)])
    of_all = (runs, "samples of loops", path, "samples"), (tests, "tests or traces", samples, "samples"), (runs, "runs", nodes, "nodes")
    for rows, what, width, each in of_all:
        if rows * width > MOST_NUMBERS:
            return f"{rows:,} {what}, each of up to {width:,} {each}: at most {MOST_NUMBERS:,} in their product"
    return ""


def paths_of(parts: Sequence[SourceRuns]) -> ImposedPaths | None:
    """The paths of all samples of loops; None where the runs are no loops."""
    if parts[0].path is None:
        return None
    longest = max(len(part.path[0]) for part in parts if part.path is not None)
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for part in parts:
        x, times, first = part.path or (np.zeros(2), np.zeros(2), 0)
        both = (np.pad(each, (0, longest - len(each)), mode="edge") for each in (x, times))
        rows.append((*(np.tile(each, (len(part.labels), 1)) for each in both), first + np.arange(len(part.labels))))  # type: ignore[arg-type]
    x, times, at = (np.concatenate(each) for each in zip(*rows, strict=True))
    return ImposedPaths(x, times, at, parts[0].timed)


def histories_of(parts: Sequence[SourceRuns]) -> Histories:
    """The times of all traces, and the place of each run among those of its trace."""
    rows, at = [], []
    for part in parts:
        if part.one_test:
            order = np.argsort(part.times, kind="stable")
            rows.append(part.times[order])
            at.append(np.argsort(order))
        else:
            rows += [np.zeros(1)] * len(part.labels)
            at.append(np.zeros(len(part.labels), dtype=int))
    longest = max(map(len, rows))
    return Histories(np.array([np.pad(row, (0, longest - len(row)), mode="edge") for row in rows]), np.concatenate(at))


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
        found.append(np.full(len(part.labels), first) if part.one_test else first + np.arange(len(part.labels)))
    return np.concatenate(found)


def designs_of(parts: Sequence[SourceRuns], model: Model) -> list[dict[str, list[Any]]]:
    """The parts of a design: one point for each test, and one for the last sample of each trace or loop."""
    designs = []
    for part in parts:
        rows = range(len(part.labels)) if not part.one_test else [-1] if part.path is not None else [int(np.argmax(part.times))]
        axes = {name: [written(model.parameter(name), values[row]) for row in rows] for name, values in part.settings.items()}
        designs.append(axes)
    return designs
