"""Pictures of a run: the regimes as areas, an observable as their shade, and the boundaries that theory gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.boundaries import known_boundaries
from sweep.maps import FAILED, FREE, MISSING, VOID, RegimeMap
from sweep.pictures import INK, label, save
from sweep.problems import ConfigError, Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Normalize
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Place = tuple[float, float]  # as parts of the picture's width and height

SIZE = (7.5, 4.7)  # inches
PIXELS = (1600, 1200)  # of the areas, whatever the number of points
LINE_NODES = 400

# From light to dark in each regime. Grey, blue and orange are told apart with every kind of colour blindness; the lines between them and
# the words on them tell them apart in print without colour.
RAMPS = {"stick": ("#e4e2dd", "#e4e2dd"), "stick-slip": ("#eaf3fb", "#17568c"), "slip-slip": ("#fdeedd", "#a8480a")}
FLAT = {"stick": "#e4e2dd", "stick-slip": "#8dbde0", "slip-slip": "#d9853b"}
OTHER_RAMP = ("#f1e9f4", "#6b3d80")
EMPTY = {FAILED: ("failed", "#ffffff"), MISSING: ("not computed", "#f7f7f7"), VOID: ("did not happen", "#ffffff")}
ENOUGH = 0.02  # part of the picture that an area must fill to bear its name


def draw(drawn: RegimeMap, out: Path, logarithmic: bool = False) -> None:
    """Draw a map into a file.

    Args:
        drawn: what to draw.
        out: a .png, .svg or .pdf file; the areas are pixels in all of them.
        logarithmic: shade by the logarithm of the observable.

    Raises:
        ConfigError: matplotlib is missing, the suffix is unknown, or there is nothing positive to take the logarithm of.
        OSError: `out` cannot be written.
    """
    save(out, SIZE, lambda figure: fill(figure, drawn, logarithmic), "map")


def fill(figure: Figure, drawn: RegimeMap, logarithmic: bool) -> None:
    """Put the map into an empty figure."""
    axes = figure.add_subplot()
    scales = [is_logarithmic(values) for values in (drawn.x_values, drawn.y_values)]
    limits = [ends(values, log) for values, log in zip((drawn.x_values, drawn.y_values), scales, strict=True)]
    axes.set(xlim=limits[0], ylim=limits[1], xlabel=label(drawn.x), ylabel=label(drawn.y))
    axes.set(**{f"{name}scale": "log" for name, log in zip("xy", scales, strict=True) if log})
    for axis, log in zip((axes.xaxis, axes.yaxis), scales, strict=True):
        if log:
            label_plainly(axis)
    places = [spread(*limit, log, count) for limit, log, count in zip(limits, scales, PIXELS, strict=True)]
    columns = nearest(drawn.x_values, places[0], scales[0])
    rows = nearest(drawn.y_values, places[1], scales[1])
    regimes = drawn.regimes[np.ix_(rows, columns)]
    shades = None if drawn.shades is None else drawn.shades[np.ix_(rows, columns)]
    norm = scale(drawn, logarithmic)
    axes.imshow(paint(drawn.words, regimes, shades, norm), origin="lower", extent=(0, 1, 0, 1), transform=axes.transAxes, aspect="auto")
    axes.set(xlim=limits[0], ylim=limits[1])
    taken = name_areas(axes, drawn.words, regimes)
    if norm is not None:
        add_bar(figure, axes, drawn, norm)
        draw_levels(axes, drawn, norm, taken)
    draw_boundaries(axes, drawn, places, taken)
    done = f"{drawn.points:,} points" if drawn.rows == drawn.points else f"{drawn.rows:,} of {drawn.points:,} points"
    axes.set_title(f"{drawn.study}: {done}", loc="left", fontsize=10.5)


def is_logarithmic(values: np.ndarray) -> bool:
    """Whether values are spaced evenly in their logarithm, and not as well in themselves."""
    if len(values) < 4 or values[0] <= 0.0:
        return False
    steps = np.diff(np.log(values))
    return bool(np.ptp(steps) < 1e-6 * steps.mean())


def label_plainly(axis: Axis) -> None:
    """Ticks of a logarithmic axis at 1, 2, 5, 10 ... and written as such."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(lambda value, _position: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())


def ends(values: np.ndarray, log: bool) -> tuple[float, float]:
    """The ends of an axis: half a cell beyond the first and the last of its values."""
    v = np.log(values) if log else values
    first, last = v[0] - (v[1] - v[0]) / 2.0, v[-1] + (v[-1] - v[-2]) / 2.0
    return (math.exp(first), math.exp(last)) if log else (float(first), float(last))


def spread(first: float, last: float, log: bool, count: int) -> np.ndarray:
    """The (count,) centres of the pixels of an axis."""
    parts = (np.arange(count) + 0.5) / count
    return np.asarray(first * (last / first) ** parts if log else first + (last - first) * parts)


def nearest(values: np.ndarray, places: np.ndarray, log: bool) -> np.ndarray:
    """Positions in the ascending `values` of those nearest to `places`."""
    v = np.log(values) if log else values
    return np.searchsorted((v[1:] + v[:-1]) / 2.0, np.log(places) if log else places)


def scale(drawn: RegimeMap, logarithmic: bool) -> Normalize | None:
    """From values of the shaded observable to [0, 1]; None when nothing is shaded."""
    from matplotlib.colors import LogNorm, Normalize

    if drawn.shades is None or drawn.shade is None:
        return None
    finite = drawn.shades[np.isfinite(drawn.shades)]
    if not logarithmic:
        return Normalize(min(0.0, float(finite.min())), float(finite.max()) or 1.0)
    if not finite.max() > 0.0:
        raise ConfigError("--log", [Problem("", f"{drawn.shade.name} is nowhere positive: it has no logarithm")])
    return LogNorm(max(float(finite[finite > 0.0].min()), 1e-4 * float(finite.max())), float(finite.max()), clip=True)


def ramp(word: str) -> Any:
    """The colours of a regime, from small to large values."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(word, RAMPS.get(word, OTHER_RAMP))


def paint(words: tuple[str, ...], regimes: np.ndarray, shades: np.ndarray | None, norm: Normalize | None) -> np.ndarray:
    """The colours of the pixels, (n_y, n_x, 3) bytes."""
    from matplotlib.colors import to_rgb

    picture = np.zeros((*regimes.shape, 3), np.uint8)
    for code, (_, color) in EMPTY.items():
        picture[regimes == code] = np.multiply(to_rgb(color), 255)
    for code, word in enumerate(words):
        inside = regimes == code
        if shades is None or norm is None:
            picture[inside] = np.multiply(to_rgb(FLAT.get(word, OTHER_RAMP[1])), 255)
        else:
            picture[inside] = ramp(word)(np.ma.filled(norm(shades[inside]), 0.0), bytes=True)[:, :3]
    return picture


def draw_levels(axes: Axes, drawn: RegimeMap, norm: Normalize, taken: list[Place]) -> None:
    """Lines of equal value of the shaded observable, each with its value where there is room."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, MaxNLocator

    locator: Any = LogLocator(numticks=8) if isinstance(norm, LogNorm) else MaxNLocator(6)
    levels = [level for level in locator.tick_values(norm.vmin, norm.vmax) if norm.vmin < level < norm.vmax]
    if not levels or drawn.shades is None:
        return
    lines = axes.contour(*thinned(drawn, drawn.shades), levels, colors=INK, linewidths=0.7, alpha=0.7)
    parts = (0.3, 0.45, 0.6)  # neighbours get their labels at different heights, so that they do not touch
    add_labels(axes, lines, [parts[i % len(parts)] for i in range(len(levels))], taken, fontsize=9, fmt=lambda level: f"{level:g}")


def thinned(drawn: RegimeMap, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and `values` of at most LINE_NODES nodes along each axis, which is as fine as a line needs."""
    across, up = (max(1, -(-count // LINE_NODES)) for count in (len(drawn.x_values), len(drawn.y_values)))
    return drawn.x_values[::across], drawn.y_values[::up], values[::up, ::across]


def add_labels(axes: Axes, lines: ContourSet, parts: Sequence[float], taken: list[Place], **style: Any) -> list[Text]:
    """Label each of `lines` at its own part of the way along what lies well inside the frame and clear of the places `taken`."""
    to_frame = axes.transData + axes.transAxes.inverted()
    places = []
    for path, part in zip(lines.get_paths(), parts, strict=True):
        vertices = np.asarray(path.vertices)
        at = to_frame.transform(vertices)
        free = ((at > 0.05) & (at < 0.95)).all(axis=1)
        for place in taken:
            free &= (np.abs(at - place) > (0.11, 0.07)).any(axis=1)  # half of a name's box and of the label
        if free.any():
            places.append(tuple(vertices[free][int(part * np.count_nonzero(free))]))
    return list(axes.clabel(lines, manual=places, **style))


def add_bar(figure: Figure, axes: Axes, drawn: RegimeMap, norm: Normalize) -> None:
    """One colour bar with a column for each regime that is shaded."""
    from matplotlib.cm import ScalarMappable

    shaded = [ramp(word) for code, word in enumerate(drawn.words) if word != "stick" and (drawn.regimes == code).any()]
    if not shaded or drawn.shade is None:
        return
    bar = figure.colorbar(ScalarMappable(norm, shaded[0]), ax=axes, fraction=0.05, pad=0.02, aspect=20)
    bar.set_label(f"{drawn.shade.name.replace('_', ' ')} {label(drawn.shade)}" if drawn.shade.symbol else label(drawn.shade))
    bar.outline.set_linewidth(0.8)
    # a colour bar has one column; the picture of all of them lies over it
    picture = np.stack([colors(np.linspace(0.0, 1.0, 256))[:, :3] for colors in shaded], axis=1)
    bar.ax.imshow(
        picture, origin="lower", extent=(0, 1, 0, 1), transform=bar.ax.transAxes, aspect="auto", interpolation="nearest", zorder=3
    )


def draw_boundaries(axes: Axes, drawn: RegimeMap, places: list[np.ndarray], taken: list[Place]) -> None:
    """Lines between the regimes: those of the theory with their names where it holds, else those of the rows."""
    from matplotlib.patheffects import withStroke

    ranges = ((drawn.x_values[0], drawn.x_values[-1]), (drawn.y_values[0], drawn.y_values[-1]))
    # finer than a quarter of the pixels, a line looks no smoother; beyond the rows, half a cell, parameters may be out of their bounds
    x, y = (along[::4][(first <= along[::4]) & (along[::4] <= last)] for along, (first, last) in zip(places, ranges, strict=True))
    known = known_boundaries(drawn, x, y)
    if known is None:
        present = [code for code in (*sorted(EMPTY), *range(len(drawn.words))) if (drawn.regimes == code).any()]
        between = [code + 0.5 for code in present[:-1]]
        if between:
            axes.contour(*thinned(drawn, drawn.regimes), between, colors=INK, linewidths=1.2)
        return
    eta, names = known
    levels = [level for level in sorted(names) if eta.min() < level < eta.max()]
    if levels:
        lines = axes.contour(x, y, eta, levels, colors=INK, linewidths=1.8)
        for text in add_labels(axes, lines, [0.88] * len(levels), taken, fontsize=10.5, fmt=names):
            text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def name_areas(axes: Axes, words: tuple[str, ...], regimes: np.ndarray) -> list[Place]:
    """The name of every area in its middle, whose places are returned; in a legend where it would not fit."""
    from matplotlib.patches import Patch

    small = []
    taken: list[Place] = []
    names = {**dict(enumerate(words)), **{code: name for code, (name, _) in EMPTY.items()}}
    for code, word in names.items():
        inside = regimes == code
        if not inside.any() or (word == FREE and not ((regimes >= 0) & ~inside).any()):
            continue
        place = middle(inside[10::20, 20::40])
        if inside.mean() < ENOUGH or place is None:
            small.append(Patch(facecolor=EMPTY[code][1] if code in EMPTY else FLAT.get(word, OTHER_RAMP[1]), edgecolor=INK, label=word))
            continue
        taken.append(place)
        box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        axes.text(*place, word, transform=axes.transAxes, ha="center", va="center", fontsize=12, fontweight="bold", bbox=box, zorder=5)
    if small:
        axes.legend(handles=small, loc="upper right", fontsize=9)
    return taken


def middle(inside: np.ndarray) -> Place | None:
    """The place in an area farthest from its edge, as parts of the picture's width and height; None in an area too thin for a word."""
    left, depth = np.pad(inside, 1), 0
    while True:
        thinner = left[1:-1, 1:-1] & left[:-2, 1:-1] & left[2:, 1:-1] & left[1:-1, :-2] & left[1:-1, 2:]
        if not thinner.any():
            break
        left, depth = np.pad(thinner, 1), depth + 1
    if depth < 2:
        return None
    rows, columns = np.nonzero(left[1:-1, 1:-1])
    best = int(np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2))
    return (columns[best] + 0.5) / inside.shape[1], (rows[best] + 0.5) / inside.shape[0]
