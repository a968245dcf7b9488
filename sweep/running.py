"""Running a study: what is missing of it is computed, shard after shard or level after level."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernels.status import RESULTS
from sweep.computing import Job, Progress, Solved, begin, compute_and_write, solve_points
from sweep.config import Config, load
from sweep.convergence.levels import compute_levels
from sweep.design import Convergence, Points
from sweep.directory import SHARD_POINTS, RunDirectory, shard_count, total_statuses

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from kernels.batch import Solution


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
        """Rows without results; a status may be a remark on a row that has them."""
        return sum(count for status, count in self.statuses.items() if status not in {result.sentence for result in RESULTS})

    @property
    def remarks(self) -> dict[str, int]:
        """Rows with results and another status than "ok", by that."""
        return {status.sentence: self.statuses[status.sentence] for status in RESULTS[1:] if status.sentence in self.statuses}

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows in the order of the points, all columns or those named; units and descriptions in the fields' metadata."""
        import pyarrow.dataset as ds

        return ds.dataset(self.directory / "points", format="parquet").to_table(columns=None if columns is None else list(columns))

    def to_pandas(self) -> pd.DataFrame:
        """The rows in the order of the points as a pandas DataFrame; `regime`, `scheme` and `status` are categorical."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def convergence(self) -> pa.Table:
        """The table of a convergence study, one row a point; FileNotFoundError where the run is none."""
        import pyarrow.parquet as pq

        return pq.ParquetFile(RunDirectory(self.directory).convergence).read()


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
        progress: called with (points done, points of the study) after every shard; a point of a convergence study is done when it is
            refined no more.

    Returns:
        The run. Rows that fail do not raise: they have NaN observables and a status.

    Raises:
        ConfigError: the study is wrong, `out` holds something else, or JAX cannot start; nothing was written.
        OSError: the directory cannot be written; what was written is whole, and running again goes on.
    """
    checked = load(config, overrides)
    directory = RunDirectory(default_directory(checked) if out is None else Path(out))
    directory.claim(checked)
    study = isinstance(checked.design, Convergence)
    done = directory.done(checked.digest, None if study else checked.design.count)
    if directory.is_complete(done) and (directory.convergence.exists() or not study):
        return Run(directory.path, checked, total_statuses(done), directory.read_manifest().get("seconds", {}), computed=0)
    job = begin(checked, directory)
    compute = compute_levels if study else compute_shards
    computed = compute(job, done, progress or (lambda _done, _total: None))
    job.finish(done, computed)
    return Run(directory.path, checked, total_statuses(done), job.seconds, computed)


def compute_shards(job: Job, done: dict[int, dict[str, Any]], progress: Progress) -> int:
    """Compute the shards that are not `done`, adding them, and return how many rows they have."""
    total = job.config.design.count
    missing = [number for number in range(shard_count(total)) if number not in done]

    def solved(number: int) -> Solved:
        points = job.config.design.points(number * SHARD_POINTS, min((number + 1) * SHARD_POINTS, total))
        return number, points, solve_points(job.config, points, job.solve)

    def write(number: int, points: Points, solution: Solution) -> None:
        done[number] = job.write(number, points, solution)
        progress(sum(shard["rows"] for shard in done.values()), total)

    progress(sum(shard["rows"] for shard in done.values()), total)
    compute_and_write(missing, solved, write)
    return sum(done[number]["rows"] for number in missing)
