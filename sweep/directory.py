"""The directory of a run: what lies where, whose it is, and how much of it is done."""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sweep
from sweep.config import Config
from sweep.problems import ConfigError, Problem, shorten

SHARD_POINTS = 131_072
SHOWN = 8


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """Names within the directory of a run.

    Attributes:
        path: the directory itself.
    """

    path: Path

    @property
    def config(self) -> Path:
        """The study as resolved; running it again gives the same rows."""
        return self.path / "config.toml"

    @property
    def manifest(self) -> Path:
        """Whose run it is, and what is known of it."""
        return self.path / "manifest.json"

    @property
    def points(self) -> Path:
        """The dataset."""
        return self.path / "points"

    @property
    def convergence(self) -> Path:
        """The table of a convergence study."""
        return self.path / "convergence.parquet"

    @property
    def success(self) -> Path:
        """The mark of a complete run, written last."""
        return self.path / "_SUCCESS"

    def shard(self, number: int) -> Path:
        """The file of shard `number`."""
        return self.points / f"part-{number:06d}.parquet"

    def read_manifest(self) -> dict[str, Any]:
        """The manifest; empty where there is none that can be read."""
        try:
            manifest = json.loads(self.manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return manifest if isinstance(manifest, dict) else {}

    def done(self, digest: str, points: int | None) -> dict[int, dict[str, Any]]:
        """The shards that are whole, by number, with the facts of their footers.

        Args:
            digest: of the study; a shard of another one does not count.
            points: of the whole design, hence how many rows each shard must have; None where that depends on the results.
        """
        whole: dict[int, dict[str, Any]] = {}
        for path in self.points.glob("part-*.parquet"):
            from sweep import store

            number = path.stem.removeprefix("part-")
            facts = store.read_facts(path) if number.isdecimal() else None
            if not facts or facts.get("config_hash") != digest:
                continue
            if points is None or facts["rows"] == min(SHARD_POINTS, points - int(number) * SHARD_POINTS):
                whole[int(number)] = facts
        return whole

    def is_complete(self, shards: dict[int, dict[str, Any]]) -> bool:
        """Whether the run is marked as complete and these are all its `shards`."""
        return self.success.exists() and len(shards) == self.read_manifest().get("shards")

    def claim(self, config: Config) -> None:
        """Make sure that the directory is free or holds a run of this very study.

        Raises:
            ConfigError: it holds something else; nothing was written.
        """
        if not self.path.exists() and not self.path.is_symlink():
            return
        if not self.path.is_dir():
            raise ConfigError(str(self.path), [Problem("", "is not a directory; give another one with --out")])
        if not any(not entry.name.endswith(".tmp") for entry in self.path.iterdir()):
            return
        manifest = self.read_manifest()
        if "config_hash" not in manifest:
            message = "the directory is not empty and holds no run of tribosweep; give another one with --out"
            raise ConfigError(str(self.path), [Problem("", message)])
        if manifest["config_hash"] != config.digest:
            heading = Problem("", "the directory holds another study; give another one with --out, or remove it. Differences:")
            raise ConfigError(str(self.path), [heading, *differences(self.read_document(), config)])
        if manifest.get("version") != sweep.__version__:
            message = (
                f"the run was begun by tribosweep {manifest.get('version')}, this is {sweep.__version__}; start it anew in another --out"
            )
            raise ConfigError(str(self.path), [Problem("", message)])

    def read_document(self) -> dict[str, Any]:
        """The study of the run as nested tables; empty where it cannot be read."""
        try:
            return tomllib.loads(self.config.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}


def shard_count(points: int) -> int:
    """How many shards hold that many points."""
    return -(-points // SHARD_POINTS)


def total_statuses(shards: dict[int, dict[str, Any]]) -> dict[str, int]:
    """Rows per status over the shards, "ok" and others in the order in which they occur."""
    total: Counter[str] = Counter()
    for _, facts in sorted(shards.items()):
        total.update(facts["statuses"])
    return dict(total)


def differences(there: dict[str, Any], config: Config) -> list[Problem]:
    """Key by key, how the study in a directory differs from this one."""
    old, new = flatten(there), flatten(config.document)
    lines = [
        Problem(key, f"{shorten(old[key]) if key in old else 'not set'} there, {shorten(new[key]) if key in new else 'not set'} here")
        for key in dict.fromkeys([*new, *old])
        if key not in old or key not in new or old[key] != new[key]
    ]
    if not lines:
        lines = [Problem("sweep.file", "the content of the file of points has changed")]
    return lines[:SHOWN] + ([Problem("", f"and {len(lines) - SHOWN} more")] if len(lines) > SHOWN else [])


def flatten(tables: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted paths."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, flush it to the disk, and only then give it its name."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a small file so that it is either there as a whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
