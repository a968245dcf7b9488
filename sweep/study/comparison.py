"""The text of an event: observables, relations and values, joined by `or`, `and`, `not` and parentheses.

    event      = conjunction {"or" conjunction}
    conjunction = negation {"and" negation}
    negation   = "not" negation | "(" event ")" | comparison
    comparison = observable [relation value]

such as "peak_force > 5 kN and not (buckled or wall_regime = plateau)". A value ends at `and`, at `or`, or at a parenthesis that it has not
opened. The text is read once from left to right, and its length and its depth are bounded.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

from tribosweep.sweep.design.joined import AND, JOINS, NOT, OR, Joined
from tribosweep.sweep.io.errors import shorten
from tribosweep.sweep.io.tables import number_in
from tribosweep.sweep.io.units import in_unit

MOST_CHARACTERS, MOST_PARTS, MOST_DEPTH = 2000, 64, 32
_NAME = re.compile(r"\w++(?:\[[^\]]*+\])?")
_RELATION = re.compile(r"\s*+(>=|<=|>|<|=)\s*+")
_PIECE = re.compile(r"\w++|[^\w()]++|[()]")


class Parts(NamedTuple):
    """The texts of a comparison; relation and value are empty where an observable stands alone."""

    observable: str
    relation: str
    value: str


@dataclass
class _Reader:
    """What is left of a text, and how many comparisons were read."""

    text: str
    place: int = 0
    parts: int = 0

    def skip(self) -> None:
        """Go to the next character that is no blank."""
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def takes(self, word: str) -> bool:
        """Whether the text goes on with a word or a parenthesis, which is then read."""
        self.skip()
        found = _PIECE.match(self.text, self.place)
        if found is None or found[0].lower() != word:
            return False
        self.place = found.end()
        return True

    def event(self, depth: int) -> Joined[Parts] | Parts:
        """Events joined by `or`."""
        found = [self.conjunction(depth)]
        while self.takes(OR):
            found.append(self.conjunction(depth))
        return found[0] if len(found) == 1 else Joined(OR, tuple(found))

    def conjunction(self, depth: int) -> Joined[Parts] | Parts:
        """Events joined by `and`."""
        found = [self.negation(depth)]
        while self.takes(AND):
            found.append(self.negation(depth))
        return found[0] if len(found) == 1 else Joined(AND, tuple(found))

    def negation(self, depth: int) -> Joined[Parts] | Parts:
        """One event, with `not` before it or in parentheses."""
        if depth > MOST_DEPTH:
            raise ValueError(f"more than {MOST_DEPTH} parentheses and {NOT} within each other")
        if self.takes(NOT):
            return Joined(NOT, (self.negation(depth + 1),))
        if self.takes("("):
            found = self.event(depth + 1)
            if not self.takes(")"):
                raise ValueError("a parenthesis is not closed")
            return found
        return self.comparison()

    def comparison(self) -> Parts:
        """An observable with its relation and value, or alone."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise ValueError(f"more than {MOST_PARTS} comparisons")
        self.skip()
        name = _NAME.match(self.text, self.place)
        if name is None or name[0].lower() in JOINS:
            raise ValueError(f"an observable is missing {self.where()}")
        self.place = name.end()
        relation = _RELATION.match(self.text, self.place)
        if relation is None:
            return Parts(name[0], "", "")
        self.place = relation.end()
        value = self.value()
        if not value:
            raise ValueError(f"a value is missing {self.where()}")
        return Parts(name[0], relation[1], value)

    def value(self) -> str:
        """The text of a value."""
        start, depth = self.place, 0
        while (piece := _PIECE.match(self.text, self.place)) is not None:
            depth += (piece[0] == "(") - (piece[0] == ")")
            if depth < 0 or (depth == 0 and piece[0].lower() in (OR, AND)):
                break
            self.place = piece.end()
        return self.text[start : self.place].strip()

    def where(self) -> str:
        """The place in words."""
        rest = self.text[self.place :].strip()
        return f"before {shorten(rest)}" if rest else "at the end"


def read_expression(text: str) -> Joined[Parts] | Parts:
    """The comparisons of an event and how they are joined; ValueError says what is wrong with the text."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"has {len(text):,} characters, more than {MOST_CHARACTERS:,}")
    reader = _Reader(text)
    found = reader.event(0)
    reader.skip()
    if reader.place < len(text):
        raise ValueError(f"{OR} or {AND} is missing {reader.where()}")
    return found


def limit_in(text: str, unit: str) -> float:
    """The value of an event, in `unit` where it is a plain number: "5000" or "5 kN"; ValueError if it is none or not finite."""
    try:
        number = number_in(text)
    except ValueError:
        if not any(letter.isdigit() for letter in text):
            raise ValueError(f"{text!r} must be a finite number, or one with a unit") from None
        number = in_unit(text, unit or "1")
    if not math.isfinite(number):
        raise ValueError(f"{text!r} must be a finite number")
    return number
