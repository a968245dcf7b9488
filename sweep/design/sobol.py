"""The scrambled Sobol sequence; any block of points can be computed from its index range."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from sweep.design.sampling import PlainSample

BITS = 53  # bits of a coordinate: the precision of a float64 between 1/2 and 1
LOW_BITS = 17  # lowest bits of an index, whose share of a Sobol point is tabulated
MOST_SAMPLED = 2**BITS


@dataclass(frozen=True, slots=True)
class Sobol(PlainSample):
    """Points of the scrambled Sobol sequence. They are spread evenly, and a longer design begins with the points of a shorter one.

    The scrambling is that of `scipy.stats.qmc.Sobol` (a random linear matrix and a random digital shift), with 53 bits per coordinate.
    Designs of 2^k points are balanced best. There are at most 2^53 points.
    """

    def independent(self, start: int, stop: int) -> list[np.ndarray]:
        """The `coordinates` before parameters are correlated."""
        return sobol(len(self.axes), self.seed, np.arange(start, stop))


def sobol(dimensions: int, seed: int, numbers: np.ndarray) -> list[np.ndarray]:
    """The (n,) coordinates in [0, 1) of the points `numbers` of the scrambled Sobol sequence, one array per dimension.

    Point n is the exclusive or of one vector for each bit that is set in n; the vectors combine direction numbers by Gray's code. No point
    needs earlier points. (`fast_forward` of scipy 1.17 takes a step for each, and is limited to 32 bits.) The lowest bits use a table.
    """
    directions, low = sobol_vectors(dimensions, seed)
    high, place = np.divmod(numbers, len(low))
    groups, group = np.unique(high, return_inverse=True)
    offsets = np.zeros((len(groups), dimensions), dtype=np.uint64)
    for bit in range(BITS - LOW_BITS):
        offsets ^= np.where((groups >> bit & 1)[:, np.newaxis] == 1, directions[bit + LOW_BITS], np.uint64(0))
    return [(low[place, axis] ^ offsets[group, axis]) * 2.0**-BITS for axis in range(dimensions)]


@functools.lru_cache(maxsize=8)
def sobol_vectors(dimensions: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of a scrambled Sobol sequence: (BITS, dimensions), one for every bit of the index, and its first 2^LOW_BITS points.

    Direction numbers (Joe and Kuo 2008) and scrambling are those of scipy. They are read from undocumented attributes of
    `scipy.stats.qmc.Sobol`; tests compare the points with those of scipy.
    """
    from scipy.stats import qmc

    engine = qmc.Sobol(dimensions, scramble=True, bits=BITS, rng=np.random.default_rng(seed))
    gray = np.ascontiguousarray(engine._sv.T, dtype=np.uint64)  # noqa: SLF001 - see above
    directions = gray ^ np.vstack([np.zeros((1, dimensions), np.uint64), gray[:-1]])
    points = np.asarray(engine._shift, dtype=np.uint64)[np.newaxis]  # noqa: SLF001
    for bit in range(LOW_BITS):
        points = np.vstack([points, points ^ directions[bit]])
    return directions, points
