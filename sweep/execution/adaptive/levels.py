"""Compute adaptive designs level by level; the points of each follow from the rows of earlier levels.

A level is one shard or several, numbered on from those of the level before. Nothing but the rows of whole shards decides what the next
level is. An interrupted study therefore continues with the same points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sweep.design.boundary import Boundary
from sweep.design.refinement import Convergence
from sweep.execution.adaptive import boundary_table, boundary_tracing, convergence_table, step_halving
from sweep.execution.adaptive.history import has_points, read_level_rows
from sweep.execution.job import Job, Progress
from sweep.execution.shard_check import SHARD_NAME
from sweep.study.config import Config

if TYPE_CHECKING:
    from sweep.execution.directory import RunDirectory


ADAPTIVE: dict[type, tuple[Callable[[Config], Any], Callable[[Job, Any], None]]] = {
    Convergence: (step_halving.empty_history, convergence_table.write),
    Boundary: (boundary_tracing.empty_history, boundary_table.write),
}  # design -> how its history begins, and what writes its table at the end


def compute_levels(job: Job, done: dict[int, dict[str, Any]], progress: Progress) -> int:
    """Compute the missing levels of a study, and write its table.

    Args:
        job: the run.
        done: number -> facts of the complete shards; updated to the shards of the levels that the study has.
        progress: called with how much is done, and of how much, before every level.

    Returns:
        How many rows were computed.

    Raises:
        OSError: a shard cannot be written, or not be read again.
    """
    begin, write = ADAPTIVE[type(job.config.design)]
    history, first, computed = begin(job.config), 0, 0
    while (points := history.next_points()).count:
        progress(*history.progress)
        blocks = dict(enumerate(points.cut(job.config.shard_points), first))
        missing = [number for number, block in blocks.items() if not has_points(done.get(number), block)]
        for number, facts in job.compute(missing, blocks):
            done[number] = facts
            computed += facts["rows"]
        history = history.followed_by(read_level_rows(job.directory, list(blocks), history.reads))
        first += len(blocks)
    progress(*history.progress)
    drop_shards(job.directory, done, first)
    write(job, history)
    return computed


def drop_shards(directory: RunDirectory, done: dict[int, dict[str, Any]], first: int) -> None:
    """Remove the shards from a number on; an earlier computation with other levels has left them."""
    for path in list(directory.points.iterdir()):
        match = SHARD_NAME.fullmatch(path.name)
        if match and int(match[1]) >= first:
            path.unlink(missing_ok=True)
            done.pop(int(match[1]), None)
