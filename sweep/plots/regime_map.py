"""The picture of a regime map: areas, shades and boundaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.fixed_values import fixed_in_words
from tribosweep.sweep.analysis.map_places import between, limits_of, nearest_rows, shades_between, spread
from tribosweep.sweep.analysis.palette import EMPTY, Ramp, flat, mixed, ramps_of
from tribosweep.sweep.analysis.regime_map import RegimeMap
from tribosweep.sweep.analysis.theory import BoundaryLine
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.plots.map_labels import Place, add_labels, draw_boundaries, levelled, name_areas, name_line, thinned
from tribosweep.sweep.results.picture import INK, Picture, label, label_plainly, save, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure


SIZE = (7.5, 4.7)  # inches
PIXELS = (1600, 1200)  # of the areas, for any number of points
VEIL = 500  # pixels of the veil over a band, along each axis
FEW = 3000  # up to this number, scattered points are drawn one by one


def draw(drawn: RegimeMap, out: Path | None, logarithmic: bool = False) -> Picture:
    """Draw a map into a file.

    Args:
        drawn: what to draw.
        out: a .png, .svg or .pdf file; the areas are pixels in all of them.
        logarithmic: shade by the logarithm of the observable.

    Raises:
        ConfigError: matplotlib is missing, the suffix is unknown, or no value is positive and `logarithmic` is set.
        OSError: `out` cannot be written.
    """
    return save(out, SIZE, lambda figure: fill(figure, drawn, logarithmic), "map")


def fill(figure: Figure, drawn: RegimeMap, logarithmic: bool) -> None:
    """Put the map into an empty figure."""
    axes = figure.add_subplot()
    limits = limits_of(drawn)
    axes.set(xlim=limits[0], ylim=limits[1], xlabel=label(drawn.x), ylabel=label(drawn.y))
    axes.set(**{f"{name}scale": "log" for name, log in zip("xy", drawn.logarithmic, strict=True) if log})
    for axis, log in zip((axes.xaxis, axes.yaxis), drawn.logarithmic, strict=True):
        if log:
            label_plainly(axis)
    places = [spread(*limit, log, count) for limit, log, count in zip(limits, drawn.logarithmic, PIXELS, strict=True)]
    norm = scale(drawn, logarithmic)
    ramps = ramps_of(drawn.words)
    taken: list[Place] = []
    if drawn.loose:
        draw_points(axes, drawn, ramps, norm)
    else:
        cells = nearest_rows(drawn, *places)
        regimes = drawn.regimes.ravel()[cells]
        shades = None if drawn.shades is None else drawn.shades.ravel()[cells]
        if shades is not None and not drawn.gridded:
            shades = smoothed(drawn, places, regimes, shades)
        picture = paint(drawn.words, ramps, regimes, shades, norm)
        axes.imshow(picture, origin="lower", extent=(0, 1, 0, 1), transform=axes.transAxes, aspect="auto")
        axes.set(xlim=limits[0], ylim=limits[1])
        if not drawn.gridded and drawn.rows <= FEW:
            axes.plot(drawn.x_values, drawn.y_values, ".", color=INK, markersize=1.5, alpha=0.35, markeredgewidth=0, zorder=2)
        taken = name_areas(axes, drawn.words, ramps, regimes)
    if norm is not None:
        add_bar(figure, axes, drawn, ramps, norm)
        if drawn.lines:
            draw_lines(axes, drawn, taken)
        elif drawn.gridded:
            draw_levels(axes, drawn, norm, taken)
    draw_boundaries(axes, drawn, places, taken)
    others = {name: value for name, value in drawn.fixed.items() if name not in drawn.held}
    write_title(axes, title(drawn), fixed_in_words(drawn.model, others))


def smoothed(drawn: RegimeMap, places: list[np.ndarray], regimes: np.ndarray, shades: np.ndarray) -> np.ndarray:
    """The shades of pixels between scattered rows, interpolated at every second pixel of either axis; else as they are."""
    fine = shades_between(drawn, places[0][::2], places[1][::2], regimes[::2, ::2])
    if fine is None:
        return shades
    fine = fine.repeat(2, axis=0)[: shades.shape[0]].repeat(2, axis=1)[:, : shades.shape[1]]
    return np.where(np.isnan(fine), shades, fine)


def title(drawn: RegimeMap) -> str:
    """The title: the study and the number of its points."""
    done = counted(drawn.rows, "point")
    if not drawn.complete and drawn.done < drawn.points and not drawn.held:
        done = f"{drawn.rows:,} of {drawn.points:,} points"
    elif not drawn.complete:
        done += " of a run that is not complete"
    held = [f"{name} = {value:.6g}" if isinstance(value, float | int) else f"{name} = {value}" for name, value in drawn.held.items()]
    loose = [f"{', '.join(drawn.loose)} {'varies' if len(drawn.loose) == 1 else 'vary'} too"] if drawn.loose else []
    over = [f"over {', '.join(drawn.over)}"] if drawn.over else []
    return "; ".join([f"{drawn.study}: {done}", *held, *loose, *over])


def scale(drawn: RegimeMap, logarithmic: bool) -> Normalize | None:
    """The map from values of the shaded observable to [0, 1]; None if nothing is shaded."""
    from matplotlib.colors import LogNorm, Normalize

    if drawn.shades is None or drawn.shade is None:
        return None
    low, high = shade_range(drawn, logarithmic)
    return LogNorm(low, high, clip=True) if logarithmic else Normalize(low, high)


def shade_range(drawn: RegimeMap, logarithmic: bool) -> tuple[float, float]:
    """The smallest and the largest finite value of the shaded observable, for its scale."""
    if drawn.shades is None or drawn.shade is None:
        return 0.0, 1.0
    finite = drawn.shades[np.isfinite(drawn.shades)]
    if not logarithmic:
        return min(0.0, float(finite.min())), float(finite.max()) or 1.0
    if not finite.max() > 0.0:
        raise ConfigError("--log", [Problem("", f"{drawn.shade.name} is nowhere positive: it has no logarithm")])
    return max(float(finite[finite > 0.0].min()), 1e-4 * float(finite.max())), float(finite.max())


def colors_of(ramp: Ramp) -> Colormap:
    """The colour map of a regime, from small to large values."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("regime", ramp)


def paint(
    words: Sequence[str], ramps: Mapping[str, Ramp], regimes: np.ndarray, shades: np.ndarray | None, norm: Normalize | None
) -> np.ndarray:
    """The colours of the pixels or points, as three bytes along the last axis."""
    from matplotlib.colors import to_rgb

    picture = np.zeros((*regimes.shape, 3), np.uint8)
    for code, (_, color) in EMPTY.items():
        picture[regimes == code] = np.multiply(to_rgb(color), 255)
    for code, word in enumerate(words):
        inside = regimes == code
        if shades is None or norm is None:
            picture[inside] = np.multiply(to_rgb(flat(word, ramps)), 255)
        else:
            picture[inside] = colors_of(ramps[word])(np.ma.filled(norm(shades[inside]), 0.0), bytes=True)[:, :3]
    return picture


def draw_points(axes: Axes, drawn: RegimeMap, ramps: Mapping[str, Ramp], norm: Normalize | None) -> None:
    """Draw rows one by one, because other parameters vary too and a place between rows then has no single regime."""
    from matplotlib.lines import Line2D

    ramps = {word: (mixed(*ramp), ramp[1]) for word, ramp in ramps.items()}  # a dot needs a colour that is not too light
    colors = paint(drawn.words, ramps, drawn.regimes, drawn.shades, norm) / 255.0
    size = min(16.0, max(2.5, 4e4 / drawn.rows))
    edge = {"edgecolors": INK, "linewidths": 0.2} if drawn.rows <= FEW else {"linewidths": 0.0}
    axes.scatter(drawn.x_values, drawn.y_values, s=size, c=colors, rasterized=True, **edge)
    present = [(code, word) for code, word in enumerate(drawn.words) if (drawn.regimes == code).any()]
    if len(present) > 1:
        dots = [
            Line2D([], [], marker="o", linestyle="", markersize=6, markeredgecolor=INK, markeredgewidth=0.5,
                   color=flat(word, ramps) if norm is None else colors_of(ramps[word])(0.7), label=word)
            for _, word in present
        ]  # fmt: skip
        axes.figure.legend(handles=dots, loc="outside lower center", ncols=len(dots), fontsize=9, frameon=False)


def draw_levels(axes: Axes, drawn: RegimeMap, norm: Normalize, taken: list[Place]) -> None:
    """Draw contour lines of the shaded observable, each with its value if there is room."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, MaxNLocator

    locator: Any = LogLocator(numticks=8) if isinstance(norm, LogNorm) else MaxNLocator(6)
    if drawn.shades is None or drawn.shade is None or drawn.shade.kind == "integer" or norm.vmin is None or norm.vmax is None:
        return
    x, y, shades = thinned(drawn, drawn.shades)
    low, high = (float(found(shades)) for found in (np.nanmin, np.nanmax))
    near = drawn.rounding * max(abs(low), abs(high))
    levels = [float(level) for level in locator.tick_values(norm.vmin, norm.vmax) if max(low, norm.vmin) + near < level < high - near]
    if not levels:
        return
    lines = axes.contour(x, y, levelled(shades, levels, drawn.rounding), levels, colors=INK, linewidths=0.7, alpha=0.7)
    parts = (0.3, 0.45, 0.6)  # neighbouring lines get labels at different heights, so that labels do not touch
    add_labels(axes, lines, [parts[i % len(parts)] for i in range(len(levels))], taken, fontsize=9, fmt=lambda level: f"{level:g}")


def draw_lines(axes: Axes, drawn: RegimeMap, taken: list[Place]) -> None:
    """Draw the iso-lines that were asked for, each with its value, and a veil over the band in which the interval covers it."""
    if drawn.shades is None:
        return
    style: Any = {"color": INK, "zorder": 3}
    if drawn.ends is not None:
        x, y = (spread(v[0], v[-1], log, VEIL) for v, log in zip((drawn.x_values, drawn.y_values), drawn.logarithmic, strict=True))
        lower, upper = (between(drawn, end, x, y) for end in drawn.ends)
        for level in dict.fromkeys(line.level for line in drawn.lines):
            covered = (lower <= level) & (level <= upper)
            axes.pcolormesh(
                x, y, np.ma.masked_equal(covered, 0), cmap=colors_of((INK, INK)), alpha=0.18, linewidth=0, rasterized=True, zorder=2
            )
    for line in drawn.lines:
        main = line.of == "value"
        for number, piece in enumerate(line.pieces):
            axes.plot(*piece.T, linewidth=1.8 if main else 0.8, linestyle="-" if main else "--", **style)
            if main and number == 0:
                name_line(axes, BoundaryLine(f"{line.level:g}", f"{line.level:g}", (piece,), theory=False), taken)


def add_bar(figure: Figure, axes: Axes, drawn: RegimeMap, ramps: Mapping[str, Ramp], norm: Normalize) -> None:
    """Add one colour bar with a column for each shaded regime."""
    from matplotlib.cm import ScalarMappable

    shaded = [colors_of(ramps[word]) for code, word in enumerate(drawn.words) if word != "stick" and (drawn.regimes == code).any()]
    if not shaded or drawn.shade is None:
        return
    bar = figure.colorbar(ScalarMappable(norm, shaded[0]), ax=axes, fraction=0.05, pad=0.02, aspect=20)
    named = drawn.shade.symbol and "[" not in drawn.shade.name
    bar.set_label(f"{drawn.shade.name.replace('_', ' ')} {label(drawn.shade)}" if named else label(drawn.shade))
    bar.outline.set_linewidth(0.8)
    # a colour bar has one column, so an image with all columns is drawn over it
    picture = np.stack([colors(np.linspace(0.0, 1.0, 256))[:, :3] for colors in shaded], axis=1)
    bar.ax.imshow(
        picture, origin="lower", extent=(0, 1, 0, 1), transform=bar.ax.transAxes, aspect="auto", interpolation="nearest", zorder=3
    )
