"""How strong the records and random draws of a run are, as an intensity: PGA, PGV, Arias intensity, CAV, spectral acceleration."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kernels.models import Model
from kernels.models.quantity import Quantity, by_name
from sweep.analysis.event_log import read_study
from sweep.design.axis import DRAW, RECORD
from sweep.excitation.intensity import MEASURES, measures, of_study, scaled, spectral
from sweep.excitation.records import ACCELERATION, Recorded
from sweep.io.errors import ConfigError, Problem
from sweep.study.excitation import channels_of

if TYPE_CHECKING:
    import pyarrow as pa

SCALE = "record_scale"
OF_INPUT = (RECORD, DRAW, SCALE)  # the parameters that choose what shakes a row
SPECTRAL = "sa_0.5s"  # an example of a name
_SPECTRAL = re.compile(r"sa_([0-9.]+(?:e[-+]?[0-9]+)?)s")


def period_in(name: str) -> float | None:
    """The period [s] in the name of a spectral acceleration, "sa_0.5s"; None if it is none."""
    found = _SPECTRAL.fullmatch(name)
    try:
        period = float(found[1]) if found else math.nan
    except ValueError:
        return None
    return period if 0.0 < period < math.inf else None


def quantity_of(name: str) -> Quantity | None:
    """The measure of the input with this name: one of MEASURES, or a spectral acceleration; None if there is none."""
    period = period_in(name)
    return MEASURES.get(name) if period is None else spectral(period)


def values_of(path: Path, name: str, table: pa.Table) -> np.ndarray:
    """(n,) intensities of the rows of a run, each of its record or draw times its `record_scale`; NaN where a row has no record.

    Args:
        path: directory of the run. name: see `quantity_of`. table: n rows with those of OF_INPUT that the run has.

    Raises:
        ConfigError: the study has no base acceleration, one with several channels, or files of records that are gone.
    """
    config = read_study(path)
    excitation = config.excitation
    problems: list[Problem] = []
    channels = None if excitation is None else channels_of(config.model, problems)
    if excitation is None:
        problems.append(Problem("--intensity", f"{name} is of records and random draws: this study has neither"))
    elif channels is not None and (channels.of != ACCELERATION or channels.count > 1):
        problems.append(
            Problem("--intensity", f"{name} is of one base acceleration: this study has {channels.count} channels of {channels.of}s")
        )
    if problems or excitation is None:
        raise ConfigError(str(path), problems)
    numbers = codes_of(RECORD if isinstance(excitation, Recorded) else DRAW, config.model, table)
    period = period_in(name)
    found = of_study(excitation, numbers, [] if period is None else [period])
    key = name if period is None else next(each for each in measures([period]) if each not in MEASURES)
    factor = np.asarray(table.column(SCALE).to_numpy(zero_copy_only=False), dtype=np.float64) if SCALE in table.column_names else 1.0
    factor = np.where(np.isnan(factor), 1.0, factor)  # left at its default
    return np.asarray(scaled({key: found[key].reshape(len(numbers))}, factor)[key])


def codes_of(name: str, model: Model, table: pa.Table) -> np.ndarray:
    """(n,) numbers of the records or draws of rows; the default where the run does not vary them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    default = by_name(model.parameters)[name].default
    first = float(default) if isinstance(default, int | float) else 0.0
    if name not in table.column_names:
        return np.full(table.num_rows, first)
    column = table.column(name)
    if words := by_name(model.parameters)[name].words:
        column = pc.index_in(column.cast(pa.string()), pa.array(words))
    values = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(np.isnan(values), first, values)
