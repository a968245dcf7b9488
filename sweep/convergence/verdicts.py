"""The table of a convergence study: what its levels say of every point, with unit and description of every column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kernels.models.quantity import Quantity, by_name
from kernels.models.status import SENTENCES
from sweep import store
from sweep.adaptive import read_levels
from sweep.axes import SCHEME, SCHEME_NAMES
from sweep.config import Config
from sweep.convergence.levels import STEPS, beginning, has_results
from sweep.convergence.orders import estimate
from sweep.convergence.refinement import design_of, divisor_of, leading, level_points, refined_by, scheme_names
from sweep.directory import RunDirectory

if TYPE_CHECKING:
    from sweep.convergence.levels import History

VERDICTS = SETTLED, NOT_SETTLED, FAILED = ("settled", "not settled", "failed")
VERDICT, ESTIMATE = "verdict", "estimated_error"


def schema(config: Config, provenance: Mapping[str, str]) -> pa.Schema:
    """The Arrow schema of the table.

    Args:
        config: the study.
        provenance: what computed it (jax, device, dtype ...), for the schema's metadata.

    Returns:
        `point`, the swept parameters (null: the default), `scheme`, `halvings`, the finest value of what the accuracy depends on (null
        where that is another thing), the steps and the observable at the finest level, what follows from the levels, `exact`, errors,
        `verdict`, `status`.
    """
    design = design_of(config)
    observable = by_name(config.model.observables)[design.observable]
    shown = [config.model.parameter(name) for name in leading(config)]
    results = (
        Quantity("halvings", "", "how many times the step was halved, or the tolerance divided by 10", kind="integer"),
        *(Quantity(q.name, q.unit, f"the finest that was computed; null where another thing is refined: {q.description}") for q in shown),
        Quantity(STEPS, "", "steps of the finest result", kind="integer"),
        Quantity(observable.name, observable.unit, f"the finest result: {observable.description}"),
        Quantity(
            "order", "1", "observed order p, error ~ step^p or tolerance^p, by the last five differences; NaN where they do not shrink"
        ),
        Quantity("extrapolated", observable.unit, f"{observable.name} for a step or tolerance of 0 by Richardson with that order; or NaN"),
        Quantity(
            ESTIMATE,
            "1",
            "of the finest result, relative: distance from the extrapolated one, or else the larger of the last two differences",
        ),
        Quantity("exact", observable.unit, f"{observable.name} by scheme exact; NaN where that has none"),
        Quantity("error", "1", "relative difference of the finest result from exact; the difference itself where that is 0"),
        Quantity("extrapolated_error", "1", "the same of the extrapolated result"),
        Quantity(VERDICT, "", "whether the last two results agree to the digits that the study asks for", kind="word", words=VERDICTS),
        Quantity("status", "", "ok, or what went wrong with the last row of the point", kind="word", words=SENTENCES),
    )
    fields = [
        store.described(store.POINT, pa.int64(), "", "position in the design", nullable=False),
        *(store.column(config.model.parameter(name)) for name in config.swept),
        store.described(SCHEME, store.WORDS, "", "scheme that computed the point"),
        *map(store.column, results),
    ]
    return pa.schema(fields, metadata=store.schema(config, provenance).metadata)


def judge(config: Config, history: History, exact: np.ndarray, provenance: Mapping[str, str]) -> pa.Table:
    """The table of a study.

    Args:
        config: the study.
        history: its levels.
        exact: (n,) the observable by `exact`, NaN where there is none.
        provenance: what computed it.
    """
    design = design_of(config)
    points = level_points(config, 0, np.arange(design.count))
    schemes = scheme_names(config, points.schemes, design.count)
    halvings = np.maximum(np.isfinite(history.steps).sum(axis=0) - 1, 0)
    divisor = np.array([divisor_of(scheme) for scheme in schemes])
    found = estimate(history.values, divisor)
    steps = history.steps[halvings, points.numbers]
    failed = ~has_results(history.statuses)
    others = {name: np.array([refined_by(scheme)[0] != name for scheme in schemes]) for name in leading(config)}
    columns = [
        store.numbers(points.numbers),
        *(store.parameters(config.model.parameter(name), points.columns[name], points.absent.get(name)) for name in config.swept),
        store.words(np.array([SCHEME_NAMES.index(scheme) for scheme in schemes]), SCHEME_NAMES),
        store.numbers(halvings),
        *(store.numbers(points.columns[name] / divisor**halvings, mask) for name, mask in others.items()),
        store.numbers(np.nan_to_num(steps).astype(np.int64), np.isnan(steps)),
        store.numbers(found.value),
        store.numbers(found.order),
        store.numbers(found.extrapolated),
        store.numbers(relative(found.error, found.value)),
        store.numbers(exact),
        store.numbers(relative(found.value - exact, exact)),
        store.numbers(relative(found.extrapolated - exact, exact)),
        store.words(np.select([failed, history.settled()], [2, 0], 1), VERDICTS),
        store.words(np.array([SENTENCES.index(sentence) for sentence in history.statuses]), SENTENCES),
    ]
    return pa.Table.from_arrays(columns, schema=schema(config, provenance))


def read_table(directory: RunDirectory, config: Config) -> pa.Table | None:
    """The table of a run; of one that is not complete what its levels say so far, without `exact`; None where there are none."""
    import pyarrow.parquet as pq

    if directory.success.exists() and directory.convergence.exists():
        return pq.ParquetFile(directory.convergence).read()
    history = read_levels(directory, config, beginning(config))
    return judge(config, history, np.full(config.design.count, np.nan), {}) if history.levels else None


def relative(difference: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Absolute differences over a reference; the differences themselves where that is 0."""
    ratio: np.ndarray = np.abs(difference) / np.where(reference == 0.0, 1.0, np.abs(reference))
    return ratio
