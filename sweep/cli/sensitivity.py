"""`tribosweep sensitivity`: its options and its output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.api import default_directory, load_run
from tribosweep.sweep.cli.arguments import AsJson, Settings, StudyOrRun
from tribosweep.sweep.cli.runs import ExecutorName, ExecutorOptions, compute
from tribosweep.sweep.cli.shared import FAILED_ROWS
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, progress, say, say_notes
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.printed import short
from tribosweep.sweep.study.comparison import limit_in
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.load import load

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.sensitivity.results import Line, SensitivityResult
    from tribosweep.sweep.study.event import Event

Tell = Callable[[str], None]


class Picture(StrEnum):
    """The kinds of pictures."""

    bars = "bars"
    plane = "plane"
    scatter = "scatter"
    sizes = "sizes"


FIRST, SECOND = ("S1", "ST"), "S2"


def read_target(target: Path, settings: Sequence[str], tell: Tell) -> tuple[Config, Path, bool]:
    """Read the study of a run's directory or TOML file; return it with the directory, and whether it must be run first.

    Raises:
        ConfigError: there is no study, its design does not sample, or `settings` would change an existing run.
    """
    from tribosweep.sweep.analysis.sensitivity.sample import parts_of

    if target.is_dir():
        if settings:
            raise ConfigError("--set", [Problem("", f"changes a study, and {target} is the directory of a run: give its TOML file")])
        study, path = load_run(target, tell), target
    else:
        study = load(target, settings)
        path = default_directory(study)
    parts_of(study)
    return study, path, not target.is_dir()


def read_numbers(option: str, texts: Sequence[str], model: Model) -> list[tuple[str, float]]:
    """Parse the NAME=NUMBER texts of an option, whose numbers of parameters may have a unit."""
    units = {q.name: q.unit for q in model.parameters}
    found, problems = [], []
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        try:
            found.append((name, limit_in(value, units.get(name, ""))))
        except ValueError as error:
            problems.append(Problem("", f"{text!r} must be NAME=NUMBER, such as mu=0.2: {error}"))
    if problems:
        raise ConfigError(option, problems)
    return found


def events_of(study: Config, exceeds: Sequence[str], chances: Sequence[str]) -> tuple[Event, ...]:
    """The events of --exceeds NAME=NUMBER, or NAME=WORD for an observable that is a word, and of --chance."""
    from tribosweep.sweep.study.event import read_events

    words = {quantity.name for quantity in study.model.observables if quantity.kind == "word"}
    above = [text if text.partition("=")[0].strip() in words else text.replace("=", ">", 1) for text in exceeds]
    return (*read_events("--exceeds", above, study.model), *read_events("--chance", chances, study.model))


def print_study(study: SensitivityResult) -> None:
    """Print the tables of a study on stdout."""
    from tribosweep.sweep.analysis.sensitivity.results import DERIVATIVES, INDICES, UNCERTAINTY
    from tribosweep.sweep.study.event import subject_of

    chances = {subject_of(event)[1] for event in study.request.events}
    for quantity in study.quantities:
        own = {which: [line for line in lines if line.observable == quantity.name] for which, lines in study.lines.items()}
        if own[INDICES]:
            print_indices(study, quantity, own[INDICES])
        if spread := [line for line in own[UNCERTAINTY] if line.estimate.measure not in chances]:
            print_uncertainty(study, quantity, spread)
        if own[DERIVATIVES]:
            print_derivatives(quantity, own[DERIVATIVES])
    print_chances(study)


def heading(quantity: Quantity, lines: Sequence[Line], things: str) -> str:
    """The title of a table: the observable, the method, and the kind and number of groups."""
    return f"{quantity.name}: {lines[0].method} from {lines[0].groups:,} {things}"


def print_indices(study: SensitivityResult, quantity: Quantity, lines: Sequence[Line]) -> None:
    """Print one row per parameter with all its indices, then one row per pair of parameters."""
    from tribosweep.sweep.analysis.sensitivity.analysis import group_noun

    what = "points of a curve" if study.sample.method == "fast" else group_noun(study.sample)
    plain = [line for line in lines if not line.estimate.other]
    print_wide(heading(quantity, lines, what), plain)
    emit("")
    pairs = [line.estimate for line in lines if line.estimate.other]
    if pairs:
        rows = [(each.parameter, each.other, each.value, each.half_width) for each in pairs]
        print_table(f"{quantity.name}: second order", ["parameter", "other", SECOND, "+-"], rows, right=[SECOND, "+-"])
        emit("")


def print_wide(title: str, lines: Sequence[Line]) -> None:
    """Print one row per parameter and one column per measure; half the confidence interval follows its measure."""
    measures = list(dict.fromkeys(line.estimate.measure for line in lines))
    cells = {(line.estimate.parameter, line.estimate.measure): line.estimate for line in lines}
    bounded = [measure for measure in measures if any(math.isfinite(e.half_width) for (_, m), e in cells.items() if m == measure)]
    header = ["parameter"]
    for measure in measures:
        header += [measure, f"+- {measure}"] if measure in bounded else [measure]
    rows = []
    for parameter in dict.fromkeys(line.estimate.parameter for line in lines):
        row: list[Any] = [parameter]
        for measure in measures:
            estimate = cells[parameter, measure]
            row.append(short(estimate.value))
            if measure in bounded:
                row.append(short(estimate.half_width, 2))
        rows.append(row)
    emit(title)  # a narrow table would wrap its title
    print_table("", header, rows, right=header[1:])


def print_uncertainty(study: SensitivityResult, quantity: Quantity, lines: Sequence[Line]) -> None:
    """Print mean, spread and quantiles, each with the ends of its interval."""
    unit = f" [{quantity.unit}]" if quantity.unit not in ("", "1") else ""
    level = f"{100.0 * study.request.level:g} %"
    origin = counted(lines[0].groups, "point") + (f" in {len(study.sample.parts)} replicates" if lines[0].method == "replicates" else "")
    origin += ", those where it happened" if study.kept[quantity.name].void else ""
    header = ["number", "estimate", f"from ({level})", "to"]
    rows = [(e.measure, short(e.value, 7), short(e.low, 7), short(e.high, 7)) for e in (line.estimate for line in lines)]
    emit(f"{quantity.name}{unit}: uncertainty from {origin}")
    print_table("", header, rows, right=header[1:])
    emit("")


def print_chances(study: SensitivityResult) -> None:
    """Print the probability of each event with the ends of its interval, and the number of rows that count without a value."""
    from tribosweep.sweep.analysis.sensitivity.results import UNCERTAINTY
    from tribosweep.sweep.study.event import subject_of

    found = {(line.observable, line.estimate.measure): line for line in study.lines[UNCERTAINTY]}
    level = f"{100.0 * study.request.level:g} %"
    rows = []
    for event in study.request.events:
        if line := found.get(subject_of(event)):
            e, void = line.estimate, study.without[str(event)]
            rows.append((str(event), short(e.value, 7), short(e.low, 7), short(e.high, 7), f"{line.groups:,}", f"{void:,}"))
    if rows:
        header = ["event", "probability", f"from ({level})", "to", "rows", "without value"]
        emit("probabilities; where an observable has no value, nothing happened: such a row counts as one without the event")
        print_table("", header, rows, right=header[1:])
        emit("")


def print_derivatives(quantity: Quantity, lines: Sequence[Line]) -> None:
    """Print DGSM with bounds, and elasticities."""
    for method in dict.fromkeys(line.method for line in lines):
        own = [line for line in lines if line.method == method]
        print_wide(f"{quantity.name}: {method}{f', {own[0].groups:,} points' if own[0].groups > 1 else ''}", own)
        emit("")


def print_as_json(study: SensitivityResult, path: Path, files: Sequence[Path]) -> None:
    """Print the whole study as one JSON value on stdout."""
    from tribosweep.sweep.analysis.sensitivity.results import records

    groups = {
        name: {"used": len(kept.groups), "total": kept.total, "missing": kept.missing, "failed": kept.failed, "void": kept.void,
               "elsewhere": kept.elsewhere}
        for name, kept in study.kept.items()
    }  # fmt: skip
    facts = {"directory": str(path), "design": study.sample.method, "rows": len(study.sample.failed), "failed": study.failed}
    tables = {which: records(lines) for which, lines in study.lines.items()}
    print_json({**facts, "groups": groups, **tables, "notes": study.notes, "files": [str(file) for file in files]})


def sensitivity(
    target: StudyOrRun,
    observable: Annotated[list[str] | None, typer.Option(help="Observable to explain. Can be repeated.")] = None,
    regime: Annotated[str | None, typer.Option(help="Use only groups whose rows are all in this regime, such as slip-slip.")] = None,
    exceeds: Annotated[list[str] | None, typer.Option(help="Report the probability to exceed: wear_power=1.0. Can be repeated.")] = None,
    chance: Annotated[
        list[str] | None,
        typer.Option(
            help="Report the probability of an event: buckled, 'impacts>=3', 'wall_regime=plateau and not buckled'. Can be repeated."
        ),
    ] = None,
    quantile: Annotated[list[float] | None, typer.Option(help="Quantile, such as 0.99. Can be repeated; default 0.05, 0.5, 0.95.")] = None,
    derivatives: Annotated[int, typer.Option(help="Number of points of the sample for exact derivatives.")] = 0,
    at: Annotated[list[str] | None, typer.Option(help="Point for elasticities: mu=0.2; default the median. Can be repeated.")] = None,
    confidence: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    resamples: Annotated[int, typer.Option(help="Number of bootstrap samples.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap samples.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf.")] = None,
    picture: Annotated[Picture | None, typer.Option(help="What to draw; default plane for elementary effects, else bars.")] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Report how observables depend on the parameters, and how uncertain they are."""
    from tribosweep.sweep.analysis.sensitivity import analysis, results
    from tribosweep.sweep.plots.sensitivity import default_picture, draw

    if picture is not None and out is None:
        raise ConfigError("--picture", [Problem("", "needs --out, the file to write")])
    study, directory, to_run = read_target(target, settings or [], say)
    request = results.SensitivityRequest(
        observables=tuple(observable or ()), regime=regime, events=events_of(study, exceeds or [], chance or []),
        quantiles=tuple(quantile or results.QUANTILES), derivatives=derivatives, at=dict(read_numbers("--at", at or [], study.model)),
        resamples=resamples, level=confidence, seed=seed, sizes=picture is Picture.sizes,
    )  # fmt: skip
    analysis.check(request, study)
    if to_run:
        compute(study, directory, ExecutorOptions(ExecutorName.local, None, None, None))
    with progress():  # compiling derivatives takes a while
        found = analysis.analyse(directory, study, request)
    files = results.write(found, directory)
    if out is not None:
        draw(found, out, picture or default_picture(found))
    if as_json:
        print_as_json(found, directory, files)
    else:
        print_study(found)
    say_notes(found.notes, [*files, out])
    if found.failed:
        raise typer.Exit(FAILED_ROWS)
