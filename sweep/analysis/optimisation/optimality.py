"""What an optimum is: its multipliers, the residual of its optimality conditions, and which searches ended there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.analysis.optimisation.searching import Candidate, Scales, Task, rows_of

ACTIVE = 1e-4  # part of a limit's scale: a constraint that is nearer to its limit is active
AT_BOUND = 1e-7  # part of a range
CONVERGED = 1e-3  # residual of the optimality conditions: the objective changes by less of its scale over the whole range, to first order
SAME_PLACE, SAME_VALUE = 1e-3, 1e-5  # parts of range and scale: ends of searches that are nearer are one optimum


@dataclass(frozen=True, slots=True)
class Conditions:
    """Optimality conditions (Karush, Kuhn, Tucker) at a point, from its first derivatives.

    Attributes:
        residual: length of the gradient of the Lagrangian, in scales of the objective over the ranges of the variables.
        multipliers: for each constraint, and last for the cap of a front if there is one: how much the scaled objective falls for each
            scaled limit that is relaxed by its scale; 0 if it is not active.
        lower, upper: (n,) the same for the bounds of the variables.
    """

    residual: float
    multipliers: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def conditions(candidate: Candidate, task: Task, scales: Scales) -> Conditions:
    """The multipliers, by nonnegative least squares of the gradient of the Lagrangian over active constraints and bounds."""
    from scipy.optimize import nnls

    f, df, g, dg = rows_of(task, candidate.functions, scales)
    n = len(candidate.place)
    top, tight = np.flatnonzero(f >= f.max() - ACTIVE), np.flatnonzero(g >= -ACTIVE)
    low, high = np.flatnonzero(candidate.place < AT_BOUND), np.flatnonzero(candidate.place > 1.0 - AT_BOUND)
    unit = np.eye(n)
    columns = np.concatenate([dg[tight], -unit[low], unit[high]]).T
    if len(top) == 1:
        solution, residual = nnls(columns, -df[top[0]]) if columns.size else (np.zeros(0), float(np.linalg.norm(df[top[0]])))
    else:  # the weights of rows that share the worst case add up to 1
        heavy = 1e3 * max(1.0, float(np.abs(df).max()))
        system = np.block([[df[top].T, columns], [np.full((1, len(top)), heavy), np.zeros((1, columns.shape[1]))]])
        solution, residual = nnls(system, np.append(np.zeros(n), heavy))
        solution = solution[len(top) :]
    owners = np.concatenate([np.full(len(each), place) for place, (each, _) in enumerate(candidate.functions.constraints)] or [np.zeros(0)])
    count = len(candidate.functions.constraints)
    if task.cap is not None:
        owners = np.append(owners, np.full(len(candidate.functions.objectives[1][0]), count))
        count += 1
    multipliers = np.bincount(owners[tight].astype(int), solution[: len(tight)], minlength=count) if count else np.zeros(0)
    lower, upper = np.zeros(n), np.zeros(n)
    lower[low], upper[high] = solution[len(tight) : len(tight) + len(low)], solution[len(tight) + len(low) :]
    return Conditions(float(residual), multipliers, lower, upper)


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best point of searches that ended at the same place.

    Attributes:
        candidate: the point. conditions: there; None where there is no derivative. searches: their numbers.
    """

    candidate: Candidate
    conditions: Conditions | None
    searches: tuple[int, ...]

    @property
    def converged(self) -> bool:
        """Whether it keeps the constraints and the optimality conditions hold."""
        return self.candidate.kept and self.conditions is not None and self.conditions.residual <= CONVERGED


def ends_of(candidates: Sequence[Candidate]) -> dict[int, Candidate]:
    """Search -> the best point that it computed."""
    found: dict[int, Candidate] = {}
    for candidate in candidates:
        if np.isfinite(candidate.goal) and (candidate.search not in found or candidate.rank < found[candidate.search].rank):
            found[candidate.search] = candidate
    return found


def same(one: Candidate, other: Candidate) -> bool:
    """Whether two ends of searches are one optimum."""
    near = float(np.abs(one.place - other.place).max()) < SAME_PLACE and abs(one.goal - other.goal) < SAME_VALUE
    return near and one.kept == other.kept


def optima_of(candidates: Sequence[Candidate], scales: Scales) -> list[Optimum]:
    """The distinct ends of searches that minimised the first objective, the best first."""
    left = sorted(ends_of(candidates).values(), key=lambda candidate: (candidate.rank, candidate.search))
    found = []
    while left:
        best = left[0]
        alike = [each for each in left if same(each, best)]
        task = Task(best.place)
        found.append(Optimum(best, conditions(best, task, scales), tuple(each.search for each in alike)))
        taken = {each.search for each in alike}
        left = [each for each in left if each.search not in taken]
    return found
