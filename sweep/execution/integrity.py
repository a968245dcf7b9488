"""Checking all files of a run against the checksums with which they were written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.design.designs import BY_LEVELS
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.lock import hold
from tribosweep.sweep.execution.shard_check import expected_by, inspect_shards
from tribosweep.sweep.io.atomic import remove, write_text
from tribosweep.sweep.study.capabilities import BOUNDARY, CONVERGENCE

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Integrity:
    """The findings of a check.

    Attributes:
        files: number of verified files.
        shards, expected: number of intact shards, and of all shards of the run; None if only its results decide their number.
        complete: whether the run is marked as complete, and all its shards and the table of its design are intact.
        faults: file -> what is wrong with it.
    """

    files: int
    shards: int
    expected: int | None
    complete: bool
    faults: dict[Path, str]


def check_run(path: Path) -> Integrity:
    """Verify every file of a run.

    Raises:
        ConfigError: there is no run, or another version wrote it. OSError: the directory cannot be read.
    """
    directory = RunDirectory(path)
    manifest = directory.read_run(to_continue=False)
    faults: dict[Path, str] = {}
    if not directory.stored_manifest():
        faults[directory.manifest] = "is missing" if not directory.manifest.exists() else "is not as it was written"
    marked = directory.is_marked(manifest)
    if directory.config.exists() and not directory.has_config(manifest["config"]):
        faults[directory.config] = "is not the study of the run"
    elif marked and not directory.config.exists():  # a call that was stopped may not have written it yet
        faults[directory.config] = "is missing"
    found = inspect_shards(directory, expected_by(manifest))
    faults |= {directory.points / name: reason for name, reason in found.faulty.items()}
    faults |= {directory.points / name: "is not of this run" for name in found.strays}
    if marked:
        faults |= {directory.shard(number): "it ends early, though the run is marked as complete" for number in found.begun}
    tables = list(tables_of(directory, manifest["design"], marked))
    for table in tables:
        if reason := fault_of(table):
            faults[table] = reason
    levels = manifest["design"] in BY_LEVELS
    expected = manifest["shards"] if marked or not levels else None
    there = len(found.whole) + len(found.begun) + len(found.faulty)
    if marked and there < manifest["shards"]:
        faults[directory.success] = f"marks a run of {manifest['shards']:,} shards as complete, and {there:,} are there"
    elif directory.success.exists() and not marked:
        faults[directory.success] = "marks another run than that of the manifest"
    beside = {directory.convergence, directory.boundaries, directory.levels}
    complete = marked and len(found.whole) == manifest["shards"] and not faults.keys() & beside
    files = 2 + len(found.whole) + len(found.begun) + len(found.faulty) + len(tables)
    return Integrity(files, len(found.whole), expected, complete, faults)


def restore(path: Path) -> None:
    """Write the manifest and the study of a run again if they are damaged. Errors as `check_run`; ConfigError if another process writes."""
    directory = RunDirectory(path)
    with hold(path):
        manifest = directory.read_run()
        if not directory.stored_manifest():
            remove(directory.success)
            directory.write_manifest(manifest)
        if not directory.has_config(manifest["config"]):
            write_text(directory.config, manifest["config"])


def tables_of(directory: RunDirectory, design: str, marked: bool) -> Iterator[Path]:
    """The tables beside the rows of a run."""
    for kind, table in ((CONVERGENCE, directory.convergence), (BOUNDARY, directory.boundaries), (SUBSET, directory.levels)):
        if design == kind and (marked or table.exists()):
            yield table
    yield from sorted((directory.path / "sensitivity").glob("*.parquet"))


def fault_of(table: Path) -> str | None:
    """What is wrong with a table; None if nothing is."""
    from tribosweep.sweep.io import sealed_parquet

    try:
        sealed_parquet.verify(table)
    except FileNotFoundError:
        return "is missing"
    except sealed_parquet.DamageError as damage:
        return str(damage)
    return None
