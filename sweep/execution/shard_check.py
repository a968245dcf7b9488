"""Checking the shards of a run: which are complete, and what is wrong with the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tribosweep.sweep.design.designs import BY_LEVELS, Adaptive
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.job_share import Share
from tribosweep.sweep.study.config import Config

SHOWN = 20

SHARD_NAME = re.compile(r"part-(\d{6})\.parquet")
READERS = 4  # threads; a shard is read as a whole


@dataclass(slots=True)
class ShardStates:
    """The files in the dataset of a run.

    Attributes:
        whole: number -> facts of the intact shards.
        begun: number -> facts of intact shards that have only their first rows.
        faulty: file name -> its fault.
        strays: names of files that do not belong to the dataset but would be found by readers.
    """

    whole: dict[int, dict[str, Any]] = field(default_factory=dict)
    begun: dict[int, dict[str, Any]] = field(default_factory=dict)
    faulty: dict[str, str] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ExpectedShards:
    """The expected shards of a run.

    Attributes:
        digest: hash of this study.
        digests: hash -> number of points, for this study and those that it extends; their points are the first points of this run.
        shards: number of shards.
        shard_points, points: points per shard and in the run. `points` is None for adaptive designs, because results decide it.
    """

    digest: str
    digests: Mapping[str, int]
    shards: int
    shard_points: int
    points: int | None

    def rows(self, number: int) -> int | None:
        """The number of rows of a shard; None if unknown."""
        return None if self.points is None else min(self.shard_points, self.points - number * self.shard_points)

    def is_whole(self, number: int, facts: Mapping[str, Any]) -> bool:
        """Whether an intact shard has all its rows; of an adaptive design, only its points tell."""
        return self.rows(number) in (None, facts["rows"])


def inspect_shards(directory: RunDirectory, expected: ExpectedShards, share: Share | None = None, trust: bool = False) -> ShardStates:
    """Inspect every shard of a run.

    Args:
        directory: directory of the run.
        expected: the expected shards.
        share: inspect only these shards; default: all.
        trust: verify only footers, which reveal a truncated or foreign shard but not changed rows.
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
                (found.whole if expected.is_whole(number, result) else found.begun)[number] = result
    return found


def examine_shard(path: Path, number: int, expected: ExpectedShards, trust: bool) -> dict[str, Any] | str | None:
    """The facts of a shard, or its fault; None if the file is missing, or if the extended study has more rows in this shard."""
    facts = read_shard(path, trust)
    return place_of(facts, number, expected) if isinstance(facts, dict) else facts


def place_of(facts: dict[str, Any], number: int, expected: ExpectedShards) -> dict[str, Any] | str | None:
    """The facts of an intact shard if it belongs in place `number` of a run, with all or its first rows; see `examine_shard`."""
    points = expected.digests.get(facts["config_hash"])
    if points is None:
        return "it belongs to another study"
    rows, end = expected.rows(number), number * expected.shard_points + facts["rows"]
    if facts["number"] != number or facts["rows"] > expected.shard_points or (rows is not None and (facts["rows"] > rows or end > points)):
        return "it holds other points"
    # the rows of an extended study in a shard that has more now are computed again
    return facts if expected.is_whole(number, facts) or facts["config_hash"] == expected.digest else None


def read_shard(path: Path, trust: bool) -> dict[str, Any] | str | None:
    """The facts of a shard file, or its fault; None if the file is missing."""
    from tribosweep.sweep.execution import parquet
    from tribosweep.sweep.io import sealed_parquet

    try:
        metadata = sealed_parquet.read_metadata(path) if trust else sealed_parquet.verify(path)
        return parquet.read_facts(metadata) or sealed_parquet.FOREIGN
    except FileNotFoundError:
        return None
    except OSError as error:
        return str(error.strerror or error)
    except sealed_parquet.DamageError as damage:
        return str(damage)


def expected_by(manifest: Mapping[str, Any]) -> ExpectedShards:
    """The expected shards of the run of a manifest."""
    digests = {**manifest.get("extends", {}), manifest["config_hash"]: manifest["points"]}
    points = None if manifest.get("design") in BY_LEVELS else manifest["points"]
    return ExpectedShards(manifest["config_hash"], digests, manifest["shards"], manifest["shard_points"], points)


def inspect_run(directory: RunDirectory, config: Config, share: Share | None = None, trust: bool = False) -> ShardStates:
    """The states of the shards of a run, or of a share; `trust` as in `inspect_shards`."""
    manifest = directory.read_manifest()
    digests = {**manifest.get("extends", {}), **({manifest["config_hash"]: manifest["points"]} if manifest else {})}
    points = None if isinstance(config.design, Adaptive) else config.design.count
    expected = ExpectedShards(config.digest, {**digests, config.digest: config.design.count}, config.shards, config.shard_points, points)
    return inspect_shards(directory, expected, share, trust)


def is_complete(directory: RunDirectory, config: Config, found: ShardStates) -> bool:
    """Whether a run that is marked as complete is in fact complete."""
    if found.faulty or found.strays or found.begun:
        return False
    if isinstance(config.design, Adaptive):
        return is_sealed(directory.table(config.design)) and len(found.whole) == directory.read_manifest().get("shards")
    return len(found.whole) == config.shards


def is_sealed(table: Path) -> bool:
    """Whether the table of an adaptive design is there and as it was written."""
    from tribosweep.sweep.io import sealed_parquet

    try:
        sealed_parquet.verify(table)
    except (OSError, sealed_parquet.DamageError):
        return False
    return True


def describe_faults(directory: RunDirectory, found: ShardStates) -> list[str]:
    """Sentences on the faulty files of a dataset and on how they are handled."""
    faulty = [f"{directory.points / name}: {reason}; it is computed again." for name, reason in found.faulty.items()]
    strays = [f"{directory.points / name}: not of this run; it is set aside as .{name}.foreign." for name in found.strays]
    more = len(faulty) - SHOWN
    return [*faulty[:SHOWN], *([f"{directory.points}: and {more} more shards like these."] if more > 0 else []), *strays]
