"""The bifurcation diagram: Poincare points over a parameter, coloured by period."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analyses.bifurcation.read import known_bifurcations
from tribosweep.sweep.analyses.bifurcation.result import APERIODIC, Bifurcation
from tribosweep.sweep.analysis.fixed_values import fixed_in_words
from tribosweep.sweep.analysis.run_rows import is_logarithmic
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.picture import INK, Picture, label, label_plainly, save, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (8.6, 4.7)  # inches
# Okabe and Ito's colours, which can be told apart with every kind of colour blindness; each period up to 16 has its own marker
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#000000")
MARKERS = "os^DvP*X<>phd8H."
ENTRIES = 8  # of periods in the legend
SELDOM = 0.01  # part of the parameter's values: periods of fewer share an entry
RARE: dict[str, Any] = {"color": "#a3836f", "marker": "x", "linestyle": "none", "markeredgewidth": 0.6}


def draw(drawn: Bifurcation, out: Path | None) -> Picture:
    """Draw a bifurcation diagram into a .png, .svg or .pdf file.

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown.
        OSError: `out` cannot be written.
    """
    return save(out, SIZE, lambda figure: fill(figure, drawn), "bifurcation")


def fill(figure: Figure, drawn: Bifurcation) -> None:
    """Put the diagram into an empty figure."""
    from matplotlib.lines import Line2D

    axes = figure.add_subplot()
    values = np.unique(drawn.x_values)
    if is_logarithmic(values):
        axes.set_xscale("log")
        label_plainly(axes.xaxis)
    size = float(np.clip(500.0 / max(len(values), 1), 1.2, 5.0))
    handles = []
    own, rare = kinds_of(drawn)
    kinds = [([period], *style_of(period)) for period in own]
    kinds += [(rare, RARE, f"period {listed(rare)}")] if rare else []
    kinds += [([APERIODIC], *style_of(APERIODIC))] if (drawn.periods == APERIODIC).any() else []
    for periods, style, name in kinds:
        inside = np.isin(drawn.periods, periods)
        scale = 0.6 if periods == [APERIODIC] else 1.0
        # many points are drawn as pixels, because viewers cannot open a drawing of a million markers
        axes.plot(drawn.x_values[inside], drawn.y_values[inside], markersize=scale * size, rasterized=bool(len(inside) > 5000), **style)
        handles.append(Line2D([], [], markersize=5.0 * scale, label=name, **style))
    axes.set(xlabel=label(drawn.x), ylabel=y_label(drawn.y))
    handles += draw_known(axes, drawn, values)
    done = counted(drawn.points, "point") if drawn.rows == drawn.points else f"{drawn.rows:,} of {drawn.points:,} points"
    write_title(axes, f"{drawn.study}: {done}", fixed_in_words(drawn.model, drawn.fixed))
    figure.legend(handles=handles, loc="outside right upper", fontsize=9, frameon=False)


def kinds_of(drawn: Bifurcation) -> tuple[list[int], list[int]]:
    """The periods with an entry of their own in the legend, and those, of few values of the parameter, that share one."""
    periods, places = np.unique(np.stack([drawn.periods, drawn.x_values]), axis=1)[:, :]
    found, counts = np.unique(periods[periods != APERIODIC].astype(int), return_counts=True)
    if len(found) <= ENTRIES:
        return found.tolist(), []
    least = SELDOM * len(np.unique(places))
    often = sorted(np.argsort(-counts, kind="stable")[: ENTRIES - 1].tolist())
    own = [int(found[place]) for place in often if counts[place] >= least]
    return own, [period for period in found.tolist() if period not in own]


def listed(periods: list[int]) -> str:
    """Ascending numbers in short: "3, 6 to 9, 12"."""
    runs: list[list[int]] = []
    for period in periods:
        if runs and period == runs[-1][-1] + 1:
            runs[-1].append(period)
        else:
            runs.append([period])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def style_of(period: int) -> tuple[dict[str, Any], str]:
    """The style of the points of a period, and their name in the legend."""
    if period == APERIODIC:
        return {"color": "#4d4d4d", "marker": ".", "linestyle": "none", "markeredgewidth": 0.0}, "no period up to 16"
    marker, color = MARKERS[(period - 1) % len(MARKERS)], COLORS[(period - 1) % len(COLORS)]
    return {"color": color, "marker": marker, "linestyle": "none", "markeredgewidth": 0.0}, f"period {period}"


def y_label(quantity: Quantity) -> str:
    """The label of the y axis; for Poincare points it includes the times of the section."""
    if quantity.kind != "list":
        return label(quantity)
    return rf"{label(quantity)} at $t = n\,2\pi/\omega$"


def draw_known(axes: Axes, drawn: Bifurcation, values: np.ndarray) -> list[Any]:
    """Draw lines where theory puts bifurcations within the drawn values; return their legend entries."""
    dashes = iter(((0, (5, 2)), (0, (1, 1.5))))
    return [
        axes.axvline(value, color=INK, linewidth=1.0, linestyle=next(dashes), label=name.replace(" (", "\n("), zorder=0.5)
        for name, value in known_bifurcations(drawn).items()
        if values[0] <= value <= values[-1]
    ]
