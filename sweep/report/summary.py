"""The summary of a report: what was varied, what was found and what failed, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.status import RESULTS, Status
from tribosweep.sweep.analysis.boundary_summary import BoundarySummary
from tribosweep.sweep.analysis.fixed_values import fixed_in_words, unit_of
from tribosweep.sweep.analysis.map_areas import Areas
from tribosweep.sweep.analysis.regime_map import rounding_of
from tribosweep.sweep.analysis.run_rows import RunRows, as_text, is_numeric
from tribosweep.sweep.design.designs import DESIGNS
from tribosweep.sweep.io.text import counted

MOST_WORDS = 8  # different words of a parameter that are listed


def sentences(rows: RunRows, areas: Areas, shade: Quantity, curves: BoundarySummary | None, over: Sequence[str]) -> list[tuple[str, str]]:
    """(heading, sentence) pairs that a reader needs before any picture.

    Args:
        rows: the points of the report. areas: their areas. shade: the main observable.
        curves: of a boundary study. over: the parameter over which means are taken, if any.
    """
    found = [("Varied", varied(rows, over))]
    if fixed := fixed_in_words(rows.model, {**rows.fixed, **rows.held}):
        found.append(("At all points", f"{', '.join(fixed)}; other parameters have their defaults."))
    if curves is not None:
        found.append(("Boundaries", boundaries(curves)))
    elif len(areas.words) > 1:
        found.append(("Found", shares(areas)))
    if curves is None and (said := extremes(rows, shade, over)):
        found.append((shade.name.replace("_", " ").capitalize(), said))
    return [*found, ("Failures", failures(rows.state))]


def varied(rows: RunRows, over: Sequence[str]) -> str:
    """What the run varies, from where to where, and how its points are chosen."""
    names = [*(axis.name for axis in rows.axes), *rows.loose]
    ranges = [range_of(rows, name) for name in names]
    design = rows.state["design"]
    chosen = f" Design {design}: {DESIGNS[design].replace('`', '')}." if design in DESIGNS else ""
    done, points = rows.state["rows"], rows.state["points"]
    count = counted(done, "point") if done >= points else f"{done:,} of {points:,} points so far"
    means = f", at each place the mean over {', '.join(over)}" if over else ""
    part = f", of which {rows.table.num_rows:,} are shown" if rows.held and not over else ""
    return f"{', '.join(ranges)}: {count}{part}{means}.{chosen}"


def range_of(rows: RunRows, name: str) -> str:
    """The smallest and the largest value of a parameter that varies, or its words."""
    column = rows.table.column(name)
    if not is_numeric(column):
        words = sorted(set(as_text(column).to_pylist()))
        more = ", ..." if len(words) > MOST_WORDS else ""
        return f"{name} ({', '.join(words[:MOST_WORDS])}{more})"
    values = np.unique(column.drop_null().to_numpy())
    return f"{name} from {values[0]:.4g} to {values[-1]:.4g} {unit_of(rows.model, name)}".rstrip() + f" ({len(values):,} values)"


def shares(areas: Areas) -> str:
    """The part of the points in each area."""
    count = len(areas.codes)
    parts = [(int(np.count_nonzero(areas.codes == code)), word) for code, word in enumerate(areas.words)]
    present = sorted((part for part in parts if part[0]), reverse=True)
    said = [f"{word} at {counted(number, 'point')} ({100.0 * number / count:.3g} %)" for number, word in present]
    return f"{areas.name}: {', '.join(said)}." if said else f"no point has a value of {areas.name}."


def boundaries(curves: BoundarySummary) -> str:
    """The curves of a boundary study."""
    if not curves.rows:
        return "none: all points of the coarse grid are alike."
    between = dict.fromkeys(row[1] for row in curves.rows)
    widest = max(row[4] for row in curves.rows)
    number = counted(len(curves.rows), "curve")
    lost = f" {curves.failed:,} sides of cells end at a failed point and show no boundary." if curves.failed else ""
    return f"{number}, between {'; '.join(between)}; each place is known to a relative {widest:.1e}.{lost}"


def extremes(rows: RunRows, shade: Quantity, over: Sequence[str]) -> str:
    """The range of an observable and where it is largest; empty if it has no value."""
    values = np.asarray(rows.table.column(shade.name).to_numpy(), dtype=np.float64)
    finite = np.isfinite(values)
    if not finite.any():
        return ""
    where = int(np.nanargmax(np.where(finite, values, -np.inf)))
    unit, low, high = shade.unit_suffix, float(values[finite].min()), float(values[where])
    what = f"Mean over {', '.join(over)}: from" if over else "From"
    near = rounding_of(rows.state) * max(abs(low), abs(high))
    if high - low <= near:
        return f"{low:.5g}{unit} everywhere."
    most = int(np.count_nonzero(values[finite] >= high - near))
    at = ", ".join(f"{axis.name} = {float(rows.along(axis)[where]):.5g}{axis.unit_suffix}" for axis in rows.axes)
    largest = f"largest at {at}" if most == 1 else f"largest at {most:,} points"
    middle = f"half of the points are below {float(np.median(values[finite])):.4g}{unit}"
    return f"{what} {low:.5g} to {high:.5g}{unit}, {largest}; {middle}."


def failures(state: Mapping[str, Any]) -> str:
    """How many points failed and why, and how many have a remark."""
    results = {status.sentence for status in RESULTS}
    statuses = {name: count for name, count in state["statuses"].items() if count}
    failed = {name: count for name, count in statuses.items() if name not in results}
    remarks = {name: count for name, count in statuses.items() if name in results and name != Status.OK.sentence}
    total = sum(statuses.values())
    said = "None: every point has results."
    if failed:
        number = sum(failed.values())
        said = f"{number:,} of {total:,} points failed ({100.0 * number / total:.3g} %) and have no results: {by_status(failed)}."
    if remarks:
        said += f" With results, but a remark: {by_status(remarks)}."
    return said


def by_status(statuses: Mapping[str, int]) -> str:
    """Statuses with their numbers of points, the most frequent first."""
    order: Sequence[tuple[str, int]] = sorted(statuses.items(), key=lambda each: -each[1])
    return "; ".join(f"{count:,} \N{MULTIPLICATION SIGN} {name}" for name, count in order)
