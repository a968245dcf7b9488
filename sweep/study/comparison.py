"""The text of an event: an observable, a relation and a value, such as "peak_force > 5 kN"."""

from __future__ import annotations

import math
import re

from sweep.io.tables import number_in
from sweep.io.units import in_unit

_EVENT = re.compile(r"(\w++(?:\[[^\]]*+\])?)\s*+(>=|<=|>|<|=)\s*+(.+)")


def parts_of(text: str) -> tuple[str, str, str] | None:
    """The observable, the relation and the value of an event; None if the text is none."""
    found = _EVENT.fullmatch(text.strip())
    return None if found is None else (found[1], found[2], found[3])


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
