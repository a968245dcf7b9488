"""`tribosweep show`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from tribosweep.sweep.cli.arguments import AsJson, StudyOrRun, existing_run, is_study
from tribosweep.sweep.cli.run_summary import study_results
from tribosweep.sweep.cli.starting import command_of
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say
from tribosweep.sweep.execution.directory import count_failed
from tribosweep.sweep.io import shipped
from tribosweep.sweep.io.files import read_text
from tribosweep.sweep.io.toml import read_toml
from tribosweep.sweep.study.capabilities import BOUNDARY, CONVERGENCE


def show(
    directory: StudyOrRun,
    failed: Annotated[bool, typer.Option("--failed", help="List the rows that failed instead.")] = False,
    over: Annotated[
        list[str] | None,
        typer.Option(
            help="Statistics over a swept parameter instead, such as draw or record, at each point of the others. Can be repeated; "
            "default, with an option of statistics: draws and records, or what a design draws."
        ),
    ] = None,
    observable: Annotated[
        list[str] | None,
        typer.Option(
            help="Statistics: an observable, a number or a word. Can be repeated; default all in a file, the main one in a table."
        ),
    ] = None,
    quantile: Annotated[
        list[float] | None, typer.Option(help="Statistics: a quantile of the observables, such as 0.95. Can be repeated.")
    ] = None,
    chance: Annotated[
        list[str] | None,
        typer.Option(help="Statistics: probability of an event: buckled=1, 'impacts>=3', wall_regime=plateau. Can be repeated."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Statistics: level of the intervals.")] = 0.95,
    out: Annotated[
        Path | None, typer.Option(help="Statistics: .csv or .parquet to write, or a picture, .png, .svg or .pdf, over one parameter.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a run: state, progress, statuses, times and first rows; or statistics over parameters, such as draws. Of a study: its text."""
    from tribosweep.sweep.analysis import run_state
    from tribosweep.sweep.analysis.boundary_summary import curves_of
    from tribosweep.sweep.analysis.run_notes import notes_on
    from tribosweep.sweep.cli import tables
    from tribosweep.sweep.cli.means import show_means

    asked = bool(over or observable or quantile or chance or out)
    if is_study(directory) and not (failed or as_json or asked):
        show_study(directory)
        return
    directory = existing_run(directory)
    if asked:
        show_means(directory, over or [], observable or [], chance or [], quantile or [], confidence, out, as_json)
        return
    state = run_state.state_of(directory)
    if failed:
        list_failed(directory, state, as_json)
        return
    table = run_state.study_table(directory) if state["design"] == CONVERGENCE else None
    curves = curves_of(directory) if state["design"] == BOUNDARY and state["state"] == "complete" else None
    notes = notes_on(directory)
    if as_json:
        print_json({**state, **study_results(table, curves), "notes": notes})
        return
    model = run_state.model_of(directory)
    print_table(str(state["study"]), ["fact", "value"], run_state.facts_of(state), prose=["value"])
    if table is not None:
        emit("")
        tables.print_study(table)
    elif curves is not None:
        emit("")
        tables.print_curves(curves)
        tables.say_curves(curves, state["rows"])
    elif state["points_done"]:
        emit("")
        tables.print_counts(state)
        few = state["points_done"] <= run_state.FEW
        emit("")
        tables.print_first(directory, model, run_state.FEW if few else run_state.FIRST, "" if few else "first rows")
    for note in notes:
        say(note)


def show_study(path: Path) -> None:
    """Print the text of a study on stdout, and its place and the command that runs it on stderr."""
    file = shipped.find(path)
    tables = read_toml(file)
    emit(read_text(file).rstrip())
    command = command_of(tables)
    say(f"Study: {file}; tribosweep {command} {shlex.quote(str(path))} carries it out.")


def list_failed(directory: Path, state: dict[str, Any], as_json: bool) -> None:
    """Print the failed rows of a run on stdout: all of them as JSON, or the first ones as a table."""
    from tribosweep.sweep.analysis import run_state
    from tribosweep.sweep.cli import tables

    rows = run_state.failed_rows(directory, None if as_json else run_state.MANY)
    if as_json:
        print_json(run_state.records(rows))
        return
    total = count_failed(state["statuses"])
    if rows.num_rows:
        tables.print_failed(rows, run_state.model_of(directory))
    more = f"; the first {rows.num_rows:,} are listed, --json lists all" if total > rows.num_rows else ""
    say(f"{total:,} of {state['rows']:,} rows failed{more}.")
