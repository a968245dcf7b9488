"""How strong the records and random draws of a run are, as an intensity: PGA, PGV, Arias intensity, CAV, spectral acceleration."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analysis.study_rows import read_study
from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.excitation.intensity import MEASURES, of_study, scaled, spectral
from tribosweep.sweep.excitation.records import ACCELERATION, Recorded
from tribosweep.sweep.excitation.response_spectrum import DAMPING
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.excitation import channels_of

if TYPE_CHECKING:
    import pyarrow as pa

SCALE = "record_scale"
OF_INPUT = (RECORD, DRAW, SCALE)  # the parameters that choose what shakes a row
SA, SPECTRAL = "sa", "sa_0.5s"  # of a spectral acceleration: how names begin, and an example
_NAME = re.compile(
    r"(?P<measure>[a-z]+)(?:_(?P<period>[0-9.]+(?:e[-+]?[0-9]+)?)s(?:_(?P<percent>[0-9.]+)%)?)?(?:\[(?P<channel>[0-9]{1,9})\])?"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of the input that a name means.

    Attributes:
        quantity: its name in `intensities`, unit and description. period: of a spectral acceleration [s], else None.
        damping: of it, part of critical damping. channel: of several, None where none is named.
    """

    quantity: Quantity
    period: float | None = None
    damping: float = DAMPING
    channel: int | None = None


def measure_of(name: str) -> Measure | None:
    """What a name means: one of MEASURES, or a spectral acceleration "sa_0.5s" or, at 2 % of damping, "sa_0.5s_2%"; of a channel "pga[1]".

    None if it means none.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    channel = None if found["channel"] is None else int(found["channel"])
    if found["period"] is None:
        quantity = MEASURES.get(found["measure"])
        return None if quantity is None else Measure(quantity, channel=channel)
    try:
        period, damping = float(found["period"]), DAMPING if found["percent"] is None else float(found["percent"]) / 100.0
    except ValueError:
        return None
    if found["measure"] != SA or not (0.0 < period < math.inf and 0.0 <= damping < 1.0):
        return None
    return Measure(spectral(period, damping), period, damping, channel)


def quantity_of(name: str) -> Quantity | None:
    """The measure of the input with this name as a quantity, see `measure_of`; None if there is none."""
    found = measure_of(name)
    if found is None or found.channel is None:
        return None if found is None else found.quantity
    quantity = found.quantity
    return replace(quantity, name=f"{quantity.name}[{found.channel}]", description=f"{quantity.description}; of channel {found.channel}")


def values_of(path: Path, name: str, table: pa.Table) -> np.ndarray:
    """(n,) intensities of the rows of a run, each of its record or draw times its `record_scale`; NaN where a row has no record.

    Args:
        path: directory of the run. name: see `measure_of`. table: n rows with those of OF_INPUT that the run has.

    Raises:
        ConfigError: the study has no base acceleration, or several of which none is named, or files of records that are gone.
    """
    config = read_study(path)
    excitation, measure = config.excitation, measure_of(name)
    problems: list[Problem] = []
    if measure is None:
        problems.append(Problem("--intensity", f"{name} is no measure of records and random draws"))
    elif excitation is None:
        problems.append(Problem("--intensity", f"{name} is of records and random draws: this study has neither"))
    else:
        check_channel(measure, name, config.model, problems)
    if problems or excitation is None or measure is None:
        raise ConfigError(str(path), problems)
    numbers = codes_of(RECORD if isinstance(excitation, Recorded) else DRAW, config.model, table)
    found = of_study(excitation, numbers, [] if measure.period is None else [measure.period], measure.damping)[measure.quantity.name]
    if found.ndim > 1:
        found = found[:, measure.channel or 0]
    factor = np.asarray(table.column(SCALE).to_numpy(zero_copy_only=False), dtype=np.float64) if SCALE in table.column_names else 1.0
    factor = np.where(np.isnan(factor), 1.0, factor)  # left at its default
    return np.asarray(scaled({measure.quantity.name: found}, factor)[measure.quantity.name])


def check_channel(measure: Measure, name: str, model: Model, problems: list[Problem]) -> None:
    """Add a problem unless a measure is that of one base acceleration of the loads of a model."""
    channels = channels_of(model, problems)
    if channels is None:
        return
    if channels.of != ACCELERATION:
        problems.append(Problem("--intensity", f"{name} is of a base acceleration: this study has {channels.of}s"))
    elif measure.channel is None and channels.count > 1:
        message = f"{name} is of one base acceleration: this study has {channels.count} channels, so say which, such as '{name}[0]'"
        problems.append(Problem("--intensity", message))
    elif measure.channel is not None and measure.channel >= channels.count:
        problems.append(Problem("--intensity", f"{name}: there are {channels.count} channels, counted from 0"))


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
