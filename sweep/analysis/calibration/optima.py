"""The starts of fits, and the distinct optima where fits end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tribosweep.sweep.analysis.calibration.fitting import CONVERGED, FAILED, KINK, LEAST_GAIN, STUCK, Fits, FitStep, fit
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.calibration.system import FitPoint, System

EDGE = 0.02  # part of the range that random starts keep from either bound
DRAWS = 64  # random points per start, from which those that keep the rules of the model are chosen
SAME = 0.01  # part of a standard deviation: fits whose numbers differ by less are the same optimum
REACHES = (0.1, 0.3, 1.0, 3.0)  # standard deviations from the best fit at which further fits begin
AROUND = 3  # fits at each of these distances, and as many for each parameter
INSIDE = 1e-3  # part of the range that they keep from either bound, where an angle has no derivative
MOST_ROUNDS = 12  # of further fits, each around the best of the one before
QUIET = 2  # rounds without a better fit that end the search


@dataclass(frozen=True, slots=True)
class Optimum:
    """A point where fits ended.

    Attributes:
        lanes: the fits that ended there, the best first. chi2: sum of squared residuals.
        coordinates: (n,) of the best fit. spread: (n,) distance between the fits of this optimum, in parts of the range of bounds.
        outcome: CONVERGED if one of them converged, else that of the best.
    """

    lanes: np.ndarray
    chi2: float
    coordinates: np.ndarray
    spread: np.ndarray
    outcome: str


class Searched(Protocol):
    """What is searched from several starts."""

    space: Space

    def admissible(self, values: np.ndarray) -> np.ndarray:
        """(lanes,) whether parameters (lanes, n) keep the bounds and the rules of the model."""


def starts_of(system: Searched, count: int, seed: int) -> np.ndarray:
    """(count, n) coordinates: the start of the study, then a Latin hypercube between the bounds.

    A point that breaks a rule of the model is replaced. If there are too few valid points, points are moved towards the first start.
    """
    from scipy.stats import qmc

    space = system.space
    first = space.coordinates(space.starts)
    if count == 1:
        return first[np.newaxis]
    cube = qmc.LatinHypercube(len(first), rng=np.random.default_rng(seed))
    others = space.low + space.width * (EDGE + (1.0 - 2.0 * EDGE) * cube.random(count - 1))
    bad = ~system.admissible(space.values(others))
    if bad.any():
        more = space.low + space.width * (EDGE + (1.0 - 2.0 * EDGE) * cube.random(DRAWS * count))
        more = more[system.admissible(space.values(more))][: np.count_nonzero(bad)]
        others[np.flatnonzero(bad)[: len(more)]] = more
    for _ in range(60):
        bad = ~system.admissible(space.values(others))
        if not bad.any():
            break
        others[bad] = 0.5 * (others[bad] + first)
    return np.concatenate([first[np.newaxis], others])


def improved(system: System, fits: Fits, seed: int) -> Fits:
    """The fits, the best of which was searched around for a better one.

    A misfit with kinks or jumps has a minimum on each smooth piece, and a fit ends on the first that it meets. Fits therefore begin around
    the best point, at some standard deviations of the linear estimate, until they find nothing better. A fit that was stuck there is
    then at a kink (KINK): no smaller loss is known near it.

    Args:
        system: the residuals. fits: from all starts; one at least has results. seed: of the points.
    """
    rng = np.random.default_rng([seed, 1])
    best = int(np.argmin(fits.chi2))
    coordinates, outcome, steps = fits.coordinates.copy(), fits.outcome.copy(), fits.steps.copy()
    point = FitPoint(*(each.copy() for each in (fits.point.residuals, fits.point.jacobian, fits.point.codes, fits.point.predicted)))
    path, chi2, quiet = list(fits.path), float(fits.chi2[best]), 0
    for _ in range(MOST_ROUNDS):
        others = fit(system, around(system, coordinates[best], point.jacobian[best], chi2, rng))
        steps[best] += others.steps.sum()
        lane = int(np.argmin(others.chi2))
        if others.chi2[lane] < chi2 - 1e-3 * LEAST_GAIN * max(1.0, chi2):
            quiet = 0 if others.chi2[lane] < chi2 - LEAST_GAIN * max(1.0, chi2) else quiet + 1
            chi2, coordinates[best], outcome[best] = float(others.chi2[lane]), others.coordinates[lane], others.outcome[lane]
            for name in ("residuals", "jacobian", "codes", "predicted"):
                getattr(point, name)[best] = getattr(others.point, name)[lane]
            path.append(FitStep(np.array([best]), coordinates[[best]], point.codes[[best]]))
        else:
            quiet += 1
        if quiet == QUIET:
            break
    if quiet == QUIET and outcome[best] == STUCK:
        outcome[best] = KINK
    return Fits(coordinates, point, outcome, steps, path)


def around(system: System, centre: np.ndarray, jacobian: np.ndarray, chi2: float, rng: np.random.Generator) -> np.ndarray:
    """(lanes, n) coordinates around a point (n,), scattered as the linear estimate is, by no more than half the range."""
    space, (m, n) = system.space, jacobian.shape
    _, sizes, right = np.linalg.svd(jacobian * space.width, full_matrices=True)
    sizes = np.append(sizes, np.zeros(n - len(sizes)))
    scatter = np.sqrt(chi2 / max(1, m - n))
    count = AROUND * (1 + n)
    directions = rng.standard_normal((len(REACHES), count, n))
    reach = np.minimum(np.divide(scatter, sizes, out=np.full(n, np.inf), where=sizes > 0.0) * np.array(REACHES)[:, np.newaxis], 0.5)
    moved = centre + space.width * ((directions * reach[:, np.newaxis]) @ right).reshape(-1, n)
    found = np.clip(moved, space.low + INSIDE * space.width, space.low + (1.0 - INSIDE) * space.width)
    good = system.admissible(space.values(found))
    return np.where(good[:, np.newaxis], found, centre)


def optima_of(fits: Fits, system: System) -> list[Optimum]:
    """The distinct points where fits ended, the best first, whether they converged or not; fits without results are left out."""
    left = [int(lane) for lane in np.argsort(fits.chi2, kind="stable") if fits.outcome[lane] != FAILED]
    found = []
    while left:
        apart = np.abs(fits.point.residuals[left] - fits.point.residuals[left[0]]).max(axis=1)
        alike = np.array(left)[apart < SAME]
        coordinates = fits.coordinates[alike]
        spread = np.ptp(coordinates, axis=0) / system.space.width
        settled = [str(word) for word in fits.outcome[alike]]
        outcome = CONVERGED if CONVERGED in settled else settled[0]
        found.append(Optimum(alike, float(fits.chi2[alike[0]]), coordinates[0], spread, outcome))
        left = [lane for lane in left if lane not in alike]
    return found
