"""Means over a parameter: on the terminal, in a table or in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.analysis.group_map import others_than
from tribosweep.sweep.analysis.group_statistics import WORD, drawn_together, group_statistics
from tribosweep.sweep.analysis.run_rows import as_text, is_numeric
from tribosweep.sweep.analysis.run_state import model_of, records, state_of
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say, say_notes
from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.table_files import FORMATS, write_table
from tribosweep.sweep.plots.group_statistics import draw
from tribosweep.sweep.results.picture import is_picture
from tribosweep.sweep.study.capabilities import CONVERGENCE

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHOWN = 200


def show_means(
    directory: Path, over: Sequence[str], observables: Sequence[str], chances: Sequence[str], quantiles: Sequence[float],
    confidence: float, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Print statistics over parameters on stdout, or write them to a file.

    Args:
        directory: of the run. over, observables, chances, quantiles, confidence: as in `group_statistics`; but without observables, a
            table on stdout and a picture show only probabilities and quantiles of the main observable, and without `over` statistics are
            taken over what is random (see `random_in`).
        out: a .csv or .parquet file, or a picture. as_json: whether to print one JSON value on stdout instead of a table.

    Raises:
        ConfigError: as `group_statistics`; or the suffix is unknown, or the means cannot be drawn. OSError: `out` cannot be written.
    """
    picture, model = is_picture(out, FORMATS), model_of(directory)
    whole = as_json or (out is not None and not picture)
    if not observables and (not (chances or whole) or (chances and quantiles and not picture)):
        observables = [model.main]
    table = group_statistics(directory, over or random_in(directory), observables, confidence, chances, quantiles)
    if out is not None:
        if picture:
            draw(table, model, state_of(directory)["study"], out)
        else:
            write_table(table, out)
    if as_json:
        print_json(records(table))
        say_notes([], [out])
    elif out is not None:
        emit(str(out))
    else:
        print_means(table)
    say_how_many(table, state_of(directory))


def random_in(directory: Path) -> tuple[str, ...]:
    """The parameters of a run that are random: those that its design draws, else draws and records, where they vary.

    Raises:
        ConfigError: there are none.
    """
    varying = others_than((), directory, model_of(directory))
    drawn = drawn_together(RunDirectory(directory).read_document(), varying)
    found = drawn or tuple(name for name in varying if name in (DRAW, RECORD))
    if not found and state_of(directory)["design"] not in (SUBSET, CONVERGENCE):  # these have no statistics, as is said there
        message = "missing: this run has neither draws nor records; name the parameters over which statistics are taken"
        raise ConfigError(str(directory), [Problem("--over", message)])
    return found


def say_how_many(table: pa.Table, state: dict[str, Any]) -> None:
    """Print remarks on the means on stderr."""
    first = table.column("observable")[0].as_py()
    failed = sum(
        count
        for count, name in zip(table.column("failed").to_pylist(), table.column("observable").to_pylist(), strict=True)
        if name == first
    )
    if failed:
        say(f"{failed:,} of {state['rows']:,} rows failed and are left out.")
    if state["state"] != "complete":
        say(f"The run is not complete: {state['points_done']:,} of {state['points']:,} points are there.")
    if not any(rows > 1 for rows in table.column("rows").to_pylist()):
        say(f"No point has two rows that differ in {table.schema.metadata[b'over'].decode()} alone: nothing is known of the spread.")


def print_means(table: pa.Table) -> None:
    """Print the table on stdout; only its first rows if it is long."""
    over = table.schema.metadata[b"over"].decode()
    several = len(set(table.column("observable").to_pylist())) > 1
    without = {"unit", "failed"} | {name for name in ("void", "unknown") if not any(table.column(name).to_pylist())}
    columns = [name for name in table.column_names if name not in without and (several or name != "observable")]
    shown = table.slice(0, MOST_SHOWN)
    cells = [
        shown.column(name).to_pylist() if name == WORD or is_numeric(shown.column(name)) else as_text(shown.column(name)).to_pylist()
        for name in columns
    ]
    unit = table.column("unit")[0].as_py().removeprefix("1")
    name = table.column("observable")[0].as_py()
    title = f"over {over}" if several else f"{name}{f' [{unit}]' if unit else ''}: means over {over}"
    right = [each for each in columns if each != "observable" and is_numeric(shown.column(each))]
    print_table(title, columns, zip(*cells, strict=True), right=right, spare=("std_error",))
    if table.num_rows > MOST_SHOWN:
        say(f"The first {MOST_SHOWN:,} of {table.num_rows:,} lines; --out FILE.csv or FILE.parquet has all.")
