"""Run a study, or compute the missing shards or levels of its run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from logging import getLogger
from pathlib import Path
from typing import Any

from tribosweep.sweep.api.finished import Run
from tribosweep.sweep.api.progress import shown
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.designs import Adaptive
from tribosweep.sweep.design.refinement import Convergence
from tribosweep.sweep.execution import executors
from tribosweep.sweep.execution.directory import RunDirectory, total_statuses
from tribosweep.sweep.execution.executors import WorkerPool
from tribosweep.sweep.execution.extension import claim
from tribosweep.sweep.execution.job import Progress, begin_job, compute_shards, mark_complete, tidied, tidy
from tribosweep.sweep.execution.job_share import Share
from tribosweep.sweep.execution.lock import clear, hold
from tribosweep.sweep.execution.shard_check import describe_faults, inspect_run, is_complete
from tribosweep.sweep.io.argument_names import in_python
from tribosweep.sweep.io.atomic import remove
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.toml import parse_toml
from tribosweep.sweep.study.builder import Study
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.load import load

Tell = Callable[[str], None]


def default_directory(config: Config) -> Path:
    """The default directory of a run."""
    return Path("runs") / config.name


def run(
    config: Config | Study | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    progress: Progress | bool | None = None,
    *,
    extend: bool = False,
    share: Share | None = None,
    executor: Executor | None = None,
    workers: int = 1,
    tell: Tell | None = None,
    throw: bool = False,
) -> Run:
    """Run a study, or compute the missing part of its run.

    Args:
        config: path of a TOML file, the name of a shipped study, the same as nested dicts, a `Study`, or a checked `Config`.
        out: directory of the run; default `runs/<study name>`. An incomplete run of the same study is completed, a complete one is kept.
        overrides: "path=value" texts that replace keys of the study.
        progress: called with (points done, points of the study) after every shard. A point of a convergence study is done when it is
            refined no further. For a boundary study, the number of points is the number known to be needed so far. True for a bar on
            stderr or in the notebook, False for none; default: a bar in notebooks.
        extend: the directory may hold a run of a study whose points are the first points of this study; its rows are kept.
        share: compute only this share of the shards. The process that completes the run marks it as complete.
        executor: computes the shards, `workers` of them at a time: a process pool, `distributed.Client.get_executor(pure=False)`, or
            another one; default: threads of this process. Worker processes must be started by "spawn", because JAX does not survive a fork.
        workers: number of workers of `executor`.
        tell: called with sentences for the user; default: they are logged as warnings of "tribosweep".
        throw: whether failed rows raise an error, after all rows are written; by default they have NaN observables and a status.

    Returns:
        The run.

    Raises:
        ConfigError: the study is wrong, `out` holds something else, another process writes to it, or JAX cannot start; nothing was written.
        OSError: the directory cannot be written. The written files are intact, and another call continues the run.
        RunError: the workers were lost; the written files are intact likewise.
        RowError: rows failed, with `throw`; the message names the first ones and their statuses.

    Examples:
        >>> run = tribosweep.run({"parameters": {"mu": 0.02}, "sweep": {"axes": {"a0": ["0.1 g", "0.3 g"]}}}, "runs/two", throw=True)
        >>> run.to_pandas()["regime"].tolist()
        ['slip-slip', 'slip-slip']
        >>> again = tribosweep.run("runs/two/config.toml", "runs/again", ["parameters.mu=0.2"])  # a file, with another value
    """
    with in_python():
        checked = load(config, overrides)
        path = default_directory(checked) if out is None else Path(out)
        pool = executors.in_process() if executor is None else executors.given(executor, workers)
        with shown(progress) as update:
            found = run_with(pool, checked, path, extend, share, update, tell or getLogger("tribosweep").warning)
    if throw:
        found.raise_failed()
    return found


def resume(
    directory: str | os.PathLike[str],
    progress: Progress | bool | None = None,
    *,
    share: Share | None = None,
    executor: Executor | None = None,
    workers: int = 1,
    tell: Tell | None = None,
    throw: bool = False,
) -> Run:
    """Compute only the missing part of the run in a directory.

    Args:
        directory: the directory of a run that `run` or the command line began.
        progress: see `run`, also for the result and the errors.
        share: see `run`.
        executor: see `run`.
        workers: see `run`.
        tell: see `run`.
        throw: see `run`.

    Examples:
        >>> begun = tribosweep.run(tribosweep.Study(name="begun", a0=[1.5, 15.0]))
        >>> tribosweep.resume("runs/begun").computed  # it is complete
        0
    """
    told = tell or getLogger("tribosweep").warning
    config = load_run(Path(directory), told)
    return run(config, directory, (), progress, share=share, executor=executor, workers=workers, tell=told, throw=throw)


def load_run(path: Path, tell: Tell) -> Config:
    """Read the study of the run in a directory; ConfigError if there is no run that can be continued."""
    directory = RunDirectory(path)
    manifest = directory.read_run()
    config = load_document(directory, manifest)
    if directory.config.exists() and not directory.has_config(manifest["config"]):
        tell(f"Note: {directory.config} differs from the study of this run and is ignored; a changed study needs its own --out.")
    return config


def load_document(directory: RunDirectory, manifest: Mapping[str, Any]) -> Config:
    """The study of a manifest; ConfigError if it cannot be read."""
    try:
        return load(parse_toml(manifest["config"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(str(directory.manifest), [Problem("config", f"the study cannot be read: {error}")]) from error
    except ConfigError as error:
        raise ConfigError(str(directory.config), error.problems) from error


def run_with(
    pool: AbstractContextManager[WorkerPool], config: Config, path: Path, extend: bool, share: Share | None, progress: Progress, tell: Tell
) -> Run:
    """Run a checked study with a pool that can be started; see `run`."""
    begun = time.perf_counter()
    directory = RunDirectory(path)
    adaptive = isinstance(config.design, Adaptive)
    if adaptive and share is not None:
        which = {Convergence: "convergence study", Boundary: "study of boundaries"}.get(type(config.design), "subset simulation")
        raise ConfigError("--shard", [Problem("", f"a {which} goes level by level, each determined by earlier ones: it has no parts")])
    if extend and share is not None:
        message = "one process extends a run: give --extend without --shard; you may interrupt it and then resume with --shard"
        raise ConfigError("--extend", [Problem("", message)])
    claim(directory, config, extend)
    if directory.is_marked(directory.stored_manifest()):
        found = inspect_run(directory, config)
        if is_complete(directory, config, found):
            clear(path)
            return Run(path, config, True, total_statuses(found.whole), directory.read_manifest().get("seconds", {}), 0)
    with hold(path, share), tidied(directory, alone=share is None):
        claim(directory, config, extend)  # another process may have written in the meantime
        found = inspect_run(directory, config, share)
        if directory.manifest.exists() and not directory.stored_manifest():
            tell(f"{directory.manifest}: it is not as it was written; it is rebuilt from the shards.")
        for sentence in describe_faults(directory, found):
            tell(sentence)
        remove(directory.success)  # if it is there, it is false
        tidy(directory, found.strays, alone=share is None)
        every = range(0 if adaptive else config.shards)
        begun_rows = {number: facts["rows"] for number, facts in found.begun.items()}
        mine = [number for number in every if number not in found.whole and (share is None or number in share)]
        missing = {number: begun_rows.get(number, 0) for number in mine}
        computed, seconds = 0, dict[str, float]()
        problems: tuple[str, ...] = ()
        if missing or adaptive:
            with pool as ready:
                job = begin_job(config, directory, ready, begun, tell)
                if adaptive:
                    from tribosweep.sweep.execution.adaptive.levels import compute_levels

                    computed = compute_levels(job, found.whole, progress)
                else:
                    computed = compute_shards(job, missing, found.whole, progress)
                seconds, problems = job.split(), job.setting.problems
        if share is not None:
            found = inspect_run(directory, config, trust=True)
        complete = adaptive or len(found.whole) == config.shards
        if complete:
            mark_complete(directory, found.whole, seconds, computed)
        return Run(path, config, complete, total_statuses(found.whole | found.begun), seconds, computed, problems)
