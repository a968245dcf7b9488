"""The workers that compute shards: any `concurrent.futures.Executor`, such as threads of this process or Dask."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from sweep.io.errors import ConfigError, Problem, RunError

THREADS = 3  # at a time one shard is prepared, one computed (devices take one at a time) and one encoded; the main thread writes one
LOUD = ("asyncio", "distributed", "tornado")
ANSWER = 5  # s: time limit for an answer from a scheduler


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """The workers that compute shards.

    Attributes:
        executor: runs `shard.compute_shard` with a study and the number of a shard.
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


@contextmanager
def dask(scheduler: str | None, workers: int | None) -> Iterator[WorkerPool]:
    """Dask distributed: the workers of a `scheduler`, or a cluster of `workers` processes that share the cores of this machine.

    Raises:
        ConfigError: Dask is not installed, or the scheduler does not answer or has no worker.
        RunError: workers died repeatedly with the same shard, or the scheduler was lost.
    """
    try:
        from distributed import KilledWorker
    except ImportError as error:
        advice = "needs the package distributed: pip install 'tribosweep[dask]'"
        raise ConfigError("--executor dask", [Problem("", advice)]) from error
    for name in list(logging.root.manager.loggerDict):  # a sentence replaces the tracebacks that they log for lost connections
        if name.startswith(LOUD):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        client = connect(scheduler, stack) if scheduler is not None else start_cluster(workers, stack)
        found = client.scheduler_info(n_workers=-1)["workers"]
        if not found:
            message = f"{scheduler}: the scheduler has no worker; start one there: dask worker {scheduler}"
            raise ConfigError("--scheduler", [Problem("", message)])
        executor = client.get_executor(pure=False)
        stack.callback(executor.shutdown, wait=False)
        try:
            yield WorkerPool(executor, max(1, sum(worker["nthreads"] for worker in found.values())), here=False)
        except KilledWorker as error:
            message = f"a shard was lost with its worker {error.allowed_failures + 1} times, the last on {error.last_worker.address}"
            raise RunError(f"{message} (out of memory, or killed)") from error
        except CancelledError as error:
            raise RunError("the Dask scheduler has dropped the run, or was stopped") from error


def start_cluster(workers: int | None, stack: ExitStack) -> Any:
    """Start a cluster on this machine and return its client: `workers` processes, default one per core, share the cores."""
    from distributed import Client, LocalCluster

    from kernels.runtime.jax_setup import cores

    count = workers or cores()
    devices = {"JAX_NUM_CPU_DEVICES": str(max(1, cores() // count))}
    cluster = LocalCluster(
        n_workers=count, threads_per_worker=1, dashboard_address=None, env=devices, preload=__name__, silence_logs="CRITICAL"
    )
    stack.callback(cluster.close, timeout=ANSWER)
    return stack.enter_context(Client(cluster))


def dask_setup(_worker: object) -> None:
    """Ignore Ctrl-C in a new worker; Dask calls this. Ctrl-C reaches all processes of a terminal, but only the client must handle it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def connect(scheduler: str, stack: ExitStack) -> Any:
    """Return a client of the scheduler at an address; ConfigError if none answers there."""
    from distributed import Client

    waiting: Future[Any] = Future()

    def call() -> None:
        try:
            waiting.set_result(Client(scheduler, timeout=ANSWER))
        except BaseException as error:  # whatever answers there is no scheduler
            waiting.set_exception(error)

    # in a thread, because the client would wait forever for a server that accepts the connection but never answers
    threading.Thread(target=call, name="connect", daemon=True).start()
    try:
        return stack.enter_context(waiting.result(ANSWER + 1))
    except Exception as error:
        why = f" ({str(error).splitlines()[0]})" if str(error) else ""
        message = f"{scheduler}: no Dask scheduler answers there within {ANSWER} s{why}"
        raise ConfigError("--scheduler", [Problem("", message)]) from error
