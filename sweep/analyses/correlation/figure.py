"""The picture of rank correlations: the matrix, with the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.analyses.correlation.result import Correlation
from tribosweep.sweep.analysis.fixed_values import value_in_words
from tribosweep.sweep.results.picture import INK, Picture, plain, save, write_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN, CELL = (2.0, 2.6), 0.62  # inches: beside the matrix, above and below it; of a column or row
NARROWEST = 4.6  # inches, for the title
MOST_NUMBERS = 16  # columns whose cells have room for a number
FAINT = "#8a8a8a"  # of coefficients whose intervals hold zero


def draw(found: Correlation, out: Path | None) -> Picture:
    """Draw rank correlations into a .png, .svg or .pdf file; ConfigError and OSError as `picture.save`."""
    side = CELL * min(len(found.names), 3 * MOST_NUMBERS)
    return save(out, (max(MARGIN[0] + side, NARROWEST), MARGIN[1] + side), lambda figure: fill(figure, found), "correlation")


def fill(figure: Figure, found: Correlation) -> None:
    """Put the picture into an empty figure."""
    axes, count = figure.add_subplot(), len(found.names)
    below = np.tril(np.ones((count, count), bool), -1)
    shade = axes.imshow(np.ma.masked_where(~below | np.isnan(found.correlation), found.correlation), cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    names = [plain(name) for name in found.names]
    axes.set_xticks(range(count - 1), names[:-1], rotation=45.0, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(1, count), names[1:])
    axes.set(xlim=(-0.5, count - 1.5), ylim=(count - 0.5, 0.5))
    axes.spines[["top", "right"]].set_visible(False)
    if count <= MOST_NUMBERS:
        for row, column in np.argwhere(below):
            value, low, high = (each[row, column] for each in (found.correlation, found.low, found.high))
            dark = abs(value) > 0.6
            color = "white" if dark else FAINT if not (low > 0.0 or high < 0.0) else INK
            axes.text(
                column, row, "-" if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}", ha="center", va="center", fontsize=8.5, color=color
            )
    if 0 < found.parameters < count:
        axes.axhline(found.parameters - 0.5, color=INK, linewidth=0.8)  # parameters above, observables below
    figure.colorbar(shade, ax=axes, label="rank correlation (Spearman)", location="bottom", shrink=0.8, aspect=30.0)
    held = [f"{name} = {value_in_words(value)}" for name, value in found.request["held"].items()]
    held += [f"grey: the {100.0 * found.confidence:g} % interval holds 0"] if count <= MOST_NUMBERS else []
    write_title(axes, f"{found.state['study']}: rank correlation", held)
