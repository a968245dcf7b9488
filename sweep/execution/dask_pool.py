"""Dask distributed as workers: the workers of a scheduler that have the software of this process, or processes of this machine."""

from __future__ import annotations

import logging
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

from tribosweep.sweep.execution.dask_executor import ANSWER, DaskExecutor
from tribosweep.sweep.execution.dask_versions import ask_workers, own_versions, sort_out
from tribosweep.sweep.execution.executors import WorkerPool
from tribosweep.sweep.io.errors import ConfigError, Problem

LOUD = ("asyncio", "distributed", "tornado")
ENCRYPTED = ("tls", "wss")  # protocols of Dask's addresses
NO_PAGES: dict[str, Any] = {f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker")}


@contextmanager
def dask(scheduler: str | None, workers: int | None, tell: Callable[[str], None]) -> Iterator[WorkerPool]:
    """Dask distributed: the workers of a `scheduler`, or a cluster of `workers` processes that share the cores of this machine.

    Workers of a scheduler with other software than this process get no work; `tell` gets a sentence on each of them, and one on a scheduler
    that anybody can command.

    Raises:
        ConfigError: Dask is not installed, or the scheduler does not answer, or has no worker with the software of this process.
        RunError: no worker is left, or the scheduler was lost.
    """
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        advice = "needs the package distributed: pip install 'tribosweep[dask]'"
        raise ConfigError("--executor dask", [Problem("", advice)]) from error
    for name in list(logging.root.manager.loggerDict):  # a sentence replaces the tracebacks that they log for lost connections
        if name.startswith(LOUD):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        client = connect(scheduler, stack) if scheduler is not None else start_cluster(workers, stack)
        threads = client.nthreads()
        if scheduler is not None:
            if not is_encrypted(client.scheduler.address):
                tell(
                    f"Note: {scheduler} asks for no certificate: whoever can connect to it, from this machine or a network, can run code"
                    " as you, here and on its workers. Use tls:// unless you alone can."
                )
            good = choose(client, scheduler, list(threads), tell)
            threads = {address: threads[address] for address in good}
        executor = DaskExecutor(client, frozenset(threads), scheduler, tell)
        stack.callback(quietly, partial(executor.shutdown, wait=False))
        yield WorkerPool(executor, max(1, sum(threads.values())), here=False)


def choose(client: Any, scheduler: str, found: list[str], tell: Callable[[str], None]) -> list[str]:
    """The workers of a scheduler that have the software of this process; ConfigError if there is none."""
    if not found:
        message = f"{scheduler}: the scheduler has no worker; start one there: dask worker {scheduler}"
        raise ConfigError("--scheduler", [Problem("", message)])
    good, refused = sort_out(ask_workers(client, found), own_versions())
    if not good:
        raise ConfigError("--scheduler", [Problem("", sentence) for sentence in refused])
    for sentence in refused:
        tell(f"Note: {sentence}.")
    return good


def start_cluster(workers: int | None, stack: ExitStack) -> Any:
    """Start a cluster on this machine and return its client: `workers` processes, default one per core, share the cores.

    Every user of this machine can reach its ports. So all connections between its processes need a certificate that exists in their memory
    alone, the web servers that Dask starts beside have no pages, and files that Dask may write lie in a folder of this user.

    Raises:
        ConfigError: the package for the certificate is not installed.
    """
    import dask
    from distributed import Client, LocalCluster
    from distributed.security import Security

    from tribosweep.kernels.runtime.jax_setup import cores

    try:
        security = Security.temporary()
    except ImportError as error:
        advice = "needs the package cryptography to protect the ports of its workers: pip install 'tribosweep[dask]'"
        raise ConfigError("--executor dask", [Problem("", advice)]) from error
    count = workers or cores()
    devices = {"JAX_NUM_CPU_DEVICES": str(max(1, cores() // count))}
    above = dask.config.get("temporary-directory", None)
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="tribosweep-", dir=above, ignore_cleanup_errors=True))
    stack.enter_context(dask.config.set({**NO_PAGES, "temporary-directory": scratch}))
    cluster = LocalCluster(
        n_workers=count, threads_per_worker=1, security=security, scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        env=devices, preload=__name__, silence_logs="CRITICAL",
    )  # fmt: skip
    stack.callback(quietly, partial(cluster.close, timeout=ANSWER))
    return used(Client(cluster), stack)


def used(client: Any, stack: ExitStack) -> Any:
    """A client that is closed with the stack."""
    stack.callback(quietly, partial(client.__exit__, None, None, None))
    return client.__enter__()


def quietly(close: Callable[[], object]) -> None:
    """Put something away: what it has computed is here, and a process that does not end in time must not end the run."""
    with suppress(Exception):
        close()


def dask_setup(_worker: object) -> None:
    """Ignore Ctrl-C in a new worker; Dask calls this. Ctrl-C reaches all processes of a terminal, but only the client must handle it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def is_encrypted(address: str) -> bool:
    """Whether both ends of a connection to an address of Dask must show a certificate; an address without a protocol has no TLS."""
    protocol, _, rest = address.rpartition("://")
    return bool(rest) and protocol in ENCRYPTED


def connect(scheduler: str, stack: ExitStack) -> Any:
    """Return a client of the scheduler at an address; ConfigError if none answers there, or without a certificate for it."""
    from distributed import Client
    from distributed.security import Security

    if is_encrypted(scheduler) and not all(Security().get_tls_config_for_role("client").get(part) for part in ("ca_file", "cert")):
        names = "ca-file, distributed.comm.tls.client.cert and distributed.comm.tls.client.key"
        message = f"{scheduler}: Dask's configuration names no certificate for it: set distributed.comm.tls.{names}"
        raise ConfigError("--scheduler", [Problem("", message)])
    waiting: Future[Any] = Future()

    def call() -> None:
        try:
            waiting.set_result(Client(scheduler, timeout=ANSWER))
        except BaseException as error:  # whatever answers there is no scheduler
            waiting.set_exception(error)

    # in a thread, because the client would wait forever for a server that accepts the connection but never answers
    threading.Thread(target=call, name="connect", daemon=True).start()
    try:
        return used(waiting.result(ANSWER + 1), stack)
    except Exception as error:
        why = f" ({str(error).splitlines()[0]})" if str(error) else ""
        message = f"{scheduler}: no Dask scheduler answers there within {ANSWER} s{why}"
        raise ConfigError("--scheduler", [Problem("", message)]) from error
