"""`tribosweep calibrate`: its options and its output."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tribosweep.sweep.api import default_directory
from tribosweep.sweep.cli.arguments import AsJson, Settings, StudyFile
from tribosweep.sweep.cli.shared import FAILED_ROWS, interruptible
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, progress, say, say_notes
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.printed import short

if TYPE_CHECKING:
    import numpy as np

    from tribosweep.sweep.analysis.calibration.posterior.draws import Draws
    from tribosweep.sweep.analysis.calibration.results import CalibrationResult
    from tribosweep.sweep.analysis.calibration.uncertainty import FitUncertainty


class Method(StrEnum):
    """How a posterior is sampled."""

    nuts = "nuts"
    smc = "smc"


OF_DRAWS = ("--traces", "--pairs")  # pictures
FEW = 10  # number of optima that are listed
NOT_IDENTIFIABLE = "not identifiable"  # of a parameter that the data do not determine
NO_INTERVAL = "no interval"  # of one that they determine, where nothing is left to estimate their scatter


def print_result(result: CalibrationResult) -> None:
    """Print the tables of a result on stdout."""
    from tribosweep.sweep.analysis.calibration.fitting import OPTIMAL

    data, known, best = result.calibration.data, result.known[0], result.optima[0]
    counts = result.counts()
    ended = sum(counts[word] for word in OPTIMAL)
    runs = "runs" if len(data.runs) != 1 else "run"
    settled = sum(each.outcome in OPTIMAL for each in result.optima)
    emit(
        f"{data.count} numbers from {len(data.runs)} {runs}; {ended} of {len(result.fits.outcome)} fits converged, to "
        f"{settled} {'optimum' if settled == 1 else 'optima'}; chi^2 = {best.chi2:.4g}, "
        f"{known.freedom:.4g} degrees of freedom"
    )
    emit("")
    print_parameters(result)
    if len(result.optima) > 1:
        emit("")
        header = ["optimum", "fits", "outcome", "chi^2", *result.space.names]
        rows = [
            [str(i), str(len(each.lanes)), each.outcome, short(each.chi2), *optimum_cells(result.space.values(each.coordinates), own)]
            for i, (each, own) in enumerate(zip(result.optima[:FEW], result.known, strict=False))
        ]
        print_table("Optima", header, rows, right=header)
    if known.identifiable.sum() > 1:
        emit("")
        names = [name for name, told in zip(result.space.names, known.identifiable, strict=True) if told]
        inner = known.correlation[known.identifiable][:, known.identifiable]
        rows = [[name, *(f"{value:+.2f}" for value in row)] for name, row in zip(names, inner, strict=True)]
        print_table("Correlations", ["", *names], rows, right=names)


def optimum_cells(values: np.ndarray, known: FitUncertainty) -> list[str]:
    """The values of one optimum, as text. What the data do not determine there ends wherever its fit left it, and has no value."""
    return [short(value) if stands else NOT_IDENTIFIABLE for value, stands in zip(values, ~known.unseen | known.bound, strict=True)]


def print_parameters(result: CalibrationResult) -> None:
    """Print one row per parameter: its value and its uncertainty."""
    from tribosweep.sweep.analysis.calibration.results import records

    level = f"{100.0 * result.calibration.confidence:g} %"
    header = ["parameter", "unit", "value", "+-", f"from ({level})", "to"]
    profiled = {profile.name: profile for profile in result.profiles}
    if profiled:
        header += ["profile from", "to "]
    rows = []
    known = result.known[0]
    for place, row in enumerate(records(result)[: len(result.space.names)]):
        missing = NO_INTERVAL if math.isnan(known.scale) and not known.unseen[place] else NOT_IDENTIFIABLE
        spread = short(row["std"], 2) if row["told"] else "on a bound" if row["on_bound"] else missing
        cells = [row["parameter"], row["unit"] if row["unit"] != "1" else "", f"{row['value']:.8g}"]
        cells += [spread, *(short(row[key], 7) for key in ("low", "high"))]
        if profiled:
            profile = profiled.get(row["parameter"])
            cells += ["", ""] if profile is None else [short(profile.low, 7), short(profile.high, 7)]
        rows.append(cells)
    print_table("", header, rows, right=header[2:])


def print_as_json(result: CalibrationResult, directory: Path, files: Sequence[Path]) -> None:
    """Print the whole result as one JSON value on stdout."""
    from tribosweep.sweep.analysis.calibration.results import facts, records

    posterior = {} if result.posterior is None else {"posterior": result.posterior.facts}
    print_json(
        {"directory": str(directory), **facts(result), "calibration": records(result), **posterior, "files": [str(file) for file in files]}
    )


def check_pictures(posterior: Method | None, pictures: Mapping[str, Path | None]) -> None:
    """Raise ConfigError if a picture has an unknown suffix, or one of draws is wanted without draws; `pictures` are by their options."""
    from tribosweep.sweep.results.picture import is_picture

    for option, path in pictures.items():
        if is_picture(path, option=option) and posterior is None and option in OF_DRAWS:
            raise ConfigError("tribosweep calibrate", [Problem(option, "shows draws of a posterior: add --posterior nuts")])


def check_packages(method: Method) -> None:
    """Refuse a posterior of which a package is missing."""
    from tribosweep.sweep.analysis.calibration.posterior.analysis import check_packages

    check_packages(method.value)


def sampled(result: CalibrationResult, method: Method, directory: Path) -> CalibrationResult:
    """The result with draws of the posterior; what goes on is kept in the directory until it ends."""
    from tribosweep.sweep.analysis.calibration.posterior.analysis import answers_for, sample, stage_files

    files = stage_files(result, directory) if method is Method.smc else None
    answers = answers_for(result, directory) if method is Method.nuts else None
    if answers is not None and answers.there:
        say(f"Sampling goes on with the densities of {counted(answers.there, 'point')} in {directory}.")
    if files is not None and (there := files.stages_there()):
        say(f"Sampling goes on after {counted(there, 'stage')} in {directory}.")

    def going_on() -> str:
        if answers is not None:
            return answers.going_on("densities")
        goes_on = "goes on after the last stage" if files and files.stages_there() else "begins anew"
        return f"The same command {goes_on}, with the same numbers."

    with interruptible(going_on), progress("draws" if method is Method.nuts else "hundredths") as update:
        return replace(result, posterior=sample(result, method.value, update, directory, answers))


def draw_posterior(result: CalibrationResult, traces: Path | None, pairs: Path | None) -> None:
    """Draw the pictures of a posterior that are wanted."""
    from tribosweep.sweep.plots.posterior import draw_pairs, draw_traces

    if result.posterior is None:
        return
    if traces is not None:
        draw_traces(result.posterior, traces)
    if pairs is not None:
        draw_pairs(result.posterior, pairs)


def print_posterior(draws: Draws) -> None:
    """Print the summary of draws, one row per sampled number, and its prior."""
    from tribosweep.sweep.analysis.calibration.posterior.analysis import METHODS

    facts = draws.facts
    emit("")
    what = f"{facts['chains']} chains of {facts['draws']:,} draws, {METHODS[facts['method']]}"
    more = f"; {facts['divergences']:,} divergences" if "divergences" in facts else ""
    if "log_evidence" in facts:
        error = facts["log_evidence_std"]
        more += f"; ln evidence = {facts['log_evidence']:.4g}{f' +- {error:.2g}' if error is not None else ''}"
    emit(f"posterior: {what}{more}")
    level = f"{100.0 * facts['confidence']:g} %"
    header = ["parameter", "unit", "mean", "+-", "median", f"from ({level})", "to", "R-hat", "bulk", "tail"]
    rows = []
    for row in facts["summary"]:
        cells = [row["parameter"], row["unit"] if row["unit"] != "1" else "", f"{row['mean']:.8g}", short(row["std"], 2)]
        cells += [short(row[key], 7) for key in ("median", "low", "high")]
        cells += [
            f"{row['rhat']:.3f}" if row["rhat"] is not None else "-",
            *(f"{row[key] or 0.0:,.0f}" for key in ("ess_bulk", "ess_tail")),
        ]
        rows.append(cells)
    print_table("", header, rows, right=header[2:])
    if "stages" in facts:
        emit("")
        print_stages(facts["stages"])
    emit("")
    print_table("Priors", ["parameter", "prior"], [[row["parameter"], row["prior"]] for row in facts["summary"]])


def print_stages(stages: Sequence[Mapping[str, Any]]) -> None:
    """Print one row per chain of SMC."""
    header = ["chain", "stages", "sweeps", "accepted", "least effective", "different", "ancestors", "ln evidence"]
    rows = []
    for chain in dict.fromkeys(each["chain"] for each in stages):
        mine = [each for each in stages if each["chain"] == chain]
        accepted = [100.0 * each["acceptance"] for each in mine]
        rows.append([
            str(chain), str(len(mine)), str(sum(each["sweeps"] for each in mine)), f"{min(accepted):.0f} to {max(accepted):.0f} %",
            f"{min(each['ess'] for each in mine):,.0f}", f"{mine[-1]['unique']:,}", f"{mine[-1]['ancestors']:,}",
            f"{mine[-1]['log_evidence']:.4g}",
        ])  # fmt: skip
    print_table("Stages", header, rows, right=header)


def calibrate(
    config: StudyFile,
    out: Annotated[Path | None, typer.Option(help="Directory of the result; default runs/<study name>.")] = None,
    profile: Annotated[
        list[str] | None, typer.Option(help="Parameter whose profile likelihood is wanted, or all. Can be repeated.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Picture of measured over fitted values with residuals: .png, .svg or .pdf.")] = None,
    landscape: Annotated[
        Path | None, typer.Option(help="Picture of the loss over two parameters, around the three best optima: .png, .svg or .pdf.")
    ] = None,
    over: Annotated[list[str] | None, typer.Option("--slice", help="The parameters of the slice, given twice.")] = None,
    posterior: Annotated[
        Method | None,
        typer.Option(help="Draw samples of the posterior too: nuts follows derivatives; smc needs none, where observables jump."),
    ] = None,
    traces: Annotated[Path | None, typer.Option(help="With --posterior: picture of the chains: .png, .svg or .pdf.")] = None,
    pairs: Annotated[Path | None, typer.Option(help="With --posterior: picture of every two parameters: .png, .svg or .pdf.")] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Fit parameters to measurements, and report their uncertainty."""
    from tribosweep.sweep.analysis.calibration import analysis, load, results
    from tribosweep.sweep.execution.directory import CALIBRATED, hold_apart
    from tribosweep.sweep.plots.calibration import draw_fit, draw_landscapes

    check_pictures(posterior, {"--picture": picture, "--landscape": landscape, "--traces": traces, "--pairs": pairs})
    found = load.load(config, settings or [])
    names = found.space.names if profile == ["all"] else tuple(profile or ())
    request = results.CalibrationRequest(profiles=names, slice=tuple(over or ()), landscape=landscape is not None)
    directory = out if out is not None else default_directory(found.config)
    analysis.check(request, found)
    if posterior is not None:
        check_packages(posterior)
    with hold_apart(directory, CALIBRATED):
        with progress("fits") as update:
            result = analysis.carry_out(found, request, update)
        if posterior is not None:
            result = sampled(result, posterior, directory)
        files = results.write(result, directory)
    if picture is not None:
        draw_fit(result, picture)
    if landscape is not None:
        draw_landscapes(result, landscape)
    draw_posterior(result, traces, pairs)
    if as_json:
        print_as_json(result, directory, files)
    else:
        print_result(result)
        if result.posterior is not None:
            print_posterior(result.posterior)
    notes = [] if result.posterior is None else result.posterior.facts["notes"]
    say_notes([*result.notes, *notes], [*files, picture, landscape, traces, pairs])
    if not result.converged:
        raise typer.Exit(FAILED_ROWS)
