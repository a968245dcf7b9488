"""The levels of a convergence study: each halves the step (or divides the tolerance by 10) of the points that have not settled.

Level n, n = 0 .. halvings, has one row for every point that has not settled before. A separate table holds the estimates for each point
(`convergence_table`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from tribosweep.kernels.models.schemes import DOUBLE, EXACT
from tribosweep.kernels.models.status import RESULTS, Status
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.design.refinement import Convergence
from tribosweep.sweep.execution.adaptive.refinement import convergence_design, last_levels, level_points
from tribosweep.sweep.execution.adaptive.richardson import agree
from tribosweep.sweep.execution.shard import solve_points
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa

STATUS = "status"
STEPS = "accepted_steps"  # observable of every model
MORE_STEPS = 1.1  # least growth factor of the number of steps of a level that refines the one before


@dataclass(frozen=True, slots=True)
class HalvingHistory:
    """The results of the levels of a convergence study.

    Attributes:
        config: the study. design: its design, with n points.
        values: (levels, n) float64 the observable of every point; NaN if the point failed, was not refined so far, or has no value because
            the event did not happen.
        steps: (levels, n) float64 steps that the scheme took, NaN if the point failed or was not refined so far.
        statuses: (n,) status sentence of the last row of every point.
        last: (n,) the last level that every point may have.
    """

    config: Config
    design: Convergence
    values: np.ndarray
    steps: np.ndarray
    statuses: np.ndarray
    last: np.ndarray

    @property
    def levels(self) -> int:
        """The number of known levels."""
        return len(self.values)

    @property
    def refined(self) -> np.ndarray:
        """(levels, n) mask of the results that tell of the accuracy of the one before: they took more steps, or both are 0.

        While a scheme chooses steps below their bound, a smaller bound hardly changes them; while a bound determines them, neither does a
        smaller tolerance. The agreement of two such results means nothing.
        """
        first = np.zeros((min(1, self.levels), self.design.count), dtype=bool)
        more = (self.steps[1:] >= MORE_STEPS * self.steps[:-1]) | ((self.values[1:] == 0.0) & (self.values[:-1] == 0.0))
        return np.vstack([first, more])

    def settled(self) -> np.ndarray:
        """(n,) mask of the points whose last two results agree; false before three levels, because an order needs three results."""
        before, last = self.values[1:-1], self.values[2:]
        never = np.isnan(before) & np.isnan(last) & np.isfinite(self.steps[1:-1]) & np.isfinite(self.steps[2:])  # twice without the event
        mask: np.ndarray = (never | (agree(before, last, self.design.digits) & self.refined[2:])).any(axis=0)
        return mask

    def unfinished(self) -> np.ndarray:
        """Positions of the points of the next level."""
        return np.flatnonzero(~self.settled() & has_results(self.statuses) & (self.levels <= self.last))

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are read from the rows of a level."""
        return self.design.observable, STEPS, STATUS

    @property
    def progress(self) -> tuple[int, int]:
        """The number of points that are refined no further, and the number of all points."""
        return self.design.count - len(self.unfinished()), self.design.count

    def next_points(self) -> Points:
        """The points of the next level; none when no point is refined further."""
        return level_points(self.config, self.levels, self.unfinished())

    def followed_by(self, rows: pa.Table) -> Self:
        """The history with one more level, whose points are `next_points`."""
        positions = self.unfinished()
        level, said = np.full((2, self.design.count), np.nan), self.statuses.copy()
        level[0, positions], level[1, positions], said[positions] = (rows.column(name).to_numpy() for name in self.reads)
        return replace(self, values=np.vstack([self.values, level[0]]), steps=np.vstack([self.steps, level[1]]), statuses=said)


def has_results(statuses: np.ndarray) -> np.ndarray:
    """Mask of the status sentences of rows with results."""
    return np.isin(statuses.astype(str), [status.sentence for status in RESULTS])


def empty_history(config: Config) -> HalvingHistory:
    """The history of a study of which no level is computed yet."""
    design = convergence_design(config)
    nothing = np.empty((0, design.count))
    well = np.full(design.count, Status.OK.sentence, dtype=object)
    return HalvingHistory(config, design, nothing, nothing, well, last_levels(config))


def solve_exactly(config: Config) -> np.ndarray:
    """(n,) the observable from the scheme `exact`; NaN if that scheme cannot run a point."""
    design = convergence_design(config)
    if EXACT not in config.model.schemes:
        return np.full(design.count, np.nan)
    points = design.points(0, design.count)
    solution = solve_points(replace(config, scheme=EXACT, precision=DOUBLE), replace(points, schemes=None))
    return np.asarray(solution.observables[design.observable])
