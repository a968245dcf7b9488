"""Run a study: compute its missing shards, or its missing levels."""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernels.models.status import RESULTS
from sweep.design.designs import Adaptive
from sweep.design.refinement import Convergence
from sweep.execution import executors
from sweep.execution.directory import RunDirectory, count_failed, total_statuses
from sweep.execution.executors import WorkerPool
from sweep.execution.extension import claim
from sweep.execution.job import Progress, begin_job, compute_shards, mark_complete, tidy
from sweep.execution.job_share import Share
from sweep.execution.lock import hold
from sweep.execution.shard_check import describe_faults, inspect_run, is_complete
from sweep.io.errors import ConfigError, Problem
from sweep.study.config import Config
from sweep.study.load import load

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Run:
    """A run, or the share of one that has been computed so far.

    Attributes:
        directory: where it lies; `points/` in it is the dataset.
        config: the study.
        complete: whether all shards are there.
        statuses: rows by status.
        seconds: compiling, computing, encoding and writing (beside computing), waiting and total, of the call that computed last.
        computed: rows that this call computed; 0 when nothing was missing.
        problems: what is wrong with the setup that computed, a sentence each.
    """

    directory: Path
    config: Config
    complete: bool
    statuses: dict[str, int]
    seconds: dict[str, float]
    computed: int
    problems: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        """Rows without results; a status may be a remark on a row that has them."""
        return count_failed(self.statuses)

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

    def over(self, parameter: str, observables: Sequence[str] = (), confidence: float = 0.95) -> pa.Table:
        """Mean and spread over one swept parameter, such as "draw" or "record", at each point of the others; see `group_statistics`."""
        from sweep.analysis.group_statistics import group_statistics

        return group_statistics(self.directory, parameter, observables, confidence)

    def convergence(self) -> pa.Table:
        """The table of a convergence study, one row a point; FileNotFoundError for another run."""
        import pyarrow.parquet as pq

        return pq.ParquetFile(RunDirectory(self.directory).convergence).read()

    def boundaries(self) -> pa.Table:
        """The curves of a boundary study, one row a place; FileNotFoundError for another run, or an incomplete one."""
        from sweep.execution.adaptive.boundary_table import read_boundaries

        return read_boundaries(self.directory)


def default_directory(config: Config) -> Path:
    """The default directory of a run."""
    return Path("runs") / config.name


def run(
    config: Config | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    progress: Progress | None = None,
    *,
    extend: bool = False,
    share: Share | None = None,
    executor: Executor | None = None,
    workers: int = 1,
    tell: Tell | None = None,
) -> Run:
    """Run a study, or what is missing of it.

    Args:
        config: path of a TOML file, the same as nested dicts, or a checked `Config`.
        out: directory of the run; `runs/<study name>` when omitted. The same study in it is completed, or left as it is when complete.
        overrides: "path=value" texts that replace keys of the study.
        progress: called with (points done, points of the study) after every shard; a point of a convergence study is done when it is
            refined no more, and a study of boundaries has as many points as are known to be needed.
        extend: the directory may hold a study whose points are the first ones of this; they are kept.
        share: only that share of the shards. Whoever completes the run marks it as complete.
        executor: computes the shards, for instance a process pool or `distributed.Client.get_executor(pure=False)`, `workers` of them at a
            time; threads of this process when omitted. Its processes must start afresh ("spawn"), for JAX does not survive a fork.
        workers: of `executor`.
        tell: called with sentences for the user; they are logged as warnings of "tribosweep" when omitted.

    Returns:
        The run. Rows that fail do not raise: they have NaN observables and a status.

    Raises:
        ConfigError: the study is wrong, `out` holds something else or somebody else writes to it, or JAX cannot start; nothing was written.
        OSError: the directory cannot be written; what was written is whole, and running again goes on.
        RunError: those who compute were lost; the same holds.
    """
    checked = load(config, overrides)
    path = default_directory(checked) if out is None else Path(out)
    pool = executors.in_process() if executor is None else executors.given(executor, workers)
    return run_with(pool, checked, path, extend, share, progress or (lambda _done, _total: None), tell or getLogger("tribosweep").warning)


def resume(
    directory: str | os.PathLike[str],
    progress: Progress | None = None,
    *,
    share: Share | None = None,
    executor: Executor | None = None,
    workers: int = 1,
    tell: Tell | None = None,
) -> Run:
    """Compute what is missing of the run in a directory, and nothing else; see `run`."""
    told = tell or getLogger("tribosweep").warning
    config = load_run(Path(directory), told)
    return run(config, directory, (), progress, share=share, executor=executor, workers=workers, tell=told)


def load_run(path: Path, tell: Tell) -> Config:
    """The study of the run in a directory; ConfigError if no run there can be continued."""
    directory = RunDirectory(path)
    manifest = directory.read_run()
    try:
        config = load(tomllib.loads(manifest["config"]))
    except (KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(str(directory.manifest), [Problem("config", f"the study cannot be read: {error}")]) from error
    except ConfigError as error:
        raise ConfigError(str(directory.config), error.problems) from error
    if directory.config.exists() and directory.config.read_text(encoding="utf-8", errors="replace") != manifest["config"]:
        tell(f"Note: {directory.config} is not the study of this run, which goes on as it was begun; another needs its own --out.")
    return config


def run_with(
    pool: AbstractContextManager[WorkerPool], config: Config, path: Path, extend: bool, share: Share | None, progress: Progress, tell: Tell
) -> Run:
    """Run a checked study with a pool that is ready to start; see `run`."""
    begun = time.perf_counter()
    directory = RunDirectory(path)
    adaptive = isinstance(config.design, Adaptive)
    if adaptive and share is not None:
        which = "convergence study" if isinstance(config.design, Convergence) else "study of boundaries"
        raise ConfigError("--shard", [Problem("", f"a {which} goes level by level, each from the ones before: it has no parts")])
    if extend and share is not None:
        message = "extending is for one: give --extend without --shard, interrupt it if you like, then resume with --shard"
        raise ConfigError("--extend", [Problem("", message)])
    claim(directory, config, extend)
    if directory.success.exists():
        found = inspect_run(directory, config)
        if is_complete(directory, config, found):
            return Run(path, config, True, total_statuses(found.whole), directory.read_manifest().get("seconds", {}), 0)
    with hold(path, share):
        claim(directory, config, extend)  # somebody else may have been here meanwhile
        found = inspect_run(directory, config, share)
        for sentence in describe_faults(directory, found):
            tell(sentence)
        tidy(directory, found.strays, alone=share is None)
        every = range(0 if adaptive else config.shards)
        missing = [number for number in every if number not in found.whole and (share is None or number in share)]
        computed, seconds = 0, dict[str, float]()
        problems: tuple[str, ...] = ()
        if missing or adaptive:
            with pool as ready:
                job = begin_job(config, directory, ready, begun, tell)
                if adaptive:
                    from sweep.execution.adaptive.levels import compute_levels

                    computed = compute_levels(job, found.whole, progress)
                else:
                    computed = compute_shards(job, missing, found.whole, progress)
                seconds, problems = job.split(), job.setting.problems
        if share is not None:
            found = inspect_run(directory, config, trust=True)
        complete = adaptive or len(found.whole) == config.shards
        if complete:
            mark_complete(directory, found.whole, seconds, computed)
        return Run(path, config, complete, total_statuses(found.whole), seconds, computed, problems)
