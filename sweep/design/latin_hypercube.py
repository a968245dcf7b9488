"""The Latin hypercube; any block of points can be computed from its index range."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.design.sampling import PlainSample

SPARE_BITS = 50  # bits of a coordinate, including those of the number of its part
ROUNDS = 8


@dataclass(frozen=True, slots=True)
class LatinHypercube(PlainSample):
    """A Latin hypercube: each of the `count` equal parts of each axis has exactly one point, at a random place within the part.

    If two parameters are correlated, only the first keeps this property.
    """

    def independent(self, start: int, stop: int) -> list[np.ndarray]:
        """The `coordinates` before parameters are correlated."""
        numbers = np.arange(start, stop)
        return [self.coordinate(axis, numbers) for axis in range(len(self.axes))]

    def coordinate(self, axis: int, numbers: np.ndarray) -> np.ndarray:
        """(n,) coordinates in [0, 1) of the points `numbers` along one axis."""
        order, within = np.random.SeedSequence([self.seed, axis]).generate_state(2, np.uint64)
        part = permuted(numbers, self.count, int(order))
        bits = SPARE_BITS - self.count.bit_length()  # so few bits that rounding cannot move a point out of its part
        shift = (mixed(numbers.astype(np.uint64), int(within)) >> np.uint64(64 - bits)) * 2.0**-bits
        found: np.ndarray = (part + shift) / self.count
        return found


def permuted(numbers: np.ndarray, count: int, key: int) -> np.ndarray:
    """The images of the (n,) `numbers` under a pseudo-random permutation of 0 .. count - 1, which is never stored.

    It uses a Feistel network on a rectangle of a by b cells, a b >= count, with additions modulo a and b. A cell beyond `count` is permuted
    again until it is below (cycle walking). Source: J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
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
    """(n,) pseudo-random uint64 numbers from values and a key: the finalizer of SplitMix64 (Steele et al. 2014), applied twice."""
    state = values ^ np.uint64(key)
    for _ in range(2):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state
