"""What random accelerations and loads have in common: draws by number, banks of them, and draws that are chosen among candidates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tribosweep.sweep.io.errors import RunError

CANDIDATES = 3  # for a draw
KEPT = 256  # draws that are kept in memory


class MissedDrawError(RunError):
    """A draw that none of its candidates gives."""


class Draws(ABC):
    """Random accelerations or loads; draw n is a pure function of a seed and of n.

    Attributes:
        duration: of a draw [s]. interval: time between its samples [s]. seed: of all draws.
    """

    duration: float
    interval: float
    seed: int

    @property
    def channels(self) -> int:
        """The number of channels of a draw."""
        return 1

    @property
    def samples(self) -> int:
        """The number of samples of a draw, including that at t = 0."""
        return samples_of(self.duration, self.interval)

    @abstractmethod
    def draw(self, number: int) -> np.ndarray:
        """Draw `number`, at least 0: (samples,) values at t = 0, interval, 2 interval ...; of several channels (C, samples).

        Raises:
            MissedDrawError: there is no such draw.
        """

    def missed(self, numbers: np.ndarray) -> np.ndarray:
        """Mask of the numbers, of any shape, of which there is no draw; NaN is none of them."""
        return np.zeros(np.shape(numbers), bool)

    def take(self, numbers: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
        """Build the bank of the draws that occur in some rows.

        Args:
            numbers: numbers of the draws, whole numbers of any shape; NaN stays NaN.
            room: number of records in the bank, at least the number of different draws.

        Returns:
            The positions in the bank, float64 of the same shape; the bank (room, samples), of several channels (room, C, samples). A draw
            that is `missed` is 0.
        """
        known = np.isfinite(numbers)
        asked, positions = np.unique(np.where(known, numbers, 0.0), return_inverse=True)
        bank: np.ndarray | None = None
        for place, (number, lost) in enumerate(zip(asked, self.missed(asked), strict=True)):
            if not lost:
                drawn = self.draw(int(number))
                bank = np.zeros((room, *drawn.shape)) if bank is None else bank
                bank[place] = drawn
        shape = (self.samples,) if self.channels == 1 else (self.channels, self.samples)
        bank = np.zeros((room, *shape)) if bank is None else bank
        return np.where(known, positions.reshape(np.shape(numbers)), np.nan), bank


@dataclass(frozen=True, slots=True)
class Missed:
    """Why a candidate is no draw.

    Attributes:
        reached: its largest relative deviation from the target. frequency: where [Hz]. channel: of several, else None.
    """

    reached: float
    frequency: float
    channel: int | None = None


class ChosenDraws(Draws):
    """Draws each of which is the first one of CANDIDATES that is good enough.

    Candidates of a draw are as independent of each other as draws are. So a draw is distributed as candidates that are good enough.
    """

    tolerance: float

    @abstractmethod
    def candidate(self, number: int, attempt: int) -> np.ndarray | Missed:
        """Candidate `attempt`, counted from 0, for a draw."""

    @cached_property
    def _kept(self) -> dict[int, np.ndarray | Missed]:
        """The last draws, by number."""
        return {}

    def _found(self, number: int) -> np.ndarray | Missed:
        """A draw, or how near the best one of its candidates comes."""
        if number not in self._kept:
            found: np.ndarray | Missed = Missed(math.inf, math.nan)
            for attempt in range(CANDIDATES):
                other = self.candidate(number, attempt)
                if not isinstance(other, Missed) or (isinstance(found, Missed) and other.reached < found.reached):
                    found = other
                if not isinstance(found, Missed):
                    break
            while len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[number] = found
        return self._kept[number]

    def draw(self, number: int) -> np.ndarray:
        """See `Draws.draw`."""
        found = self._found(number)
        if not isinstance(found, Missed):
            return np.array(found)
        channel = "" if found.channel is None else f", channel {found.channel},"
        message = (
            f"excitation.random.tolerance: the response spectrum of draw {number}{channel} comes to {100.0 * found.reached:.1f} % of its "
            f"target, at {found.frequency:.3g} Hz, not to {100.0 * self.tolerance:g} %, in the best of {CANDIDATES} candidates: allow "
            "more, let the strong phase or the duration be longer, or match fewer frequencies"
        )
        raise MissedDrawError(message)

    def missed(self, numbers: np.ndarray) -> np.ndarray:
        """See `Draws.missed`."""
        known = np.isfinite(numbers)
        asked, places = np.unique(np.where(known, numbers, 0.0), return_inverse=True)
        lost = np.array([isinstance(self._found(int(number)), Missed) for number in asked])
        return np.asarray(lost[places.reshape(np.shape(numbers))] & known)


def samples_of(duration: float, interval: float) -> int:
    """The number of samples that reach a duration, including the sample at 0."""
    return math.ceil(duration / interval * (1.0 - 1e-12)) + 1
