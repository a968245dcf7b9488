"""The picture of an observable over one parameter of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.curves import Curves
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.picture import HUES, Picture, label, label_plainly, legend, plain, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (7.5, 4.2)  # inches
DASHES = ("-", "--", "-.", ":")  # lines that coincide are seen
FEW = 60  # points of a line that are marked


def draw(drawn: Curves, out: Path | None, logarithmic: bool = False) -> Picture:
    """Draw the curves into a .png, .svg or .pdf file, or in memory.

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown. OSError: `out` cannot be written.
    """
    return save(out, SIZE, lambda figure: fill(figure, drawn, logarithmic), "plot")


def fill(figure: Figure, drawn: Curves, logarithmic: bool) -> None:
    """Put the curves into an empty figure."""
    axes, rows = figure.add_subplot(), drawn.rows
    x = rows.axes[0]
    places, values = rows.along(x), np.asarray(rows.table.column(drawn.observable.name).to_numpy(), dtype=np.float64)
    for number, (name, mask) in enumerate(drawn.lines):
        order = np.argsort(places[mask], kind="stable")
        marker = "." if len(order) <= FEW else ""
        style: Any = {"linestyle": DASHES[number % len(DASHES)], "marker": marker, "color": HUES[number], "linewidth": 1.2}
        axes.plot(places[mask][order], values[mask][order], label=plain(name), **style)
    if not drawn.lines:
        axes.plot(places, values, ".", color=HUES[0], markersize=2.5, alpha=0.6)
    axes.set(xlabel=label(x), ylabel=label(drawn.observable))
    if rows.is_logarithmic(x):
        axes.set_xscale("log")
        label_plainly(axes.xaxis)
    if logarithmic:
        axes.set_yscale("log")
    if len(drawn.lines) > 1:
        legend(axes, frameon=False, fontsize=9)
    held = "".join(f", {name} = {value:.6g}" if isinstance(value, float) else f", {name} = {value}" for name, value in rows.held.items())
    few = f", {len(drawn.lines)} of {drawn.values:,} values of {drawn.by}" if 0 < len(drawn.lines) < drawn.values else ""
    axes.set_title(plain(f"{rows.state['study']}: {counted(rows.table.num_rows, 'point')}{held}{few}"), loc="left", fontsize=10.5)
