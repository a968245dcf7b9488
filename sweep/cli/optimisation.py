"""`tribosweep optimise`: its options and its output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tribosweep.sweep.api import default_directory
from tribosweep.sweep.cli.arguments import AsJson, Settings, StudyFile
from tribosweep.sweep.cli.shared import FAILED_ROWS, interruptible
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, progress, say, say_notes
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.printed import short

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.optimisation.results import OptimisationResult

FEW = 10  # number of optima that are listed


def optimise(
    config: StudyFile,
    out: Annotated[Path | None, typer.Option(help="Directory of the result; default runs/<study name>.")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Picture of the searches, or of the front of two objectives: .png, .svg or .pdf.")
    ] = None,
    landscape: Annotated[
        Path | None, typer.Option(help="Picture of the objective and the limits over two variables: .png, .svg or .pdf.")
    ] = None,
    over: Annotated[
        list[str] | None, typer.Option("--slice", help="The variables of the landscape, given twice; default the first.")
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Choose parameters so that an observable is least or greatest while others keep their limits; of two, the Pareto front."""
    from tribosweep.sweep.analysis.optimisation import analysis, load, results
    from tribosweep.sweep.execution.directory import OPTIMISED, hold_apart
    from tribosweep.sweep.plots.optimisation import draw, draw_slice
    from tribosweep.sweep.results.picture import require_picture

    for option, file in {"--picture": picture, "--landscape": landscape}.items():
        if file is not None:
            require_picture(file, option=option)
    found = load.load(config, settings or [])
    request = results.OptimisationRequest(landscape=landscape is not None, slice=tuple(over or ()))
    directory = out if out is not None else default_directory(found.config)
    analysis.check(request, found)
    with hold_apart(directory, OPTIMISED):
        known = analysis.answers_for(found, directory)
        if known.there:
            say(f"The searches go on with what is known of {counted(known.there, 'point')} in {directory}.")
        with interruptible(lambda: known.going_on("points")), progress("searches") as update:
            result = analysis.carry_out(found, request, update, known)
        files = results.write(result, directory)
    if picture is not None:
        draw(result, picture)
    if landscape is not None:
        draw_slice(result, landscape)
    if as_json:
        print_as_json(result, directory, files)
    else:
        print_result(result)
    say_notes(result.notes, [*files, picture, landscape])
    if not result.kept:
        raise typer.Exit(FAILED_ROWS)


def print_result(result: OptimisationResult) -> None:
    """Print the tables of a result on stdout."""
    from tribosweep.sweep.analysis.optimisation.results import END_OF_FRONT, facts, value_and_unit

    best, told = result.optima[0], facts(result)
    counts = told["simulations"]
    objective, best_value = result.optimisation.objectives[0], best.candidate.functions.measures[0]
    if result.front:
        print_ranges(result)
    else:
        goal = f"{objective.verb} {objective}: {value_and_unit(best_value, objective.measure)}"
        emit(f"{goal}{'' if result.kept else ' (constraints are violated)'}")
    residual = "" if best.conditions is None else f"; residual of the optimality conditions {best.conditions.residual:.1g}"
    rows = f" of {told['rows_of_a_point']:,} rows" if told["rows_of_a_point"] > 1 else ""
    ended = "" if result.front else f", {len(best.searches)} of which ended there"
    searches, derived = counted(told["searches"], "search", "searches"), counted(counts["with_derivatives"], "simulation")
    emit(
        f"{counted(told['points'], 'point')}{rows} in {searches}{ended}; "
        f"{derived} with derivatives, {counts['values_alone']:,} without{'' if result.front else residual}"
    )
    if result.front:
        emit("")
        print_front(result)
        emit("")
        emit(f"{END_OF_FRONT.format(objective)}: {value_and_unit(best_value, objective.measure)}{residual}")
    emit("")
    print_variables(result)
    if result.optimisation.constraints:
        emit("")
        print_limits(result)
    if len(result.optima) > 1:
        emit("")
        print_optima(result)


def print_ranges(result: OptimisationResult) -> None:
    """Print from where to where the points of the front reach."""
    from tribosweep.sweep.analysis.optimisation.results import value_and_unit

    ends = ", from one end to the other" if len(result.front) > 1 else ""
    emit(f"front of {counted(len(result.front), 'point')}{ends}:")
    for place, each in enumerate(result.optimisation.objectives):
        values = [value_and_unit(point.candidate.functions.measures[place], each.measure) for point in (result.front[0], result.front[-1])]
        emit(f"  {each.verb} {each}: {' to '.join(values[: len(result.front)])}")


def print_variables(result: OptimisationResult) -> None:
    """Print one row per variable."""
    from tribosweep.sweep.analysis.optimisation.results import records

    rows = [[row["variable"], row["unit"] if row["unit"] != "1" else "", f"{row['value']:.8g}", short(row["lower"]), short(row["upper"]),
             "on a bound" if row["on_bound"] else ""] for row in records(result) if row["optimum"] == 0]  # fmt: skip
    print_table("", ["variable", "unit", "value", "from", "to", ""], rows, right=["value", "from", "to"])


def print_limits(result: OptimisationResult) -> None:
    """Print one row per constraint of the best optimum."""
    from tribosweep.sweep.analysis.optimisation.results import limits

    objective = result.optimisation.objectives[0]
    rows = []
    for row in limits(result):
        if row["optimum"] == 0:
            state = "violated" if not row["kept"] else "active" if row["active"] else ""
            rows.append([row["constraint"], short(row["value"], 7), short(row["slack"], 3), state, short(row["sensitivity"], 4)])
    header = ["constraint", "value", "slack", "state", f"d {objective} / d limit"]
    print_table("", header, rows, right=["value", "slack", header[-1]])


def print_optima(result: OptimisationResult) -> None:
    """Print one row per distinct optimum."""
    names = result.optimisation.space.names
    header = ["optimum", "searches", str(result.optimisation.objectives[0]), "state", *names]
    rows = []
    for number, optimum in enumerate(result.optima[:FEW]):
        state = "optimum" if optimum.converged else "not converged" if optimum.candidate.kept else "violates a limit"
        values = [short(value) for value in result.values_at(optimum.candidate)]
        rows.append([str(number), str(len(optimum.searches)), short(optimum.candidate.functions.measures[0]), state, *values])
    more = f", the best {FEW} of {len(result.optima)}" if len(result.optima) > FEW else ""
    print_table(f"Ends of searches{more}", header, rows, right=[*header[:3], *names])


def print_front(result: OptimisationResult) -> None:
    """Print one row per point of the front."""
    from tribosweep.sweep.analysis.optimisation.results import front

    names = [*(str(each) for each in result.optimisation.objectives), *result.optimisation.space.names, "trade_off"]
    rows = [[short(row[name]) for name in names] for row in front(result)]
    header = [*names[:-1], "slope of the front"]
    print_table("Pareto front", header, rows, right=header)


def print_as_json(result: OptimisationResult, directory: Path, files: Sequence[Path]) -> None:
    """Print the whole result as one JSON value on stdout."""
    from tribosweep.sweep.analysis.optimisation.results import facts, front, limits, records

    tables = {"optima": records(result), "constraints": limits(result), "front": front(result)}
    print_json({"directory": str(directory), **facts(result), **tables, "files": [str(file) for file in files]})
