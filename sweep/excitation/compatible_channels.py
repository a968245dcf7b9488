"""Random accelerations of several channels, each with a response spectrum of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tribosweep.sweep.excitation.compatible import Compatible
from tribosweep.sweep.excitation.correlated import checked, root_of
from tribosweep.sweep.excitation.draws import ChosenDraws, Missed


@dataclass(frozen=True, eq=False)
class CompatibleChannels(ChosenDraws):
    """Accelerograms of C channels, such as the directions of an earthquake or the supports of a line.

    The coefficients of the stationary draws from which the channels start have the correlation, at every frequency. Each channel is then
    brought to its target as a draw of `Compatible`. Fourier amplitudes are scaled and samples are changed little, so that the accelerograms
    have nearly this correlation where targets are alike. All channels of a draw come from the same candidate.

    Attributes:
        parts: the target of each channel; duration, interval, seed, envelope and tolerance are the same in all.
        correlation: (C, C) correlation of the channels: symmetric, positive semidefinite, ones on its diagonal.
        duration, interval, seed, tolerance: those of `parts`.

    Raises:
        ValueError: a matrix that is no correlation of C channels.
    """

    parts: tuple[Compatible, ...]
    correlation: np.ndarray
    duration: float = field(init=False)
    interval: float = field(init=False)
    seed: int = field(init=False)
    tolerance: float = field(init=False)

    def __post_init__(self) -> None:
        """Check the matrix."""
        matrix = checked(self.correlation)
        if len(matrix) != len(self.parts):
            raise ValueError(f"there are {len(self.parts)} channels, and a correlation of {len(matrix)}")
        object.__setattr__(self, "correlation", matrix)
        for name in ("duration", "interval", "seed", "tolerance"):
            object.__setattr__(self, name, getattr(self.parts[0], name))

    @property
    def channels(self) -> int:
        """The number of channels of a draw."""
        return len(self.parts)

    @cached_property
    def _root(self) -> np.ndarray:
        return root_of(self.correlation)

    def starts(self, number: int, attempt: int = 0) -> np.ndarray:
        """(C, samples) stationary accelerations [m/s^2] from which the channels of a candidate start."""
        count = self.parts[0].start.half - 1
        normals = [self.parts[0].start.normals((number, attempt, place), count) for place in range(self.channels)]
        mixed = np.einsum("ij,jk", self._root, np.stack([sizes * directions for sizes, directions in normals]))
        return np.stack([part.start.of(coefficients) for part, coefficients in zip(self.parts, mixed, strict=True)])

    def candidate(self, number: int, attempt: int) -> np.ndarray | Missed:
        """See `ChosenDraws.candidate`: (C, samples) accelerations [m/s^2]."""
        records = []
        for place, (part, start) in enumerate(zip(self.parts, self.starts(number, attempt), strict=True)):
            found = part.matching(start)
            if isinstance(found, Missed):
                return replace(found, channel=place)
            records.append(found)
        return np.stack(records)
