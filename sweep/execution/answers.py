"""Numbers that a search or a sampler has asked for, in files, so that it continues where it was interrupted.

Searches and samplers ask for numbers at one point after the other and are the same whenever they get the same answers. So their state is
not kept: a later process begins anew, gets the answers from the files, and soon comes to where the earlier one was interrupted.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from tribosweep.kernels.models import outside_laws
from tribosweep.sweep.io.atomic import make_folders, remove, write_whole
from tribosweep.sweep.io.version import VERSION
from tribosweep.sweep.study.config import Config

OF_OPTIMISE, OF_NUTS = "optimise_answers", "nuts_answers"  # first words of the names of files in a directory of results
EVERY, SELDOM = 5.0, 60.0  # s between the first two files, and at most: there are fewer than a hundred an hour
MOST = 2**28  # bytes of answers in memory, and read from files; further ones are not kept
OVERHEAD = 256  # bytes that an answer takes besides its numbers


class Answers:
    """Answers by point, in a directory of results. In a `with` statement what is new is written where an error ends it, too.

    Args:
        folder: the directory; None to keep nothing. kind: OF_OPTIMISE or OF_NUTS.
        identity: what the answers depend on besides the point; files of another one are not read.
    """

    def __init__(self, folder: Path | None = None, kind: str = OF_OPTIMISE, identity: str = "") -> None:
        """Read what is there; a damaged file is left out."""
        self.folder, self.kind = folder, kind
        self.start = hashlib.sha256(identity.encode())
        self.name = f"{kind}_{self.start.hexdigest()[:16]}"
        self.known: dict[bytes, bytes] = {}
        self.new: dict[bytes, bytes] = {}
        self.size, self.interval, self.written = 0, EVERY, time.monotonic()
        for path in self.files():
            for key, answer in read(path):
                self.remember(key, answer)
        self.there = len(self.known)

    def files(self) -> list[Path]:
        """The files of this identity."""
        return [] if self.folder is None else [path for path in files_in(self.folder, self.kind) if path.name.startswith(self.name)]

    def going_on(self, what: str) -> str:
        """How a command goes on that is interrupted, in words; `what` the answers are of, such as "points"."""
        goes_on = f"goes on with the {what} that are there" if self.new or self.files() else "begins anew"
        return f"The same command {goes_on}, with the same numbers."

    def __enter__(self) -> Self:
        """It is itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Write what is new if an error ends the work."""
        if error is not None:
            self.save()

    def of(self, question: str, points: np.ndarray, size: int, compute: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The answers (lanes, size) at points (lanes, n): those that are known, and what `compute` gives at the others, together.

        Args:
            question: its name. compute: from points to answers; an answer must not depend on the other points.
        """
        if self.folder is None:
            return compute(points)
        keys = [self.key(question, point) for point in points]
        missing = [lane for lane, key in enumerate(keys) if len(self.known.get(key, b"")) != 8 * size]
        fresh = compute(points[missing]) if missing else np.zeros((0, size))
        for place, lane in enumerate(missing):
            if self.remember(keys[lane], np.ascontiguousarray(fresh[place], float)):
                self.new[keys[lane]] = self.known[keys[lane]]
        if time.monotonic() - self.written > self.interval:
            self.save()
        if len(missing) == len(keys):
            return fresh
        answers = np.empty((len(keys), size))
        answers[missing] = fresh
        for lane in set(range(len(keys))) - set(missing):
            answers[lane] = np.frombuffer(self.known[keys[lane]])
        return answers

    def key(self, question: str, point: np.ndarray) -> bytes:
        """The name of an answer."""
        key = self.start.copy()
        key.update(f" {question} ".encode() + np.ascontiguousarray(point, float).tobytes())
        return key.digest()

    def remember(self, key: bytes, answer: bytes | np.ndarray) -> bool:
        """Keep an answer in memory; whether there is room for it."""
        size = OVERHEAD + (answer.nbytes if isinstance(answer, np.ndarray) else len(answer))
        if self.size + size > MOST:
            return False
        self.known[key] = answer if isinstance(answer, bytes) else answer.tobytes()
        self.size += size
        return True

    def save(self) -> None:
        """Write what is new into a file of its own; where that cannot be done nothing more is written, and the work goes on."""
        import pyarrow as pa

        from tribosweep.sweep.io import sealed_parquet

        if self.folder is not None and self.new:
            table = pa.table({"key": pa.array(list(self.new), pa.binary()), "answer": pa.array(list(self.new.values()), pa.binary())})
            first = hashlib.sha256(b"".join(self.new)).hexdigest()[:16]  # a name that no other file has
            try:
                make_folders(self.folder)
                write_whole(self.folder / f"{self.name}_{first}.parquet", sealed_parquet.to_bytes(table))
            except OSError:
                self.interval = np.inf
            self.new = {}
        self.written, self.interval = time.monotonic(), min(2.0 * self.interval, SELDOM) if self.interval < np.inf else np.inf


def answers_of(folder: Path | None, kind: str, config: Config, names: Collection[str], more: str) -> Answers:
    """The answers that this version has for a study, on a machine like this one.

    Args:
        folder, kind: see `Answers`. config: the study. names: of the parameters that change from point to point.
        more: what the answers depend on besides.
    """
    by_others = outside_laws.laws().keys() & {*config.paths, *names}  # laws whose files are not known here
    if folder is None or by_others:
        return Answers()
    from tribosweep.kernels.runtime import jax_setup, program_cache

    jax_setup.prepare()
    return Answers(folder, kind, f"{VERSION} {program_cache.setup()} {program_cache.cpu()} {config.digest} {more}")


def files_in(folder: Path, kind: str) -> list[Path]:
    """The files of answers of a kind in a directory, of any identity."""
    name = re.compile(rf"{kind}_[0-9a-f]{{16}}_[0-9a-f]{{16}}\.parquet")
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if name.fullmatch(path.name) and path.is_file() and not path.is_symlink())
    return []


def forget(folder: Path, kind: str) -> None:
    """Remove the files of answers of a kind, once the results are there; what cannot be removed stays."""
    for path in files_in(folder, kind):
        with suppress(OSError):
            remove(path)


def read(path: Path) -> list[tuple[bytes, bytes]]:
    """The names and the answers in a file; none of one that is damaged."""
    import pyarrow as pa

    from tribosweep.sweep.io import sealed_parquet

    kinds = {"key": pa.binary(), "answer": pa.binary()}
    try:
        table = sealed_parquet.require(sealed_parquet.read(path), kinds, whole=kinds)
    except (OSError, ValueError):
        return []
    return list(zip(table["key"].to_pylist(), table["answer"].to_pylist(), strict=True))
