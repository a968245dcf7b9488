"""Stationary random accelerations; each draw is a pure function of the seed and of its number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sweep.excitation.spectrum import Spectrum


@dataclass(frozen=True)
class Stationary:
    """Gaussian accelerations of a given spectrum. Draw n is the same on every machine and in every run.

    They follow the spectral representation with random amplitudes (Rice 1944; Shinozuka and Deodatis, Applied Mechanics Reviews 44, 1991,
    191-204), summed by one FFT: a_j = sum over k of sqrt(P_k) (A_k cos(2 pi k j / N) + B_k sin(2 pi k j / N)). A_k and B_k are independent
    and standard normal. P_k is the integral of S over the k-th bin of width 1 / (N interval), so that the variance is that of the spectrum
    at any resolution. N is a power of two and at least twice the number of samples. Only the first samples are kept. So a draw does not
    repeat itself, and its end does not join its beginning. Samples are Gaussian and, except for `ramps`, stationary; their covariance at
    lag d is the sum of P_k cos(2 pi k d / N).

    Attributes:
        spectrum: the one-sided density. duration: duration of a draw [s].
        interval: time between samples [s]. seed: seed of all draws.
        ramps: lengths [s] of the half-cosine ramps from 0 at the beginning and to 0 at the end of a draw; 0 for none.
    """

    spectrum: Spectrum
    duration: float
    interval: float
    seed: int
    ramps: tuple[float, float] = (0.0, 0.0)

    @property
    def channels(self) -> int:
        """The number of channels of a draw."""
        return 1

    @property
    def samples(self) -> int:
        """The number of samples of a draw, including that at t = 0."""
        return samples_of(self.duration, self.interval)

    @cached_property
    def _length(self) -> int:
        """The length N of the FFT."""
        return 1 << (2 * self.samples - 1).bit_length()

    @cached_property
    def _amplitudes(self) -> tuple[np.ndarray, np.ndarray]:
        """The bins k with nonzero power, and their sqrt(P_k) [m/s^2]."""
        k = np.arange(1, self._length // 2)
        edges = np.concatenate([[0.0], k[:-1] + 0.5, [0.5 * self._length]]) / (
            self._length * self.interval
        )  # the first and the last bin reach to the ends, so that no power is lost
        power = np.diff(self.spectrum.power(edges))
        there = power > 0.0
        return k[there], np.sqrt(power[there])

    @cached_property
    def _envelope(self) -> np.ndarray:
        """(samples,) factors by which the ramps reduce a stationary draw."""
        t = self.interval * np.arange(self.samples)
        rise, fall = (np.clip(time / ramp, 0.0, 1.0) if ramp > 0.0 else 1.0 for time, ramp in zip((t, t[-1] - t), self.ramps, strict=True))
        return np.asarray(0.25 * (1.0 - np.cos(np.pi * rise)) * (1.0 - np.cos(np.pi * fall)) * np.ones_like(t))

    def draw(self, number: int) -> np.ndarray:
        """Draw `number`, at least 0: (samples,) accelerations [m/s^2] at t = 0, interval, 2 interval ..."""
        bins, amplitudes = self._amplitudes
        # numpy guarantees the bits of Philox but not its normal numbers, so the normal numbers are computed here
        bits = np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=(number,))).random_raw(2 * len(bins))
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        sizes, turns = np.sqrt(-2.0 * np.log(uniform[::2])), uniform[1::2]
        coefficients = np.zeros(self._length // 2 + 1, complex)
        coefficients[bins] = 0.5 * self._length * amplitudes * sizes * np.exp(-2j * np.pi * turns)
        return np.asarray(np.fft.irfft(coefficients, self._length)[: self.samples] * self._envelope)

    def take(self, numbers: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
        """Build the bank of the draws that occur in some rows.

        Args:
            numbers: numbers of the draws, whole numbers of any shape; NaN stays NaN.
            room: number of records in the bank, at least the number of different draws.

        Returns:
            The positions in the bank, float64 of the same shape; the bank (room, samples) [m/s^2].
        """
        return bank_of_draws(self.draw, numbers, np.zeros((room, self.samples)))


def bank_of_draws(draw: Callable[[int], np.ndarray], numbers: np.ndarray, bank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See `Stationary.take`: fills an empty `bank` with the draws that occur."""
    known = np.isfinite(numbers)
    asked, positions = np.unique(np.where(known, numbers, 0.0), return_inverse=True)
    for place, number in enumerate(asked):
        bank[place] = draw(int(number))
    return np.where(known, positions.reshape(np.shape(numbers)), np.nan), bank


def samples_of(duration: float, interval: float) -> int:
    """The number of samples that reach a duration, including the sample at 0."""
    return math.ceil(duration / interval * (1.0 - 1e-12)) + 1
