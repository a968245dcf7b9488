"""Response spectra and intensities of records in files, and of the records or random draws of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tribosweep.kernels.models.schemes import EXACT
from tribosweep.sweep.analyses.spectra.request import SpectraRequest
from tribosweep.sweep.analyses.spectra.result import Spectra
from tribosweep.sweep.analysis.study_rows import parameters_of, read_study
from tribosweep.sweep.excitation.compatible import Compatible
from tribosweep.sweep.excitation.compatible_channels import CompatibleChannels
from tribosweep.sweep.excitation.intensity import intensities
from tribosweep.sweep.excitation.records import ACCELERATION, Recorded, read_record
from tribosweep.sweep.excitation.response_spectrum import ResponseSpectrum, response_spectrum
from tribosweep.sweep.execution.record_bank import record_of_row
from tribosweep.sweep.io import tables
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.capabilities import FLOOR
from tribosweep.sweep.study.excitation import Excitation, channels_of
from tribosweep.sweep.study.rules import check_fixed

SAMPLES_OF_A_PERIOD, MOST_SAMPLES = 20, 2_000_000  # of a response, for the highest frequency


def read_spectra(paths: Sequence[Path], request: SpectraRequest) -> Spectra:
    """Compute the spectra of records.

    Args:
        paths: .csv or .parquet files, each with one record; or one study, a TOML file, a shipped one or a run's directory.
        request: what is asked.

    Raises:
        ConfigError: a file or study that cannot be read, a study without accelerations, or a response that is too long.
        RunError: no draw comes within the tolerance of its response spectrum.
    """
    frequencies = np.array(request.frequencies or np.geomspace(request.lowest, request.highest, request.count), np.float64)
    excitation, missed = None, tuple[str, ...]()
    files = [path for path in paths if path.suffix.lower() in tables.READERS]
    if request.points:
        if len(paths) != 1 or files:
            raise ConfigError("--point", [Problem("", "is of one study or run")])
        listed = of_responses(paths[0], request.points, float(frequencies.max()))
    elif len(files) == len(paths) and paths:
        listed = of_files(files, request.time, request.acceleration, request.unit)
    elif len(paths) == 1:
        listed, excitation, missed = of_study(paths[0], request.draws)
    else:
        raise ConfigError("tribosweep spectrum", [Problem("", "give files with records (.csv, .parquet), or one study or run")])
    periods = 1.0 / frequencies
    parts = [response_spectrum(samples, step, periods, request.damping) for _, samples, step in listed]
    measured = [intensities(samples, step, request.periods, request.damping) for _, samples, step in listed]
    peaks = (np.stack([getattr(part, name) for part in parts]) for name in ("displacement", "velocity", "acceleration"))
    measures = {name: np.array([float(each[name]) for each in measured]) for name in measured[0]}
    names = tuple(name for name, _, _ in listed)
    random = excitation is not None and not isinstance(excitation, Recorded)
    target = target_of(excitation, frequencies, request.damping)
    if target is not None:
        target = np.tile(target, (len(names) // len(target), 1))
    spectrum = ResponseSpectrum(periods, request.damping, *peaks)
    return Spectra(str(paths[0]), names, spectrum, measures, random, target, missed, request.periods)


def of_responses(path: Path, points: Sequence[int], highest: float) -> list[tuple[str, np.ndarray, float]]:
    """Name, total acceleration [m/s^2] and step [s] of points' responses, by the exact engine, for frequencies up to `highest` [Hz]."""
    from tribosweep.kernels.time_history import total_acceleration

    config = read_study(path)
    found = []
    for point in points:
        given = parameters_of(config, point, FLOOR)
        if problems := check_fixed(config.model, EXACT, given, config.paths, set()):
            raise ConfigError(config.source, problems)
        end = float(config.model.resolve(given)["end"])
        count = int(np.ceil(end * SAMPLES_OF_A_PERIOD * highest))
        if count > MOST_SAMPLES:
            message = f"{count:.3g} samples of {end:g} s for {highest:g} Hz are more than {MOST_SAMPLES:,}: lower --to"
            raise ConfigError(config.source, [Problem(f"point {point}", message)])
        shaken, records = record_of_row(config.excitation, given)
        try:
            samples = total_acceleration(config.model.name, shaken, np.linspace(0.0, end, count + 1)[:-1], records)
        except ValueError as error:
            raise ConfigError(config.source, [Problem(f"point {point}", str(error))]) from None
        found.append((f"point {point}", samples, end / count))
    return found


def target_of(excitation: Excitation | None, frequencies: np.ndarray, damping: float) -> np.ndarray | None:
    """(C, P) Sa [m/s^2] that the channels of draws shall have, NaN where it is not met; None for none, or at another damping."""
    if not isinstance(excitation, Compatible | CompatibleChannels):
        return None
    parts = excitation.parts if isinstance(excitation, CompatibleChannels) else (excitation,)
    if damping != parts[0].damping:
        return None
    found = []
    for part in parts:
        low, high = part.match
        met = (frequencies >= low * (1.0 - 1e-9)) & (frequencies <= high * (1.0 + 1e-9))
        found.append(np.where(met, part.target(frequencies), np.nan))
    return np.stack(found)


def of_files(files: Sequence[Path], time: str, acceleration: str, unit: str | None) -> list[tuple[str, np.ndarray, float]]:
    """Name, samples [m/s^2] and step [s] of the record in each file; ConfigError if one is wrong."""
    problems: list[Problem] = []
    records = [read_record(path, time, [acceleration], unit, "record", problems) for path in files]
    if problems:
        raise ConfigError(str(files[0]), problems)
    return [(record.name, record.samples, record.interval) for record in records if record is not None]


def of_study(path: Path, draws: int) -> tuple[list[tuple[str, np.ndarray, float]], Excitation, tuple[str, ...]]:
    """Name, samples [m/s^2] and step [s] of each record, draw and channel of a study, its excitation, and names of draws that miss."""
    config = read_study(path)
    excitation = config.excitation
    problems: list[Problem] = []
    if excitation is None:
        message = "missing: this study has no records and no random accelerations, and nothing else has a response spectrum here"
        problems.append(Problem("excitation", message))
    else:
        channels = channels_of(config.model, problems)
        if channels is not None and channels.of != ACCELERATION:
            problems.append(Problem("excitation", "has forces; a response spectrum is that of a base acceleration"))
    if problems or excitation is None:
        raise ConfigError(config.source, problems)
    missed: tuple[str, ...] = ()
    if isinstance(excitation, Recorded):
        named = [(record.name, record.samples) for record in excitation.records]
    else:
        lost = excitation.missed(np.arange(draws))
        missed = tuple(f"draw {number}" for number in np.flatnonzero(lost))
        if lost.all():
            excitation.draw(0)  # says why there is none
        named = [(f"draw {number}", excitation.draw(number)) for number in np.flatnonzero(~lost).tolist()]
    found = []
    for name, samples in named:
        several = samples.ndim > 1
        for place, channel in enumerate(np.atleast_2d(samples)):
            found.append((f"{name}, channel {place}" if several else name, channel, excitation.interval))
    return found, excitation, missed
