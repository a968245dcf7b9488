"""Numbers that a search or a sampler has asked for, in files, so that it continues where it was interrupted.

Searches and samplers ask for numbers at one point after the other and are the same whenever they get the same answers. So their
state is not kept: a later process begins anew, gets the answers from the files, and soon comes to where the earlier one was interrupted.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tribosweep.sweep.io.atomic import make_folders, write_whole

POINTS, DENSITIES = "points-*.parquet", "densities-*.parquet"  # of an optimisation, and of draws of a posterior, in their directories
EVERY = 5.0  # s between two files
MOST = 2**28  # bytes of answers in memory and in files; later ones are not kept


class Answers:
    """Answers by point, in a directory of results.

    Args:
        folder: the directory; None to keep nothing. files: pattern of the names of its files.
        identity: what the answers depend on besides the point; others are not found.
    """

    def __init__(self, folder: Path | None = None, files: str = "", identity: str = "") -> None:
        """Read what is there; a damaged file is left out."""
        self.folder, self.files, self.identity = folder, files, identity
        self.known: dict[bytes, bytes] = {}
        self.new: dict[bytes, bytes] = {}
        for path in sorted(folder.glob(files)) if folder is not None else []:
            self.known |= read(path)
        self.size, self.written = sum(map(len, self.known.values())), time.monotonic()

    def of(self, kind: str, points: np.ndarray, compute: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The answers (lanes, m) at points (lanes, n): those that are known, and what `compute` gives at the others, together.

        Args:
            kind: of the question. compute: from points to answers; an answer must not depend on the other points.
        """
        keys = [
            hashlib.sha256(f"{self.identity} {kind} ".encode() + np.ascontiguousarray(point, float).tobytes()).digest() for point in points
        ]
        missing = [lane for lane, key in enumerate(keys) if key not in self.known]
        computed = compute(points[missing]) if missing else np.zeros((0, 0))
        for place, lane in enumerate(missing):
            self.keep(keys[lane], np.ascontiguousarray(computed[place], float).tobytes())
        if len(missing) == len(keys):
            return computed
        fresh = {lane: computed[place] for place, lane in enumerate(missing)}
        return np.stack([fresh[lane] if lane in fresh else np.frombuffer(self.known[key]) for lane, key in enumerate(keys)])

    def keep(self, key: bytes, answer: bytes) -> None:
        """Keep one answer, in a file by and by."""
        if self.folder is None or self.size + len(answer) > MOST:
            return
        self.known[key] = self.new[key] = answer
        self.size += len(answer)
        if time.monotonic() - self.written > EVERY:
            self.save()

    def save(self) -> None:
        """Write what is new into a file of its own.

        Raises:
            OSError: it cannot be written.
        """
        import pyarrow as pa

        from tribosweep.sweep.io import sealed_parquet

        if self.folder is not None and self.new:
            table = pa.table({"key": pa.array(list(self.new), pa.binary()), "answer": pa.array(list(self.new.values()), pa.binary())})
            make_folders(self.folder)
            first = hashlib.sha256(b"".join(self.new)).hexdigest()[:16]  # a name that no other file has
            write_whole(self.folder / self.files.replace("*", first), sealed_parquet.to_bytes(table))
            self.new = {}
        self.written = time.monotonic()


def read(path: Path) -> dict[bytes, bytes]:
    """The answers in a file; none of one that is damaged."""
    import pyarrow as pa

    from tribosweep.sweep.io import sealed_parquet

    kinds = {"key": pa.binary(), "answer": pa.binary()}
    try:
        table = sealed_parquet.require(sealed_parquet.read(path), kinds, whole=kinds)
    except (OSError, ValueError):
        return {}
    answers = zip(table["key"].to_pylist(), table["answer"].to_pylist(), strict=True)
    return {key: answer for key, answer in answers if len(answer) % 8 == 0}
