"""Draws of a posterior from a file as a design: whole rows are taken, so that the parameters keep their correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.design.axis import Axis, Counted
from tribosweep.sweep.design.latin_hypercube import permuted
from tribosweep.sweep.design.sampling import Sampled
from tribosweep.sweep.design.sobol import sobol
from tribosweep.sweep.io.values import written


@dataclass(frozen=True, slots=True, eq=False)
class Empirical:
    """The values that draws from a file have of one parameter.

    Its coordinate is the place of a value among the sorted values, as a distribution has it: `at(0.5)` is the median.

    Attributes:
        name: name of the parameter.
        values: (n,) float64 in the parameter's unit, codes of words, or (n, L) tables; in the order of the file.
        quantity: the parameter.
        order: (n,) rows of the file in ascending order of their values; tables stay in the order of the file.
        ranks: (n,) place of each row in this order.
    """

    name: str
    values: np.ndarray
    quantity: Quantity
    order: np.ndarray = field(init=False)
    ranks: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Sort the values."""
        order = np.argsort(self.values, kind="stable") if self.values.ndim == 1 else np.arange(len(self.values))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "ranks", ranks)

    def coordinates(self, rows: np.ndarray) -> np.ndarray:
        """The coordinates in (0, 1) of (n,) rows of the file."""
        return np.asarray((self.ranks[rows] + 0.5) / len(self.order))

    def at(self, fractions: np.ndarray) -> np.ndarray:
        """The values at (n,) `fractions` in [0, 1]; for tables with one more axis, at the end."""
        places = np.minimum((fractions * len(self.order)).astype(np.int64), len(self.order) - 1)
        return np.asarray(self.values[self.order[places]])

    def absent_at(self, fractions: np.ndarray) -> None:
        """None: a draw has no default entries."""

    def to_document(self) -> list[Any]:
        """The values in the order of the file, in the format of a study file."""
        return [written(self.quantity, value) for value in self.values]


@dataclass(frozen=True, slots=True)
class Posterior(Sampled):
    """Draws from a file, each with values of its own of further random axes, at every combination of the values of crossed axes.

    The rows of the file are taken in a random order, each once before any is taken again, so that few draws are spread over all chains. A
    longer design begins with the points of a shorter one.

    Attributes:
        crossed: axes with a number of values; the last one runs fastest, and the draws run slowest.
        drawn: the parameters from the file; all have as many rows.
        random: axes that are drawn for each draw (a scrambled Sobol sequence).
        draws: number of draws. seed: seed of the order and of the random axes.
    """

    crossed: tuple[Counted, ...]
    drawn: tuple[Empirical, ...]
    random: tuple[Axis, ...]
    draws: int
    seed: int

    @property
    def axes(self) -> tuple[Axis, ...]:  # type: ignore[override]
        """All axes: the crossed ones, the parameters from the file, the random ones."""
        return (*self.crossed, *self.drawn, *self.random)

    @property
    def combinations(self) -> int:
        """The number of points of a draw."""
        return math.prod(axis.count for axis in self.crossed)

    @property
    def count(self) -> int:
        """The number of points."""
        return self.draws * self.combinations

    def rows(self, draws: np.ndarray) -> np.ndarray:
        """The rows of the file that the (n,) `draws` take."""
        total = len(self.drawn[0].order)
        turns, places = np.divmod(draws, total)
        found = np.empty(len(draws), dtype=np.int64)
        for turn in np.unique(turns):
            key = int(np.random.SeedSequence([self.seed, int(turn)]).generate_state(1, np.uint64)[0])
            found[turns == turn] = permuted(places[turns == turn], total, key)
        return found

    def coordinates(self, start: int, stop: int) -> list[np.ndarray]:
        """The (n,) coordinates in [0, 1) of the points from `start` up to, not including, `stop`, one array per axis."""
        draws, place = np.divmod(np.arange(start, stop), self.combinations)
        crossed: list[np.ndarray] = []
        for axis in reversed(self.crossed):
            place, digit = np.divmod(place, axis.count)
            crossed.append((digit + 0.5) / axis.count)
        rows = self.rows(draws)
        random = sobol(len(self.random), self.seed, draws) if self.random else []
        return [*crossed[::-1], *(axis.coordinates(rows) for axis in self.drawn), *random]
