"""Commands in processes of their own, on the real physics, and their rows bit by bit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.sweep.conftest import COMMAND

ROOT = Path(__file__).parents[3]
STUDY = """
[study]
scheme = "euler"
[parameters]
k = 3e-5
k_t = 9e6
[time]
end = 6.0
window = [4.0, 6.0]
[output]
shard_points = {shard_points}
[[sweep]]
design = "sobol"
count = {count}
[sweep.axes]
a0 = {{ from = 0.5, to = 20.0 }}
mu = {{ from = 0.02, to = 0.5, spacing = "log" }}
scheme = ["euler", "devogelaere"]
[[sweep]]
[sweep.axes]
a0 = [15.0, 1.5, 1.01, 0.99]
"""


def write_study(path: Path, count: int, shard_points: int) -> Path:
    """A study of two schemes and two designs."""
    path.write_text(STUDY.format(count=count, shard_points=shard_points))
    return path


def start(*words: object, before: str = "") -> subprocess.Popen[str]:
    """The command, in a process group of its own, after lines of Python that prepare its process."""
    command = [sys.executable, "-c", f"{before}\n{COMMAND}", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True)


def python(code: str, folder: Path = ROOT, **environment: str) -> list[str]:
    """What lines of Python print in a process of their own, split at blanks; they end without an error."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def shards(directory: Path) -> list[Path]:
    """The files that a reader sees."""
    return sorted((directory / "points").glob("part-*.parquet"))


def wait_for_shards(process: subprocess.Popen[str], directory: Path, count: int) -> None:
    """Wait until that many shards are written."""
    deadline = time.monotonic() + 300.0
    while len(shards(directory)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def read(directory: Path) -> pa.Table:
    """All rows, without what the schema says of where they were computed."""
    return pa.concat_tables([pq.ParquetFile(path).read().replace_schema_metadata(None) for path in shards(directory)])


def assert_same_bits(found: pa.Table, expected: pa.Table) -> None:
    """Column by column, as bytes: NaN and signed zeros count."""
    assert found.column_names == expected.column_names
    for name in expected.column_names:
        one, other = found.column(name).combine_chunks(), expected.column(name).combine_chunks()
        if pa.types.is_dictionary(one.type):
            assert one.to_pylist() == other.to_pylist(), name
        else:
            assert one.null_count == other.null_count, name
            assert one.fill_null(0).to_numpy().tobytes() == other.fill_null(0).to_numpy().tobytes(), name


def children(process: int) -> list[int]:
    """The processes that a process has started, and so on."""
    own = [int(word) for path in Path(f"/proc/{process}/task").glob("*/children") for word in path.read_text().split()]
    return own + [found for child in own for found in children(child)]
