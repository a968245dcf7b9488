"""Errors of a study. Every problem names the path of its key."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that must be changed.

    Attributes:
        path: its location, such as `sweep.axes.mu[3]`; empty if it concerns the whole source.
        message: what is wrong and what would be right, with unit and bound.
    """

    path: str
    message: str

    def __str__(self) -> str:
        """The line for the user."""
        return f"{self.path}: {self.message}" if self.path else self.message


class ConfigError(Exception):
    """A study that cannot be run; nothing was computed or written.

    Attributes:
        source: origin of the configuration, usually a file.
        problems: everything that is wrong with it.
    """

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        """Keep the source and its problems."""
        super().__init__(source, tuple(problems))
        self.source = source
        self.problems = tuple(problems)

    def __str__(self) -> str:
        """A heading and one line per problem."""
        count = f"{len(self.problems)} problem{'s' if len(self.problems) != 1 else ''}"
        return "\n".join([f"{self.source}: {count}", *(f"  {problem}" for problem in self.problems)])


def advise(word: str, known: Iterable[str]) -> str:
    """The nearest of the `known` words and the list of all: "did you mean 'mu'? Known: m, g, mu"."""
    names = list(known)
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.5)
    return (f"did you mean {near[0]!r}? " if near else "") + f"Known: {', '.join(names)}"


def advise_path(path: Path) -> str:
    """Advice on the existing path nearest to a missing one: "; did you mean 'runs/big'?"; empty if none is near."""
    try:
        there = [] if path.exists() else [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, there, n=1, cutoff=0.7)
    return f"; did you mean {str(path.with_name(near[0]))!r}?" if near else ""


def shorten(value: object, limit: int = 40) -> str:
    """A value as text for messages: booleans as in TOML, and at most `limit` characters."""
    text = ("true" if value else "false") if isinstance(value, bool) else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


class RunError(Exception):
    """A run that cannot continue; the written files are intact, and resuming continues from there."""


def report(found: list[Problem], path: str, problems: list[Problem]) -> bool:
    """Add what was found to `problems`, limited to a screenful; return whether there was anything."""
    problems += found[:SHOWN]
    if len(found) > SHOWN:
        problems.append(Problem(path, f"and {len(found) - SHOWN} more values like these"))
    return bool(found)
