"""Random accelerations that have a given response spectrum; each draw is a pure function of the seed and of its number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tribosweep.sweep.excitation.draws import ChosenDraws, Missed
from tribosweep.sweep.excitation.envelope import Envelope
from tribosweep.sweep.excitation.oscillators import Oscillators
from tribosweep.sweep.excitation.response_spectrum import response_spectrum
from tribosweep.sweep.excitation.spectrum import Spectrum
from tribosweep.sweep.excitation.stationary import Stationary

SPACING = 1.03  # ratio of neighbouring frequencies that are corrected from the beginning
BETWEEN = 8  # parts of such a ratio at which deviations are looked for; the worst frequencies are corrected from then on
SCALINGS, CORRECTIONS = 4, 40  # of Fourier amplitudes; then of samples, at most
INSIDE = 0.9  # part of the tolerance that is used there, so that it holds between these frequencies too
NEAR = 0.7  # part of the tolerance from which on a frequency in between is corrected
SOFT = 0.03  # regularisation of a correction, relative to its diagonal: neighbouring oscillators often have the same peak
REMEMBERED = 0.8  # peaks of earlier corrections are remembered that reach this part of the target
WEAKEST = 1e-3  # of the envelope where samples may be corrected
PEAK_FACTOR = 1.2  # at least: of motions with few cycles
MOST = 2  # times as many frequencies are corrected in the end, at most


@dataclass(frozen=True, eq=False)
class Compatible(ChosenDraws):
    """Accelerograms whose response spectra have a target. Draw n is the same in every run.

    1. A stationary Gaussian draw has the power spectral density that belongs to the target (Vanmarcke and Gasparini, Simulated earthquake
       motions compatible with prescribed response spectra, MIT R76-4, 1976), times the envelope.
    2. Its Fourier amplitudes are scaled a few times by target over response.
    3. Its samples are corrected until the largest deviation is within the tolerance: the response of an oscillator at its peak is linear in
       the samples, so that the least change (relative to the envelope) that lifts or lowers all peaks to the target follows from a linear
       system, as in time-domain matching (Lilhanand and Tseng, 9th World Conference on Earthquake Engineering, 1988). Earlier peaks of an
       oscillator are remembered, so that they do not exceed the target again. The same system makes velocity and displacement at the end
       zero.
    4. If that does not come within the tolerance, another stationary draw takes its place (`ChosenDraws`).

    Attributes:
        frequencies: (N,) of the target [Hz], ascending, N >= 2. accelerations: (N,) spectral accelerations there [m/s^2], > 0: the largest
            total acceleration. Between them the target is a straight line in both logarithms.
        damping: of the target, part of critical damping, in (0, 1).
        match: lowest and highest frequency [Hz] at which the target is met, within `frequencies`.
        duration, interval, seed: as of `stationary.Stationary`. envelope: of its strength over time.
        tolerance: largest admissible |Sa / target - 1| at the frequencies of `match`.
    """

    frequencies: np.ndarray
    accelerations: np.ndarray
    damping: float
    match: tuple[float, float]
    duration: float
    interval: float
    seed: int
    envelope: Envelope
    tolerance: float

    def target(self, frequencies: np.ndarray) -> np.ndarray:
        """The target [m/s^2] at frequencies [Hz]."""
        return np.asarray(np.exp(np.interp(np.log(frequencies), np.log(self.frequencies), np.log(self.accelerations))))

    def matched(self, parts: int = 1) -> np.ndarray:
        """The frequencies [Hz] at which draws are corrected, with the interval between two of them divided into `parts`."""
        count = parts * math.ceil(math.log(self.match[1] / self.match[0]) / math.log(SPACING))
        return np.geomspace(*self.match, count + 1)

    def deviations(self, record: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
        """(F,) Sa / target - 1 of a record at frequencies [Hz]."""
        found = response_spectrum(record, self.interval, 1.0 / frequencies, self.damping).acceleration
        return np.asarray(found / self.target(frequencies) - 1.0)

    @cached_property
    def start(self) -> Stationary:
        """The stationary accelerations from which draws start."""
        lowest, highest = self.frequencies[0], min(self.frequencies[-1], 0.49 / self.interval)
        frequencies = np.geomspace(lowest, highest, 200)
        omega, peaks = 2.0 * np.pi * frequencies, self.target(frequencies)
        cycles = omega * self.envelope.strong / np.pi
        factors = np.sqrt(np.maximum(2.0 * np.log(np.maximum(cycles / math.log(2.0), 1.0 + 1e-9)), PEAK_FACTOR**2))  # of the median peak
        variance = (peaks / factors) ** 2
        width = math.pi / (4.0 * self.damping) - 1.0
        densities, below = np.zeros_like(omega), 0.0
        for place, (turn, size) in enumerate(zip(omega, variance, strict=True)):
            half = 0.5 * (turn - omega[place - 1]) if place else 0.0
            below += half * densities[place - 1] if place else 0.0
            floor = 1e-3 * 4.0 * self.damping * size / (math.pi * turn)
            densities[place] = max((size - below) / (turn * max(width, 1.0) + half), floor)
            below += half * densities[place]
        return Stationary(Spectrum(frequencies, 2.0 * np.pi * densities, logarithmic=True), self.duration, self.interval, self.seed)

    def candidate(self, number: int, attempt: int) -> np.ndarray | Missed:
        """See `ChosenDraws.candidate`: accelerations [m/s^2]."""
        return self.matching(self.start.of_key((number, attempt) if attempt else (number,)))

    def matching(self, stationary: np.ndarray) -> np.ndarray | Missed:
        """The accelerations [m/s^2] that follow from stationary ones of `start`, or how near they come to the target."""
        envelope = self.envelope.factors(self.interval * np.arange(self.samples))
        record = self._scaled(stationary, envelope)
        frequencies, dense = self.matched(), self.matched(BETWEEN)
        correction = Correction(Oscillators(frequencies, self.damping, self.interval), self.target(frequencies), envelope)
        reached, where = math.inf, 0.0
        for _ in range(CORRECTIONS):
            record = correction.better(record)
            sizes = np.abs(self.deviations(record, dense))
            worst = int(sizes.argmax())
            if sizes[worst] <= INSIDE * self.tolerance:
                return record
            reached, where = min((reached, where), (float(sizes[worst]), float(dense[worst])))
            hills = (sizes[1:-1] >= sizes[:-2]) & (sizes[1:-1] >= sizes[2:]) & (sizes[1:-1] > NEAR * self.tolerance)
            more = np.setdiff1d(dense[1:-1][hills], correction.oscillators.frequencies)
            if len(correction.target) + len(more) <= MOST * len(frequencies):
                correction.add(more, self.target(more))
        return Missed(reached, where)

    def _scaled(self, stationary: np.ndarray, envelope: np.ndarray) -> np.ndarray:
        """A stationary draw times the envelope, with Fourier amplitudes that bring its spectrum near the target."""
        frequencies, length = self.matched(), 2 * len(stationary)
        goal, lines = self.target(frequencies), np.fft.rfftfreq(length, self.interval)
        lines[0] = lines[1]
        for _ in range(SCALINGS):
            reached = response_spectrum(stationary * envelope, self.interval, 1.0 / frequencies, self.damping).acceleration
            factors = np.exp(np.interp(np.log(lines), np.log(frequencies), np.log(goal / reached)))
            stationary = np.fft.irfft(np.fft.rfft(stationary, length) * factors, length)[: len(stationary)]
        return np.asarray(stationary * envelope)


class Correction:
    """The least change of a record that brings the peaks of oscillators to a target, one step of Newton's method at a time.

    It remembers peaks: rows of derivatives by the samples, relative to the target. Sums are numpy's own: those of BLAS depend on the number
    of threads.
    """

    def __init__(self, oscillators: Oscillators, target: np.ndarray, envelope: np.ndarray) -> None:
        """Correct records as long as `envelope` (n,), for the `target` [m/s^2] of each oscillator."""
        self.oscillators, self.target = oscillators, target
        self.weights = np.maximum(envelope, WEAKEST) ** 2
        count, step = len(envelope), oscillators.step
        velocity, displacement = np.full(count, step), step * step * (count - np.arange(count))
        velocity[0], displacement[0] = 0.5 * step, step * step * (0.5 * count - 1.0 / 6.0)
        ends = np.stack([velocity, displacement])  # after the last sample has fallen to 0
        self.ends = ends / np.sqrt((ends * ends * self.weights).sum(axis=1))[:, None]
        self.rows, self.of = np.zeros((0, count)), np.zeros(0, int)

    def better(self, record: np.ndarray) -> np.ndarray:
        """The corrected record."""
        peaks, rows = self.oscillators.peaks(record)
        rows *= (np.sign(peaks) / self.target)[:, None]
        sizes = np.abs(peaks) / self.target
        before = np.einsum("ij,j", self.rows, record)
        news = np.abs(before - sizes[self.of]) > 1e-3  # the others are the present peaks
        self.rows, self.of, before = self.rows[news], self.of[news], before[news]
        high = before > 1.0
        system = np.concatenate([rows, self.rows[high], self.ends])
        missing = np.concatenate([1.0 - sizes, 1.0 - before[high], -np.einsum("ij,j", self.ends, record)])
        matrix = np.einsum("ik,jk", system * self.weights, system)
        matrix[np.diag_indices(len(matrix) - 2)] *= 1.0 + SOFT
        changed = record + self.weights * np.einsum("ij,i", system, solve(matrix, missing))
        kept = before > REMEMBERED
        self.rows, self.of = np.concatenate([rows, self.rows[kept]]), np.concatenate([np.arange(len(rows)), self.of[kept]])
        return np.asarray(changed)

    def add(self, frequencies: np.ndarray, target: np.ndarray) -> None:
        """Correct at more frequencies [Hz], for their `target` [m/s^2]."""
        old = self.oscillators
        self.oscillators = Oscillators(np.concatenate([old.frequencies, frequencies]), old.damping, old.step)
        self.target = np.concatenate([self.target, target])


def solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric, positive definite system (n, n) by Cholesky's method, with the same bits for any number of threads."""
    count = len(right)
    lower, found = np.array(matrix), np.array(right)
    for place in range(count):
        lower[place:, place] /= math.sqrt(lower[place, place])
        below = lower[place + 1 :, place]
        lower[place + 1 :, place + 1 :] -= below[:, None] * below
        found[place] /= lower[place, place]
        found[place + 1 :] -= below * found[place]
    for place in range(count - 1, -1, -1):
        found[place] /= lower[place, place]
        found[:place] -= lower[place, :place] * found[place]
    return found
