"""The picture of branches: an observable over the parameter, solid where a motion is stable, dashed where it is not.

Curves of special points are drawn beside them, in the plane of both parameters.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.branching.results import MOST_BONED, Branches, observables
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.results.picture import HUES, INK, Picture, label, label_plainly, plain, save

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

SIZE, WITH_CURVES = (8.6, 5.2), (12.4, 5.2)  # inches
MOST = 8  # points of the study that are told apart by colour
MARKS: dict[str, dict[str, Any]] = {
    "fold": {"marker": "o", "markerfacecolor": "white"},
    "flip": {"marker": "D", "markerfacecolor": "white"},
    "Neimark-Sacker": {"marker": "^", "markerfacecolor": "white"},
    "branch point": {"marker": "s", "markerfacecolor": "white"},
    "grazing": {"marker": "x", "markeredgewidth": 1.2},
}  # special point -> how it is drawn
LINES: dict[str, dict[str, Any]] = {
    "fold": {"color": HUES[0]},
    "flip": {"color": HUES[1]},
    "Neimark-Sacker": {"color": HUES[2]},
    "grazing": {"color": INK, "linestyle": (0, (5, 2))},
}  # kind of a curve -> how it is drawn
BACKBONE: dict[str, Any] = {"linewidth": 1.2, "linestyle": (0, (1, 1.4))}  # how a backbone is drawn
DEFAULTS = ("x_max", "wear_power")


def draw(found: Branches, out: Path | None, observable: str | None = None) -> Picture:
    """Draw branches into a .png, .svg or .pdf file.

    Raises:
        ConfigError: matplotlib is missing, the suffix is unknown, there is no such observable, or nothing was found.
        OSError: `out` cannot be written.
    """
    known = [name for name, quantity in observables(found.branching).items() if quantity.kind != "word"]
    name = observable or next(each for each in (*DEFAULTS, *known) if each in known)
    if name not in known:
        raise ConfigError("tribosweep branches", [Problem("--observable", f"{name!r}: {advise(name, known)}")])
    if not found.points.num_rows:
        raise ConfigError("tribosweep branches", [Problem("", "no branch was found: nothing to draw")])
    return save(out, SIZE if found.curves is None else WITH_CURVES, lambda figure: fill(figure, found, name), "branches")


def fill(figure: Figure, found: Branches, name: str) -> None:
    """Put the picture into an empty figure."""
    from matplotlib.lines import Line2D

    axes = figure.add_subplot(1, 1 if found.curves is None else 2, 1)
    along, quantity = found.branching.along, observables(found.branching)[name]
    frame = found.points.to_pandas()
    numbers = list(dict.fromkeys(frame["point"]))
    if along.logarithmic:
        axes.set_xscale("log")
        label_plainly(axes.xaxis)
    for (number, _), branch in frame.groupby(["point", "branch"], sort=False):
        hue = HUES[numbers.index(number) % len(HUES)] if len(numbers) <= MOST else INK
        draw_branch(axes, branch[along.name].to_numpy(), branch[name].to_numpy(float), branch["stable"].to_numpy(bool), hue)
    boned = draw_backbone(axes, found, name)
    seen = [kind for kind in MARKS if (frame["special"] == kind).any()]
    size = 5.5 if len(numbers) <= MOST else 3.0
    for kind in seen:
        rows = frame[frame["special"] == kind]
        axes.plot(rows[along.name], rows[name], linestyle="none", color=INK, markersize=size, zorder=4, **MARKS[kind])
    handles = [Line2D([], [], color=INK, linewidth=1.6, label="stable")]
    if not frame["stable"].all():
        handles.append(Line2D([], [], color=INK, linewidth=1.0, linestyle=(0, (4, 2.5)), label="unstable"))
    handles += boned
    handles += [Line2D([], [], color=INK, linestyle="none", markersize=5.5, label=kind, **MARKS[kind]) for kind in seen]
    if 1 < len(numbers) <= MOST:
        handles += [Line2D([], [], color=HUES[i % len(HUES)], label=point_label(found, frame, number)) for i, number in enumerate(numbers)]
    axes.legend(handles=handles, frameon=False, fontsize=8.5, loc="best")
    axes.set(xlabel=label(along.quantity), ylabel=label(quantity))
    axes.grid(linewidth=0.4, alpha=0.5)
    count = found.branches.num_rows
    title = f"{plain(found.branching.config.name)}: {count:,} {'branch' if count == 1 else 'branches'} of periodic motions"
    axes.set_title(title, loc="left", fontsize=10.5)
    if found.curves is not None:
        draw_curves(figure.add_subplot(1, 2, 2), found)


def draw_backbone(axes: Axes, found: Branches, name: str) -> list[Line2D]:
    """Draw the backbones of the first points of the study, if they are asked for and have the observable; a line for the legend."""
    if found.backbone is None or name not in found.backbone.column_names:
        return []
    frame = found.backbone.to_pandas()
    lines: list[Line2D] = []
    for _, motions in itertools.islice(frame.groupby("point", sort=True), MOST_BONED):
        lines = axes.plot(motions[found.branching.along.name], motions[name], color=INK, label="backbone", zorder=1, **BACKBONE)
    return lines


def draw_curves(axes: Axes, found: Branches) -> None:
    """Draw curves of special points in the plane of both parameters, and a line where the branches lie."""
    from matplotlib.lines import Line2D

    if found.curves is None:
        return
    along, second = found.branching.pair
    frame = found.curves.to_pandas()
    for _, curve in frame.groupby(["point", "curve"], sort=False):
        marker = "." if len(curve) == 1 else ""
        axes.plot(curve[along.name], curve[second.name], linewidth=1.4, marker=marker, **LINES[curve["kind"].iloc[0]])
    place = float(found.branching.config.fixed[second.name])
    axes.axhline(place, color=INK, linewidth=0.7, linestyle=":", zorder=1)
    handles = [Line2D([], [], label=kind, **style) for kind, style in LINES.items() if (frame["kind"] == kind).any()]
    handles.append(
        Line2D([], [], color=INK, linewidth=0.7, linestyle=":", label=f"the branches: {second.name} = {place:.6g} {second.unit}".rstrip())
    )
    axes.legend(handles=handles, frameon=False, fontsize=8.5, loc="best")
    for axis, free, scale in ((axes.xaxis, along, axes.set_xscale), (axes.yaxis, second, axes.set_yscale)):
        if free.logarithmic:
            scale("log")
            label_plainly(axis)
    axes.set(
        xlim=(along.lower, along.upper), ylim=(second.lower, second.upper), xlabel=label(along.quantity), ylabel=label(second.quantity)
    )
    axes.grid(linewidth=0.4, alpha=0.5)
    count = frame.groupby(["point", "curve"]).ngroups
    axes.set_title(f"{count:,} {'curve' if count == 1 else 'curves'} of special points", loc="left", fontsize=10.5)


def draw_branch(axes: Axes, x: np.ndarray, y: np.ndarray, stable: np.ndarray, hue: str) -> None:
    """Draw one branch; each piece begins with the last point of the one before it."""
    bounds = [0, *(np.flatnonzero(stable[1:] != stable[:-1]) + 1).tolist(), len(x)]
    for start, stop in itertools.pairwise(bounds):
        part = slice(max(start - 1, 0), stop)
        style: dict[str, Any] = {"linewidth": 1.6} if stable[start] else {"linewidth": 1.0, "linestyle": (0, (4, 2.5))}
        axes.plot(x[part], y[part], color=hue, zorder=3 if stable[start] else 2, **style)


def point_label(found: Branches, frame: pd.DataFrame, number: int) -> str:
    """The values of the axes at a point of the study."""
    row = frame[frame["point"] == number].iloc[0]
    model = found.branching.config.model
    names = [name for name in found.branching.config.swept if name in frame.columns]
    return (
        ", ".join(f"{plain(name)} = {row[name]:.4g} {model.parameter(name).unit}".removesuffix(" 1") for name in names) or f"point {number}"
    )
