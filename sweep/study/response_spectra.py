"""Reading response_spectrum of [excitation.random]: the target, its damping, the envelope and the tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.excitation.compatible import Compatible
from tribosweep.sweep.excitation.compatible_channels import CompatibleChannels
from tribosweep.sweep.excitation.envelope import Envelope
from tribosweep.sweep.excitation.records import UNITS
from tribosweep.sweep.excitation.response_spectrum import DAMPING
from tribosweep.sweep.io.columns import MOST_WRITTEN, Wanted, read_columns
from tribosweep.sweep.io.errors import Problem, advise, shorten
from tribosweep.sweep.io.units import spelled
from tribosweep.sweep.io.values import number_like, read_number
from tribosweep.sweep.study.grammar import unsaid
from tribosweep.sweep.study.schema_excitation import FREQUENCY, OF_ENVELOPE, PERIOD, EnvelopeTable, Random

RANDOM = "excitation.random"
KEY, SEVERAL = f"{RANDOM}.response_spectrum", f"{RANDOM}.response_spectra"
TOLERANCE = 0.1
ACROSS = {
    FREQUENCY: Quantity(FREQUENCY, "Hz", "natural frequency", lower=0.0, lower_open=True),
    PERIOD: Quantity(PERIOD, "s", "natural period", lower=0.0, lower_open=True),
}
SA = Quantity("sa", UNITS["acceleration"], "spectral acceleration", lower=0.0, lower_open=True)
OF_DENSITIES = ("spectrum", "band", "rms", "interpolation", "taper")
OF_TARGETS = ("response_spectra", "against", "damping", "envelope", "tolerance", "match")


@dataclass(frozen=True, slots=True)
class Sizes:
    """What all draws have: duration [s], interval [s], ramps [s] and seed; None where it is wrong."""

    duration: float | None
    interval: float | None
    ramps: tuple[float, float] | None
    seed: int


@dataclass(frozen=True, slots=True)
class Common:
    """What the accelerations of all channels have: damping, duration [s], interval [s], seed, envelope and tolerance."""

    damping: float
    duration: float
    interval: float
    seed: int
    envelope: Envelope
    tolerance: float


def read_channels(section: Random, sizes: Sizes, folder: Path, problems: list[Problem]) -> list[Compatible]:
    """Read the accelerations of each channel that has a response spectrum of its own, or of one for all; none and problems if wrong."""
    before = len(problems)
    wrong = [key for key in OF_DENSITIES if getattr(section, key) is not None]
    problems += [Problem(f"{RANDOM}.{key}", "belongs to a power spectral density: leave out this or response_spectrum") for key in wrong]
    common = read_common(section, sizes, problems)
    if section.response_spectra is None:
        given = {KEY: section.response_spectrum}
    elif section.response_spectrum is not None:
        problems.append(Problem(SEVERAL, "is given beside response_spectrum, that of all channels: leave out one of them"))
        return []
    elif not isinstance(section.response_spectra, list) or not section.response_spectra:
        problems.append(Problem(SEVERAL, f"must be a list of spectra, one for each channel, not {shorten(section.response_spectra)}"))
        return []
    else:
        given = {f"{SEVERAL}[{place}]": each for place, each in enumerate(section.response_spectra)}
    found = []
    for path, spectrum in given.items():
        target = read_target(spectrum, path, section, folder, problems)
        match = read_match(section.match, target, sizes.interval, path, problems)
        if target is not None and match is not None and common is not None:
            found.append(Compatible(*target, common.damping, match, common.duration, common.interval, common.seed, common.envelope,
                                    common.tolerance))  # fmt: skip
    return found if len(problems) == before else []


def read_common(section: Random, sizes: Sizes, problems: list[Problem]) -> Common | None:
    """Read what all channels have; None and problems if it is wrong."""
    damping = DAMPING if section.damping is None else section.damping
    tolerance = TOLERANCE if section.tolerance is None else section.tolerance
    envelope = read_envelope(section.envelope, sizes.duration, problems)
    if envelope is None or sizes.duration is None or sizes.interval is None:
        return None
    return Common(damping, sizes.duration, sizes.interval, sizes.seed, envelope, tolerance)


def read_target(given: Any, path: str, section: Random, folder: Path, problems: list[Problem]) -> tuple[np.ndarray, np.ndarray] | None:
    """The frequencies [Hz], ascending, and spectral accelerations [m/s^2] of the target that is `given` at a path of the study."""
    across = FREQUENCY if section.against is None else section.against
    if across not in ACROSS:
        if not any(problem.path == f"{RANDOM}.against" for problem in problems):
            problems.append(Problem(f"{RANDOM}.against", f"{across!r} is none; {advise(across, list(ACROSS))}"))
        return None
    over = ACROSS[across]
    if isinstance(given, str):
        wanted = Wanted(across, over.unit, across), Wanted(SA.name, SA.unit, SA.name, "", section.unit, f"{RANDOM}.unit")
        columns = read_columns(folder / given, wanted, path, problems, MOST_WRITTEN)
        nodes = None if columns is None else np.stack(columns, axis=1)
        place = f"{path}: {Path(given).name}, row "
    else:
        nodes, place = read_pairs(given, path, over, section.unit, problems), ""
    if nodes is None:
        return None
    before = len(problems)
    if len(nodes) < 2:
        problems.append(Problem(path, f"has {len(nodes)} points: must have at least 2"))
    for row, (x, y) in enumerate(nodes.tolist()):
        where = f"{place}{row + 1}" if place else f"{path}[{row}]"
        if x <= 0.0 or y <= 0.0:
            problems.append(Problem(where, f"{x:g} {over.unit}, {y:g} {SA.unit}: both must be > 0"))
        if row and x <= nodes[row - 1, 0]:
            problems.append(Problem(where, f"{across} {x:g} {over.unit} does not exceed the one before, {nodes[row - 1, 0]:g} {over.unit}"))
    if len(problems) > before:
        return None
    return (nodes[:, 0], nodes[:, 1]) if across == FREQUENCY else (1.0 / nodes[::-1, 0], nodes[::-1, 1])


def read_pairs(pairs: Any, path: str, over: Quantity, unit: str | None, problems: list[Problem]) -> np.ndarray | None:
    """Read (n, 2) pairs in SI units."""
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        form = f"pairs [{over.name}, spectral acceleration] in {over.unit} and {SA.unit}, or a file"
        problems.append(Problem(path, f"must be {form}, not {shorten(pairs)}"))
        return None
    before, found = len(problems), []
    for position, (x, y) in enumerate(pairs):
        stated = f"{y!r} {spelled(unit)}" if unit is not None and number_like(y) else y
        found.append([read_number(over, f"{path}[{position}]", x, problems), read_number(SA, f"{path}[{position}]", stated, problems)])
    return np.array(found, float) if len(problems) == before else None


def read_envelope(given: EnvelopeTable | None, duration: float | None, problems: list[Problem]) -> Envelope | None:
    """The envelope { shape, rise, strong }."""
    path = f"{RANDOM}.envelope"
    missing = [path] if given is None else [f"{path}.{key}" for key in ("rise", "strong") if getattr(given, key) is None]
    problems += [Problem(key, f"missing: {OF_ENVELOPE}") for key in missing if unsaid(key, problems)]
    if given is None or given.rise is None or given.strong is None:
        return None
    if duration is not None and given.rise + given.strong > duration:
        problems.append(
            Problem(path, f"a rise of {given.rise:g} s and a strong phase of {given.strong:g} s do not fit into {duration:g} s")
        )
        return None
    return Envelope(given.shape, given.rise, given.strong)


def read_match(
    given: Any, target: tuple[np.ndarray, np.ndarray] | None, interval: float | None, of: str, problems: list[Problem]
) -> tuple[float, float] | None:
    """The lowest and highest frequency [Hz] at which the target is met; by default those of the target."""
    path = f"{RANDOM}.match"
    if target is None or interval is None:
        return None
    ends = float(target[0][0]), float(target[0][-1])
    if given is not None:
        if not isinstance(given, list) or len(given) != 2:
            problems.append(Problem(path, f"must be two frequencies in Hz, such as [0.2, 33.0], not {shorten(given)}"))
            return None
        read = [read_number(ACROSS[FREQUENCY], f"{path}[{place}]", value, problems) for place, value in enumerate(given)]
        if read[0] is None or read[1] is None:
            return None
        low, high = read[0], read[1]
        if not ends[0] * (1.0 - 1e-9) <= low < high <= ends[1] * (1.0 + 1e-9):
            message = f"from {low:g} to {high:g} Hz: must go up, within {ends[0]:g} to {ends[1]:g} Hz of {of.removeprefix(f'{RANDOM}.')}"
            problems.append(Problem(path, message))
            return None
        ends = low, high
    if ends[1] > 0.4 / interval:
        message = (
            f"samples {interval:g} s apart have fewer than 2.5 in a period from {0.4 / interval:g} Hz on, and the spectrum is met up to "
            f"{ends[1]:g} Hz: take an interval of {0.2 / ends[1]:.2g} s, say, or match = [{ends[0]:g}, {0.4 / interval:g}]"
        )
        problems.append(Problem(f"{RANDOM}.interval", message))
        return None
    return ends


def document(excitation: Compatible | CompatibleChannels) -> dict[str, Any]:
    """The keys of [excitation.random] in canonical form."""
    parts = excitation.parts if isinstance(excitation, CompatibleChannels) else (excitation,)
    one = parts[0]
    spectra = [np.stack([part.frequencies, part.accelerations], axis=1).tolist() for part in parts]
    targets: dict[str, Any] = {"response_spectrum": spectra[0]}
    if isinstance(excitation, CompatibleChannels):
        targets = {"response_spectra": spectra, "correlation": excitation.correlation.tolist()}
    return {
        **targets,
        "damping": one.damping,
        "match": list(one.match),
        "duration": one.duration,
        "interval": one.interval,
        "seed": one.seed,
        "envelope": {"shape": one.envelope.shape, "rise": one.envelope.rise, "strong": one.envelope.strong},
        "tolerance": one.tolerance,
    }
