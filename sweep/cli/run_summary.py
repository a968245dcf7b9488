"""The description of a study before a run, and the summary after it, on the terminal or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.api import Run
from tribosweep.sweep.cli.terminal import emit, print_json, say
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.refinement import Convergence
from tribosweep.sweep.design.subset_simulation import SubsetSimulation
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa

    from tribosweep.sweep.analysis.boundary_summary import BoundarySummary


def describe_study(study: Config, directory: Path, as_json: bool) -> None:
    """Describe what a run would do: the resolved study on stdout, its size on stderr."""
    points, shards = study.design.count, study.shards
    if isinstance(study.design, Boundary):
        describe_boundary(study, study.design, directory, as_json)
        return
    if isinstance(study.design, SubsetSimulation):
        describe_subset(study, study.design, directory, as_json)
        return
    levels = study.design.halvings + 1 if isinstance(study.design, Convergence) else 1
    if as_json:
        print_json({"directory": str(directory), "points": points, "rows": points * levels, "shards": shards, "config": study.document})
    else:
        emit(study.to_toml().rstrip())
    rows = "one row each" if levels == 1 else f"at most {levels} rows each ({points * levels:,} in all)"
    sizes = [counted(points, "point"), counted(shards, "shard")]
    say(f"{sizes[0]}, {rows}, in {sizes[1]} of {directory}; nothing was computed or written.")


def describe_boundary(study: Config, design: Boundary, directory: Path, as_json: bool) -> None:
    """Describe what a boundary study would do; its number of points depends on its results."""
    known = {"directory": str(directory), "points": design.count, "cells_grid_points": design.fine_count}
    if as_json:
        print_json({**known, "width_grid_points": design.sharp_count, "config": study.document})
    else:
        emit(study.to_toml().rstrip())
    seeds = f" and {counted(len(design.seeds), 'seed')}" if design.seeds else ""
    say(
        f"{counted(design.count, 'point')}{seeds} to begin with, in {directory}, and then as many as the boundaries of {design.sought} "
        f"need, where a uniform grid of the smallest cells has {design.fine_count:,} points; nothing was computed or written."
    )


def describe_subset(study: Config, design: SubsetSimulation, directory: Path, as_json: bool) -> None:
    """Describe what a subset simulation would do; its number of levels depends on its results."""
    if as_json:
        print_json({"directory": str(directory), "points": design.count, "most_points": design.most_points, "config": study.document})
    else:
        emit(study.to_toml().rstrip())
    repeats = f" in {design.repeats} repeats" if design.repeats > 1 else ""
    each = design.chains * (design.chain_length - 1) * design.repeats
    say(
        f"{counted(design.count, 'point')}{repeats} to begin with, in {directory}, then {each:,} for each level until "
        f"{design.event} is reached, {design.most_points:,} at most; nothing was computed or written."
    )


def summarise(finished: Run, as_json: bool) -> bool:
    """Print the rows, curves or table of a finished run if they are few, else counts; name the place of the data on stderr.

    Returns:
        True if no row failed, in a convergence study all points settled, and in a subset simulation the event is reached.
    """
    from tribosweep.sweep.analysis import run_state
    from tribosweep.sweep.cli import tables

    design = finished.config.design
    table = finished.convergence() if isinstance(design, Convergence) else None
    curves = found_curves(finished) if isinstance(design, Boundary) else None
    rows = sum(finished.statuses.values())
    if as_json:
        described = {"directory": str(finished.directory), "points": design.count, "computed": finished.computed}
        described |= {"state": "complete" if finished.complete else "incomplete"}
        facts = {**described, "failed": finished.failed, "statuses": finished.statuses, "seconds": finished.seconds}
        print_json({**facts, **study_results(table, curves)})
    elif curves is not None:
        tables.print_curves(curves)
    elif table is not None:
        tables.print_study(table)
    elif rows <= run_state.FEW and rows:
        tables.print_first(finished.directory, finished.config.model, rows)
    elif rows:
        tables.print_counts(run_state.state_of(finished.directory))
    well = say_what_to_know(finished, table)
    if finished.computed:
        for problem in finished.problems:
            say(f"Warning: {problem}.")
        say(f"Time: {run_state.describe_seconds(finished.seconds)}.")
    elif finished.complete:
        say("The run was already complete: nothing was computed.")
    elif rows:
        say("This part was already complete: nothing was computed.")
    else:
        say(f"The run has {counted(finished.config.shards, 'shard')}, none of which is in this part: nothing was computed.")
    if not finished.complete:
        say(f"Other parts are missing: {rows:,} of {design.count:,} points are there.")
    if rows:
        say(f"Data: {finished.directory / 'points'} (Parquet; pandas, pyarrow.dataset, DuckDB and polars read it)")
    return say_where(finished, curves, table, rows) and well


def say_where(finished: Run, curves: BoundarySummary | None, table: pa.Table | None, rows: int) -> bool:
    """Name the files of an adaptive design and the commands that show them; False if a subset simulation has not reached its event."""
    from tribosweep.sweep.cli import tables

    directory = RunDirectory(finished.directory)
    if curves is not None:
        tables.say_curves(curves, rows)
        say(f"Curves: {directory.boundaries}; a picture of them: tribosweep map {finished.directory}")
    if table is not None:
        say(f"Table: {directory.convergence}; a picture of it: tribosweep convergence {finished.directory}")
    return say_chance(finished) if isinstance(finished.config.design, SubsetSimulation) else True


def say_chance(finished: Run) -> bool:
    """Report the probability of the event of a subset simulation on stderr; return whether the event is reached."""
    from tribosweep.sweep.analyses.rare_event.estimate import read

    found = read(finished.directory)
    if found.estimate is not None:
        each = found.estimate
        say(f"Probability of {found.event}: {each.probability:.3g} ({each.low:.2g} to {each.high:.2g}, {100.0 * found.confidence:g} %).")
    say(f"Levels: {RunDirectory(finished.directory).levels}; probability, interval and a picture: tribosweep rare {finished.directory}")
    return found.estimate is not None


def found_curves(finished: Run) -> BoundarySummary:
    """The curves found by a boundary study."""
    from tribosweep.sweep.analysis.boundary_summary import curves_of

    return curves_of(finished.directory)


def study_results(table: pa.Table | None, curves: BoundarySummary | None) -> dict[str, Any]:
    """The results of a convergence or boundary study, for JSON."""
    from tribosweep.sweep.analysis import run_state

    convergence = {} if table is None else {"convergence": run_state.records(table)}
    return convergence if curves is None else {"boundaries": curves.to_json()}


def say_what_to_know(finished: Run, table: pa.Table | None) -> bool:
    """Report on stderr failed rows, rows with a remark and unsettled points; return whether no row failed and all points settled."""
    from tribosweep.sweep.analysis import run_state
    from tribosweep.sweep.analysis.run_notes import notes_on

    design, rows = finished.config.design, sum(finished.statuses.values())
    if finished.failed:
        total, what = (rows, "rows") if table is None else (design.count, "points")
        say(f"{finished.failed:,} of {total:,} {what} failed; their column `status` says why.")
    for remark, count in finished.remarks.items():
        say(f"{count:,} of {rows:,} rows have results with a remark in their column `status`: {remark}.")
    for note in notes_on(finished.directory) if rows else []:  # a part without shards may be the first to end: there is no run yet
        say(note)
    unsettled = 0 if table is None else run_state.count_unsettled(table)
    if unsettled and isinstance(design, Convergence):
        say(
            f"{unsettled:,} of {design.count:,} points are not settled to {design.digits} digits after as many refinements as "
            "`halvings` and the rules on steps (tribosweep list rules) allow."
        )
    return not finished.failed and not unsettled
