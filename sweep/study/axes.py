"""Reading an axis given as a list or as a range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.design.axis import INTEGER, SCHEME, SCHEME_NAMES, Axis, Continuous, Listed, Spaced, Whole
from tribosweep.sweep.io.errors import Findings, Problem, advise, report, shorten
from tribosweep.sweep.io.values import DEFAULT, Value, padded, read_number, read_value
from tribosweep.sweep.study.document import read_range
from tribosweep.sweep.study.schema import Range

SPACINGS = ("linear", "log", INTEGER)
FORMS = 'a list such as [1.0, 2.0] or { from = 1.0, to = 10.0, count = 10, spacing = "linear" }'
SAMPLED_FORMS = (
    'a list such as [1.0, 2.0] or { from = 1.0, to = 10.0, spacing = "linear" } or { distribution = "normal", mean = 2.0, std = 0.1 }'
)

TABLES = "a list of lists of numbers, one for each table, such as [[2.0, 3.0], [2.0, 3.0, 4.0]]"


def read_list(quantity: Quantity, path: str, raw: list[Any], problems: list[Problem]) -> Listed | None:
    """Read an axis given value by value; the word "default" stands for the documented default."""
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
    """Read the axis "scheme", a list of words; "default" stands for the study's scheme."""
    found, wrong = Findings(), []
    codes = np.zeros(len(raw), dtype=np.int8)
    for position, word in enumerate(raw):
        name = scheme if word == DEFAULT else word
        if isinstance(name, str) and name in model.schemes:
            codes[position] = SCHEME_NAMES.index(name)
        else:
            wrong.append(position)

    def problem(position: int) -> Problem:
        word = raw[position]
        return Problem(
            f"{path}[{position}]",
            f"{shorten(word)} is not a scheme; {advise(word, model.schemes)}",
        )

    found.add_all(wrong, problem)
    return Listed(SCHEME, codes, np.zeros(len(raw), dtype=bool)) if not found.report(path, problems) else None


def forms(quantity: Quantity, sampled: bool) -> str:
    """The forms in which an axis of a parameter can be given, depending on whether the design samples."""
    numbers_ = SAMPLED_FORMS if sampled else FORMS
    return {"list": TABLES, "word": f"a list of words, such as {list(quantity.words)}"}.get(quantity.kind, numbers_)


def read_spacing(quantity: Quantity, path: str, raw: dict[str, Any], sampled: bool, problems: list[Problem]) -> Axis | None:
    """Read an axis { from, to, count, spacing }; whole-number parameters get whole values, words and tables have no range."""
    if quantity.kind in ("word", "list"):
        problems.append(Problem(path, f"must be {forms(quantity, sampled)}, not {shorten(raw)}"))
        return None
    found: list[Problem] = []
    counted = not sampled and raw.get("spacing") != INTEGER
    shape = read_range(path, raw, counted, found)
    ends: list[float] = []
    for key, value in (("from", shape.start), ("to", shape.stop)):
        if key in raw and (end := read_number(quantity, f"{path}.{key}", value, found)) is not None:
            ends.append(end)
    if shape.spacing not in SPACINGS:
        found.append(Problem(f"{path}.spacing", f"{shape.spacing!r} is no spacing; {advise(shape.spacing, SPACINGS)}"))
    elif len(ends) == 2:
        check_ends(path, ends, shape.spacing, sampled, found)
    if counted and shape.count is not None and shape.count < 1:
        found.append(Problem(f"{path}.count", f"{shape.count} is out of bounds: must be >= 1, or the design has 0 points"))
    if not counted and shape.count is not None:
        why = "sweep.count says how many points there are" if sampled else "it has every whole number from one end to the other"
        found.append(Problem(f"{path}.count", f"this range has no count of its own: {why}"))
    if quantity.kind == "integer" and not found:
        check_whole(quantity, path, ends, shape, found)
    if report(found, path, problems):
        return None
    if shape.spacing == INTEGER:
        return Whole(quantity.name, int(ends[0]), int(ends[1]))
    if shape.count is None:
        return Continuous(quantity.name, ends[0], ends[1], shape.spacing == "log")
    return Spaced(quantity.name, ends[0], ends[1], shape.count, shape.spacing == "log")


def check_ends(path: str, ends: list[float], spacing: str, sampled: bool, found: list[Problem]) -> None:
    """Check that the spacing is possible between the two ends of a range."""
    first, last = ends
    if spacing == "log" and not (first > 0.0 < last or first < 0.0 > last):
        found.append(Problem(path, f"a log axis cannot touch or cross 0: from = {first:g}, to = {last:g}"))
    elif spacing == INTEGER and not (first.is_integer() and last.is_integer() and first <= last and abs(first) + abs(last) < 2**53):
        found.append(Problem(path, f"an integer axis goes up from one whole number to another: from = {first!r}, to = {last!r}"))
    elif sampled and spacing != INTEGER and not math.isfinite(last - first):
        found.append(Problem(path, f"too wide to draw from: from = {first:g}, to = {last:g}"))


def check_whole(quantity: Quantity, path: str, ends: list[float], shape: Range, found: list[Problem]) -> None:
    """Check that a range between two whole numbers has only whole values."""
    if shape.spacing == INTEGER:
        return
    if shape.count is None:
        wrong, advice = "a range that is drawn from", f'spacing = "{INTEGER}", or list the values'
    elif shape.spacing == "log":
        wrong, advice = "a log range", "list the values, or take a whole step"
    else:
        step = (ends[1] - ends[0]) / max(shape.count - 1, 1)
        if shape.count == 1 or step.is_integer():
            return
        wrong, advice = f"a step of {step:g}", "list the values, or take a whole step"
    found.append(Problem(path, f"{wrong} does not give whole numbers ({quantity.description}): {advice}"))
