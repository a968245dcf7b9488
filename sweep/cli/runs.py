"""`tribosweep run`, `resume` and `check`."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tribosweep.sweep.api import Run, default_directory, load_run, run_with
from tribosweep.sweep.cli.arguments import AsJson, RunFolder, Settings, StudyFile
from tribosweep.sweep.cli.run_summary import describe_study, summarise
from tribosweep.sweep.cli.shared import (
    BAD_CONFIG,
    FAILED_CHECK,
    FAILED_ROWS,
    NO_RESOURCES,
    interruptible,
    reason,
    shortage,
)
from tribosweep.sweep.cli.terminal import emit, print_json, progress, say
from tribosweep.sweep.design.sensitivity import remarks_on
from tribosweep.sweep.execution import dask_pool, executors
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.executors import WorkerPool
from tribosweep.sweep.execution.integrity import check_run, restore
from tribosweep.sweep.execution.job_share import Share
from tribosweep.sweep.io.errors import ConfigError, Problem, RunError
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.load import load


class ExecutorName(StrEnum):
    """The kinds of executors."""

    local = "local"
    dask = "dask"


WhoComputes = Annotated[ExecutorName, typer.Option("--executor", help="Who computes: this process, or Dask distributed.")]
Workers = Annotated[int | None, typer.Option(help="With --executor dask: start that many workers on this machine; default one per core.")]
Scheduler = Annotated[str | None, typer.Option(help="With --executor dask: address of a scheduler, such as tls://10.0.0.1:8786.")]
ShareText = Annotated[str | None, typer.Option("--shard", help="Compute one part of the run: 2/8 is the second of eight jobs.")]


@dataclass(frozen=True, slots=True)
class ExecutorOptions:
    """The options of the command line that choose the executor."""

    executor: ExecutorName
    workers: int | None
    scheduler: str | None
    shard: str | None

    def pool(self) -> AbstractContextManager[WorkerPool]:
        """The pool of workers; ConfigError if the options contradict each other."""
        dask = self.executor is ExecutorName.dask
        problems = []
        for name, value in (("--workers", self.workers), ("--scheduler", self.scheduler)):
            if value is not None and not dask:
                problems.append(Problem(name, f"{value} needs --executor dask"))
        if self.workers is not None and self.workers < 1:
            problems.append(Problem("--workers", f"{self.workers} is out of bounds: must be >= 1"))
        if self.workers is not None and self.scheduler is not None:
            problems.append(Problem("--workers", "are those of the scheduler: give either --workers or --scheduler"))
        if problems:
            raise ConfigError("command line", problems)
        return dask_pool.dask(self.scheduler, self.workers, say) if dask else executors.in_process()

    def words(self) -> list[str]:
        """The options as words of a command line."""
        given = {"--workers": self.workers, "--scheduler": self.scheduler, "--shard": self.shard}
        dask = ["--executor", self.executor.value] if self.executor is ExecutorName.dask else []
        return [*dask, *(word for name, value in given.items() if value is not None for word in (name, str(value)))]


def compute(study: Config, directory: Path, means: ExecutorOptions, extend: bool = False) -> Run:
    """Run a study with a progress bar; if it is stopped, print how to resume it."""
    pool, share = means.pool(), None if means.shard is None else Share.parse(means.shard)

    def going_on() -> str:
        if "config_hash" not in RunDirectory(directory).read_manifest():
            return ""
        return f"What is written is whole; to go on:\n  {shlex.join(['tribosweep', 'resume', str(directory), *means.words()])}"

    try:
        with interruptible(lambda: going_on() or "Nothing was written."), progress() as update:
            return run_with(pool, study, directory, extend, share, update, say)
    except (OSError, RunError, MemoryError, RuntimeError) as error:
        lacking = shortage(error)
        if isinstance(error, RuntimeError) and not lacking:
            raise
        say(". ".join(filter(None, [lacking or reason(error), going_on()])))
        raise typer.Exit(NO_RESOURCES if lacking else BAD_CONFIG) from None


def carry_out(study: Config, directory: Path, means: ExecutorOptions, as_json: bool, extend: bool = False) -> None:
    """Run a study with a progress bar, and print its summary."""
    if not summarise(compute(study, directory, means, extend), as_json):
        raise typer.Exit(FAILED_ROWS)


def run(
    config: StudyFile,
    out: Annotated[Path | None, typer.Option(help="Directory of the run; default runs/<study name>. The same study is resumed.")] = None,
    settings: Settings = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the study and print it as resolved; compute and write nothing.")
    ] = False,
    extend: Annotated[
        bool, typer.Option("--extend", help="Keep the points of a run that are the first of this study; add the others.")
    ] = False,
    executor: WhoComputes = ExecutorName.local,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: ShareText = None,
    as_json: AsJson = False,
) -> None:
    """Run a study, or compute the missing part of its run."""
    study = load(config, settings or [])
    if ignored := ", ".join(study.ignored):
        say(f"Note: no scheme of this study reads {ignored}.")
    for remark in (*(f"{sentence}." for sentence in (*study.unused, *study.assumed)), *remarks_on(study.design)):
        say(f"Note: {remark}")
    directory = out if out is not None else default_directory(study)
    if dry_run:
        describe_study(study, directory, as_json)
        return
    carry_out(study, directory, ExecutorOptions(executor, workers, scheduler, shard), as_json, extend)


def resume(
    directory: RunFolder,
    executor: WhoComputes = ExecutorName.local,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: ShareText = None,
    as_json: AsJson = False,
) -> None:
    """Compute only the missing part of a run; damaged shards are computed again."""
    carry_out(load_run(directory, say), directory, ExecutorOptions(executor, workers, scheduler, shard), as_json)


def check(
    directory: RunFolder,
    repair: Annotated[
        bool, typer.Option("--repair", help="Write damaged files again; compute the rows of damaged and missing shards.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify every file of a run against its checksum."""
    found = check_run(directory)
    before = dict(found.faults)
    for file, fault in before.items():
        say(f"{file}: {fault}.")
    if repair and (before or not found.complete):
        restore(directory)
        compute(load_run(directory, say), directory, ExecutorOptions(ExecutorName.local, None, None, None))
        found = check_run(directory)
        for file, fault in found.faults.items():
            say(f"{file}: still {fault}. The command that wrote it writes it again.")
    if as_json:
        faults = {str(file): fault for file, fault in found.faults.items()}
        print_json(
            {"directory": str(directory), "files": found.files, "shards": found.shards, "complete": found.complete, "faults": faults}
        )
    else:
        of = "" if found.expected is None else f" of {found.expected:,}"
        state = "complete" if found.complete else "not complete"
        emit(f"{found.files:,} files, {found.shards:,}{of} shards intact, {len(found.faults):,} damaged; the run is {state}.")
    if found.faults:
        if not repair:
            say(f"To compute it again:\n  {shlex.join(['tribosweep', 'check', str(directory), '--repair'])}")
        raise typer.Exit(FAILED_CHECK)
