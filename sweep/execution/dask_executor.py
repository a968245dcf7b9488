"""An executor on a Dask cluster that ends: it sends tasks to chosen workers, replaces those that are lost, and fails if none is left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tribosweep.sweep.execution.dask_versions import ask_workers, own_versions, sort_out
from tribosweep.sweep.execution.executors import WorkerDeathError
from tribosweep.sweep.io.errors import RunError

ANSWER = 5  # s: time limit for an answer from a scheduler
EVERY = 2.0  # s between two looks at the workers
PATIENCE = 60.0  # s without a worker, or without an answer from the scheduler, after which a run ends
DEATHS = 3  # times that a task is sent again because all workers it might use were lost


@dataclass(slots=True, eq=False)
class Task:
    """A call that a worker is to make.

    Attributes:
        call: the function and its arguments.
        result: what the caller waits for.
        workers: the workers that may take it; empty if it is not sent.
        sent: what Dask has promised.
        deaths: how often all its workers were lost.
    """

    call: tuple[Any, ...]
    result: Future[Any] = field(default_factory=Future)
    workers: frozenset[str] = frozenset()
    sent: Future[Any] | None = None
    deaths: int = 0

    def settle(self, error: BaseException | None, value: Any = None) -> None:
        """Give the caller an error or a value, unless it has got one or has cancelled."""
        with suppress(InvalidStateError):
            if error is not None:
                self.result.set_exception(error)
            else:
                self.result.set_result(value)

    def drop(self) -> None:
        """Forget what was sent: a late result is ignored."""
        sent, self.sent = self.sent, None
        if sent is not None:
            sent.cancel()


class DaskExecutor(Executor):
    """The workers of a Dask cluster.

    A worker that joins a foreign scheduler is asked for its software first. Dask would let tasks for chosen workers wait forever for one
    that has died, also if its nanny starts it again, since it then has another address. So a thread looks at the workers every few seconds.
    """

    def __init__(self, client: Any, workers: frozenset[str], scheduler: str | None, tell: Callable[[str], None]) -> None:
        """Use the given workers of a client; `scheduler` is None for a cluster of this process, whose workers need no questions."""
        self.client, self.scheduler, self.tell = client, scheduler, tell
        self.workers, self.asked = workers, set(client.nthreads())
        self.inner = client.get_executor(pure=False)
        self.tasks = set[Task]()
        self.failure: RunError | None = None
        self.seen = self.answered = time.monotonic()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch, name="dask workers", daemon=True)
        self.thread.start()

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Have a worker call a function."""
        task = Task((partial(function, **named), *args))
        self.send(task)
        self.tasks.add(task)
        task.result.add_done_callback(partial(self.close, task))
        if self.failure is not None:
            task.settle(self.failure)
        return task.result

    def send(self, task: Task) -> None:
        """Send a task to the present workers; without any it waits for the next look."""
        workers = self.workers
        if self.scheduler is None:
            sent = self.inner.submit(*task.call)
        elif workers:
            sent = self.inner.submit(*task.call, workers=list(workers), allow_other_workers=False)
        else:
            return
        task.workers, task.sent = workers, sent
        sent.add_done_callback(partial(self.take, task))

    def take(self, task: Task, sent: Future[Any]) -> None:
        """Take what Dask has got for a task, unless the task has been sent again since."""
        from distributed import KilledWorker

        if task.sent is not sent:
            return
        if sent.cancelled():
            task.settle(RunError(f"{self.name()} has dropped the run, or was stopped"))
            return
        error = sent.exception()
        if isinstance(error, KilledWorker):
            died = f"its workers died {error.allowed_failures + 1} times, the last was {error.last_worker.address}"
            error = WorkerDeathError(f"{died} (out of memory, or killed)")
        task.settle(error, None if error is not None else sent.result())

    def close(self, task: Task, result: Future[Any]) -> None:
        """Forget a task that has a result or was cancelled."""
        self.tasks.discard(task)
        if result.cancelled():
            task.drop()

    def name(self) -> str:
        """The scheduler, in a sentence."""
        return "the Dask scheduler" if self.scheduler is None else f"the Dask scheduler {self.scheduler}"

    def watch(self) -> None:
        """Look at the workers until the end; if that fails for too long, so do all tasks."""
        while not self.ended.wait(EVERY):
            with suppress(Exception):  # the scheduler is lost, or busy
                self.look()
            now = time.monotonic()
            if now - self.answered > PATIENCE:
                self.fail(f"{self.name()} has not answered for {PATIENCE:g} s")
            elif now - self.seen > PATIENCE:
                self.fail(f"{self.name()} has had no worker for this run for {PATIENCE:g} s")

    def look(self) -> None:
        """Take note of workers that have gone or come, and send again what waits for none but lost ones."""
        there = frozenset(self.client.sync(self.client.scheduler.ncores, callback_timeout=ANSWER))
        self.answered = time.monotonic()
        if self.scheduler is None:
            self.workers = there
        else:
            self.workers &= there
            self.asked &= there
            self.welcome(there - self.asked)
        if self.workers:
            self.seen = time.monotonic()
        for task in list(self.tasks):
            if self.scheduler is not None and not task.workers & there:
                self.send_again(task)

    def welcome(self, new: frozenset[str]) -> None:
        """Ask workers that have joined for their software; those that have ours get work."""
        if not new:
            return
        good, refused = sort_out(ask_workers(self.client, new), own_versions())
        self.asked |= new
        self.workers |= set(good)
        for sentence in refused:
            self.tell(f"Note: {sentence}.")

    def send_again(self, task: Task) -> None:
        """Send a task to the present workers, since all those that might have taken it are lost."""
        task.deaths += bool(task.workers)
        task.drop()
        task.workers = frozenset()
        if task.deaths > DEATHS:
            task.settle(WorkerDeathError(f"all workers it might use were lost {task.deaths} times (out of memory, or killed)"))
        else:
            self.send(task)

    def fail(self, why: str) -> None:
        """Fail all tasks, now and later."""
        self.failure = RunError(why)
        for task in list(self.tasks):
            task.settle(self.failure)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - tasks are always cancelled
        """Cancel all tasks."""
        self.ended.set()
        for task in list(self.tasks):
            task.result.cancel()
