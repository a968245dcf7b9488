"""The table of a subset simulation: one row per repeat and level, with unit and description of every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.design.subset_simulation import SubsetSimulation
from tribosweep.sweep.execution import parquet
from tribosweep.sweep.execution.adaptive.subset_simulation import ALL_LEVELS, GOING, REACHED, STALLED, ClimbingHistory, subset_design
from tribosweep.sweep.execution.job import Job
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.io.atomic import write_whole
from tribosweep.sweep.study.config import Config

ENDS = (GOING, REACHED, STALLED, ALL_LEVELS)
GOAL = "goal"


def columns_of(config: Config) -> tuple[Quantity, ...]:
    """The columns of the table."""
    goal = goal_of(config)
    return (
        Quantity("repeat", "", "number of the independent simulation", kind="integer"),
        Quantity("level", "", "0 for independent points, then chains", kind="integer"),
        Quantity("rows", "", "rows that were computed for this level", kind="integer"),
        Quantity("failed", "", "of them without results; they count as neither with nor without the event", kind="integer"),
        Quantity("unknown", "", "of them whose observable could not be computed; they count as neither", kind="integer"),
        Quantity(GOAL, goal.unit, f"{goal.description} of the next domain; at the last level the limit of the event"),
        Quantity("probability", "1", "share of the states of this level in the next domain"),
        Quantity("exceedance", "1", "probability of the next domain: product of the shares so far"),
        Quantity("correlation", "1", "gamma of Au and Beck (2001): 0 if the states of a chain are independent, more if they repeat"),
        Quantity("variation", "1", "coefficient of variation of the share, with this correlation"),
        Quantity("accepted", "1", "share of the candidates that were accepted; null at level 0"),
        Quantity("end", "", "why the repeat ended with this level, or that it goes on", kind="word", words=ENDS),
    )


def level_rows(config: Config, history: ClimbingHistory) -> list[dict[str, Any]]:
    """One entry per repeat and level, by column; `end` is a word."""
    design = subset_design(config)
    found: list[dict[str, Any]] = []
    for climb in history.climbs:
        exceedance = 1.0
        for number, level in enumerate(climb.levels):
            exceedance *= level.probability
            found.append({
                "repeat": climb.repeat, "level": number, "rows": level.rows, "failed": level.failed,
                "unknown": level.unknown, GOAL: in_unit(design, level.goal),
                "probability": level.probability, "exceedance": exceedance, "correlation": level.correlation, "variation": level.variation,
                "accepted": level.accepted, "end": climb.end if number == len(climb.levels) - 1 else GOING,
            })  # fmt: skip
    return found


def goal_of(config: Config) -> Quantity:
    """What levels are domains of: the observable, its difference from the parameter that is the limit, or the margin of a joined event."""
    event = subset_design(config).single
    if event is None:
        return Quantity("margin", "1", "least margin beyond the limits, in parts of them")
    observable = by_name(config.model.observables)[event.observable]
    less = "" if isinstance(event.limit, float) else f" minus {event.limit}"
    return replace(observable, description=f"{'least' if event.sign > 0.0 else 'largest'} {observable.name}{less}")


def in_unit(design: SubsetSimulation, margin: float) -> float:
    """The observable at a margin; if the limit is a parameter, its difference from the parameter; of a joined event the margin."""
    return margin if design.single is None else limit_of(design) + design.single.sign * margin


def limit_of(design: SubsetSimulation) -> float:
    """The limit on the axis of `in_unit`: the number that the event has, else 0."""
    return design.single.limit if design.single is not None and isinstance(design.single.limit, float) else 0.0


def to_arrow(config: Config, history: ClimbingHistory, provenance: Mapping[str, str]) -> pa.Table:
    """The table of a study; `provenance` is what computed it (jax, device ...), for the schema's metadata."""
    rows, columns = level_rows(config, history), []
    for quantity in columns_of(config):
        values = [row[quantity.name] for row in rows]
        if quantity.kind == "word":
            columns.append(parquet.words(np.array([quantity.words.index(value) for value in values], dtype=np.int32), quantity.words))
        else:
            whole = quantity.kind == "integer"
            columns.append(parquet.numbers(np.array(values, np.int64)) if whole else parquet.measured(np.array(values, np.float64)))
    layout = pa.schema([parquet.column(quantity) for quantity in columns_of(config)], metadata=parquet.schema(config, provenance).metadata)
    return pa.Table.from_arrays(columns, schema=layout)


def write(job: Job, history: ClimbingHistory) -> None:
    """Write the table of a study with all its levels."""
    write_whole(job.directory.levels, sealed_parquet.to_bytes(to_arrow(job.config, history, job.setting.provenance)))
