"""Reading [excitation.random]: spectrum, duration, interval and taper."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.excitation.compatible import Compatible
from tribosweep.sweep.excitation.compatible_channels import CompatibleChannels
from tribosweep.sweep.excitation.correlated import Correlated, decaying
from tribosweep.sweep.excitation.records import ACCELERATION, UNITS
from tribosweep.sweep.excitation.spectrum import Spectrum
from tribosweep.sweep.excitation.stationary import Stationary
from tribosweep.sweep.io.columns import MOST_WRITTEN, Wanted, read_columns
from tribosweep.sweep.io.errors import Problem, advise, shorten
from tribosweep.sweep.io.foreign import UnreadableError, guarded
from tribosweep.sweep.io.units import DENSITY, spelled
from tribosweep.sweep.io.values import number_like, read_number
from tribosweep.sweep.study.grammar import unsaid
from tribosweep.sweep.study.response_spectra import OF_TARGETS, Sizes, read_channels
from tribosweep.sweep.study.schema_excitation import DURATION, INTERPOLATIONS, INTERVAL, Random

MOST_SAMPLES = 2**24  # samples of a draw
DEFAULT_SEED = 1
FREQUENCY = Quantity("frequency", "Hz", "frequency of a spectrum", lower=0.0)
PSD = Quantity("psd", DENSITY, "one-sided power spectral density of the acceleration", lower=0.0)
RMS = Quantity("rms", "m/s^2", "root mean square of the acceleration", lower=0.0, lower_open=True)
RAMP = Quantity("taper", "s", "ramp at an end of a draw", lower=0.0)
LENGTH = Quantity("length", "m", "correlation length", lower=0.0, lower_open=True)
PLACE = Quantity("positions", "m", "position of a channel")
RANDOM = "excitation.random"
Drawn = Stationary | Correlated | Compatible | CompatibleChannels


@dataclass(frozen=True, slots=True)
class Channels:
    """What the loads of a study follow.

    Attributes:
        of: ACCELERATION or FORCE. count: least number of channels. several: whether there may be more than one: loads of a structure.
    """

    of: str
    count: int
    several: bool

    @property
    def density(self) -> str:
        """Unit of a spectral density."""
        return f"({UNITS[self.of]})^2/Hz" if self.of == ACCELERATION else f"{UNITS[self.of]}^2/Hz"


def value_of(quantity: Quantity, value: Any, problems: list[Problem]) -> float | None:
    """Read a number of [excitation.random]; None and a problem if it is missing or no number."""
    path = f"{RANDOM}.{quantity.name}"
    if value is None:
        problems.append(missing(path, quantity))
        return None
    return read_number(quantity, path, value, problems)


def missing(path: str, quantity: Quantity) -> Problem:
    """The problem of a number that is missing."""
    return Problem(path, f"missing: a number in {quantity.unit} ({quantity.description})")


def read_random(section: Random, channels: Channels, folder: Path, problems: list[Problem]) -> Drawn | None:
    """Read the random accelerations, or forces of a structure; None and problems if they are wrong."""
    before = len(problems)
    found: Drawn | None
    if section.response_spectrum is None and section.response_spectra is None:
        wrong = [key for key in OF_TARGETS if getattr(section, key) is not None]
        problems += [Problem(f"{RANDOM}.{key}", "belongs to a response_spectrum: leave it out") for key in wrong]
        found = read_density(section, channels, folder, problems)
    else:
        found = read_spectra(section, channels, folder, problems)
    return found if len(problems) == before else None


def read_spectra(section: Random, channels: Channels, folder: Path, problems: list[Problem]) -> Compatible | CompatibleChannels | None:
    """Read accelerations with given response spectra; None and problems if they are wrong."""
    before = len(problems)
    path = f"{RANDOM}.{'response_spectrum' if section.response_spectra is None else 'response_spectra'}"
    if channels.of != ACCELERATION:
        problems.append(Problem(path, "is of base accelerations: loads that are forces have a power spectral density"))
    elif section.response_spectra is not None and not channels.several:
        problems.append(Problem(path, "are those of loads of a structure: an oscillator follows one acceleration, response_spectrum"))
    parts = read_channels(section, read_sizes(section, problems), folder, problems)
    factors = read_factors(section, problems)
    of_spectra = len(parts) if section.response_spectra is not None else 0
    plain = of_spectra > 0 and section.correlation is None
    correlation = np.eye(of_spectra) if plain else read_correlation(section, channels, problems)
    if len(problems) > before or correlation is None or not parts:
        return None
    if len(correlation) == 1 and factors is None and not of_spectra:
        return parts[0]
    parts = parts if of_spectra else parts * len(correlation)
    sizes = np.ones(len(parts)) if factors is None else np.array(factors)
    if len(sizes) != len(parts) or not (sizes > 0.0).all():
        problems.append(Problem(f"{RANDOM}.factors", f"there are {len(parts)} channels, so that factors must be as many numbers > 0"))
    if len(parts) < channels.count:
        problems.append(Problem(path, f"has {len(parts)} channels, but a load follows channel {channels.count - 1}, counted from 0"))
    if len(problems) > before:
        return None
    try:
        sized = [replace(part, accelerations=size * part.accelerations) for part, size in zip(parts, sizes.tolist(), strict=True)]
        return CompatibleChannels(tuple(sized), correlation)
    except ValueError as error:
        problems.append(Problem(f"{RANDOM}.correlation", str(error)))
    return None


def read_factors(section: Random, problems: list[Problem]) -> list[float] | None:
    """The factor of each channel; None without factors, or if they are wrong."""
    factors = section.factors
    if factors is None or (isinstance(factors, list) and all(number_like(factor) for factor in factors)):
        return factors
    problems.append(Problem(f"{RANDOM}.factors", f"must be a list of numbers, one for each channel, not {shorten(factors)}"))
    return None


def read_sizes(section: Random, problems: list[Problem]) -> Sizes:
    """Read what all draws have."""
    duration, interval = section.duration, section.interval
    for quantity, value in ((DURATION, duration), (INTERVAL, interval)):
        path = f"{RANDOM}.{quantity.name}"
        if value is None and unsaid(path, problems):
            problems.append(missing(path, quantity))
    ramps = read_ramps(section.taper, problems)
    seed = DEFAULT_SEED if section.seed is None else section.seed
    if seed < 0:
        problems.append(Problem(f"{RANDOM}.seed", f"{seed} is out of bounds: must be >= 0"))
    if duration is not None and interval is not None:
        if not 2.0 <= duration / interval <= MOST_SAMPLES:
            count = f"{duration:g} s at an interval of {interval:g} s are {duration / interval + 1.0:.4g} samples"
            problems.append(Problem(f"{RANDOM}.interval", f"{count}: must be >= 3 and <= {MOST_SAMPLES:,}"))
        if ramps is not None and sum(ramps) > duration:
            problems.append(Problem(f"{RANDOM}.taper", f"ramps of {ramps[0]:g} and {ramps[1]:g} s do not fit into {duration:g} s"))
    return Sizes(duration, interval, ramps, seed)


def read_density(section: Random, channels: Channels, folder: Path, problems: list[Problem]) -> Stationary | Correlated | None:
    """Read accelerations or forces with a given power spectral density; None and problems if they are wrong."""
    before = len(problems)
    spectrum = read_spectrum(section, channels, folder, problems)
    sizes = read_sizes(section, problems)
    duration, interval, ramps = sizes.duration, sizes.interval, sizes.ramps
    if spectrum is not None and interval is not None and spectrum.frequencies[-1] >= 0.5 / interval:
        highest, need = spectrum.frequencies[-1], 0.05 / spectrum.frequencies[-1]
        message = (
            f"samples {interval:g} s apart know no frequency from {0.5 / interval:g} Hz on, and the spectrum goes to {highest:g} Hz; "
            f"straight lines between samples lose 6 % of the power there at an interval of {2.0 * need:.3g} s, 2 % at {need:.3g} s"
        )
        problems.append(Problem(f"{RANDOM}.interval", message))
    if spectrum is None or duration is None or interval is None or ramps is None or len(problems) > before:
        return None
    single = Stationary(spectrum, duration, interval, sizes.seed, ramps)
    correlation = read_correlation(section, channels, problems)
    if correlation is None or len(problems) > before:
        return None
    factors = read_factors(section, problems)
    if len(problems) > before:
        return None
    if len(correlation) == 1 and factors is None:
        return single
    try:
        return Correlated(single, correlation, None if factors is None else np.array(factors, float))
    except ValueError as error:
        problems.append(Problem(f"{RANDOM}.{'factors' if 'factors' in str(error) else 'correlation'}", str(error)))
    return None


def read_correlation(section: Random, channels: Channels, problems: list[Problem]) -> np.ndarray | None:
    """The (C, C) correlation of the channels; None and problems if it is wrong."""
    path, given = f"{RANDOM}.correlation", section.correlation
    if not channels.several:
        wrong = [key for key in ("correlation", "factors") if getattr(section, key) is not None]
        problems += [Problem(f"{RANDOM}.{key}", "is of loads of a structure: an oscillator follows one acceleration") for key in wrong]
        return None if wrong else np.ones((1, 1))
    if given is None:
        return np.eye(channels.count if section.factors is None or not isinstance(section.factors, list) else len(section.factors))
    if isinstance(given, dict):
        return read_decay(given, channels, path, problems)
    try:
        with guarded():
            matrix = np.asarray(given, float)
    except UnreadableError:
        matrix = np.zeros(0)
    if matrix.ndim != 2:
        form = "{ length = 0.5, positions = [0.4, 1.2] } in m, or a matrix such as [[1.0, 0.5], [0.5, 1.0]]"
        problems.append(Problem(path, f"must be {form}, not {shorten(given)}"))
        return None
    if len(matrix) < channels.count:
        problems.append(Problem(path, f"is of {len(matrix)} channels, but a load follows channel {channels.count - 1}, counted from 0"))
        return None
    return matrix


def read_decay(given: dict[str, Any], channels: Channels, path: str, problems: list[Problem]) -> np.ndarray | None:
    """A correlation that decays with the distance; None and problems if it is wrong."""
    before = len(problems)
    keys = ("length", "positions")
    problems += [Problem(f"{path}.{key}", f"unknown key; {advise(str(key), keys)}") for key in given if key not in keys]
    length = read_number(LENGTH, f"{path}.length", given.get("length"), problems)
    positions = given.get("positions")
    if not isinstance(positions, list) or not positions:
        problems.append(Problem(f"{path}.positions", f"must be a list with the position of each channel in m, not {shorten(positions)}"))
        return None
    read = [read_number(PLACE, f"{path}.positions[{place}]", value, problems) for place, value in enumerate(positions)]
    places = [place for place in read if place is not None]
    if len(positions) < channels.count:
        message = f"has {len(positions)} channels, but a load follows channel {channels.count - 1}, counted from 0"
        problems.append(Problem(f"{path}.positions", message))
    return decaying(np.array(places), length) if length is not None and len(problems) == before else None


def read_ramps(taper: Any, problems: list[Problem]) -> tuple[float, float] | None:
    """Read the ramps at both ends [s]; None and a problem if they are invalid."""
    if taper is None:
        return 0.0, 0.0
    if isinstance(taper, list) and len(taper) != 2:
        problems.append(Problem(f"{RANDOM}.taper", f"must be one time or two, [at the beginning, at the end], not {shorten(taper)}"))
        return None
    both = [value_of(RAMP, each, problems) for each in (taper if isinstance(taper, list) else [taper])]
    first, last = both[0], both[-1]
    return None if first is None or last is None else (first, last)


def read_spectrum(section: Random, channels: Channels, folder: Path, problems: list[Problem]) -> Spectrum | None:
    """Read the spectrum from a band, pairs or a file; None and problems if it is invalid."""
    before = len(problems)
    if (section.spectrum is None) == (section.band is None):
        how = "missing" if section.band is None else "is given as a spectrum and as a band: leave out one of them"
        form = "spectrum = [[1.0, 0.02], [20.0, 0.02]] in Hz and (m/s^2)^2/Hz, or band = [1.0, 20.0] in Hz with rms, or a response_spectrum"
        problems.append(Problem(f"{RANDOM}.spectrum", f"{how}: {form}"))
        return None
    of_other = ("unit", "interpolation") if section.band is not None else ("rms",)
    home = "spectrum" if section.band is not None else "band"
    problems += [Problem(f"{RANDOM}.{key}", f"belongs to a {home}: leave it out") for key in of_other if getattr(section, key) is not None]
    if section.interpolation not in (None, *INTERPOLATIONS):
        advice = advise(str(section.interpolation), INTERPOLATIONS)
        problems.append(Problem(f"{RANDOM}.interpolation", f"{section.interpolation!r} is none; {advice}"))
    if section.band is not None:
        return read_band(section.band, section.rms, channels, problems)
    if isinstance(section.spectrum, str):
        wanted = Wanted("frequency", "Hz", "frequency"), Wanted("psd", channels.density, "psd", "", section.unit, f"{RANDOM}.unit")
        columns = read_columns(folder / section.spectrum, wanted, f"{RANDOM}.spectrum", problems, MOST_WRITTEN)
        nodes = None if columns is None else np.stack(columns, axis=1)
        place = f"{RANDOM}.spectrum: {Path(section.spectrum).name}, row "
    else:
        nodes = read_pairs(section.spectrum, section.unit, channels, problems)
        place = ""
    if nodes is None or len(problems) > before:
        return None
    check_nodes(nodes, place, section.interpolation == "log", channels.density, problems)
    return Spectrum(nodes[:, 0], nodes[:, 1], section.interpolation == "log") if len(problems) == before else None


def read_band(band: Any, rms: Any, channels: Channels, problems: list[Problem]) -> Spectrum | None:
    """Read a constant density between two frequencies."""
    size = value_of(replace(RMS, unit=UNITS[channels.of], description=f"root mean square of the {channels.of}"), rms, problems)
    ends: list[float] = []
    if not isinstance(band, list) or len(band) != 2:
        problems.append(Problem(f"{RANDOM}.band", f"must be two frequencies in Hz, such as [1.0, 20.0], not {shorten(band)}"))
    else:
        for position, value in enumerate(band):
            if (end := read_number(FREQUENCY, f"{RANDOM}.band[{position}]", value, problems)) is not None:
                ends.append(end)
    if len(ends) == 2 and not ends[0] < ends[1]:
        problems.append(Problem(f"{RANDOM}.band", f"must go up from one frequency to another, not from {ends[0]:g} to {ends[1]:g} Hz"))
        return None
    if len(ends) < 2 or size is None:
        return None
    density = size * size / (ends[1] - ends[0])
    if not math.isfinite(density):
        problems.append(
            Problem(f"{RANDOM}.rms", f"{size:g} {UNITS[channels.of]} in a band of {ends[1] - ends[0]:g} Hz is no finite density")
        )
        return None
    return Spectrum(np.array(ends), np.full(2, density))


def read_pairs(pairs: Any, unit: str | None, channels: Channels, problems: list[Problem]) -> np.ndarray | None:
    """Read (n, 2) frequencies and densities in SI units; None and problems if they are invalid."""
    path = f"{RANDOM}.spectrum"
    density = replace(PSD, unit=channels.density, description=f"one-sided power spectral density of the {channels.of}")
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        problems.append(
            Problem(path, f"must be pairs [frequency, density], such as [[1.0, 0.02], [20.0, 0.02]], or a file, not {shorten(pairs)}")
        )
        return None
    found: list[list[float]] = []
    for position, pair in enumerate(pairs):
        nodes = []
        for quantity, value in zip((FREQUENCY, density), pair, strict=True):
            stated = f"{value!r} {spelled(unit)}" if quantity is density and unit is not None and number_like(value) else value
            if (node := read_number(quantity, f"{path}[{position}]", stated, problems)) is not None:
                nodes.append(node)
        found.append(nodes)
    return np.array(found) if all(len(nodes) == 2 for nodes in found) else None


def check_nodes(nodes: np.ndarray, place: str, logarithmic: bool, unit: str, problems: list[Problem]) -> None:
    """Add problems if nodes (n, 2) are no spectrum in `unit`; `place` is the prefix of the rows of their file, empty without a file."""

    def say(row: int, message: str) -> None:
        problems.append(Problem(f"{place}{row + 1}" if place else f"{RANDOM}.spectrum[{row}]", message))

    if len(nodes) < 2:
        problems.append(Problem(f"{RANDOM}.spectrum", f"has {len(nodes)} frequencies: must have at least 2"))
        return
    for row, (f, s) in enumerate(nodes.tolist()):
        if f < 0.0 or s < 0.0:
            say(row, f"{f:g} Hz, {s:g} {unit}: neither can be negative")
        elif logarithmic and (f == 0.0 or s == 0.0):
            say(row, f'{f:g} Hz, {s:g} {unit}: interpolation = "log" needs numbers > 0; the density is 0 beyond the ends by itself')
        if row and f <= nodes[row - 1, 0]:
            say(row, f"frequency {f:g} Hz does not exceed the one before, {nodes[row - 1, 0]:g} Hz")
    if not nodes[:, 1].any():
        problems.append(Problem(f"{RANDOM}.spectrum", "is 0 everywhere: nothing would shake"))
