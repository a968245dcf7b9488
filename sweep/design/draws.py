"""Independent draws of random parameters, the same ones at every combination of the values of other axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.design.axis import Axis, Counted
from tribosweep.sweep.design.copula import Correlation, correlate
from tribosweep.sweep.design.latin_hypercube import mixed
from tribosweep.sweep.design.sampling import Sampled


@dataclass(frozen=True, slots=True)
class Draws(Sampled):
    """Every combination of the values of crossed axes, each with the same independent draws of the random axes.

    Points of one combination are independent of each other, so that intervals of probabilities and quantiles hold. Because all combinations
    share the draws, a probability is monotone along a parameter wherever the event of each single draw is.

    Attributes:
        crossed: axes with a number of values. random: axes that are drawn. The draws run fastest, then the last crossed axis.
        draws: number of draws; 1 without random axes. seed: seed of the draws.
        correlations: correlations of the normal scores of pairs of random axes.
    """

    crossed: tuple[Counted, ...]
    random: tuple[Axis, ...]
    draws: int
    seed: int
    correlations: tuple[Correlation, ...] = ()

    @property
    def axes(self) -> tuple[Axis, ...]:  # type: ignore[override]
        """All axes: the crossed ones, then the random ones."""
        return (*self.crossed, *self.random)

    @property
    def count(self) -> int:
        """The number of points."""
        return self.draws * math.prod(axis.count for axis in self.crossed)

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) coordinates in [0, 1) of the points from `start` up to, not including, `stop`, one array per axis."""
        place, draws = np.divmod(np.arange(start, stop), self.draws)
        crossed: list[np.ndarray] = []
        for axis in reversed(self.crossed):
            place, digit = np.divmod(place, axis.count)
            crossed.append((digit + 0.5) / axis.count)
        independent = [uniform(draws, self.seed, number) for number in range(len(self.random))]
        return [*crossed[::-1], *correlate(self.random, self.correlations, independent)]


def uniform(draws: np.ndarray, seed: int, axis: int) -> np.ndarray:
    """(n,) independent pseudo-random numbers in (0, 1), each from the seed, the number of its axis and of its draw alone."""
    key = int(np.random.SeedSequence([seed, axis, 1]).generate_state(1, np.uint64)[0])
    found: np.ndarray = ((mixed(draws.astype(np.uint64), key) >> np.uint64(11)) + 0.5) * 2.0**-53
    return found
