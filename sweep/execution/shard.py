"""A shard: a block of a study's points that is one file, which `job` writes. It is computed here, piece by piece if it takes long.

The number of rows of a piece depends on the speed of the machine. The rows do not: neither on the worker, nor on those computed with them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.status import Status
from tribosweep.sweep.design.designs import Adaptive
from tribosweep.sweep.design.points import Points, SchemeRows, by_scheme
from tribosweep.sweep.execution.record_bank import bind_records, rows_without_draw
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.excitation import kernel_model

if TYPE_CHECKING:
    from tribosweep.kernels.batch.solve import Solution
    from tribosweep.kernels.excitation.record import Records
    from tribosweep.kernels.models import Model
    from tribosweep.kernels.models.signals import Signals

SECONDS_OF_A_PIECE = 3.0
FIRST_OF_QUICK = 1024  # rows of the first piece, whose pace is unknown, of a study whose rows take milliseconds

_pace: dict[str, float] = {}  # hash of a study -> rows per second of the last piece in this process


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of a shard that were computed together, encoded: all of a shard, or what took some seconds.

    Attributes:
        number: number of the shard.
        first, end: its first row in the shard, and the row after its last.
        rest: number of rows of the shard after them.
        data: a Parquet file of these rows.
        facts: the content of its footer: the study's `config_hash`, `number`, `points_hash` of the shard's points from the first one up to
            `end`; of the rows of this piece: how many by status (`statuses`) and by words of every word observable (`words`), and
            `seconds` spent compiling, computing and encoding.
    """

    number: int
    first: int
    end: int
    rest: int
    data: bytes
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """The software and devices that compute shards.

    Attributes:
        provenance: versions, devices, precision and options.
        problems: sentences on what is wrong with them.
    """

    provenance: dict[str, str]
    problems: tuple[str, ...]


def describe_runtime() -> Setting:
    """Describe the software and devices of this process. This starts JAX; ConfigError if JAX cannot start."""
    from tribosweep.kernels.runtime import jax_setup, program_cache

    jax_setup.prepare()
    try:
        program_cache.use()
        return Setting(jax_setup.describe(), tuple(jax_setup.problems()))
    except Exception as error:
        raise ConfigError("tribosweep", [Problem("", cannot_start(error))]) from error


def span(config: Config, number: int) -> tuple[int, int]:
    """First point of a shard, and the point after its last."""
    return number * config.shard_points, min((number + 1) * config.shard_points, config.design.count)


def compute_piece(config: Config, number: int, first: int) -> Piece:
    """Compute and encode the rows of a shard of a study from row `first` on, given only its number: as many as take some seconds."""
    return compute_piece_of(config, number, config.design.points(*span(config, number)), first)


def compute_piece_of(config: Config, number: int, points: Points, first: int) -> Piece:
    """Compute and encode the given points from row `first` on, as rows of shard `number` of a study: as many as take some seconds."""
    from tribosweep.kernels.runtime import jax_setup, program_cache

    jax_setup.prepare()
    program_cache.use()
    end = first + rows_of_a_piece(config, points.count - first)
    own = points.part(slice(first, end))
    solution = solve_points(config, own)
    if solution.run_seconds > 0.0:
        _pace[config.digest] = own.count / solution.run_seconds
    begun = time.perf_counter()
    from tribosweep.sweep.execution import parquet

    facts = {
        "config_hash": config.digest,
        "number": number,
        "points_hash": points.part(slice(end)).digest(),
        "statuses": parquet.count_words(solution.status),
        "words": {
            quantity.name: parquet.count_words(solution.observables[quantity.name], quantity.words)
            for quantity in config.returns
            if quantity.kind == "word"
        },
        "seconds": {"compiling": solution.compile_seconds, "computing": solution.run_seconds},
    }
    table = parquet.encode(config, parquet.schema(config, jax_setup.describe()), own, solution)
    return Piece(number, first, end, points.count - end, parquet.serialise(table, facts, begun), facts)


def rows_of_a_piece(config: Config, rest: int) -> int:
    """The number of rows to be computed next, of the `rest` of a shard: by the pace of the last piece that this process has computed."""
    pace = _pace.get(config.digest)
    rows = max(least_rows(config), (FIRST_OF_QUICK if config.quick else 0) if pace is None else int(pace * SECONDS_OF_A_PIECE))
    return rest if rest < 1.5 * rows else rows


def least_rows(config: Config) -> int:
    """The rows of the smallest piece: fewer would take as long, because they leave lanes of the devices empty."""
    from tribosweep.kernels.runtime import jax_setup

    return jax_setup.rows_at_once(not config.schemes <= {EXACT})


def solve_points(config: Config, points: Points) -> Solution:
    """Compute a block of points with their schemes; results are in the order of the points."""
    from tribosweep.kernels.batch.solve import solve
    from tribosweep.kernels.runtime.threads import side_by_side

    most = config.shard_points  # the largest shard; all shards use it, so that no other shard compiles anew
    if not isinstance(config.design, Adaptive):
        most = min(most, config.design.count)
    lost = rows_without_draw(config, points)
    fixed, points, records = bind_records(config, points)
    model = config.model if records is None else kernel_model(config.model)
    asked: dict[str, Any] = {"dtype": np.dtype(config.precision).type, "records": records, "asked": config.asked}

    def part(of: SchemeRows) -> tuple[np.ndarray | slice, Solution]:
        columns = {**fixed, **of.columns}
        found = solve(model, of.scheme, columns, of.absent, of.count, config.window, most, **asked)
        return of.rows, found if config.signals is None else with_signals(config.signals, model, of, columns, records, found)

    parts = side_by_side([partial(part, each) for each in by_scheme(points, config.scheme)])
    first = parts[0][1]
    if len(parts) == 1:
        return without(first, lost)
    observables = {name: np.empty((points.count, *values.shape[1:]), values.dtype) for name, values in first.observables.items()}
    status = np.empty(points.count, first.status.dtype)
    for rows, found in parts:
        status[rows] = found.status
        for name, values in found.observables.items():
            observables[name][rows] = values
    together = type(first)(
        observables=observables,
        status=status,
        compile_seconds=sum(found.compile_seconds for _, found in parts),
        run_seconds=sum(found.run_seconds for _, found in parts),
    )
    return without(together, lost)


def without(solution: Solution, lost: np.ndarray) -> Solution:
    """The same results, but failed in the rows whose draw is `lost`: they were computed without one."""
    if not lost.any():
        return solution
    observables = {
        name: np.where(lost.reshape(-1, *(1,) * (values.ndim - 1)), -1 if values.dtype.kind == "i" else np.nan, values).astype(values.dtype)
        for name, values in solution.observables.items()
    }
    return replace(solution, observables=observables, status=np.where(lost, np.int8(Status.NO_DRAW), solution.status))


def with_signals(
    signals: Signals, model: Model, of: SchemeRows, columns: Mapping[str, Any], records: Records | None, found: Solution
) -> Solution:
    """The solution of some rows together with their signals."""
    from tribosweep.kernels.batch import sampled

    begun = time.perf_counter()
    seen = sampled.signals(model, of.scheme, signals, columns, of.absent, found.status, records)
    seconds = found.run_seconds + time.perf_counter() - begun
    return replace(found, observables={**found.observables, **seen}, run_seconds=seconds)


def cannot_start(error: Exception) -> str:
    """The reason why JAX does not start, with the environment settings that may cause it."""
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(("JAX_", "XLA_"))]
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"JAX cannot start ({reason}); the environment has {' '.join(settings) or 'no settings of it'}"
