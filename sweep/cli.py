"""The command line `tribosweep`.

Exit status: 0 done, 2 bad configuration or files that cannot be read or written, 3 failed rows, 4 a check failed, 70 our own fault,
130 interrupted, 143 terminated.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import textwrap
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

import sweep
from sweep import executors
from sweep.boundary.asking import BOUNDARY
from sweep.config import Config, load
from sweep.convergence.refinement import CONVERGENCE
from sweep.directory import RunDirectory, count_failed
from sweep.executors import Team
from sweep.listing import Topic, print_topics
from sweep.problems import ConfigError, Problem, RunError
from sweep.running import Run, default_directory, load_run, run_with
from sweep.sensitivity import Picture
from sweep.sensitivity.designs import remarks_on
from sweep.shares import Share
from sweep.telling import describe_study, studied, summarise
from sweep.terminal import emit, print_json, print_table, progress, say

if TYPE_CHECKING:
    from sweep.maps import RegimeMap

BAD_CONFIG, FAILED_ROWS, FAILED_CHECK, OUR_FAULT, INTERRUPTED, TERMINATED = 2, 3, 4, 70, 130, 143
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


class ExecutorName(StrEnum):
    """Who computes."""

    local = "local"
    dask = "dask"


WhoComputes = Annotated[ExecutorName, typer.Option("--executor", help="Who computes: this process, or Dask distributed.")]
Workers = Annotated[int | None, typer.Option(help="With --executor dask: start that many workers on this machine; default one a core.")]
Scheduler = Annotated[str | None, typer.Option(help="With --executor dask: address of a scheduler, such as tcp://10.0.0.1:8786.")]
At = Annotated[list[str] | None, typer.Option(help="Hold another parameter at its value nearest to this one: mu=0.2. Can be repeated.")]
AreasName = Annotated[
    str | None, typer.Option("--areas", help="Observable whose words or whole numbers are the areas; default regime, or wall_regime.")
]
ShareText = Annotated[str | None, typer.Option("--shard", help="Compute one part of the run: 2/8 is the second of eight jobs.")]


@app.command()
def run(
    config: Annotated[Path, typer.Argument(help="The study, a TOML file.")],
    out: Annotated[Path | None, typer.Option(help="Directory of the run; default runs/<study name>. The same study is resumed.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Replace a key: parameters.mu=0.2. Can be repeated.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the study and print it as resolved; compute and write nothing.")
    ] = False,
    extend: Annotated[
        bool, typer.Option("--extend", help="Keep the points of a run that are the first of this study; add the others.")
    ] = False,
    executor: WhoComputes = ExecutorName.local,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: ShareText = None,
    as_json: AsJson = False,
) -> None:
    """Run a study, or what is missing of it."""
    study = load(config, settings or [])
    if ignored := ", ".join(study.ignored):
        say(f"Note: no scheme of this study reads {ignored}.")
    for remark in remarks_on(study.design):
        say(f"Note: {remark}")
    directory = out if out is not None else default_directory(study)
    if dry_run:
        describe_study(study, directory, as_json)
        return
    carry_out(study, directory, Means(executor, workers, scheduler, shard), as_json, extend)


@app.command()
def resume(
    directory: Annotated[Path, typer.Argument(help="Directory of a run.")],
    executor: WhoComputes = ExecutorName.local,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: ShareText = None,
    as_json: AsJson = False,
) -> None:
    """Compute what is missing of a run, and nothing else; shards that are damaged are computed again."""
    carry_out(load_run(directory, say), directory, Means(executor, workers, scheduler, shard), as_json)


@dataclass(frozen=True, slots=True)
class Means:
    """How a run is to be computed, as the command line says it."""

    executor: ExecutorName
    workers: int | None
    scheduler: str | None
    shard: str | None

    def team(self) -> AbstractContextManager[Team]:
        """Who computes; ConfigError where the options do not go together."""
        dask = self.executor is ExecutorName.dask
        problems = []
        for name, value in (("--workers", self.workers), ("--scheduler", self.scheduler)):
            if value is not None and not dask:
                problems.append(Problem(name, f"{value} needs --executor dask"))
        if self.workers is not None and self.workers < 1:
            problems.append(Problem("--workers", f"{self.workers} is out of bounds: must be >= 1"))
        if self.workers is not None and self.scheduler is not None:
            problems.append(Problem("--workers", "are those of the scheduler: give either --workers or --scheduler"))
        if problems:
            raise ConfigError("command line", problems)
        return executors.dask(self.scheduler, self.workers) if dask else executors.in_process()

    def words(self) -> list[str]:
        """The options again, for a command line that goes on."""
        given = {"--workers": self.workers, "--scheduler": self.scheduler, "--shard": self.shard}
        dask = ["--executor", self.executor.value] if self.executor is ExecutorName.dask else []
        return [*dask, *(word for name, value in given.items() if value is not None for word in (name, str(value)))]


def carry_out(study: Config, directory: Path, means: Means, as_json: bool, extend: bool = False) -> None:
    """Run a study with a progress bar, and say how it ended; where it was stopped, how to go on."""
    if not summarise(compute(study, directory, means, extend), as_json):
        raise typer.Exit(FAILED_ROWS)


def compute(study: Config, directory: Path, means: Means, extend: bool = False) -> Run:
    """Run a study with a progress bar; where it was stopped, say how to go on."""
    team, share = means.team(), None if means.shard is None else Share.parse(means.shard)
    try:
        with progress() as update:
            return run_with(team, study, directory, extend, share, update, say)
    except (KeyboardInterrupt, OSError, RunError) as error:
        begun = "config_hash" in RunDirectory(directory).read_manifest()
        going_on = f"What is written is whole; to go on:\n  {shlex.join(['tribosweep', 'resume', str(directory), *means.words()])}"
        if isinstance(error, KeyboardInterrupt):
            say(f"\nInterrupted. {going_on if begun else 'Nothing was written.'}")
            raise typer.Exit(TERMINATED if isinstance(error, Terminated) else INTERRUPTED) from None
        say(f"{reason(error)}{f'. {going_on}' if begun else ''}")
        raise typer.Exit(BAD_CONFIG) from None


def reason(error: Exception) -> str:
    """An error in words: for one of a file, its name and what the system says."""
    return f"{error.filename or 'tribosweep'}: {error.strerror or error}" if isinstance(error, OSError) else str(error)


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
    """List models, parameters, schemes, observables, rules, designs and the keys of an excitation."""
    print_topics(list(Topic) if topic is None else [topic], as_json)


@app.command()
def show(
    directory: Annotated[Path, typer.Argument(help="Directory of a run.")],
    failed: Annotated[bool, typer.Option("--failed", help="List the rows that failed instead.")] = False,
    over: Annotated[
        str | None,
        typer.Option(help="Mean and spread over a swept parameter instead, such as draw or record, at each point of the others."),
    ] = None,
    observable: Annotated[
        list[str] | None, typer.Option(help="With --over: of what. Can be repeated; default all in a file, the main one in a table.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="With --over: level of the interval of the mean.")] = 0.95,
    out: Annotated[
        Path | None, typer.Option(help="With --over: .csv or .parquet to write, or a picture, .png, .svg or .pdf, over one parameter.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a run holds: state, progress, statuses, time, first rows; or means over one of its parameters."""
    from sweep import show as showing
    from sweep import spread
    from sweep.boundary import summary

    if over is not None:
        spread.show(directory, over, observable or [], confidence, out, as_json)
        return
    state = showing.state_of(directory)
    if failed:
        list_failed(directory, state, as_json)
        return
    table = showing.study_table(directory) if state["design"] == CONVERGENCE else None
    curves = summary.curves_of(directory) if state["design"] == BOUNDARY and state["state"] == "complete" else None
    if as_json:
        print_json({**state, **studied(table, curves)})
        return
    model = showing.model_of(directory)
    print_table(str(state["study"]), ["fact", "value"], showing.facts_of(state), prose=["value"])
    if table is not None:
        emit("")
        showing.print_study(table)
    elif curves is not None:
        emit("")
        curves.print()
        curves.say(state["rows"])
    elif state["points_done"]:
        emit("")
        showing.print_counts(directory, state["statuses"], model)
        few = state["points_done"] <= showing.FEW
        emit("")
        showing.print_rows(showing.first_rows(directory, showing.FEW if few else showing.FIRST), model, "" if few else "first rows")


def list_failed(directory: Path, state: dict[str, Any], as_json: bool) -> None:
    """The rows of a run that failed, on stdout: all of them as JSON, the first ones as a table."""
    from sweep import show as showing

    rows = showing.failed_rows(directory, None if as_json else showing.MANY)
    if as_json:
        print_json(showing.records(rows))
        return
    total = count_failed(state["statuses"])
    if rows.num_rows:
        showing.print_failed(rows, showing.model_of(directory))
    more = f"; the first {rows.num_rows:,} are listed, --json lists all" if total > rows.num_rows else ""
    say(f"{total:,} of {state['rows']:,} rows failed{more}.")


@app.command("map")
def draw_map(
    directory: Annotated[Path, typer.Argument(help="Directory of a run.")],
    x: Annotated[str | None, typer.Option(help="Parameter on the x axis; default the first that the run varies.")] = None,
    y: Annotated[str | None, typer.Option(help="Parameter on the y axis; default the other one.")] = None,
    color: Annotated[
        str | None, typer.Option(help="Observable that shades the regimes, or none; default wear_power, of a model with a wall peak_force.")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Shade by the logarithm of the observable.")] = False,
    at: At = None,
    areas: AreasName = None,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf; default DIRECTORY/map.png.")] = None,
) -> None:
    """Draw the regimes of a run over two of its parameters."""
    from sweep import maps, plots

    drawn = maps.read_map(directory, x, y, color, at or [], areas)
    picture = out if out is not None else directory / "map.png"
    plots.draw(drawn, picture, log)
    say_what_is_drawn(drawn)
    emit(str(picture))


def say_what_is_drawn(drawn: RegimeMap) -> None:
    """The values at which a slice is held, and how much of the run is there, on stderr."""
    if drawn.held:
        said = ", ".join(f"{name} = {value:.8g}" if isinstance(value, float) else f"{name} = {value}" for name, value in drawn.held.items())
        say(f"A slice at {said}: {drawn.rows:,} points.")
    if not drawn.complete:
        of = f" of {drawn.points:,}" if drawn.done < drawn.points else ""
        say(
            f"The run is not complete: {drawn.done:,}{of} points are drawn."
            if not drawn.held
            else f"It has {drawn.done:,}{of} points so far."
        )


@app.command("report")
def write_report(
    directory: Annotated[Path, typer.Argument(help="Directory of a run.")],
    x: Annotated[str | None, typer.Option(help="Parameter on the x axis; default the first that the run varies.")] = None,
    y: Annotated[str | None, typer.Option(help="Parameter on the y axis; default the other one.")] = None,
    color: Annotated[str | None, typer.Option(help="Observable that is shaded first; others are chosen on the page.")] = None,
    log: Annotated[bool, typer.Option("--log", help="Shade by the logarithm of the observable first.")] = False,
    at: At = None,
    areas: AreasName = None,
    traces: Annotated[int, typer.Option(help="How many points, spread over the map, have a time trace.")] = 64,
    out: Annotated[Path | None, typer.Option(help="File to write, .html; default DIRECTORY/report.html.")] = None,
) -> None:
    """Write a run as one HTML file that shows itself in a browser: map, rows, slices, time traces, study, provenance."""
    from sweep.report import content, page

    file = out if out is not None else directory / "report.html"
    page.check_suffix(file)
    page.plotly_script()
    found = content.read_content(directory, x, y, color, at or [], traces, log, areas)
    size = page.write_page(found, file)
    for note in found.facts["notes"]:
        say(note)
    say(f"{found.facts['count']:,} rows, {found.traced} with a time trace, {size / 1e6:.1f} MB.")
    emit(str(file))


@app.command("bifurcation")
def draw_bifurcation(
    directory: Annotated[Path, typer.Argument(help='Directory of a run with [time] window = "steady".')],
    x: Annotated[str | None, typer.Option(help="Parameter on the x axis; default the one that the run varies besides x0 and v0.")] = None,
    y: Annotated[str, typer.Option(help="poincare_x, poincare_v, or another observable that is a number.")] = "poincare_x",
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf; default DIRECTORY/bifurcation.png.")] = None,
) -> None:
    """Draw the Poincare points of a run's steady motions over the parameter that it varies."""
    from sweep import bifurcation

    drawn = bifurcation.read_bifurcation(directory, x, y)
    picture = out if out is not None else directory / "bifurcation.png"
    bifurcation.draw(drawn, picture)
    if drawn.rows < drawn.points:
        say(f"The run is not complete: {drawn.rows:,} of {drawn.points:,} points are drawn.")
    if drawn.failed:
        say(f"{drawn.failed:,} of {drawn.rows:,} rows failed and are not drawn; their column `status` says why.")
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
def sensitivity(
    target: Annotated[Path, typer.Argument(help="The study, a TOML file, which is run first; or the directory of a run.")],
    observable: Annotated[list[str] | None, typer.Option(help="Observable to explain. Can be repeated.")] = None,
    regime: Annotated[str | None, typer.Option(help="Use only groups whose rows are all in this regime, such as slip-slip.")] = None,
    exceeds: Annotated[list[str] | None, typer.Option(help="Chance to exceed: wear_power=1.0. Can be repeated.")] = None,
    quantile: Annotated[list[float] | None, typer.Option(help="Quantile, such as 0.99. Can be repeated; default 0.05, 0.5, 0.95.")] = None,
    derivatives: Annotated[int, typer.Option(help="At how many points of the sample exact derivatives are taken.")] = 0,
    at: Annotated[list[str] | None, typer.Option(help="Where elasticities are taken: mu=0.2; default the median. Can be repeated.")] = None,
    confidence: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    resamples: Annotated[int, typer.Option(help="Bootstrap samples of an interval.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the bootstrap samples.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Picture to write, .png, .svg or .pdf.")] = None,
    picture: Annotated[Picture | None, typer.Option(help="What to draw; default bars, of elementary effects plane.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Replace a key of a TOML file. Can be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say which parameters an observable depends on, and how uncertain it is."""
    from sweep.sensitivity import analysis, command, pictures

    request = analysis.Request(
        observables=tuple(observable or ()), regime=regime, exceeds=tuple(command.read_numbers("--exceeds", exceeds or [])),
        quantiles=tuple(quantile or analysis.QUANTILES), derivatives=derivatives, at=dict(command.read_numbers("--at", at or [])),
        resamples=resamples, level=confidence, seed=seed, sizes=picture is Picture.sizes,
    )  # fmt: skip
    if picture is not None and out is None:
        raise ConfigError("--picture", [Problem("", "needs --out, the file to write")])
    study, directory, to_run = command.read_target(target, settings or [], say)
    analysis.check(request, study)
    if to_run:
        compute(study, directory, Means(ExecutorName.local, None, None, None))
    with progress():  # derivatives compile for a while
        found = analysis.analyse(directory, study, request)
    files = analysis.write(found, directory)
    if out is not None:
        pictures.draw(found, out, picture or pictures.default_picture(found))
    if as_json:
        command.print_as_json(found, directory, files)
    else:
        command.print_study(found)
    say_what_is_left(found.notes, [*files, out])
    if found.failed:
        raise typer.Exit(FAILED_ROWS)


def say_what_is_left(notes: Sequence[str], files: Sequence[Path | None]) -> None:
    """What is to be known of a result, and the files that it left, on stderr."""
    for note in notes:
        say(f"Note: {note}")
    for file in files:
        if file is not None:
            say(f"Written: {file}")


@app.command()
def calibrate(
    config: Annotated[Path, typer.Argument(help="The study, a TOML file with a table [calibration].")],
    out: Annotated[Path | None, typer.Option(help="Directory of the result; default runs/<study name>.")] = None,
    profile: Annotated[
        list[str] | None, typer.Option(help="Parameter whose profile likelihood is wanted, or all. Can be repeated.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Measured against fitted with residuals, into a .png, .svg or .pdf.")] = None,
    landscape: Annotated[Path | None, typer.Option(help="A slice of the loss over two parameters, into a .png, .svg or .pdf.")] = None,
    over: Annotated[list[str] | None, typer.Option("--slice", help="The parameters of the slice, given twice.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Replace a key: calibration.starts=4. Can be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find parameters from measurements, and say how well they are known."""
    from sweep.calibration import analysis, command, pictures, reading

    found = reading.load(config, settings or [])
    names = found.space.names if profile == ["all"] else tuple(profile or ())
    request = analysis.Request(profiles=names, slice=tuple(over or ()), landscape=landscape is not None)
    directory = out if out is not None else default_directory(found.config)
    analysis.check(request, found)
    analysis.check_directory(directory)
    with progress("fits") as update:
        result = analysis.carry_out(found, request, update)
    files = analysis.write(result, directory)
    if picture is not None:
        pictures.draw_fit(result, picture)
    if landscape is not None and result.landscape is not None:
        pictures.draw_landscape(result, result.landscape, landscape)
    if as_json:
        command.print_as_json(result, directory, files)
    else:
        command.print_result(result)
    say_what_is_left(result.notes, [*files, picture, landscape])
    if not result.converged:
        raise typer.Exit(FAILED_ROWS)


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


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a run as Ctrl-C does."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; no traceback reaches the user.

    Args:
        arguments: in place of those of the process.

    Returns:
        The exit status.
    """
    try:
        with terminable():
            app(args=arguments, prog_name="tribosweep")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ConfigError, RunError, OSError) as error:
        say(reason(error))
        return BAD_CONFIG
    except Exception as error:
        if os.environ.get("TRIBOSWEEP_TRACEBACK"):
            traceback.print_exc()
        say(f"tribosweep failed: {type(error).__name__}: {error}. Please report this with the output of TRIBOSWEEP_TRACEBACK=1.")
        return OUR_FAULT
    return 0


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM raise Terminated in the main thread, as SIGINT raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def console() -> None:
    """Entry point of the command, which ends at once: a run that was stopped waits for no shard, and Python takes nothing apart (0.2 s)."""
    status = main()
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:  # who was to read it has gone, or the disk is full
        say(reason(error))
        status = BAD_CONFIG
    with suppress(OSError):
        if sys.stderr:
            sys.stderr.flush()
    if cache := sys.modules.get("kernels.runtime.program_cache"):
        cache.flush_stderr()
    os._exit(status)


if __name__ == "__main__":
    console()
