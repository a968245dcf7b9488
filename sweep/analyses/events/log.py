"""The events and impacts of single points of a study, computed anew."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.sweep.analyses.events.request import EventsRequest
from tribosweep.sweep.analyses.events.result import POINT, Events
from tribosweep.sweep.analysis.study_rows import parameters_of, scheme_of
from tribosweep.sweep.execution.record_bank import record_of_row
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.capabilities import EVENTS, IMPACTS
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.rules import check_fixed


def events_of(config: Config, request: EventsRequest) -> Events:
    """The events or impacts of some points.

    The exact engine computes them. Impacts of a structure are computed by the scheme of the row.

    Raises:
        ConfigError: see `parameters_of`; or impacts of a model without a wall, events of a structure, or points that the scheme exact
            cannot run.
    """
    from tribosweep.kernels import structure_history, time_history

    rows = [parameters_of(config, point, IMPACTS if request.impacts else EVENTS) for point in request.points]
    structure = config.model.structure
    if structure is not None and not structure.supports:
        raise ConfigError(config.source, [Problem("supports", "the structure has none, hence no impacts")])
    schemes = [EXACT if structure is None else scheme_of(config, point) for point in request.points]
    for scheme, row in zip(schemes, rows, strict=True):
        if problems := check_fixed(config.model, scheme, row, config.paths, set()):
            raise ConfigError(config.source, problems)
    logs = [log_of(config, request, *each) for each in zip(request.points, schemes, rows, strict=True)]
    impacts = time_history.IMPACT_COLUMNS if structure is None else structure_history.IMPACT_COLUMNS
    quantities: tuple[Quantity, ...] = impacts if request.impacts else time_history.EVENT_COLUMNS
    columns = {quantity.name: np.concatenate([log[quantity.name] for log in logs]) for quantity in quantities}
    points = np.concatenate([np.full(len(log["time"]), point) for point, log in zip(request.points, logs, strict=True)])
    return Events(config.name, "impacts" if request.impacts else "events", quantities, {POINT: points, **columns})


def log_of(config: Config, request: EventsRequest, point: int, scheme: str, given: dict[str, Any]) -> Mapping[str, np.ndarray]:
    """The columns of one point, which has the parameters `given` and is computed by a scheme."""
    from tribosweep.kernels import structure_history, time_history

    shaken, records = record_of_row(config.excitation, given)
    if config.model.structure is None:
        ask = time_history.impacts if request.impacts else functools.partial(time_history.event_log, most=request.most)
        return ask(config.model.name, shaken, records=records)
    try:
        return structure_history.impacts(config.model.structure.model, shaken, scheme, records)
    except ValueError as error:
        raise ConfigError(config.source, [Problem(f"point {point}", str(error))]) from None
