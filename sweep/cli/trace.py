"""`tribosweep trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tribosweep.sweep.cli.arguments import AsJson, StudyOrRun, SupportName
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say
from tribosweep.sweep.io.table_files import FORMATS, write_table
from tribosweep.sweep.results.picture import is_picture

ROWS, ROWS_OF_A_PICTURE = 2000, 20_000
MOST_COORDINATES = 6  # that the table on the terminal has


def trace(
    study: StudyOrRun,
    point: Annotated[int, typer.Option(help="Number of the point, from 0 on.")] = 0,
    support: SupportName = None,
    rows: Annotated[
        int | None,
        typer.Option(
            help=f"About how many instants; of a structure 0 for every step. Default {ROWS:,}, for a picture {ROWS_OF_A_PICTURE:,}."
        ),
    ] = None,
    start: Annotated[float | None, typer.Option("--from", help="Time of the first instant [s].")] = None,
    stop: Annotated[float | None, typer.Option("--to", help="Time of the last instant [s].")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write: a table, .csv or .parquet, or a picture, .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show motion and forces of one point of a study in time: a structure by its scheme, any other oscillator by the exact engine."""
    import pyarrow as pa

    from tribosweep.sweep.analysis.study_rows import read_study
    from tribosweep.sweep.analysis.time_trace import extremes, trace_of
    from tribosweep.sweep.plots import time_trace as picture

    drawn = is_picture(out, FORMATS)
    wanted = (ROWS_OF_A_PICTURE if drawn else ROWS) if rows is None else rows
    found = trace_of(read_study(study), point, wanted, start, stop, support)
    if out is not None and drawn:
        picture.draw(found, out)
        shown = [each.name for each in picture.drawn_of(found)]
        if len(shown) < len(found.clearances):
            say(f"Drawn are the {len(shown)} of {len(found.clearances)} supports that push most, {', '.join(shown)}; --support picks one.")
        emit(str(out))
    elif out is not None:
        write_table(pa.Table.from_pandas(found.table(), preserve_index=False), out)
        emit(str(out))
    elif as_json:
        print_json({"point": found.point, "scheme": found.scheme, **{name: values.tolist() for name, values in found.columns.items()}})
    else:
        coordinates = [name for name in found.columns if name.startswith(("q_", "v_"))]
        left_out = coordinates if len(coordinates) > 2 * MOST_COORDINATES else []
        header = ["column", "unit", "first", "last", "least", "at t", "largest", "at t "]
        lines = extremes(found, [name for name in found.columns if name not in left_out])
        print_table("", header, lines, right=header[2:])
        more = f" {len(coordinates) // 2} coordinates are in --out and --json." if left_out else ""
        of = f"{len(found.time):,} instants of point {found.point} by {found.scheme}; a picture: --out trace.png."
        say(of + more)
