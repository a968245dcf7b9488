"""`tribosweep branches`: its options and its output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tribosweep.sweep.api import default_directory
from tribosweep.sweep.cli.arguments import AsJson, Settings, StudyFile
from tribosweep.sweep.cli.shared import interruptible
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, progress, say, say_notes
from tribosweep.sweep.results.printed import short

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.branching.results import Branches

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
    from tribosweep.sweep.analysis.branching import analysis, load, results
    from tribosweep.sweep.plots.branches import draw
    from tribosweep.sweep.results.picture import require_picture

    if picture is not None:
        require_picture(picture, option="--picture")
    study = load.load(config, settings or [])
    directory = out if out is not None else default_directory(study.config)
    going_on = f"What is written in {directory} is whole; the same command goes on."
    with interruptible(lambda: going_on), progress("points of the study") as update:
        found = analysis.carry_out(study, directory, update)
    if picture is not None:
        draw(found, picture, observable)
    if as_json:
        told = {"directory": str(directory), "branches": found.branches.to_pylist(), "special": special(found)}
        print_json(told if found.curves is None else told | {"curves": of_curves(found)})
    else:
        print_result(found)
    curved = None if found.curves is None else directory / results.CURVED
    backbone = None if found.backbone is None else directory / results.BACKBONE
    say_notes([], [directory / "branches.parquet", curved, backbone, directory / "points", picture])


def special(found: Branches) -> list[dict[str, object]]:
    """The special points, one flat dict for each."""
    import pyarrow.compute as pc

    names = ["point", "branch", "periods", "special", "passage", found.branching.along.name, "multiplier_re", "multiplier_im"]
    rows: list[dict[str, object]] = found.points.filter(pc.not_equal(found.points["special"], "")).select(names).to_pylist()
    return rows


def of_curves(found: Branches) -> list[dict[str, object]]:
    """The curves of special points, one flat dict for each."""
    if found.curves is None:
        return []
    names = [each.name for each in found.branching.pair]
    ranges: dict[str, tuple[str, str]] = {f"{end}_{name}": (name, end) for name in names for end in ("least", "largest")}
    frame = found.curves.to_pandas().rename_axis(None)
    grouped = frame.groupby(["point", "curve"], sort=True)
    told = grouped[["kind", "periods", "branch", "begins", "ends"]].first()
    told["rows"] = grouped.size().astype("int64")
    for column, (name, end) in ranges.items():
        told[column] = grouped[name].min() if end == "least" else grouped[name].max()
    rows: list[dict[str, object]] = told.reset_index().to_dict("records")
    return rows


def print_curves(found: Branches, several: bool) -> list[dict[str, object]]:
    """Print the curves of special points on stdout, and return them."""
    rows = of_curves(found)
    if rows:
        names = [each.name for each in found.branching.pair]
        header = ["curve", "kind", "periods", *(f"{name} {way}" for name in names for way in ("from", "to")), "rows", "begins", "ends"]
        lines = []
        for row in rows[:LISTED]:
            ranges = [short(row[f"{end}_{name}"]) for name in names for end in ("least", "largest")]  # type: ignore[arg-type]
            number = f"{row['point']}.{row['curve']}" if several else str(row["curve"])
            lines.append([number, str(row["kind"]), str(row["periods"]), *ranges, str(row["rows"]), str(row["begins"]), str(row["ends"])])
        emit("")
        print_table(f"Curves of special points over {' and '.join(names)}", header, lines, right=[*header[2:7], "rows"])
    return rows


def in_words(row: dict[str, object]) -> str:
    """What is special at a point: "fold", or "grazing, turns back"."""
    return f"{row['special']}, {row['passage']}" if row["passage"] else str(row["special"])


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
            [f"{row['point']}.{row['branch']}" if several else str(row["branch"]), in_words(row), f"{row[along.name]:.12g}"]
            for row in points[:LISTED]
        ]
        print_table("Special points", ["branch", "kind", along.name], told, right=[along.name])
    curves = print_curves(found, several)
    if max(map(len, (rows, points, curves))) > LISTED:
        told_of = f"{len(rows):,} branches, {len(points):,} special points and {len(curves):,} curves"
        say(f"At most {LISTED} each of {told_of} are listed; --json and the files have all.")
