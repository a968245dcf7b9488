"""The application: all commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from tribosweep.sweep import registry
from tribosweep.sweep.cli import (
    analyses,
    branches,
    calibration,
    checks,
    explore,
    export,
    optimisation,
    pictures,
    runs,
    show,
    starting,
    structures,
)
from tribosweep.sweep.cli.help_layout import Commands, help_of
from tribosweep.sweep.cli.terminal import emit
from tribosweep.sweep.io.version import VERSION

app = typer.Typer(
    name="tribosweep",
    cls=Commands,
    help="Parameter studies of friction and shock oscillators: one TOML file in, a Parquet dataset out.",
    epilog="`tribosweep COMMAND --help` has examples of each; `tribosweep list` shows what a study may say, and the exit statuses.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def print_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        emit(f"tribosweep {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and stop.")] = False,
) -> None:
    """Options of every command."""


COMMANDS: dict[str, Callable[..., None]] = {
    "init": starting.init,
    "run": runs.run,
    "resume": runs.resume,
    "check": runs.check,
    "verify": checks.verify,
    "list": checks.list_topics,
    "schema": checks.write_schema,
    "show": show.show,
    "map": pictures.draw_map,
    "report": pictures.write_report,
    "explore": explore.explore,
    "export": export.export,
    "calibrate": calibration.calibrate,
    "branches": branches.branches,
    "optimise": optimisation.optimise,
    "modes": structures.modes,
    "doctor": checks.doctor,
}
COMMANDS |= {name: analyses.command_of(analysis) for name, analysis in registry.analyses().items()}
for name, command in COMMANDS.items():
    app.command(name, help=help_of(name, command.__doc__ or ""))(command)
