"""Power spectral densities of accelerations, defined by nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Spectrum:
    """A one-sided power spectral density S of an acceleration: its integral over all frequencies f >= 0 is the variance.

    It is 0 beyond the nodes.

    Attributes:
        frequencies: (n,) [Hz], ascending, n >= 2, at least 0.
        densities: (n,) [(m/s^2)^2/Hz], none negative.
        logarithmic: whether log S is linear in log f between nodes, as in specifications of vibration tests (all numbers are then
            positive); otherwise S is linear in f.
    """

    frequencies: np.ndarray
    densities: np.ndarray
    logarithmic: bool = False

    def density(self, f: np.ndarray) -> np.ndarray:
        """S [(m/s^2)^2/Hz] at frequencies of any shape [Hz]."""
        f = np.asarray(f, float)
        nodes, values = self.frequencies, self.densities
        if self.logarithmic:
            inside = np.clip(f, nodes[0], nodes[-1])
            found = np.exp(np.interp(np.log(inside), np.log(nodes), np.log(values)))
        else:
            found = np.interp(f, nodes, values)
        return np.where((f >= nodes[0]) & (f <= nodes[-1]), found, 0.0)

    def power(self, f: np.ndarray) -> np.ndarray:
        """The integral of S from 0 to frequencies of any shape [Hz], in (m/s^2)^2."""
        inside = np.clip(np.asarray(f, float), self.frequencies[0], self.frequencies[-1])
        piece = np.clip(np.searchsorted(self.frequencies, inside, side="right") - 1, 0, len(self.frequencies) - 2)
        whole = np.concatenate([[0.0], np.cumsum(self._integral(np.arange(len(self.frequencies) - 1), self.frequencies[1:]))])
        return np.asarray(whole[piece] + self._integral(piece, inside))

    def _integral(self, piece: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The integral of S from the start of each piece to a frequency in it."""
        f0, f1 = self.frequencies[piece], self.frequencies[piece + 1]
        s0, s1 = self.densities[piece], self.densities[piece + 1]
        if not self.logarithmic:
            return np.asarray((f - f0) * (s0 + 0.5 * (s1 - s0) * (f - f0) / (f1 - f0)))
        # S = s0 (f / f0)^n, whose integral is s0 f0 x (e^y - 1) / y with x = log(f / f0) and y = (n + 1) x
        x = np.log(f / f0)
        y = (np.log(s1 / s0) / np.log(f1 / f0) + 1.0) * x
        small = np.abs(y) < 1e-8
        return np.asarray(s0 * f0 * x * np.where(small, 1.0 + 0.5 * y, np.expm1(y) / np.where(small, 1.0, y)))

    @property
    def variance(self) -> float:
        """The variance of the acceleration [(m/s^2)^2]."""
        return float(self.power(self.frequencies[-1]))
