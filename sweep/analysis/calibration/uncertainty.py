"""Uncertainty of parameters: covariance, intervals, directions that the data do not determine, and profile likelihoods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tribosweep.sweep.analysis.calibration.fitting import OPTIMAL, STUCK, fit
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.study.free import Free

UNDETERMINED = 1e-7  # part of the largest singular value: the data do not see directions below it (derivatives are good to 1e-9)
WIDE = 0.5  # part of the range: a larger standard deviation adds nothing to the bounds
MEMBER = 0.05  # part of the largest component: parameters above it belong to a direction
TOGETHER = 0.95  # correlation: above it, two parameters are reported to move together
PROFILE_POINTS = 17
PROFILE_REACH = 3.5  # standard deviations
MOST_RISE = 0.7  # largest difference of the root of the gain across an interval end; above it the profile is refined
MOST_ROUNDS = 5
LEAST_FREEDOM = 1e-6  # degrees of freedom: with fewer nothing is left to estimate the scatter


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction in parameter space that the data do not determine.

    Attributes:
        parts: (n,) components in parts of the ranges between the bounds, of unit length. seen: True if the data see it, but too weakly.
    """

    parts: np.ndarray
    seen: bool

    def members(self, space: Space) -> list[Free]:
        """The parameters that change, the largest change first."""
        order = np.argsort(-np.abs(self.parts))
        return [space.frees[place] for place in order if abs(self.parts[place]) > MEMBER * np.abs(self.parts).max()]

    def sentence(self, space: Space) -> str:
        """A sentence that describes the direction."""
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
    """The change of a parameter for a change of its coordinate, as text."""
    return f"{free.name} x {math.exp(by):.4g}" if free.logarithmic else f"{free.name} {by:+.4g}{free.quantity.unit_suffix}"


@dataclass(frozen=True, slots=True)
class FitUncertainty:
    """Uncertainties at an optimum, for (n,) parameters.

    Attributes:
        sd: standard deviations of the coordinates; NaN for a parameter that the data do not determine or that lies on a bound.
        low, high: ends of the intervals, as parameter values.
        correlation: (n, n), NaN likewise. bound: mask of the parameters on a bound, which count as known there.
        undetermined: the directions that the data do not determine.
        scale: factor on all standard deviations; NaN where nothing is left to estimate it. factor: half width of an interval in
            standard deviations. freedom: number of data less number of free parameters, or less what the data determine beside priors.
        unseen: mask of the parameters that belong to an undetermined direction, which end wherever their fit left them.
    """

    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray
    correlation: np.ndarray
    bound: np.ndarray
    undetermined: list[Direction]
    scale: float
    factor: float
    freedom: float
    unseen: np.ndarray

    @property
    def identifiable(self) -> np.ndarray:
        """Mask of the parameters that have an interval."""
        return np.asarray(np.isfinite(self.sd))


def freedom_of(space: Space, coordinates: np.ndarray, jacobian: np.ndarray, data: int) -> float:
    """The number of data less the number of parameters that they determine beside the priors, which is the trace of H^-1 H_data.

    H = J^T J is of the data and of the priors (the rows of `jacobian` from `data` on). Without priors all parameters inside their bounds
    count. Source: D. J. C. MacKay, Neural Computation 4 (1992), 415-447, equation 4.8.
    """
    inner = ~space.on_bound(coordinates)
    if len(jacobian) == data:
        return float(data - np.count_nonzero(inner))
    scaled = jacobian[:, inner] * space.width[inner]
    left, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    return float(data - np.sum(left[:data][:, sizes > UNDETERMINED * sizes.max()] ** 2)) if sizes.size else float(data)


def fit_uncertainty(
    space: Space, coordinates: np.ndarray, jacobian: np.ndarray, chi2: float, known: bool, level: float, data: int | None = None
) -> FitUncertainty:
    """Linear uncertainties at one optimum.

    The Jacobian in parts of the range between bounds is U S V^T, and the standard deviation along V_k is 1 / S_k. If that is too large,
    the parameters in V_k are not determined. The others get the covariance of the remaining directions, which holds if V_k lacks them.

    Args:
        space: the parameters. coordinates: (n,). jacobian: (m, n) of residuals over their standard deviations by coordinates.
        chi2: sum of squared residuals. known: whether standard deviations are absolute. level: level of the intervals.
        data: how many of the rows are of data; the others are priors, and where there are some, the standard deviations of the data
            already have the factor that was estimated. All rows if None.
    """
    m, n = jacobian.shape
    bound = space.on_bound(coordinates)
    inner = np.flatnonzero(~bound)
    priors = data is not None and data < m
    freedom = freedom_of(space, coordinates, jacobian, m if data is None or known else data)
    left = freedom > LEAST_FREEDOM
    scale = math.nan if not known and not left else 1.0 if known or priors else math.sqrt(chi2 / freedom)
    factor = float(stats.norm.ppf(0.5 + 0.5 * level) if known else stats.t.ppf(0.5 + 0.5 * level, max(freedom, 1.0)))
    correlation, sd, unseen = np.full((n, n), math.nan), np.full(n, math.nan), np.zeros(n, dtype=bool)
    undetermined: list[Direction] = []
    if len(inner):
        _, sizes, right = np.linalg.svd(jacobian[:, inner] * space.width[inner], full_matrices=True)
        sizes = np.append(sizes, np.zeros(len(inner) - len(sizes)))
        seen = sizes > UNDETERMINED * sizes.max()
        told = seen & (sizes * WIDE > np.nan_to_num(scale))  # no scatter: what the data see has a value, but no interval
        for place in np.flatnonzero(~told):
            parts = np.zeros(n)
            parts[inner] = right[place]
            undetermined.append(Direction(parts, bool(seen[place])))
        shares = np.sum(right[~told] ** 2, axis=0)
        covariance = (right[told].T / sizes[told] ** 2) @ right[told] * np.multiply.outer(space.width[inner], space.width[inner]) * scale**2
        spread = np.sqrt(np.diag(covariance))
        unseen[inner] = shares >= MEMBER**2
        clear = ~unseen[inner] & (spread > 0.0)
        with np.errstate(all="ignore"):
            within = covariance / np.multiply.outer(spread, spread)
        within[~clear] = within[:, ~clear] = math.nan
        correlation[np.ix_(inner, inner)] = within
        sd[inner] = np.where(clear, spread, math.nan)
    ends = (space.values(coordinates + side * factor * np.nan_to_num(sd)) for side in (-1.0, 1.0))
    low, high = (np.where(np.isfinite(sd), end, math.nan) for end in ends)
    return FitUncertainty(sd, low, high, correlation, bound, undetermined, scale, factor, freedom, unseen)


def pairs_together(space: Space, known: FitUncertainty) -> list[tuple[str, str, float]]:
    """Strongly correlated pairs of parameters that the data determine: (name, name, correlation), the strongest first."""
    n = len(space.names)
    pairs = [(space.names[i], space.names[j], float(known.correlation[i, j])) for i in range(n) for j in range(i)]
    return sorted((pair for pair in pairs if abs(pair[2]) > TOGETHER), key=lambda pair: -abs(pair[2]))


@dataclass(frozen=True, slots=True)
class Profile:
    """The least chi^2 as a function of one held parameter, with the others free.

    Attributes:
        name: the parameter. values: (k,) held values, ascending. gains: (k,) chi^2 less that of the optimum, over scale^2.
        low, high: ends of the interval; NaN if the data give no end within the bounds.
        limit: value of `gains` at the ends.
    """

    name: str
    values: np.ndarray
    gains: np.ndarray
    low: float
    high: float
    limit: float


def profiles(system: System, coordinates: np.ndarray, chi2: float, known: FitUncertainty, names: Sequence[str]) -> list[Profile]:
    """Compute the profile likelihoods of some parameters, evenly over some standard deviations.

    If an end of an interval lies outside, or between two distant points, a further pass goes out to the bound, or between these points.
    """
    space = system.space
    limit = known.factor**2
    found = []
    for name in names:
        place = space.names.index(name)
        edges = space.low[place], space.low[place] + space.width[place]
        optimum = float(coordinates[place])
        reach = PROFILE_REACH / 1.96 * known.factor * known.sd[place] if known.identifiable[place] else space.width[place]
        u, gains = np.array([optimum]), np.zeros(1)
        wanted = [(max(edges[0], optimum - reach), min(edges[1], optimum + reach))]
        for _ in range(MOST_ROUNDS):
            for low, high in wanted:
                more, least = held_at(system, coordinates, place, low, high)
                u, first = np.unique(np.append(u, more), return_index=True)
                gains = np.append(gains, (least - chi2) / known.scale**2)[first]
            ends = [end(u, gains, optimum, side, limit) for side in (-1.0, 1.0)]
            wanted = [each.between for each in ends if each.rise > MOST_RISE]
            wanted += [(edge, reached) for each, edge, reached in zip(ends, edges, (u[0], u[-1]), strict=True)
                       if math.isnan(each.at) and edge != reached]  # fmt: skip
            wanted = [(min(pair), max(pair)) for pair in wanted]
            if not wanted:
                break
        low, high = (math.nan if math.isnan(each.at) else value_of(space, place, each.at) for each in ends)
        found.append(Profile(name, np.array([value_of(space, place, each) for each in u]), gains, low, high, limit))
    return found


def value_of(space: Space, place: int, coordinate: float) -> float:
    """The parameter value of one coordinate."""
    return math.exp(coordinate) if space.logarithmic[place] else float(coordinate)


def held_at(system: System, coordinates: np.ndarray, place: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """The least chi^2 with one coordinate held, evenly from `low` to `high`: (points,) coordinates and chi^2, NaN if a fit failed."""
    starts = np.tile(coordinates, (PROFILE_POINTS, 1))
    starts[:, place] = np.linspace(low, high, PROFILE_POINTS)
    held = np.zeros_like(starts, dtype=bool)
    held[:, place] = True
    fits = fit(system, starts, held=held)
    return starts[:, place], np.where(np.isin(fits.outcome, (*OPTIMAL, STUCK)), fits.chi2, math.nan)


@dataclass(frozen=True, slots=True)
class End:
    """An end of the interval of a profile.

    Attributes:
        at: its coordinate, or NaN. between: the points on both sides of it. rise: difference of the root of the gain between these.
    """

    at: float
    between: tuple[float, float] = (math.nan, math.nan)
    rise: float = 0.0


def end(u: np.ndarray, gains: np.ndarray, optimum: float, side: float, limit: float) -> End:
    """Interpolate where the root of the gain, which is nearly straight, reaches the root of the limit on one side."""
    chosen = (side * (u - optimum) > 0.0) & np.isfinite(gains)
    order = np.argsort(np.abs(u[chosen] - optimum))
    places = np.append(optimum, u[chosen][order])
    roots = np.append(0.0, np.sqrt(np.maximum(gains[chosen][order], 0.0)))
    beyond = np.flatnonzero(roots >= math.sqrt(limit))
    if not beyond.size:
        return End(math.nan)
    after = int(beyond[0])
    rise = float(roots[after] - roots[after - 1])
    part = (math.sqrt(limit) - roots[after - 1]) / rise
    return End(float(places[after - 1] + part * (places[after] - places[after - 1])), (places[after - 1], places[after]), rise)
