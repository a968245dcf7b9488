"""Rows, counts and results of a run as tables on the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.kernels.models import REGIMES, Model
from tribosweep.kernels.models.status import Status
from tribosweep.sweep.analysis.run_state import FEW, POINT, first_rows, shown_table, swept_in, varies
from tribosweep.sweep.cli.terminal import print_table, say
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.execution.adaptive.boundary_table import BETWEEN, CLOSED, CURVE, WIDTH
from tribosweep.sweep.io.text import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from tribosweep.sweep.analysis.boundary_summary import BoundarySummary

MANY_CURVES = 24  # with more curves, those between the same two regimes are counted together
SHOCK = ("impacts", "peak_force", "max_compression", "plastic_set", "rebound_velocity", "separation_time")
RUBBING = ("wear_power", "wear_power_error", "stick_fraction", "slip_phases", "regime")
OF_SUPPORTS = ("wear_power", "normal_force_peak", "impacts", "contact_regime")
FEW_SUPPORTS, MANY_SUPPORTS = 2, 8
WORN = ("wear_volume", "wear_depth", "wear_volume_edf_mz", "wear_depth_edf_mz")
SPARE = (
    "wear_power_error",
    "slip_phases",
    "stick_fraction",
    "separation_time",
    "impacts",
)  # these columns are left out, in this order, if they do not fit
SPARE_OF_STUDY = ("point", "accepted_steps", "extrapolated_error", "estimated_error", "halvings")


def print_failed(rows: pa.Table, model: Model) -> None:
    """Print failed rows on stdout: their numbers, the parameters that vary, and the causes."""
    observables = {quantity.name for quantity in model.observables}
    columns: dict[str, list[Any]] = plain_columns(rows)
    columns |= {name: [shown_table(cell) for cell in columns[name]] for name in model.tables & columns.keys()}
    shown_ones = [name for name in columns if name not in observables and (name in (POINT, "status") or varies(columns[name]))]
    print_table("", shown_ones, zip(*(columns[name] for name in shown_ones), strict=True), shown_ones[:-1], ["status"])


def plain_columns(rows: pa.Table) -> dict[str, list[Any]]:
    """The columns of rows without those of signals, which no table on the terminal can show."""
    from tribosweep.sweep.execution.parquet import ENTRIES

    names = [field.name for field in rows.schema if ENTRIES.encode() not in (field.metadata or {})]
    return {name: rows.column(name).to_pylist() for name in names}


def print_first(directory: Path, model: Model, count: int, title: str = "") -> None:
    """Print the first `count` rows of a run; see `print_rows`."""
    rows = first_rows(directory, count)
    print_rows(rows, model, swept_in(directory, model, rows.column_names), title)


def print_rows(rows: pa.Table, model: Model, swept: Collection[str], title: str = "") -> None:
    """Print a few rows: the swept parameters, the main observables, and the status unless all are "ok".

    Args:
        rows: some rows of a run. model: its model.
        swept: parameters that vary in the run, also where these rows have one value.
        title: title above the table; may be empty.

    For a model with a wall, the observables of rubbing are printed only if a mass touches a support in some row.
    """
    observables = {quantity.name: quantity for quantity in model.observables}
    quantities = {quantity.name: quantity for quantity in model.parameters} | observables
    columns: dict[str, list[Any]] = plain_columns(rows)
    parameters = [
        name for name in columns if name not in observables and name not in ("point", "status") and (name in swept or varies(columns[name]))
    ]
    rubs = "regime" in columns and (
        "impacts" not in columns
        or any(word in REGIMES for word in columns["regime"])
        or any(power is not None and power > 0.0 for power in columns["wear_power"])
    )
    steady = ("period", "regime", "multiplier_1", "stability") if "poincare_x" in columns else ()
    wanted = dict.fromkeys((*SHOCK, *((*RUBBING, *WORN) if rubs else ()), *steady, *of_supports(list(observables))))
    chosen = ["point", *parameters, *(name for name in wanted if name in columns)]
    if any(status != Status.OK.sentence for status in columns["status"]):
        chosen.append("status")
    columns |= {name: [shown_table(cell) for cell in columns[name]] for name in model.tables.intersection(parameters)}
    header = {name: f"{name}\n{quantities[name].unit_suffix.strip() if name in quantities else ''}" for name in chosen}
    right = [header[name] for name in chosen if not any(isinstance(cell, str) for cell in columns[name])]
    spare = [header[name] for name in SPARE if name in header]
    print_table(title, list(header.values()), zip(*(columns[name] for name in chosen), strict=True), right, spare=spare)


def of_supports(observables: list[str]) -> list[str]:
    """The observables of supports that are shown: all work rates; if there are few supports, forces, impacts and words too."""
    supports = [name.partition("[")[2] for name in observables if name.startswith("wear_power[")]
    shown_of_each = OF_SUPPORTS if len(supports) <= FEW_SUPPORTS else OF_SUPPORTS[:1]
    return [f"{name}[{support}" for name in shown_of_each for support in supports[:MANY_SUPPORTS]]


def print_study(table: pa.Table) -> None:
    """Print the table of a convergence study without constant parameters; if it is long, the number of points by verdict."""
    from tribosweep.sweep.execution.adaptive.convergence_table import VERDICTS

    columns: dict[str, list[Any]] = table.to_pydict()
    if table.num_rows > FEW:
        counts = Counter(columns["verdict"])
        print_table("", ["verdict", "points"], [(word, f"{counts[word]:,}") for word in VERDICTS if counts[word]], right=["points"])
        return
    parameters = table.column_names[1 : table.column_names.index("halvings")]
    hidden = {name for name in parameters if not varies(columns[name])}
    if set(columns["status"]) == {Status.OK.sentence}:
        hidden.add("status")
    header, cells = {}, {}
    for field in table.schema:
        if field.name not in hidden:
            unit = field.metadata[b"unit"].decode().removeprefix("1")
            style = "2f" if field.name == "order" else "1e" if field.name.endswith("error") else "7g"
            header[field.name] = field.name.replace("_", "\n") if field.name in SPARE_OF_STUDY else f"{field.name}\n{unit}"
            cells[field.name] = [shown(cell, style) for cell in columns[field.name]]
    right = [header[name] for name in header if name not in (SCHEME, "verdict", "status")]
    spare = [header[name] for name in SPARE_OF_STUDY if name in header]
    prose = [header["status"]] if "status" in header else []
    print_table("", list(header.values()), zip(*cells.values(), strict=True), right, prose, spare)


def shown(cell: Any, style: str) -> Any:
    """Format a number in a style; NaN becomes empty, and other cells stay as they are."""
    return (None if math.isnan(cell) else f"{cell:.{style}}") if isinstance(cell, float) else cell


def print_counts(state: dict[str, Any]) -> None:
    """Print on stdout the number of rows per status, and per word of every word observable; `state` is that of the run."""
    rows = [(name, word, f"{count:,}") for name, counts in state["words"].items() for word, count in Counter(counts).most_common()]
    rows += [("status", status, f"{count:,}") for status, count in state["statuses"].items()]
    print_table("", ["column", "value", "points"], rows, right=["points"])


def print_curves(curves: BoundarySummary) -> None:
    """Print the curves, one per row; if they are many, one row for all curves between the same two regimes."""
    if len(curves.rows) <= MANY_CURVES:
        rows = [
            (curve, between, f"{places:,}", "yes" if closed else "no", f"{width:.1e}")
            for curve, between, places, closed, width in curves.rows
        ]
        print_table("", [CURVE, BETWEEN, "places", CLOSED, WIDTH], rows, right=["places"])
        return
    groups: dict[str, list[tuple[int, str, int, bool, float]]] = {}
    for row in curves.rows:
        groups.setdefault(row[1], []).append(row)
    totals = [
        (name, f"{len(each):,}", f"{sum(row[2] for row in each):,}", f"{max(row[4] for row in each):.1e}") for name, each in groups.items()
    ]
    print_table("", [BETWEEN, "curves", "places", WIDTH], totals, right=["curves", "places"])


def say_curves(curves: BoundarySummary, points: int) -> None:
    """Print remarks on the curves; `points` is the number of points that they took."""
    design, widest = curves.design, max((row[-1] for row in curves.rows), default=0.0)
    what = f"{counted(len(curves.rows), 'curve')}, every place within a relative {widest:.1e}," if curves.rows else "No curve,"
    grids = f"a uniform grid of the smallest cells has {design.fine_count:,}, one as fine as the brackets {design.sharp_count:.1g}"
    say(f"{what} from {counted(points, 'point')}; {grids}.")
    say("Islands smaller than a coarse cell are found only where sweep.seeds have a point on them.")
    if curves.failed:
        say(f"Where rows failed no curve is drawn: {counted(curves.failed, 'side')} of cells lead to such a row.")
