"""The picture of a time history: orbits in their clearances with the forces of the supports, or motion and forces of one coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.supports import PLANE, RING, named
from tribosweep.sweep.analyses.trace.result import Clearance, TimeTrace
from tribosweep.sweep.results.picture import HUES, INK, Picture, legend, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, ORBIT, MOTION = 11.0, 3.3, 2.4  # inches: of a picture; height of a support's panels, and of those of the displacements
MOST_VECTORS = 5000  # instants up to which lines are drawn as lines in .svg and .pdf
CROWDED = 3000  # instants in contact from which on an orbit is drawn with thin lines
GREY, HOLDS, SLIPS = "#8b877e", HUES[0], HUES[1]
THIN: dict[str, Any] = {"linewidth": 0.8}
LENGTHS = ((0.5, 1.0, "m"), (5e-4, 1e3, "mm"), (0.0, 1e6, "μm"))  # least size [m], factor, unit
COARSE = 128  # nodes of a circle


def draw(trace: TimeTrace, out: Path | None) -> Picture:
    """Draw a time history into a .png, .svg or .pdf file; of a structure at most four supports (`TimeTrace.drawn`).

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown. OSError: `out` cannot be written.
    """
    if trace.clearances or not {"x", "friction_force"} <= trace.columns.keys():
        rows = len(trace.drawn)
        height = ORBIT * rows + (MOTION if points_of(trace) or not rows else 0.0) + 0.5
        return save(out, (WIDTH, height), lambda figure: of_structure(figure, trace), "trace")
    return save(out, (WIDTH, 6.2), lambda figure: of_oscillator(figure, trace), "trace")


def points_of(trace: TimeTrace) -> dict[str, list[str]]:
    """The observed points, each with its columns of displacements."""
    found: dict[str, list[str]] = {}
    for quantity in trace.quantities:
        axis, _, point = quantity.name.partition("[")
        if axis in ("x", "y", "z") and point:
            found.setdefault(point.removesuffix("]"), []).append(quantity.name)
    return found


def of_structure(figure: Figure, trace: TimeTrace) -> None:
    """Two rows for each support, with the orbit and the forces, and one for the displacements of points."""
    drawn, points = trace.drawn, points_of(trace)
    last = bool(points) or not drawn
    heights = [0.5 * ORBIT] * (2 * len(drawn)) + ([MOTION] if last else [])
    grid = figure.add_gridspec(len(heights), 2, width_ratios=[1.0, 2.1] if drawn else [0.0, 1.0], height_ratios=heights)
    shared: Any = None
    for row, clearance in enumerate(drawn):
        orbit(figure.add_subplot(grid[2 * row : 2 * row + 2, 0]), trace, clearance)
        if clearance.flat:
            upper = lower = figure.add_subplot(grid[2 * row : 2 * row + 2, 1], sharex=shared)
            pushes(upper, trace, clearance)
        else:
            upper = figure.add_subplot(grid[2 * row, 1], sharex=shared)
            lower = figure.add_subplot(grid[2 * row + 1, 1], sharex=shared or upper)
            pushes(upper, trace, clearance)
            rubs(lower, trace, clearance)
            upper.tick_params(labelbottom=False)
        shared = shared or upper
        if last or row < len(drawn) - 1:
            lower.tick_params(labelbottom=False)
        else:
            lower.set_xlabel("time [s]")
    if last:
        axes = figure.add_subplot(grid[-1, 1], sharex=shared)
        displacements(axes, trace, points)
        axes.set_xlabel("time [s]")
    if drawn and last:
        corner = figure.add_subplot(grid[-1, 0])
        corner.set_axis_off()
        corner.legend(handles=states(drawn), loc="center", fontsize=9.5, frameon=False)
    elif drawn:
        figure.legend(handles=states(drawn), loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    limit_time(figure, trace)
    figure.suptitle(plain(title(trace)), x=0.01, ha="left", fontsize=10.5)


def in_unit(*values: np.ndarray) -> tuple[float, str]:
    """A factor of displacements [m], and the unit that they then have, so that their axis needs no power of ten."""
    largest = max(float(np.abs(value).max(initial=0.0)) for value in values)
    return next(((factor, unit) for least, factor, unit in LENGTHS if largest >= least), LENGTHS[-1][1:])


def limit_time(figure: Figure, trace: TimeTrace) -> None:
    """Let the axes of time end with the trace."""
    for axes in figure.axes:
        if axes.get_gid() == "time":
            axes.set_xlim(float(trace.time[0]), float(trace.time[-1]))
            axes.grid(visible=True, color="#e4e4e4", linewidth=0.6)
            axes.set_axisbelow(True)


def title(trace: TimeTrace) -> str:
    """What is drawn."""
    return f"{trace.study}, point {trace.point}, by {trace.scheme}: {trace.time[0]:g} to {trace.time[-1]:g} s"


def states(drawn: Sequence[Clearance]) -> list[Any]:
    """The legend of the colours of a path; without friction a contact neither holds nor slips."""
    from matplotlib.lines import Line2D

    rubbing = not all(each.flat for each in drawn)
    return [
        Line2D([], [], color=GREY, linewidth=1.4, label="no contact"),
        Line2D([], [], color=HOLDS, linewidth=2.2, label="contact holds" if rubbing else "contact"),
        *([Line2D([], [], color=SLIPS, linewidth=2.2, label="contact slips")] if rubbing else []),
        Line2D([], [], color=INK, linewidth=1.2, label="clearance"),
    ]


def orbit(axes: Axes, trace: TimeTrace, clearance: Clearance) -> None:
    """The path in the plane of the first two axes, coloured by what the contact does, with the clearance; over time if it has one axis."""
    of = trace.columns
    names = ["place_1"] if clearance.flat else ["place_1", "place_2"]
    places = [of[named(name, clearance.name)] for name in names]
    factor, unit = in_unit(*places, np.array(clearance.gap))
    first, second = factor * places[0], None if clearance.flat else factor * places[1]
    holds, slips = does(trace, clearance)
    x, y = (trace.time, first) if second is None else (first, second)
    many = len(trace.time) > MOST_VECTORS
    axes.plot(x, y, color=GREY, linewidth=0.6, rasterized=many)
    thin = clearance.flat or np.count_nonzero(holds | slips) > CROWDED
    look: Any = {"linewidth": 1.0} if thin else {"linewidth": 1.8, "marker": ".", "markersize": 2.2}
    for mask, color in ((holds, HOLDS), (slips, SLIPS)):
        axes.plot(*masked(mask, x, y), color=color, rasterized=many, **look)
    if second is None:
        for level in levels(clearance):
            axes.axhline(factor * level, color=INK, linewidth=1.2, zorder=4)
        axes.set(xlabel="time [s]", ylabel=f"along axis 1 [{unit}]")
        axes.set_gid("time")
    else:
        outline(axes, clearance, factor)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(xlabel=f"along axis 1 [{unit}]", ylabel=f"along axis 2 [{unit}]")
    axes.set_title(plain(clearance.name), loc="left", fontsize=10.5)


def levels(clearance: Clearance) -> list[float]:
    """Where planes stand along the first axis [m]."""
    return [clearance.gap] if clearance.obstacle == PLANE else [-clearance.gap, clearance.gap]


def outline(axes: Axes, clearance: Clearance, factor: float) -> None:
    """Draw the clearance, enlarged by a factor: a circle, a line or two."""
    if clearance.obstacle == RING:
        turn, radius = np.linspace(0.0, 2.0 * np.pi, COARSE + 1), factor * clearance.gap
        axes.plot(radius * np.cos(turn), radius * np.sin(turn), color=INK, linewidth=1.2, zorder=4)
        return
    for level in levels(clearance):
        axes.axvline(factor * level, color=INK, linewidth=1.2, zorder=4)


def masked(mask: np.ndarray, *values: np.ndarray) -> list[np.ndarray]:
    """The values where a mask is true, and NaN elsewhere, so that lines break there."""
    return [np.where(mask, value, np.nan) for value in values]


def pushes(axes: Axes, trace: TimeTrace, clearance: Clearance) -> None:
    """Normal force of a support over time."""
    normal = trace.columns[named("normal_force", clearance.name)]
    axes.plot(trace.time, normal, color=INK, **THIN, rasterized=len(trace.time) > MOST_VECTORS)
    axes.set_ylabel("normal [N]")
    axes.set_gid("time")
    axes.set_ylim(bottom=0.0)


def rubs(axes: Axes, trace: TimeTrace, clearance: Clearance) -> None:
    """Friction force of a support over time, coloured by what the contact does."""
    time, friction = trace.time, trace.columns[named("tangential_force", clearance.name)]
    holds, slips = does(trace, clearance)
    many = len(time) > MOST_VECTORS
    axes.plot(time, friction, color=GREY, linewidth=0.6, rasterized=many)
    for mask, color in ((holds, HOLDS), (slips, SLIPS)):
        axes.plot(*masked(mask, time, friction), color=color, linewidth=1.0, marker=".", markersize=1.6, rasterized=many)
    axes.set_ylabel("friction [N]")
    axes.set_gid("time")
    axes.set_ylim(bottom=0.0)


def does(trace: TimeTrace, clearance: Clearance) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the instants at which the contact holds, and at which it slips."""
    touches = trace.columns[named("normal_force", clearance.name)] > 0.0
    slips = trace.columns[named("slips", clearance.name)] > 0.5
    return touches & ~slips, touches & slips


def displacements(axes: Axes, trace: TimeTrace, points: dict[str, list[str]]) -> None:
    """The displacements of observed points over time, or those of the coordinates if no point is observed."""
    names = [name for columns in points.values() for name in columns]
    names = names or [quantity.name for quantity in trace.quantities if quantity.name.startswith("q_")]
    factor, unit = in_unit(*(trace.columns[name] for name in names))
    for place, name in enumerate(names[: len(HUES)]):
        axis, _, point = name.partition("[")
        said = f"{axis} of {point.removesuffix(']')}" if point else name
        many = len(trace.time) > MOST_VECTORS
        axes.plot(trace.time, factor * trace.columns[name], color=HUES[place], label=plain(said), **THIN, rasterized=many)
    axes.set_ylabel(f"displacement [{unit}]")
    axes.set_gid("time")
    if names:
        legend(axes, fontsize=8.5, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderaxespad=0.1)


def of_oscillator(figure: Figure, trace: TimeTrace) -> None:
    """Displacement, velocity and forces over time, and the forces over the displacement."""
    of, time = trace.columns, trace.time
    factor, unit = in_unit(of["x"])
    x = factor * of["x"]
    grid = figure.add_gridspec(3, 2, width_ratios=[2.1, 1.0])
    every = [figure.add_subplot(grid[0, 0])]
    every += [figure.add_subplot(grid[row, 0], sharex=every[0]) for row in (1, 2)]
    loop = figure.add_subplot(grid[:, 1])
    many = len(time) > MOST_VECTORS
    for axes, values, said, color in zip(every, (x, of["v"]), (f"x [{unit}]", "v [m/s]"), HUES, strict=False):
        axes.plot(time, values, color=color, **THIN, rasterized=many)
        axes.set_ylabel(said)
        axes.tick_params(labelbottom=False)
    known = (("friction_force", "friction on the mass", HUES[2]), ("wall_force", "force of the wall", HUES[3]))
    present = [each for each in known if np.any(of[each[0]] != 0.0)] or [known[0]]
    last = int(np.searchsorted(time, time[-1] - trace.period)) if np.isfinite(trace.period) else 0
    for name, said, color in present:
        every[2].plot(time, of[name], color=color, label=said, **THIN, rasterized=many)
        if last:
            loop.plot(x, of[name], color=color, alpha=0.35, linewidth=0.6, rasterized=many)
        loop.plot(x[last:], of[name][last:], color=color, linewidth=1.5, label=f"{said}, last period" if last else said)
    every[2].set(xlabel="time [s]", ylabel="force [N]")
    loop.set(xlabel=f"x [{unit}]", ylabel="force [N]")
    for axes in every:
        axes.set_gid("time")
    for axes in (every[2], loop):
        legend(axes, fontsize=8.5, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.1)
    loop.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    loop.set_axisbelow(True)
    limit_time(figure, trace)
    figure.suptitle(plain(title(trace)), x=0.01, ha="left", fontsize=10.5)
