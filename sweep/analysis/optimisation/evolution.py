"""Searches without derivatives: differential evolution, whose generations are computed as batches.

Source: R. Storn and K. Price, Journal of Global Optimization 11 (1997), 341-359; constraints by J. Lampinen, CEC 2002, as scipy has it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from tribosweep.sweep.analysis.optimisation.evaluation import Evaluator
from tribosweep.sweep.analysis.optimisation.searching import KEPT, MARGIN, Scales

GENERATIONS, MEMBERS = 200, 12  # at most; members of a generation for each variable
POLISH_GENERATIONS, POLISH_MEMBERS = 40, 8
AROUND = 0.08  # part of the ranges: a polish looks so far to each side
SETTLED = 1e-7  # relative spread of a generation that ends the search
FAILED = 1e30
INSIDE = 1e-12  # part of the ranges: scipy's rounding takes a start on the upper bound for one beyond it


def evolve(
    evaluator: Evaluator,
    scales: Scales,
    seed: int,
    around: np.ndarray | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Minimise the first objective under the constraints; the values alone are used.

    Args:
        evaluator: the functions. scales: of the functions. seed: of the random numbers.
        around: (n,) in parts of the ranges, a point whose neighbourhood alone is searched; None for the whole box.
        tell: called with the number of finished generations and their largest number.

    Returns:
        (n,) the best point, in parts of the ranges.
    """
    from scipy.optimize import NonlinearConstraint, differential_evolution

    n, count = len(evaluator.space.names), len(evaluator.optimisation.objectives)
    signs = np.array([each.sign for each in evaluator.functions])
    limits = np.array([each.limit for each in evaluator.optimisation.constraints])
    smooth = np.array([not each.measure.counts for each in evaluator.optimisation.constraints])
    known: dict[bytes, np.ndarray] = {}

    def measures(x: np.ndarray) -> np.ndarray:
        places = np.clip(np.atleast_2d(x.T if x.ndim > 1 else x), 0.0, 1.0)
        new = {key: each for each in places if (key := each.tobytes()) not in known}
        if new:
            found = evaluator.measures(evaluator.space.low + evaluator.space.width * np.stack([*new.values()]))
            known.update(zip(new, found, strict=True))
        return np.array([known[each.tobytes()] for each in places]).reshape(len(places), len(signs))  # of none where no member is feasible

    def goal(x: np.ndarray) -> np.ndarray | float:
        found = signs[0] * measures(x)[:, 0] / scales.objectives[0]
        whole = np.where(np.isfinite(found), found, FAILED)
        return whole if x.ndim > 1 else float(whole[0])

    def excess(x: np.ndarray) -> np.ndarray:
        found = signs[count:] * (measures(x)[:, count:] - limits) / scales.constraints
        found = found + MARGIN * ((found != 0.0) & smooth)
        whole = np.where(np.isfinite(found), found, FAILED).T
        return np.asarray(whole if x.ndim > 1 else whole[:, 0])

    bounds = [(0.0, 1.0)] * n if around is None else [(max(0.0, u - AROUND), min(1.0, u + AROUND)) for u in around]
    start = None if around is None else np.minimum(around, 1.0 - INSIDE)
    most = GENERATIONS if around is None else POLISH_GENERATIONS
    members = MEMBERS if around is None else POLISH_MEMBERS
    done = [0]

    def generation(*_: object, **__: object) -> None:
        done[0] += 1
        if tell is not None:
            tell(done[0], most)

    constraints = (NonlinearConstraint(excess, -np.inf, 0.5 * KEPT),) if len(limits) else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constraints that nothing keeps; the result is looked at instead
        result = differential_evolution(
            goal, bounds, maxiter=most, popsize=members, tol=SETTLED, atol=SETTLED, rng=np.random.default_rng(seed), init="sobol",
            polish=False, vectorized=True, updating="deferred", constraints=constraints, x0=start, callback=generation,
        )  # fmt: skip
    return np.asarray(np.clip(result.x, 0.0, 1.0))
