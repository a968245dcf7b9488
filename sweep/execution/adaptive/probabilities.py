"""Boundaries on which a probability over draws has a value: the class of a place follows from how many of its rows have the event.

Three conditions follow each other as the probability grows: the upper end of its interval reaches the value, the probability itself does,
the lower end does. The class of a place is the number of those that hold. Each has a curve of its own: the boundary, and the two sides of a
band. At a place of the true boundary the interval covers the value with its confidence, and then the place lies within the band.

All places share their draws. Where each single draw that has the event keeps it along a parameter, the counted probability is monotone
there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.execution.adaptive import contour_lines as curves
from tribosweep.sweep.execution.adaptive.bisection import Brackets
from tribosweep.sweep.execution.adaptive.contour_lines import ContourLine
from tribosweep.sweep.execution.adaptive.quadtree import FAILED
from tribosweep.sweep.study.event import Comparison, Event, Values, margin_in, outcome_in, read_events, share_interval, values_in

if TYPE_CHECKING:
    import pyarrow as pa

CONDITIONS = (1, 2, 3)  # the classes from which on the upper end, the probability and the lower end have reached the value
END_OF_INTERVAL = "end of its interval"


def event_of(design: Boundary, model: Model) -> Event:
    """The event whose probability is sought."""
    return read_events("sweep.event", [design.event], model)[0]


def classify(design: Boundary, model: Model, table: pa.Table, good: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The class of each place, FAILED if all of its rows failed, and its height.

    Args:
        design: the design. model: the simulated model.
        table: the observables of the event, (n repeats,), place by place. good: mask of the rows with results.

    Returns:
        The (n,) classes, and (n,) heights that are positive where the probability is above its value: of an event such as "peak_force >
        5000" the ordered value that decides, less the limit; of events joined of such ones the margin (`joined.margin_of`); NaN for others.
    """
    event = event_of(design, model)
    values, shape = values_in(event, model, table), (-1, design.repeats)
    happened, unknown = outcome_in(event, model, values)
    open_rows = (unknown & good).reshape(shape).sum(axis=1)
    happened, good = happened & good, good & ~unknown
    rows, hits = good.reshape(shape).sum(axis=1), happened.reshape(shape).sum(axis=1)
    chance, confidence = float(design.chance or 0.0), float(design.confidence or 0.0)
    (lower, _), (_, upper) = (share_interval(hits + each, rows + open_rows, confidence) for each in (0, open_rows))
    needed = np.maximum(np.ceil(chance * rows * (1.0 - 1e-12)).astype(np.int64), 1)  # hits with which the probability has reached its value
    classes = (upper >= chance).astype(np.int64) + (hits >= needed) + (lower >= chance)
    heights = np.full(len(rows), np.nan)
    if (margins := margins_of(event, model, values)) is not None:
        above = np.where(good & ~np.isnan(margins), margins, -math.inf).reshape(shape)
        place = np.clip(design.repeats - needed, 0, design.repeats - 1)
        heights = np.take_along_axis(np.sort(above, axis=1), place[:, np.newaxis], axis=1)[:, 0]
        heights[~np.isfinite(heights)] = np.nan
    return np.where(rows, classes, FAILED), heights


def margins_of(event: Event, model: Model, values: Values) -> np.ndarray | None:
    """(n,) how far rows are beyond the limits of an event; None if it has a part that is no limit which rows pass."""
    if isinstance(event, Comparison):
        sign = 1.0 if event.relation[0] == ">" else -1.0
        return sign * (values[event.observable] - float(event.value)) if event.ordered else None
    return margin_in(event, model, values)


def saddles(classes: np.ndarray) -> np.ndarray:
    """Mask of the cells whose corners alternate in any of the conditions, given the (4, n) classes of the corners."""
    each = np.stack([curves.saddles((classes >= first).astype(np.int64)) for first in CONDITIONS])
    return np.asarray(each.any(axis=0))


def joined(found: Brackets, sides: np.ndarray, classes: np.ndarray, centres: np.ndarray) -> tuple[Brackets, list[ContourLine]]:
    """The curve of each condition; a bracket within which several conditions change belongs to the curves of all.

    Args:
        found, sides, classes, centres: see `contour_lines.join`.
    """
    lines: list[ContourLine] = []
    parts: list[Brackets] = []
    before = 0
    for first in CONDITIONS:
        part = found.part((found.low_class >= first) != (found.high_class >= first))
        part = part.with_classes(np.where(part.low_class >= first, first, first - 1), np.where(part.high_class >= first, first, first - 1))
        held = np.where(classes >= first, first, first - 1)
        own = curves.join(part, sides, held, np.where(centres >= first, first, first - 1))
        lines += [ContourLine(line.classes, line.crossings + before, line.closed) for line in own]
        parts.append(part)
        before += part.count
    return Brackets.concatenated(parts), lines


def label(design: Boundary, classes: tuple[int, int]) -> str:
    """The label of a curve, from the classes on its two sides."""
    said = f"P({design.event}) = {design.chance:g}"
    if classes == (1, 2):
        return said
    end = "upper" if classes == (0, 1) else "lower"
    return f"{said}, {end} {END_OF_INTERVAL} of {100.0 * float(design.confidence or 0.0):g} %"
