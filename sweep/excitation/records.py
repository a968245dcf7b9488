"""Records of accelerations from files: CSV or Parquet with a column of times and a column of accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tribosweep.sweep.io import tables
from tribosweep.sweep.io.columns import Wanted, read_columns
from tribosweep.sweep.io.errors import Findings, Problem

TIME, ACCELERATION, FORCE, CHANNELS = "time", "acceleration", "force", "channels"
UNITS = {ACCELERATION: "m/s^2", FORCE: "N"}
UNEVEN = 0.02  # part of the interval: tolerance for rounded times
RESAMPLE = "a record is sampled evenly: fill it, or resample it, as numpy.interp(numpy.arange(n) * interval, times, accelerations) does"


@dataclass(frozen=True, slots=True)
class Record:
    """A recorded acceleration.

    Attributes:
        name: its name in the study, which is the file name without its ending.
        path: the file. digest: SHA-256 of its bytes.
        samples: (n,) accelerations [m/s^2] at t = 0, interval, 2 interval ...; n >= 2. Records for the loads of a structure have C
            channels: (C, n) accelerations [m/s^2] or forces [N].
        interval: time between samples [s].
    """

    name: str
    path: Path
    digest: str
    samples: np.ndarray
    interval: float

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return self.interval * (self.count - 1)

    @property
    def count(self) -> int:
        """Number of samples."""
        return int(self.samples.shape[-1])


def read_record(
    path: Path, time: str, channels: Sequence[str], unit: str | None, where: str, problems: list[Problem], of: str = ACCELERATION
) -> Record | None:
    """Read and check a record.

    Args:
        path: a .csv or .parquet file; see `columns.read_columns`.
        time: name of the column of times. channels: names of the columns of accelerations or forces; a record of one acceleration has
            samples (n,), one of forces or of several columns (C, n).
        unit: unit of these columns, if the study states it.
        where: the key that names the file, for messages.
        problems: list to which problems are added. of: ACCELERATION or FORCE.

    Returns:
        The record; None if there are problems.
    """
    key = f"excitation.{ACCELERATION if len(channels) == 1 and of == ACCELERATION else CHANNELS}"
    wanted = [
        Wanted(TIME, "s", time, f"excitation.{TIME}"),
        *(Wanted(of, UNITS[of], channel, key, unit, "excitation.unit") for channel in channels),
    ]
    columns = read_columns(path, wanted, where, problems)
    if columns is None:
        return None
    samples = columns[1] if len(channels) == 1 and of == ACCELERATION else np.stack(columns[1:])
    return check_record(path, columns[0], samples, where, problems)


def check_record(path: Path, times: np.ndarray, samples: np.ndarray, where: str, problems: list[Problem]) -> Record | None:
    """Build a record from finite times [s] and accelerations [m/s^2]; None and problems if the times are not 0, h, 2 h ..."""
    label = f"{where}: {path.name}"
    if len(times) < 2:
        problems.append(Problem(label, f"has {len(times)} row{'' if len(times) == 1 else 's'}: a record has at least 2"))
        return None
    found = Findings()
    if times[0] != 0.0:
        message = (
            f"the first time is {times[0]:g} s: a record begins at t = 0, when the run does; subtract {times[0]:g} s from all its times"
        )
        found.add(f"{label}, row 1", message)
    steps = np.diff(times)
    interval = float(np.median(steps))

    def out_of_order(row: int) -> Problem:
        how = "is repeated" if steps[row] == 0.0 else f"comes after {times[row]:.9g} s"
        return Problem(f"{label}, row {row + 2}", f"time {times[row + 1]:.9g} s {how}: times must increase from row to row")

    def uneven(row: int) -> Problem:
        missing = f"; about {steps[row] / interval - 1.0:.0f} samples are missing" if steps[row] > 1.5 * interval else ""
        span = f"from {times[row]:.9g} to {times[row + 1]:.9g} s the step is {steps[row]:.6g} s, where most are {interval:.6g} s{missing}"
        return Problem(f"{label}, row {row + 2}", f"{span}; {RESAMPLE}")

    found.add_all(np.flatnonzero(steps <= 0.0).tolist(), out_of_order)
    if not found.count:
        found.add_all(np.flatnonzero(np.abs(steps - interval) > UNEVEN * interval).tolist(), uneven)
    if found.report(label, problems):
        return None
    interval = float(f"{times[-1] / (len(times) - 1):.12g}")  # times in files are rounded
    astray = np.abs(times - interval * np.arange(len(times)))
    worst = int(np.argmax(astray))
    if astray[worst] > UNEVEN * interval:
        message = f"time {times[worst]:.9g} s is {astray[worst]:.3g} s off an even step of {interval:.9g} s from 0 to {times[-1]:.9g} s"
        problems.append(Problem(f"{label}, row {worst + 1}", f"{message}; {RESAMPLE}"))
        return None
    return Record(path.stem, path.resolve(), tables.digest(path), samples, interval)


def same_sampling(records: list[Record], where: str, problems: list[Problem]) -> None:
    """Add a problem for every record whose sampling differs from that of the first one."""
    first = records[0]
    for record in records[1:]:
        if abs(record.interval - first.interval) * max(record.count, first.count) > UNEVEN * first.interval:
            message = (
                f"{record.path.name} is sampled every {record.interval:.9g} s, {first.path.name} every {first.interval:.9g} s: "
                "the records of a study have one interval; resample them"
            )
            problems.append(Problem(where, message))


def bank_of(records: tuple[Record, ...]) -> np.ndarray:
    """(records, samples of the longest record) accelerations [m/s^2], with channels in between; shorter records are padded with 0."""
    bank = np.zeros((len(records), *records[0].samples.shape[:-1], max(record.count for record in records)))
    for row, record in zip(bank, records, strict=True):
        row[..., : record.count] = record.samples
    return bank


@dataclass(frozen=True, slots=True)
class Recorded:
    """The records of a study; the parameter `record` of a row selects one of them.

    Attributes:
        records: at least one record; all have the same interval.
    """

    records: tuple[Record, ...]

    @property
    def interval(self) -> float:
        """Time between samples [s]."""
        return self.records[0].interval

    def take(self, numbers: np.ndarray, _room: int) -> tuple[np.ndarray, np.ndarray]:
        """As `stationary.Stationary.take`; the positions in the bank are the numbers of the records, and the bank holds all records."""
        return numbers, bank_of(self.records)
