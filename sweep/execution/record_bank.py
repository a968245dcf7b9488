"""The bank of records of a shard, and the position of each row's record in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.excitation.draws import Draws
from tribosweep.sweep.excitation.records import Recorded
from tribosweep.sweep.io.values import Value
from tribosweep.sweep.study.excitation import Excitation

if TYPE_CHECKING:
    from tribosweep.kernels.excitation.record import Records
    from tribosweep.sweep.study.config import Config


def choice(excitation: Excitation | None) -> tuple[str, float | None]:
    """The parameter that selects a row's record, and its default: the first draw, the only record, or None."""
    if excitation is not None and not isinstance(excitation, Recorded):
        return DRAW, 0.0
    return RECORD, 0.0 if excitation is not None and len(excitation.records) == 1 else None


def bind_records(config: Config, points: Points) -> tuple[dict[str, Value], Points, Records | None]:
    """Look up the records of the rows of a study.

    Args:
        config: the study. points: some of its points, with no more different draws than a shard has.

    Returns:
        The fixed parameters and the points, in which `record` is a position in the bank, and the bank. Without an excitation parameters
        and points are unchanged, and there is no bank (None).
    """
    excitation = config.excitation
    if excitation is None:
        return config.fixed, points, None
    from tribosweep.kernels.excitation.record import Records

    name, default = choice(excitation)
    values = numbers_of(config, excitation, points)
    absent = {each: mask for each, mask in points.absent.items() if default is None or each != name}
    record, bank = excitation.take(values, config.most_draws)
    fixed = {each: value for each, value in config.fixed.items() if each != name}
    columns = {each: value for each, value in points.columns.items() if each != name}
    if record.ndim:
        columns[RECORD] = record
    else:
        fixed[RECORD] = float(record)
    return fixed, replace(points, columns=columns, absent=absent), Records(bank, excitation.interval)


def numbers_of(config: Config, excitation: Excitation, points: Points) -> np.ndarray:
    """The number of the record or draw of each row, (n,) or of all rows; NaN where it has none."""
    name, default = choice(excitation)
    values = np.asarray(points.columns.get(name, config.fixed.get(name, default)), float)
    return np.where(points.absent[name], default, values) if default is not None and name in points.absent else values


def rows_without_draw(config: Config, points: Points) -> np.ndarray:
    """(n,) mask of the points whose random draw there is not, because it misses its target."""
    excitation = config.excitation
    if not isinstance(excitation, Draws):
        return np.zeros(points.count, bool)
    return np.broadcast_to(excitation.missed(numbers_of(config, excitation, points)), (points.count,))


def has_record(excitation: Excitation | None, given: Mapping[str, Any]) -> bool:
    """Whether the record of one row is there, see `record_of_row`: not so if it is a draw that misses its target."""
    return not isinstance(excitation, Draws) or not excitation.missed(np.asarray(given.get(DRAW, 0.0), float)).any()


def record_of_row(excitation: Excitation | None, given: Mapping[str, Any]) -> tuple[dict[str, Any], Records | None]:
    """The parameters of one row in the format of the kernels, and its record or None.

    Args:
        excitation: excitation of the study. given: parameter -> value, for parameters that differ from their default; words as codes.

    Raises:
        RunError: its draw misses its target.
    """
    name, default = choice(excitation)
    value = given.get(name, default)
    others = {each: value for each, value in given.items() if each != name}
    if excitation is None or value is None:
        return others, None
    from tribosweep.kernels.excitation.record import Records

    samples = excitation.records[int(value)].samples if isinstance(excitation, Recorded) else excitation.draw(int(value))
    return {**others, RECORD: 0.0}, Records(samples[np.newaxis], excitation.interval)
