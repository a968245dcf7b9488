"""The levels of a subset simulation: chains within domains that shrink around a rare event.

Level 0 is a plain sample of the parameters. The share `level_probability` of a level that is nearest to the event starts the chains of the
next level, which stay within the domain beyond the farthest of them. The probability of the event is the product of the shares.

A chain moves in standard normal space by conditional sampling: a candidate is rho u + sigma xi, with rho^2 + sigma^2 = 1, which leaves the
normal distribution as it is. If the candidate lies outside the domain, the chain stays. sigma follows the share of candidates that are
accepted, step by step, towards 0.44. A parameter whose values have no neighbours (a draw, a record, a word) is either kept or drawn anew,
with equal probability, which leaves the distribution as it is too; sigma follows the chains that keep all of these. Source: I. Papaioannou,
W. Betz, K. Zwirglmaier and D. Straub, "MCMC algorithms for subset simulation", Probabilistic Engineering Mechanics 41 (2015), 89-103.

A step of all chains is computed together. Its random numbers depend on seed, repeat, level and step alone, and all else on the rows before,
so that an interrupted study continues with the same points. A row that fails counts as neither inside nor outside: one of level 0 is left
out, and a chain stays where its candidate fails. So does a row whose margin could not be computed; these are counted apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.design.joined import margin_of
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.design.subset_simulation import LimitState, SubsetSimulation
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa

STATUS = "status"
ACCEPTED = 0.44  # share of candidates that is aimed at, of the source
FIRST_SCALE = 0.6  # sigma of the first step, of the source
KEPT = 0.5  # probability that a step keeps a parameter whose values have no neighbours
FEWEST_STARTS = 0.1  # of the chains; if fewer distinct states lie above tied ones, those that are tied start chains too
GOING, REACHED, STALLED, ALL_LEVELS = "going", "reached", "stalled", "all levels"


@dataclass(frozen=True, slots=True)
class Level:
    """A level of one repeat with all its states.

    Attributes:
        domain: least margin of its states; -inf for level 0.
        goal: least margin of the next level; 0 if the event is next.
        hit: (steps, chains) mask of the states within the next domain; level 0 is one step.
        margins: (steps, chains) of the states. roots: (chains,) number of the state of level 0 that each chain descends from.
        rows, failed, unknown: numbers of rows that were computed, of those that failed, and of those of which the margin is unknown.
        accepted: share of the candidates that were accepted; NaN at level 0.
    """

    domain: float
    goal: float
    hit: np.ndarray = field(repr=False)
    margins: np.ndarray = field(repr=False)
    roots: np.ndarray = field(repr=False)
    rows: int
    failed: int
    accepted: float
    unknown: int = 0

    @property
    def probability(self) -> float:
        """The share of its states in the next domain."""
        return float(self.hit.mean()) if self.hit.size else 0.0

    @property
    def correlation(self) -> float:
        """The factor gamma of Au and Beck (2001): how much the states of a chain repeat each other, 0 if they are independent."""
        steps, p = len(self.hit), self.probability
        if steps < 2 or not 0.0 < p < 1.0:
            return 0.0
        inside = self.hit.astype(np.float64)
        lags = np.array([(inside[: steps - lag] * inside[lag:]).mean() - p * p for lag in range(1, steps)])
        weights = 1.0 - np.arange(1, steps) / steps
        return float(max(2.0 * np.sum(weights * lags) / (p * (1.0 - p)), 0.0))

    @property
    def variation(self) -> float:
        """The coefficient of variation of its probability, with the correlation within chains (Au and Beck 2001); inf without a hit."""
        p, count = self.probability, self.hit.size
        return math.sqrt((1.0 - p) / (p * count) * (1.0 + self.correlation)) if p > 0.0 else math.inf


@dataclass(frozen=True, slots=True)
class Climb:
    """One repeat: its levels so far, and the states of the level that is being computed.

    Attributes:
        repeat: its number. levels: the finished levels. end: GOING, or why it has ended.
        domain: least margin of the level that is being computed.
        states: (chains, d) last state of every chain, in standard normal space; of level 0 all states.
        margins: one array (chains,) for every step so far. path: the states, in the same way. roots: as in `Level`.
        scale: sigma of the next step. accepted: share of accepted candidates of every step.
        failed, unknown: numbers of rows of the level, see `Level`.
    """

    repeat: int
    states: np.ndarray = field(repr=False)
    levels: tuple[Level, ...] = ()
    end: str = GOING
    domain: float = -math.inf
    margins: tuple[np.ndarray, ...] = field(default=(), repr=False)
    path: tuple[np.ndarray, ...] = field(default=(), repr=False)
    roots: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    scale: float = FIRST_SCALE
    accepted: tuple[float, ...] = ()
    failed: int = 0
    unknown: int = 0

    def candidates(self, design: SubsetSimulation) -> np.ndarray:
        """(n, d) the states to compute next: level 0, or a candidate for each chain."""
        if not self.levels:
            return self.states
        rng = np.random.default_rng([design.seed, self.repeat, len(self.levels), len(self.margins)])
        noise, unordered = rng.standard_normal(self.states.shape), design.unordered
        moved: np.ndarray = math.sqrt(1.0 - self.scale**2) * self.states + self.scale * noise
        if unordered.any():
            anew = np.where(rng.random(self.states.shape) < KEPT, self.states, noise)
            moved = np.where(unordered, anew, moved)
        return moved

    def followed_by(self, design: SubsetSimulation, candidates: np.ndarray, margins: np.ndarray, unknown: Any = False) -> Climb:
        """This repeat after one more step.

        Args:
            design: the design. candidates: (n, d) states. margins: (n,) of them, NaN where rows failed or the event is unknown.
            unknown: (n,) mask of the latter.
        """
        good = ~np.isnan(margins)
        counted = replace(
            self,
            failed=self.failed + int(np.count_nonzero(~good & ~np.asarray(unknown))),
            unknown=self.unknown + int(np.count_nonzero(~good & np.asarray(unknown))),
        )
        if not self.levels:
            return replace(counted, margins=(margins[good],), path=(candidates[good],), roots=np.flatnonzero(good)).ended(design)
        inside = margins >= self.domain  # a failed or unknown row is not
        states = np.where(inside[:, np.newaxis], candidates, self.states)
        kept = (candidates == self.states)[:, design.unordered].all(axis=1)
        pace = float(inside[kept].mean()) if kept.any() else ACCEPTED
        step = len(self.accepted) + 1
        moved = replace(
            counted,
            states=states,
            margins=(*self.margins, np.where(inside, margins, self.margins[-1])),
            path=(*self.path, states),
            accepted=(*self.accepted, float(inside.mean())),
            scale=min(self.scale * math.exp((pace - ACCEPTED) / math.sqrt(step)), 1.0),
        )
        return moved if step < design.chain_length - 1 else moved.ended(design)

    def ended(self, design: SubsetSimulation) -> Climb:
        """This repeat after the last step of a level: at its end, or with the starts of the chains of the next level."""
        margins = np.stack(self.margins)
        happened = design.happens(margins)
        reached = np.count_nonzero(happened) >= design.chains
        goal = 0.0 if reached else min(next_domain(margins.ravel(), design.chains), 0.0)
        if reached:
            end = REACHED
        elif goal <= self.domain or not np.isfinite(goal):
            end = STALLED
        else:
            end = ALL_LEVELS if len(self.levels) == design.levels else GOING
        hit = margins >= goal if end == GOING else happened
        level = Level(
            domain=self.domain,
            goal=goal if end == GOING else 0.0,
            hit=hit,
            margins=margins,
            roots=self.roots,
            rows=design.level_count if not self.levels else design.chains * (design.chain_length - 1),
            failed=self.failed,
            accepted=float(np.mean(self.accepted)) if self.accepted else math.nan,
            unknown=self.unknown,
        )
        levels = (*self.levels, level)
        if end != GOING:
            return replace(self, levels=levels, end=end)
        rng = np.random.default_rng([design.seed, self.repeat, len(levels)])
        starts = chosen(np.flatnonzero(hit.ravel()), design.chains, rng)
        states = np.concatenate(self.path)[starts]
        roots = np.tile(self.roots, len(margins))[starts]
        return Climb(self.repeat, states, levels, GOING, goal, (margins.ravel()[starts],), (states,), roots, self.scale)


def next_domain(margins: np.ndarray, chains: int) -> float:
    """The least margin of the next domain: that of the farthest of `chains` states, if no two are equal.

    Equal margins are not divided: the domain begins above them, or with them if hardly any state lies above. -inf or the least margin of
    all if there is no smaller domain.
    """
    if len(margins) < chains:
        return -math.inf
    edge = float(np.partition(margins, len(margins) - chains)[len(margins) - chains])
    if np.count_nonzero(margins >= edge) <= chains:
        return edge
    above = margins[margins > edge]
    everything = edge == margins.min()
    return float(above.min()) if above.size and (everything or above.size >= FEWEST_STARTS * chains) else edge


def chosen(places: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` of the places: all, a random part of them, or each several times."""
    if len(places) == count:
        return places
    found: np.ndarray = np.resize(rng.permutation(places), count)
    return found


@dataclass(frozen=True, slots=True)
class ClimbingHistory:
    """The levels of a study computed so far.

    Attributes:
        config: the study. design: its design. climbs: its repeats.
        computed: number of points computed so far.
    """

    config: Config
    design: SubsetSimulation
    climbs: tuple[Climb, ...]
    computed: int = 0

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are read from the rows of a level."""
        return *self.design.observables, STATUS

    @property
    def going(self) -> list[Climb]:
        """The repeats that have not ended."""
        return [climb for climb in self.climbs if climb.end == GOING]

    @property
    def progress(self) -> tuple[int, int]:
        """The number of computed points, and the number that is needed if the level that is being computed is the last one."""
        design, rest = self.design, 0
        for climb in self.going:
            steps = design.chain_length - len(climb.margins)
            rest += steps * design.chains if climb.levels else design.level_count
        return self.computed, self.computed + rest

    def next_points(self) -> Points:
        """The points of the next step of all repeats; none at the end."""
        design, going = self.design, self.going
        if not going:
            return design.points(0, 0)
        level, step = len(going[0].levels), len(going[0].margins)  # all repeats are at the same step
        numbers = np.concatenate([design.numbers(climb.repeat, level, step) for climb in going])
        return design.points_at_states(np.concatenate([climb.candidates(design) for climb in going]), numbers, level)

    def followed_by(self, rows: pa.Table) -> Self:
        """This history with one more step, whose points are `next_points`."""
        points = self.next_points()
        margins, unknown = margins_of(self.config, self.design, points, rows)
        climbs, first = list(self.climbs), 0
        for climb in self.going:
            candidates = climb.candidates(self.design)
            own = slice(first, first + len(candidates))
            climbs[climb.repeat] = climb.followed_by(self.design, candidates, margins[own], unknown[own])
            first += len(candidates)
        return replace(self, climbs=tuple(climbs), computed=self.computed + rows.num_rows)


def margins_of(config: Config, design: SubsetSimulation, points: Points, rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """(n,) how far the rows of `points` are beyond the limit, and a mask of those of which that is unknown.

    A margin is NaN if a row failed or its margin is unknown, -inf if the row has no value because nothing happened.
    """
    good = np.isin(rows.column(STATUS).to_numpy(zero_copy_only=False).astype(str), [status.sentence for status in RESULTS])
    known = by_name(config.model.observables)

    def of(event: LimitState) -> np.ndarray:
        values = np.asarray(rows.column(event.observable).cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)
        limit = event.limit
        limits = limit if isinstance(limit, float) else points.columns.get(limit, config.fixed.get(limit, default_of(config, limit)))
        margins = (event.margins if design.single else event.part)(values, np.asarray(limits))
        return np.where(np.isnan(values) & known[event.observable].unknown, np.nan, margins)

    found = margin_of(design.event, of)
    return np.where(good, found, np.nan), good & np.isnan(found)


def default_of(config: Config, name: str) -> float:
    """The default of a parameter."""
    value = by_name(config.model.parameters)[name].default
    return value if isinstance(value, int | float) else math.nan


def empty_history(config: Config) -> ClimbingHistory:
    """The history of a study of which no level is computed yet."""
    design = subset_design(config)
    return ClimbingHistory(config, design, tuple(Climb(repeat, design.start(repeat)) for repeat in range(design.repeats)))


def subset_design(config: Config) -> SubsetSimulation:
    """The design of a subset simulation; TypeError for another design."""
    if not isinstance(config.design, SubsetSimulation):
        raise TypeError(f"{config.name} is no subset simulation")
    return config.design
