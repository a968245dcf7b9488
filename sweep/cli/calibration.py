"""`tribosweep calibrate`: its options and its output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.api import default_directory
from sweep.cli.arguments import AsJson, Settings, StudyFile
from sweep.cli.shared import FAILED_ROWS
from sweep.cli.terminal import emit, print_json, print_table, progress, say_notes, short

if TYPE_CHECKING:
    from sweep.analysis.calibration.results import CalibrationResult

FEW = 10  # number of optima that are listed


def print_result(result: CalibrationResult) -> None:
    """Print the tables of a result on stdout."""
    data, known, best = result.calibration.data, result.known[0], result.optima[0]
    counts = result.counts()
    runs = "runs" if len(data.runs) != 1 else "run"
    emit(
        f"{data.count} numbers from {len(data.runs)} {runs}; {counts['converged']} of {len(result.fits.outcome)} fits converged, to "
        f"{len(result.optima)} {'optimum' if len(result.optima) == 1 else 'optima'}; chi^2 = {best.chi2:.4g}, "
        f"{known.freedom} degrees of freedom"
    )
    emit("")
    print_parameters(result)
    if len(result.optima) > 1:
        emit("")
        header = ["optimum", "fits", "chi^2", *result.space.names]
        rows = [[str(i), str(len(each.lanes)), short(each.chi2), *(short(value) for value in result.space.values(each.coordinates))]
                for i, each in enumerate(result.optima[:FEW])]  # fmt: skip
        print_table("Optima", header, rows, right=header)
    if known.told.sum() > 1:
        emit("")
        names = [name for name, told in zip(result.space.names, known.told, strict=True) if told]
        inner = known.correlation[known.told][:, known.told]
        rows = [[name, *(f"{value:+.2f}" for value in row)] for name, row in zip(names, inner, strict=True)]
        print_table("Correlations", ["", *names], rows, right=names)


def print_parameters(result: CalibrationResult) -> None:
    """Print one row per parameter: its value and its uncertainty."""
    from sweep.analysis.calibration.results import records

    level = f"{100.0 * result.calibration.confidence:g} %"
    header = ["parameter", "unit", "value", "+-", f"from ({level})", "to"]
    profiled = {profile.name: profile for profile in result.profiles}
    if profiled:
        header += ["profile from", "to "]
    rows = []
    for row in records(result)[: len(result.space.names)]:
        told = "on a bound" if row["on_bound"] else "not told"
        cells = [row["parameter"], row["unit"] if row["unit"] != "1" else "", f"{row['value']:.8g}"]
        cells += [short(row["std"], 2) if row["told"] else told, *(short(row[key], 7) for key in ("low", "high"))]
        if profiled:
            profile = profiled.get(row["parameter"])
            cells += ["", ""] if profile is None else [short(profile.low, 7), short(profile.high, 7)]
        rows.append(cells)
    print_table("", header, rows, right=header[2:])


def print_as_json(result: CalibrationResult, directory: Path, files: Sequence[Path]) -> None:
    """Print the whole result as one JSON value on stdout."""
    from sweep.analysis.calibration.results import facts, records

    print_json({"directory": str(directory), **facts(result), "calibration": records(result), "files": [str(file) for file in files]})


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
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Fit parameters to measurements, and report their uncertainty."""
    from sweep.analysis.calibration import analysis, load, results
    from sweep.plots.calibration import draw_fit, draw_landscapes

    found = load.load(config, settings or [])
    names = found.space.names if profile == ["all"] else tuple(profile or ())
    request = results.CalibrationRequest(profiles=names, slice=tuple(over or ()), landscape=landscape is not None)
    directory = out if out is not None else default_directory(found.config)
    analysis.check(request, found)
    results.check_directory(directory)
    with progress("fits") as update:
        result = analysis.carry_out(found, request, update)
    files = results.write(result, directory)
    if picture is not None:
        draw_fit(result, picture)
    if landscape is not None:
        draw_landscapes(result, landscape)
    if as_json:
        print_as_json(result, directory, files)
    else:
        print_result(result)
    say_notes(result.notes, [*files, picture, landscape])
    if not result.converged:
        raise typer.Exit(FAILED_ROWS)
