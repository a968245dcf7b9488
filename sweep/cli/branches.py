"""`tribosweep branches`: its options and its output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.api import default_directory
from sweep.cli.arguments import AsJson, Settings, StudyFile
from sweep.cli.terminal import emit, print_json, print_table, progress, say, say_notes, short

if TYPE_CHECKING:
    from sweep.analysis.branching.results import Branches

LISTED = 20  # branches, and special points, in a table


def branches(
    config: StudyFile,
    out: Annotated[Path | None, typer.Option(help="Directory of the result; default runs/<study name>.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Picture of the branches: .png, .svg or .pdf.")] = None,
    observable: Annotated[str | None, typer.Option(help="Observable of the picture; default x_max.")] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Follow periodic motions in a parameter, stable or not, with the points where they change; what was computed before is kept."""
    from sweep.analysis.branching import analysis, load, results
    from sweep.plots.branches import draw
    from sweep.plots.figure import check_suffix

    if picture is not None:
        check_suffix(picture)
    study = load.load(config, settings or [])
    directory = out if out is not None else default_directory(study.config)
    results.check_directory(directory)
    with progress("points of the study") as update:
        found = analysis.carry_out(study, directory, update)
    if picture is not None:
        draw(found, picture, observable)
    if as_json:
        print_json({"directory": str(directory), "branches": found.branches.to_pylist(), "special": special(found)})
    else:
        print_result(found)
    say_notes([], [directory / "branches.parquet", directory / "points", picture])


def special(found: Branches) -> list[dict[str, object]]:
    """The special points, one flat dict for each."""
    import pyarrow.compute as pc

    names = ["point", "branch", "periods", "special", found.branching.along.name, "multiplier_re", "multiplier_im"]
    rows: list[dict[str, object]] = found.points.filter(pc.not_equal(found.points["special"], "")).select(names).to_pylist()
    return rows


def print_result(found: Branches) -> None:
    """Print the branches and their special points on stdout."""
    along = found.branching.along
    rows = found.branches.to_pylist()
    if not rows:
        emit("No periodic motion was found at any of the places.")
        return
    several = found.branching.config.design.count > 1
    header = ["branch", "periods", "from", "to", "rows", "stable", "begins", "ends", "origin"]
    lines = []
    for row in rows[:LISTED]:
        name = f"{row['point']}.{row['branch']}" if several else str(row["branch"])
        numbers = [str(row["periods"]), short(row["least"]), short(row["largest"]), str(row["rows"])]
        lines.append([name, *numbers, f"{row['stable_rows'] / row['rows']:.0%}", row["begins"], row["ends"], row["origin"]])
    print_table(f"Branches along {along.name} [{along.unit}]", header, lines, right=["periods", "from", "to", "rows", "stable"])
    points = special(found)
    if points:
        emit("")
        told = [
            [f"{row['point']}.{row['branch']}" if several else str(row["branch"]), str(row["special"]), f"{row[along.name]:.12g}"]
            for row in points[:LISTED]
        ]
        print_table("Special points", ["branch", "kind", along.name], told, right=[along.name])
    if len(rows) > LISTED or len(points) > LISTED:
        say(f"The first {LISTED} of {len(rows):,} branches and {len(points):,} special points are listed; --json and the files have all.")
