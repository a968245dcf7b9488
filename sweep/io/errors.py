"""Errors of a study, each with the path of its key, and advice on names that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tribosweep.kernels.models.naming import Known, nearest_spelling, suggestion
from tribosweep.sweep.io.text import visible

SHOWN = 5  # wrong values of one column or axis that are worded
LISTED = 20  # other problems of one kind that are worded
MOST = 100  # problems of all kinds that are printed
KNOWN = 30  # words that a message lists
FEW = 12  # words that it lists though a command lists them too
LONGEST_PATH, LONGEST_MESSAGE = 200, 4000  # characters

T = TypeVar("T")


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
        path, message = cut(self.path, LONGEST_PATH), cut(self.message, LONGEST_MESSAGE)
        return visible(f"{path}: {message}" if path else message)


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
        more = [f"  and {len(self.problems) - MOST:,} more"] if len(self.problems) > MOST else []
        return "\n".join([f"{visible(self.source)}: {count}", *(f"  {problem}" for problem in self.problems[:MOST]), *more])


def advise(word: object, known: Known, topic: str = "") -> str:
    """The nearest of the `known` words, and all of them if they are few or none is near: "did you mean 'mu'? Known: m, g, mu".

    Args:
        word: the wrong word.
        known: the right ones; those of a mapping have a description, or a value with one, in which the word may occur.
        topic: the topic of `tribosweep list` that has them; it is named instead of more than FEW words.
    """
    names, text = list(known), word if isinstance(word, str) else shorten(word)
    near = suggestion(text, known) if len(text) <= LONGEST_PATH else ""
    if topic and len(names) > FEW:
        return f"{near}`tribosweep list {topic}` shows all"
    if near and len(names) > FEW:
        return near.strip()
    more = f" and {len(names) - KNOWN:,} more" if len(names) > KNOWN else ""
    return f"{near}Known: {', '.join(names[:KNOWN])}{more}"


def advise_path(path: Path) -> str:
    """Advice on the existing path nearest to a missing one: "; did you mean 'runs/big'?"; empty if none is near."""
    try:
        there = [] if path.exists() else [entry.name for entry in path.parent.iterdir()]
    except (OSError, ValueError):
        return ""
    near = nearest_spelling(path.name, there, 0.7)
    return f"; did you mean {str(path.with_name(near))!r}?" if near else ""


def shorten(value: object, limit: int = 40) -> str:
    """A value as text for messages: booleans as in TOML, and at most `limit` characters."""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        text = repr(value[: limit + 1] if isinstance(value, str | list) else value)
    except (ValueError, RecursionError):  # Python writes no whole number of more than 4300 digits
        text = f"a whole number of {value.bit_length()} bits" if isinstance(value, int) else f"such a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def cut(text: str, limit: int) -> str:
    """The text, without its middle if it is longer than `limit`."""
    return text if len(text) <= limit else f"{text[: limit // 2]} ... {text[-limit // 2 :]}"


class RunError(Exception):
    """A run that cannot continue; the written files are intact, and resuming continues from there."""


class RowError(Exception):
    """Rows of a run failed, and the caller asked for an error instead of their statuses.

    Attributes:
        source: the directory of the run. failed, total: how many rows failed, and how many there are.
        first: the first of them, each as "point 3 (a0 = 1.5): why".
    """

    def __init__(self, source: str, failed: int, total: int, first: Sequence[str]) -> None:
        """Keep what failed."""
        super().__init__(source, failed, total, tuple(first))
        self.source, self.failed, self.total, self.first = source, failed, total, tuple(first)

    def __str__(self) -> str:
        """A heading and one line per row."""
        more = [f"  and {self.failed - len(self.first):,} more"] if self.failed > len(self.first) else []
        lines = [f"{visible(self.source)}: {self.failed:,} of {self.total:,} rows failed"]
        return "\n".join([*lines, *(f"  {visible(row)}" for row in self.first), *more])


@dataclass(slots=True)
class Findings:
    """Problems of one kind: the first few are worded, the others are only counted, however many there are.

    Attributes:
        most: how many are worded. worded: these. count: how many there are.
    """

    most: int = SHOWN
    worded: list[Problem] = field(default_factory=list)
    count: int = 0

    def add(self, path: str, message: str) -> None:
        """Add a problem."""
        self.add_all([path], lambda each: Problem(each, message))

    def add_all(self, wrong: Sequence[T], word: Callable[[T], Problem]) -> None:
        """Add everything that is wrong; `word` makes a problem of it, and is called for the first few only."""
        self.worded += [word(each) for each in wrong[: max(0, self.most - len(self.worded))]]
        self.count += len(wrong)

    def report(self, path: str, problems: list[Problem], what: str = "values") -> bool:
        """Add what was found to `problems`; return whether there was anything."""
        problems += self.worded
        if self.count > len(self.worded):
            problems.append(Problem(path, f"and {self.count - len(self.worded):,} more {what} like these"))
        return self.count > 0


def first_of(wrong: Sequence[T], word: Callable[[T], Problem], path: str, what: str) -> list[Problem]:
    """The problems of everything that is wrong in one way: the first few are worded, the others are counted."""
    found, problems = Findings(LISTED), list[Problem]()
    found.add_all(wrong, word)
    found.report(path, problems, what)
    return problems


def report(found: list[Problem], path: str, problems: list[Problem]) -> bool:
    """Add what was found to `problems`, limited to a screenful; return whether there was anything."""
    problems += found[:SHOWN]
    if len(found) > SHOWN:
        problems.append(Problem(path, f"and {len(found) - SHOWN:,} more values like these"))
    return bool(found)
