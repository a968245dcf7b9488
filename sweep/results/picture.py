"""Common parts of all pictures: the file, the style and the labels of axes."""

from __future__ import annotations

import os
import textwrap
import warnings
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.supports import in_words
from tribosweep.sweep.io.atomic import write_whole
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.text import visible
from tribosweep.sweep.io.units import raised

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


SUFFIXES = (".png", ".svg", ".pdf")
DPI = 160
MISSING_GLYPH = "Glyph .* missing from"  # of a study's name; it is drawn as a box
HUES = ("#17568c", "#c2601a", "#6b3d80", "#3d7a4a", "#9a8c1f", "#7a4030", "#4a7f8c", "#8c4a6b")  # of lines, in their order
SMALL, SMALL_LINES, ACROSS, NO_BREAK = 8.0, 2, 96, "\u00a0"  # of the line below a title: points, lines, letters to a line
NEAR = 4.0  # ratio of the ends of a logarithmic axis that has no room for ticks at 1, 2, 5
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<")
INK = "#1b1b1b"
STYLE: dict[Any, Any] = {
    "font.size": 10.5, "axes.linewidth": 0.8, "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
    "ytick.color": INK, "mathtext.fontset": "dejavusans", "svg.hashsalt": "tribosweep", "svg.fonttype": "none",
}  # fmt: skip


class Picture:
    """A picture in memory, for a notebook: it shows itself there, and can be changed or saved.

    Attributes:
        figure: the matplotlib figure, whose axes can be changed before it is saved.
    """

    def __init__(self, figure: Figure) -> None:
        """Keep a figure that is drawn."""
        self.figure = figure

    def __repr__(self) -> str:
        """One line with the title of the picture."""
        titles = [self.figure.get_suptitle(), *(axes.get_title(loc="left") or axes.get_title() for axes in self.figure.axes)]
        return f"<Picture {next(filter(None, titles), '')!r}>"

    def save(self, out: str | os.PathLike[str]) -> Path:
        """Write the picture into a .png, .svg or .pdf file, and return its path; ConfigError for another suffix."""
        path = Path(out)
        require_picture(path)
        write_whole(path, to_bytes(self.figure, path.suffix.lower().removeprefix(".")))
        return path

    def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
        """The picture for Jupyter, at half the width of its pixels."""
        data = to_bytes(self.figure, "png")
        return data, {"width": self.figure.get_size_inches()[0] * DPI / 2.0}


def save(out: Path | None, size: tuple[float, float], fill: Callable[[Figure], None], command: str) -> Picture:
    """Draw a picture, and write it into a file; equal input gives equal bytes.

    Args:
        out: a .png, .svg or .pdf file; None for a picture in memory alone.
        size: width and height [inches].
        fill: puts the picture into an empty figure.
        command: name of the calling command, for messages.

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown.
        OSError: `out` cannot be written.
    """
    if not is_picture(out):
        require_matplotlib(f"tribosweep {command}")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=MISSING_GLYPH)
        figure = Figure(figsize=size, layout="constrained")
        fill(figure)
    picture = Picture(figure)
    if out is not None:
        picture.save(out)
    return picture


def is_picture(out: Path | None, tables: Sequence[str] = (), option: str = "--out") -> bool:
    """Whether a file that may be asked for is a picture, and no table. To be asked before the work.

    Args:
        out: the file. tables: endings of tables. option: that asked for it; empty if it is a default.

    Raises:
        ConfigError: it is neither, or it is a picture and matplotlib is missing.
    """
    if out is None or out.suffix.lower() in tables:
        return False
    require_picture(out, tables, option)
    return True


def require_picture(out: Path, tables: Sequence[str] = (), option: str = "--out") -> None:
    """Raise ConfigError if a file is no picture, or matplotlib is missing. To be called before the work; arguments as of `is_picture`."""
    if out.suffix.lower() not in SUFFIXES:
        raise ConfigError(option, [Problem("", f"{out}: must end in one of {', '.join((*tables, *SUFFIXES))}")])
    require_matplotlib(option or str(out))


def require_matplotlib(source: str) -> None:
    """Raise ConfigError of this source if matplotlib is not installed."""
    try:
        from matplotlib import rc_context  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        message = "a picture needs matplotlib, which is not installed: pip install 'tribosweep[plot]'"
        raise ConfigError(source, [Problem("", message)]) from None


def to_bytes(figure: Figure, form: str) -> bytes:
    """A figure as the bytes of a "png", "svg" or "pdf" file, without the date, so that the same run gives the same file."""
    from matplotlib import rc_context

    metadata: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
    data = BytesIO()
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=MISSING_GLYPH)
        figure.savefig(data, format=form, dpi=DPI, metadata=metadata)
    return data.getvalue()


def write_title(axes: Axes, title: str, values: Sequence[str] = ()) -> None:
    """Write a title at the left, and below it, in small letters, the values that all points share: as many as two lines hold.

    Args:
        axes: of the picture. title: as a user or a file gave it. values: such as "m = 1 kg".
    """
    lines = textwrap.wrap(", ".join(each.replace(" ", NO_BREAK) for each in values), ACROSS, break_long_words=False)
    if len(lines) > SMALL_LINES:
        lines = [*lines[: SMALL_LINES - 1], lines[SMALL_LINES - 1].rstrip(",") + " \u2026"]
    axes.set_title(plain(title), loc="left", fontsize=10.5, pad=6.0 + SMALL * 1.35 * len(lines))
    axes.yaxis.get_offset_text().set_horizontalalignment("right")  # a power of ten that all ticks share is beside the small letters
    if lines:
        small = "\n".join(raised(plain(line)) for line in lines)
        above: Any = {"xy": (0.0, 1.0), "xycoords": "axes fraction", "xytext": (0.0, 4.0), "textcoords": "offset points"}
        axes.annotate(small, **above, fontsize=SMALL, color="#555555", va="bottom", ha="left", annotation_clip=False)


def legend(axes: Axes, **options: Any) -> None:
    """Explain what has a name in the axes, if anything has."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**options)


def label(quantity: Quantity) -> str:
    """Axis label of a quantity, with superscript exponents in its unit; of a structure with the name of what it belongs to."""
    if "[" in quantity.name:
        unit = f" [{raised(quantity.unit)}]" if quantity.unit not in ("", "1") else ""
        return plain(in_words(quantity)) + unit
    head, bracket, unit = quantity.label.rpartition("[")
    return f"{head}{bracket}{raised(unit)}" if bracket else quantity.label


def plain(text: str) -> str:
    """A text that a file or a user gave, as it is: matplotlib takes what stands between two dollar signs for a formula."""
    return visible(text, lines=True).replace("$", r"\$")


def label_plainly(axis: Axis) -> None:
    """Put ticks of a logarithmic axis at 1, 2, 5, 10 ... as plain numbers, or at round steps if its ends are close together."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    near = 0.0 < low < high < NEAR * low
    axis.set_major_locator(MaxNLocator(6) if near else LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(lambda value, _position: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())
