"""A small run, with its rows as pandas reads them, and a server of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tribosweep.sweep.api import run
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.explore.page import facts_of
from tribosweep.sweep.explore.rows import Rows
from tribosweep.sweep.explore.server import Answers, Server

STUDY: dict[str, Any] = {
    "study": {"name": "small", "scheme": "exact"},
    "parameters": {"m": 1.0, "g": 10.0, "k": 0.0},
    "time": {"end": 12.0, "window": [4.0, 12.0]},
    "output": {"shard_points": 1000},
    "sweep": {
        "axes": {"a0": {"from": 0.5, "to": 20.0, "count": 60}, "mu": {"from": 0.02, "to": 1.0, "count": 40, "spacing": "log"}},
    },
}


@dataclass(frozen=True)
class SmallRun:
    """A run and its rows."""

    directory: Path
    table: pd.DataFrame


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """60 values of a0 by 40 of mu, in three shards."""
    directory = run(STUDY, tmp_path_factory.mktemp("explore") / "run").directory
    table = pd.concat([pd.read_parquet(file) for file in sorted((directory / "points").glob("*.parquet"))], ignore_index=True)
    assert len(table) == 2400
    return SmallRun(directory, table)


@contextmanager
def serving(directory: Path) -> Iterator[tuple[str, Rows]]:
    """A server of a run: its address, and its rows."""
    rows = Rows(directory)
    server = Server(Answers(directory, rows, facts_of(RunDirectory(directory), rows)))
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server.address, rows
    finally:
        server.stop()
        thread.join(20.0)
        rows.close()
    assert not thread.is_alive()
