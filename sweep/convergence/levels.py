"""A convergence study: every point is computed with half the step (a tenth of the tolerance) again and again until it has settled.

Level n, n = 0 .. halvings, is shard n of the dataset: one row for every point that has not settled before. What the levels say of each
point is a table beside them (`sweep.convergence.verdicts`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.schemes import EXACT
from kernels.status import RESULTS, Status
from sweep.computing import Job, Progress
from sweep.config import Config
from sweep.convergence.orders import agree
from sweep.convergence.refinement import LARGEST_STEP, design_of, last_levels, level_points, refined_by, scheme_names
from sweep.design import Convergence
from sweep.directory import RunDirectory, write_whole
from sweep.shards import solve_points

if TYPE_CHECKING:
    import pyarrow as pa


STEPS = "accepted_steps"  # observable of every model
MORE_STEPS = 1.1  # factor by which the steps of a scheme grow at least where their bound limits them


@dataclass(frozen=True, slots=True)
class History:
    """What the levels of a study hold, from the first to the last that is known.

    Attributes:
        design: of the study, with n points.
        values: (levels, n) float64 the observable of every point, NaN where it failed, was not refined so far, or has none because the
            thing did not happen.
        steps: (levels, n) float64 steps that the scheme took, NaN where it failed or was not refined so far.
        statuses: (n,) the sentence of the last row of every point.
        bounded: (n,) mask of the points that are refined by a bound of the steps that their scheme chooses.
        last: (n,) the last level that every point may have.
    """

    design: Convergence
    values: np.ndarray
    steps: np.ndarray
    statuses: np.ndarray
    bounded: np.ndarray
    last: np.ndarray

    @property
    def levels(self) -> int:
        """How many levels are known."""
        return len(self.values)

    def settled(self) -> np.ndarray:
        """(n,) mask of the points whose last two results agree; not before three, for it takes as many to observe an order.

        As long as a scheme chooses steps below their bound, a smaller bound changes hardly one of them, and the agreement of two such
        results says nothing; it does where both are 0.
        """
        before, last = self.values[1:-1], self.values[2:]
        never = np.isnan(before) & np.isnan(last) & np.isfinite(self.steps[1:-1]) & np.isfinite(self.steps[2:])  # it did not happen, twice
        refined = ~self.bounded | (self.steps[2:] >= MORE_STEPS * self.steps[1:-1]) | (last == 0.0)
        mask: np.ndarray = (never | (agree(before, last, self.design.digits) & refined)).any(axis=0)
        return mask

    def unfinished(self) -> np.ndarray:
        """Positions of the points that the next level holds."""
        return np.flatnonzero(~self.settled() & has_results(self.statuses) & (self.levels <= self.last))

    def followed_by(self, positions: np.ndarray, values: np.ndarray, steps: np.ndarray, statuses: np.ndarray) -> History:
        """The history with one level more, which holds the points at `positions`."""
        rows, said = np.full((2, self.design.count), np.nan), self.statuses.copy()
        rows[:, positions], said[positions] = (values, steps), statuses
        return replace(self, values=np.vstack([self.values, rows[0]]), steps=np.vstack([self.steps, rows[1]]), statuses=said)


def has_results(statuses: np.ndarray) -> np.ndarray:
    """Mask of the sentences that say that a row has results."""
    return np.isin(statuses.astype(str), [status.sentence for status in RESULTS])


def beginning(config: Config) -> History:
    """The history of a study without levels."""
    design = design_of(config)
    schemes = scheme_names(config, design.points(0, design.count).schemes, design.count)
    nothing = np.empty((0, design.count))
    well = np.full(design.count, Status.OK.sentence, dtype=object)
    bounded = np.array([refined_by(scheme)[0] == LARGEST_STEP for scheme in schemes])
    return History(design, nothing, nothing, well, bounded, last_levels(config))


def compute_levels(job: Job, done: dict[int, dict[str, Any]], progress: Progress) -> int:
    """Compute the levels of a study that are not `done`, and its table.

    Args:
        job: the run.
        done: the shards that are whole, by number, with their facts; made to be those of the levels that the study turns out to have.
        progress: called with (points that are refined no more, points) after every level.

    Returns:
        How many rows were computed.
    """
    directory, design = job.directory, design_of(job.config)

    computed = 0
    history = beginning(job.config)
    while (left := len(history.unfinished())) > 0:
        progress(design.count - left, design.count)
        level = history.levels
        known = read_level(directory, history) if level in done else None
        if known is None:
            done[level] = job.compute_points(level, level_points(job.config, level, history.unfinished()))
            computed += left
            known = read_level(directory, history)
        if known is None:
            raise OSError(f"{directory.shard(level)} was changed by somebody else")
        history = known
    progress(design.count, design.count)
    for level in range(history.levels, design.halvings + 1):
        directory.shard(level).unlink(missing_ok=True)  # left by a computation that settled later
        done.pop(level, None)
    write_table(job, history)
    return computed


def read_level(directory: RunDirectory, history: History) -> History | None:
    """The history with the next level from its shard; None where that cannot be read or does not hold the points that it should."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    positions, count = history.unfinished(), history.design.count
    try:
        rows = pq.ParquetFile(directory.shard(history.levels)).read(["point", history.design.observable, STEPS, "status"])
    except (OSError, pa.ArrowException):
        return None
    numbers, values, steps, statuses = (column.to_numpy() for column in rows.itercolumns())
    whole = np.array_equal(numbers, history.levels * count + positions)
    return history.followed_by(positions, values, steps, statuses) if whole else None


def read_history(directory: RunDirectory, config: Config) -> History:
    """The levels of a run, complete or not."""
    history = beginning(config)
    while history.unfinished().size and (known := read_level(directory, history)) is not None:
        history = known
    return history


def solve_exactly(config: Config) -> np.ndarray:
    """(n,) the observable by `exact`; NaN where it cannot run a point."""
    design = design_of(config)
    if EXACT not in config.model.schemes:
        return np.full(design.count, np.nan)
    points = design.points(0, design.count)
    solution = solve_points(replace(config, scheme=EXACT), replace(points, schemes=None))
    return np.asarray(solution.observables[design.observable])


def write_table(job: Job, history: History) -> None:
    """Write the table of a study whose levels are all there."""
    import pyarrow.parquet as pq

    from sweep.convergence.verdicts import judge

    exact = job.team.executor.submit(solve_exactly, job.config).result()
    table = judge(job.config, history, exact, job.setting.provenance)
    write_whole(job.directory.convergence, lambda temporary: pq.write_table(table, temporary))


def read_table(directory: RunDirectory, config: Config) -> pa.Table | None:
    """The table of a run; of one that is not complete what its levels say so far, without `exact`; None where there are none."""
    import pyarrow.parquet as pq

    from sweep.convergence.verdicts import judge

    if directory.success.exists() and directory.convergence.exists():
        return pq.ParquetFile(directory.convergence).read()
    history = read_history(directory, config)
    return judge(config, history, np.full(config.design.count, np.nan), {}) if history.levels else None
