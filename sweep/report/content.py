"""The content of a report: the packed rows of a run in the order of its map, and their descriptions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analysis.boundary_summary import BoundarySummary, curves_of
from tribosweep.sweep.analysis.fixed_values import unit_of, value_in_words
from tribosweep.sweep.analysis.group_map import others_than, parameters_over
from tribosweep.sweep.analysis.map_areas import (
    FAILED,
    MISSING,
    NOTHING,
    VOID,
    Areas,
    areas_of,
    choose_shade,
    columns_of,
    require_shade,
    shown_of,
    sought_in,
)
from tribosweep.sweep.analysis.map_places import limits_of, nearest_rows, spread
from tribosweep.sweep.analysis.palette import EMPTY
from tribosweep.sweep.analysis.regime_map import RegimeMap, map_of, theory_of
from tribosweep.sweep.analysis.run_notes import notes_on
from tribosweep.sweep.analysis.run_rows import RunRows, read_rows, stacked_in, varying_of
from tribosweep.sweep.analysis.run_state import POINT, model_of
from tribosweep.sweep.analysis.supports import supports_of
from tribosweep.sweep.analysis.theory import BoundaryLine
from tribosweep.sweep.design.axis import DRAW
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.registry import OWN, analyses
from tribosweep.sweep.report.columns import MOST_FINE, pack_columns
from tribosweep.sweep.report.groups import groups_of, joined
from tribosweep.sweep.report.labels import axis_of, colors_of, ordinal, provenance_of
from tribosweep.sweep.report.means import means_over
from tribosweep.sweep.report.summary import sentences
from tribosweep.sweep.report.traces import trace_rows
from tribosweep.sweep.results.packing import COARSE, DIGITS, FINE, pack_floats
from tribosweep.sweep.results.section import Files, Section, Shown, files_of
from tribosweep.sweep.study.capabilities import BOUNDARY

LINE_NODES = 600
TECHNICAL = ("all shards", "rate", "last call", "lanes", "steps an iteration", "xla_flags", "jaxlib", "config_hash")

MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a report.

    Attributes:
        title: title of the page. facts: everything except the columns, ready for JSON.
        columns: name -> packed numbers of every row. left_out: names of columns for which there was no room.
        traced: number of points with a trace. page: what draws it: one of `page.PAGES`.
        sections: what stands on the page for the parts of analyses, and the scripts that fill them.
    """

    title: str
    facts: dict[str, Any]
    columns: dict[str, str]
    left_out: tuple[str, ...]
    traced: int
    page: str = "run"
    sections: tuple[Files, ...] = ()


def read_content(
    path: Path, x: str | None = None, y: str | None = None, color: str | None = None, at: Sequence[str] = (), traces: int = 64,
    logarithmic: bool = False, areas: str | None = None, support: str | None = None, over: Sequence[str] = (),
) -> Content:  # fmt: skip
    """Collect the content of the report of a run.

    Args:
        path: directory of the run, complete or not.
        x, y, at: see `run_rows.read_rows`; one axis is enough.
        color: the observable that is shaded first, or "none". logarithmic: whether to shade by its logarithm.
        traces: largest number of points with a trace.
        areas, support: see `regime_map.read_map`; the traces of a structure are those of this support too.
        over: parameters over which means are taken; default "draw" and those drawn at each combination of
            the rest, on no axis and not held.

    Raises:
        ConfigError: see `run_rows.read_rows`; or the observable is not in the run or holds no numbers.
    """
    if traces < 0:
        raise ConfigError("--traces", [Problem("", f"{traces} is not a number of points: 0 or more")])
    chosen: list[Quantity] = []

    def wanted(model: Model, problems: list[Problem]) -> list[str]:
        shown = shown_of(model, color, areas, support, problems, sought_in(path))
        shade = choose_shade(path, model, shown.color, problems) or by_name(model.observables)[model.main]
        chosen.append(shade)
        columns_of(model, shown, problems)
        observables = [quantity.name for quantity in model.observables if quantity.kind != "list"]
        return [POINT, *dict.fromkeys([*observables, shade.name]), "status"]

    over = tuple(over) or draws_of(path, x, y, at)
    rows = read_rows(path, wanted, x, y, at, fewest=1, over=over)
    shade = chosen[0]
    require_shade(path, rows, shade)
    if color is not None and not np.isfinite(rows.table.column(shade.name).to_numpy()).any():
        raise ConfigError(str(path), [Problem("--color", f"{shade.name} has no value in any row; the column `status` says why")])
    count = rows.table.num_rows
    more: tuple[Quantity, ...] = ()
    of = shown_of(rows.model, color, areas, support, [], sought_in(path))
    whole, whole_areas = rows, areas_of(path, rows, of)
    if over:
        rows, deviation = means_over(rows, over, shade)
        more = (deviation,)
    place = of.support or next(iter(supports_of(rows.model)), None)
    found_areas = areas_of(path, rows, of) if over else whole_areas
    drawn = map_of(path, rows, None, found_areas) if len(rows.axes) > 1 else None
    order, places, thinned = order_of(rows, drawn)
    picked = pick(rows, drawn, found_areas, order, traces) if not over else []
    found, note = trace_rows(rows, [int(order[each]) for each in picked], place) if picked else ([], "")
    where = {int(order[each]): each for each in picked}
    columns, described, left_out = pack_columns(rows, found_areas, order, shade, more)
    parts, shown_parts, lacking_parts = sections_of(Shown(path, rows, shade, over, at))
    groups, no_groups = groups_of(whole, over, drawn, shade, whole_areas)
    said = [line for part in parts.values() for line in part.summary]
    curves = curves_of(path) if rows.state["design"] == BOUNDARY and rows.state["state"] == "complete" else None
    notes = [
        each
        for each in (
            thinned,
            stacked_in([rows.along(axis) for axis in rows.axes], rows.loose),
            *lacking_parts,
            no_groups,
        )
        if each
    ]
    if over:
        each = count / max(rows.table.num_rows, 1)
        notes.append(
            f"Numbers are means over {', '.join(over)}, of {each:.4g} points at each place, and words the most frequent; "
            "means have no traces."
        )
    if left_out:
        notes.append(f"Left out of this file for its size, but in the run: {', '.join(left_out)}.")
    if len(order) > MOST_FINE:
        notes.append(f"Numbers are kept to {DIGITS[COARSE]} digits here; the run has them all.")
    notes += [note] if note else []
    notes += notes_on(path)
    state = rows.state
    if state["state"] != "complete":
        out_of = f" of {state['points']:,}" if state["rows"] < state["points"] else ""
        notes.insert(0, f"The run is not complete: it has {state['rows']:,}{out_of} points.")
    kind = "line" if drawn is None else "points" if drawn.loose else "grid" if drawn.gridded else "scattered"
    facts = {
        "study": state["study"],
        "model": rows.model.name,
        "about": rows.model.description,
        "state": state["state"],
        "kind": kind,
        "count": len(order),
        "axes": [axis_of(rows, axis) for axis in rows.axes],
        "limits": limits_of(drawn) if drawn is not None else [limits_of_line(places[0])],
        "places": [values.tolist() for values in places] if kind == "grid" else None,
        "columns": described,
        "shade": NOTHING if of.color == NOTHING and drawn is not None else shade.name,
        "logarithmic": logarithmic,
        "areas": found_areas.name,
        "words": colors_of(found_areas.words),
        "empty": {code: [name, color] for code, (name, color) in EMPTY.items()},
        "codes": {"failed": FAILED, "missing": MISSING, "void": VOID},
        "boundaries": [line_of(boundary) for boundary in boundaries_of(drawn)] if drawn is not None else [],
        "loose": list(rows.loose),
        "held": dict(rows.held),
        "fixed": [[name, value_in_words(value), unit_of(rows.model, name)] for name, value in {**rows.fixed, **rows.held}.items()],
        "traces": [
            {
                "row": where[trace.row],
                "count": len(trace.columns["time"]),
                "period": trace.period if math.isfinite(trace.period) else None,
                "gap": trace.gap if math.isfinite(trace.gap) else None,
                "columns": {name: pack_floats(values) for name, values in trace.columns.items()},
            }
            for trace in found
        ],
        "support": support_facts(rows.model, place),
        "wall": "peak_force" in by_name(rows.model.observables),
        "summary": [list(each) for each in [*sentences(rows, found_areas, shade, curves, over), *said]],
        "sections": {name: part.facts for name, part in parts.items()},
        "groups": groups,
        "curves": table_of(curves) if curves else [],
        "provenance": [list(each) for each in provenance_of(rows) if each[0] not in TECHNICAL],
        "technical": [list(each) for each in provenance_of(rows) if each[0] in TECHNICAL],
        "config": RunDirectory(path).read_manifest().get("config", ""),
        "statuses": state["statuses"],
        "notes": notes,
    }
    if kind != "grid":
        facts["axis_columns"] = [f"axis {axis}" for axis in range(len(places))]
        columns |= {f"axis {axis}": pack_floats(values, FINE) for axis, values in enumerate(places)}
    return Content(state["study"], facts, columns, left_out, len(found), sections=shown_parts)


def sections_of(whole: Shown) -> tuple[dict[str, Section], tuple[Files, ...], list[str]]:
    """The parts that analyses have of a report of a run by their names, the files that show them, and why others are not shown."""
    parts: dict[str, Section] = {}
    shown: list[Files] = []
    why_not: list[str] = []
    for analysis in analyses().values():
        if not analysis.section:
            continue
        try:
            found = import_module(f"{analysis.package}.section").section_of(whole)
            if isinstance(found, Section):
                shown.append(files_of(analysis.package))
                parts[analysis.name] = found
                why_not += found.notes
            elif found:
                why_not.append(found)
        except Exception as error:
            if analysis.package in OWN:
                raise
            why_not.append(f"No part of {analysis.name}, which another package brings: {type(error).__name__}: {error}.")
    return parts, tuple(shown), why_not


def draws_of(path: Path, x: str | None, y: str | None, at: Sequence[str]) -> tuple[str, ...]:
    """The names of the random draws and of the parameters drawn at each combination of others, that are on no axis and not held.

    None where nothing else varies: then the draws are the axis.
    """
    held = {x, y, *(wish.partition("=")[0].strip() for wish in at)}
    there = Dataset(path).names
    draw = [DRAW] if DRAW in there and varying_of(Dataset(path).table([DRAW]), [DRAW]) else []
    if draw and not others_than({DRAW}, path, model_of(path)):  # draws alone are an axis
        return ()
    return tuple(name for name in dict.fromkeys([*draw, *parameters_over(path, (), held)]) if name not in held)


def table_of(curves: BoundarySummary) -> list[dict[str, Any]]:
    """The curves of a boundary study, one line for all with the same sides."""
    lines: dict[str, dict[str, Any]] = {}
    for _, between, places, _, width in curves.rows:
        line = lines.setdefault(between, {"between": between, "curves": 0, "places": 0, "width": 0.0})
        line |= {"curves": line["curves"] + 1, "places": line["places"] + places, "width": max(width, line["width"])}
    return list(lines.values())


def support_facts(model: Model, support: str | None) -> dict[str, Any] | None:
    """What the page knows of the support of a structure whose traces it shows: its name and obstacle; None without one."""
    if support is None or model.structure is None:
        return None
    kind = model.structure.kind_of(model.structure.support(support))
    return {"name": support, "obstacle": kind.obstacle}


def order_of(rows: RunRows, drawn: RegimeMap | None) -> tuple[np.ndarray, list[np.ndarray], str]:
    """The order of the rows in the report: cell by cell on a grid, along a line, or as in the table.

    Returns:
        The positions of the rows in the table, -1 for an empty cell of a grid; the values along the axes of a grid, or else of every row;
        and a sentence on the rows that are not shown.
    """
    count = rows.table.num_rows
    if drawn is not None and drawn.cells is not None:
        stride = math.ceil(math.sqrt(max(1.0, count / MOST_ROWS)))
        note = f"Every {ordinal(stride)} value of either axis is shown." if stride > 1 else ""
        return drawn.cells[::stride, ::stride].ravel(), [drawn.x_values[::stride], drawn.y_values[::stride]], note
    order = np.arange(count) if len(rows.axes) > 1 else np.argsort(rows.along(rows.axes[0]), kind="stable")
    stride = math.ceil(count / MOST_ROWS)
    order = order[::stride]
    note = f"Every {ordinal(stride)} row is shown." if stride > 1 else ""
    return order, [rows.along(axis)[order] for axis in rows.axes], note


def pick(rows: RunRows, drawn: RegimeMap | None, areas: Areas, order: np.ndarray, most: int) -> list[int]:
    """Choose at most `most` rows evenly over the map, as positions in the order of the report; failed rows have no trace."""
    if not most:
        return []
    whole = np.append(areas.codes, FAILED)[order] >= 0  # -1 selects the appended element
    if drawn is None:
        along = rows.along(rows.axes[0])[order]
        values = np.log(along) if rows.is_logarithmic(rows.axes[0]) else along
        ideal = np.linspace(values[0], values[-1], min(most, len(order)))
        near = np.clip(np.searchsorted((values[1:] + values[:-1]) / 2.0, ideal), 0, len(order) - 1)
        return [int(place) for place in np.unique(near) if whole[place]]
    across = max(1, round(math.sqrt(1.4 * most)))
    up = max(1, most // across)
    limits = limits_of(drawn)
    lattice = [spread(*limit, log, count) for limit, log, count in zip(limits, drawn.logarithmic, (across, up), strict=True)]
    cells = nearest_rows(drawn, *lattice).ravel()
    if drawn.cells is not None:
        cells = drawn.cells.ravel()[cells]
    place_of = np.full(rows.table.num_rows + 1, -1)
    place_of[order[order >= 0]] = np.flatnonzero(order >= 0)
    return [int(place) for place in dict.fromkeys(place_of[cells]) if place >= 0 and whole[place]]


def boundaries_of(drawn: RegimeMap) -> Iterable[BoundaryLine]:
    """The boundaries between regimes, from theory and from the run."""
    values = (drawn.x_values, drawn.y_values)
    x, y = (spread(float(v.min()), float(v.max()), log, LINE_NODES) for v, log in zip(values, drawn.logarithmic, strict=True))
    return [*theory_of(drawn, x, y), *drawn.measured]


def line_of(boundary: BoundaryLine) -> dict[str, Any]:
    """A boundary for plotly, with null between its pieces."""
    return {"name": boundary.plain, "theory": boundary.theory, **joined(boundary.pieces)}


def limits_of_line(values: np.ndarray) -> tuple[float, float]:
    """The ends of the only axis."""
    return float(values[0]), float(values[-1])
