"""Pictures of the draws of a posterior: traces of the chains with their densities, and pairs of parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.analysis.calibration.posterior.draws import Draws
from tribosweep.sweep.analysis.calibration.posterior.modes import groups_of
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.units import raised
from tribosweep.sweep.results.picture import HUES, INK, Picture, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PAIRS, MOST_ROWS = 10, 24  # sampled numbers of a picture
MOST_DRAWS = 2000  # of a density or a panel
LEVELS = (0.9, 0.5)  # parts of the draws that the lines around the highest densities enclose
FINE, COARSE = 200, 60  # points of a density along an axis
BEYOND = 0.05  # of the range of the draws: how far a density is drawn beyond them


def draw_traces(draws: Draws, out: Path | None) -> Picture:
    """Draw for each sampled number the density of every chain, and its draws in their order.

    Raises:
        ConfigError: there are too many numbers, matplotlib is missing, or the suffix is unknown. OSError: `out` cannot be written.
    """
    count, by_chain = len(draws.names), draws.by_chain()
    check_count("--traces", count, MOST_ROWS)

    def fill(figure: Figure) -> None:
        grid = figure.subplots(count, 2, squeeze=False, width_ratios=[1.0, 1.8])
        for place in range(count):
            left, right = grid[place]
            for chain, drawn in enumerate(by_chain[:, :, place]):
                colour = HUES[chain % len(HUES)]
                left.plot(*density(drawn), color=colour, linewidth=1.0)
                right.plot(drawn, color=colour, linewidth=0.4, alpha=0.8)
            left.set(xlabel=named(draws, place), yticks=[], ylim=(0.0, None))
            right.set(ylabel=named(draws, place), xlim=(0, by_chain.shape[1]))
            for axes in (left, right):
                finish(axes)
        grid[-1, 1].set_xlabel("draw", fontsize=9)
        chains = "chain" if len(by_chain) == 1 else "chains"
        grid[0, 0].set_title(f"{len(by_chain)} {chains} of {by_chain.shape[1]:,} draws", loc="left", fontsize=10.5)

    return save(out, (9.5, 0.6 + 1.7 * count), fill, "calibrate")


def draw_pairs(draws: Draws, out: Path | None) -> Picture:
    """Draw the densities of the sampled numbers on the diagonal, and below it every two of them; lines enclose LEVELS of the draws.

    Raises:
        ConfigError: as `draw_traces`.
    """
    count = len(draws.names)
    check_count("--pairs", count, MOST_PAIRS)
    rows = np.linspace(0, len(draws.values) - 1, min(MOST_DRAWS, len(draws.values))).astype(int)
    values = draws.values[rows]

    def fill(figure: Figure) -> None:
        grid = figure.subplots(count, count, squeeze=False, sharex="col")
        for row in range(count):
            for column in range(count):
                axes = grid[row, column]
                if column > row:
                    axes.set_axis_off()
                    continue
                if column == row:
                    axes.plot(*density(draws.values[:, row]), color=HUES[0], linewidth=1.2)
                    axes.set(yticks=[], ylim=(0.0, None))
                else:
                    axes.plot(values[:, column], values[:, row], ".", color=HUES[0], markersize=1.5, alpha=0.35)
                    enclose(axes, values[:, column], values[:, row])
                    axes.locator_params(nbins=3, axis="y")
                finish(axes)
                axes.locator_params(nbins=3, axis="x")
                if row == count - 1:
                    axes.set_xlabel(named(draws, column), fontsize=8.5)
                if column == 0 and row > 0:
                    axes.set_ylabel(named(draws, row), fontsize=8.5)
                elif column > 0:
                    axes.tick_params(labelleft=False)
                    axes.yaxis.get_offset_text().set_visible(False)
        grid[0, 0].set_title(f"{len(draws.values):,} draws; lines around 50 % and 90 %", loc="left", fontsize=9)
        figure.align_labels()

    side = 1.6 + 1.55 * count
    return save(out, (side + 0.6, side), fill, "calibrate")


def check_count(option: str, count: int, most: int) -> None:
    """Raise ConfigError if there are more sampled numbers than a picture has room for."""
    if count > most:
        message = f"{count} numbers were sampled: a picture has at most {most}; posterior.parquet has the draws"
        raise ConfigError("tribosweep calibrate", [Problem(option, message)])


def density(drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and the density of draws there, by Gaussian kernels, whose width is that of each mode."""
    if np.ptp(drawn) == 0.0:
        return drawn[:1], np.ones(1)
    drawn = drawn[:: max(1, len(drawn) // MOST_DRAWS)]
    beyond = BEYOND * np.ptp(drawn)
    places = np.linspace(drawn.min() - beyond, drawn.max() + beyond, FINE)
    return places, by_kernels(drawn[np.newaxis], groups_of(drawn[:, np.newaxis]), places[np.newaxis])


def by_kernels(points: np.ndarray, groups: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The density of (d, n) points in groups at (d, m) places, by Gaussian kernels with the covariance of each group."""
    from scipy.stats import gaussian_kde

    found = np.zeros(places.shape[1])
    for group in np.unique(groups):
        mine = points[:, groups == group]
        found += mine.shape[1] / points.shape[1] * gaussian_kde(mine)(places)
    return found


def enclose(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Lines of constant density around LEVELS of the draws."""
    both = np.vstack([(x - x.mean()) / (x.std() or 1.0), (y - y.mean()) / (y.std() or 1.0)])
    groups = groups_of(both.T)
    if any(np.linalg.matrix_rank(both[:, groups == group], tol=1e-6 * np.sqrt(len(x))) < 2 for group in np.unique(groups)):
        return
    side = COARSE if len(np.unique(groups)) == 1 else FINE
    along = [np.linspace(each.min() - BEYOND * np.ptp(each), each.max() + BEYOND * np.ptp(each), side) for each in both]
    heights = by_kernels(both, groups, np.stack(np.meshgrid(*along), axis=0).reshape(2, -1)).reshape(side, side)
    levels = np.unique(np.quantile(by_kernels(both, groups, both), [1.0 - level for level in LEVELS]))
    axes.contour(x.mean() + x.std() * along[0], y.mean() + y.std() * along[1], heights, levels=levels, colors=INK, linewidths=0.8)


def finish(axes: Axes) -> None:
    """Small labels."""
    axes.tick_params(labelsize=7.5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontsize(9)
        axis.get_offset_text().set_fontsize(7.5)


def named(draws: Draws, place: int) -> str:
    """The name of a sampled number with its unit."""
    unit = draws.units[place]
    return plain(draws.names[place]) + (f" [{raised(plain(unit))}]" if unit not in ("", "1") else "")
