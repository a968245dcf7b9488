"""Running a study: shard after shard is computed, and written while the next one is computed."""

from __future__ import annotations

import importlib
import json
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import sweep
from kernels.status import Status
from sweep.config import SCHEMA_VERSION, Config, load
from sweep.design import Points
from sweep.directory import SHARD_POINTS, RunDirectory, shard_count, total_statuses, write_text
from sweep.doctor import cannot_start
from sweep.problems import ConfigError, Problem
from sweep.rules import by_scheme, take

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from kernels.batch import Solution

Progress = Callable[[int, int], None]
Solved: TypeAlias = "tuple[int, Points, Solution]"
SOLVERS = 2  # one shard computes while the next is prepared; the devices take one at a time


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run.

    Attributes:
        directory: where it lies; `points/` in it is the dataset.
        config: the study.
        statuses: rows by status.
        seconds: compiling, computing, writing (beside computing) and total, of the call that computed last.
        computed: rows that this call computed; 0 when the run was already complete.
    """

    directory: Path
    config: Config
    statuses: dict[str, int]
    seconds: dict[str, float]
    computed: int

    @property
    def failed(self) -> int:
        """Rows that have another status than "ok"."""
        return sum(count for status, count in self.statuses.items() if status != Status.OK.sentence)

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows in the order of the points, all columns or those named; units and descriptions in the fields' metadata."""
        import pyarrow.dataset as ds

        return ds.dataset(self.directory / "points", format="parquet").to_table(columns=None if columns is None else list(columns))

    def to_pandas(self) -> pd.DataFrame:
        """The rows in the order of the points as a pandas DataFrame; `regime`, `scheme` and `status` are categorical."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame


def default_directory(config: Config) -> Path:
    """Where a study runs unless told otherwise."""
    return Path("runs") / config.name


def run(
    config: Config | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    progress: Progress | None = None,
) -> Run:
    """Run a study, or what is missing of it.

    Args:
        config: path of a TOML file, the same as nested dicts, or a checked `Config`.
        out: directory of the run; `runs/<study name>` when omitted. The same study in it is completed, or left as it is when complete.
        overrides: "path=value" texts that replace keys of the study.
        progress: called with (points done, points of the study) after every shard.

    Returns:
        The run. Rows that fail do not raise: they have NaN observables and a status.

    Raises:
        ConfigError: the study is wrong, `out` holds something else, or JAX cannot start; nothing was written.
        OSError: the directory cannot be written; what was written is whole, and running again goes on.
    """
    checked = load(config, overrides)
    directory = RunDirectory(default_directory(checked) if out is None else Path(out))
    directory.claim(checked)
    total = checked.design.count
    done = directory.done(checked.digest, total)
    if directory.success.exists() and len(done) == shard_count(total):
        return Run(directory.path, checked, total_statuses(done), directory.read_manifest().get("seconds", {}), computed=0)
    return compute(checked, directory, done, progress or (lambda _done, _total: None))


def compute(config: Config, directory: RunDirectory, done: dict[int, dict[str, Any]], progress: Progress) -> Run:
    """Compute the shards that are not `done`, adding them, and mark the run complete."""
    from kernels import runtime

    begin = time.perf_counter()
    runtime.prepare()
    from kernels.batch import solve

    try:
        provenance = runtime.describe()
    except Exception as error:
        raise ConfigError("tribosweep", [Problem("", cannot_start(error))]) from error
    total = config.design.count
    seconds = {"compiling": 0.0, "computing": 0.0, "writing": 0.0}
    manifest = new_manifest(config, directory, provenance)
    directory.points.mkdir(parents=True, exist_ok=True)
    directory.success.unlink(missing_ok=True)
    write_text(directory.config, config.to_toml())
    write_text(directory.manifest, json.dumps(manifest, indent=2))

    def write(number: int, points: Points, solution: Solution) -> None:
        from sweep import store

        start = time.perf_counter()
        facts = {"config_hash": config.digest, "statuses": store.count_statuses(solution.status)}
        table = store.encode(config, store.schema(config, provenance), points, solution)
        store.write_shard(directory.shard(number), table, facts)
        done[number] = {**facts, "rows": points.count}
        seconds["compiling"] += solution.compile_seconds
        seconds["computing"] += solution.run_seconds
        seconds["writing"] += time.perf_counter() - start
        progress(sum(shard["rows"] for shard in done.values()), total)

    missing = [number for number in range(shard_count(total)) if number not in done]

    def solved(number: int) -> Solved:
        points = config.design.points(number * SHARD_POINTS, min((number + 1) * SHARD_POINTS, total))
        return number, points, solve_points(config, points, solve)

    progress(sum(shard["rows"] for shard in done.values()), total)
    compute_and_write(missing, solved, write)
    seconds["total"] = time.perf_counter() - begin
    statuses = total_statuses(done)
    computed = sum(done[number]["rows"] for number in missing)
    finished = {"finished": datetime.now(UTC).isoformat(timespec="seconds"), "statuses": statuses, "seconds": seconds, "computed": computed}
    write_text(directory.manifest, json.dumps({**manifest, **finished}, indent=2))
    write_text(directory.success, "")
    return Run(directory.path, config, statuses, seconds, computed)


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


def new_manifest(config: Config, directory: RunDirectory, provenance: Mapping[str, str]) -> dict[str, Any]:
    """What is known of a run before it ends; one that goes on keeps the time when it was created."""
    return {
        "version": sweep.__version__,
        "schema_version": SCHEMA_VERSION,
        "study": config.name,
        "config_hash": config.digest,
        "points": config.design.count,
        "shards": shard_count(config.design.count),
        "shard_points": SHARD_POINTS,
        "created": directory.read_manifest().get("created") or datetime.now(UTC).isoformat(timespec="seconds"),
        "provenance": provenance,
    }


def solve_points(config: Config, points: Points, solve: Callable[..., Solution]) -> Solution:
    """Results of a block of points in their order, whichever schemes compute them."""
    groups = by_scheme(points, config.scheme)
    parts: list[tuple[np.ndarray | slice, Solution]] = []
    for scheme, rows in groups:
        columns, absent, count = take(points, rows)
        parts.append((rows, solve(config.model, scheme, {**config.fixed, **columns}, absent, count)))
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
