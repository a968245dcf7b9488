"""Checking the shards of a run: which are complete, and what is wrong with the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sweep.design.designs import Adaptive
from sweep.execution.directory import RunDirectory
from sweep.execution.job_share import Share
from sweep.study.config import Config

SHOWN = 20

SHARD_NAME = re.compile(r"part-(\d{6})\.parquet")
READERS = 4  # threads; a shard is read as a whole


@dataclass(slots=True)
class ShardStates:
    """The files in the dataset of a run.

    Attributes:
        whole: number -> facts of the intact shards.
        faulty: file name -> its fault.
        strays: names of files that do not belong to the dataset but would be found by readers.
    """

    whole: dict[int, dict[str, Any]] = field(default_factory=dict)
    faulty: dict[str, str] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ExpectedShards:
    """The expected shards of a run.

    Attributes:
        digests: hash -> number of points, for this study and those that it extends; their points are the first points of this run.
        shards: number of shards.
        shard_points, points: points per shard and in the run. `points` is None for adaptive designs, because results decide it.
    """

    digests: Mapping[str, int]
    shards: int
    shard_points: int
    points: int | None

    def rows(self, number: int) -> int | None:
        """The number of rows of a shard; None if unknown."""
        return None if self.points is None else min(self.shard_points, self.points - number * self.shard_points)


def inspect_shards(directory: RunDirectory, expected: ExpectedShards, share: Share | None = None, trust: bool = False) -> ShardStates:
    """Inspect every shard of a run.

    Args:
        directory: directory of the run.
        expected: the expected shards.
        share: inspect only these shards; default: all.
        trust: read only footers, which reveal a truncated or foreign shard but not changed bytes.
    """
    found = ShardStates()
    files: dict[Path, int] = {}
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in sorted(directory.points.iterdir()):
            match = SHARD_NAME.fullmatch(path.name)
            if match and int(match[1]) < expected.shards:
                files |= {path: int(match[1])} if share is None or int(match[1]) in share else {}
            elif not path.name.startswith((".", "_")):
                found.strays.append(path.name)
    with ThreadPoolExecutor(READERS) as pool:
        results = pool.map(lambda path: examine_shard(path, files[path], expected, trust), files)
        for (path, number), result in zip(files.items(), results, strict=True):
            if isinstance(result, str):
                found.faulty[path.name] = result
            elif result is not None:
                found.whole[number] = result
    return found


def examine_shard(path: Path, number: int, expected: ExpectedShards, trust: bool) -> dict[str, Any] | str | None:
    """The facts of a shard, or its fault; None if the file is missing, or if the extended study has more rows in this shard."""
    facts = read_shard(path, trust)
    if not isinstance(facts, dict):
        return facts
    points = expected.digests.get(str(facts.get("config_hash")))
    if points is None:
        return "it belongs to another study"
    rows = expected.rows(number)
    if facts.get("number") == number and (rows is None or (facts["rows"] == rows and number * expected.shard_points + rows <= points)):
        return facts
    # an extended study has more rows in what was its last shard
    extended = points < (expected.points or 0) and number * expected.shard_points + facts["rows"] == points
    return None if extended else "it holds other points"


def read_shard(path: Path, trust: bool) -> dict[str, Any] | str | None:
    """The facts of a shard file, or its fault; None if the file is missing."""
    import pyarrow as pa

    from sweep.execution import parquet

    try:
        data = None if trust else path.read_bytes()
        intact = data is None or parquet.is_intact(data)
        facts = parquet.read_facts(path if data is None else data) if intact is not False else None
    except FileNotFoundError:
        return None
    except PermissionError as error:
        return str(error.strerror)
    except (OSError, pa.ArrowException):
        return "it is cut short, or no Parquet file"
    if intact is False:
        return "its bytes are not those that were written (the checksum differs)"
    return facts if facts and intact else "it was not written by tribosweep, or by an older version"


def inspect_run(directory: RunDirectory, config: Config, share: Share | None = None, trust: bool = False) -> ShardStates:
    """The states of the shards of a run, or of a share; `trust` as in `inspect_shards`."""
    manifest = directory.read_manifest()
    digests = {**manifest.get("extends", {}), **({manifest["config_hash"]: manifest["points"]} if manifest else {})}
    points = None if isinstance(config.design, Adaptive) else config.design.count
    expected = ExpectedShards({**digests, config.digest: config.design.count}, config.shards, config.shard_points, points)
    return inspect_shards(directory, expected, share, trust)


def is_complete(directory: RunDirectory, config: Config, found: ShardStates) -> bool:
    """Whether a run that is marked as complete is in fact complete."""
    if found.faulty or found.strays:
        return False
    if isinstance(config.design, Adaptive):
        return directory.table(config.design).exists() and len(found.whole) == directory.read_manifest().get("shards")
    return len(found.whole) == config.shards


def describe_faults(directory: RunDirectory, found: ShardStates) -> list[str]:
    """Sentences on the faulty files of a dataset and on how they are handled."""
    faulty = [f"{directory.points / name}: {reason}; it is computed again." for name, reason in found.faulty.items()]
    strays = [f"{directory.points / name}: not of this run; it is set aside as .{name}.foreign." for name in found.strays]
    more = len(faulty) - SHOWN
    return [*faulty[:SHOWN], *([f"{directory.points}: and {more} more shards like these."] if more > 0 else []), *strays]
