"""The command line `tribosweep`.

Exit status: 0 done, 2 bad configuration or files that cannot be read or written, 3 failed rows, 4 a check failed, 70 our own fault,
130 interrupted.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import textwrap
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import sweep
from sweep.computing import most_shards
from sweep.config import Config, load
from sweep.convergence.refinement import CONVERGENCE
from sweep.design import Convergence
from sweep.directory import RunDirectory
from sweep.listing import Topic, print_topics
from sweep.problems import ConfigError
from sweep.running import Run, default_directory
from sweep.running import run as run_study
from sweep.terminal import emit, print_json, print_table, progress, say

BAD_CONFIG, FAILED_ROWS, FAILED_CHECK, OUR_FAULT, INTERRUPTED = 2, 3, 4, 70, 130
VERIFY_WIDTH = 120

app = typer.Typer(
    name="tribosweep",
    help="Parameter studies of friction and shock oscillators: one TOML file in, a Parquet dataset out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout instead of tables.")]


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        emit(f"tribosweep {sweep.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and stop.")] = False,
) -> None:
    """Options of every command."""


@app.command()
def run(
    config: Annotated[Path, typer.Argument(help="The study, a TOML file.")],
    out: Annotated[Path | None, typer.Option(help="Directory of the run; default runs/<study name>. The same study is resumed.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Replace a key: parameters.mu=0.2. Can be repeated.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the study and print it as resolved; compute and write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a study, or what is missing of it."""
    study = load(config, settings or [])
    if ignored := ", ".join(study.ignored):
        say(f"Note: no scheme of this study reads {ignored}.")
    directory = out if out is not None else default_directory(study)
    if dry_run:
        describe_study(study, directory, as_json)
        return
    try:
        with progress() as update:
            finished = run_study(study, directory, progress=update)
    except KeyboardInterrupt:
        say(f"\nInterrupted. The shards that are written stay; to go on:\n  {resuming(config, directory, settings or [])}")
        raise typer.Exit(INTERRUPTED) from None
    if not summarise(finished, as_json):
        raise typer.Exit(FAILED_ROWS)


def resuming(config: Path, directory: Path, settings: list[str]) -> str:
    """The command line that goes on with an interrupted run."""
    resolved = RunDirectory(directory).config
    words = [str(resolved)] if resolved.exists() else [str(config), *(word for setting in settings for word in ("--set", setting))]
    return shlex.join(["tribosweep", "run", *words, "--out", str(directory)])


def describe_study(study: Config, directory: Path, as_json: bool) -> None:
    """What a run would do: the resolved study on stdout, its size on stderr."""
    points, shards = study.design.count, most_shards(study)
    levels = shards if isinstance(study.design, Convergence) else 1
    if as_json:
        print_json({"directory": str(directory), "points": points, "rows": points * levels, "shards": shards, "config": study.document})
    else:
        emit(study.to_toml().rstrip())
    rows = "one row each" if levels == 1 else f"at most {levels} rows each ({points * levels:,} in all)"
    sizes = [f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in ((points, "point"), (shards, "shard"))]
    say(f"{sizes[0]}, {rows}, in {sizes[1]} of {directory}; nothing was computed or written.")


def summarise(finished: Run, as_json: bool) -> bool:
    """The rows or the table of a convergence study when they are few, else counts, on stdout; where the data lies on stderr.

    Returns:
        Whether all is well: no row failed, and in a convergence study all points settled.
    """
    from sweep import show

    design = finished.config.design
    table = finished.convergence() if isinstance(design, Convergence) else None
    if as_json:
        described = {"directory": str(finished.directory), "points": design.count, "computed": finished.computed}
        facts = {**described, "failed": finished.failed, "statuses": finished.statuses, "seconds": finished.seconds}
        print_json(facts if table is None else {**facts, "convergence": show.records(table)})
    elif table is not None:
        show.print_study(table)
    elif design.count <= show.FEW:
        show.print_rows(finished.to_arrow(), finished.config.model)
    else:
        show.print_counts(finished.directory, finished.statuses, finished.config.model)
    if finished.failed:
        say(f"{finished.failed:,} of {design.count:,} {'rows' if table is None else 'points'} failed; their column `status` says why.")
    for remark, count in finished.remarks.items():
        say(f"{count:,} of {sum(finished.statuses.values()):,} rows have results with a remark in their column `status`: {remark}.")
    unsettled = 0 if table is None else show.count_unsettled(table)
    if unsettled and isinstance(design, Convergence):
        say(
            f"{unsettled:,} of {design.count:,} points are not settled to {design.digits} digits after as many refinements as "
            "`halvings` and the rules on steps (tribosweep list rules) allow."
        )
    if finished.computed:
        from kernels import runtime

        for problem in runtime.problems():
            say(f"Warning: {problem}.")
        say(f"Time: {show.describe_seconds(finished.seconds)}.")
    else:
        say("The run was already complete: nothing was computed.")
    say(f"Data: {finished.directory / 'points'} (Parquet; pandas, pyarrow.dataset, DuckDB and polars read it)")
    if table is not None:
        say(f"Table: {RunDirectory(finished.directory).convergence}; a picture of it: tribosweep convergence {finished.directory}")
    return not finished.failed and not unsettled


@app.command()
def verify(as_json: AsJson = False) -> None:
    """Compare computed with published values."""
    from sweep.verify import FAIL
    from sweep.verify import verify as compare

    verdicts = compare()
    if as_json:
        print_json([asdict(verdict) for verdict in verdicts])
    else:
        header = ["case", "scheme", "quantity", "published", "computed", "relative\ndifference", "tolerance", "verdict"]
        rows = [
            (v.case, v.scheme, f"{v.quantity}{f' [{v.unit}]' if v.unit not in ('', '1') else ''}", f"{v.published:.9g}",
             f"{v.computed:.9g}", f"{v.relative_difference:.1e}", f"{v.tolerance:.1e}", v.verdict)
            for v in verdicts
        ]  # fmt: skip
        print_table("", header, rows, right=header[3:7], prose=["case"], width=VERIFY_WIDTH)
        for note in dict.fromkeys(v.note for v in verdicts if v.note):
            emit("\n" + textwrap.fill(note, VERIFY_WIDTH))
    failed = sum(verdict.verdict == FAIL for verdict in verdicts)
    say(f"{len(verdicts) - failed} of {len(verdicts)} cases pass.")
    if failed:
        raise typer.Exit(FAILED_CHECK)


@app.command("list")
def list_topics(
    topic: Annotated[Topic | None, typer.Argument(help="What to list; everything when omitted.")] = None, as_json: AsJson = False
) -> None:
    """List models, parameters, schemes, observables, rules and designs."""
    print_topics(list(Topic) if topic is None else [topic], as_json)


@app.command()
def show(directory: Annotated[Path, typer.Argument(help="Directory of a run.")], as_json: AsJson = False) -> None:
    """Show what a run holds: state, statuses, time, first rows."""
    from sweep import show as showing

    state = showing.state_of(directory)
    table = showing.study_table(directory) if state["design"] == CONVERGENCE else None
    if as_json:
        print_json(state if table is None else {**state, "convergence": showing.records(table)})
        return
    model = showing.model_of(directory)
    facts = [("state", f"{state['state']}: {state['points_done']:,} of {state['points']:,} points")]
    facts += [("time", showing.describe_seconds(state["seconds"]))] if "seconds" in state else []
    facts += [(name, str(value)) for name, value in state["provenance"].items()]
    facts += [(key, str(state[key])) for key in ("created", "finished", "version", "config_hash") if key in state]
    print_table(str(state["study"]), ["fact", "value"], facts, prose=["value"])
    if table is not None:
        emit("")
        showing.print_study(table)
    elif state["points_done"]:
        emit("")
        showing.print_counts(directory, state["statuses"], model)
        few = state["points_done"] <= showing.FEW
        emit("")
        showing.print_rows(showing.first_rows(directory, showing.FEW if few else showing.FIRST), model, "" if few else "first rows")


@app.command("map")
def draw_map(
    directory: Annotated[Path, typer.Argument(help="Directory of a run.")],
    x: Annotated[str | None, typer.Option(help="Parameter on the x axis; default the first that the run varies.")] = None,
    y: Annotated[str | None, typer.Option(help="Parameter on the y axis; default the other one.")] = None,
    color: Annotated[
        str | None, typer.Option(help="Observable that shades the regimes, or none; default wear_power, of a model with a wall peak_force.")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Shade by the logarithm of the observable.")] = False,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf; default DIRECTORY/map.png.")] = None,
) -> None:
    """Draw the regimes of a run over two of its parameters."""
    from sweep import maps, plots

    drawn = maps.read_map(directory, x, y, color)
    picture = out if out is not None else directory / "map.png"
    plots.draw(drawn, picture, log)
    if drawn.rows < drawn.points:
        say(f"The run is not complete: {drawn.rows:,} of {drawn.points:,} points are drawn.")
    emit(str(picture))


@app.command("events")
def show_events(
    study: Annotated[Path, typer.Argument(help="The study, a TOML file, or the directory of a run.")],
    point: Annotated[list[int] | None, typer.Option(help="Number of a point, from 0 on. Can be repeated; default the first.")] = None,
    impacts: Annotated[bool, typer.Option("--impacts", help="Impacts on the wall instead of all events.")] = False,
    out: Annotated[Path | None, typer.Option(help="File to write instead of a table, .csv or .parquet.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what happens in points of a study, event by event, by the exact engine whatever its scheme."""
    from sweep import events

    table = events.follow(events.read_study(study), point or [0], impacts)
    if out is not None:
        events.write(table, out)
        emit(str(out))
    elif as_json:
        print_json(json.loads(table.to_json(orient="records")))
    else:
        columns = list(table.columns)
        narrow = [*reversed(columns[columns.index("a") :])] if "a" in columns else []
        print_table("", columns, table.itertuples(index=False, name=None), right=[c for c in columns if c != "event"], spare=narrow)


@app.command("convergence")
def draw_convergence(
    directory: Annotated[Path, typer.Argument(help="Directory of a run of design convergence.")],
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf; default DIRECTORY/convergence.png.")] = None,
) -> None:
    """Draw how the points of a convergence study approach exact and their own limit."""
    from sweep.convergence import curves

    drawn = curves.read_curves(directory)
    picture = out if out is not None else directory / "convergence.png"
    curves.draw(drawn, picture)
    for sentence in drawn.notes:
        say(sentence)
    emit(str(picture))


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Check this installation."""
    from sweep.doctor import examine

    findings = examine()
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_table("", ["check", "", "found"], [(f.check, "ok" if f.good else "PROBLEM", f.found) for f in findings], prose=["found"])
    if not all(finding.good for finding in findings):
        say("A check failed.")
        raise typer.Exit(FAILED_CHECK)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; no traceback reaches the user.

    Args:
        arguments: in place of those of the process.

    Returns:
        The exit status.
    """
    try:
        app(args=arguments, prog_name="tribosweep")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except ConfigError as error:
        say(str(error))
        return BAD_CONFIG
    except OSError as error:
        say(f"{error.filename or 'tribosweep'}: {error.strerror or error}")
        return BAD_CONFIG
    except Exception as error:
        if os.environ.get("TRIBOSWEEP_TRACEBACK"):
            traceback.print_exc()
        say(f"tribosweep failed: {type(error).__name__}: {error}. Please report this with the output of TRIBOSWEEP_TRACEBACK=1.")
        return OUR_FAULT
    return 0


def console() -> None:
    """Entry point of the command: an interrupted run ends at once, without waiting for the shards that are being computed."""
    status = main()
    if status == INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    console()
