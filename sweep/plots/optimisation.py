"""Pictures of an optimisation: how its searches went, a Pareto front, and a slice around the optimum with the constraints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.optimisation.functions import Constraint, Measure
from tribosweep.sweep.analysis.optimisation.results import OptimisationResult
from tribosweep.sweep.io.units import raised
from tribosweep.sweep.results.picture import HUES, INK, MARKS, Picture, label, label_plainly, legend, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tribosweep.sweep.study.free import Free

GREY, REFUSED = "#8a867e", "#8c1c13"
SIZE, WIDE = (7.5, 4.9), (7.5, 5.6)  # inches
HATCHES = ("//", "\\\\", "..")  # of the sides that limits refuse
RATIO = 20.0  # of the ends of a logarithmic variable, from which its axis is logarithmic


def draw(result: OptimisationResult, out: Path | None) -> Picture:
    """Draw the front of two objectives; of one objective the searches, point by point.

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown. OSError: `out` cannot be written.
    """
    return save(out, SIZE, lambda figure: (fill_front if result.front else fill_history)(figure, result), "optimise")


def measure_label(measure: Measure) -> str:
    """Axis label of a measure."""
    head = str(measure).removesuffix(measure.quantity.name)
    if measure.event is not None:
        return plain(str(measure))
    return f"{head}{label(measure.quantity)}"


def fill_history(figure: Figure, result: OptimisationResult) -> None:
    """Draw the objective of every computed point of each search, and the best so far."""
    axes = figure.add_subplot()
    objective = result.optimisation.objectives[0]
    searches: dict[int, list[tuple[float, bool]]] = {}
    for candidate in result.candidates:
        if candidate.functions.good:
            searches.setdefault(candidate.search, []).append((float(candidate.functions.measures[0]), candidate.kept))
    for number, (search, points) in enumerate(searches.items()):
        values, kept = np.array([value for value, _ in points]), np.array([kept for _, kept in points])
        places = np.arange(1, len(values) + 1)
        hue = HUES[number % len(HUES)]
        strong = search in result.optima[0].searches
        axes.plot(places, values, color=hue if strong else GREY, linewidth=1.2 if strong else 0.7, alpha=0.9 if strong else 0.5, zorder=2)
        axes.plot(places[~kept], values[~kept], "x", color=REFUSED, markersize=4.0, zorder=3)
        axes.plot(places[kept], values[kept], ".", color=hue if strong else GREY, markersize=4.0, zorder=3)
    best = float(result.optima[0].candidate.functions.measures[0])
    axes.axhline(best, color=INK, linewidth=0.9, linestyle="--", zorder=1)
    axes.plot([], [], "x", color=REFUSED, markersize=4.0, label="violates a constraint")
    axes.plot([], [], ".-", color=HUES[0], label="search that ends at the optimum")
    if any(search not in result.optima[0].searches for search in searches):
        axes.plot([], [], ".-", color=GREY, label="other search")
    axes.plot([], [], "--", color=INK, linewidth=0.9, label=f"optimum {best:.5g}{raised(objective.measure.unit_suffix)}")
    axes.set(xlabel="points of a search", ylabel=measure_label(objective.measure))
    every = [value for points in searches.values() for value, _ in points]
    if every and min(every) > 0.0 and max(every) > RATIO * min(every):
        axes.set_yscale("log")
        label_plainly(axes.yaxis)
    legend(axes, frameon=False, fontsize=8.5)
    axes.grid(linewidth=0.4, alpha=0.5)
    axes.set_title(f"{plain(result.optimisation.config.name)}: {objective.verb} {plain(str(objective))}", loc="left", fontsize=10.5)


def fill_front(figure: Figure, result: OptimisationResult) -> None:
    """Draw the front, all computed points that keep the constraints, and its slopes at the ends."""
    axes = figure.add_subplot()
    first, second = result.optimisation.objectives
    dots = np.array([each.functions.measures[:2] for each in result.candidates if each.functions.good and each.kept]).reshape(-1, 2)
    places = np.array([point.candidate.functions.measures[:2] for point in result.front])
    sound = np.array([point.converged for point in result.front])
    axes.plot(dots[:, 1], dots[:, 0], ".", color=GREY, markersize=2.5, alpha=0.4, label="computed points that keep the constraints",
              rasterized=True)  # fmt: skip
    axes.plot(places[:, 1], places[:, 0], "-", color=HUES[0], linewidth=1.2, zorder=2)
    axes.plot(places[sound, 1], places[sound, 0], "o", color=HUES[0], markersize=5.0, zorder=3, label="Pareto front")
    if not sound.all():
        axes.plot(places[~sound, 1], places[~sound, 0], "o", color=HUES[0], markerfacecolor="white", markersize=5.0, zorder=3,
                  label="point of the front where the optimality conditions do not hold")  # fmt: skip
    room = 0.6 * np.ptp(places, axis=0)
    (low, left), (high, right) = places.min(axis=0) - 0.1 * room, places.max(axis=0) + room
    if first.maximise:
        low, high = places[:, 0].min() - room[0], places[:, 0].max() + 0.1 * room[0]
    if second.maximise:
        left, right = places[:, 1].min() - room[1], places[:, 1].max() + 0.1 * room[1]
    if len(places) > 1:
        axes.set(xlim=(left, right), ylim=(low, high))
    axes.set(xlabel=f"{measure_label(second.measure)}, {second.verb}", ylabel=f"{measure_label(first.measure)}, {first.verb}")
    legend(axes, frameon=False, fontsize=8.5)
    axes.grid(linewidth=0.4, alpha=0.5)
    subject = "; ".join(str(each) for each in result.optimisation.constraints)
    title = f"{result.optimisation.config.name}: front of two objectives{f', {subject}' if subject else ''}"
    axes.set_title(plain(title), loc="left", fontsize=10.5)


def draw_slice(result: OptimisationResult, out: Path | None) -> Picture:
    """Draw the first objective over two variables, or over the only one, with the constraints; needs a slice.

    Raises:
        ConfigError: as `draw`.
    """
    one = result.slice is not None and len(result.slice.names) == 1
    return save(out, SIZE if one else WIDE, lambda figure: (fill_line if one else fill_plane)(figure, result), "optimise")


def fill_line(figure: Figure, result: OptimisationResult) -> None:
    """Draw the objective and the slack of each constraint over one variable."""
    drawn, count = result.slice, len(result.optimisation.objectives)
    if drawn is None:
        return
    (free,), (x,) = frees_of(result), drawn.along
    axes, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1.3]) if result.optimisation.constraints else (
        figure.add_subplot(), None)  # fmt: skip
    axes.plot(x, drawn.measures[:, 0], color=HUES[0], linewidth=1.4)
    best = result.optima[0].candidate
    at = result.best_values[result.optimisation.space.names.index(free.name)]
    axes.plot(at, best.functions.measures[0], "*", color=HUES[1], markersize=13, markeredgecolor="white", zorder=4, label="optimum")
    refused = np.zeros(len(x), dtype=bool)
    for place, constraint in enumerate(result.optimisation.constraints):
        ratio = part_of_limit(constraint, drawn.measures[:, count + place], result.scales.constraints[place])
        refused |= ~(ratio <= 0.0)
        if lower is not None:
            lower.plot(x, ratio, color=HUES[2 + place % (len(HUES) - 2)], linewidth=1.2, label=plain(str(constraint)))
    axes.fill_between(x, 0.0, 1.0, where=list(refused), transform=axes.get_xaxis_transform(), color=REFUSED, alpha=0.12, linewidth=0.0,
                      label="violates a constraint" if refused.any() else None)  # fmt: skip
    axes.set_ylabel(measure_label(result.optimisation.objectives[0].measure))
    legend(axes, frameon=False, fontsize=8.5)
    if lower is not None:
        lower.axhline(0.0, color=INK, linewidth=0.9)
        lower.set_ylim(max(-1.0, lower.get_ylim()[0]), min(1.0, lower.get_ylim()[1]))
        lower.set_ylabel("beyond the limit\n[parts of it]")
        legend(lower, frameon=False, fontsize=8.5)
    bottom = axes if lower is None else lower
    bottom.set_xlabel(free_label(free))
    scale_axis(bottom, free, "x")
    axes.set_title(title_of(result), loc="left", fontsize=10.5)


def fill_plane(figure: Figure, result: OptimisationResult) -> None:
    """Draw the objective as shades and contours over two variables, with the lines of the limits, the refused side hatched."""
    from matplotlib.colors import to_rgba

    drawn, count = result.slice, len(result.optimisation.objectives)
    if drawn is None:
        return
    axes, one, other = figure.add_subplot(), *frees_of(result)
    (x, y), values = drawn.along, drawn.measures[..., 0].T
    objective = result.optimisation.objectives[0]
    shade = axes.pcolormesh(x, y, np.ma.masked_invalid(values), cmap="Blues", shading="nearest", rasterized=True)
    if np.isfinite(values).any() and np.nanmax(values) > np.nanmin(values):
        lines = axes.contour(x, y, values, levels=10, colors=INK, linewidths=0.6, alpha=0.6)
        axes.clabel(lines, fontsize=8)
    for place, constraint in enumerate(result.optimisation.constraints):
        beyond = part_of_limit(constraint, drawn.measures[..., count + place].T, result.scales.constraints[place])
        hue = HUES[1 + place % (len(HUES) - 1)]
        if np.nanmin(beyond) < 0.0 < np.nanmax(beyond):
            axes.contour(x, y, beyond, levels=[0.0], colors=[hue], linewidths=1.8)
            refused = axes.contourf(x, y, beyond, levels=[0.0, float(np.nanmax(beyond))], colors="none", hatches=[HATCHES[place % 3]])
            refused.set(edgecolor=to_rgba(hue, 0.5), linewidth=0.0)
        axes.plot([], [], color=hue, linewidth=1.8, label=f"limit: {plain(str(constraint))}")
    draw_searches(axes, result)
    at = [result.best_values[result.optimisation.space.names.index(name)] for name in drawn.names]
    axes.plot(
        *at, "*", color=HUES[1], markersize=15, markeredgecolor="white", zorder=5, label="optimum" if result.kept else "nearest point"
    )
    for free, which in ((one, "x"), (other, "y")):
        scale_axis(axes, free, which)
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), xlabel=free_label(one), ylabel=free_label(other))
    figure.colorbar(shade, ax=axes, label=measure_label(objective.measure))
    legend(axes, fontsize=8.5, framealpha=0.9, loc="upper left", bbox_to_anchor=(0.0, -0.13), ncols=2)
    axes.set_title(title_of(result), loc="left", fontsize=10.5)


def draw_searches(axes: Axes, result: OptimisationResult) -> None:
    """Draw the computed points of the searches that end at the optimum."""
    drawn, space = result.slice, result.optimisation.space
    if drawn is None or len(space.names) > len(drawn.names):
        return  # elsewhere in the other variables
    places = [space.names.index(name) for name in drawn.names]
    for number, search in enumerate(result.optima[0].searches[:6]):
        way = np.array([result.values_at(candidate)[places] for candidate in result.candidates if candidate.search == search])
        style: Any = {"marker": MARKS[0], "markersize": 2.5, "linewidth": 0.7, "color": GREY}
        axes.plot(way[:, 0], way[:, 1], **style, label=None if number else "searches that end there")


def part_of_limit(constraint: Constraint, values: np.ndarray, scale: float) -> np.ndarray:
    """How far values are beyond a limit, in parts of its scale; negative where it is kept."""
    return np.asarray(constraint.sign * (values - constraint.limit) / scale)


def frees_of(result: OptimisationResult) -> list[Free]:
    """The variables of the slice."""
    names = () if result.slice is None else result.slice.names
    return [result.optimisation.space.frees[result.optimisation.space.names.index(name)] for name in names]


def free_label(free: Free) -> str:
    """Axis label of a variable."""
    if free.node is None and "[" not in free.name:
        return label(free.quantity)
    return plain(free.name) + (f" [{raised(free.unit)}]" if free.unit not in ("", "1") else "")


def scale_axis(axes: Axes, free: Free, which: str) -> None:
    """A logarithmic axis for a variable of a wide logarithmic range."""
    if free.logarithmic and free.upper > RATIO * free.lower:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        label_plainly(axes.xaxis if which == "x" else axes.yaxis)


def title_of(result: OptimisationResult) -> str:
    """The study, and what is optimised; where there are more variables, that the others stay at the optimum."""
    objective = result.optimisation.objectives[0]
    drawn = result.slice
    held = ", the others at the optimum" if drawn is not None and len(result.optimisation.space.names) > len(drawn.names) else ""
    return plain(f"{result.optimisation.config.name}: {objective.verb} {objective}{held}")
