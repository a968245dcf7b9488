"""`tribosweep rare`: its options and its output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tribosweep.sweep.cli.arguments import AsJson, RunFolder
from tribosweep.sweep.cli.shared import FAILED_ROWS
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say_notes
from tribosweep.sweep.results.printed import short

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.rare_event import RareEvent

UNKNOWN = "unknown"


def rare(
    directory: RunFolder,
    confidence: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the chance of a rare event, 1e-3 to 1e-9, from a subset simulation: its interval, its levels, and a picture."""
    from tribosweep.sweep.analysis import rare_event
    from tribosweep.sweep.plots.rare_event import draw
    from tribosweep.sweep.results.picture import check_suffix

    if out is not None:
        check_suffix(out)
    found = rare_event.read(directory, confidence)
    if out is not None:
        draw(found, out)
    if as_json:
        print_json(rare_event.facts(found))
    else:
        print_estimates(found)
        print_levels(found)
    say_notes(found.notes, [out])
    if found.failed or found.estimate is None:
        raise typer.Exit(FAILED_ROWS)


def print_estimates(found: RareEvent) -> None:
    """Print the chance of the event, of all repeats together and of each."""
    level = f"{100.0 * found.confidence:g} %"
    emit(f"chance of {found.event} and its coefficient of variation")
    header = ["chance", f"from ({level})", "to", "variation", "families", "rows", "by Monte Carlo"]
    named = [] if found.estimate is None else [("all repeats", found.estimate)]
    if found.design.repeats > 1:
        named += [(f"repeat {number}", each) for number, each in found.repeats.items()]
    rows = []
    for name, each in named:
        cells = [short(each.probability), short(each.low), short(each.high), short(each.variation, 3), f"{each.families:,}"]
        whole = each is found.estimate
        cost = [f"{found.rows:,}", f"{found.monte_carlo_rows:.3g}"] if whole else ["", ""]
        rows.append([*([name] if found.design.repeats > 1 else []), *cells, *cost])
    if not rows:
        rows = [["-"] * (len(header) + (found.design.repeats > 1))]
    print_table("", [*(["of"] if found.design.repeats > 1 else []), *header], rows, right=header)
    emit("")


def print_levels(found: RareEvent) -> None:
    """Print the levels of every repeat."""
    unit = found.observable.unit_suffix.strip()
    goal = f"{found.across}{f' [{unit}]' if unit else ''}"
    several = found.design.repeats > 1
    header = ["level", goal, "share", "chance", "correlation", "variation", "accepted", "rows", "failed"]
    header += [UNKNOWN] if found.unknown else []
    rows = []
    for row in found.levels:
        shares = [short(row[name], 4) for name in ("goal", "probability", "exceedance", "correlation", "variation", "accepted")]
        cells = [str(row["level"]), *shares, f"{row['rows']:,}", f"{row['failed']:,}"]
        cells += [f"{row[UNKNOWN]:,}"] if found.unknown else []
        rows.append([*([str(row["repeat"])] if several else []), *cells])
    print_table(
        "levels: beyond the limit in the second column lies the next level", [*(["repeat"] if several else []), *header], rows, right=header
    )
