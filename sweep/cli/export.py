"""`tribosweep export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tribosweep.sweep.cli.arguments import RunFolder
from tribosweep.sweep.cli.terminal import emit, say


def export(
    directory: RunFolder,
    out: Annotated[
        Path, typer.Option(help="File to write: .csv, .parquet, .arrow or .feather, or .nc (NetCDF, which needs tribosweep[xarray]).")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(help="Column to write. Can be repeated; default all. NetCDF has the parameters besides."),
    ] = None,
) -> None:
    """Write the rows of a run as one file for other programs, with units: CSV, Parquet, Arrow, or NetCDF with the axes as dimensions."""
    from tribosweep.sweep.api import exporting
    from tribosweep.sweep.api.opened import open_run

    run = open_run(directory)
    emit(str(exporting.export(directory, run.config, out, column)))
    if not run.complete:
        say(f"The run is not complete: {run.rows:,} rows are there.")
    if run.failed:
        say(f"{run.failed:,} of {run.rows:,} rows failed: they have no results, and their column `status` says why.")
