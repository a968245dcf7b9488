"""The picture of a convergence study: how far the results are from exact and from their own limit, over the step or the tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.models.quantity import Quantity, by_name
from sweep.adaptive import read_levels
from sweep.axes import SCHEME
from sweep.config import Config, load
from sweep.convergence.levels import beginning
from sweep.convergence.refinement import LARGEST_STEP, STEP, TOLERANCE, design_of, divisor_of, refined_by
from sweep.convergence.verdicts import relative
from sweep.directory import RunDirectory
from sweep.pictures import INK, raised, save
from sweep.problems import ConfigError, Problem
from sweep.show import study_table, varies

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 8  # curves that can be told apart
HEIGHT, WIDTH, LEGEND = 4.7, 4.6, 2.6  # inches: of a picture, of each panel, of what stands beside them
# Okabe and Ito's colours, told apart with every kind of colour blindness, without the yellow that white paper swallows
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f")
STYLES: list[dict[str, Any]] = [
    {"color": color, "marker": marker, "markersize": 5, "linewidth": 1.6} for color, marker in zip(COLORS, "os^DvPX*", strict=True)
]
THIN: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (4, 2)), "markerfacecolor": "white"}  # in place of the same of a style
FAN = (0.76, 0.94, 0.05)  # left, right and bottom of the reference slopes, as parts of a panel
PANELS = {(STEP, LARGEST_STEP): (1.0, 2.0, 4.0), (TOLERANCE,): (0.5, 1.0)}  # what shares an axis, and the reference slopes over it


@dataclass(frozen=True, slots=True)
class Curve:
    """One point of a study.

    Attributes:
        name: what it is, for the legend.
        refined: what its accuracy depends on.
        places: (levels,) values of that, in its unit.
        from_exact: (levels,) relative differences from exact; NaN where there is none.
        from_limit: (levels,) the same from the extrapolated result, or else from the finest.
    """

    name: str
    refined: Quantity
    places: np.ndarray
    from_exact: np.ndarray
    from_limit: np.ndarray

    @property
    def visible(self) -> bool:
        """Whether a logarithmic axis can show any of it."""
        return bool((self.from_exact > 0.0).any() or (self.from_limit > 0.0).any())


@dataclass(frozen=True, slots=True)
class Curves:
    """What is drawn of a study.

    Attributes:
        title: above the picture.
        observable: what the differences are of.
        curves: the points that are drawn.
        notes: what is not drawn, in sentences.
    """

    title: str
    observable: Quantity
    curves: tuple[Curve, ...]
    notes: tuple[str, ...]


def read_curves(path: Path) -> Curves:
    """What is to be drawn of the convergence study in a directory, complete or not.

    Raises:
        ConfigError: there is no run, it is one of another design, or no difference is above 0.
    """
    table = study_table(path)
    directory = RunDirectory(path)
    config = load(directory.read_document())
    design, history = design_of(config), read_levels(directory, config, beginning(config))
    if table is None:
        raise ConfigError(str(path), [Problem("", "no level is written yet: nothing to draw")])
    columns: dict[str, list[Any]] = table.to_pydict()
    told = [name for name in (*config.swept, SCHEME) if varies(columns[name])]
    curves = []
    for point, (scheme, exact) in enumerate(zip(columns[SCHEME], columns["exact"], strict=True)):
        levels = np.flatnonzero(np.isfinite(history.values[:, point]))
        values = history.values[levels, point]
        if len(values) < 2:
            continue
        refined = config.model.parameter(refined_by(scheme)[0])
        places = columns[refined.name][point] * divisor_of(scheme) ** (columns["halvings"][point] - levels)
        limit = columns["extrapolated"][point]
        limit = values[-1] if np.isnan(limit) else limit
        name = ", ".join(describe(config, name, columns[name][point]) for name in told) or scheme
        curves.append(Curve(name, refined, places, relative(values - exact, np.array(exact)), relative(values - limit, np.array(limit))))
    visible = [curve for curve in curves if curve.visible]
    if not visible:
        raise ConfigError(str(path), [Problem("", "no point has two results that differ: nothing to draw")])
    drawn = [visible[place] for place in np.unique(np.linspace(0, len(visible) - 1, MOST).round().astype(int))]
    notes = [] if directory.success.exists() else ["The run is not complete: what is written is drawn, and nothing is known of exact yet."]
    if len(visible) < design.count:
        notes.append(f"{design.count - len(visible):,} of {design.count:,} points have no difference above 0 to draw.")
    if len(drawn) < len(visible):
        notes.append(f"{len(drawn)} of {len(visible):,} curves are drawn, spread evenly over the points.")
    observable = by_name(config.model.observables)[design.observable]
    count = f"{len(drawn)} of {design.count:,} points" if len(drawn) < design.count else f"{design.count:,} points"
    return Curves(f"{config.name}: {count}", observable, tuple(drawn), tuple(notes))


def describe(config: Config, name: str, value: Any) -> str:
    """A swept parameter or scheme of one point for the legend."""
    if name == SCHEME:
        return str(value)
    quantity = config.model.parameter(name)
    head = f"${quantity.symbol}$" if quantity.symbol else name
    if value is None or isinstance(value, str):
        return f"{head} = {value or 'default'}"
    listed = ", ".join(f"{number:.6g}" for number in (value if isinstance(value, list) else [value]))
    return f"{head} = {listed}{raised(quantity.unit_suffix)}"


def draw(drawn: Curves, out: Path) -> None:
    """Draw a convergence study into a .png, .svg or .pdf file.

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown.
        OSError: `out` cannot be written.
    """
    panels = [names for names in PANELS if any(curve.refined.name in names for curve in drawn.curves)]
    save(out, (WIDTH * len(panels) + LEGEND, HEIGHT), lambda figure: fill(figure, drawn, panels), "convergence")


def fill(figure: Figure, drawn: Curves, panels: list[tuple[str, ...]]) -> None:
    """Put the curves into an empty figure, beside one another where different things are refined."""
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
            handles.append(Line2D([], [], label=curve.name, **style))
    make_room(list(every_axes), [PANELS[names] for names in panels])
    for axes, names in zip(every_axes, panels, strict=True):
        draw_slopes(axes, PANELS[names])
    every_axes[0].set_ylabel(f"relative difference of the {drawn.observable.name.replace('_', ' ')}")
    every_axes[0].set_title(drawn.title, loc="left", fontsize=10.5)
    style = {**STYLES[0], "color": INK}
    if any(np.isfinite(curve.from_exact).any() for curve in drawn.curves):
        handles.append(Line2D([], [], label="from exact", **style))
    handles.append(Line2D([], [], label="from its own limit\n(or finest result)", **{**style, **THIN}))
    figure.legend(handles=handles, loc="outside right upper", fontsize=9, frameon=False, handlelength=2.6)


def over(refined: list[Quantity]) -> str:
    """The label of an axis that all of these share: "step h or largest step [s]"."""
    names = {q.name: f"{q.name.replace('_', ' ')}{f' ${q.symbol}$' if q.symbol else ''}" for q in refined}
    unit = refined[0].unit
    return " or ".join(names.values()) + (f" [{unit}]" if unit not in ("", "1") else "")


def plot(axes: Axes, places: np.ndarray, differences: np.ndarray, **style: Any) -> None:
    """Plot the differences that are above 0."""
    shown = differences > 0.0
    axes.plot(places[shown], differences[shown], **style)


def make_room(every_axes: list[Axes], slopes: list[tuple[float, ...]]) -> None:
    """Lower the common lower end of the panels, so that the reference slopes stand below all curves."""
    left, right, bottom = FAN
    decades = [np.log10(axes.get_xlim()[1] / axes.get_xlim()[0]) for axes in every_axes]
    rise = max((right - left) * width * max(each) for width, each in zip(decades, slopes, strict=True))
    low, high = every_axes[0].get_ylim()
    # the fan takes its rise above `bottom` of what will be the whole height
    room = (rise + bottom * np.log10(high / low)) / (1.0 - bottom)
    every_axes[0].set_ylim(low / 10.0**room, high)


def draw_slopes(axes: Axes, slopes: tuple[float, ...]) -> None:
    """Short lines of the given slopes from one place, each with its number, where no curve comes."""
    limits = axes.get_xlim(), axes.get_ylim()  # settles the scales
    to_data = axes.transAxes + axes.transData.inverted()
    left, right, bottom = FAN
    (first, low), (last, _) = to_data.transform([(left, bottom), (right, bottom)])
    for slope in slopes:
        high = low * (last / first) ** slope
        axes.plot([first, last], [low, high], color=INK, linewidth=0.8)
        axes.annotate(f"{slope:g}", (last, high), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8.5)
    axes.annotate("slope", (first, low), xytext=(-3, 0), textcoords="offset points", ha="right", va="center", fontsize=8.5)
    axes.set(xlim=limits[0], ylim=limits[1])
