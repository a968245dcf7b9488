"""The picture of a rare event: the probability to pass each value of its observable, on a logarithmic scale, with levels and limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.analyses.rare_event.result import RareEvent
from tribosweep.sweep.execution.adaptive.levels_table import limit_of
from tribosweep.sweep.results.picture import HUES, INK, Picture, legend, plain, save, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.5, 4.9)  # inches
FEW_REPEATS = 6  # whose levels are marked one by one
LIMIT = "#8c1c13"


def draw(found: RareEvent, out: Path | None) -> Picture:
    """Draw the probability over the observable; errors as `picture.save`."""
    return save(out, SIZE, lambda figure: fill(figure, found), "rare")


def fill(figure: Figure, found: RareEvent) -> None:
    """Put the picture into an empty figure."""
    axes, hue = figure.add_subplot(), HUES[0]
    value, chance, low, high = found.curve.T
    axes.set_yscale("log")
    axes.fill_between(value, low, high, color=hue, alpha=0.18, linewidth=0.0, zorder=1, label=f"{100.0 * found.confidence:g} % interval")
    axes.plot(value, chance, color=hue, linewidth=1.8, zorder=3, label="probability to pass the value")
    draw_levels(axes, found)
    design = found.design
    limit = limit_of(design)
    axes.axvline(limit, color=LIMIT, linewidth=1.2, linestyle="--", zorder=2, label=f"limit: {plain(found.event)}")
    if found.estimate is not None:
        mark_estimate(axes, found, limit)
    downwards = design.single is not None and design.single.sign < 0.0
    if downwards:
        axes.invert_xaxis()
    unit = found.observable.unit_suffix.strip()
    across = found.across.replace(found.observable.name, found.observable.name.replace("_", " "))
    axes.set_xlabel(plain(across + (f" [{unit}]" if unit else "")))
    axes.set_ylabel(f"probability of a {'smaller' if downwards else 'larger'} value")
    axes.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    legend(axes, frameon=False, fontsize=8.5, loc="lower left")
    repeats = f", {design.repeats} repeats" if design.repeats > 1 else ""
    write_title(axes, f"{plain(found.state['study'])}: {found.rows:,} rows{repeats}")


def draw_levels(axes: Axes, found: RareEvent) -> None:
    """Mark where the levels of each repeat begin."""
    if found.design.repeats > FEW_REPEATS:
        return
    goals = np.array([(row["goal"], row["exceedance"]) for row in found.levels if row["exceedance"] > 0.0]).reshape(-1, 2)
    text = "levels" if found.design.repeats == 1 else "levels of each repeat"
    axes.plot(*goals.T, "o", color=HUES[1], markersize=4.0, zorder=4, label=text)


def mark_estimate(axes: Axes, found: RareEvent, limit: float) -> None:
    """Mark the probability of the event and its interval."""
    if found.estimate is None:
        return
    each = found.estimate
    ends = [[each.probability - each.low], [each.high - each.probability]]
    text = f"{each.probability:.3g} ({each.low:.2g} to {each.high:.2g})"
    axes.errorbar(
        [limit], [each.probability], yerr=ends, fmt="s", color=INK, markersize=5.0, capsize=3.0, elinewidth=1.2, zorder=5, label=text
    )  # fmt: skip
