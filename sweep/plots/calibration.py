"""Pictures of a calibration: measured over fitted values with residuals, and a slice of the loss."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.calibration.fitting import OPTIMAL
from tribosweep.sweep.analysis.calibration.optima import Optimum
from tribosweep.sweep.analysis.calibration.results import CalibrationResult, Landscape
from tribosweep.sweep.io.units import raised
from tribosweep.sweep.results.picture import HUES, INK, MARKS, Picture, label, legend, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tribosweep.kernels.models.quantity import Quantity

GREY = "#6d6a63"
ACROSS = 4
FINE = 161  # grid points along an axis of a landscape
LEAST_SHOWN = 0.3  # standard deviations: values below this share one shade
TICKS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 1e5)


def draw_fit(result: CalibrationResult, out: Path | None) -> Picture:
    """Draw measured over computed values, a column of panels per observable, with residuals; traces over time, loops over displacement.

    Raises:
        ConfigError: matplotlib is missing or the suffix is unknown. OSError: `out` cannot be written.
    """
    panels = panels_of(result)
    across = min(2 if any(traced for *_, traced in panels) else ACROSS, len(panels))
    down = -(-len(panels) // across)

    def fill(figure: Figure) -> None:
        grid = figure.subplots(2 * down, across, squeeze=False, height_ratios=[3, 1.3] * down)
        for place, (quantity, numbers, traced) in enumerate(panels):
            row, column = divmod(place, across)
            upper, lower = grid[2 * row, column], grid[2 * row + 1, column]
            (in_time if traced else against)(upper, result, quantity, numbers)
            residuals(lower, result, quantity, numbers, traced)
        for place in range(len(panels), down * across):
            for each in (0, 1):
                grid[2 * (place // across) + each, place % across].set_axis_off()

    wide = 6.5 if any(traced for *_, traced in panels) else 3.6
    return save(out, (1.2 + wide * across, 5.2 * down), fill, "calibrate")


def panels_of(result: CalibrationResult) -> list[tuple[Quantity, np.ndarray, bool]]:
    """(observable, positions of its numbers, whether they belong to traces), one per panel."""
    data = result.calibration.data
    traced = np.isfinite(data.abscissa[data.run])
    found = []
    for place, name in enumerate(data.names):
        for kind in (False, True):
            numbers = np.flatnonzero((data.observable == place) & (traced == kind))
            if numbers.size:
                found.append((data.observables[name], numbers, kind))
    return found


def against(axes: Axes, result: CalibrationResult, quantity: Quantity, numbers: np.ndarray) -> None:
    """Draw measured over computed values, with the line of equality."""
    data, point = result.calibration.data, result.fits.point
    fitted, measured, sd = point.predicted[result.best, numbers], data.measured[numbers], data.spread[numbers]
    ends = [float(np.nanmin([fitted, measured])), float(np.nanmax([fitted, measured]))]
    axes.plot(ends, ends, color=GREY, linewidth=0.9, zorder=1)
    axes.errorbar(fitted, measured, yerr=sd, fmt="o", markersize=4, color=HUES[0], ecolor=HUES[0], elinewidth=0.9, zorder=2)
    axes.set_title(quantity.name.replace("_", " "), loc="left", fontsize=10.5)
    axes.set_ylabel(f"measured{unit_of(quantity)}")
    axes.grid(linewidth=0.4, alpha=0.5)


def in_time(axes: Axes, result: CalibrationResult, quantity: Quantity, numbers: np.ndarray) -> None:
    """Draw measured values as points and computed values as lines, over time or over the imposed displacement."""
    data, point = result.calibration.data, result.fits.point
    for place, own in enumerate(by_test(result, numbers)):
        times = data.abscissa[data.run[own]]
        order = np.argsort(times) if data.paths is None else np.arange(len(times))
        look: Any = {"color": HUES[place % len(HUES)], "marker": MARKS[place % len(MARKS)], "markersize": 3.5, "alpha": 0.75}
        axes.plot(times, data.measured[own], linestyle="", label=legend_name(data.runs[int(data.run[own[0]])].rpartition(",")[0]), **look)
        axes.plot(times[order], point.predicted[result.best, own][order], color=INK, linewidth=0.9, label=None if place else "fitted")
    axes.set_ylabel(label(quantity))
    legend(axes, fontsize=9, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)
    axes.grid(linewidth=0.4, alpha=0.5)


def legend_name(text: str) -> str:
    """A name for a legend, which leaves out names that begin with an underscore."""
    return plain(f" {text}" if text.startswith("_") else text)


def by_test(result: CalibrationResult, numbers: np.ndarray) -> list[np.ndarray]:
    """The numbers of each test, in the order of the tests."""
    data = result.calibration.data
    tests = data.tests[data.run[numbers]]
    return [numbers[tests == test] for test in dict.fromkeys(tests.tolist())]


def residuals(axes: Axes, result: CalibrationResult, quantity: Quantity, numbers: np.ndarray, traced: bool) -> None:
    """Draw residuals in standard deviations, over computed values or over time."""
    data, point = result.calibration.data, result.fits.point
    axes.axhspan(-2.0, 2.0, color="#e4e2dd", linewidth=0)
    axes.axhline(0.0, color=GREY, linewidth=0.9)
    for place, own in enumerate(by_test(result, numbers) if traced else [numbers]):
        x = data.abscissa[data.run[own]] if traced else point.predicted[result.best, own]
        look: Any = {"color": HUES[place % len(HUES)], "marker": MARKS[place % len(MARKS)], "markersize": 3 if traced else 4}
        axes.plot(x, point.residuals[result.best, own], linestyle="", **look)
    axes.set_xlabel(("time [s]" if data.paths is None else "displacement [m]") if traced else f"fitted{unit_of(quantity)}")
    axes.set_ylabel("residual [sd]")


def unit_of(quantity: Quantity) -> str:
    """The unit of an axis."""
    return f" [{raised(quantity.unit)}]" if quantity.unit not in ("", "1") else ""


def draw_landscapes(result: CalibrationResult, out: Path | None) -> Picture:
    """Draw the loss over two parameters: a panel around each optimum that has a landscape, with the paths of the fits that end there.

    Raises:
        ConfigError: matplotlib is missing or the suffix is unknown. OSError: `out` cannot be written.
    """

    def fill(figure: Figure) -> None:
        panels = figure.subplots(1, len(result.landscapes), squeeze=False)[0]
        for number, axes in enumerate(panels):
            slice_of(axes, result, number)

    return save(out, (1.4 + 6.0 * len(result.landscapes), 5.6), fill, "calibrate")


def slice_of(axes: Axes, result: CalibrationResult, number: int) -> None:
    """Draw the landscape around an optimum: the root of chi^2 minus the least of all, with confidence contours."""
    from matplotlib.colors import LogNorm

    drawn, optimum, known = result.landscapes[number], result.optima[number], result.known[number]
    several = len(result.optima) > 1
    space = result.space
    places = [space.names.index(name) for name in drawn.names]
    frees = [space.frees[place] for place in places]
    x, y, chi2 = refined(drawn)
    rise = np.sqrt(np.maximum(chi2.T - optimum.chi2, 0.0)) / known.scale
    least, most = LEAST_SHOWN, max(3.0, float(np.nanmax(rise)))
    shade = axes.pcolormesh(x, y, np.maximum(rise, least), cmap="Blues", norm=LogNorm(least, most), shading="nearest", rasterized=True)
    levels = [level for level in (1.0, 2.0, 3.0) if np.nanmin(rise) < level < np.nanmax(rise)]
    if levels:
        lines = axes.contour(x, y, rise, levels=levels, colors=INK, linewidths=1.0)
        axes.clabel(lines, fmt=lambda level: f"{level:g} sd", fontsize=9)
    draw_paths(axes, result, optimum, places)
    others = [each for each in result.optima if each is not optimum and each.outcome in OPTIMAL]
    for each, size, color, name in [(optimum, 14, HUES[1], "optimum"), *((other, 10, HUES[2], "another optimum") for other in others)]:
        at = space.values(each.coordinates)[places]
        if (x[0] <= at[0] <= x[-1]) and (y[0] <= at[1] <= y[-1]):
            axes.plot(*at, "*", markersize=size, color=color, markeredgecolor="white", label=name)
    for free, which in zip(frees, (axes.set_xscale, axes.set_yscale), strict=True):
        which("log" if free.logarithmic and free.upper > 10.0 * free.lower and not known.identifiable.all() else "linear")
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    names = [f"{free.symbol} [{raised(free.unit)}]" if free.unit not in ("", "1") else free.symbol for free in frees]
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    held = ", the others at the optimum" if len(space.names) > 2 else ""
    which_one = rf"optimum {number + 1} of {len(result.optima)}, $\chi^2 = {optimum.chi2:.4g}$; " if several else ""
    axes.set_title(rf"{which_one}loss: $\sqrt{{\chi^2 - \chi^2_\mathrm{{least}}}}$ [sd]{held}", loc="left", fontsize=10.5)
    ticks = [tick for tick in TICKS if least <= tick <= most]
    bar = axes.figure.colorbar(shade, ax=axes)
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.minorticks_off()
    legend(axes, loc="best", fontsize=9, framealpha=0.9)


def refined(drawn: Landscape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The landscape on a finer grid, by bicubic splines of chi^2, which is nearly quadratic; unchanged if a run failed."""
    from scipy.interpolate import RectBivariateSpline

    x, y = drawn.along
    if not np.isfinite(drawn.chi2).all():
        return x, y, drawn.chi2
    fine = [np.interp(np.linspace(0.0, 1.0, FINE), np.linspace(0.0, 1.0, len(each)), each) for each in (x, y)]
    return fine[0], fine[1], np.maximum(RectBivariateSpline(x, y, drawn.chi2)(*fine), drawn.chi2.min())


def draw_paths(axes: Axes, result: CalibrationResult, optimum: Optimum, places: list[int]) -> None:
    """Draw the accepted steps of the fits that ended at an optimum."""
    space, wanted = result.space, optimum.lanes.tolist()
    lines: dict[int, list[np.ndarray]] = {lane: [] for lane in wanted}
    for step in result.fits.path:
        for lane, coordinates in zip(step.lanes.tolist(), step.coordinates, strict=True):
            if lane in lines:
                lines[lane].append(space.values(coordinates)[places])
    for number, lane in enumerate(wanted[:12]):
        way = np.array(lines[lane])
        axes.plot(way[:, 0], way[:, 1], "-o", color=GREY, linewidth=0.8, markersize=2.5, label="ways of the fits" if not number else None)
