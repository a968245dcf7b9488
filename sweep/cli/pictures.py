"""`tribosweep map`, `report`, `bifurcation` and `convergence`: pictures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.cli.arguments import AreasName, At, RunFolder, SupportName
from sweep.cli.terminal import emit, say
from sweep.io.errors import ConfigError, Problem

if TYPE_CHECKING:
    from sweep.analysis.regime_map import RegimeMap


def draw_map(
    directory: RunFolder,
    x: Annotated[str | None, typer.Option(help="Parameter on the x axis; default the first that the run varies.")] = None,
    y: Annotated[str | None, typer.Option(help="Parameter on the y axis; default the other one.")] = None,
    color: Annotated[
        str | None,
        typer.Option(
            help="Observable that shades regimes, or none; default wear_power, of a structure at its support, or peak_force of a wall."
        ),
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Shade by the logarithm of the observable.")] = False,
    at: At = None,
    areas: AreasName = None,
    support: SupportName = None,
    chance: Annotated[
        str | None, typer.Option(help="Shade by the chance of an event instead: buckled=1, 'impacts>=3', wall_regime=plateau.")
    ] = None,
    over: Annotated[str | None, typer.Option(help="With --chance: the parameter over which it is taken, such as draw.")] = None,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf; default DIRECTORY/map.png.")] = None,
) -> None:
    """Draw the regimes of a run, or the chance of an event, over two of its parameters."""
    from sweep.analysis.regime_map import read_chances, read_map
    from sweep.plots.regime_map import draw

    if chance is None and over is not None:
        raise ConfigError("--over", [Problem("", "needs --chance, the event whose chance is drawn")])
    if chance is not None and not (color is areas is support is None):
        raise ConfigError("--chance", [Problem("", "shades by the chance and needs no --color, no --areas and no --support")])
    if chance is None:
        drawn = read_map(directory, x, y, color, at or [], areas, support)
    else:
        drawn = read_chances(directory, chance, over, x, y, at or [])
    picture = out if out is not None else directory / "map.png"
    draw(drawn, picture, log)
    say_what_is_drawn(drawn)
    emit(str(picture))


def say_what_is_drawn(drawn: RegimeMap) -> None:
    """Print on stderr the values that define a slice, and how complete the run is."""
    if drawn.held:
        said = ", ".join(f"{name} = {value:.8g}" if isinstance(value, float) else f"{name} = {value}" for name, value in drawn.held.items())
        say(f"A slice at {said}: {drawn.rows:,} points.")
    if not drawn.complete:
        of = f" of {drawn.points:,}" if drawn.done < drawn.points else ""
        say(
            f"The run is not complete: {drawn.done:,}{of} points are drawn."
            if not drawn.held
            else f"It has {drawn.done:,}{of} points so far."
        )


def write_report(
    directory: RunFolder,
    x: Annotated[str | None, typer.Option(help="Parameter on the x axis; default the first that the run varies.")] = None,
    y: Annotated[str | None, typer.Option(help="Parameter on the y axis; default the other one.")] = None,
    color: Annotated[str | None, typer.Option(help="Observable that is shaded first; others are chosen on the page.")] = None,
    log: Annotated[bool, typer.Option("--log", help="Shade by the logarithm of the observable first.")] = False,
    at: At = None,
    areas: AreasName = None,
    support: SupportName = None,
    over: Annotated[
        str | None, typer.Option(help="Parameter over which means are taken; default draw, if the run has random draws.")
    ] = None,
    traces: Annotated[int, typer.Option(help="How many points, spread over the map, have a time trace.")] = 64,
    out: Annotated[
        Path | None, typer.Option(help="File to write, .html, or .pdf where Chromium is installed; default DIRECTORY/report.html.")
    ] = None,
) -> None:
    """Write a run as one file to pass on: summary, map, points, time traces, sensitivity, fragility, boundaries, study, provenance."""
    from sweep.report import content, paper

    file = out if out is not None else directory / "report.html"
    write = paper.prepare(file)
    found = content.read_content(directory, x, y, color, at or [], traces, log, areas, support, over)
    size = write(found)
    for note in found.facts["notes"]:
        say(note)
    say(f"{found.facts['count']:,} points, {found.traced} with a time trace, {size / 1e6:.1f} MB.")
    emit(str(file))


def draw_bifurcation(
    directory: RunFolder,
    x: Annotated[str | None, typer.Option(help="Parameter on the x axis; default the one that the run varies besides x0 and v0.")] = None,
    y: Annotated[str, typer.Option(help="poincare_x, poincare_v, or another observable that is a number.")] = "poincare_x",
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf; default DIRECTORY/bifurcation.png.")] = None,
) -> None:
    """Draw the Poincare points of a run's steady motions over the parameter that it varies."""
    from sweep.analysis.bifurcation import read_bifurcation
    from sweep.plots.bifurcation import draw

    drawn = read_bifurcation(directory, x, y)
    picture = out if out is not None else directory / "bifurcation.png"
    draw(drawn, picture)
    if drawn.rows < drawn.points:
        say(f"The run is not complete: {drawn.rows:,} of {drawn.points:,} points are drawn.")
    if drawn.failed:
        say(f"{drawn.failed:,} of {drawn.rows:,} rows failed and are not drawn; their column `status` says why.")
    emit(str(picture))


def draw_convergence(
    directory: RunFolder,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf; default DIRECTORY/convergence.png.")] = None,
) -> None:
    """Draw how the points of a convergence study approach exact and their own limit."""
    from sweep.analysis.convergence_curves import read_curves
    from sweep.plots.convergence import draw

    drawn = read_curves(directory)
    picture = out if out is not None else directory / "convergence.png"
    draw(drawn, picture)
    for sentence in drawn.notes:
        say(sentence)
    emit(str(picture))
