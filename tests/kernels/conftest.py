"""Shared by the tests of `kernels`: batches that reuse one compiled program, the reference data, and SDND104."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.runtime import program_cache

DATA = Path(__file__).resolve().parents[1] / "data"
CHUNK = 64  # rows of one call: the programs are compiled for this many, once for the whole session

Row = Mapping[str, Any]
Solve = Callable[..., dict[str, np.ndarray]]


def _columns(rows: Sequence[Row]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Every parameter as a column, and the mask of the cells that a row leaves out (absent or None)."""
    names = [quantity.name for quantity in RUBBING_MASS.parameters if quantity.kind != "list"]
    unknown = {name for row in rows for name in row} - set(names)
    assert not unknown, unknown
    absent = {name: np.array([row.get(name) is None for row in rows]) for name in names}
    columns = {name: np.array([0.0 if row.get(name) is None else float(row[name]) for row in rows]) for name in names}
    return columns, absent


@pytest.fixture(scope="session")
def solve() -> Solve:
    """rows of parameters -> observable name and "status" -> array; absent or None means the documented default."""

    def run(rows: Sequence[Row], scheme: str = "exact", dtype: type[np.floating[Any]] = np.float64) -> dict[str, np.ndarray]:
        parts = []
        for start in range(0, len(rows), CHUNK):
            some = rows[start : start + CHUNK]
            solution = batch.solve(RUBBING_MASS, scheme, *_columns(some), count=len(some), dtype=dtype)
            parts.append({**solution.observables, "status": solution.status})
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    return run


def _read(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((DATA / name).read_text(encoding="utf-8"))["rows"]
    for row in rows:
        row["row"] = {**row["params"], "end": row["end"], "window_start": row["window"][0], "window_end": row["window"][1]}
    return rows


@pytest.fixture(scope="session")
def reference() -> Callable[[str], list[dict[str, Any]]]:
    """File name in tests/data -> its rows; "row" holds the parameters with the time quantities, "result" the digits."""
    return _read


@pytest.fixture
def sdnd104() -> Callable[..., dict[str, Any]]:
    """a0 and changes -> the parameters of SDND104 with k = 0, window [4, 12]."""

    def row(a0: float, **changes: float) -> dict[str, Any]:
        base = {"m": 1.0, "g": 10.0, "mu": 0.1, "omega": 2.0 * math.pi, "a0": a0, "end": 12.0, "window_start": 4.0, "window_end": 12.0}
        return base | changes

    return row


@pytest.fixture
def fresh_programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Trace and compile programs anew in this test, which may patch their parts; other tests never see these programs."""
    monkeypatch.setattr(programs, "PROGRAMS", {})
    monkeypatch.setattr(program_cache, "kept", lambda _key, make, *_: make("program"))
    programs.traced.cache_clear()
    yield
    programs.traced.cache_clear()
