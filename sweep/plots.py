"""Pictures of a run: the regimes as areas, an observable as their shade, and the boundaries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.boundaries import Boundary
from sweep.maps import FAILED, FREE, MISSING, VOID, RegimeMap, theory_of
from sweep.pictures import INK, Ramp, label, mixed, ramps_of, save
from sweep.problems import ConfigError, Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Place = tuple[float, float]  # as parts of the picture's width and height

SIZE = (7.5, 4.7)  # inches
PIXELS = (1600, 1200)  # of the areas, whatever the number of points
LINE_NODES = 400
FEW = 3000  # scattered points that are drawn one by one
FLAT = {"stick": "#e4e2dd", "stick-slip": "#8dbde0", "slip-slip": "#d9853b"}
EMPTY = {FAILED: ("failed", "#ffffff"), MISSING: ("not computed", "#f7f7f7"), VOID: ("did not happen", "#ffffff")}
ENOUGH = 0.02  # part of the picture that an area must fill to bear its name
NAMED = 4  # boundaries that bear their names; more are in the legend alone
HALO = 2.5
LEGEND = (0.88, 0.93)  # where that of the lines is
DASHES = (0, (4, 3))


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
        picture = paint(drawn.words, ramps, regimes, shades, norm)
        axes.imshow(picture, origin="lower", extent=(0, 1, 0, 1), transform=axes.transAxes, aspect="auto")
        axes.set(xlim=limits[0], ylim=limits[1])
        if not drawn.gridded and drawn.rows <= FEW:
            axes.plot(drawn.x_values, drawn.y_values, ".", color=INK, markersize=1.5, alpha=0.35, markeredgewidth=0, zorder=2)
        taken = name_areas(axes, drawn.words, ramps, regimes)
    if norm is not None:
        add_bar(figure, axes, drawn, ramps, norm)
        if drawn.gridded:
            draw_levels(axes, drawn, norm, taken)
    draw_boundaries(axes, drawn, places, taken)
    axes.set_title(title(drawn), loc="left", fontsize=10.5)


def title(drawn: RegimeMap) -> str:
    """What is drawn, and how much of it is there."""
    done = f"{drawn.rows:,} points"
    if not drawn.complete and drawn.done < drawn.points and not drawn.held:
        done = f"{drawn.rows:,} of {drawn.points:,} points"
    elif not drawn.complete:
        done += " of a run that is not complete"
    held = [f"{name} = {value:.6g}" if isinstance(value, float | int) else f"{name} = {value}" for name, value in drawn.held.items()]
    loose = [f"{', '.join(drawn.loose)} {'varies' if len(drawn.loose) == 1 else 'vary'} too"] if drawn.loose else []
    return "; ".join([f"{drawn.study}: {done}", *held, *loose])


def limits_of(drawn: RegimeMap) -> list[tuple[float, float]]:
    """The ends of the axes: those of scattered rows; half a cell beyond the values of a grid."""
    found = []
    for values, log in zip((drawn.x_values, drawn.y_values), drawn.logarithmic, strict=True):
        if drawn.gridded:
            found.append(ends(values, log))
        else:
            found.append((float(values.min()), float(values.max())))
    return found


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


def nearest_rows(drawn: RegimeMap, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n_y, n_x) positions, in the flat arrays of a map, of the rows nearest to places: along each axis on a grid, else in the frame."""
    if drawn.gridded:
        columns, rows = nearest(drawn.x_values, x, drawn.logarithmic[0]), nearest(drawn.y_values, y, drawn.logarithmic[1])
        return np.asarray(rows[:, np.newaxis] * len(drawn.x_values) + columns[np.newaxis, :])
    from scipy.spatial import cKDTree

    def scaled(values: np.ndarray, rows: np.ndarray, log: bool) -> np.ndarray:
        v, r = (np.log(values), np.log(rows)) if log else (values, rows)
        return np.asarray((v - r.min()) / (np.ptp(r) or 1.0))

    own = ((drawn.x_values, drawn.logarithmic[0]), (drawn.y_values, drawn.logarithmic[1]))
    tree = cKDTree(np.stack([scaled(rows, rows, log) for rows, log in own], axis=1))
    across, up = (scaled(places, rows, log) for places, (rows, log) in zip((x, y), own, strict=True))
    _, found = tree.query(np.stack(np.meshgrid(across, up), axis=-1))
    return np.asarray(found)


def scale(drawn: RegimeMap, logarithmic: bool) -> Normalize | None:
    """From values of the shaded observable to [0, 1]; None when nothing is shaded."""
    from matplotlib.colors import LogNorm, Normalize

    if drawn.shades is None or drawn.shade is None:
        return None
    low, high = shade_range(drawn, logarithmic)
    return LogNorm(low, high, clip=True) if logarithmic else Normalize(low, high)


def shade_range(drawn: RegimeMap, logarithmic: bool) -> tuple[float, float]:
    """The smallest and the largest value of the scale of the shaded observable, which is somewhere finite."""
    if drawn.shades is None or drawn.shade is None:
        return 0.0, 1.0
    finite = drawn.shades[np.isfinite(drawn.shades)]
    if not logarithmic:
        return min(0.0, float(finite.min())), float(finite.max()) or 1.0
    if not finite.max() > 0.0:
        raise ConfigError("--log", [Problem("", f"{drawn.shade.name} is nowhere positive: it has no logarithm")])
    return max(float(finite[finite > 0.0].min()), 1e-4 * float(finite.max())), float(finite.max())


def colors_of(ramp: Ramp) -> Colormap:
    """The colours of a regime, from small to large values."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("regime", ramp)


def flat(word: str, ramps: Mapping[str, Ramp]) -> str:
    """The colour of a regime where nothing is shaded."""
    return FLAT.get(word) or mixed(*ramps[word], 0.5)


def paint(
    words: Sequence[str], ramps: Mapping[str, Ramp], regimes: np.ndarray, shades: np.ndarray | None, norm: Normalize | None
) -> np.ndarray:
    """The colours of the pixels (or points), three bytes each along the last axis."""
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
    """Rows one by one, where a place between them would be of no regime, because more varies than the axes."""
    from matplotlib.lines import Line2D

    ramps = {word: (mixed(*ramp), ramp[1]) for word, ramp in ramps.items()}  # none too light for a dot
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
    """Lines of equal value of the shaded observable, each with its value where there is room."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, MaxNLocator

    locator: Any = LogLocator(numticks=8) if isinstance(norm, LogNorm) else MaxNLocator(6)
    levels = [level for level in locator.tick_values(norm.vmin, norm.vmax) if norm.vmin < level < norm.vmax]
    if not levels or drawn.shades is None or drawn.shade is None or drawn.shade.kind == "integer":
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
    places: list[tuple[float, ...]] = []
    to_frame = axes.transData + axes.transAxes.inverted()
    for path, part in zip(lines.get_paths(), parts, strict=True):
        vertices = np.asarray(path.vertices)
        free = is_free(axes, vertices, taken)
        at = to_frame.transform(vertices)
        for other in places:
            free &= (np.abs(at - to_frame.transform(other)) > (0.05, 0.05)).any(axis=1)
        if free.any():
            places.append(tuple(vertices[free][int(part * np.count_nonzero(free))]))
    return list(axes.clabel(lines, manual=places, **style))


def is_free(axes: Axes, vertices: np.ndarray, taken: list[Place], around: Place = (0.11, 0.07)) -> np.ndarray:
    """Mask of the places, in data coordinates, that lie well inside the frame and clear of the places `taken`."""
    at = (axes.transData + axes.transAxes.inverted()).transform(vertices)
    free = ((at > 0.05) & (at < 0.95)).all(axis=1)
    for place in taken:
        free &= (np.abs(at - place) > around).any(axis=1)  # half of a name's box and of the label
    return np.asarray(free)


def add_bar(figure: Figure, axes: Axes, drawn: RegimeMap, ramps: Mapping[str, Ramp], norm: Normalize) -> None:
    """One colour bar with a column for each regime that is shaded."""
    from matplotlib.cm import ScalarMappable

    shaded = [colors_of(ramps[word]) for code, word in enumerate(drawn.words) if word != "stick" and (drawn.regimes == code).any()]
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
    """Lines between the regimes: those that the run has found, beside those of theory; where there is neither, between the rows."""
    values = (drawn.x_values, drawn.y_values)
    # finer than a quarter of the pixels, a line looks no smoother; beyond the rows, half a cell, parameters may be out of their bounds
    x, y = (along[::4][(own.min() <= along[::4]) & (along[::4] <= own.max())] for along, own in zip(places, values, strict=True))
    theory = theory_of(drawn, x, y)
    for boundary in [*drawn.measured, *theory]:
        for piece in boundary.pieces:
            axes.plot(*piece.T, **line_style(boundary, drawn))
    # a line that the run and theory share bears the name that theory gives it
    named = [*theory, *(boundary for boundary in drawn.measured if not theory or " = " in boundary.plain)]
    if drawn.measured:
        taken.append(LEGEND)
    nameless = [boundary for boundary in named if len(named) > NAMED or not name_line(axes, boundary, taken)]
    if drawn.measured:
        add_legend(axes, drawn, theory, [boundary.name for boundary in nameless if not boundary.theory])
    elif drawn.gridded and (not theory or any(boundary.tends for boundary in theory)):
        present = [code for code in (*sorted(EMPTY), *range(len(drawn.words))) if (drawn.regimes == code).any()]
        between = [code + 0.5 for code in present[:-1]]
        if between:
            axes.contour(*thinned(drawn, drawn.regimes), between, colors=INK, linewidths=1.2)


def line_style(boundary: Boundary, drawn: RegimeMap) -> dict[str, Any]:
    """How a boundary is drawn: theory white and dashed on what the run has found, else black; dashed where the rows only tend to it."""
    if boundary.theory and drawn.measured:
        return {"color": "white", "linewidth": 1.0, "linestyle": DASHES, "zorder": 4}
    return {"color": INK, "linewidth": 1.2 if boundary.tends else 1.8, "linestyle": DASHES if boundary.tends else "-", "zorder": 3}


def add_legend(axes: Axes, drawn: RegimeMap, theory: list[Boundary], nameless: list[str]) -> None:
    """What the kinds of lines are, with the names for which there was no room on them."""
    from matplotlib.lines import Line2D

    names = f" ({', '.join(nameless)})" if nameless else ""
    handles: list[Any] = [Line2D([], [], label=f"found by the run{names}", **line_style(drawn.measured[0], drawn))]
    handles += [Line2D([], [], label="theory", **line_style(boundary, drawn)) for boundary in theory[:1]]
    present = axes.get_legend()
    if present is not None:
        handles += list(present.legend_handles)
    axes.legend(handles=handles, loc="upper right", fontsize=8.5, facecolor="#c9c9c9", framealpha=0.9, edgecolor="none")


def name_line(axes: Axes, boundary: Boundary, taken: list[Place]) -> bool:
    """The name of a boundary on its longest piece, along it; False where there is no room."""
    from matplotlib.patheffects import withStroke

    longest = max(boundary.pieces, key=len)
    nodes = np.linspace(0.0, len(longest) - 1.0, max(len(longest), LINE_NODES))
    piece = np.stack([np.interp(nodes, np.arange(len(longest)), along) for along in longest.T], axis=1)
    free = np.flatnonzero(is_free(axes, piece, taken, (0.17, 0.1)))
    if not len(free):
        return False
    at = int(free[int(0.86 * len(free))])
    to_screen = axes.transData.transform
    step = max(1, len(piece) // 40)
    (x0, y0), (x1, y1) = to_screen(piece[max(0, at - step)]), to_screen(piece[min(len(piece) - 1, at + step)])
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    angle = (angle + 90.0) % 180.0 - 90.0  # never upside down
    halo = [withStroke(linewidth=HALO, foreground="white")]
    axes.text(
        float(piece[at, 0]),
        float(piece[at, 1]),
        boundary.name,
        rotation=angle,
        rotation_mode="anchor",
        ha="center",
        va="bottom",
        fontsize=10.5,
        path_effects=halo,
        zorder=6,
    )
    taken.append(tuple((axes.transData + axes.transAxes.inverted()).transform(piece[at])))
    return True


def name_areas(axes: Axes, words: Sequence[str], ramps: Mapping[str, Ramp], regimes: np.ndarray) -> list[Place]:
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
            small.append(Patch(facecolor=EMPTY[code][1] if code in EMPTY else flat(word, ramps), edgecolor=INK, label=word))
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
