"""The design "subset_simulation": chains of points that climb, level by level, to a rare event.

Source: S. K. Au and J. L. Beck, "Estimation of small failure probabilities in high dimensions by subset simulation", Probabilistic
Engineering Mechanics 16 (2001), 263-277.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tribosweep.sweep.design.axis import DRAW, RECORD, Axis, Listed
from tribosweep.sweep.design.copula import Correlation, correlate
from tribosweep.sweep.design.distributions import Weighted
from tribosweep.sweep.design.joined import Joined, singles, with_sign
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.design.sampling import points_at

SUBSET = "subset_simulation"
ABOUT_SUBSET = (
    "`count` random points of each level; the share `level_probability` of them that is nearest to the `event` starts the chains of the "
    "next level, for probabilities from 1e-3 to 1e-9"
)


@dataclass(frozen=True, slots=True)
class LimitState:
    """An event that happens where an observable passes a limit, and how far each row is beyond it.

    Attributes:
        observable: name of the observable, a number.
        relation: ">", ">=", "<" or "<=".
        limit: the limit in the unit of the observable, or the name of a parameter that is the limit of each row.
    """

    observable: str
    relation: str
    limit: float | str

    def __str__(self) -> str:
        """The event as a study has it: "peak_force > 5000.0"."""
        return f"{self.observable} {self.relation} {self.limit}"

    @property
    def sign(self) -> float:
        """1 if the event is above its limit, -1 if it is below."""
        return 1.0 if self.relation[0] == ">" else -1.0

    def margins(self, values: np.ndarray, limits: np.ndarray | float) -> np.ndarray:
        """(n,) how far rows are beyond the limit, in the unit of the observable; -inf where the observable has no value (NaN)."""
        beyond = self.sign * (values - limits)
        return np.where(np.isnan(beyond), -np.inf, beyond)

    def happens(self, margins: np.ndarray) -> np.ndarray:
        """(n,) mask of the rows in which the event happened."""
        mask: np.ndarray = margins >= 0.0 if "=" in self.relation else margins > 0.0
        return mask

    def part(self, values: np.ndarray, limits: np.ndarray | float) -> np.ndarray:
        """(n,) the margins of this event as a part of a joined one (`joined.margin_of`), in parts of the limit (of 0: in its unit)."""
        margins, size = self.margins(values, limits), np.abs(limits)
        return with_sign(margins / np.where(size > 0.0, size, 1.0), self.happens(margins))


@dataclass(frozen=True, slots=True)
class SubsetSimulation:
    """Random points of the whole space, then chains within smaller and smaller domains around an event.

    Points are numbered step by step: first those of level 0 of every repeat, then one point of each chain of every repeat, and so on.

    Attributes:
        axes: the axes, one dimension each, d of them.
        level_count: number of points of a level; a multiple of the length of a chain.
        seed: seed of the random numbers.
        event: the event, or several joined by or, and, not.
        level_probability: share of the points of a level that starts the chains of the next level; 1 over a whole number.
        levels: largest number of levels after level 0.
        repeats: number of independent simulations, computed side by side.
        correlations: correlations of the normal scores of pairs of parameters.
    """

    axes: tuple[Axis, ...]
    level_count: int
    seed: int
    event: Joined[LimitState] | LimitState
    level_probability: float
    levels: int
    repeats: int
    correlations: tuple[Correlation, ...] = ()

    @property
    def observables(self) -> tuple[str, ...]:
        """Names of the observables of the event."""
        return tuple(dict.fromkeys(each.observable for each in singles(self.event)))

    @property
    def single(self) -> LimitState | None:
        """The event; None if it is joined of several."""
        return None if isinstance(self.event, Joined) else self.event

    def happens(self, margins: np.ndarray) -> np.ndarray:
        """(n,) mask of the rows in which the event happened; of a joined event where margins are at least 0."""
        return np.asarray(margins >= 0.0) if self.single is None else self.single.happens(margins)

    @property
    def chain_length(self) -> int:
        """The number of states of a chain, its start included."""
        return round(1.0 / self.level_probability)

    @property
    def chains(self) -> int:
        """The number of chains of a level of one repeat."""
        return self.level_count // self.chain_length

    @property
    def count(self) -> int:
        """The number of points of level 0 of all repeats."""
        return self.level_count * self.repeats

    @property
    def most_points(self) -> int:
        """The number of points if every repeat needs all levels."""
        return self.count + self.levels * (self.chain_length - 1) * self.chains * self.repeats

    @property
    def unordered(self) -> np.ndarray:
        """(d,) mask of the axes whose values have no neighbours: draws, records, words and tables."""
        return np.array([has_no_neighbours(axis) for axis in self.axes], dtype=bool)

    def start(self, repeat: int) -> np.ndarray:
        """(level_count, d) states of level 0 of a repeat: independent standard normal numbers."""
        return np.random.default_rng([self.seed, repeat]).standard_normal((self.level_count, len(self.axes)))

    def numbers(self, repeat: int, level: int, step: int) -> np.ndarray:
        """Numbers of the points of a repeat: all those of level 0, or one of each chain after `step` >= 1 steps of a later level."""
        if level == 0:
            return repeat * self.level_count + np.arange(self.level_count)
        before = ((level - 1) * (self.chain_length - 1) + step - 1) * self.repeats
        return self.count + (before + repeat) * self.chains + np.arange(self.chains)

    def chains_of(self, numbers: np.ndarray) -> np.ndarray:
        """(n,) the chain of each point, counted over all repeats; -1 for points of level 0, which are in none."""
        return np.where(numbers < self.count, -1, (numbers - self.count) % (self.chains * self.repeats))

    def points_at_states(self, states: np.ndarray, numbers: np.ndarray, level: int) -> Points:
        """The points whose parameters have the (n, d) standard normal scores `states`."""
        from scipy.special import ndtr

        coordinates = [np.ascontiguousarray(ndtr(column)) for column in states.T]
        found = points_at(self.axes, correlate(self.axes, self.correlations, coordinates), 0, len(numbers))
        return replace(found, numbers=numbers, level=level)

    def points(self, start: int, stop: int) -> Points:
        """The points of level 0 from `start` up to, not including, `stop`."""
        if stop <= start:
            return self.points_at_states(np.empty((0, len(self.axes))), np.empty(0, dtype=np.int64), 0)
        first, last = start // self.level_count, -(-stop // self.level_count)
        states = np.concatenate([self.start(repeat) for repeat in range(first, last)])
        before = first * self.level_count
        return self.points_at_states(states[start - before : stop - before], np.arange(start, stop), 0)


def has_no_neighbours(axis: Axis) -> bool:
    """Whether a value of an axis tells nothing of the next one."""
    if axis.name in (DRAW, RECORD):
        return True
    listed = axis.listed if isinstance(axis, Weighted) else axis
    return isinstance(listed, Listed) and (listed.quantity is None or listed.quantity.kind in ("word", "list"))
