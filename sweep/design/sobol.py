"""The scrambled Sobol sequence; any block of points can be computed from its index range."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.design.sampling import PlainSample

BITS = 53  # bits of a coordinate: the precision of a float64 between 1/2 and 1
LOW_BITS = 17  # lowest bits of an index, whose share of a Sobol point is tabulated
MOST_SAMPLED = 2**BITS
# number of dimensions whose primitive polynomial has degree 0, 1, 2 ... (there are more of degree 18)
POLYNOMIALS = (1, 1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)


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

    Scrambling multiplies each direction number, as a vector of bits, by a random lower triangular matrix, and adds a random shift. Both are
    drawn in the order of `scipy.stats.qmc.Sobol`, so the points are those of scipy.
    """
    numbers = direction_numbers(dimensions)
    place = np.arange(BITS, dtype=np.uint64)
    rng = np.random.default_rng(seed).spawn(1)[0]
    shift = rng.integers(2, size=(dimensions, BITS), dtype=np.uint64) @ (np.uint64(1) << place)
    matrix = np.tril(rng.integers(2, size=(dimensions, BITS, BITS), dtype=np.uint64), -1) | np.eye(BITS, dtype=np.uint64)
    rows = (matrix << place[::-1]).sum(axis=2, dtype=np.uint64)
    products = np.bitwise_count(rows & numbers[:, :, np.newaxis]).astype(np.uint64) & np.uint64(1)
    gray = (products << place[::-1]).sum(axis=2, dtype=np.uint64)
    directions = gray ^ np.vstack([np.zeros((1, dimensions), np.uint64), gray[:-1]])
    points = shift[np.newaxis]
    for bit in range(LOW_BITS):
        points = np.vstack([points, points ^ directions[bit]])
    return directions, points


def direction_numbers(dimensions: int) -> np.ndarray:
    """The direction numbers of Joe and Kuo (2008), (BITS, dimensions), as integers: fractions times 2^BITS.

    In a dimension whose primitive polynomial has degree s and coefficients a, v[k] = a[1] v[k-1] ^ ... ^ a[s-1] v[k-s+1] ^ v[k-s] ^
    (v[k-s] >> s). So the first s + 1 numbers determine a, and all further numbers. Point 2^k of the sequence without scrambling is
    v[k] ^ v[k-1]: the first 2^(s+1) points of scipy give the first s + 1 numbers. (scipy has no public access to the numbers themselves.)

    Raises:
        ValueError: there are more than 21,201 dimensions, or the points of scipy belong to other direction numbers.
    """
    from scipy.stats import qmc

    engine = qmc.Sobol(dimensions, scramble=False, bits=BITS)
    degrees = np.repeat(np.arange(len(POLYNOMIALS)), POLYNOMIALS)[:dimensions]
    known = int(degrees[-1]) + 1
    powers = engine.random_base2(known)[2 ** np.arange(known)]
    found = np.zeros((BITS, dimensions), dtype=np.uint64)
    found[:known] = np.bitwise_xor.accumulate((powers * 2.0**BITS).astype(np.uint64))
    found[:, 0] = np.uint64(1) << np.arange(BITS, dtype=np.uint64)[::-1]  # van der Corput's sequence has no polynomial
    for degree in np.unique(degrees[1:]).tolist():
        same = degrees == degree
        v = found[:, same]
        rest = v[degree] ^ v[0] ^ v[0] >> np.uint64(degree)
        coefficients = []
        for j in range(1, degree):  # the lowest bit of v[k] that is set is bit BITS - 1 - k
            coefficients.append(rest >> np.uint64(BITS - 1 - degree + j) & np.uint64(1))
            rest ^= coefficients[-1] * v[degree - j]
        if rest.any():
            raise ValueError("scipy.stats.qmc.Sobol has other direction numbers than those of Joe and Kuo")
        for k in range(degree + 1, BITS):
            v[k] = v[k - degree] ^ v[k - degree] >> np.uint64(degree)
            for j, coefficient in enumerate(coefficients, 1):
                v[k] ^= coefficient * v[k - j]
        found[:, same] = v
    return found
