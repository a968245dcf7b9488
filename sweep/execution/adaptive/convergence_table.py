"""The table of a convergence study: one row per point with order, errors and verdict, and unit and description of every column."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.status import SENTENCES
from tribosweep.sweep.design.axis import SCHEME, SCHEME_NAMES
from tribosweep.sweep.design.refinement import divisor_of, refined_by
from tribosweep.sweep.execution import dataset, parquet
from tribosweep.sweep.execution.adaptive.history import read_levels
from tribosweep.sweep.execution.adaptive.refinement import convergence_design, leading, level_points, scheme_names
from tribosweep.sweep.execution.adaptive.richardson import estimate
from tribosweep.sweep.execution.adaptive.step_halving import STEPS, HalvingHistory, empty_history, has_results, solve_exactly
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.job import Job
from tribosweep.sweep.execution.returned import require_numbers
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.io.atomic import write_whole
from tribosweep.sweep.study.config import Config

VERDICTS = SETTLED, NOT_SETTLED, FAILED = ("settled", "not settled", "failed")
VERDICT, ESTIMATE = "verdict", "estimated_error"


def schema(config: Config, provenance: Mapping[str, str]) -> pa.Schema:
    """The Arrow schema of the table.

    Args:
        config: the study.
        provenance: what computed it (jax, device, dtype ...), for the schema's metadata.

    Returns:
        Fields are `point`, the swept parameters (null: the default), `scheme`, `halvings`, the finest value of each refined quantity (null
        if the scheme refines another one), the steps and the observable at the finest level, the estimates from all levels, `exact`, the
        errors, `verdict` and `status`.
    """
    design = convergence_design(config)
    observable = by_name(config.model.observables)[design.observable]
    shown = [config.model.parameter(name) for name in leading(config)]
    results = (
        Quantity("halvings", "", "how many times the step was halved, or the tolerance divided by 10", kind="integer"),
        *(Quantity(q.name, q.unit, f"finest value computed; null where the scheme refines another: {q.description}") for q in shown),
        Quantity(STEPS, "", "steps of the finest result", kind="integer"),
        Quantity(observable.name, observable.unit, f"the finest result: {observable.description}"),
        Quantity(
            "order", "1", "observed order p, error ~ step^p or tolerance^p, by the last five differences; null where they do not shrink"
        ),
        Quantity("extrapolated", observable.unit, f"{observable.name} for a step or tolerance of 0 by Richardson with that order; or null"),
        Quantity(
            ESTIMATE,
            "1",
            "relative error of the finest result: distance from the extrapolated one, or else the larger of the last two differences",
        ),
        Quantity("exact", observable.unit, f"{observable.name} by scheme exact; null where that scheme has none"),
        Quantity("error", "1", "relative difference of the finest result from exact; the difference itself where that is 0"),
        Quantity("extrapolated_error", "1", "the same for the extrapolated result"),
        Quantity(VERDICT, "", "whether the last two results agree to the digits that the study asks for", kind="word", words=VERDICTS),
        Quantity("status", "", "ok, or what went wrong with the last row of the point", kind="word", words=SENTENCES),
    )
    fields = [
        parquet.described(parquet.POINT, pa.int64(), "", "position in the design", nullable=False),
        *(parquet.column(config.model.parameter(name)) for name in config.swept),
        parquet.described(SCHEME, parquet.WORDS, "", "scheme that computed the point"),
        *map(parquet.column, results),
    ]
    return pa.schema(fields, metadata=parquet.schema(config, provenance).metadata)


def judge(config: Config, history: HalvingHistory, exact: np.ndarray, provenance: Mapping[str, str]) -> pa.Table:
    """Build the table of a study.

    Args:
        config: the study.
        history: its levels.
        exact: (n,) the observable from the scheme `exact`, NaN if there is none.
        provenance: what computed it (see `schema`).
    """
    design = convergence_design(config)
    points = level_points(config, 0, np.arange(design.count))
    schemes = scheme_names(config, points.schemes, design.count)
    halvings = np.maximum(np.isfinite(history.steps).sum(axis=0) - 1, 0)
    divisor = np.array([divisor_of(scheme) for scheme in schemes])
    found = estimate(history.values, divisor, history.refined)
    steps = history.steps[halvings, points.numbers]
    failed = ~has_results(history.statuses)
    others = {name: np.array([refined_by(scheme)[0] != name for scheme in schemes]) for name in leading(config)}
    columns = [
        parquet.numbers(points.numbers),
        *(parquet.parameters(config.model.parameter(name), points.columns[name], points.absent.get(name)) for name in config.swept),
        parquet.words(np.array([SCHEME_NAMES.index(scheme) for scheme in schemes]), SCHEME_NAMES),
        parquet.numbers(halvings),
        *(parquet.numbers(points.columns[name] / divisor**halvings, mask) for name, mask in others.items()),
        parquet.numbers(np.nan_to_num(steps).astype(np.int64), np.isnan(steps)),
        parquet.measured(found.value),
        parquet.measured(found.order),
        parquet.measured(found.extrapolated),
        parquet.measured(relative(found.error, found.value)),
        parquet.measured(exact),
        parquet.measured(relative(found.value - exact, exact)),
        parquet.measured(relative(found.extrapolated - exact, exact)),
        parquet.words(np.select([failed, history.settled()], [2, 0], 1), VERDICTS),
        parquet.words(np.array([SENTENCES.index(sentence) for sentence in history.statuses]), SENTENCES),
    ]
    return pa.Table.from_arrays(columns, schema=schema(config, provenance))


def read_table(directory: RunDirectory, config: Config) -> pa.Table | None:
    """The table of a run; None without levels. The table of an incomplete run is that of its levels so far, with null for `exact`."""
    if directory.is_marked(directory.read_manifest()):
        return read_written(directory, config)
    history = read_levels(directory, config, empty_history(config))
    return judge(config, history, np.full(config.design.count, np.nan), {}) if history.levels else None


def read_written(directory: RunDirectory, config: Config) -> pa.Table:
    """The table of a complete run; FileNotFoundError if there is none, ConfigError if it is not as it was written."""
    return dataset.read_table(directory, directory.convergence, {field.name: field.type for field in schema(config, {})}, [VERDICT])


def relative(difference: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Absolute differences over a reference; where the reference is 0, the absolute differences themselves."""
    ratio: np.ndarray = np.abs(difference) / np.where(reference == 0.0, 1.0, np.abs(reference))
    return ratio


def write(job: Job, history: HalvingHistory) -> None:
    """Write the table of a study with all its levels."""
    exact = require_numbers(job.pool.executor.submit(solve_exactly, job.config).result(), job.config.design.count)
    table = judge(job.config, history, exact, job.setting.provenance)
    write_whole(job.directory.convergence, sealed_parquet.to_bytes(table))
