"""Where a branch goes behind a grazing: through it, or back.

At a grazing the map changes from one smooth map to another, whose derivative may be another one, or infinite (Nordmark's square root). The
motions with the other events then begin at the grazing in a direction of their own, which may lie at the same side of the parameter as the
branch that came.

Source: A. B. Nordmark, Non-periodic motion caused by grazing incidence in an impact oscillator, Journal of Sound and Vibration 145 (1991);
M. di Bernardo et al., Piecewise-smooth Dynamical Systems (2008), chapters 3 and 7.
"""

from __future__ import annotations

import itertools

import numpy as np

from tribosweep.kernels.branches.problem import Plane, Points, Problem

LOCATED = 1e-13  # width in u of the bracket around a grazing
_AHEAD = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # distances in u at which the map with the other events is looked at
_SIZES = (1e-6, 1e-7, 1e-5)  # distances in u from the grazing at which motions are looked for
_NEAR = 3.0  # how much nearer or farther they may be


def differ(points: Points, others: Points) -> np.ndarray:
    """Whether motions consist of other events (N,)."""
    unlike: np.ndarray = np.any(points.signature != others.signature, axis=1)
    return unlike


def behind(problem: Problem, last: Points) -> tuple[Points, Points, np.ndarray, np.ndarray]:
    """The grazings at which branches have come to a halt, and the first points behind them.

    Args:
        last: (N,) the last points of the branches before it, with tangents that lead there.

    Returns:
        The last points with the events before the grazings; the points behind, with tangents that lead away; whether each of these was
        found; and whether there is a grazing at all: events in front of the last point that its motion does not have.
    """
    here, beyond, changes = _located(problem, last)
    found, good = here, np.zeros(len(here), dtype=bool)
    directions = _kernels(beyond)
    for size, sign in itertools.product(_SIZES, (1.0, -1.0)):
        todo = np.flatnonzero(changes & ~good)
        if not todo.size:
            break
        at, away = here.take(todo), sign * directions[todo]
        points, new = _beside(problem, at, away, size)
        new[new] = _beside(problem, at.take(new), away[new], 0.1 * size)[1]  # they begin there, and do not only pass by
        found = found.put(todo[new], points.take(new))
        good[todo[new]] = True
    return here, found, good, changes


def _beside(problem: Problem, at: Points, away: np.ndarray, size: float) -> tuple[Points, np.ndarray]:
    """Points with other events at a distance from `at`, with tangents that lead away from there, and whether each was found."""
    guess = at.u + size * away
    if not len(at):
        return at, np.zeros(0, dtype=bool)
    points, converged, _ = problem.correct(at.places, guess, Plane.through(guess, away))
    apart = np.linalg.norm(points.u - at.u, axis=1)
    near = (apart > size / _NEAR) & (apart < size * _NEAR) & np.isfinite(points.tangent).all(axis=1)
    return points.oriented(points.u - at.u), converged & near & differ(points, at)


def _located(problem: Problem, last: Points) -> tuple[Points, Points, np.ndarray]:
    """The last points before grazings, images (not fixed points) right behind them, and whether events change there."""
    beyond, changes = last, np.zeros(len(last), dtype=bool)
    low, high = np.zeros(len(last)), np.zeros(len(last))

    def images(places: np.ndarray, distance: np.ndarray) -> tuple[Points, np.ndarray]:
        at = last.take(places)
        points, _, _, good = problem.images(at.places, at.u + distance[:, None] * at.tangent)
        return points, good & differ(points, at)

    for distance in _AHEAD:
        todo = np.flatnonzero(~changes)
        if not todo.size:
            break
        points, new = images(todo, np.full(todo.size, distance))
        beyond = beyond.put(todo[new], points.take(new))
        low[todo[~new]] = high[todo] = distance
        changes[todo[new]] = True
    todo = np.flatnonzero(changes)
    while todo.size:
        middle = 0.5 * (low[todo] + high[todo])
        points, new = images(todo, middle)
        beyond = beyond.put(todo[new], points.take(new))
        low[todo[~new]], high[todo[new]] = middle[~new], middle[new]
        todo = todo[high[todo] - low[todo] > LOCATED]
    places = np.flatnonzero(changes & (low > 0.0))
    here = last
    if places.size:
        at = last.take(places)
        guess = at.u + low[places, None] * at.tangent
        points, good, _ = problem.correct(at.places, guess, Plane.through(guess, at.tangent))
        good &= ~differ(points, at) & np.isfinite(points.tangent).all(axis=1)
        here = last.put(places[good], points.take(good))
    return here, beyond, changes


def _kernels(points: Points) -> np.ndarray:
    """Unit vectors (N, n + d) along which G does not change to first order."""
    matrix = np.concatenate([points.jacobian - np.eye(points.jacobian.shape[1]), points.slope], axis=2)
    usable = np.isfinite(matrix).all(axis=(1, 2))
    vectors: np.ndarray = np.linalg.svd(np.where(usable[:, None, None], matrix, 0.0))[2][:, -1]
    return vectors
