"""The bank of records of a shard: how many it holds, and what its rows take from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.axes import Value
from sweep.blocks import Points
from sweep.design import Adaptive, Concatenation, Design, Grid, Part
from sweep.excitation.reading import Excitation
from sweep.excitation.stationary import Stationary
from sweep.problems import Problem
from sweep.sections import DRAW, RECORD

if TYPE_CHECKING:
    from kernels.excitation.record import Records
    from sweep.config import Config

BANK, MOST_BANK = 2**28, 2**31  # bytes of the draws of a shard: wanted, and at most


def most_draws(design: Design, points: int, counted: bool = True) -> int:
    """How many different draws any `points` successive points of a design have at most; of one that goes level by level any points.

    Where draws are not `counted`, of any design with longer axes of draws as well.
    """
    parts = design.parts if isinstance(design, Concatenation) else (design,)
    return min(points, sum(draws_of(part, points, counted) for part in parts))


def draws_of(part: Part | Adaptive, points: int, counted: bool) -> int:
    """`most_draws` of one part of a design."""
    place = next((place for place, axis in enumerate(part.axes) if axis.name == DRAW), None)
    if place is None:
        return 1
    there: int = getattr(part.axes[place], "count", points) if counted else points
    if not isinstance(part, Grid):
        return min(points, there)
    within = math.prod(axis.count for axis in part.axes[place + 1 :])  # points with the same draw, one after the other
    return min(points, there, (points + within - 2) // within + 1)


def fitting(design: Design, excitation: Excitation, points: int, given: bool, problems: list[Problem]) -> int:
    """How many points a shard has, so that its draws fit into memory: `points`, or where these are not `given` fewer of them.

    That does not depend on how many draws there are, so that a study may get more of them.
    """
    if not isinstance(excitation, Stationary):
        return points
    size = 8 * excitation.samples
    if given:
        if most_draws(design, points) * size > MOST_BANK:
            message = (
                f"{points} points with up to {most_draws(design, points):,} draws of {excitation.samples:,} samples are more than "
                f"{MOST_BANK / 2**30:g} GiB: take fewer points, or leave this out"
            )
            problems.append(Problem("output.shard_points", message))
        return points
    while points > 1 and most_draws(design, points, counted=False) * size > BANK:
        points //= 2
    return points


def choice(excitation: Excitation | None) -> tuple[str, float | None]:
    """The parameter that chooses a row's record, and what it is where the row does not say: the first draw, the only record, else none."""
    if isinstance(excitation, Stationary):
        return DRAW, 0.0
    return RECORD, 0.0 if excitation is not None and len(excitation.records) == 1 else None


def placed(config: Config, points: Points) -> tuple[dict[str, Value], Points, Records | None]:
    """What the rows of a study take from its excitation.

    Args:
        config: the study. points: any of its points, of which no more than its shards have differ in their draw.

    Returns:
        The fixed parameters and the points with `record` as kernels read it, and the records; the same as given where there are none.
    """
    excitation = config.excitation
    if excitation is None:
        return config.fixed, points, None
    from kernels.excitation.record import Records

    name, default = choice(excitation)
    values = np.asarray(points.columns.get(name, config.fixed.get(name, default)), float)
    absent = dict(points.absent)
    if default is not None and name in absent:
        values = np.where(absent.pop(name), default, values)
    record, bank = excitation.take(values, config.most_draws)
    fixed = {each: value for each, value in config.fixed.items() if each != name}
    columns = {each: value for each, value in points.columns.items() if each != name}
    if record.ndim:
        columns[RECORD] = record
    else:
        fixed[RECORD] = float(record)
    return fixed, replace(points, columns=columns, absent=absent), Records(bank, excitation.interval)


def of_one(excitation: Excitation | None, given: Mapping[str, Any]) -> tuple[dict[str, Any], Records | None]:
    """The parameters of one row as kernels read them, and its record alone; as given where it has none.

    Args:
        excitation: of the study. given: parameter -> value of what is not left to its default, words as their codes.
    """
    name, default = choice(excitation)
    value = given.get(name, default)
    others = {each: value for each, value in given.items() if each != name}
    if excitation is None or value is None:
        return others, None
    from kernels.excitation.record import Records

    samples = excitation.draw(int(value)) if isinstance(excitation, Stationary) else excitation.records[int(value)].samples
    return {**others, RECORD: 0.0}, Records(samples[np.newaxis], excitation.interval)
