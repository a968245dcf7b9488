"""How well parameters are known: covariance, intervals, what the data cannot tell apart, and profile likelihoods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sweep.calibration.fitting import CONVERGED, fit
from sweep.calibration.parameters import Free, Space
from sweep.calibration.system import System

BLIND = 1e-7  # directions whose singular value is below this part of the largest are not seen at all: derivatives are good to 1e-9
WIDE = 0.5  # a standard deviation of this part of the range between the bounds says no more than the bounds do
MEMBER = 0.05  # part of the largest component from which on a parameter belongs to a direction
TOGETHER = 0.95  # correlation from which on two parameters are said to move together
PROFILE_POINTS = 17
PROFILE_REACH = 3.5  # standard deviations


@dataclass(frozen=True, slots=True)
class Direction:
    """A way to change parameters that the data do not see.

    Attributes:
        parts: (n,) of the ranges between the bounds, of unit length. seen: whether the data see it at all, though too little.
    """

    parts: np.ndarray
    seen: bool

    def members(self, space: Space) -> list[Free]:
        """The parameters that change, the most first."""
        order = np.argsort(-np.abs(self.parts))
        return [space.frees[place] for place in order if abs(self.parts[place]) > MEMBER * np.abs(self.parts).max()]

    def sentence(self, space: Space) -> str:
        """What cannot be told, in words."""
        members = self.members(space)
        how_much = "hardly anything" if self.seen else "nothing"
        if len(members) == 1:
            return f"{members[0].name}: the data say {how_much} of it within its bounds"
        names = " and ".join([", ".join(free.name for free in members[:-1]), members[-1].name])
        largest = self.parts[space.names.index(members[0].name)]
        moves = [moved(free, 0.1 * self.parts[place] / largest * space.width[place])
                 for free in members for place in [space.names.index(free.name)]]  # fmt: skip
        alike = "almost as well" if self.seen else "as well"
        return f"{names} move together: {', '.join(moves)} fits {alike}"


def moved(free: Free, by: float) -> str:
    """A parameter whose coordinate is changed, in words."""
    return f"{free.name} x {math.exp(by):.4g}" if free.logarithmic else f"{free.name} {by:+.4g}{free.quantity.unit_suffix}"


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the data tell at an optimum, (n,) parameters.

    Attributes:
        sd: standard deviations of the coordinates; NaN where the data do not tell a parameter, or it lies on a bound.
        low, high: ends of the intervals, values.
        correlation: (n, n), NaN likewise. bound: mask of the parameters on a bound, which count as known there.
        blind: the directions that are not told.
        scale: what standard deviations of the data are multiplied by. factor: half an interval in standard deviations.
        freedom: numbers less free parameters.
    """

    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray
    correlation: np.ndarray
    bound: np.ndarray
    blind: list[Direction]
    scale: float
    factor: float
    freedom: int

    @property
    def told(self) -> np.ndarray:
        """Mask of the parameters that have an interval."""
        return np.asarray(np.isfinite(self.sd))


def knowledge(space: Space, coordinates: np.ndarray, jacobian: np.ndarray, chi2: float, known: bool, level: float) -> Knowledge:
    """Linear uncertainties at one optimum.

    In parts of the range between bounds, the Jacobian is U S V^T: along V_k the standard deviation is 1 / S_k. Where that says nothing, the
    parameters of V_k are not told. The others have the covariance of what is left, which is theirs as far as they have no part in V_k.

    Args:
        space: the parameters. coordinates: (n,). jacobian: (m, n) of residuals over their standard deviations by coordinates.
        chi2: sum of squared residuals. known: whether standard deviations are what they say. level: of the intervals.
    """
    m, n = jacobian.shape
    bound = space.on_bound(coordinates)
    inner = np.flatnonzero(~bound)
    freedom = m - len(inner)
    scale = 1.0 if known else math.sqrt(chi2 / freedom) if freedom > 0 else math.nan
    factor = float(stats.norm.ppf(0.5 + 0.5 * level) if known else stats.t.ppf(0.5 + 0.5 * level, max(freedom, 1)))
    correlation, sd = np.full((n, n), math.nan), np.full(n, math.nan)
    blind: list[Direction] = []
    if len(inner):
        _, sizes, right = np.linalg.svd(jacobian[:, inner] * space.width[inner], full_matrices=True)
        sizes = np.append(sizes, np.zeros(len(inner) - len(sizes)))
        seen = sizes > BLIND * sizes.max()
        told = seen & (sizes * WIDE > scale)
        for place in np.flatnonzero(~told):
            parts = np.zeros(n)
            parts[inner] = right[place]
            blind.append(Direction(parts, bool(seen[place])))
        shares = np.sum(right[~told] ** 2, axis=0)
        covariance = (right[told].T / sizes[told] ** 2) @ right[told] * np.multiply.outer(space.width[inner], space.width[inner]) * scale**2
        spread = np.sqrt(np.diag(covariance))
        clear = (shares < MEMBER**2) & (spread > 0.0)
        with np.errstate(all="ignore"):
            within = covariance / np.multiply.outer(spread, spread)
        within[~clear] = within[:, ~clear] = math.nan
        correlation[np.ix_(inner, inner)] = within
        sd[inner] = np.where(clear, spread, math.nan)
    low, high = (space.values(coordinates + side * factor * np.nan_to_num(sd)) for side in (-1.0, 1.0))
    told_ = np.isfinite(sd)
    return Knowledge(sd, np.where(told_, low, math.nan), np.where(told_, high, math.nan), correlation, bound, blind, scale, factor, freedom)


def pairs_together(space: Space, known: Knowledge) -> list[tuple[str, str, float]]:
    """Pairs of parameters that the data tell, but hardly one without the other: (name, name, correlation), the closest first."""
    n = len(space.names)
    pairs = [(space.names[i], space.names[j], float(known.correlation[i, j])) for i in range(n) for j in range(i)]
    return sorted((pair for pair in pairs if abs(pair[2]) > TOGETHER), key=lambda pair: -abs(pair[2]))


@dataclass(frozen=True, slots=True)
class Profile:
    """The least chi^2 over one parameter that is held, the others being free.

    Attributes:
        name: the parameter. values: (k,) where it is held, ascending. gains: (k,) chi^2 less that of the optimum, over scale^2.
        low, high: ends of the interval; NaN where the data set none within the bounds.
        limit: of `gains` at its ends.
    """

    name: str
    values: np.ndarray
    gains: np.ndarray
    low: float
    high: float
    limit: float


def profiles(system: System, coordinates: np.ndarray, chi2: float, known: Knowledge, names: Sequence[str]) -> list[Profile]:
    """Profile likelihoods of some parameters, all of their fits at once; where an end is not reached, once more out to the bounds."""
    space = system.space
    places = [space.names.index(name) for name in names]
    reach = np.where(known.told, PROFILE_REACH / 1.96 * known.factor * np.nan_to_num(known.sd), space.width)
    spans = {place: (max(space.low[place], coordinates[place] - reach[place]),
                     min(space.low[place] + space.width[place], coordinates[place] + reach[place])) for place in places}  # fmt: skip
    found = {place: held_at(system, coordinates, place, *spans[place]) for place in places}
    limit = known.factor**2
    ready = []
    for place, name in zip(places, names, strict=True):
        u, least = found[place]
        gains = (least - chi2) / known.scale**2
        ends = [end(u, gains, coordinates[place], side, limit) for side in (-1.0, 1.0)]
        edges = (space.low[place], space.low[place] + space.width[place])
        wider = [edge if math.isnan(one) else span for one, edge, span in zip(ends, edges, spans[place], strict=True)]
        if tuple(wider) != spans[place]:
            more, least = held_at(system, coordinates, place, *wider)
            u, gains = np.append(u, more), np.append(gains, (least - chi2) / known.scale**2)
            order = np.argsort(u)
            u, gains = u[order], gains[order]
            ends = [end(u, gains, coordinates[place], side, limit) for side in (-1.0, 1.0)]
        # parameter by parameter: the scale of the others must not matter
        low, high = (math.nan if math.isnan(one) else float(value_of(space, place, one)) for one in ends)
        ready.append(Profile(name, np.array([value_of(space, place, each) for each in u]), gains, low, high, limit))
    return ready


def value_of(space: Space, place: int, coordinate: float) -> float:
    """The value of one coordinate."""
    return math.exp(coordinate) if space.logarithmic[place] else float(coordinate)


def held_at(system: System, coordinates: np.ndarray, place: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """The least chi^2 with one coordinate held, evenly from `low` to `high`: (points,) coordinates and chi^2, NaN where a fit failed."""
    starts = np.tile(coordinates, (PROFILE_POINTS, 1))
    starts[:, place] = np.linspace(low, high, PROFILE_POINTS)
    held = np.zeros_like(starts, dtype=bool)
    held[:, place] = True
    fits = fit(system, starts, held=held)
    return starts[:, place], np.where(fits.outcome == CONVERGED, fits.chi2, math.nan)


def end(u: np.ndarray, gains: np.ndarray, optimum: float, side: float, limit: float) -> float:
    """Where the root of the gain, which is nearly straight, passes that of the limit on one side; NaN where it does not."""
    chosen = (side * (u - optimum) > 0.0) & np.isfinite(gains)
    order = np.argsort(np.abs(u[chosen] - optimum))
    places = np.append(optimum, u[chosen][order])
    roots = np.append(0.0, np.sqrt(np.maximum(gains[chosen][order], 0.0)))
    beyond = np.flatnonzero(roots >= math.sqrt(limit))
    if not beyond.size:
        return math.nan
    last = int(beyond[0])
    part = (math.sqrt(limit) - roots[last - 1]) / (roots[last] - roots[last - 1])
    return float(places[last - 1] + part * (places[last] - places[last - 1]))
