"""The picture of response spectra: each record, and of several the median and the spread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.spectra.result import Spectra
from tribosweep.sweep.results.picture import HUES, INK, Picture, label_plainly, legend, plain, save, write_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (7.5, 4.6)  # inches
FEW = 4  # records that have lines and names of their own


def draw(spectra: Spectra, out: Path | None) -> Picture:
    """Draw the spectra into a .png, .svg or .pdf file, or in memory.

    Raises:
        ConfigError: matplotlib is missing, or the suffix is unknown. OSError: `out` cannot be written.
    """
    return save(out, SIZE, lambda figure: fill(figure, spectra), "spectrum")


def fill(figure: Figure, spectra: Spectra) -> None:
    """Put the spectra into an empty figure."""
    axes = figure.add_subplot()
    frequencies, peaks, few = spectra.spectrum.frequencies, spectra.spectrum.acceleration, len(spectra.names) <= FEW
    mark = "" if len(frequencies) > 1 else "o"
    for number, (name, values) in enumerate(zip(spectra.names, peaks, strict=True)):
        if few:
            axes.plot(frequencies, values, color=HUES[number], linewidth=1.4, marker=mark, label=plain(name))
        else:
            axes.plot(frequencies, values, color="#9a958b", linewidth=0.5, alpha=0.5, marker=mark)
    targets = {} if spectra.target is None else {target.tobytes(): target for target in spectra.target}
    if not few and len(targets) < 2:
        low, median, high = spectra.quantiles()
        axes.fill_between(frequencies, low, high, color=HUES[0], alpha=0.25, linewidth=0.0, label="16 to 84 %")
        axes.plot(frequencies, median, color=HUES[0], linewidth=1.8, marker=mark, label="median")
    for place, target in enumerate(targets.values()):
        axes.plot(frequencies, target, color=HUES[1 + place % (len(HUES) - 1)], linewidth=1.4, linestyle="--",
                  label="target" if len(targets) == 1 else f"target {place + 1}")  # fmt: skip
    axes.set(xscale="log", xlabel="frequency [Hz]", ylabel="spectral acceleration [m/s²]")
    axes.set_yscale("log")
    label_plainly(axes.xaxis)
    label_plainly(axes.yaxis)
    axes.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    legend(axes, frameon=False, fontsize=9)
    axes.tick_params(color=INK)
    count = len(spectra.names)
    draws = len({name.partition(",")[0] for name in spectra.names})
    what = (
        f"{draws} draws{', each channel' if draws < count else ''}" if spectra.random else f"{count} records" if count > 1 else "1 record"
    )
    write_title(axes, f"{spectra.source}: response spectra of {what}", [f"{100.0 * spectra.spectrum.damping:g} % of critical damping"])
