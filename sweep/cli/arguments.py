"""Arguments and options that commands share; a study given for a run, or a run for a study, is named with what was meant."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tribosweep.sweep.cli import completion
from tribosweep.sweep.cli.completion import MANIFEST, RUNS
from tribosweep.sweep.io import shipped
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.files import read_text
from tribosweep.sweep.io.toml import parse_toml


def is_study(path: Path) -> bool:
    """Whether a path that is no directory is meant as a study."""
    return not path.is_dir() and (path.suffix.lower() == shipped.SUFFIX or shipped.find(path) != path)


def existing_study(path: Path) -> Path:
    """A study that is a file or has the name of a shipped one; ConfigError for a directory."""
    if path.is_dir() and shipped.find(path) == path:
        if (path / MANIFEST).exists():
            whole = shlex.quote(str(path))
            meant = f"is the directory of a run, not a study: tribosweep resume {whole} computes what is missing, tribosweep show {whole} "
            raise ConfigError(str(path), [Problem("", f"{meant}shows it, and {whole}/config.toml is its study")])
        studies = sorted(each for each in path.iterdir() if each.suffix.lower() == shipped.SUFFIX)
        there = f"; there are {', '.join(map(str, studies[:5]))}{' ...' if len(studies) > 5 else ''}" if studies else ""
        message = f"cannot be read: it is a directory: only regular files are read, and a study is one TOML file{there}"
        raise ConfigError(str(path), [Problem("", message)])
    return path


def existing_run(path: Path) -> Path:
    """The directory of a run: the path itself, or runs/PATH; ConfigError for a study."""
    if not path.exists() and (RUNS / path).is_dir():
        return RUNS / path
    if is_study(path):
        raise ConfigError(str(path), [Problem("", f"is a study, and this command reads the directory of its run: {how_to_run(path)}")])
    return path


def study_or_run(path: Path) -> Path:
    """A study, or the directory of a run: the path itself, or runs/PATH where it is no study."""
    return RUNS / path if not path.exists() and not is_study(path) and (RUNS / path).is_dir() else path


def how_to_run(path: Path) -> str:
    """The directory of the run of a study, and the command that makes one if there is none."""
    try:
        study = parse_toml(read_text(shipped.find(path))).get("study", {})
    except (OSError, ValueError):
        study = {}
    directory = RUNS / str(study.get("name", path.stem) if isinstance(study, dict) else path.stem)
    made = "" if (directory / MANIFEST).exists() else f", which tribosweep run {shlex.quote(str(path))} makes"
    return f"{shlex.quote(str(directory))}{made}"


StudyFile = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY",
        callback=existing_study,
        autocompletion=completion.studies,
        help="A TOML file, or the name of a shipped study.",
    ),
]
RunFolder = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", callback=existing_run, autocompletion=completion.runs, help="Directory of a run, or its name below runs/."
    ),
]
StudyOrRun = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY|RUN",
        callback=study_or_run,
        autocompletion=completion.studies_and_runs,
        help="A TOML file, the name of a shipped study, or the directory of a run.",
    ),
]
Records = Annotated[
    list[Path],
    typer.Argument(
        metavar="RECORD ...|STUDY|RUN",
        autocompletion=completion.studies_and_runs,
        help="Files with a record each, .csv or .parquet; or a study, or the directory of a run.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", autocompletion=completion.settings, help="Replace a key of the study: parameters.mu=0.2. Can be repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout instead of tables.")]
At = Annotated[list[str] | None, typer.Option(help="Hold another parameter at its value nearest to this one: mu=0.2. Can be repeated.")]
AreasName = Annotated[
    str | None,
    typer.Option(
        "--areas", help="Observable whose words or whole numbers are the areas; default regime, wall_regime or contact_regime[SUPPORT]."
    ),
]
SupportName = Annotated[str | None, typer.Option("--support", help="Of a structure: the support that is shown.")]
