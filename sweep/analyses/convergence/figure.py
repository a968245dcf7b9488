"""The picture of a convergence study: differences from the exact result and from the limit, over the step or the tolerance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analyses.convergence.result import ConvergenceCurve, ConvergenceCurves, in_words
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.refinement import LARGEST_STEP, STEP, TOLERANCE
from tribosweep.sweep.io.units import raised
from tribosweep.sweep.results.picture import INK, Picture, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT, WIDTH, LEGEND = 4.7, 4.6, 2.6  # inches: of a picture, of each panel, of the legend beside them
# Okabe and Ito's colours, which can be told apart with every kind of colour blindness, without yellow, which is invisible on white
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f")
STYLES: list[dict[str, Any]] = [
    {"color": color, "marker": marker, "markersize": 5, "linewidth": 1.6} for color, marker in zip(COLORS, "os^DvPX*", strict=True)
]
THIN: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (4, 2)), "markerfacecolor": "white"}  # replaces entries of a style
FAN = (0.76, 0.94, 0.05)  # left, right and bottom of the reference slopes, as parts of a panel
PANELS = {(STEP, LARGEST_STEP): (1.0, 2.0, 4.0), (TOLERANCE,): (0.5, 1.0)}  # quantities that share an axis -> reference slopes on it


def draw(drawn: ConvergenceCurves, out: Path | None) -> Picture:
    """Draw a convergence study into a .png, .svg or .pdf file.

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown.
        OSError: `out` cannot be written.
    """
    panels = [names for names in PANELS if any(curve.refined.name in names for curve in drawn.curves)]
    return save(out, (WIDTH * len(panels) + LEGEND, HEIGHT), lambda figure: fill(figure, drawn, panels), "convergence")


def fill(figure: Figure, drawn: ConvergenceCurves, panels: list[tuple[str, ...]]) -> None:
    """Put the curves into an empty figure, with one panel for each kind of refined quantity."""
    from matplotlib.lines import Line2D

    handles = []
    every_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, names in zip(every_axes, panels, strict=True):
        axes.set(xscale="log", yscale="log")
        axes.grid(visible=True, color="#e4e4e4", linewidth=0.6)
        axes.set_axisbelow(True)
        inside = [(curve, style) for curve, style in zip(drawn.curves, STYLES, strict=False) if curve.refined.name in names]
        axes.set_xlabel(over([curve.refined for curve, _ in inside]))
        for curve, style in inside:
            plot(axes, curve.places, curve.from_exact, **style)
            plot(axes, curve.places, curve.from_limit, **{**style, **THIN})
            handles.append(Line2D([], [], label=label_of(curve), **style))
    make_room(list(every_axes), [PANELS[names] for names in panels])
    for axes, names in zip(every_axes, panels, strict=True):
        draw_slopes(axes, PANELS[names])
    every_axes[0].set_ylabel(f"relative difference of the {drawn.observable.name.replace('_', ' ')}")
    every_axes[0].set_title(plain(drawn.title), loc="left", fontsize=10.5)
    style = {**STYLES[0], "color": INK}
    if any(np.isfinite(curve.from_exact).any() for curve in drawn.curves):
        handles.append(Line2D([], [], label="from exact", **style))
    handles.append(Line2D([], [], label="from its own limit\n(or finest result)", **{**style, **THIN}))
    figure.legend(handles=handles, loc="outside right upper", fontsize=9, frameon=False, handlelength=2.6)


def label_of(curve: ConvergenceCurve) -> str:
    """The name of a curve with symbols and superscripts; the time scheme by itself."""
    parts = []
    for quantity, value in curve.given:
        head = f"${quantity.symbol}$" if quantity.symbol else plain(quantity.name)
        text = plain(in_words(quantity, value))
        parts.append(text if quantity.name == SCHEME else f"{head} = {text if isinstance(value, str) else raised(text)}")
    return ", ".join(parts)


def over(refined: list[Quantity]) -> str:
    """The label of an axis shared by several refined quantities: "step h or largest step [s]"."""
    names = {q.name: f"{q.name.replace('_', ' ')}{f' ${q.symbol}$' if q.symbol else ''}" for q in refined}
    unit = refined[0].unit
    return " or ".join(names.values()) + (f" [{unit}]" if unit not in ("", "1") else "")


def plot(axes: Axes, places: np.ndarray, differences: np.ndarray, **style: Any) -> None:
    """Plot the positive differences."""
    shown = differences > 0.0
    axes.plot(places[shown], differences[shown], **style)


def make_room(every_axes: list[Axes], slopes: list[tuple[float, ...]]) -> None:
    """Lower the common lower end of the panels, so that the reference slopes lie below all curves."""
    left, right, bottom = FAN
    decades = [np.log10(axes.get_xlim()[1] / axes.get_xlim()[0]) for axes in every_axes]
    rise = max((right - left) * width * max(each) for width, each in zip(decades, slopes, strict=True))
    low, high = every_axes[0].get_ylim()
    # the fan starts at the part `bottom` of the final height, so that height must include its rise
    room = (rise + bottom * np.log10(high / low)) / (1.0 - bottom)
    every_axes[0].set_ylim(low / 10.0**room, high)


def draw_slopes(axes: Axes, slopes: tuple[float, ...]) -> None:
    """Draw short lines of the given slopes from one place below the curves, each with its number."""
    limits = axes.get_xlim(), axes.get_ylim()  # fixes the scales
    to_data = axes.transAxes + axes.transData.inverted()
    left, right, bottom = FAN
    (first, low), (last, _) = to_data.transform([(left, bottom), (right, bottom)])
    for slope in slopes:
        high = low * (last / first) ** slope
        axes.plot([first, last], [low, high], color=INK, linewidth=0.8)
        axes.annotate(f"{slope:g}", (last, high), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8.5)
    axes.annotate("slope", (first, low), xytext=(-3, 0), textcoords="offset points", ha="right", va="center", fontsize=8.5)
    axes.set(xlim=limits[0], ylim=limits[1])
