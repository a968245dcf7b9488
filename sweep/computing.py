"""What every run does, whatever its design: begin, compute blocks of points, write them while the next are computed, and finish."""

from __future__ import annotations

import importlib
import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import sweep
from sweep.config import SCHEMA_VERSION, Config
from sweep.design import Convergence, Points
from sweep.directory import SHARD_POINTS, RunDirectory, shard_count, total_statuses, write_text
from sweep.doctor import cannot_start
from sweep.problems import ConfigError, Problem
from sweep.rules import by_scheme, take

if TYPE_CHECKING:
    from kernels.batch import Solution

Progress = Callable[[int, int], None]
Solve: TypeAlias = "Callable[..., Solution]"
Solved: TypeAlias = "tuple[int, Points, Solution]"
SOLVERS = 2  # one shard computes while the next is prepared; the devices take one at a time


@dataclass(frozen=True, slots=True)
class Job:
    """A run that is being computed.

    Attributes:
        config: the study.
        directory: where it is written.
        solve: `kernels.batch.solve`.
        provenance: what computes the rows (jax, device, dtype ...).
        manifest: what is known of the run before it ends.
        seconds: compiling, computing and writing so far, summed over the shards.
        begun: when the job began, by the performance counter [s].
    """

    config: Config
    directory: RunDirectory
    solve: Solve
    provenance: Mapping[str, str]
    manifest: dict[str, Any]
    seconds: dict[str, float]
    begun: float

    def write(self, number: int, points: Points, solution: Solution) -> dict[str, Any]:
        """Write shard `number` and return its facts; OSError when it cannot be written."""
        from sweep import store

        start = time.perf_counter()
        facts = {"config_hash": self.config.digest, "statuses": store.count_statuses(solution.status)}
        table = store.encode(self.config, store.schema(self.config, self.provenance), points, solution)
        store.write_shard(self.directory.shard(number), table, facts)
        self.seconds["compiling"] += solution.compile_seconds
        self.seconds["computing"] += solution.run_seconds
        self.seconds["writing"] += time.perf_counter() - start
        return {**facts, "rows": points.count}

    def finish(self, shards: dict[int, dict[str, Any]], computed: int) -> None:
        """Mark the run complete: its `shards` by number with their facts, of which this job `computed` so many rows."""
        self.seconds["total"] = time.perf_counter() - self.begun
        finished = {
            "shards": len(shards),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "statuses": total_statuses(shards),
            "seconds": self.seconds,
            "computed": computed,
        }
        write_text(self.directory.manifest, json.dumps({**self.manifest, **finished}, indent=2))
        write_text(self.directory.success, "")


def begin(config: Config, directory: RunDirectory) -> Job:
    """Start JAX, and write the study and what is known of the run.

    Raises:
        ConfigError: JAX cannot start; nothing was written.
        OSError: the directory cannot be written.
    """
    from kernels import runtime

    begun = time.perf_counter()
    runtime.prepare()
    from kernels.batch import solve

    try:
        provenance = runtime.describe()
    except Exception as error:
        raise ConfigError("tribosweep", [Problem("", cannot_start(error))]) from error
    manifest = new_manifest(config, directory, provenance)
    directory.points.mkdir(parents=True, exist_ok=True)
    directory.success.unlink(missing_ok=True)
    write_text(directory.config, config.to_toml())
    write_text(directory.manifest, json.dumps(manifest, indent=2))
    seconds = {"compiling": 0.0, "computing": 0.0, "writing": 0.0}
    return Job(config, directory, solve, provenance, manifest, seconds, begun)


def new_manifest(config: Config, directory: RunDirectory, provenance: Mapping[str, str]) -> dict[str, Any]:
    """What is known of a run before it ends; one that goes on keeps the time when it was created."""
    return {
        "version": sweep.__version__,
        "schema_version": SCHEMA_VERSION,
        "study": config.name,
        "config_hash": config.digest,
        "design": config.document.get("sweep", {}).get("design", "grid"),
        "points": config.design.count,
        "shards": most_shards(config),
        "shard_points": SHARD_POINTS,
        "created": directory.read_manifest().get("created") or datetime.now(UTC).isoformat(timespec="seconds"),
        "provenance": provenance,
    }


def most_shards(config: Config) -> int:
    """How many shards a run has, a convergence study at most."""
    return config.design.halvings + 1 if isinstance(config.design, Convergence) else shard_count(config.design.count)


def compute_and_write(numbers: Sequence[int], solved: Callable[[int], Solved], write: Callable[[int, Points, Solution], None]) -> None:
    """Compute shards in threads and hand them to one writer in their order; what fails stops everything that has not begun.

    While one shard is computed, the next is prepared, the one before is written and one more may wait for it: four are held at most.
    """
    solver = ThreadPoolExecutor(SOLVERS, "solver")
    with ThreadPoolExecutor(1, "writer") as writer:
        ahead = deque(solver.submit(solved, number) for number in numbers[:SOLVERS])
        writer.submit(importlib.import_module, "sweep.store")  # pyarrow loads while the first program is compiled
        written: Future[None] | None = None
        try:
            for position in range(len(numbers)):
                result = ahead.popleft().result()
                if position + SOLVERS < len(numbers):
                    ahead.append(solver.submit(solved, numbers[position + SOLVERS]))
                if written is not None:
                    written.result()
                written = writer.submit(write, *result)
            if written is not None:
                written.result()
        except BaseException:
            # what is being computed is dropped; what is being written is finished
            solver.shutdown(wait=False, cancel_futures=True)
            raise
    solver.shutdown()


def solve_points(config: Config, points: Points, solve: Solve) -> Solution:
    """Results of a block of points in their order, whichever schemes compute them."""
    groups = by_scheme(points, config.scheme)
    parts: list[tuple[np.ndarray | slice, Solution]] = []
    for scheme, rows in groups:
        columns, absent, count = take(points, rows)
        parts.append((rows, solve(config.model, scheme, {**config.fixed, **columns}, absent, count, config.window)))
    first = parts[0][1]
    if len(parts) == 1:
        return first
    observables = {name: np.empty(points.count, values.dtype) for name, values in first.observables.items()}
    status = np.empty(points.count, first.status.dtype)
    for rows, part in parts:
        status[rows] = part.status
        for name, values in part.observables.items():
            observables[name][rows] = values
    return type(first)(
        observables=observables,
        status=status,
        compile_seconds=sum(part.compile_seconds for _, part in parts),
        run_seconds=sum(part.run_seconds for _, part in parts),
    )
