"""Pictures of a sensitivity study: bars with intervals, mu* and sigma, scatter plots, and estimates over the sample size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analyses.sensitivity.analysis import why_not_drawn
from tribosweep.sweep.analyses.sensitivity.request import BARS, PLANE, SCATTER, SIZES
from tribosweep.sweep.analyses.sensitivity.result import INDICES, Line, Sensitivity, group_noun
from tribosweep.sweep.analyses.sensitivity.sample import REGIME, parts_of
from tribosweep.sweep.design.distributions import Scaled
from tribosweep.sweep.design.sensitivity import Morris
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.results.picture import HUES, INK, MARKS, Picture, label, legend, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REGIME_HUES = {"stick": "#8a877f", "stick-slip": "#17568c", "slip-slip": "#c2601a"}
SHOWN = 4000  # largest number of points of a scatter plot
COLUMNS = 3
LEFT_OUT = "mu"  # the measure of elementary effects that pictures with intervals omit


def draw(study: Sensitivity, out: Path | None, picture: str | None) -> Picture:
    """Draw a study into a .png, .svg or .pdf file: a row of panels per observable, or one panel for bars, planes and sizes.

    Args:
        study: the results. out: the file. picture: default that of the request, else the plane of elementary effects or bars.

    Raises:
        ConfigError: matplotlib is missing, the suffix is unknown, or the study lacks the results for the picture.
        OSError: `out` cannot be written.
    """
    picture = picture or study.request.picture or (PLANE if isinstance(study.sample.design, Morris) else BARS)
    if picture == SCATTER:
        across = min(COLUMNS, len(study.sample.names))
        down = -(-len(study.sample.names) // across) * len(study.quantities)
        return save(out, (3.1 * across + 0.6, 2.5 * down + 0.5), lambda figure: scatter(figure, study, down, across), "sensitivity")
    which = SIZES if picture == SIZES else INDICES
    drawn = [quantity for quantity in study.quantities if any(line.observable == quantity.name for line in study.lines[which])]
    if reason := why_not_drawn(picture, parts_of(study.sample.config)):
        raise ConfigError("--picture", [Problem("", reason)])
    if picture == SIZES and not study.request.by_size:
        raise ConfigError("--picture", [Problem("", "sizes shows estimates by sample size, which were not asked for: add --sizes")])
    if not drawn:
        raise ConfigError("--picture", [Problem("", f"there is nothing for {picture}: {' '.join(study.notes) or 'no estimates'}")])
    if picture == SIZES:
        return save(out, (11.0, 4.2 * len(drawn)), lambda figure: sizes(figure, study, drawn), "sensitivity")
    panel = bars if picture == BARS else plane
    height = 1.2 + 0.42 * len(study.sample.names) if picture == BARS else 4.2

    def fill(figure: Figure) -> None:
        panels = figure.subplots(len(drawn), 1, squeeze=False)[:, 0]
        for axes, quantity in zip(panels, drawn, strict=True):
            panel(axes, study, quantity, [line for line in study.lines[which] if line.observable == quantity.name])

    return save(out, (7.5, max(height, 2.4) * len(drawn)), fill, "sensitivity")


def symbol(study: Sensitivity, name: str) -> str:
    """The symbol or name of a parameter in pictures."""
    quantity = by_name(study.sample.config.model.parameters)[name]
    return f"${quantity.symbol}$" if quantity.symbol else plain(name.replace("_", " "))


def title(study: Sensitivity, quantity: Quantity, lines: Sequence[Line]) -> str:
    """The title of a panel."""
    within = f", {study.request.regime} only" if study.request.regime else ""
    return f"{quantity.name.replace('_', ' ')}: {lines[-1].method}, {lines[-1].groups:,} {group_noun(study.sample)}{within}"


def bars(axes: Axes, study: Sensitivity, quantity: Quantity, lines: Sequence[Line]) -> None:
    """Draw one bar with its interval per parameter and measure; the largest at the top."""
    plain = [line.estimate for line in lines if not line.estimate.other and line.estimate.measure not in (LEFT_OUT, "sigma")]
    measures = list(dict.fromkeys(each.measure for each in plain))
    last = {each.parameter: each.value for each in plain if each.measure == measures[-1]}
    order = sorted(study.sample.names, key=lambda name: -last.get(name, 0.0) if math.isfinite(last.get(name, 0.0)) else math.inf)
    thick = 0.8 / len(measures)
    words = {"S1": "first order, $S_1$", "ST": "total, $S_T$", "mu_star": r"$\mu^*$"}
    for place, measure in enumerate(measures):
        found = {each.parameter: each for each in plain if each.measure == measure}
        y = np.arange(len(order)) + (place - (len(measures) - 1) / 2.0) * thick
        values = np.array([found[name].value for name in order])
        halves = np.array([found[name].half_width for name in order])
        axes.barh(y, np.nan_to_num(values), 0.92 * thick, color=HUES[place], alpha=0.85, label=words.get(measure, measure))
        if np.isfinite(halves).any():
            axes.errorbar(values, y, xerr=np.nan_to_num(halves), fmt="none", ecolor=INK, elinewidth=1.1, capsize=2.5)
    axes.set_yticks(np.arange(len(order)), [symbol(study, name) for name in order])
    axes.invert_yaxis()
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_xlabel(label(quantity) if measures == ["mu_star"] else "share of the variance")
    axes.set_title(title(study, quantity, lines), loc="left", fontsize=10.5)
    legend(axes, loc="lower right", frameon=False, fontsize=9.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)


def plane(axes: Axes, study: Sensitivity, quantity: Quantity, lines: Sequence[Line]) -> None:
    """Draw sigma over mu*: a large mu* means a large effect; a large sigma / mu* means a nonlinear effect or an interaction."""
    cells = {(line.estimate.parameter, line.estimate.measure): line.estimate for line in lines}
    names = study.sample.names
    star = [cells[name, "mu_star"] for name in names]
    sigma = [cells[name, "sigma"].value for name in names]
    right, top = 1.15 * max(e.high for e in star), 1.15 * max(*sigma, 0.15 * max(e.high for e in star))
    for slope, words in ((1.0, r"$\sigma = \mu^*$"), (0.5, r"$\sigma = \mu^*/2$"), (0.1, r"$\sigma = \mu^*/10$")):
        axes.plot([0.0, right], [0.0, slope * right], color="#9a978f", linewidth=0.8, linestyle="--", zorder=1)
        along = 0.93 * min(right, top / slope)
        axes.annotate(words, (along, slope * along), xytext=(-4, 3), textcoords="offset points", ha="right", fontsize=8.5, color="#6d6a63")
    for place, (name, effect, spread) in enumerate(zip(names, star, sigma, strict=True)):
        look: Any = {"color": HUES[place % len(HUES)], "fmt": MARKS[place % len(MARKS)], "label": symbol(study, name)}
        axes.errorbar(effect.value, spread, xerr=effect.half_width, markersize=7, capsize=2.5, zorder=3, **look)
    unit = f" [{quantity.unit}]" if quantity.unit not in ("", "1") else ""
    axes.set(
        xlim=(-0.015 * right, right),
        ylim=(-0.02 * top, top),
        xlabel=rf"$\mu^*$: mean size of the effect{unit}",
        ylabel=rf"$\sigma$: its spread{unit}",
    )
    legend(axes, loc="best", fontsize=10.5, framealpha=0.9)
    axes.set_title(title(study, quantity, lines), loc="left", fontsize=10.5)


def scatter(figure: Figure, study: Sensitivity, down: int, across: int) -> None:
    """Draw the observable over each parameter at evenly chosen points of the used groups, coloured by regime."""
    sample = study.sample
    panels = figure.subplots(down, across, squeeze=False).reshape(len(study.quantities), -1)
    for row, quantity in zip(panels, study.quantities, strict=True):
        groups = study.kept[quantity.name].groups
        places = (groups[:, np.newaxis] * sample.group_size + np.arange(sample.group_size)).reshape(-1)
        places = places[np.unique(np.linspace(0, len(places) - 1, min(SHOWN, len(places))).astype(int))]
        cube = sample.coordinates()[places]
        for axes, name, axis, u in zip(row, sample.names, sample.design.axes, cube.T, strict=False):
            x, words = positions(axis, u)
            paint(axes, study, x, sample.values[quantity.name][places], places)
            if words:
                axes.set_xticks(range(len(words)), words, rotation=20 if max(map(len, words)) > 4 else 0)
            parameter = by_name(sample.config.model.parameters)[name]
            axes.set_xlabel(f"{symbol(study, name)}: factor" if isinstance(axis, Scaled) else label(parameter))
            if getattr(axis, "logarithmic", False):
                axes.set_xscale("log")
        for axes in row[len(sample.names) :]:
            axes.set_axis_off()
        for axes in row[: len(sample.names) : across]:
            axes.set_ylabel(label(quantity))
    handles, names = panels[0][0].get_legend_handles_labels()
    if len(handles) > 1:
        figure.legend(handles, names, loc="outside upper right", ncols=len(handles), frameon=False, fontsize=9.5, markerscale=2.5)


def positions(axis: Any, u: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Positions of points along an axis, and the words at the ticks; for a scaled table, the factor."""
    from tribosweep.sweep.design.axis import Continuous, Listed
    from tribosweep.sweep.design.distributions import Drawn, Weighted
    from tribosweep.sweep.design.sampling import places

    if isinstance(axis, Scaled):
        return axis.factor.at(u), []
    if isinstance(axis, Continuous | Drawn):
        return axis.at(u), []
    listed = axis.listed if isinstance(axis, Weighted) else axis
    if not isinstance(listed, Listed):
        return listed.at(places((axis,), [u])[0]), []
    found = axis.positions(u) if isinstance(axis, Weighted) else places((axis,), [u])[0]
    words = [str(each) if not isinstance(each, float) else f"{each:g}" for each in listed.to_document()]
    jitter = np.modf(np.arange(len(u)) * 0.6180339887498949)[0] - 0.5  # separates points with the same value
    return found + 0.5 * jitter, words if max(map(len, words)) < 12 else [str(place + 1) for place in range(len(words))]


def paint(axes: Axes, study: Sensitivity, x: np.ndarray, y: np.ndarray, places: np.ndarray) -> None:
    """Draw points, coloured by regime if the model has regimes."""
    sample = study.sample
    size = 9.0 if len(x) < 500 else 4.0
    if sample.regimes is None or (sample.regimes[places] < 0).all():
        axes.scatter(x, y, s=size, color=HUES[0], alpha=0.5, linewidths=0, rasterized=True)
        return
    for code, word in enumerate(by_name(sample.config.model.observables)[REGIME].words):
        inside = sample.regimes[places] == code
        if inside.any():
            axes.scatter(
                x[inside], y[inside], s=size, color=REGIME_HUES.get(word, HUES[2]), alpha=0.5, linewidths=0, label=word, rasterized=True
            )


def sizes(figure: Figure, study: Sensitivity, drawn: Sequence[Quantity]) -> None:
    """Draw estimates and intervals over the sample size: an index of every parameter on the left, mean and quantiles on the right."""
    own = {quantity.name: [line for line in study.lines[SIZES] if line.observable == quantity.name] for quantity in drawn}
    sides = [
        [measure for measure in order if any(line.estimate.measure == measure for lines in own.values() for line in lines)]
        for order in (("ST", "S1", "mu_star"), ("mean", *(f"quantile {p:g}" for p in study.request.quantiles)))
    ]
    shown = [measures[:1] if side == 0 else measures for side, measures in enumerate(sides) if measures]
    panels = figure.subplots(len(drawn), len(shown), squeeze=False)
    words = {"ST": "total index $S_T$", "S1": "first-order index $S_1$"}
    for row, quantity in zip(panels, drawn, strict=True):
        for axes, measures in zip(row, shown, strict=True):
            chosen = [line for line in own[quantity.name] if line.estimate.measure in measures]
            curves(axes, study, chosen)
            what = "points" if measures[0] == "mean" else group_noun(study.sample)
            axes.set(xscale="log", xlabel=f"{what} that are used", ylabel=words.get(measures[0], label(quantity)))
            if measures[0] in words:  # the first intervals may be wider than the range of an index
                low, high = axes.get_ylim()
                axes.set_ylim(max(low, -0.3), min(high, 1.4))
            if chosen:
                method = "mean and quantiles" if measures[0] == "mean" else chosen[-1].method
                axes.set_title(f"{quantity.name.replace('_', ' ')}: {method}", loc="left", fontsize=10.5)
                legend(axes, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize=9.5, ncols=5)


def curves(axes: Axes, study: Sensitivity, lines: Sequence[Line]) -> None:
    """Draw one curve with a band for each parameter and measure."""
    for place, (name, measure) in enumerate(dict.fromkeys((line.estimate.parameter, line.estimate.measure) for line in lines)):
        own = [line for line in lines if (line.estimate.parameter, line.estimate.measure) == (name, measure)]
        n = [line.groups for line in own]
        look: Any = {"color": HUES[place % len(HUES)], "marker": MARKS[place % len(MARKS)], "markersize": 5}
        axes.plot(n, [line.estimate.value for line in own], label=symbol(study, name) if name else measure, **look)
        low, high = ([getattr(line.estimate, end) for line in own] for end in ("low", "high"))
        finite = (np.isfinite(low) & np.isfinite(high)).tolist()
        axes.fill_between(n, low, high, where=finite, color=look["color"], alpha=0.18, linewidth=0)
    axes.grid(linewidth=0.4, alpha=0.5)
