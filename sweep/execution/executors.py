"""The workers that compute shards: any `concurrent.futures.Executor`, such as threads of this process."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from tribosweep.sweep.io.errors import RunError

THREADS = 3  # at a time one shard is prepared, one computed (devices take one at a time) and one encoded; the main thread writes one


class WorkerDeathError(RunError):
    """The workers that took a shard died, one after the other; other shards may be computed."""


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """The workers that compute shards.

    Attributes:
        executor: runs `shard.compute_piece` with a study and the number of a shard.
        places: number of shards computed at a time. For each of them one more is prepared.
        here: whether the executor runs in this process.
    """

    executor: Executor
    places: int
    here: bool

    @property
    def ahead(self) -> int:
        """The number of shards submitted at a time, so that no worker waits and few shards are in memory."""
        return THREADS if self.here else 2 * self.places + 1


@contextmanager
def in_process() -> Iterator[WorkerPool]:
    """Threads of this process, on all its devices. After an error, shards in progress are dropped."""
    executor = ThreadPoolExecutor(THREADS, "shard")
    try:
        yield WorkerPool(executor, 1, here=True)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown()


@contextmanager
def given(executor: Executor, workers: int) -> Iterator[WorkerPool]:
    """An executor of the caller, which stays open."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield WorkerPool(executor, workers, here=False)
    except BrokenProcessPool as error:
        raise RunError(f"a worker process died: {error}") from error
