"""Compute adaptive designs level by level; the points of each level follow from the rows of earlier levels.

A level is one or more shards, whose numbers follow those of the previous level. Only the rows of complete shards determine the next level,
so that an interrupted study continues with the same points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.refinement import Convergence
from tribosweep.sweep.design.subset_simulation import SubsetSimulation
from tribosweep.sweep.execution.adaptive import (
    boundary_table,
    boundary_tracing,
    convergence_table,
    levels_table,
    step_halving,
    subset_simulation,
)
from tribosweep.sweep.execution.adaptive.history import read_level_rows, rows_of
from tribosweep.sweep.execution.job import Job, Progress
from tribosweep.sweep.execution.shard_check import SHARD_NAME
from tribosweep.sweep.io.atomic import remove
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    from tribosweep.sweep.execution.directory import RunDirectory


ADAPTIVE: dict[type, tuple[Callable[[Config], Any], Callable[[Job, Any], None]]] = {
    Convergence: (step_halving.empty_history, convergence_table.write),
    Boundary: (boundary_tracing.empty_history, boundary_table.write),
    SubsetSimulation: (subset_simulation.empty_history, levels_table.write),
}  # design -> its empty history, and the function that writes its table


def compute_levels(job: Job, done: dict[int, dict[str, Any]], progress: Progress) -> int:
    """Compute the missing levels of a study and write its table.

    Args:
        job: the run.
        done: number -> facts of the complete shards; at the end, of all shards of the study.
        progress: called before every level with the amount done and the total known so far.

    Returns:
        The number of computed rows.

    Raises:
        OSError: a shard cannot be written or read again.
    """
    begin, write = ADAPTIVE[type(job.config.design)]
    history, first, computed = begin(job.config), 0, 0
    while (points := history.next_points()).count:
        progress(*history.progress)
        blocks = dict(enumerate(points.cut(job.config.shard_points), first))
        rows = {number: rows_of(done.get(number), block) for number, block in blocks.items()}
        missing = {number: there for number, there in rows.items() if there < blocks[number].count}
        for written in job.compute(missing, blocks):
            done[written.number] = written.facts
            computed += written.rows
        history = history.followed_by(read_level_rows(job.directory, list(blocks), history.reads))
        first += len(blocks)
    progress(*history.progress)
    drop_shards(job.directory, done, first)
    write(job, history)
    return computed


def drop_shards(directory: RunDirectory, done: dict[int, dict[str, Any]], first: int) -> None:
    """Remove the shards from number `first` on, which an earlier computation with other levels has left."""
    for path in list(directory.points.iterdir()):
        match = SHARD_NAME.fullmatch(path.name)
        if match and int(match[1]) >= first:
            remove(path)
            done.pop(int(match[1]), None)
