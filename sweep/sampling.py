"""Designs that sample: the Sobol sequence and the Latin hypercube, any block of them from its index range alone.

Both give every point a place in the unit cube; each axis turns its coordinate into a value. A list, and a range of whole numbers, is cut
into as many equal parts as it has values.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sweep.axes import Axis, Continuous
from sweep.blocks import Points, gather
from sweep.sensitivity.copula import Correlation, correlate
from sweep.sensitivity.distributions import Drawn, Scaled, Weighted

BITS = 53  # of a coordinate: as many as a float64 between 1/2 and 1 holds
LOW_BITS = 17  # of an index, whose part of a Sobol point is looked up
SPARE_BITS = 50  # of a place in a Latin hypercube, those of the number of its part included
ROUNDS = 8
MOST_SAMPLED = 2**BITS


@dataclass(frozen=True, slots=True)
class Sobol:
    """Points of the scrambled Sobol sequence: more evenly spread than random ones, and going on where a shorter design ended.

    Scrambling is that of `scipy.stats.qmc.Sobol` (a random linear matrix and a random digital shift), with 53 bits a coordinate. A power
    of two of points is balanced best.

    Attributes:
        axes: one dimension each.
        count: how many points, at most 2^53.
        seed: of the scrambling.
        correlations: of the normal scores of parameters, two by two.
    """

    axes: tuple[Axis, ...]
    count: int
    seed: int
    correlations: tuple[Correlation, ...] = ()

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) places in [0, 1) of the points from `start` up to, not including, `stop`, one array an axis."""
        return correlate(self.axes, self.correlations, sobol(len(self.axes), self.seed, np.arange(start, stop)))

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        return drawn(self.axes, self.coordinates(start, stop), start, stop)


@dataclass(frozen=True, slots=True)
class LatinHypercube:
    """A Latin hypercube: each of `count` equal parts of each axis has exactly one point, somewhere within.

    Attributes:
        axes: one dimension each.
        count: how many points and parts.
        seed: of the order of the parts and the places within.
        correlations: of the normal scores of parameters, two by two; of two that are correlated only the first keeps to its parts.
    """

    axes: tuple[Axis, ...]
    count: int
    seed: int
    correlations: tuple[Correlation, ...] = ()

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) places in [0, 1) of the points from `start` up to, not including, `stop`, one array an axis."""
        numbers = np.arange(start, stop)
        return correlate(self.axes, self.correlations, [self.coordinate(axis, numbers) for axis in range(len(self.axes))])

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`."""
        return drawn(self.axes, self.coordinates(start, stop), start, stop)

    def coordinate(self, axis: int, numbers: np.ndarray) -> np.ndarray:
        """(n,) places in [0, 1) of the points `numbers` along one axis."""
        order, within = np.random.SeedSequence([self.seed, axis]).generate_state(2, np.uint64)
        part = permuted(numbers, self.count, int(order))
        bits = SPARE_BITS - self.count.bit_length()  # so few that no rounding takes a point out of its part
        shift = (mixed(numbers.astype(np.uint64), int(within)) >> np.uint64(64 - bits)) * 2.0**-bits
        found: np.ndarray = (part + shift) / self.count
        return found


def drawn(axes: tuple[Axis, ...], coordinates: list[np.ndarray], start: int, stop: int) -> Points:
    """The points from `start` up to, not including, `stop`, whose (n,) coordinates in the unit cube are given, one array an axis."""
    return gather(axes, places(axes, coordinates), np.arange(start, stop))


def places(axes: tuple[Axis, ...], coordinates: list[np.ndarray]) -> list[np.ndarray]:
    """What each axis is asked for at its (n,) coordinates in [0, 1]: the fraction itself, or the position of a value."""
    return [
        each
        if isinstance(axis, Continuous | Drawn | Weighted | Scaled)
        else np.minimum((each * axis.count).astype(np.int64), axis.count - 1)
        for axis, each in zip(axes, coordinates, strict=True)
    ]


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
    """What a scrambled Sobol sequence is made of: a (BITS, dimensions) vector for every bit of the index, and its first 2^LOW_BITS points.

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


def permuted(numbers: np.ndarray, count: int, key: int) -> np.ndarray:
    """Where a pseudo-random permutation of 0 .. count - 1 takes each of the (n,) `numbers`: one to one, and nothing holds it as a whole.

    A Feistel network on a rectangle of a by b cells, a b >= count, with the additions modulo a and b; a cell beyond `count` is permuted
    again until it is not (cycle walking). Source: J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
    """
    a = max(math.isqrt(count - 1) + 1, 1)
    b = -(-count // a)
    keys = [int(each) for each in np.random.SeedSequence(key).generate_state(ROUNDS, np.uint64)]

    def permute(cells: np.ndarray) -> np.ndarray:
        left, right = np.divmod(cells, np.uint64(b))
        for turn in range(0, ROUNDS, 2):
            left = (left + mixed(right, keys[turn]) % np.uint64(a)) % np.uint64(a)
            right = (right + mixed(left, keys[turn + 1]) % np.uint64(b)) % np.uint64(b)
        return left * np.uint64(b) + right

    cells = permute(numbers.astype(np.uint64))
    while (beyond := np.flatnonzero(cells >= count)).size:
        cells[beyond] = permute(cells[beyond])
    return cells.astype(np.int64)


def mixed(values: np.ndarray, key: int) -> np.ndarray:
    """(n,) uint64 numbers that look random, by value and key: the finalizer of SplitMix64 (Steele et al. 2014), twice."""
    state = values ^ np.uint64(key)
    for _ in range(2):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state
