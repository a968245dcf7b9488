"""A row of linear oscillators on a record: when each has its largest acceleration, and how that depends on every sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.excitation.response_spectrum import POINTS, linear_step

NEARLY = 0.9  # steps are looked into whose amplitude reaches this part of the largest acceleration at samples


@dataclass(frozen=True, eq=False)
class Oscillators:
    """Oscillators of one damping on records with one step; motions are those of `response_spectrum`.

    Attributes:
        frequencies: (F,) natural frequencies [Hz]. damping: part of critical damping, > 0. step: of the records [s].
    """

    frequencies: np.ndarray
    damping: float
    step: float

    def roots(self) -> tuple[np.ndarray, np.ndarray]:
        """(F,) complex root of each oscillator [rad/s], and the factor of q that makes the total acceleration its imaginary part."""
        omega = 2.0 * np.pi * self.frequencies
        turn = omega * np.sqrt(1.0 - self.damping**2)
        root = -self.damping * omega + 1j * turn
        return root, (omega * omega + 2.0 * self.damping * omega * root) / turn

    def peaks(self, record: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The largest total accelerations on a record.

        Args:
            record: (n,) accelerations [m/s^2]; after the last one they fall to 0 within one step.

        Returns:
            (F,) signed accelerations [m/s^2], and their (F, n) derivatives by the samples.
        """
        from scipy.signal import lfilter

        ground = np.append(record, 0.0)
        found, rows = np.zeros(len(self.frequencies)), np.zeros((len(self.frequencies), len(ground)))
        backwards = np.arange(len(ground))
        for place, (root, factor) in enumerate(zip(*self.roots(), strict=True)):
            whole, start, slope = linear_step(root, self.step)
            driven, _ = lfilter([slope, start - slope], [1.0, -whole], ground, zi=-slope * ground[:1])
            step, time, found[place] = self._largest(driven, ground, root, factor)
            carried, first, second = self._from_step(root, time, step == len(ground) - 1)
            before = carried * whole ** backwards[:step]  # of what q is k + 1 steps earlier
            row = np.zeros(len(ground), complex)
            row[:step] += (start - slope) * before[::-1]
            row[1 : step + 1] += slope * before[::-1]
            row[step] += first - second
            if step + 1 < len(row):
                row[step + 1] += second
            rows[place] = (factor * row).imag
        return found, rows[:, :-1]

    def _from_step(self, root: complex, time: float, after: bool) -> tuple[complex, complex, complex]:
        """Factors of q, of the force and of its rise in q(time) after the start of a step; or `after` the end of a record."""
        if after:
            return complex(np.exp(root * time)), 0j, 0j
        if time == 0.0:
            return 1.0 + 0j, 0j, 0j
        whole, start, slope = linear_step(root, time)
        return whole, start, slope * (time / self.step)

    def _largest(self, driven: np.ndarray, ground: np.ndarray, root: complex, factor: complex) -> tuple[int, float, float]:
        """The step with the largest acceleration, the time in it [s], and the acceleration [m/s^2]."""
        period = 2.0 * np.pi / root.imag
        samples = (factor * driven).imag
        best = int(np.abs(samples).argmax())
        found = best, 0.0, float(samples[best])
        amplitude = np.abs(factor * driven)
        near = np.flatnonzero(np.maximum(amplitude[:-1], amplitude[1:]) >= NEARLY * abs(found[2]))
        count = int(np.ceil(POINTS * self.step / period))
        times = self.step / count * np.arange(1, count)
        if len(near) and len(times):
            parts = [self._from_step(root, time, after=False) for time in times.tolist()]
            whole, start, slope = (np.array(each) for each in zip(*parts, strict=True))
            inside = np.outer(whole, driven[near]) + np.outer(start, ground[near]) + np.outer(slope, ground[near + 1] - ground[near])
            values = (factor * inside).imag
            which, where = divmod(int(np.abs(values).argmax()), values.shape[1])
            if abs(values[which, where]) > abs(found[2]):
                found = int(near[where]), float(times[which]), float(values[which, where])
        free = period / POINTS * np.arange(1, POINTS + 1)
        values = (factor * driven[-1] * np.exp(root * free)).imag
        which = int(np.abs(values).argmax())
        if abs(values[which]) > abs(found[2]):
            found = len(ground) - 1, float(free[which]), float(values[which])
        return found
