"""Response spectra and intensities of records in files, and of the records or random draws of a study."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models.schemes import EXACT
from tribosweep.sweep.analysis import event_log
from tribosweep.sweep.excitation.compatible import Compatible
from tribosweep.sweep.excitation.compatible_channels import CompatibleChannels
from tribosweep.sweep.excitation.intensity import intensities
from tribosweep.sweep.excitation.records import ACCELERATION, TIME, Recorded, read_record
from tribosweep.sweep.excitation.response_spectrum import DAMPING, ResponseSpectrum, response_spectrum
from tribosweep.sweep.execution.record_bank import record_of_row
from tribosweep.sweep.io import tables
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.capabilities import FLOOR
from tribosweep.sweep.study.excitation import Excitation, channels_of
from tribosweep.sweep.study.rules import check_fixed

if TYPE_CHECKING:
    import pandas as pd

LOWEST, HIGHEST, COUNT, DRAWS = 0.2, 33.0, 100, 20  # Hz, Hz, frequencies, draws, where nothing else is said
SAMPLES_OF_A_PERIOD, MOST_SAMPLES = 20, 2_000_000  # of a response, for the highest frequency
SHARES = (0.16, 0.5, 0.84)
UNITS = {"frequency": "Hz", "period": "s", "Sd": "m", "Sv": "m/s", "Sa": "m/s^2", "PSv": "m/s", "PSa": "m/s^2"}


@dataclass(frozen=True, slots=True, eq=False)
class Spectra:
    """Response spectra of several records of base acceleration.

    Attributes:
        source: the study, or the first file.
        names: of the R records or draws.
        spectrum: their peaks, (R, P), at P frequencies.
        measures: name -> (R,) intensities: pga, pgv, arias, cav, and Sa at single periods (`tribosweep.sweep.excitation.intensity`).
        random: whether the records are random draws.
        target: (R, P) Sa [m/s^2] that random draws shall have at this damping, NaN where it is not met; None for no target.
        missed: names of the draws that do not come within the tolerance of their target; they have no spectrum.
    """

    source: str
    names: tuple[str, ...]
    spectrum: ResponseSpectrum
    measures: dict[str, np.ndarray]
    random: bool
    target: np.ndarray | None = None
    missed: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """One row for each record and frequency: record, frequency [Hz], period [s], Sd [m], Sv [m/s], Sa [m/s^2], PSv, PSa."""
        import pandas as pd

        of, count = self.spectrum, len(self.names)
        peaks = (of.displacement, of.velocity, of.acceleration, of.pseudo_velocity, of.pseudo_acceleration)
        columns = [np.tile(of.frequencies, count), np.tile(of.periods, count), *(values.ravel() for values in peaks)]
        names = {"record": np.repeat(np.array(self.names, object), len(of.periods))}
        return pd.DataFrame(names | dict(zip(UNITS, columns, strict=True)))

    def worst(self) -> tuple[float, str, float] | None:
        """The Sa / target - 1 that is largest in size, the record and its frequency [Hz]; None without target."""
        if self.target is None or not np.isfinite(self.target).any():
            return None
        off = self.spectrum.acceleration / self.target - 1.0
        row, place = np.unravel_index(int(np.nanargmax(np.abs(off))), off.shape)
        return float(off[row, place]), self.names[row], float(self.spectrum.frequencies[place])

    def quantiles(self) -> np.ndarray:
        """(3, P) Sa [m/s^2] that 16, 50 and 84 % of the records do not exceed."""
        return np.asarray(np.quantile(self.spectrum.acceleration, SHARES, axis=0))


def frequencies_of(lowest: float, highest: float, count: int) -> np.ndarray:
    """Frequencies [Hz] at equal ratios; ConfigError if the bounds are wrong."""
    if not 0.0 < lowest <= highest < np.inf or count < 1:
        message = f"from {lowest:g} to {highest:g} Hz, {count} of them: needs 0 < from <= to and a count of at least 1"
        raise ConfigError("frequencies", [Problem("", message)])
    return np.geomspace(lowest, highest, count)


def read_spectra(
    sources: Sequence[str | os.PathLike[str]],
    frequencies: np.ndarray,
    damping: float = DAMPING,
    draws: int = DRAWS,
    time: str = TIME,
    acceleration: str = ACCELERATION,
    unit: str | None = None,
    single: Sequence[float] = (),
    points: Sequence[int] = (),
) -> Spectra:
    """Compute the spectra of records.

    Args:
        sources: .csv or .parquet files, each with one record; or one study, a TOML file, a shipped one or a run's directory.
        frequencies: (P,) [Hz]. damping: part of critical damping.
        draws: of a study with random accelerations: how many draws, from the first on.
        time, acceleration, unit: of files: names of the columns, and the unit if the header does not say it and it is not m/s^2.
        single: natural periods [s], > 0, whose Sa at this damping are among the measures.
        points: of a study: numbers of points whose response is the record: the total acceleration of the mass (a floor spectrum).

    Raises:
        ConfigError: a file or study that cannot be read, a study without accelerations, or numbers out of their bounds.
        RunError: no draw comes within the tolerance of its response spectrum.
    """
    paths = [Path(source) for source in sources]
    if not 0.0 <= damping < 1.0:
        raise ConfigError("damping", [Problem("", f"{damping:g} must be at least 0 and less than 1: parts of critical damping")])
    missed: tuple[str, ...] = ()
    if wrong := [period for period in single if not 0.0 < period < np.inf]:
        raise ConfigError("--period", [Problem("", f"{wrong[0]:g} s must be > 0: a natural period")])
    files = [path for path in paths if path.suffix.lower() in tables.READERS]
    if points:
        if len(paths) != 1 or files:
            raise ConfigError("--point", [Problem("", "is of one study or run")])
        listed, excitation = of_responses(paths[0], points, float(frequencies.max())), None
    elif len(files) == len(paths) and paths:
        listed, excitation = of_files(files, time, acceleration, unit), None
    elif len(paths) == 1:
        listed, excitation, missed = of_study(paths[0], draws)
    else:
        raise ConfigError("tribosweep spectrum", [Problem("", "give files with records (.csv, .parquet), or one study or run")])
    periods = 1.0 / frequencies
    parts = [response_spectrum(samples, step, periods, damping) for _, samples, step in listed]
    measured = [intensities(samples, step, single, damping) for _, samples, step in listed]
    peaks = (np.stack([getattr(part, name) for part in parts]) for name in ("displacement", "velocity", "acceleration"))
    measures = {name: np.array([float(each[name]) for each in measured]) for name in measured[0]}
    names = tuple(name for name, _, _ in listed)
    random = excitation is not None and not isinstance(excitation, Recorded)
    target = target_of(excitation, frequencies, damping)
    if target is not None:
        target = np.tile(target, (len(names) // len(target), 1))
    return Spectra(str(paths[0]), names, ResponseSpectrum(periods, damping, *peaks), measures, random, target, missed)


def of_responses(path: Path, points: Sequence[int], highest: float) -> list[tuple[str, np.ndarray, float]]:
    """Name, total acceleration [m/s^2] and step [s] of points' responses, by the exact engine, for frequencies up to `highest` [Hz]."""
    from tribosweep.kernels.time_history import total_acceleration

    config = event_log.read_study(path)
    found = []
    for point in points:
        given = event_log.parameters_of(config, point, FLOOR)
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
    config = event_log.read_study(path)
    excitation = config.excitation
    problems: list[Problem] = []
    if excitation is None:
        message = "missing: this study has no records and no random accelerations, and nothing else has a response spectrum here"
        problems.append(Problem("excitation", message))
    else:
        channels = channels_of(config.model, problems)
        if channels is not None and channels.of != ACCELERATION:
            problems.append(Problem("excitation", "has forces; a response spectrum is that of a base acceleration"))
    if draws < 1:
        problems.append(Problem("--draws", f"{draws} is out of bounds: must be >= 1"))
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
