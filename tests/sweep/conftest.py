"""A stand-in for the physics, so that the plumbing is tested without compiling anything."""

from __future__ import annotations

import importlib
import sys
import types
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.signals import Signals
from tribosweep.kernels.models.status import Status
from tribosweep.sweep.execution import executors, shard
from tribosweep.sweep.study import shard_size


@dataclass(frozen=True)
class FakeSolution:
    """What `tribosweep.kernels.batch.solve` returns."""

    observables: dict[str, np.ndarray]
    status: np.ndarray
    compile_seconds: float
    run_seconds: float


class FakeKernels:
    """Counts what is asked of it; every float observable is a0 + 100 mu, +1000 for scheme euler.

    Attributes:
        calls: number of rows of each call. windows: the window of each call.
        fail_at: the call (from 0) that raises `error`.
        words_by_value: words depend on the numbers of a row, otherwise on its place in the call.
    """

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.windows: list[str | None] = []
        self.fail_at = -1
        self.words_by_value = False
        self.error: BaseException = KeyboardInterrupt()

    def solve(
        self,
        model: Model,
        scheme: str,
        columns: dict[str, Any],
        absent: dict[str, np.ndarray],
        count: int,
        window: str | None = None,
        room: int = 0,
        **_: Any,
    ) -> FakeSolution:
        """Stand in for `tribosweep.kernels.batch.solve`."""
        if len(self.calls) == self.fail_at:
            raise self.error
        self.calls.append(count)
        self.windows.append(window)
        values = model.resolve(columns, absent)
        row = values["a0"] + 100.0 * values["mu"] + 0.0 * values["f0"] + 1000.0 * (scheme == "euler")
        row = np.broadcast_to(row, (count,)).astype(np.float64)
        failed = ~np.isfinite(row)
        codes = np.floor(np.nan_to_num(1000.0 * row)) if self.words_by_value else np.arange(count)
        observables = {}
        for quantity in model.returns(window):
            if quantity.kind == "word":
                observables[quantity.name] = np.where(failed, -1, codes % len(quantity.words)).astype(np.int8)
            elif quantity.kind == "list":
                observables[quantity.name] = np.where(failed[:, None], np.nan, row[:, None] + np.array([0.0, 1.0, np.nan]))
            else:
                observables[quantity.name] = np.where(failed, np.nan, np.floor(row) if quantity.kind == "integer" else row)
        return FakeSolution(observables, np.where(failed, Status.NOT_FINITE, Status.OK).astype(np.int8), 0.25, 0.5)


def fake_signals(model: Model, _scheme: str, asked: Signals, _columns: Any, _absent: Any, status: np.ndarray, _records: Any) -> Any:
    """Stand in for `tribosweep.kernels.batch.sampled.signals`: ones."""
    return {name: np.ones((len(status), *((q.length,) if q.length else ()))) for name, (q, _) in asked.columns(model).items()}


# the command, heeding SIGINT, which a job in the background may have been told to ignore
COMMAND = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from tribosweep.sweep.cli import console; console()"


def install_fake(patch: pytest.MonkeyPatch) -> FakeKernels:
    """Put a stand-in in the place of `tribosweep.kernels.batch.solve` and `tribosweep.kernels.runtime.jax_setup`."""
    stand_in = FakeKernels()
    batch = types.ModuleType("tribosweep.kernels.batch.solve")
    runtime = types.ModuleType("tribosweep.kernels.runtime.jax_setup")
    batch.__dict__.update(solve=stand_in.solve)
    runtime.__dict__.update(prepare=lambda: None, describe=lambda: {"jax": "0", "device": "none", "dtype": "float64"}, problems=list)
    sampled = types.ModuleType("tribosweep.kernels.batch.sampled")
    sampled.__dict__.update(signals=fake_signals)
    for module in (batch, runtime, sampled):
        folder, name = module.__name__.rsplit(".", maxsplit=1)
        patch.setitem(sys.modules, module.__name__, module)
        patch.setattr(importlib.import_module(folder), name, module, raising=False)
    patch.setattr(shard, "least_rows", lambda _: shard_size.SHARD_POINTS[1])  # its times say nothing
    return stand_in


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeKernels:
    """Stands in for `tribosweep.kernels.batch.solve` and `tribosweep.kernels.runtime.jax_setup`."""
    return install_fake(monkeypatch)


def install_small_pieces(patch: pytest.MonkeyPatch, rows: int) -> None:
    """Write shards in pieces of so many rows."""
    patch.setattr(shard, "least_rows", lambda _: rows)
    patch.setattr(shard, "FIRST_OF_QUICK", 0)
    patch.setattr(shard, "SECONDS_OF_A_PIECE", 0.0)


def install_small_shards(patch: pytest.MonkeyPatch) -> int:
    """Ten points to a shard, one after the other."""
    patch.setattr(executors, "THREADS", 1)
    patch.setattr(shard_size, "SHARD_OF_EXACT", 10)
    patch.setattr(shard_size, "SHARD_OF_STEPS", 10)
    return 10


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> int:
    """Ten points to a shard, one after the other."""
    return install_small_shards(monkeypatch)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every test runs in an empty directory, where `runs/` may appear."""
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
