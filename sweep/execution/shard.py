"""A shard: a block of a study's points that is computed and encoded as one. Its rows do not depend on the worker."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.design.designs import Adaptive
from sweep.design.points import Points, SchemeRows, by_scheme
from sweep.execution.record_bank import bind_records
from sweep.io.errors import ConfigError, Problem
from sweep.study.config import Config
from sweep.study.excitation import kernel_model

if TYPE_CHECKING:
    from kernels.batch.solve import Solution


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard that is ready to be written.

    Attributes:
        number: its number in the run.
        data: its Parquet file.
        facts: the content of its footer: the study's `config_hash`, `number`, `points_hash`, rows by status (`statuses`), `seconds` spent
            compiling, computing and encoding; and the number of its `rows`.
    """

    number: int
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
    from kernels.runtime import jax_setup, program_cache

    jax_setup.prepare()
    try:
        program_cache.use()
        return Setting(jax_setup.describe(), tuple(jax_setup.problems()))
    except Exception as error:
        raise ConfigError("tribosweep", [Problem("", cannot_start(error))]) from error


def span(config: Config, number: int) -> tuple[int, int]:
    """First point of a shard, and the point after its last."""
    return number * config.shard_points, min((number + 1) * config.shard_points, config.design.count)


def compute_shard(config: Config, number: int) -> Shard:
    """Compute and encode one shard of a study, given only its number."""
    return compute_shard_of(config, number, config.design.points(*span(config, number)))


def compute_shard_of(config: Config, number: int, points: Points) -> Shard:
    """Compute and encode the given points as shard `number` of a study."""
    from kernels.runtime import jax_setup, program_cache

    jax_setup.prepare()
    program_cache.use()
    solution = solve_points(config, points)
    begun = time.perf_counter()
    from sweep.execution import parquet

    facts = {
        "config_hash": config.digest,
        "number": number,
        "points_hash": points.digest(),
        "statuses": parquet.count_statuses(solution.status),
        "seconds": {"compiling": solution.compile_seconds, "computing": solution.run_seconds},
    }
    table = parquet.encode(config, parquet.schema(config, jax_setup.describe()), points, solution)
    return Shard(number, parquet.serialise(table, facts, begun), {**facts, "rows": points.count})


def solve_points(config: Config, points: Points) -> Solution:
    """Compute a block of points with their schemes; results are in the order of the points."""
    from kernels.batch.solve import solve
    from kernels.runtime.threads import side_by_side

    most = config.shard_points  # the largest shard; all shards use it, so that no other shard compiles anew
    if not isinstance(config.design, Adaptive):
        most = min(most, config.design.count)
    fixed, points, records = bind_records(config, points)
    model = config.model if records is None else kernel_model(config.model)
    asked: dict[str, Any] = {"dtype": np.dtype(config.precision).type, "records": records, "asked": config.asked}

    def part(of: SchemeRows) -> tuple[np.ndarray | slice, Solution]:
        return of.rows, solve(model, of.scheme, {**fixed, **of.columns}, of.absent, of.count, config.window, most, **asked)

    parts = side_by_side([partial(part, each) for each in by_scheme(points, config.scheme)])
    first = parts[0][1]
    if len(parts) == 1:
        return first
    observables = {name: np.empty((points.count, *values.shape[1:]), values.dtype) for name, values in first.observables.items()}
    status = np.empty(points.count, first.status.dtype)
    for rows, found in parts:
        status[rows] = found.status
        for name, values in found.observables.items():
            observables[name][rows] = values
    return type(first)(
        observables=observables,
        status=status,
        compile_seconds=sum(found.compile_seconds for _, found in parts),
        run_seconds=sum(found.run_seconds for _, found in parts),
    )


def cannot_start(error: Exception) -> str:
    """The reason why JAX does not start, with the environment settings that may cause it."""
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(("JAX_", "XLA_"))]
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"JAX cannot start ({reason}); the environment has {' '.join(settings) or 'no settings of it'}"
