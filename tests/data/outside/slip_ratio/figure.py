"""The picture: slip distances in order, with the one that counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from slip_ratio.result import SlipRatio
from tribosweep.sweep.results.picture import INK, Picture, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(found: SlipRatio, out: Path | None) -> Picture:
    """Draw it into a .png, .svg or .pdf file."""
    return save(out, (4.6, 3.4), lambda figure: fill(figure, found), "slip_ratio")


def fill(figure: Figure, found: SlipRatio) -> None:
    """Put the picture into an empty figure."""
    axes = figure.add_subplot()
    axes.plot(np.linspace(0.0, 100.0, found.distances.size), np.sort(found.distances), color=INK)
    axes.axhline(found.farther, color=INK, linewidth=0.8, linestyle="--")
    axes.set(xlabel="rows [%]", ylabel="slip distance [m]", title=found.line())
