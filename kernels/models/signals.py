"""Signals: what is computed of the motion of a row at equal steps, and its columns. Nothing here imports JAX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tribosweep.kernels.models.basis import AXES
from tribosweep.kernels.models.kwu_epri import KwuEpriLaw
from tribosweep.kernels.models.model import Model
from tribosweep.kernels.models.observables import MOTION
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.structure_columns import sampled
from tribosweep.kernels.models.supports import named

TAPERS = ("hann", "hamming", "blackman", "boxcar")
OVERLAPS = (0.0, 0.5, 0.75)
DETRENDS = ("constant", "none")
PEAKS, DURATIONS = "impact_peaks", "impact_durations"
_ACCELERATION = Quantity("a", "m/s^2", "acceleration")
_WALL = "wall_force"
OF_WEAR = (
    (
        "wear_volume_kwu_epri",
        "m^3",
        "volume worn in service by the law KWU-EPRI; null where sliding outweighs impacts, for which it does not hold",
    ),
    ("kwu_epri_impacts", "", "part S_I of impacts in the law KWU-EPRI"),
    ("kwu_epri_sliding", "", "part S_S of sliding in the law KWU-EPRI"),
)
_CLASSES = "from each edge to the next, the last class without end"


class Abscissa(NamedTuple):
    """What the entries of a list column belong to: frequencies, levels, or edges of classes, the last of which has no end.

    Attributes:
        name: of the quantity. unit: its unit. values: one for each entry.
    """

    name: str
    unit: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Signals:
    """What is computed of the motion at the times start + n interval of the window (of each of its `parts`).

    Attributes:
        interval: time between samples [s].
        parts: number of equal parts of the window, each with columns of its own.
        psd: channels whose power spectral densities are computed. cross_psd: pairs of channels with cross-spectral densities.
        segment: samples of a segment of Welch's method; a multiple of 4. overlap: of segments, one of OVERLAPS.
        taper: one of TAPERS. detrend: "constant" takes the mean of each segment from it, "none" does not.
        rainflow: channel -> edges of classes of ranges. crossings: channel -> levels; pairs, so that the whole is hashable.
        exponent: of a Woehler curve; None for no equivalent range. rate: cycles per second of the equivalent range [Hz].
        peaks: edges of classes of the largest force of an impact [N]. durations: edges of classes of the duration of one [s].
        kwu_epri: the wear law by which the volumes at the supports `worn` are computed; None for no volumes.
    """

    interval: float
    parts: int = 1
    psd: tuple[str, ...] = ()
    cross_psd: tuple[tuple[str, str], ...] = ()
    segment: int = 1024
    overlap: float = 0.5
    taper: str = "hann"
    detrend: str = "constant"
    rainflow: tuple[tuple[str, tuple[float, ...]], ...] = ()
    crossings: tuple[tuple[str, tuple[float, ...]], ...] = ()
    exponent: float | None = None
    rate: float = 1.0
    peaks: tuple[float, ...] = ()
    durations: tuple[float, ...] = ()
    kwu_epri: KwuEpriLaw | None = None
    worn: tuple[str, ...] = ()

    @property
    def spectral(self) -> tuple[str, ...]:
        """The channels with spectra, each once."""
        return tuple(dict.fromkeys([*self.psd, *(name for pair in self.cross_psd for name in pair)]))

    @property
    def counted(self) -> tuple[str, ...]:
        """The channels whose cycles or crossings are counted, each once."""
        return tuple(dict.fromkeys(name for name, _ in (*self.rainflow, *self.crossings)))

    @property
    def hop(self) -> int:
        """Samples from the start of a segment to that of the next; the motion is followed by as many at a time."""
        return round(self.segment * (1.0 - self.overlap))

    @property
    def frequencies(self) -> np.ndarray:
        """Frequencies of spectra [Hz], (segment // 2 + 1,)."""
        return np.fft.rfftfreq(self.segment, self.interval)

    def columns(self, model: Model) -> dict[str, tuple[Quantity, Abscissa | None]]:
        """The columns by name, in order, each with what its entries belong to."""
        found: dict[str, tuple[Quantity, Abscissa | None]] = {}
        for part in range(self.parts):
            ahead = "" if self.parts == 1 else f"part{part + 1}_"
            where = "in the window" if self.parts == 1 else f"in part {part + 1} of {self.parts} of the window"
            for quantity, entries in self._of_part(model, where):
                name = ahead + quantity.name
                length = 0 if entries is None else len(entries.values)
                kind = "float" if entries is None else "list"
                found[name] = (
                    Quantity(name, quantity.unit, quantity.description, kind=kind, length=length, optional=True),  # type: ignore[arg-type]
                    entries,
                )
        return found

    def _of_part(self, model: Model, where: str) -> list[tuple[Quantity, Abscissa | None]]:
        known, found = channels(model), list[tuple[Quantity, Abscissa | None]]()
        frequencies = Abscissa("frequency", "Hz", tuple(self.frequencies.tolist()))
        for name in self.psd:
            text = f"one-sided power spectral density of {name} {where} (Welch); null if the part is shorter than a segment"
            found.append((Quantity(f"psd_{name}", density(known[name].unit, known[name].unit), text), frequencies))
        for one, other in self.cross_psd:
            unit = density(known[one].unit, known[other].unit)
            for ending, words in (("re", "real"), ("im", "imaginary")):
                text = f"{words} part of the one-sided cross-spectral density conj({one}) {other} {where} (Welch)"
                found.append((Quantity(f"cross_psd_{ending}_{one}_{other}", unit, text), frequencies))
        for name, edges in self.rainflow:
            unit = known[name].unit
            text = f"rainflow cycles of {name} {where} by range; half cycles are 0.5; {_CLASSES}"
            found.append((Quantity(f"rainflow_{name}", "", text), Abscissa("range", unit, edges)))
            if self.exponent is not None:
                text = f"range of {name} of which {self.rate:g} cycles per second do the damage {where}, Woehler exponent {self.exponent:g}"
                found.append((Quantity(f"equivalent_range_{name}", unit, text), None))
        for name, levels in self.crossings:
            text = f"how often {name} passes each level upwards {where}"
            found.append((Quantity(f"crossings_{name}", "", text), Abscissa("level", known[name].unit, levels)))
        for of in struck(model):
            for name, what, unit, edges in ((PEAKS, "largest force", "N", self.peaks), (DURATIONS, "duration", "s", self.durations)):
                if edges:
                    place = f" at {of}" if of else ""
                    text = f"impacts{place} that ended {where} by their {what}; {_CLASSES}"
                    found.append((Quantity(named(name, of) if of else name, "", text), Abscissa(what, unit, edges)))
        for of in self.worn:
            for name, unit, text in OF_WEAR:
                found.append((Quantity(named(name, of), unit, f"{text}; at {of}, {where}"), None))
        return found


def density(one: str, other: str) -> str:
    """The unit of a spectral density of quantities with these units."""
    if one == other:
        base, _, power = one.partition("^")
        simple = base.isalpha() and not power
        return f"{one}^2/Hz" if simple else f"({one})^2/Hz"
    return f"{one} {other}/Hz".replace("m/s^2", "(m/s^2)").replace("m/s ", "(m/s) ").replace("m/s/", "(m/s)/")


def channels(model: Model) -> dict[str, Quantity]:
    """The quantities of a model that may be sampled, by name: its motion and the forces of its contacts."""
    if model.structure is None:
        x, v, *forces = MOTION
        found = [x, v, _ACCELERATION, *(q for q in forces if model.walls or q.name != _WALL)]
        return {q.name: q for q in found}
    return sampled(model)


def slope_of(name: str) -> str | None:
    """The channel that is the derivative of a displacement; None of anything else."""
    if name == "x":
        return "v"
    base, _, point = name.partition("[")
    return f"{base}_rate[{point}" if base in AXES else None


def rubbed(model: Model) -> tuple[str, ...]:
    """The supports of a model along which something may slide."""
    structure = model.structure
    return () if structure is None else tuple(s.name for s in structure.supports if structure.kind_of(s).axes > 1)


def struck(model: Model) -> tuple[str, ...]:
    """The supports of a model that have impacts; of an oscillator with walls one without a name."""
    if model.structure is not None:
        return tuple(model.structure.order)
    return ("",) if model.walls else ()
