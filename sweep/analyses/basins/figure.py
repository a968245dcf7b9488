"""The picture of basins: the plane of starts, in the colours of the motions to which they lead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analyses.basins.result import Basins
from tribosweep.sweep.analysis.fixed_values import fixed_in_words
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.results.picture import HUES, INK, Picture, label, save, write_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (7.5, 5.2)  # inches
NONE = "#d9d9d9"  # starts that lead to no known motion
DOT: Mapping[str, Any] = {"linestyle": "none", "marker": "o", "color": "white", "markersize": 5.5, "markeredgecolor": INK, "zorder": 3}


def draw(found: Basins, out: Path | None) -> Picture:
    """Draw basins into a .png, .svg or .pdf file.

    Raises:
        ConfigError: matplotlib is missing, the suffix is unknown, or the starts are not a plane of x0 and v0.
        OSError: `out` cannot be written.
    """
    starts = found.rows
    if len(found.motions) != 1:
        message = f"starts of {len(found.motions):,} combinations of {', '.join(starts.names)}: hold them with --at for a picture"
        raise ConfigError("tribosweep basins", [Problem("--out", message)])
    if min(len(np.unique(starts.x0)), len(np.unique(starts.v0))) < 2:
        raise ConfigError("tribosweep basins", [Problem("--out", "a picture needs starts in which both x0 and v0 vary")])
    return save(out, SIZE, lambda figure: fill(figure, found), "basins")


def fill(figure: Figure, found: Basins) -> None:
    """Put the picture into an empty figure."""
    from matplotlib.colors import ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    axes, starts = figure.add_subplot(), found.rows
    axes.set(xlabel=label(starts.model.parameter("x0")), ylabel=label(starts.model.parameter("v0")))
    (x, column), (y, row) = (np.unique(values, return_inverse=True) for values in (starts.x0, starts.v0))
    motions = found.motions[0]
    named = min(len(motions), len(HUES))
    colors = ListedColormap([NONE, *HUES[:named], *([INK] if len(motions) > named else [])])
    shown = np.minimum(found.attractor, named) + 1
    if len(x) * len(y) == len(shown):
        plane = np.zeros((len(y), len(x)), int)
        plane[row, column] = shown
        axes.pcolormesh(x, y, plane, cmap=colors, vmin=-0.5, vmax=colors.N - 0.5, shading="nearest", rasterized=True)
    else:
        size = min(16.0, max(1.0, 6e4 / len(shown)))
        axes.scatter(starts.x0, starts.v0, s=size, c=shown, cmap=colors, vmin=-0.5, vmax=colors.N - 0.5, linewidths=0, rasterized=True)
    limits = axes.get_xlim(), axes.get_ylim()
    omega = float(starts.of("omega")[0])
    if starts.bound[0]:  # elsewhere a motion may be at any displacement
        for motion in motions:
            axes.plot(motion.points[:, 1] / omega, motion.points[:, 0], **DOT)
    axes.set(xlim=limits[0], ylim=limits[1])
    whole = len(shown)
    counts = found.counts[0]
    entries = [(HUES[n], said(found, n), int(counts[n])) for n in range(named)]
    entries.append((INK, f"{len(motions) - named:,} other motions", int(counts[named:].sum())))
    entries += [(NONE, "no periodic motion", int(found.unsettled.sum())), (NONE, "failed", int(found.failed.sum()))]
    handles: list[Any] = [
        Patch(facecolor=color, edgecolor=INK, linewidth=0.5, label=f"{text}: {number / whole:.1%}")
        for color, text, number in entries
        if number
    ]
    if starts.bound[0]:
        handles.append(Line2D([], [], label="motion, at the start of a period", **DOT))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)), fontsize=9, frameon=False)
    given = {name: value for name, value in starts.config.fixed.items() if name not in starts.config.swept}
    held = fixed_in_words(starts.model, given | starts.held)
    write_title(axes, f"{starts.config.name}: steady motions of {whole:,} starts", held)


def said(found: Basins, number: int) -> str:
    """A motion in a legend: "period 2, periodic impacts"."""
    motion = found.motions[0][number]
    quantity = next((q for q in found.observables if q.name == "regime"), None)
    code = motion.observables.get("regime", -1.0)
    words = [quantity.words[int(code)]] if quantity is not None and np.isfinite(code) and code >= 0 else []
    return ", ".join([f"period {motion.period}", *words])
