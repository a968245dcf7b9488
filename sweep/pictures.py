"""What every picture shares: the file that it goes to, how it looks, and how its axes are labelled."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernels.models.quantity import Quantity
from sweep.problems import ConfigError, Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
DPI = 160
INK = "#1b1b1b"
STYLE: dict[Any, Any] = {
    "font.size": 10.5, "axes.linewidth": 0.8, "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
    "ytick.color": INK, "mathtext.fontset": "dejavusans", "svg.hashsalt": "tribosweep", "svg.fonttype": "none",
}  # fmt: skip

# From light to dark in each regime. Grey, blue and orange are told apart with every kind of colour blindness; the lines between areas and
# the words on them tell them apart in print without colour. Other words take the ramps of OTHERS in their order.
RAMPS = {
    "stick": ("#e4e2dd", "#e4e2dd"), "stick-slip": ("#eaf3fb", "#17568c"), "slip-slip": ("#fdeedd", "#a8480a"),
    "no friction": ("#f1e9f4", "#6b3d80"),
}  # fmt: skip
OTHERS = (
    ("#f3f1ec", "#77736a"), ("#eaf3fb", "#17568c"), ("#fdeedd", "#a8480a"), ("#f1e9f4", "#5f2f78"), ("#e3f3ee", "#0b5f4c"),
    ("#fbf4d3", "#7d6608"), ("#fae8ee", "#8f2350"), ("#e8e8e8", "#2e2e2e"), ("#e0f2fb", "#0a6a8a"), ("#f5e9e0", "#5b3a1e"),
    ("#eef3dc", "#4f6212"), ("#e9e6f6", "#3b3a8c"),
)  # fmt: skip
Ramp = tuple[str, str]


def ramps_of(words: Sequence[str]) -> dict[str, Ramp]:
    """The colours of regimes, for small and for large values of what is shaded, as "#rrggbb"."""
    free = [word for word in words if word not in RAMPS]
    return {word: RAMPS[word] if word in RAMPS else OTHERS[free.index(word) % len(OTHERS)] for word in words}


def mixed(light: str, dark: str, part: float = 0.25) -> str:
    """The colour that is a part of the way from one to another."""
    ends = [[int(color[place : place + 2], 16) for place in (1, 3, 5)] for color in (light, dark)]
    return "#" + "".join(f"{round(one + part * (other - one)):02x}" for one, other in zip(*ends, strict=True))


def save(out: Path, size: tuple[float, float], fill: Callable[[Figure], None], command: str) -> None:
    """Draw a picture into a file; the same run gives the same bytes.

    Args:
        out: a .png, .svg or .pdf file.
        size: width and height [inches].
        fill: puts the picture into an empty figure.
        command: of the command line that wants it, for messages.

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown.
        OSError: `out` cannot be written.
    """
    if out.suffix.lower() not in SUFFIXES:
        raise ConfigError("--out", [Problem("", f"{out}: must end in one of {', '.join(SUFFIXES)}")])
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        message = "a picture needs matplotlib, which is not installed: pip install 'tribosweep[plot]'"
        raise ConfigError(f"tribosweep {command}", [Problem("", message)]) from None
    with rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        fill(figure)
        # without the date, so that the same run gives the same file
        metadata: Any = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(out.suffix.lower(), {})
        figure.savefig(out, dpi=DPI, metadata=metadata)


def label(quantity: Quantity) -> str:
    """Axis label of a quantity, exponents of its unit raised."""
    head, bracket, unit = quantity.label.rpartition("[")
    return f"{head}{bracket}{raised(unit)}" if bracket else quantity.label


def raised(unit: str) -> str:
    """A unit with its exponents raised."""
    return re.sub(r"\^(-?\d+)", r"$^{\1}$", unit)
