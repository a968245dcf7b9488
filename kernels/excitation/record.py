"""Records of base acceleration, sampled at equal steps: one bank of any number of records for a batch. Nothing here imports JAX."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tribosweep.kernels.models.arrays import is_traced


@dataclass(frozen=True, eq=False)
class Records:
    """Records of base acceleration.

    Sample j of each record is at t = j `interval`. Between samples the acceleration is linear. After the last sample it falls linearly to 0
    within one interval, and stays 0.

    Attributes:
        samples: accelerations [m/s^2], (R, L) float64, or (L,) for a single one; shorter records end in zeros. Records of a structure may
            have C channels: (R, C, L) accelerations [m/s^2] or forces [N]. Within a function that JAX traces they may be traced, (R, L) or
            (R, C, L).
        interval: time from one sample to the next [s].

    Raises:
        ValueError: no sample, another shape, a sample that is not a finite number, an interval that is not finite and positive.

    Examples:
        >>> quake = Records(numpy.sin(numpy.arange(500) * 0.05), interval=0.01)
        >>> quake.count, quake.duration
        (1, 4.99)
        >>> simulate("rubbing_mass", {"record": 0, "end": 5.0, "window_start": 0.0}, records=quake)["max_slip_speed"]
    """

    samples: np.ndarray
    interval: float

    def __post_init__(self) -> None:
        """Check the samples and the interval, and convert them to float64; samples that JAX traces are taken as they are."""
        if is_traced(self.samples):
            return
        try:
            samples = np.atleast_2d(np.asarray(self.samples, dtype=np.float64))
            interval = float(self.interval)
        except (TypeError, ValueError) as error:
            raise ValueError(f"records must be an array of accelerations [m/s^2] and one interval [s]: {error}") from error
        if samples.ndim not in (2, 3) or not samples.size:
            raise ValueError(f"records must be (R, L) or (R, C, L) numbers with at least one sample, not an array of shape {samples.shape}")
        if not np.isfinite(samples).all():
            row, *channel, sample = np.argwhere(~np.isfinite(samples))[0]
            where = "".join(f", channel {number}" for number in channel)
            value = samples[(row, *channel, sample)]
            raise ValueError(f"record {row}{where}, sample {sample}, is {value}: accelerations must be finite numbers")
        if not (np.isfinite(interval) and interval > 0.0):
            raise ValueError(f"the interval of records must be a positive number of seconds, not {interval:g}")
        object.__setattr__(self, "samples", samples)
        object.__setattr__(self, "interval", interval)

    @property
    def count(self) -> int:
        """Number of records."""
        return int(self.samples.shape[0])

    @property
    def duration(self) -> float:
        """Time of the last sample [s]."""
        return float((self.samples.shape[-1] - 1) * self.interval)

    def arguments(self, dtype: type[np.floating[Any]] = np.float64) -> dict[str, np.ndarray]:
        """Arguments of programs: `bank`, (R, L + 2) or (R, C, L + 2), with two zeros behind each record, and `interval` (float64)."""
        xp: Any = sys.modules["jax"].numpy if is_traced(self.samples) else np
        return {
            "bank": xp.pad(self.samples, [(0, 0)] * (self.samples.ndim - 1) + [(0, 2)]).astype(dtype),
            "interval": np.asarray(self.interval),
        }


def is_zero(value: Any) -> bool:
    """Whether a parameter is known to be 0 in every row. A traced one is not, so that it keeps its derivative."""
    return not is_traced(value) and not np.any(np.asarray(value))


def features_of(params: Mapping[str, Any]) -> set[str]:
    """The names in FEATURES of the excitation of given parameters. A traced parameter counts as not 0. There is at least one name."""
    switches = {"tones": "tone_a0", "record": "record", "table": "table_time", "pulse": "pulse"}
    found = {name for name, key in switches.items() if key in params}
    if not is_zero(params.get("sweep_rate", 0.0)):
        return found | {"sweep", "harmonic"}
    return found if found and is_zero(params.get("a0", 0.0)) and is_zero(params.get("f0", 0.0)) else found | {"harmonic"}


def check_record(record: Any, records: Records | None) -> None:
    """Raise ValueError if rows name a `record` that does not exist. The numbers of a traced `record` are not checked."""
    if records is None:
        raise ValueError("a record is named, but no records are given: records=Records(samples, interval)")
    if is_traced(record):
        return
    numbers = np.asarray(record, dtype=float).ravel()
    if strange := [number for number in numbers if not (number in range(records.count) or np.isnan(number))]:
        raise ValueError(f"there is no record {strange[0]:g}: records are counted from 0 to {records.count - 1}")
