"""The job of a run: begin it, compute shards while finished ones are written, and mark it complete."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from tribosweep.sweep.design.points import Points
from tribosweep.sweep.execution.directory import RunDirectory, identity, total_statuses
from tribosweep.sweep.execution.executors import WorkerDeathError, WorkerPool
from tribosweep.sweep.execution.returned import require_piece, require_setting
from tribosweep.sweep.execution.shard import Piece, Setting, compute_piece, compute_piece_of, describe_runtime, span
from tribosweep.sweep.io.atomic import make_inner_folder, remove, remove_leftovers, rename, write_one_of_many, write_text
from tribosweep.sweep.io.errors import RunError
from tribosweep.sweep.study.config import Config

Progress = Callable[[int, int], None]
COMPILING, COMPUTING, ENCODING, WRITING, WAITING, TOTAL = "compiling", "computing", "encoding", "writing", "waiting", "total"


@dataclass(frozen=True, slots=True)
class Written:
    """A shard of which a piece has been written.

    Attributes:
        number: its number.
        facts: its facts, of all its rows so far.
        rows: number of rows of the piece.
        whole: whether the shard has all its rows.
    """

    number: int
    facts: dict[str, Any]
    rows: int
    whole: bool


@dataclass(frozen=True, slots=True)
class LostShard:
    """A shard whose workers die: it is lost.

    Attributes:
        first: its first row that is not written.
        why: what is known of it.
    """

    first: int
    why: str


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

    def compute(self, begun: Mapping[int, int], points: Mapping[int, Points] | None = None) -> Iterator[Written]:
        """Compute and write shards; yield each piece of a shard once it is written, in any order of the shards.

        A shard whose workers die is left out until the others are written. If there are several, each is computed alone, because they may
        have been on the same workers as the one that is the cause.

        Args:
            begun: numbers of the shards -> number of their rows that are already written.
            points: shard number -> its points; needed if the design alone does not determine them.

        Raises:
            OSError: a shard cannot be written. Shards that have not begun are cancelled; what is written is whole.
            RunError: the workers of a shard die, no worker is left, or one returns what was not asked for.
        """
        lost: dict[int, LostShard] = {}
        try:
            yield from self.compute_beside(begun, points, lost)
            if len(lost) > 1:
                suspects, lost = lost, {}
                for number, suspect in suspects.items():
                    yield from self.compute_beside({number: suspect.first}, points, lost)
        except RunError as error:
            raise RunError("; ".join([*self.sentences(lost), str(error)])) from error
        if lost:
            raise RunError(f"{'; '.join(self.sentences(lost))}; all other shards are computed")

    def sentences(self, lost: Mapping[int, LostShard]) -> list[str]:
        """A sentence on each shard whose workers die."""
        return [f"shard {number} ({self.directory.shard(number).name}) was lost: {each.why}" for number, each in sorted(lost.items())]

    def compute_beside(
        self, begun: Mapping[int, int], points: Mapping[int, Points] | None, lost: dict[int, LostShard]
    ) -> Iterator[Written]:
        """Compute and write shards side by side, as `compute`; those whose workers die are put into `lost`."""

        def submit(number: int, first: int) -> None:
            if points is None:
                future = self.pool.executor.submit(compute_piece, self.config, number, first)
            else:
                future = self.pool.executor.submit(compute_piece_of, self.config, number, points[number], first)
            futures[future] = number, first

        queue = iter(begun.items())
        futures: dict[Future[Piece], tuple[int, int]] = {}
        for number, first in islice(queue, self.pool.ahead):
            submit(number, first)
        try:
            while futures:
                for future in wait(futures, return_when=FIRST_COMPLETED).done:
                    number, first = futures.pop(future)
                    try:
                        piece = self.returned(future.result(), number, first, points)
                    except WorkerDeathError as error:
                        lost[number] = LostShard(first, str(error))
                        piece = None
                    for following in [(number, piece.end)] if piece is not None and piece.rest else islice(queue, 1):
                        submit(*following)
                    if piece is not None:
                        yield self.write(piece)
        finally:
            for future in futures:
                future.cancel()

    def returned(self, found: Piece, number: int, first: int, points: Mapping[int, Points] | None) -> Piece:
        """The piece that a worker has returned; RunError if it was asked for another one, or if it is damaged."""
        if self.pool.here:
            return found
        own = self.config.design.points(*span(self.config, number)) if points is None else points[number]
        return require_piece(found, self.config, number, first, own)

    def write(self, piece: Piece) -> Written:
        """Write a piece of a shard behind those that are written; OSError if it cannot be written, or if they have changed."""
        start, path = time.perf_counter(), self.directory.shard(piece.number)
        data, facts = (piece.data, piece.facts) if piece.first == 0 else lengthened(path, piece)
        write_one_of_many(path, data)
        for part, seconds in {**piece.facts["seconds"], WRITING: time.perf_counter() - start}.items():
            self.seconds[part] += seconds
        return Written(piece.number, {**facts, "rows": piece.end}, piece.end - piece.first, piece.rest == 0)

    def split(self) -> dict[str, float]:
        """Return how the time of the job divides into stages [s].

        Encoding and writing run in parallel with computing. Waiting is the time in which the workers had nothing to compile or compute.
        """
        total = time.perf_counter() - self.begun
        busy = self.seconds[COMPILING] + self.seconds[COMPUTING]
        return {**self.seconds, WAITING: max(0.0, total * self.pool.places - busy), TOTAL: total}


def lengthened(path: Path, piece: Piece) -> tuple[bytes, dict[str, Any]]:
    """The bytes and the facts of a shard with one more piece; OSError if what is written of it cannot be read or has changed."""
    from tribosweep.sweep.execution import parquet
    from tribosweep.sweep.io import sealed_parquet

    try:
        return parquet.lengthen(sealed_parquet.verified(path), piece.data, piece.facts)
    except sealed_parquet.DamageError as damage:
        raise OSError(f"{path} was changed by somebody else: {damage}") from damage


def begin_job(config: Config, directory: RunDirectory, pool: WorkerPool, begun: float, tell: Callable[[str], None]) -> Job:
    """Start the workers, and write the study and the manifest.

    Raises:
        ConfigError: JAX cannot start; nothing was written.
        OSError: the directory cannot be written.
        RunError: a worker does not describe itself.
    """
    setting = require_setting(pool.executor.submit(describe_runtime).result())
    before = directory.read_manifest()
    manifest = new_manifest(config, before, setting)
    known = before.get("provenance") or setting.provenance
    for name in {**known, **setting.provenance}:
        there, here = known.get(name, "off"), setting.provenance.get(name, "off")
        if here != there:
            tell(f"Note: the run was begun with {name} {there}, now it is {here}: the last digits of its rows may differ.")
    # in the order of `directory`; the manifest comes first, so that the directory belongs to this run, whatever happens later
    remove(directory.success)
    if not directory.has_config(manifest["config"]):
        remove(directory.config)
    directory.write_manifest(manifest)
    write_text(directory.config, manifest["config"])
    make_inner_folder(directory.points)
    seconds = dict.fromkeys((COMPILING, COMPUTING, ENCODING, WRITING), 0.0)
    return Job(config, directory, pool, setting, manifest, seconds, begun)


def new_manifest(config: Config, before: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """The manifest of a run before its end. A resumed run keeps its time of creation, its provenance and the studies that it extends."""
    extends = dict(before.get("extends", {}))
    if before and before["config_hash"] != config.digest:
        extends[before["config_hash"]] = before["points"]
    return {
        **identity(config),
        "extends": extends,
        "created": before.get("created") or datetime.now(UTC).isoformat(timespec="seconds"),
        "provenance": before.get("provenance") or setting.provenance,
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
    manifest = {**directory.read_manifest(), **finished}
    remove(directory.success)
    directory.write_manifest(manifest)
    directory.write_mark(manifest)


def tidy(directory: RunDirectory, strays: Iterable[str], alone: bool) -> None:
    """Remove or rename files that are not part of the run.

    Args:
        directory: directory of the run.
        strays: foreign files in the dataset. They are renamed, so that no reader takes their rows for rows of the run.
        alone: whether no other process writes to the directory. If so, half-written files of killed processes are removed.
    """
    for name in strays:
        with suppress(FileNotFoundError):
            rename(directory.points / name, directory.points / f".{name}.foreign")
    if alone:
        for folder in (directory.path, directory.points, directory.boundaries.parent):
            remove_leftovers(folder, ".*.tmp")  # earlier versions gave them other names


@contextmanager
def tidied(directory: RunDirectory, alone: bool) -> Iterator[None]:
    """After an error or a signal, which may come between the creation of a file and all that follows, remove half-written files."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            tidy(directory, (), alone)
        raise


def compute_shards(job: Job, missing: Mapping[int, int], done: dict[int, dict[str, Any]], progress: Progress) -> int:
    """Compute the `missing` shards (number -> rows that are written), add them to `done`, and return the number of computed rows."""
    total = job.config.design.count
    rows, computed = sum(shard["rows"] for shard in done.values()) + sum(missing.values()), 0
    progress(rows, total)
    for written in job.compute(missing):
        if written.whole:
            done[written.number] = written.facts
        computed += written.rows
        progress(rows + computed, total)
    return computed
