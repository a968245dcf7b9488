"""The directory of a run: its files, its study, and its manifest.

Every change of a run follows one order, and every step is on the disk before the next begins:

1. the mark `_SUCCESS` is removed, then `config.toml` if it holds another study;
2. `manifest.json` is replaced, then `config.toml`;
3. shards are written or replaced, each as a whole; shards that the run has no more are removed;
4. the table of an adaptive design is written;
5. the manifest is replaced again, now with the results of the run;
6. the mark is written. It names the study and its number of shards.

So a reader may conclude, at any instant and after any crash: a file that is there is whole, or its checksum tells; a mark that fits the
manifest means that the run is complete; without it the shards are rows of the study of the manifest or of one that it extends, and some may
be missing, as may `config.toml`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.designs import BY_LEVELS, CONCATENATION, Adaptive, Design
from tribosweep.sweep.design.subset_simulation import SubsetSimulation
from tribosweep.sweep.execution.answers import OF_NUTS, OF_OPTIMISE
from tribosweep.sweep.execution.lock import hold
from tribosweep.sweep.execution.recovery import rebuild_manifest
from tribosweep.sweep.execution.stored import Manifest, problems_in
from tribosweep.sweep.io.atomic import write_text
from tribosweep.sweep.io.errors import ConfigError, Problem, advise_path, shorten
from tribosweep.sweep.io.files import MOST_NOTE, MOST_STUDY, MOST_TEXT, holds, read_bytes
from tribosweep.sweep.io.toml import excess, parse_toml
from tribosweep.sweep.io.version import SCHEMA_VERSION, VERSION
from tribosweep.sweep.study.config import Config

SHOWN = 8
FOLDERS = ("points", "boundaries", "sensitivity", "basins", "fragility", "correlation", "curves")  # that a directory of results may have
STUDY = "config.toml"
MANIFEST = "manifest.json"
CALIBRATED = "calibration.parquet"  # of a directory that holds a calibration instead of a run
OPTIMISED = "optima.parquet"  # the same of an optimisation
BRANCHED = "branches.parquet"  # the same of branches


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of results that has a directory of its own.

    Attributes:
        what: its name in sentences. begun: patterns of the files that are there before it has ended, and in no directory of another kind.
        home, files, unfinished: clauses of messages: that it needs a directory of its own; what its files are, where it has ended; what is
            there where it has not, and which command completes it.
    """

    what: str
    begun: tuple[str, ...] = ()
    home: str = ""
    files: str = ""
    unfinished: str = ""


KINDS = {
    MANIFEST: Kind("a run", ("points/part-*.parquet",)),
    CALIBRATED: Kind("a calibration", ("smc_chain_*.parquet", f"{OF_NUTS}_*.parquet"), "goes to one of its own",
                     f"{CALIBRATED} has the values, residuals.parquet the fit, fitted.toml a study to run",
                     "an unfinished calibration, not a run: tribosweep calibrate completes it"),
    OPTIMISED: Kind("an optimisation", (f"{OF_OPTIMISE}_*.parquet",), "goes to one of its own",
                    f"{OPTIMISED} has the variables, optimised.toml is a study to run",
                    "an unfinished optimisation, not a run: tribosweep optimise completes it"),
    BRANCHED: Kind("branches", ("points/block-*.parquet", "curves/block-*.parquet"), "go to one of their own",
                   f"{BRANCHED} has one row for each, points/ those of their points",
                   "unfinished branches, not a run: tribosweep branches completes them"),
}  # the file that tells a kind of results from others, in a run from its beginning, in others from their end -> the kind  # fmt: skip
OTHER_STUDY = Problem("", "the directory holds another study; give another one with --out, or remove it. Differences:")
MADE_AGAIN = Problem("", "tribosweep has not written this; without the file, the run is known from its shards")
EXTENSION = Problem("", "if the points there are the first ones of this study, --extend keeps them and computes the others")


class RunDirectory:
    """The directory of a run, and the names within it.

    Attributes:
        path: the directory itself.
        config: the resolved study; running it again gives the same rows.
        manifest: JSON with the study, its hash, the number of points and shards, versions and a checksum; in the end also statuses and
            times.
        points: the dataset.
        convergence: the table of a convergence study.
        boundaries: the curves found by a boundary study.
        levels: the table of the levels of a subset simulation.
        success: the mark of a complete run, written last: JSON with the hash of the study and the number of shards.
    """

    def __init__(self, path: Path) -> None:
        """Set the names of the files."""
        self.path = path
        self.config = path / STUDY
        self.manifest = path / MANIFEST
        self.points = path / "points"
        self.convergence = path / "convergence.parquet"
        self.boundaries = path / "boundaries" / "boundaries.parquet"
        self.levels = path / "levels.parquet"
        self.success = path / "_SUCCESS"

    def table(self, design: Design) -> Path:
        """The file with the results of an adaptive design."""
        if isinstance(design, SubsetSimulation):
            return self.levels
        return self.boundaries if isinstance(design, Boundary) else self.convergence

    def shard(self, number: int) -> Path:
        """The file of shard `number`."""
        return self.points / f"part-{number:06d}.parquet"

    def read_manifest(self) -> dict[str, Any]:
        """The manifest; rebuilt from the footers of the shards if it is missing or damaged; empty if they do not help either.

        Raises:
            ConfigError: a folder in the directory is a link.
        """
        require_own_folders(self.path)
        if manifest := self.stored_manifest():
            return manifest
        return rebuild_manifest(self.points)

    def stored_manifest(self) -> dict[str, Any]:
        """The manifest in its file; empty if that is missing or not as it was written.

        Raises:
            ConfigError: its checksum is right, but it is none that this package writes.
        """
        try:
            manifest = json.loads(read_bytes(self.manifest, MOST_TEXT))
            if not isinstance(manifest, dict) or not isinstance(manifest.get("schema_version"), int):
                return {}
            if manifest["schema_version"] != SCHEMA_VERSION:
                return manifest
            if manifest.get("checksum") != checksum(manifest):
                return {}
        except (OSError, ValueError, RecursionError):
            return {}
        if problems := problems_in(Manifest, manifest):
            raise ConfigError(str(self.manifest), [*problems, MADE_AGAIN])
        return manifest

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write the manifest and its checksum."""
        write_text(self.manifest, json.dumps({**manifest, "checksum": checksum(manifest)}, indent=2))

    def has_config(self, text: str) -> bool:
        """Whether the file `config` holds this study."""
        return holds(self.config, text.encode())

    def is_marked(self, manifest: dict[str, Any]) -> bool:
        """Whether the run of a manifest is marked as complete."""
        try:
            mark = json.loads(read_bytes(self.success, MOST_NOTE))
        except (OSError, ValueError, RecursionError):
            return False
        return bool(mark == mark_of(manifest))

    def write_mark(self, manifest: dict[str, Any]) -> None:
        """Mark the run of a manifest as complete."""
        write_text(self.success, json.dumps(mark_of(manifest)))

    def claim(self, config: Config) -> None:
        """Check that the directory is free or holds a run of this study; nothing is written.

        Raises:
            ConfigError: it holds something else.
        """
        require_storable(config)
        if self.is_free():
            return
        manifest = self.read_run()
        if manifest["config_hash"] != config.digest:
            hint = [EXTENSION] if may_extend(manifest, config) else []
            lines = differences(self.read_document(), config.document)
            lines = lines or [Problem("sweep.file", "the content of the file of points has changed")]
            raise ConfigError(str(self.path), [OTHER_STUDY, *lines, *hint])

    def is_free(self) -> bool:
        """Whether the directory is missing or empty; ConfigError if the path is no directory."""
        if not self.path.exists() and not self.path.is_symlink():
            return True
        if not self.path.is_dir():
            raise ConfigError(str(self.path), [Problem("", "is not a directory; give another one with --out")])
        return all(is_temporary(entry) for entry in self.path.iterdir())

    def read_run(self, to_continue: bool = True) -> dict[str, Any]:
        """Read the manifest of the run in this directory, and check that this version of tribosweep can use the run.

        Args:
            to_continue: whether the caller will add rows. All rows of a run must come from one version.

        Raises:
            ConfigError: there is no run, this version cannot read or continue it, or a folder in it is a link.
        """
        manifest = self.read_manifest()
        if not manifest:
            if self.manifest.exists():
                message = "holds no run of tribosweep, or is damaged, and there is no shard from which it could be rebuilt"
                raise ConfigError(str(self.manifest), [Problem("", message)])
            if not self.path.exists():
                raise ConfigError(
                    str(self.path), [Problem("", f"holds no run of tribosweep: there is no such directory{advise_path(self.path)}")]
                )
            if others := [name for name in kinds_in(self.path) if name != MANIFEST]:
                kind, last = KINDS[others[0]], self.path / others[0]
                held = f"{kind.what}, not a run: {kind.files}" if last.is_file() else kind.unfinished
                if last.exists() and not last.is_file():
                    held = f"no run, and no {kind.what.split()[-1]} that tribosweep has written: {others[0]} is no file"
                raise ConfigError(str(self.path), [Problem("", f"holds {held}")])
            there = "the directory is not empty and holds no run" if self.path.is_dir() and not self.is_free() else "holds no run"
            raise ConfigError(str(self.path), [Problem("", f"{there} of tribosweep (no {MANIFEST})")])
        version, schema = manifest.get("version"), manifest.get("schema_version")
        if schema != SCHEMA_VERSION:
            which = "is newer" if isinstance(schema, int) and schema > SCHEMA_VERSION else "differs"
            message = (
                f"the run has schema version {schema} (tribosweep {version}), which {which}: "
                f"this is tribosweep {VERSION} with schema version {SCHEMA_VERSION}"
            )
            raise ConfigError(str(self.path), [Problem("", message)])
        if to_continue and version != VERSION:
            message = f"the run was begun by tribosweep {version}, this is {VERSION}; start it anew in another --out"
            raise ConfigError(str(self.path), [Problem("", message)])
        return manifest

    def read_document(self) -> dict[str, Any]:
        """The study of the run as nested tables; empty if it cannot be read."""
        try:
            return parse_toml(str(self.read_manifest()["config"]))
        except (KeyError, ValueError):
            return {}


@contextmanager
def hold_apart(path: Path, own: str) -> Iterator[None]:
    """Hold the write lock of a directory for results that are no run, while they are computed and written. See `lock.hold`.

    Args:
        path: directory of the results.
        own: the file that tells these results from others, a key of KINDS.

    Raises:
        ConfigError: another process writes to it, it holds results of another kind, or a study that is not that of such results.
        OSError: the directory cannot be written, or its file system has no locks.
    """
    with hold(path):
        require_kind(path, own)
        if (path / STUDY).exists() and not (path / own).exists():
            message = f"its {STUDY} would be replaced by the resolved study: {KINDS[own].what} {KINDS[own].home} (--out DIR)"
            raise ConfigError(str(path), [Problem("", message)])
        yield


def require_kind(path: Path, own: str) -> None:
    """Raise ConfigError if a directory has results of another kind than `own`, a key of KINDS, complete or only begun."""
    for name in kinds_in(path):
        if name != own:
            message = f"is the directory of {KINDS[name].what}: {KINDS[own].what} {KINDS[own].home} (--out DIR)"
            raise ConfigError(str(path), [Problem("", message)])


def kinds_in(path: Path) -> list[str]:
    """The kinds of results, complete or only begun, that a directory has: keys of KINDS."""
    begun = {name: any(True for pattern in kind.begun for _ in path.glob(pattern)) for name, kind in KINDS.items()}
    return [name for name in KINDS if begun[name] or (path / name).exists()]


def require_own_folders(path: Path) -> None:
    """Raise ConfigError if a folder in a directory of results is a link: what is written into it would change files elsewhere."""
    for name in FOLDERS:
        if (path / name).is_symlink():
            message = "is a link, and tribosweep reads and writes nothing where it leads; put the folder itself there, or remove the link"
            raise ConfigError(str(path / name), [Problem("", message)])


def require_storable(config: Config) -> None:
    """Raise ConfigError if the text of a study is longer than a manifest can hold, or than is read again."""
    study = config.to_toml()
    if more := excess(study):
        raise ConfigError(config.source, [Problem("", f"has with all values of its axes {more}")])
    size = len(json.dumps(study))
    if size > MOST_STUDY:
        message = f"has {size:,} characters with all values of its axes, at most {MOST_STUDY:,} can be kept: give them as a table of points"
        raise ConfigError(config.source, [Problem("", message)])


def identity(config: Config) -> dict[str, Any]:
    """What a study says of its run: the part of the manifest that is known before the run, and that every footer repeats."""
    sweeps = config.document.get("sweep", {})
    return {
        "version": VERSION,
        "schema_version": SCHEMA_VERSION,
        "study": config.name,
        "config_hash": config.digest,
        "design": CONCATENATION if isinstance(sweeps, list) else sweeps.get("design", "grid"),
        "points": config.design.count,
        "shards": config.shards,
        "shard_points": config.shard_points,
        "config": config.to_toml(),
    }


def checksum(manifest: dict[str, Any]) -> str:
    """SHA-256 of a manifest without its checksum, in hexadecimal digits."""
    content = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def mark_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """The mark of a complete run."""
    return {"config_hash": manifest.get("config_hash"), "shards": manifest.get("shards")}


def may_extend(manifest: dict[str, Any], config: Config) -> bool:
    """Whether a study may extend the run of a manifest: only [sweep] differs, it has more points, and neither study is adaptive."""
    try:
        there = parse_toml(manifest["config"])
        fewer = manifest["points"] < config.design.count
    except (KeyError, TypeError, ValueError):
        return False
    parts = there.get("sweep", {})
    designs = [part.get("design") for part in (parts if isinstance(parts, list) else [parts]) if isinstance(part, dict)]
    levels = isinstance(config.design, Adaptive) or any(design in BY_LEVELS for design in designs if isinstance(design, str))
    return fewer and not levels and {**there, "sweep": None} == {**config.document, "sweep": None}


def total_statuses(shards: dict[int, dict[str, Any]]) -> dict[str, int]:
    """Rows per status over the shards: "ok" first, the others in the order of their occurrence."""
    total: Counter[str] = Counter()
    for _, facts in sorted(shards.items()):
        total.update(facts["statuses"])
    return dict(total)


def total_words(shards: dict[int, dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Rows per word of every word observable over the shards."""
    total: dict[str, Counter[str]] = {}
    for _, facts in sorted(shards.items()):
        for name, counts in facts["words"].items():
            total.setdefault(name, Counter()).update(counts)
    return {name: dict(counts) for name, counts in total.items()}


def count_failed(statuses: Mapping[str, int]) -> int:
    """The number of rows without results, given the rows per status. A status may also be a remark on a row with results."""
    results = {status.sentence for status in RESULTS}
    return sum(count for status, count in statuses.items() if status not in results)


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[Problem]:
    """The differences between the study in a directory and the one that is to go there, key by key; empty if they are equal."""
    old, new = flatten(there), flatten(here)
    lines = [
        Problem(key, f"{shorten(old[key]) if key in old else 'not set'} there, {shorten(new[key]) if key in new else 'not set'} here")
        for key in dict.fromkeys([*new, *old])
        if key not in old or key not in new or old[key] != new[key]
    ]
    return lines[:SHOWN] + ([Problem("", f"and {len(lines) - SHOWN} more")] if len(lines) > SHOWN else [])


def flatten(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Convert nested tables to dotted paths."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.")
        elif key == "sweep" and not prefix and isinstance(value, list) and all(isinstance(each, dict) for each in value):
            for number, each in enumerate(value):
                flat |= flatten(each, f"sweep[{number}].")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def is_temporary(path: Path) -> bool:
    """Whether a file is there only while a process writes: a part of a file or a lock, or what a crash left of them."""
    return path.name.endswith(".tmp") or path.name.startswith(".lock")
