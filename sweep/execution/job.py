"""The job of a run: begin it, compute shards while finished ones are written, and mark it complete."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sweep.design.designs import CONCATENATION
from sweep.design.points import Points
from sweep.execution.directory import RunDirectory, total_statuses
from sweep.execution.executors import WorkerPool
from sweep.execution.shard import Setting, Shard, compute_shard, compute_shard_of, describe_runtime
from sweep.io.atomic import write_text, write_whole
from sweep.io.version import SCHEMA_VERSION, VERSION
from sweep.study.config import Config

Progress = Callable[[int, int], None]
COMPILING, COMPUTING, ENCODING, WRITING, WAITING, TOTAL = "compiling", "computing", "encoding", "writing", "waiting", "total"


@dataclass(frozen=True, slots=True)
class Job:
    """A run that is being computed.

    Attributes:
        config: the study.
        directory: directory of the run.
        pool: the workers.
        setting: versions, devices and options of the workers.
        manifest: manifest of the run before its end.
        seconds: compiling, computing, encoding and writing so far, summed over the shards.
        begun: start of the job, by the performance counter [s].
    """

    config: Config
    directory: RunDirectory
    pool: WorkerPool
    setting: Setting
    manifest: dict[str, Any]
    seconds: dict[str, float]
    begun: float

    def compute(self, numbers: Iterable[int], points: Mapping[int, Points] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Compute and write shards; yield the number and the facts of each shard once it is written, in any order.

        Args:
            numbers: numbers of the shards.
            points: shard number -> its points; needed if the design alone does not determine them.

        Raises:
            OSError: a shard cannot be written. Shards that have not begun are cancelled; written shards are complete.
        """

        def submit(number: int) -> Future[Shard]:
            if points is None:
                return self.pool.executor.submit(compute_shard, self.config, number)
            return self.pool.executor.submit(compute_shard_of, self.config, number, points[number])

        queue = iter(numbers)
        futures = {submit(number) for number in islice(queue, self.pool.ahead)}
        try:
            while futures:
                ready, futures = wait(futures, return_when=FIRST_COMPLETED)
                for number in islice(queue, len(ready)):
                    futures.add(submit(number))
                for future in ready:
                    shard = future.result()
                    yield shard.number, self.write(shard)
        finally:
            for future in futures:
                future.cancel()

    def write(self, shard: Shard) -> dict[str, Any]:
        """Write a shard and return its facts; OSError if it cannot be written."""
        start = time.perf_counter()
        write_whole(self.directory.shard(shard.number), lambda temporary: temporary.write_bytes(shard.data))
        for part, seconds in {**shard.facts["seconds"], WRITING: time.perf_counter() - start}.items():
            self.seconds[part] += seconds
        return shard.facts

    def split(self) -> dict[str, float]:
        """Return how the time of the job divides into stages [s].

        Encoding and writing run in parallel with computing. Waiting is the time in which the workers had nothing to compile or compute.
        """
        total = time.perf_counter() - self.begun
        busy = self.seconds[COMPILING] + self.seconds[COMPUTING]
        return {**self.seconds, WAITING: max(0.0, total * self.pool.places - busy), TOTAL: total}


def begin_job(config: Config, directory: RunDirectory, pool: WorkerPool, begun: float, tell: Callable[[str], None]) -> Job:
    """Start the workers, and write the study and the manifest.

    Raises:
        ConfigError: JAX cannot start; nothing was written.
        OSError: the directory cannot be written.
    """
    setting = pool.executor.submit(describe_runtime).result()
    before = directory.read_manifest()
    manifest = new_manifest(config, before, setting)
    for name, there in before.get("provenance", {}).items():
        here = setting.provenance.get(name)
        if here != there:
            tell(f"Note: the run was begun with {name} {there}, now it is {here}: the last digits of its rows may differ.")
    # the manifest comes first, so that the directory belongs to this run, whatever happens later
    write_text(directory.manifest, json.dumps(manifest, indent=2))
    write_text(directory.config, manifest["config"])
    directory.points.mkdir(exist_ok=True)
    directory.success.unlink(missing_ok=True)
    seconds = dict.fromkeys((COMPILING, COMPUTING, ENCODING, WRITING), 0.0)
    return Job(config, directory, pool, setting, manifest, seconds, begun)


def new_manifest(config: Config, before: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """The manifest of a run before its end. A resumed run keeps its time of creation, its provenance and the studies that it extends."""
    sweeps = config.document.get("sweep", {})
    extends = dict(before.get("extends", {}))
    if before and before["config_hash"] != config.digest:
        extends[before["config_hash"]] = before["points"]
    return {
        "version": VERSION,
        "schema_version": SCHEMA_VERSION,
        "study": config.name,
        "config_hash": config.digest,
        "extends": extends,
        "design": CONCATENATION if isinstance(sweeps, list) else sweeps.get("design", "grid"),
        "points": config.design.count,
        "shards": config.shards,
        "shard_points": config.shard_points,
        "created": before.get("created") or datetime.now(UTC).isoformat(timespec="seconds"),
        "provenance": before.get("provenance") or setting.provenance,
        "config": config.to_toml(),
    }


def mark_complete(directory: RunDirectory, shards: dict[int, dict[str, Any]], seconds: dict[str, float], computed: int) -> None:
    """Mark a run complete.

    Args:
        directory: directory of the run.
        shards: number -> facts, for all shards.
        seconds: times of the call that ends the run, empty if it computed nothing. computed: number of rows that this call computed.
    """
    finished = {
        "shards": len(shards),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "statuses": total_statuses(shards),
        "computed": computed,
        **({"seconds": seconds} if seconds else {}),
    }
    write_text(directory.manifest, json.dumps({**directory.read_manifest(), **finished}, indent=2))
    write_text(directory.success, "")


def tidy(directory: RunDirectory, strays: Iterable[str], alone: bool) -> None:
    """Remove or rename files that are not part of the run.

    Args:
        directory: directory of the run.
        strays: foreign files in the dataset. They are renamed, so that no reader takes their rows for rows of the run.
        alone: whether no other process writes to the directory. If so, half-written files of killed processes are removed.
    """
    for name in strays:
        with suppress(FileNotFoundError):
            (directory.points / name).rename(directory.points / f".{name}.foreign")
    if alone:
        for folder in (directory.path, directory.points, directory.boundaries.parent):
            for path in folder.glob(".*.tmp"):
                path.unlink(missing_ok=True)


def compute_shards(job: Job, missing: Collection[int], done: dict[int, dict[str, Any]], progress: Progress) -> int:
    """Compute the `missing` shards, add them to `done`, and return the number of their rows."""
    total = job.config.design.count
    rows, computed = sum(shard["rows"] for shard in done.values()), 0
    progress(rows, total)
    for number, facts in job.compute(missing):
        done[number] = facts
        computed += facts["rows"]
        progress(rows + computed, total)
    return computed
