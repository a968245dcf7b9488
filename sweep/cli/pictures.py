"""`tribosweep map` and `report`: pictures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tribosweep.sweep.cli.arguments import AreasName, At, RunFolder, SupportName
from tribosweep.sweep.cli.terminal import emit, say
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.table_files import FORMATS, is_table, write_table
from tribosweep.sweep.io.text import counted

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.regime_map import RegimeMap

TRACES = 64  # of a report


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
    over: Annotated[
        list[str] | None,
        typer.Option(
            help="Take a statistic over a parameter, such as draw, at each place. Can be repeated; default what the design draws."
        ),
    ] = None,
    mean: Annotated[bool, typer.Option("--mean", help="Statistic: mean of the observable that shades; the default with --over.")] = False,
    std: Annotated[bool, typer.Option("--std", help="Statistic: standard deviation of the observable.")] = False,
    quantile: Annotated[float | None, typer.Option(help="Statistic: quantile of the observable, such as 0.95.")] = None,
    chance: Annotated[
        str | None, typer.Option(help="Statistic: probability of an event: buckled=1, 'impacts>=3', wall_regime=plateau.")
    ] = None,
    share: Annotated[bool, typer.Option("--share", help="Statistic: share of the most frequent word of the areas.")] = False,
    entropy: Annotated[bool, typer.Option("--entropy", help="Statistic: entropy of the words of the areas [bit].")] = False,
    rows: Annotated[bool, typer.Option("--rows", help="Statistic: number of rows.")] = False,
    bins: Annotated[
        int | None, typer.Option(help="Take the rows of equal parts of the axes together, so many along each; for designs that sample.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Level of the intervals of a statistic, and so of the band of a line.")] = 0.95,
    line: Annotated[
        list[float] | None, typer.Option(help="Draw where the shading passes this value, with the band of its interval. Can be repeated.")
    ] = None,
    table: Annotated[Path | None, typer.Option(help="With --line: .csv or .parquet file to which the lines are written too.")] = None,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf; default DIRECTORY/map.png.")] = None,
) -> None:
    """Draw the regimes of a run, or a statistic over draws (mean, quantile, probability, words), over two of its parameters."""
    from tribosweep.sweep.analysis.group_map import map_for, statistic_of
    from tribosweep.sweep.analysis.isolines import line_table, with_lines
    from tribosweep.sweep.plots.regime_map import draw
    from tribosweep.sweep.results.picture import require_picture

    picture = out if out is not None else directory / "map.png"
    require_picture(picture, option="" if out is None else "--out")
    if table is not None and (not line or not is_table(table)):
        why = f"must end in {' or '.join(FORMATS)}" if line else "needs --line, whose places it holds"
        raise ConfigError("--table", [Problem("", f"{table}: {why}" if line else why)])
    flags = {"mean": mean, "std": std, "share": share, "entropy": entropy, "rows": rows}
    statistic = statistic_of([name for name, wished in flags.items() if wished], quantile, chance)
    drawn = map_for(directory, statistic, over or (), x, y, color, at or (), areas, support, bins, confidence)
    drawn = with_lines(drawn, line or ())
    draw(drawn, picture, log)
    say_what_is_drawn(drawn)
    say_lines(drawn)
    if table is not None:
        write_table(line_table(drawn), table)
        emit(str(table))
    emit(str(picture))


def say_lines(drawn: RegimeMap) -> None:
    """Print on stderr which lines are nowhere on the map, and which bands are open."""
    for level in dict.fromkeys(each.level for each in drawn.lines):
        there = {each.of for each in drawn.lines if each.level == level and each.pieces}
        name = "" if drawn.shade is None else drawn.shade.name
        if "value" not in there:
            say(f"{name} = {level:g}: nowhere on this map.")
        elif drawn.ends is not None and len(there) < 3:
            open_at = " and ".join(end for end in ("lower", "upper") if end not in there)
            say(f"{name} = {level:g}: the {open_at} end of its interval does not pass it on this map, so that the band is open there.")


def say_what_is_drawn(drawn: RegimeMap) -> None:
    """Print on stderr the values that define a slice, whether rows hide each other, and how complete the run is."""
    from tribosweep.sweep.analysis.run_rows import stacked_in

    if drawn.held:
        said = ", ".join(f"{name} = {value:.8g}" if isinstance(value, float) else f"{name} = {value}" for name, value in drawn.held.items())
        say(f"A slice at {said}: {counted(drawn.rows, 'point')}.")
    if drawn.loose and not drawn.gridded and (said := stacked_in([drawn.x_values, drawn.y_values], drawn.loose)):
        say(said)
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
        list[str] | None,
        typer.Option(help="Parameter over which means are taken, such as draw. Can be repeated; default random draws."),
    ] = None,
    traces: Annotated[int | None, typer.Option(help="How many points, spread over the map, have a time trace; default 64.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write, .html, or .pdf where Chromium is installed; default DIRECTORY/report.html.")
    ] = None,
) -> None:
    """Write a run, or branches, as one file to pass on: summary, map, boundaries, points, draws, signals, indices, probabilities."""
    from tribosweep.sweep.analysis.branching import results
    from tribosweep.sweep.report import branches, content, paper

    file = out if out is not None else directory / "report.html"
    write = paper.prepare(file)
    if results.holds_branches(directory):
        given = {"--x": x, "--y": y, "--at": at, "--areas": areas, "--support": support, "--over": over, "--traces": traces}
        refused = [Problem(name, "is of runs: the report of branches has none") for name, value in given.items() if value not in (None, [])]
        if refused:
            raise ConfigError(str(directory), refused)
        drawn = branches.read_branches(directory, color, log)
        size = write(drawn)
        for note in drawn.facts["notes"]:
            say(note)
        say(f"{', '.join(drawn.facts['state'])}, {size / 1e6:.1f} MB.")
        emit(str(file))
        return
    found = content.read_content(directory, x, y, color, at or [], TRACES if traces is None else traces, log, areas, support, over or ())
    size = write(found)
    for note in found.facts["notes"]:
        say(note)
    say(f"{counted(found.facts['count'], 'point')}, {found.traced} with a time trace, {size / 1e6:.1f} MB.")
    emit(str(file))
