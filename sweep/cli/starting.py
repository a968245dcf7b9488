"""`tribosweep init`: a commented study of one's own, begun from a shipped one."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.structure_model import BODY, STRUCTURE
from tribosweep.sweep.cli import completion
from tribosweep.sweep.cli.terminal import emit, say
from tribosweep.sweep.io import shipped
from tribosweep.sweep.io.atomic import make_folders, write_together
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.io.files import holds, read_bytes, read_text
from tribosweep.sweep.io.toml import parse_toml, text
from tribosweep.sweep.study.document import OTHER_COMMANDS

DEFAULT_MODEL = next(iter(MODELS))
CALIBRATION, OPTIMISATION, BRANCHES = "calibration", "optimise", "branches"
FIRST = ("regime_map", "stop")  # of their kind: what Enter chooses
KINDS = {
    **{name: re.split("[:,]", model.description)[0] for name, model in MODELS.items()},
    BODY: "a mass that moves in space, with supports that it hits and rubs on",
    STRUCTURE: "the modes of a tube, a rod or a row of bodies, with supports",
    CALIBRATION: "parameters from measurements",
    OPTIMISATION: "parameters for a purpose, within limits",
    BRANCHES: "periodic motions, stable or not, followed in a parameter",
}  # what a study is about -> in words


def init(
    file: Annotated[Path | None, typer.Argument(help="The study to write, .toml; default the name of the shipped one.")] = None,
    like: Annotated[
        str | None,
        typer.Option(help="Name of the shipped study to begin from; asked for on a terminal.", autocompletion=completion.shipped_studies),
    ] = None,
) -> None:
    """Write a commented study of your own, with the files that it reads.

    Nothing is overwritten. On a terminal it asks what the study is about; elsewhere --like says it.
    """
    name = like if like is not None else ask()
    if name not in shipped.names():
        raise ConfigError("--like", [Problem("", f"{name!r} is no shipped study; {advise(name, descriptions(), 'studies')}")])
    target = file if file is not None else Path(f"{name}{shipped.SUFFIX}")
    if target.suffix.lower() != shipped.SUFFIX:
        raise ConfigError(str(target), [Problem("", f"a study is a TOML file: its name ends in {shipped.SUFFIX}")])
    files = {**read_with(name, target.parent), target: own_text(name, target).encode()}  # the study last: if it is there, all are
    differing = [path for path, data in files.items() if path.exists() and not holds(path, data)]
    there = dict.fromkeys([*([target] if target.exists() else []), *differing])
    if there:
        raise ConfigError("tribosweep init", [Problem(str(path), occupied(path)) for path in there])
    for path in files:
        make_folders(path.parent)
    write_together({path: data for path, data in files.items() if not path.exists()})
    for path in list(files)[:-1]:
        say(f"With it: {path}")
    command = command_of(tables_of(name))
    say(f"Change what differs, then: tribosweep {command} {shlex.quote(str(target))}")
    emit(str(target))


def occupied(path: Path) -> str:
    """Why a file that is there stops `init`; of a grammar, which an older version may have written, with the command that renews it."""
    other = (
        f"; if it is of another version, tribosweep schema --out {shlex.quote(str(path))} renews it" if path.name == shipped.SCHEMA else ""
    )
    return f"is there already and is not overwritten{other}"


def descriptions() -> dict[str, str]:
    """The shipped studies with what they ask."""
    return {name: shipped.about(name) for name in shipped.names()}


def tables_of(name: str) -> dict[str, Any]:
    """A shipped study as tables."""
    return parse_toml(read_text(shipped.find(name)))


def command_of(tables: dict[str, Any]) -> str:
    """The command that carries out a study."""
    return next((command for section, (_, command) in OTHER_COMMANDS.items() if section in tables), "run")


def kind_of(name: str) -> str:
    """What a shipped study is about: its model, a calibration or an optimisation."""
    tables = tables_of(name)
    other = next((section for section in OTHER_COMMANDS if section in tables), None)
    return other or str(tables.get("study", {}).get("model", DEFAULT_MODEL))


def ask() -> str:
    """Ask on the terminal which shipped study to begin from; ConfigError if there is no terminal."""
    if not on_terminal():
        raise ConfigError("--like", [Problem("", "missing: the name of a shipped study; `tribosweep list studies` shows them")])
    of_kind: dict[str, list[str]] = {}
    for name in shipped.names():
        of_kind.setdefault(kind_of(name), []).append(name)
    kinds = [kind for kind in KINDS if kind in of_kind]
    kind = choose("What is it about?", [(each, KINDS[each]) for each in kinds])
    first = [name for name in FIRST if name in of_kind[kind]]
    return choose("Which of these is nearest?", [(name, shipped.about(name)) for name in dict.fromkeys([*first, *of_kind[kind]])])


def on_terminal() -> bool:
    """Whether somebody can read questions and type answers."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def choose(question: str, options: Sequence[tuple[str, str]]) -> str:
    """Let the user choose one of several (word, description) by its number or its word; the first one by Enter."""
    width = max(len(word) for word, _ in options)
    say(f"\n{question}")
    for number, (word, meaning) in enumerate(options, 1):
        say(f"{number:4}  {word:{width}}  {meaning}")
    words = [word for word, _ in options]
    while True:
        try:
            answer = str(typer.prompt("Number", default="1", err=True)).strip()
        except typer.Abort:  # Ctrl-C, or the end of the input
            raise KeyboardInterrupt from None
        if answer in words:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(words):
            return words[int(answer) - 1]
        say(f"A number from 1 to {len(words)}, or a name from the list.")


def own_text(name: str, target: Path) -> str:
    """The text of a shipped study under the name of a new file, in the commands of its comments too."""
    source, title = read_text(shipped.find(name)), target.stem
    named = re.sub(r'(?m)^(name\s*=\s*)"[^"\n]*"', lambda found: found[1] + text(title), source, count=1)
    command = re.compile(rf"(tribosweep [a-z]+ ){name}(?![\w.])")
    told = command.sub(lambda found: found[1] + shlex.quote(str(target)), named).replace(f"runs/{name}", f"runs/{title}")
    for word in files_of(name):
        told = told.replace(f"configs/{word}", shlex.quote(str(target.parent / word)))
    return told


def read_with(name: str, folder: Path) -> dict[Path, bytes]:
    """The files that a shipped study reads, its schema among them, by their places beside a new study in `folder`."""
    return {folder / word: read_bytes(shipped.folder() / word) for word in [shipped.SCHEMA, *files_of(name)]}


def files_of(name: str) -> list[str]:
    """The files that a shipped study reads, as it names them."""
    found = (word for word in words_in(tables_of(name)) if "/" in word and (shipped.folder() / word).is_file())
    return list(dict.fromkeys(found))


def words_in(value: Any) -> Iterator[str]:
    """All texts in nested tables and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from words_in(each)
