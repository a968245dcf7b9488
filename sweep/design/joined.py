"""Events joined by `or`, `and` and `not`, whatever the single events are: their outcomes and their margins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

OR, AND, NOT = "or", "and", "not"
JOINS = (OR, AND, NOT)
_LEAST = float(np.finfo(float).tiny)

Single = TypeVar("Single")


class Outcome(NamedTuple):
    """Whether an event happened in n rows: (n,) masks of those in which it did, and of those of which that is unknown."""

    happened: np.ndarray
    unknown: np.ndarray


@dataclass(frozen=True, slots=True)
class Joined(Generic[Single]):
    """Events joined by one word.

    Attributes:
        word: one of JOINS. parts: what it joins, single events or joined ones; of `not` one.
    """

    word: str
    parts: tuple[Joined[Single] | Single, ...]

    def __str__(self) -> str:
        """As a study has it: "x_max > 3.0 and not (buckled = 1 or impacts >= 3)"."""
        inner = [f"({part})" if isinstance(part, Joined) and part.word not in (NOT, self.word) else str(part)
                 for part in self.parts]  # fmt: skip
        return f"{NOT} {inner[0]}" if self.word == NOT else f" {self.word} ".join(inner)


def singles(event: Joined[Single] | Single) -> list[Single]:
    """The single events of an event, from left to right."""
    return [each for part in event.parts for each in singles(part)] if isinstance(event, Joined) else [event]


def outcome_of(event: Joined[Single] | Single, of: Callable[[Single], Outcome]) -> Outcome:
    """The outcome of an event, given that `of` each single one.

    Unknown or true is true, unknown and false is false; what else has an unknown part is unknown.
    """
    if not isinstance(event, Joined):
        return of(event)
    parts = [outcome_of(part, of) for part in event.parts]
    if event.word == NOT:
        happened, unknown = parts[0]
        return Outcome(~happened & ~unknown, unknown)
    happened, unknown = (np.stack(each) for each in zip(*parts, strict=True))
    if event.word == OR:
        some = np.asarray(happened.any(axis=0))
        return Outcome(some, np.asarray(unknown.any(axis=0) & ~some))
    return Outcome(np.asarray(happened.all(axis=0)), np.asarray(unknown.any(axis=0) & (happened | unknown).all(axis=0)))


def margin_of(event: Joined[Single] | Single, of: Callable[[Single], np.ndarray]) -> np.ndarray:
    """How far rows are beyond the limits of an event, (n,): the event happened where that is at least 0; NaN where it is unknown.

    `of` gives the margins of each single event, in the same sense and in units that can be compared. The margin of `or` is the largest of
    its parts, of `and` the least; an unknown part counts only where the others do not decide.
    """
    if not isinstance(event, Joined):
        return of(event)
    parts = np.stack([margin_of(part, of) for part in event.parts])
    if event.word == NOT:
        return with_sign(-parts[0], parts[0] < 0.0)
    unknown = np.isnan(parts)
    if event.word == OR:
        found = np.where(unknown, -np.inf, parts).max(axis=0)
        return np.where(unknown.any(axis=0) & ~(found >= 0.0), np.nan, found)
    found = np.where(unknown, np.inf, parts).min(axis=0)
    return np.where(unknown.any(axis=0) & ~(found < 0.0), np.nan, found)


def with_sign(margins: np.ndarray, happened: np.ndarray) -> np.ndarray:
    """(n,) margins that are at least 0 exactly where an event `happened`, (n,), so that those at the limit itself tell it too."""
    return np.asarray(np.where(happened, np.maximum(margins, 0.0), np.minimum(margins, -_LEAST)))
