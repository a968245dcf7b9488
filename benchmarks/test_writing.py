"""The cost of writing a shard of 131,072 rows: `python -m pytest benchmarks/test_writing.py` (extra `benchmarks`)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tribosweep.kernels.runtime import jax_setup
from tribosweep.sweep import load
from tribosweep.sweep.execution import parquet
from tribosweep.sweep.execution.shard import solve_points, span
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.io.atomic import write_whole

STUDY = {
    "time": {"window": [4.0, 12.0]},
    "sweep": {"axes": {name: {"from": a, "to": b, "count": 1000} for name, a, b in (("a0", 0.5, 20.0), ("mu", 0.01, 1.01))}},
}
ROUNDS = 5


@pytest.fixture(scope="module")
def rows() -> tuple[Any, ...]:
    """A study, its schema, the points of its first shard and their results."""
    study = load(STUDY)
    points = study.design.points(*span(study, 0))
    return study, parquet.schema(study, jax_setup.describe()), points, solve_points(study, points)


def encoded(rows: tuple[Any, ...]) -> bytes:
    """The shard as bytes."""
    return parquet.serialise(parquet.encode(*rows), {"seconds": {}}, time.perf_counter())


def test_encoding(benchmark: Any, rows: tuple[Any, ...]) -> None:
    """Time the encoding of arrays as Parquet, compressed and with a checksum."""
    data = benchmark.pedantic(encoded, args=(rows,), rounds=ROUNDS, warmup_rounds=1)
    benchmark.extra_info.update(megabytes=len(data) / 1e6)


def test_writing(benchmark: Any, rows: tuple[Any, ...], tmp_path: Path) -> None:
    """Time the writing of the bytes to the disk, flushed."""
    data = encoded(rows)
    benchmark.pedantic(write_whole, args=(tmp_path / "shard.parquet", data), rounds=ROUNDS, warmup_rounds=1)


def test_verifying(benchmark: Any, rows: tuple[Any, ...], tmp_path: Path) -> None:
    """Time the check by which every reader knows that a shard is intact."""
    write_whole(tmp_path / "shard.parquet", encoded(rows))
    assert benchmark.pedantic(sealed_parquet.verified, args=(tmp_path / "shard.parquet",), rounds=ROUNDS, warmup_rounds=1)
