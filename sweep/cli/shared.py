"""Common parts of the commands: options, exit statuses and error messages."""

from __future__ import annotations

import errno
import shlex
from pathlib import Path
from typing import Annotated

import typer

from sweep.io import shipped
from sweep.io.errors import ConfigError, Problem
from sweep.io.files import read_text
from sweep.io.toml import parse_toml

RUNS = Path("runs")  # where `default_directory` puts a run
MANIFEST = "manifest.json"  # a directory with it holds a run


def like_names(incomplete: str) -> list[tuple[str, str]]:
    """Shipped studies that begin with what is typed, with what they ask, for completion by the shell."""
    return [(name, shipped.about(name)) for name in shipped.names() if name.startswith(incomplete)]


def is_study(path: Path) -> bool:
    """Whether a path that is no directory is meant as a study."""
    return not path.is_dir() and (path.suffix == shipped.SUFFIX or shipped.find(path) != path)


def existing_study(path: Path) -> Path:
    """A study that is a file or has the name of a shipped one; ConfigError for a directory."""
    if path.is_dir() and shipped.find(path) == path:
        if (path / MANIFEST).exists():
            whole = shlex.quote(str(path))
            meant = f"is the directory of a run, not a study: tribosweep resume {whole} computes what is missing, tribosweep show {whole} "
            raise ConfigError(str(path), [Problem("", f"{meant}shows it, and {whole}/config.toml is its study")])
        studies = sorted(path.glob(f"*{shipped.SUFFIX}"))
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


StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", callback=existing_study, help="A TOML file, or the name of a shipped study.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", callback=existing_run, help="Directory of a run, or its name below runs/.")]
StudyOrRun = Annotated[
    Path,
    typer.Argument(metavar="STUDY|RUN", callback=study_or_run, help="A TOML file, the name of a shipped study, or the directory of a run."),
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

BAD_CONFIG, FAILED_ROWS, FAILED_CHECK, OUR_FAULT, NO_RESOURCES, INTERRUPTED, CLOSED_PIPE, TERMINATED = 2, 3, 4, 70, 71, 130, 141, 143
EXIT_STATUSES = {
    0: "done; that stdout or stderr is closed (`>&-`) is no failure",
    BAD_CONFIG: "wrong study, option or file; a file or directory that cannot be read or written; a run that cannot continue",
    FAILED_ROWS: "rows of the run have failed, or points of a convergence study have not settled; their column `status` says why",
    FAILED_CHECK: "a check has failed: a published value is missed (`verify`), a file is damaged (`check`), the installation is faulty "
    "(`doctor`)",
    OUR_FAULT: "a defect of the program, with a line that asks to report it",
    NO_RESOURCES: "the system grants no more memory, threads or processes",
    INTERRUPTED: "ended by SIGINT (Ctrl-C); the line that resumes the run is printed",
    CLOSED_PIPE: "the reader of stdout has gone away before all was printed, as in `tribosweep list models | head -1`",
    TERMINATED: "ended by SIGTERM; the line that resumes the run is printed",
}  # exit status of every command -> what it means


class Terminated(KeyboardInterrupt):
    """Raised by SIGTERM; it ends a run as Ctrl-C does."""


def reason(error: Exception) -> str:
    """The message of an error; for a file error, its name and the message of the system."""
    return f"{error.filename or 'tribosweep'}: {error.strerror or error}" if isinstance(error, OSError) else str(error)


def shortage(error: BaseException) -> str:
    """What the system does not grant, if that is why something failed: memory or a thread; else empty."""
    words = str(error)
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in words or getattr(error, "errno", None) == errno.ENOMEM:
        return f"there is not enough memory{f' ({words})' if words else ''}"
    thread = "can't start new thread" in words or "can't allocate lock" in words
    forks = getattr(error, "errno", None) == errno.EAGAIN and getattr(error, "filename", None) is None  # not a file that is locked
    if (isinstance(error, RuntimeError) and thread) or forks:
        return f"the system grants no more threads or processes ({words}); the limits of the shell: ulimit -u, ulimit -v"
    return ""
