"""The picture of a fragility: counted probabilities with their intervals, the lognormal curve with its band; of a cloud its demands too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.analyses.fragility.intervals import BOOTSTRAP
from tribosweep.sweep.analyses.fragility.request import CLOUD
from tribosweep.sweep.analyses.fragility.result import Curve, Fragility, limit_of, name_of
from tribosweep.sweep.analysis.fixed_values import value_in_words
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.units import raised
from tribosweep.sweep.results.picture import HUES, MARKS, Picture, label, label_plainly, legend, plain, save, write_title
from tribosweep.sweep.study.event import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE, WIDE = (7.5, 4.9), (11.5, 4.9)  # inches
WIDE_RANGE = 20.0  # ratio of intensities from which their axis is logarithmic
MOST_DOTS = 4000


def draw(result: Fragility, out: Path | None) -> Picture:
    """Draw the probabilities over the intensity, and for a cloud the demand over it.

    Raises:
        ConfigError: there are more curves than colours; or as `picture.save`.
    """
    if len(result.curves) > len(HUES):
        message = f"{len(result.curves)} curves: a picture has at most {len(HUES)}; hold some with --at, or read the tables"
        raise ConfigError("--by", [Problem("", message)])
    cloud = result.request.method == CLOUD
    return save(out, WIDE if cloud else SIZE, lambda figure: fill(figure, result, cloud), "fragility")


def fill(figure: Figure, result: Fragility, cloud: bool) -> None:
    """Put the picture into an empty figure."""
    axes = figure.add_subplot(1, 2, 2) if cloud else figure.add_subplot()
    for place, curve in enumerate(result.curves):
        draw_curve(axes, result, curve, place)
    axes.set(xlabel=label(result.rows.intensity), ylabel=f"probability of {plain(event_in_words(result))}", ylim=(-0.02, 1.02))
    spread = np.concatenate([curve.points.intensity for curve in result.curves])
    if spread.size and spread.max() > WIDE_RANGE * spread.min():
        axes.set_xscale("log")
        label_plainly(axes.xaxis)
    axes.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    legend(axes, frameon=False, fontsize=8.5, loc="best")
    held = [f"{name} = {value_in_words(value)}" for name, value in result.rows.held.items()]
    title = f"{result.rows.state['study']}: probability over {result.rows.intensity.name}"
    if cloud:
        draw_cloud(
            figure.add_subplot(1, 2, 1), result, f"{result.rows.state['study']}: {sum(curve.rows for curve in result.curves):,} rows", held
        )
        write_title(axes, f"probability over {result.rows.intensity.name}", held and [" "])
    else:
        write_title(axes, title, held)


def event_in_words(result: Fragility) -> str:
    """The event with the unit of its limit: "peak_force > 5000 N"."""
    event = result.rows.event
    unit = result.rows.demand.unit.removeprefix("1") if isinstance(event, Comparison) and not isinstance(event.value, str) else ""
    return f"{event} {unit}".rstrip()


def draw_curve(axes: Axes, result: Fragility, curve: Curve, place: int) -> None:
    """Draw the points of one curve, and the curve with its band where there is one."""
    hue, points = HUES[place], curve.points
    level = f"{100.0 * result.request.confidence:g} %"
    name = plain(name_of(curve))
    if len(points.rows):
        ends = np.maximum([points.share - points.low, points.high - points.share], 0.0)
        bins = points.rows.max() > 0 and bool((points.stop > points.start).any())
        what = f"{'bins' if bins else 'stripes'} of {points.rows.min():,}" + (
            f" to {points.rows.max():,}" if points.rows.min() < points.rows.max() else ""
        )
        axes.errorbar(
            points.intensity, points.share, yerr=ends, fmt=MARKS[place], color=hue, markersize=4.5, elinewidth=1.0, capsize=2.0, zorder=3,
            label=f"{name}: counted" if name else f"counted in {what} rows, {level}",
        )  # fmt: skip
    if curve.fit is not None and curve.intervals is not None:
        axes.fill_between(curve.grid, curve.intervals.low, curve.intervals.high, color=hue, alpha=0.18, linewidth=0.0, zorder=1)
        axes.plot(curve.grid, curve.fit.chance(curve.grid), color=hue, linewidth=1.8, zorder=2, label=in_words(result, curve, name))


def in_words(result: Fragility, curve: Curve, name: str) -> str:
    """Theta and beta with their intervals, for the legend."""
    if curve.fit is None or curve.intervals is None:
        return ""
    unit = result.rows.intensity.unit_suffix
    ends = [f"{low:.3g} to {high:.3g}" for low, high in (curve.intervals.theta, curve.intervals.beta)]
    theta = rf"$\theta$ = {curve.fit.theta:.4g} ({ends[0]}){raised(unit)}"
    beta = rf"$\beta$ = {curve.fit.beta:.3g} ({ends[1]})"
    how = f"{100.0 * result.request.confidence:g} %, {'bootstrap' if curve.interval == BOOTSTRAP else curve.interval}"
    return f"{name}: {theta}, {beta}" if name else f"lognormal, {how}:\n{theta}\n{beta}"


def draw_cloud(axes: Axes, result: Fragility, title: str, held: list[str]) -> None:
    """Draw demands over intensities with their lines, and the limit."""
    for place, curve in enumerate(result.curves):
        hue = HUES[place]
        dots = curve.demand[:: max(1, -(-len(curve.demand) // MOST_DOTS))]
        axes.plot(dots[:, 0], dots[:, 1], ".", color=hue, markersize=3.0, alpha=0.35, zorder=2, rasterized=True)
        if curve.line is not None:
            middle = np.exp(curve.line.intercept) * curve.grid**curve.line.slope
            text = f"slope {curve.line.slope:.3g}, spread {curve.line.spread:.3g}"
            axes.plot(curve.grid, middle, color=hue, linewidth=1.8, zorder=3, label=": ".join(filter(None, (plain(name_of(curve)), text))))
            edges = [middle * np.exp(sign * curve.line.spread) for sign in (-1.0, 1.0)]
            axes.fill_between(curve.grid, *edges, color=hue, alpha=0.15, linewidth=0.0, zorder=1)
    axes.axhline(limit_of(result.rows), color="#8c1c13", linewidth=1.2, linestyle="--", label="limit", zorder=2)
    axes.set(xlabel=label(result.rows.intensity), ylabel=label(result.rows.demand), xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        label_plainly(axis)
    legend(axes, frameon=False, fontsize=8.5, loc="best")
    write_title(axes, title, held)
