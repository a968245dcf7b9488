"""Measures of how strong a record of base acceleration is, and those of the records and random draws of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.excitation.draws import Draws
from tribosweep.sweep.excitation.records import Recorded
from tribosweep.sweep.excitation.response_spectrum import DAMPING, checked, response_spectrum

GRAVITY = 9.80665  # m/s^2, in the definition of the Arias intensity
CHUNK = 64  # records at a time
SA_UNIT = "m/s^2"

PGA = Quantity("pga", "m/s^2", "peak ground acceleration: largest absolute acceleration of the base", "PGA")
PGV = Quantity("pgv", "m/s", "peak ground velocity: largest absolute velocity of the base, which starts at rest", "PGV")
ARIAS = Quantity("arias", "m/s", "Arias intensity: pi / (2 g) times the integral of the squared acceleration", "I_A")
CAV = Quantity("cav", "m/s", "cumulative absolute velocity: the integral of the absolute acceleration", "CAV")
MEASURES = {quantity.name: quantity for quantity in (PGA, PGV, ARIAS, CAV)}


def spectral(period: float, damping: float = DAMPING) -> Quantity:
    """The spectral acceleration at a period [s] as a quantity; its name is that in `intensities`: "sa_0.5s", with 2 % "sa_0.5s_2%"."""
    description = (
        f"total acceleration of an oscillator of {period:g} s with {100.0 * damping:g} % of critical damping, its largest absolute value"
    )
    if damping == DAMPING:
        return Quantity(f"sa_{period:g}s", SA_UNIT, description, rf"S_a({period:g}\,\mathrm{{s}})")
    percent = 100.0 * damping
    return Quantity(f"sa_{period:g}s_{percent:g}%", SA_UNIT, description, rf"S_a({period:g}\,\mathrm{{s}},\,{percent:g}\,\%)")


def measures(periods: Sequence[float] = (), damping: float = DAMPING) -> dict[str, Quantity]:
    """The measures that `intensities` returns, by name: PGA, PGV, Arias intensity, CAV and Sa at `periods` [s]."""
    return MEASURES | {(quantity := spectral(period, damping)).name: quantity for period in periods}


def intensities(acceleration: Any, step: float, periods: Sequence[float] = (), damping: float = DAMPING) -> dict[str, np.ndarray]:
    """Measure records of base acceleration.

    Between samples the acceleration is linear, after the last one it falls to 0 within one step, as in `Records`; the base starts at rest.
    All is exact for this motion, except Sa, see `response_spectrum`.

    Args:
        acceleration: (..., n) accelerations [m/s^2] at t = 0, step, 2 step ...; n >= 1.
        step: time between samples [s], > 0.
        periods: natural periods of Sa [s], > 0; none for no Sa.
        damping: of Sa, part of critical damping, at least 0 and less than 1.

    Returns:
        Name -> (...,) values in the units of `measures(periods)`: pga [m/s^2], pgv [m/s], arias [m/s], cav [m/s], sa_0.5s ... [m/s^2]
        (at another damping than 5 % "sa_0.5s_2%").

    Raises:
        ValueError: numbers that are not finite, or out of these bounds.

    Examples:
        >>> step = 0.005
        >>> quake = 2.0 * numpy.sin(2.0 * numpy.pi * numpy.arange(0.0, 4.0, step))
        >>> found = intensities(quake, step, periods=[0.5])
        >>> float(found["pga"]), sorted(found)
        (2.0, ['arias', 'cav', 'pga', 'pgv', 'sa_0.5s'])
    """
    record, step = checked(acceleration, step)
    ground = np.concatenate([record, np.zeros((*record.shape[:-1], 1))], axis=-1)
    left, right = ground[..., :-1], ground[..., 1:]
    found = {
        PGA.name: np.abs(ground).max(axis=-1),
        PGV.name: _peak_velocity(left, right, step),
        ARIAS.name: math.pi / (2.0 * GRAVITY) * step / 3.0 * (left * left + left * right + right * right).sum(axis=-1),
        CAV.name: step * _mean_size(left, right).sum(axis=-1),
    }
    if len(periods):
        peaks = response_spectrum(record, step, list(periods), damping).acceleration
        found |= {spectral(period, damping).name: peaks[..., place] for place, period in enumerate(periods)}
    return found


def _peak_velocity(left: np.ndarray, right: np.ndarray, step: float) -> np.ndarray:
    """The largest absolute velocity: at a sample, or inside a step where the acceleration passes 0."""
    start = np.concatenate([np.zeros((*left.shape[:-1], 1)), np.cumsum(0.5 * step * (left + right), axis=-1)], axis=-1)
    turns = left * right < 0.0
    part = left / np.where(turns, left - right, 1.0)  # of the step, until the acceleration is 0
    inside = np.where(turns, start[..., :-1] + 0.5 * step * part * left, 0.0)
    return np.asarray(np.maximum(np.abs(start).max(axis=-1), np.abs(inside).max(axis=-1)))


def _mean_size(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The mean of |a| over each step."""
    sizes = np.abs(left) + np.abs(right)
    turned = (left * left + right * right) / np.where(sizes > 0.0, sizes, 1.0)
    return np.asarray(0.5 * np.where(left * right < 0.0, turned, sizes))


def of_study(excitation: Recorded | Draws, numbers: Any, periods: Sequence[float] = (), damping: float = DAMPING) -> dict[str, np.ndarray]:
    """Measure the records or random draws of a study: `intensities` of those that given rows follow.

    Args:
        excitation: `Config.excitation` of a study. Its accelerations count as they are; a row with `record_scale` s has |s| times each
            measure, and s^2 times the Arias intensity (`scaled`).
        numbers: whole numbers of any shape: of records (counted from 0, as in columns of codes) or of draws; NaN (no record) stays NaN,
            and a draw that misses its tolerance becomes NaN.
        periods, damping: of Sa, as in `intensities`.

    Returns:
        Name -> values of the shape of `numbers`; of an excitation with C > 1 channels of that shape and C.

    Raises:
        ValueError: see `intensities`. IndexError: a record that does not exist.
    """
    asked = np.asarray(numbers, float)
    known = np.isfinite(asked)
    if not isinstance(excitation, Recorded):
        known &= ~excitation.missed(asked)
    if not known.any():
        return {name: np.full(asked.shape, math.nan) for name in measures(periods, damping)}
    unique, places = np.unique(np.where(known, asked, asked[known].flat[0]), return_inverse=True)
    parts: list[Mapping[str, np.ndarray]] = []
    if isinstance(excitation, Recorded):
        for number in unique:
            record = excitation.records[int(number)]
            parts.append({name: value[None] for name, value in intensities(record.samples, record.interval, periods, damping).items()})
    else:
        for first in range(0, len(unique), CHUNK):
            drawn = np.stack([excitation.draw(int(number)) for number in unique[first : first + CHUNK]])
            parts.append(intensities(drawn, excitation.interval, periods, damping))
    found = {}
    for name in parts[0]:
        values = np.concatenate([part[name] for part in parts])[places.reshape(asked.shape)]
        values[~known] = math.nan
        found[name] = values
    return found


def scaled(found: Mapping[str, np.ndarray], factor: Any) -> dict[str, np.ndarray]:
    """The measures of records that are multiplied by a factor (`record_scale`), an array that broadcasts with them."""
    size = np.abs(np.asarray(factor, float))
    return {name: np.asarray(value * (size * size if name == ARIAS.name else size)) for name, value in found.items()}
