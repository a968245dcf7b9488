"""Designs whose points follow from results: level by level, each from the rows of the ones before.

A level is one shard or several, numbered on from those of the level before. Nothing but the rows of whole shards decides what the next
level is, so that a study that was interrupted goes on as if it had not been.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from sweep.boundary import tracing
from sweep.computing import Job, Progress
from sweep.config import Config
from sweep.convergence import levels
from sweep.design import Boundary
from sweep.inspection import SHARD_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sweep.blocks import Points
    from sweep.directory import RunDirectory


class History(Protocol):
    """What is known of a study from its levels so far."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that a level is read for."""

    @property
    def progress(self) -> tuple[int, int]:
        """How much is done, and of how much, as far as that is known."""

    def next_points(self) -> Points:
        """The points of the next level; none where there is no other."""

    def followed_by(self, rows: pa.Table) -> Self:
        """The history with the next level, from the columns `reads` of its rows in the order of its points."""

    def write(self, job: Job) -> None:
        """Write what the levels of a study that has all of them say."""


Known = TypeVar("Known", bound=History)


def beginning(config: Config) -> History:
    """The history of a study without levels."""
    return tracing.beginning(config) if isinstance(config.design, Boundary) else levels.beginning(config)


def compute_levels(job: Job, done: dict[int, dict[str, Any]], progress: Progress) -> int:
    """Compute the levels of a study that are not `done`, and what follows from them.

    Args:
        job: the run.
        done: the shards that are whole, by number, with their facts; made to be those of the levels that the study turns out to have.
        progress: called with how much is done, and of how much, before every level.

    Returns:
        How many rows were computed.

    Raises:
        OSError: a shard cannot be written, or not be read again.
    """
    history, first, computed = beginning(job.config), 0, 0
    while (points := history.next_points()).count:
        progress(*history.progress)
        blocks = dict(enumerate(points.cut(job.config.shard_points), first))
        missing = [number for number, block in blocks.items() if not holds(done.get(number), block)]
        for number, facts in job.compute(missing, blocks):
            done[number] = facts
            computed += facts["rows"]
        history = history.followed_by(read_rows(job.directory, list(blocks), history.reads))
        first += len(blocks)
    progress(*history.progress)
    drop_shards(job.directory, done, first)
    history.write(job)
    return computed


def drop_shards(directory: RunDirectory, done: dict[int, dict[str, Any]], first: int) -> None:
    """Remove the shards from a number on, left by a computation that went another way."""
    for path in list(directory.points.iterdir()):
        match = SHARD_NAME.fullmatch(path.name)
        if match and int(match[1]) >= first:
            path.unlink(missing_ok=True)
            done.pop(int(match[1]), None)


def holds(facts: dict[str, Any] | None, points: Points) -> bool:
    """Whether a shard, by its facts, has these points."""
    return facts is not None and facts["points_hash"] == points.digest()


def read_rows(directory: RunDirectory, numbers: Sequence[int], columns: tuple[str, ...]) -> pa.Table:
    """Some columns of shards, one after the other; OSError where one cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = []
    for number in numbers:
        try:
            found.append(pq.ParquetFile(directory.shard(number)).read(list(columns)))
        except pa.ArrowException as error:
            raise OSError(f"{directory.shard(number)} was changed by somebody else") from error
    return pa.concat_tables(found)


def read_levels(directory: RunDirectory, config: Config, history: Known) -> Known:
    """The `history` of a study, gone on with the levels that are whole in its run, complete or not."""
    import pyarrow as pa

    from sweep import store

    first = 0
    while (points := history.next_points()).count:
        blocks = dict(enumerate(points.cut(config.shard_points), first))
        try:
            if not all(holds(store.read_facts(directory.shard(number)), block) for number, block in blocks.items()):
                break
            rows = read_rows(directory, list(blocks), history.reads)
        except (OSError, pa.ArrowException):
            break
        history, first = history.followed_by(rows), first + len(blocks)
    return history
