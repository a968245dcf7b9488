"""Response spectra: what a record of base acceleration does to a linear oscillator of each period."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

DAMPING = 0.05  # of critical damping, where nothing else is said
POINTS = 60  # instants in a period between which a response is a cubic: the peak of a sine is right to (2 pi / 60)^4 / 384, 3e-7
PARTS = 4  # of a step, at least: a velocity may turn twice inside a step


@dataclass(frozen=True, slots=True, eq=False)
class ResponseSpectrum:
    """Peaks of linear oscillators on a base that moves, one for each period.

    Attributes:
        periods: (P,) natural periods without damping [s].
        damping: part of critical damping.
        displacement: Sd, (..., P) largest absolute displacement relative to the base [m].
        velocity: Sv, (..., P) largest absolute velocity relative to the base [m/s].
        acceleration: Sa, (..., P) largest absolute value of the total acceleration [m/s^2].
    """

    periods: np.ndarray
    damping: float
    displacement: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """(P,) natural frequencies [Hz]."""
        return np.asarray(1.0 / self.periods)

    @property
    def pseudo_velocity(self) -> np.ndarray:
        """(..., P) omega Sd [m/s]."""
        return np.asarray(2.0 * np.pi / self.periods * self.displacement)

    @property
    def pseudo_acceleration(self) -> np.ndarray:
        """(..., P) omega^2 Sd [m/s^2]: the largest force of the spring per mass."""
        return np.asarray((2.0 * np.pi / self.periods) ** 2 * self.displacement)


def response_spectrum(acceleration: Any, step: float, periods: Any, damping: float = DAMPING) -> ResponseSpectrum:
    """Compute the response spectrum of records of base acceleration.

    An oscillator u'' + 2 damping omega u' + omega^2 u = -a(t) starts at rest at t = 0. Between samples a is linear, after the last one it
    falls to 0 within one step and stays 0, as in `Records`; the free motion is followed for one period more. The motion is exact
    (Nigam and Jennings, Bulletin of the Seismological Society of America 59, 1969, 909-922; here with one complex coordinate). Peaks lie
    where the cubics turn that have the motion's values and rates at 60 instants of each period and 4 parts of each step, or more: they are
    right to 1e-6.

    Args:
        acceleration: (..., n) accelerations of the base [m/s^2] at t = 0, step, 2 step ...; n >= 1.
        step: time between samples [s], > 0.
        periods: (P,) or one natural period [s], > 0.
        damping: part of critical damping, at least 0 and less than 1.

    Returns:
        The spectrum: arrays of the leading shape of `acceleration` and of `periods`.

    Raises:
        ValueError: numbers that are not finite, or out of these bounds.

    Examples:
        >>> pulse = 5.0 * numpy.sin(numpy.linspace(0.0, numpy.pi, 101))
        >>> found = response_spectrum(pulse, 0.005, [0.1, 0.5, 2.0], damping=0.05)
        >>> found.acceleration.shape
        (3,)
    """
    record, step = checked(acceleration, step)
    times = np.atleast_1d(np.asarray(periods, float))
    if times.ndim != 1 or not times.size or not (np.isfinite(times) & (times > 0.0)).all():
        raise ValueError(f"periods must be positive numbers [s], not {periods}")
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping must be at least 0 and less than 1 (parts of critical damping), not {damping:g}")
    ground = np.concatenate([record, np.zeros((*record.shape[:-1], 1))], axis=-1)
    peaks = np.stack([_peaks(ground, step, 2.0 * math.pi / period, damping) for period in times.tolist()], axis=-1)
    return ResponseSpectrum(times, float(damping), *peaks)


def checked(acceleration: Any, step: float) -> tuple[np.ndarray, float]:
    """The record as (..., n) float64, and its step [s]; ValueError if they are none."""
    record = np.asarray(acceleration, float)
    if not record.ndim or not record.shape[-1] or not np.isfinite(record).all():
        raise ValueError("a record must be finite accelerations [m/s^2] along the last axis, at least one")
    if not (np.isfinite(step) and step > 0.0):
        raise ValueError(f"the step of a record must be a positive number of seconds, not {step:g}")
    return record, float(step)


def _peaks(ground: np.ndarray, step: float, omega: float, damping: float) -> np.ndarray:
    """(3, ...) largest |u|, |u'| and |u'' + a| of the oscillator `omega` [rad/s] on (..., n) samples, the last of which is 0."""
    largest = np.zeros((3, *ground.shape[:-1]))
    for span, start, end in _motions(-ground, step, omega, damping):
        for place, (here, there) in enumerate(zip(_courses(*start, omega, damping), _courses(*end, omega, damping), strict=True)):
            largest[place] = np.maximum(largest[place], _largest(span, *here, *there, largest[place]))
    return largest


Motion = tuple[np.ndarray, np.ndarray, np.ndarray]  # displacements [m], velocities [m/s] and the force per mass [m/s^2], (..., instants)


def _courses(u: np.ndarray, v: np.ndarray, force: np.ndarray, omega: float, damping: float) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """u, u' and u'' + a, each with its rate."""
    spring, damper = omega * omega, 2.0 * damping * omega
    total = spring * u + damper * v
    return (u, v), (v, force - total), (total, spring * v + damper * (force - total))


def _largest(span: float, before: np.ndarray, rate: np.ndarray, after: np.ndarray, later: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(...) largest size over short intervals (..., intervals): at their ends, and where the cubic through values and rates turns.

    Args:
        span: length of an interval [s]. before, rate: values and their rates [1/s] at the starts. after, later: those at the ends.
        known: (...) a size that is reached elsewhere; no interval is looked into that cannot exceed it.
    """
    ends = np.maximum(np.abs(before), np.abs(after))
    found: np.ndarray = ends.max(axis=-1)
    # between its ends a cubic exceeds them by at most 4/27 of its rates times the span
    beyond = ends + (4.0 / 27.0) * span * (np.abs(rate) + np.abs(later)) > np.maximum(found, known)[..., np.newaxis]
    turns = beyond & ((rate < 0.0) != (later < 0.0))
    if not turns.any():
        return found
    first, last = span * rate[turns], span * later[turns]
    by = after[turns] - before[turns]
    square, cube = 3.0 * by - 2.0 * first - last, first + last - 2.0 * by
    # the root in (0, 1) of first + 2 square s + 3 cube s^2, whose sign changes there
    bend = np.sqrt(np.maximum(square * square - 3.0 * cube * first, 0.0))
    below = np.where(first < 0.0, -square - bend, -square + bend)
    s = np.clip(np.divide(first, below, out=np.zeros_like(first), where=below != 0.0), 0.0, 1.0)
    inside = np.zeros(before.shape)
    inside[turns] = np.abs(before[turns] + s * (first + s * (square + s * cube)))
    return np.asarray(np.maximum(found, inside.max(axis=-1)))


def _motions(force: np.ndarray, step: float, omega: float, damping: float) -> Iterator[tuple[float, Motion, Motion]]:
    """Yield lengths [s] of short intervals and the motions at their starts and ends; together they cover the whole motion.

    With root = -damping omega + i omega_d and q' = root q + force, u = Im(q) / omega_d and u' = Im(root q) / omega_d.
    """
    from scipy.signal import lfilter

    turn = omega * math.sqrt(1.0 - damping * damping)
    root = complex(-damping * omega, turn)

    def motion(q: np.ndarray, force: np.ndarray) -> Motion:
        return q.imag / turn, (root * q).imag / turn, force

    whole, start, slope = linear_step(root, step)
    # q[n + 1] = whole q[n] + (start - slope) force[n] + slope force[n + 1], from q[0] = 0
    driven, _ = lfilter([slope, start - slope], [1.0, -whole], force, axis=-1, zi=-slope * force[..., :1])
    before, left, rise = driven[..., :-1], force[..., :-1], np.diff(force, axis=-1)
    for instants in _instants(step, 2.0 * math.pi / omega):
        here = None
        for time in instants:
            whole, start, slope = linear_step(root, time) if time else (1.0 + 0j, 0j, 0j)
            part = time / step
            there = motion(whole * before + start * left + slope * part * rise, left + part * rise)
            if here is not None:
                yield float(instants[1] - instants[0]), here, there
            here = there
    span = 2.0 * math.pi / omega / POINTS
    free = driven[..., -1:] * np.exp(root * span * np.arange(POINTS + 1))
    u, v, nothing = motion(free, np.zeros(free.shape))
    yield span, (u[..., :-1], v[..., :-1], nothing[..., :-1]), (u[..., 1:], v[..., 1:], nothing[..., 1:])


def linear_step(root: complex, time: float) -> tuple[complex, complex, complex]:
    """Factors of q and of a force f0 + (f1 - f0) s / time in q(time), for q' = root q + force."""
    z = root * time
    grown = complex(np.expm1(z))
    return 1.0 + grown, grown / root, (grown - z) / (z * root)


def _instants(step: float, period: float) -> list[np.ndarray]:
    """Instants of a step [s], its start and end among them, at equal distances: over all of it, or in its first and in its last period."""
    span = min(step, period)
    count = max(PARTS, math.ceil(POINTS * span / period - 1e-9))
    first = span * (np.arange(count + 1) / count)
    return [first] if step <= period else [first, (step - span) + first]
