"""`tribosweep signals`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from tribosweep.sweep.cli.arguments import AsJson, At, RunFolder
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say
from tribosweep.sweep.io.errors import ConfigError, Problem

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.signals import RunSignals

MOST_LINES = 60


def signals(
    directory: RunFolder,
    point: Annotated[
        list[int] | None, typer.Option(help="Number of a point, a curve of its own. Can be repeated; default all rows.")
    ] = None,
    column: Annotated[list[str] | None, typer.Option(help="Signal, such as psd_x or rainflow_x. Can be repeated; default all.")] = None,
    over: Annotated[
        list[str] | None, typer.Option(help="Parameter over whose values medians and quantiles are taken; default draw and record.")
    ] = None,
    at: At = None,
    out: Annotated[Path | None, typer.Option(help="File to write: a table, .csv or .parquet, or a picture, .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show spectra, rainflow cycles, level crossings and impacts of single rows of a run, or their quantiles over draws."""
    from tribosweep.sweep.analysis import event_log
    from tribosweep.sweep.analysis.signals import read_signals
    from tribosweep.sweep.plots import signals as picture
    from tribosweep.sweep.results.picture import SUFFIXES

    drawn = out is not None and out.suffix.lower() in SUFFIXES
    if out is not None and not drawn and out.suffix not in event_log.FORMATS:
        raise ConfigError("--out", [Problem("", f"{out}: must end in one of {', '.join((*event_log.FORMATS, *SUFFIXES))}")])
    found = read_signals(directory, column or [], point or [], over or [], at or [])
    if out is not None and drawn:
        if not picture.drawn_of(found):
            raise ConfigError("--out", [Problem("", "single numbers have no picture: name a list with --column")])
        picture.draw(found, out)
        left = [signal.name for signal in found.signals if signal.along][picture.MOST_PANELS :]
        if left:
            say(f"Not drawn: {', '.join(left)}; --column picks some.")
        if len(found.signals[0].curves) > picture.MOST_CURVES:
            say(f"The first {picture.MOST_CURVES} of {len(found.signals[0].curves)} curves are drawn; --at holds parameters.")
        emit(str(out))
    elif out is not None:
        event_log.write(found.table(), out)
        emit(str(out))
    elif as_json:
        print_json(found.table())
    else:
        show(found)


def show(found: RunSignals) -> None:
    """Print a line for each signal and curve."""
    lines = []
    for signal in found.signals:
        for curve in signal.curves:
            total, (value, place) = signal.total(curve), signal.largest(curve)
            largest = (f"{value:.4g}", f"{place:.4g} {signal.along_unit}") if np.isfinite(value) else ("", "")
            lines.append((signal.name, signal.unit, curve.label, curve.rows, f"{total:.4g}" if np.isfinite(total) else "", *largest))
    header = ["signal", "unit", "curve", "rows", "total", "largest", "at"]
    if all(not line[2] for line in lines):
        header.remove("curve")
        lines = [(*line[:2], *line[3:]) for line in lines]  # type: ignore[misc]
    print_table("", header, lines[:MOST_LINES], right=["rows", "total", "largest", "at"])
    if len(lines) > MOST_LINES:
        say(f"The first {MOST_LINES} of {len(lines)} lines are listed; --json and --out give all.")
    of = f"Medians over {' and '.join(found.over)}. " if found.over else ""
    say(f"{of}The total of a spectrum is the root of its area; of classes the sum. A picture: --out signals.png.")
