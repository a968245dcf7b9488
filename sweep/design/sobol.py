"""The scrambled Sobol sequence, any block of it from its index range."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from sweep.design.sampling import PlainSample

BITS = 53  # of a coordinate: as many as a float64 between 1/2 and 1 holds
LOW_BITS = 17  # of an index, whose part of a Sobol point is looked up
MOST_SAMPLED = 2**BITS


@dataclass(frozen=True, slots=True)
class Sobol(PlainSample):
    """Points of the scrambled Sobol sequence: evenly spread; a longer design begins with the points of a shorter one.

    Scrambling is that of `scipy.stats.qmc.Sobol` (a random linear matrix and a random digital shift), with 53 bits a coordinate. A power
    of two of points is balanced best. There are at most 2^53 points.
    """

    def independent(self, start: int, stop: int) -> list[np.ndarray]:
        """`coordinates` before parameters are correlated."""
        return sobol(len(self.axes), self.seed, np.arange(start, stop))


def sobol(dimensions: int, seed: int, numbers: np.ndarray) -> list[np.ndarray]:
    """The (n,) coordinates in [0, 1) of the points `numbers` of the scrambled Sobol sequence, one array a dimension.

    Point n is the exclusive or of the directions of the bits of n's Gray code, hence of one vector for every bit of n: no point needs the
    points before it. (The `fast_forward` of scipy 1.17 takes a step for each of them, and takes no more than 32 bits.) The lowest bits are
    looked up.
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
    """The vectors of a scrambled Sobol sequence: (BITS, dimensions), one for every bit of the index, and its first 2^LOW_BITS points.

    Direction numbers (Joe and Kuo 2008) and scrambling are those of scipy, from attributes of `scipy.stats.qmc.Sobol` that it does not
    document; tests hold the points against those that scipy draws.
    """
    from scipy.stats import qmc

    engine = qmc.Sobol(dimensions, scramble=True, bits=BITS, rng=np.random.default_rng(seed))
    gray = np.ascontiguousarray(engine._sv.T, dtype=np.uint64)  # noqa: SLF001 - see above
    directions = gray ^ np.vstack([np.zeros((1, dimensions), np.uint64), gray[:-1]])
    points = np.asarray(engine._shift, dtype=np.uint64)[np.newaxis]  # noqa: SLF001
    for bit in range(LOW_BITS):
        points = np.vstack([points, points ^ directions[bit]])
    return directions, points
