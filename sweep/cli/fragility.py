"""`tribosweep fragility`: its options and its output."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tribosweep.sweep.cli.arguments import AsJson, At, RunFolder
from tribosweep.sweep.cli.shared import FAILED_ROWS
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say_notes, short

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.fragility.analysis import Curve, FragilityResult


class Method(StrEnum):
    """How curves are fitted."""

    stripes = "stripes"
    cloud = "cloud"
    incremental = "incremental"


class Interval(StrEnum):
    """How intervals are found."""

    profile = "profile"
    delta = "delta"
    bootstrap = "bootstrap"


def fragility(
    directory: RunFolder,
    event: Annotated[str, typer.Option(help="What may happen: buckled=1, 'peak_force > 5 kN', 'wear_depth > 2 mm', wall_regime=plateau.")],
    intensity: Annotated[
        str,
        typer.Option(
            help="Parameter that the run varies, such as a0; an observable; or of records and draws pga, pgv, arias, cav, sa_0.5s (with "
            "2 % of damping sa_0.5s_2%), of a channel pga[0]."
        ),
    ],
    over: Annotated[
        list[str] | None,
        typer.Option(help="Parameter whose values are random; default draw and record. Rows that share them all are drawn together."),
    ] = None,
    by: Annotated[str | None, typer.Option(help="Parameter each of whose values has a curve of its own.")] = None,
    at: At = None,
    method: Annotated[
        Method,
        typer.Option(
            help="stripes: maximum likelihood of rows with and without the event; cloud: line through ln(demand) over ln(intensity); "
            "incremental: the intensity at which the event first happens to each record or draw."
        ),
    ] = Method.stripes,
    interval: Annotated[
        Interval | None,
        typer.Option(help="Intervals; default bootstrap if rows share a record or a draw, else profile likelihood (of a cloud delta)."),
    ] = None,
    capacity_beta: Annotated[
        float, typer.Option("--capacity-beta", help="With --method cloud: logarithmic standard deviation of the limit itself.")
    ] = 0.0,
    confidence: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    resamples: Annotated[int, typer.Option(help="Number of bootstrap samples.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap samples.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fit how the chance of an event grows with an intensity: a lognormal curve, and counted chances, with their intervals."""
    from tribosweep.sweep.analysis.fragility import analysis, results
    from tribosweep.sweep.plots.figure import check_suffix
    from tribosweep.sweep.plots.fragility import draw

    if out is not None:
        check_suffix(out)
    request = analysis.FragilityRequest(
        event=event, intensity=intensity, over=tuple(over or ()), by=by, at=tuple(at or ()), method=method.value,
        interval=interval.value if interval else None, capacity_beta=capacity_beta, confidence=confidence, resamples=resamples, seed=seed,
    )  # fmt: skip
    found = analysis.analyse(directory, request)
    if out is not None:
        draw(found, out)
    files = results.write(found, directory)
    if as_json:
        print_json({"directory": str(directory), **results.facts(found), "files": [str(file) for file in files]})
    else:
        print_fits(found)
        for curve in found.curves:
            print_points(found, curve)
    say_notes(found.notes, [*files, out])
    if found.failed or not found.fitted:
        raise typer.Exit(FAILED_ROWS)


def print_fits(found: FragilityResult) -> None:
    """Print theta and beta of all curves with their intervals."""
    from tribosweep.sweep.analysis.fragility.analysis import METHODS
    from tribosweep.sweep.analysis.fragility.results import FITS, records

    unit = found.rows.intensity.unit_suffix.strip()
    level = f"{100.0 * found.request.confidence:g} %"
    over = f"{found.rows.intensity.name}{f' [{unit}]' if unit else ''}"
    emit(f"chance of {found.rows.event} over {over}: {METHODS[found.request.method]}")
    header = ["curve", "rows", "events", *filter(None, ["groups" * bool(found.rows.over)]), "theta", f"from ({level})", "to", "beta",
              f"from ({level}) ", "to ", "interval"]  # fmt: skip
    rows = []
    for row in records(found, FITS):
        cells = [row["by"], f"{row['rows']:,}", f"{row['events']:,}", *([f"{row['groups']:,}"] if found.rows.over else [])]
        cells += [short_end(row[name]) for name in ("theta", "theta_low", "theta_high", "beta", "beta_low", "beta_high")]
        rows.append([*cells, row["interval"] if row["theta"] is not None else "-"])
    if not found.request.by:
        header, rows = header[1:], [cells[1:] for cells in rows]
    print_table("", header, rows, right=header[1 if found.request.by else 0 : -1])
    emit("")


def short_end(value: float | None) -> str:
    """A number with few digits; "inf" where the data give no end."""
    return "inf" if value is not None and value > 1e300 else short(value)


def print_points(found: FragilityResult, curve: Curve) -> None:
    """Print the counted chances of a curve beside those of its fit."""
    from tribosweep.sweep.analysis.fragility.results import name_of, points_of

    level = f"{100.0 * found.request.confidence:g} %"
    binned = bool((curve.points.stop > curve.points.start).any())
    header = [found.rows.intensity.name, *(["bin from", "bin to"] if binned else []), "rows", "events", "share", f"from ({level})", "to",
              "lognormal"]  # fmt: skip
    names = ["intensity", *(["start", "stop"] if binned else []), "rows", "events", "share", "low", "high", "chance"]
    rows = [[f"{row[n]:,}" if isinstance(row[n], int) else short(row[n], 4) for n in names] for row in points_of(curve)]
    print_table(name_of(curve), header, rows, right=header)
