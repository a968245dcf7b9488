"""`tribosweep basins`: its options and its output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tribosweep.sweep.cli.arguments import AsJson, At, RunFolder
from tribosweep.sweep.cli.shared import FAILED_ROWS
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, progress, say, say_notes, short

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.basins.analysis import Basins

LISTED = 40  # motions in a table


def basins(
    directory: RunFolder,
    at: At = None,
    tolerance: Annotated[
        float, typer.Option(help="Distance to a motion, over the speed of the excitation, within which a start has come to it.")
    ] = 1e-3,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell which steady motion each start (x0, v0) of a run leads to, and which motions coexist at each point of a sweep."""
    from tribosweep.sweep.analysis.basins import analysis, results
    from tribosweep.sweep.plots.basins import draw
    from tribosweep.sweep.plots.figure import check_suffix

    if out is not None:
        check_suffix(out)
    with progress("starts") as update:
        found = analysis.find(directory, at or (), tolerance, update)
    files = results.write(found, directory)
    if out is not None:
        draw(found, out)
    if as_json:
        print_json({"directory": str(directory), "starts": len(found.attractor), "attractors": results.records(found), "notes": found.notes,
                    "files": [str(file) for file in files]})  # fmt: skip
    else:
        print_motions(found)
    say_notes(found.notes, [*files, out])
    if found.failed.any():
        raise typer.Exit(FAILED_ROWS)


def print_motions(found: Basins) -> None:
    """Print the motions of each group with their shares on stdout."""
    from tribosweep.sweep.analysis.basins.results import records

    rows = records(found)
    if not rows:
        emit("No start came to a periodic motion.")
        return
    names = list(found.starts.names)
    more = [name for name in ("regime", "stability", "multiplier_1", "wear_power") if name in rows[0]]
    header = [*names, "attractor", "periods", "share", "section_x", "section_v", *more]

    def cell(value: object) -> str:
        return "-" if value is None else short(value) if isinstance(value, float) else str(value)

    lines = [[f"{row[n]:.2%}" if n == "share" else cell(row[n]) for n in header] for row in rows[:LISTED]]
    numbers = [name for name in header if name not in ("regime", "stability")]
    print_table(f"Steady motions of {len(found.attractor):,} starts", header, lines, right=numbers)
    if len(found.motions) > 1:
        several = sum(len(motions) > 1 for motions in found.motions)
        emit(f"Several motions coexist at {several:,} of {len(found.motions):,} values of {', '.join(names)}.")
    if len(rows) > LISTED:
        say(f"The first {LISTED} of {len(rows):,} motions are listed; --json and the files have all.")
