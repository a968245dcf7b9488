"""An axis given as a list."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernels.models import Model
from kernels.quantity import Quantity
from sweep.design.axis import SCHEME, SCHEME_NAMES, Listed
from sweep.io.errors import Problem, advise, report, shorten
from sweep.io.values import DEFAULT, Value, padded, read_value

TABLES = "a list of lists of numbers, one for each table, such as [[2.0, 3.0], [2.0, 3.0, 4.0]]"


def read_list(quantity: Quantity, path: str, raw: list[Any], problems: list[Problem]) -> Listed | None:
    """An axis given value by value; the word "default" stands for the documented default."""
    found: list[Problem] = []
    absent = np.array([isinstance(value, str) and value == DEFAULT for value in raw])
    tables = quantity.kind == "list"
    if tables and not any(isinstance(value, list) for value in raw) and not absent.all():
        problems.append(Problem(path, f"must be {TABLES}, not {shorten(raw)}; a single table goes to [parameters]"))
        return None
    nothing: Value = np.empty(0) if tables else math.nan
    values = [
        nothing if left_out else read_value(quantity, f"{path}[{position}]", value, found)
        for position, (value, left_out) in enumerate(zip(raw, absent, strict=True))
    ]
    columns = padded(values) if tables else np.array(values)
    return Listed(quantity.name, columns, absent, quantity) if not report(found, path, problems) else None


def read_schemes(model: Model, path: str, raw: list[Any], scheme: str, problems: list[Problem]) -> Listed | None:
    """The axis "scheme": words, of which "default" stands for the study's scheme."""
    found: list[Problem] = []
    codes = np.zeros(len(raw), dtype=np.int8)
    for position, word in enumerate(raw):
        name = scheme if word == DEFAULT else word
        if isinstance(name, str) and name in model.schemes:
            codes[position] = SCHEME_NAMES.index(name)
        else:
            found.append(Problem(f"{path}[{position}]", f"{shorten(word)} is not a scheme; {advise(str(word), model.schemes)}"))
    return Listed(SCHEME, codes, np.zeros(len(raw), dtype=bool)) if not report(found, path, problems) else None
