"""The picture of signals: a panel for each column, with the median of each curve and the spread over its rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.analyses.signals.result import FREQUENCY, LEVEL, MOST_CURVES, Signal, SignalCurve, Signals
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.results.picture import HUES, INK, Picture, label_plainly, legend, plain, save, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 6.4, 3.1  # inches of a panel


def draw(found: Signals, out: Path | None) -> Picture:
    """Draw signals into a .png, .svg or .pdf file, or in memory.

    Raises:
        ConfigError: matplotlib is missing, the suffix is unknown, or no signal is a list. OSError: `out` cannot be written.
    """
    panels = found.drawn
    if not panels:
        raise ConfigError("--out", [Problem("", "single numbers have no picture: name a list with --column")])
    columns = 1 if len(panels) < 2 else 2
    rows = -(-len(panels) // columns)
    return save(out, (WIDTH * columns, HEIGHT * rows + 0.5), lambda figure: fill(figure, found, panels, rows, columns), "signals")


def fill(figure: Figure, found: Signals, panels: list[Signal], rows: int, columns: int) -> None:
    """Put the panels into an empty figure."""
    for number, signal in enumerate(panels):
        axes = figure.add_subplot(rows, columns, number + 1)
        for hue, curve in zip(HUES, signal.curves[: min(MOST_CURVES, len(HUES))], strict=False):
            draw_curve(axes, signal, curve, hue)
        scale(axes, signal)
        axes.grid(visible=True, color="#e4e4e4", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(color=INK)
        write_title(axes, plain(f"{found.study}: {signal.name}" if number == 0 else signal.name))
        if number == 0 and any(curve.label for curve in signal.curves):
            legend(axes, frameon=False, fontsize=8)


def draw_curve(axes: Axes, signal: Signal, curve: SignalCurve, hue: str) -> None:
    """Draw the median of a curve and the band between its quantiles; counts as steps."""
    low, median, high = curve.quantiles
    x = signal.entries
    if signal.counts:  # the last class has no end: it is drawn as wide as the one before
        last = x[-1] + (x[-1] - x[-2] if len(x) > 1 else 1.0)
        x = np.append(x, last)
        low, median, high = (np.append(values, values[-1]) for values in (low, median, high))
    spread = f" ({curve.rows} rows)" if curve.rows > 1 else ""
    style = {"drawstyle": "steps-post"} if signal.counts else {"marker": "o", "markersize": 3.0} if signal.along == LEVEL else {}
    axes.plot(x, median, color=hue, linewidth=1.4, label=plain(f"{curve.label}{spread}"), **style)
    if curve.rows > 1:
        axes.fill_between(x, low, high, color=hue, alpha=0.2, linewidth=0.0, step="post" if signal.counts else None)


def scale(axes: Axes, signal: Signal) -> None:
    """Set scales and labels."""
    unit = f" [{signal.along_unit}]" if signal.along_unit else ""
    positive = np.concatenate([curve.median[curve.median > 0.0] for curve in signal.curves])
    if signal.along == FREQUENCY:
        axes.set(xlabel=f"frequency{unit}", ylabel=f"density [{signal.unit}]")
        if "cross_psd_" not in signal.name and positive.size:
            axes.set_yscale("log")
            axes.set_ylim(bottom=max(positive.min(), 1e-9 * positive.max()) / 2.0)
        if len(signal.entries) > 2:
            axes.set_xscale("log")
            axes.set_xlim(signal.entries[1], signal.entries[-1])
            label_plainly(axes.xaxis)
        return
    words = {"range": "cycles", LEVEL: "upward crossings"}.get(signal.along, "impacts")
    axes.set(xlabel=f"{signal.along}{unit}", ylabel=words)
    if signal.along == "range" and positive.size and positive.max() > 30.0 * positive.min():
        axes.set_yscale("log")
        label_plainly(axes.yaxis)
    else:
        axes.set_ylim(bottom=0.0)
