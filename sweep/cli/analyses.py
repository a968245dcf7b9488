"""The commands of analyses, made from what each says of itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from tribosweep.sweep.api import default_directory
from tribosweep.sweep.cli.arguments import AsJson, Records, RunFolder, Settings, StudyOrRun, study_or_run
from tribosweep.sweep.cli.runs import ExecutorName, ExecutorOptions, compute
from tribosweep.sweep.cli.shared import FAILED_ROWS
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, progress, say, say_notes
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.table_files import FORMATS, require_table
from tribosweep.sweep.results.analysis import RECORDS, RUN_ONLY, STUDY, Analysis, Request, option, without_none, words_of
from tribosweep.sweep.results.picture import is_picture
from tribosweep.sweep.results.printed import PrintedTable
from tribosweep.sweep.results.result import Result
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.load import load

TAKEN = {RUN_ONLY: RunFolder, STUDY: StudyOrRun, RECORDS: Records}
TABLE = "File to write: the main table, .csv or .parquet"
OUT = f"{TABLE}, or a picture, .png, .svg or .pdf"


def command_of(analysis: Analysis[Any]) -> Callable[..., None]:
    """The command of an analysis: what it is asked of, the fields of its request as options, `--out` and `--json`."""

    def command(directory: Any, out: Path | None, as_json: bool, settings: list[str] | None = None, **values: Any) -> None:
        answer(analysis, directory, values, out, as_json, settings or ())

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("directory", keyword, annotation=StudyOrRun if analysis.check else TAKEN[analysis.takes])]
    for name, of in analysis.request.model_fields.items():
        default = inspect.Parameter.empty if of.is_required() else None if get_origin(without_none(of.annotation)) is tuple else of.default
        parameters.append(inspect.Parameter(name, keyword, default=default, annotation=option_of(name, of)))
    what = OUT if analysis.has_picture else TABLE
    where = f"{what}; default DIRECTORY/{analysis.file}." if analysis.file else f"{what}."
    parameters.append(inspect.Parameter("out", keyword, default=None, annotation=Annotated[Path | None, typer.Option(help=where)]))
    if analysis.check:
        parameters.append(inspect.Parameter("settings", keyword, default=None, annotation=Settings))
    parameters.append(inspect.Parameter("as_json", keyword, default=False, annotation=AsJson))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # which typer reads
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__name__, command.__doc__ = analysis.name, analysis.about
    return command


def option_of(name: str, of: FieldInfo) -> Any:
    """The type and the option of a field, for typer; tuples are options that can be repeated."""
    kind: Any = without_none(of.annotation)
    told = of.description or ""
    if words := words_of(of.annotation):
        Word = StrEnum("Word", dict(zip(words, words, strict=True)))  # type: ignore[misc] # its words are those of the field
        kind = Word
    elif get_origin(kind) is tuple:
        kind, told = list[getattr(get_args(kind)[0], "__origin__", get_args(kind)[0])], f"{told} Can be repeated."  # type: ignore[misc] # a type
    if kind is bool and of.default is True:
        return Annotated[bool, typer.Option(f"{option(name, of)}/--no-{name.replace('_', '-')}", help=told)]
    optional = not of.is_required() and (of.default is None or of.default == ())
    return Annotated[kind | None if optional else kind, typer.Option(option(name, of), help=told)]


def answer(
    analysis: Analysis[Any], directory: Any, values: dict[str, Any], out: Path | None, as_json: bool, settings: Sequence[str]
) -> None:
    """Carry out the command of an analysis."""
    given = out is not None
    if analysis.file and not (given or as_json):
        out = directory / analysis.file
    if out is not None and not analysis.has_picture:
        require_table(out)
    drawn = is_picture(out, FORMATS, "--out" if given else "")
    if values.get("picture") is not None and not drawn:
        raise ConfigError("--picture", [Problem("", "needs --out, the picture to write: .png, .svg or .pdf")])
    request = analysis.read({name: str(value) if isinstance(value, StrEnum) else value for name, value in values.items()})
    request = request.for_picture() if drawn else request
    if analysis.takes == RECORDS:
        directory = [study_or_run(path) for path in directory]
    if analysis.check:
        directory = run_first(analysis.check, directory, request, settings)
    with progress(analysis.things) if analysis.things else nullcontext() as update:
        found = analysis.compute(directory, request, update)
    if out is not None:
        found.save(out)
    kept = bool(found.folder) and analysis.takes == RUN_ONLY
    files = found.write(directory) if kept else []
    if alone := analysis.out_alone and out is not None and not as_json:
        emit(str(out))
    elif as_json:
        facts, written = found.facts(), {"files": [str(file) for file in files]} if kept else {}
        where = {"directory": str(directory)} if analysis.takes == RUN_ONLY else {}
        print_json({**where, **facts, "notes": found.notes, **written} if isinstance(facts, dict) else facts)
    else:
        print_result(found, kept)
    for hint in found.hints(drawn) if drawn or not (as_json or alone) else ():
        say(hint)
    say_notes(found.notes, [*files, None if alone else out])
    if found.has_failures:
        raise typer.Exit(FAILED_ROWS)


def run_first(check: Callable[[Config, Any], None], target: Path, request: Request, settings: Sequence[str]) -> Path:
    """The directory of a run, or of that of a study, which passes the `check` of an analysis, and is computed as far as it is not there."""
    if target.is_dir():
        if settings:
            raise ConfigError("--set", [Problem("", f"changes a study, and {target} is the directory of a run: give its TOML file")])
        return target
    study = load(target, settings)
    check(study, request)
    directory = default_directory(study)
    compute(study, directory, ExecutorOptions(ExecutorName.local, None, None, None))
    return directory


def print_result(found: Result, kept: bool) -> None:
    """Print what a result has for the terminal; `kept` are tables that are in files, too."""
    for part in found.printed():
        if isinstance(part, PrintedTable):
            left_out = print_table(part.title, part.header, part.rows[: part.most], right=part.right, spare=part.spare)
            whole = f"--json and {'the files have' if kept else '--out give'} all"
            if len(part.rows) > part.most:
                say(f"The first {part.most:,} of {len(part.rows):,} {part.what} are listed; {whole}.")
            if left_out:
                say(f"Too wide for this table: {', '.join(left_out)}; {whole}.")
        else:
            emit(part)
