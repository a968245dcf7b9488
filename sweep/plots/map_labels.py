"""Lines and names on the picture of a regime map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.map_areas import FREE
from tribosweep.sweep.analysis.map_places import limits_of, sides_of
from tribosweep.sweep.analysis.palette import EMPTY, Ramp, flat
from tribosweep.sweep.analysis.regime_map import RegimeMap, theory_of
from tribosweep.sweep.analysis.theory import BoundaryLine
from tribosweep.sweep.results.picture import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet
    from matplotlib.text import Text


Place = tuple[float, float]  # as parts of the picture's width and height
LINE_NODES = 400
ENOUGH = 0.02  # smallest part of the picture that an area must fill to get its name
NAMED = 4  # number of boundaries with their names on the map; the legend names the others
HALO = 2.5
EDGES = (0.16, 0.05)  # distances of a name from the frame, in the order of preference
LEGEND = (0.88, 0.93)  # place of the legend of the lines
DASHES = (0, (4, 3))


def add_labels(axes: Axes, lines: ContourSet, parts: Sequence[float], taken: list[Place], **style: Any) -> list[Text]:
    """Label each line at its own fraction of its vertices that are well inside the frame and clear of the places `taken`."""
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


def is_free(axes: Axes, vertices: np.ndarray, taken: list[Place], around: Place = (0.11, 0.07), edge: float = 0.05) -> np.ndarray:
    """Mask of the vertices (data coordinates) that are `edge` inside the frame and clear of the places `taken`."""
    at = (axes.transData + axes.transAxes.inverted()).transform(vertices)
    free = ((at > edge) & (at < 1.0 - edge)).all(axis=1)
    for place in taken:
        free &= (np.abs(at - place) > around).any(axis=1)  # half the box of a name plus half the label
    return np.asarray(free)


def draw_boundaries(axes: Axes, drawn: RegimeMap, places: list[np.ndarray], taken: list[Place]) -> None:
    """Draw the boundaries from the run and from theory, or lines between the rows if there are neither."""
    values = (drawn.x_values, drawn.y_values)
    # steps of four pixels look smooth; in the half cell beyond the rows, parameters may be out of their bounds
    x, y = (along[::4][(own.min() <= along[::4]) & (along[::4] <= own.max())] for along, own in zip(places, values, strict=True))
    theory = theory_of(drawn, x, y)
    for boundary in [*drawn.measured, *theory]:
        for piece in boundary.pieces:
            axes.plot(*piece.T, **line_style(boundary, drawn))
    # a line from both the run and theory gets the name from theory
    named = [*theory, *(boundary for boundary in drawn.measured if (not theory or " = " in boundary.plain) and not boundary.tends)]
    if drawn.measured:
        taken.append(LEGEND)
    nameless = [boundary for boundary in named if len(named) > NAMED or not name_line(axes, boundary, taken)]
    if drawn.measured:
        add_legend(axes, drawn, theory, [boundary.name for boundary in nameless if not boundary.theory])
    elif drawn.gridded and (not theory or any(boundary.tends for boundary in theory)):
        draw_sides(axes, drawn)


def draw_sides(axes: Axes, drawn: RegimeMap) -> None:
    """Draw the sides between cells of different areas on a grid."""
    from matplotlib.collections import LineCollection

    x, y = (sides_of(values, log) for values, log in zip((drawn.x_values, drawn.y_values), drawn.logarithmic, strict=True))
    upright = [np.stack([(x[i], y[first]), (x[i], y[last])]) for i, first, last in stretches(np.diff(drawn.regimes, axis=1).T != 0)]
    level = [np.stack([(x[first], y[j]), (x[last], y[j])]) for j, first, last in stretches(np.diff(drawn.regimes, axis=0) != 0)]
    axes.add_collection(LineCollection([*upright, *level], colors=INK, linewidths=1.2, capstyle="projecting", zorder=3), autolim=False)


def stretches(differ: np.ndarray) -> list[tuple[int, int, int]]:
    """The stretches of True in each row of an (n, m) mask: (row + 1, first, last + 1)."""
    steps = np.diff(np.pad(differ, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    (rows, first), (_, last) = np.nonzero(steps == 1), np.nonzero(steps == -1)
    return list(zip((rows + 1).tolist(), first.tolist(), last.tolist(), strict=True))


def line_style(boundary: BoundaryLine, drawn: RegimeMap) -> dict[str, Any]:
    """The style of a boundary: black, or white and dashed for theory on top of lines of the run; dashed also if rows only tend to it."""
    if boundary.theory and drawn.measured:
        return {"color": "white", "linewidth": 1.0, "linestyle": DASHES, "zorder": 4}
    return {
        "color": INK,
        "linewidth": (1.2 if boundary.theory else 0.9) if boundary.tends else 1.8,
        "linestyle": DASHES if boundary.tends else "-",
        "zorder": 3,
    }


def add_legend(axes: Axes, drawn: RegimeMap, theory: list[BoundaryLine], nameless: list[str]) -> None:
    """Add a legend of the kinds of lines, with the names that found no room on the map."""
    from matplotlib.lines import Line2D

    names = f" ({', '.join(nameless)})" if nameless else ""
    kinds = {boundary.tends: boundary for boundary in drawn.measured}
    labels = {False: f"found by the run{names}", True: "ends of its interval"}
    handles: list[Any] = [Line2D([], [], label=labels[kind], **line_style(kinds[kind], drawn)) for kind in sorted(kinds)]
    handles += [Line2D([], [], label="theory", **line_style(boundary, drawn)) for boundary in theory[:1]]
    present = axes.get_legend()
    if present is not None:
        handles += list(present.legend_handles)
    axes.legend(handles=handles, loc="upper right", fontsize=8.5, facecolor="#c9c9c9", framealpha=0.9, edgecolor="none")


def name_line(axes: Axes, boundary: BoundaryLine, taken: list[Place]) -> bool:
    """Write the name of a boundary along its longest piece; False if there is no room."""
    from matplotlib.patheffects import withStroke

    longest = max(boundary.pieces, key=len)
    nodes = np.linspace(0.0, len(longest) - 1.0, max(len(longest), LINE_NODES))
    piece = np.stack([np.interp(nodes, np.arange(len(longest)), along) for along in longest.T], axis=1)
    free = next((free for edge in EDGES if len(free := np.flatnonzero(is_free(axes, piece, taken, (0.17, 0.1), edge)))), np.empty(0, int))
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
    """Write the name of every area in its middle, or in a legend if it does not fit; return the places of the names."""
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
    """The place in an area farthest from its edge, as parts of the picture's width and height; None if the area is too thin for a word."""
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


def thinned(drawn: RegimeMap, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and `values` at about LINE_NODES nodes along each axis, fine enough for a line, and at the frame, where lines then end."""
    across, up = (max(1, -(-count // LINE_NODES)) for count in (len(drawn.x_values), len(drawn.y_values)))
    (left, right), (bottom, top) = limits_of(drawn)
    x, y = np.concatenate([[left], drawn.x_values[::across], [right]]), np.concatenate([[bottom], drawn.y_values[::up], [top]])
    return x, y, np.pad(values[::up, ::across], 1, mode="edge")


def levelled(values: np.ndarray, levels: Sequence[float], rounding: float) -> np.ndarray:
    """`values`, with those that differ from a level by rounding alone put on it, so that a contour does not follow rounding errors.

    Args:
        values: of any shape; NaN where there is none. levels: of the contours. rounding: of the values, relative to the largest.
    """
    largest = float(np.nanmax(np.abs(values)))
    found = values.copy()
    for level in levels:
        found[np.abs(values - level) <= rounding * largest] = level
    return found
