"""Stationary random accelerations; each draw is a pure function of the seed and of its number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tribosweep.sweep.excitation.draws import Draws
from tribosweep.sweep.excitation.spectrum import Spectrum


@dataclass(frozen=True)
class Stationary(Draws):
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
        """See `Draws.draw`: accelerations [m/s^2]."""
        return self.of_key((number,))

    def of_key(self, key: tuple[int, ...]) -> np.ndarray:
        """(samples,) accelerations [m/s^2] that are a pure function of the seed and a key; those of (n,) are draw n."""
        bins, amplitudes = self._amplitudes
        sizes, directions = self.normals(key, len(bins))
        return self._sum(0.5 * self._length * amplitudes * sizes * directions)

    def of(self, coefficients: np.ndarray) -> np.ndarray:
        """(samples,) accelerations [m/s^2] with the coefficients A_k - i B_k of all `half` - 1 bins from k = 1 on."""
        bins, amplitudes = self._amplitudes
        return self._sum(0.5 * self._length * amplitudes * coefficients[bins - 1])

    @property
    def half(self) -> int:
        """The bin of half the sampling frequency, N / 2."""
        return self._length // 2

    def normals(self, key: tuple[int, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        """Sizes and directions (count,) of complex numbers A - i B, A and B independent and standard normal, by the seed and a key."""
        # numpy guarantees the bits of Philox but not its normal numbers, so the normal numbers are computed here
        bits = np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=key)).random_raw(2 * count)
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        return np.sqrt(-2.0 * np.log(uniform[::2])), np.exp(-2j * np.pi * uniform[1::2])

    def _sum(self, coefficients: np.ndarray) -> np.ndarray:
        """The samples whose spectrum has these coefficients in the bins with power."""
        spectrum = np.zeros(self.half + 1, complex)
        spectrum[self._amplitudes[0]] = coefficients
        return np.asarray(np.fft.irfft(spectrum, self._length)[: self.samples] * self._envelope)
