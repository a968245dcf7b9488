"""The starts of fits, and the distinct optima where fits end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sweep.analysis.calibration.fitting import CONVERGED, FAILED, Fits
from sweep.analysis.calibration.parameters import Space
from sweep.analysis.calibration.system import System

EDGE = 0.02  # part of the range that random starts keep from either bound
DRAWS = 64  # random points per start, from which those that keep the rules of the model are chosen
SAME = 0.01  # part of a standard deviation: fits whose numbers differ by less are the same optimum


@dataclass(frozen=True, slots=True)
class Optimum:
    """An optimum.

    Attributes:
        lanes: the fits that ended there, the best first. chi2: sum of squared residuals.
        coordinates: (n,) of the best fit. spread: (n,) distance between the fits of this optimum, in parts of the range of bounds.
    """

    lanes: np.ndarray
    chi2: float
    coordinates: np.ndarray
    spread: np.ndarray


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


def optima_of(fits: Fits, system: System) -> list[Optimum]:
    """The distinct optima, the best first; if no fit converged, the best of all fits that have results."""
    usable = fits.outcome == CONVERGED
    if not usable.any():
        usable = (fits.outcome != FAILED) & (np.arange(len(usable)) == np.argmin(fits.chi2))
    left = [int(lane) for lane in np.argsort(fits.chi2, kind="stable") if usable[lane]]
    found = []
    while left:
        apart = np.abs(fits.point.residuals[left] - fits.point.residuals[left[0]]).max(axis=1)
        alike = np.array(left)[apart < SAME]
        coordinates = fits.coordinates[alike]
        found.append(Optimum(alike, float(fits.chi2[alike[0]]), coordinates[0], np.ptp(coordinates, axis=0) / system.space.width))
        left = [lane for lane in left if lane not in alike]
    return found
