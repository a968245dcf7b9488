"""An axis of a design: the values that one parameter (or the scheme) takes, given as a list or as a range."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.models import Model
from kernels.models.quantity import Quantity
from kernels.models.schemes import SCHEMES
from sweep.problems import Problem, advise, shorten
from sweep.sections import Range, Time, of_another, read_range
from sweep.sensitivity.distributions import Drawn, Scaled, Weighted
from sweep.units import in_unit

DEFAULT = "default"
SCHEME = "scheme"
SCHEME_NAMES = tuple(SCHEMES)
INTEGER = "integer"
SPACINGS = ("linear", "log", INTEGER)
FORMS = 'a list such as [1.0, 2.0] or { from = 1.0, to = 10.0, count = 10, spacing = "linear" }'
SAMPLED_FORMS = (
    'a list such as [1.0, 2.0] or { from = 1.0, to = 10.0, spacing = "linear" } or { distribution = "normal", mean = 2.0, std = 0.1 }'
)
TABLES = "a list of lists of numbers, one for each table, such as [[2.0, 3.0], [2.0, 3.0, 4.0]]"
SHOWN = 5
WRITTEN_NUMBERS = tuple("+-.0123456789")  # how a number begins, with or without a unit

Value = float | np.ndarray  # a number, the code of a word, or the (L,) nodes of a table


@dataclass(frozen=True, slots=True)
class Listed:
    """Values given one by one.

    Attributes:
        name: the parameter, or "scheme".
        values: (n,) float64 in the parameter's unit, NaN where absent; of a word the codes; of tables (n, L), each padded with NaN; of
            "scheme" the (n,) int8 positions in SCHEMES.
        absent: (n,) mask of the entries that take the documented default.
        quantity: the parameter; None for "scheme" and for plain numbers.
    """

    name: str
    values: np.ndarray
    absent: np.ndarray
    quantity: Quantity | None = None

    @property
    def count(self) -> int:
        """How many values."""
        return len(self.values)

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The values at `positions`, same shape; of tables with one axis more, the last."""
        return np.asarray(self.values[positions])

    def absent_at(self, positions: np.ndarray) -> np.ndarray | None:
        """Mask of the default entries at `positions`; None when the axis has none."""
        return np.asarray(self.absent[positions]) if self.absent.any() else None

    def to_document(self) -> list[Any]:
        """The axis as a file gives it."""
        if self.name == SCHEME:
            return [SCHEME_NAMES[code] for code in self.values]
        return [DEFAULT if absent else written(self.quantity, value) for value, absent in zip(self.values, self.absent, strict=True)]


@dataclass(frozen=True, slots=True)
class Spaced:
    """Evenly spaced values, computed where they are needed: an axis of any length costs no memory.

    Attributes:
        name: the parameter.
        start, stop: first and last value, in its unit; both are hit exactly.
        count: how many values, at least 1 (then `start`).
        logarithmic: evenly spaced logarithms instead of values.
    """

    name: str
    start: float
    stop: float
    count: int
    logarithmic: bool

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The values at `positions`, same shape, float64."""
        first, last = self.start, self.stop
        if self.logarithmic:
            first, last = math.log10(abs(first)), math.log10(abs(last))
        step = (last - first) / max(self.count - 1, 1)
        values = first + positions * step
        if self.logarithmic:
            values = math.copysign(1.0, self.start) * 10.0**values
        values = np.where(positions == self.count - 1, self.stop, values)
        return np.where(positions == 0, self.start, values)

    def absent_at(self, positions: np.ndarray) -> None:
        """A range has no default entries."""

    def to_document(self) -> dict[str, Any]:
        """The axis as a file gives it."""
        return {"from": self.start, "to": self.stop, "count": self.count, "spacing": "log" if self.logarithmic else "linear"}


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole numbers from `start` to `stop`, both included; computed where they are needed."""

    name: str
    start: int
    stop: int

    @property
    def count(self) -> int:
        """How many values."""
        return self.stop - self.start + 1

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The values at `positions`, same shape, float64."""
        return np.asarray(self.start + positions, dtype=np.float64)

    def absent_at(self, positions: np.ndarray) -> None:
        """A range has no default entries."""

    def to_document(self) -> dict[str, Any]:
        """The axis as a file gives it."""
        return {"from": float(self.start), "to": float(self.stop), "spacing": INTEGER}


@dataclass(frozen=True, slots=True)
class Continuous:
    """Every value between two: the axis of a design that samples.

    Attributes:
        name: the parameter.
        start, stop: the ends, in its unit; `stop` itself is not reached but by rounding.
        logarithmic: even in the logarithm instead of in the value.
    """

    name: str
    start: float
    stop: float
    logarithmic: bool

    def at(self, fractions: np.ndarray) -> np.ndarray:
        """The values at `fractions` of the way from `start` to `stop`, in [0, 1), same shape, float64."""
        first, last = self.start, self.stop
        if self.logarithmic:
            first, last = math.log10(abs(first)), math.log10(abs(last))
        values = first + fractions * (last - first)
        if self.logarithmic:
            values = math.copysign(1.0, self.start) * 10.0**values
        return np.clip(values, min(self.start, self.stop), max(self.start, self.stop))

    def absent_at(self, fractions: np.ndarray) -> None:
        """A range has no default entries."""

    def to_document(self) -> dict[str, Any]:
        """The axis as a file gives it."""
        return {"from": self.start, "to": self.stop, "spacing": "log" if self.logarithmic else "linear"}


Counted = Listed | Spaced | Whole
Axis = Counted | Continuous | Drawn | Weighted | Scaled


def number(quantity: Quantity, value: Any) -> float:
    """A value of the file as a float.

    Args:
        quantity: what it is a value of.
        value: what the file says, in the quantity's unit, or text with a unit of its own ("1 Hz").

    Raises:
        ValueError: not a number, not finite or out of bounds; the message says so with bound, meaning and unit.
    """
    meaning = f"({quantity.description}{f', unit {quantity.unit}' if quantity.unit else ''})"
    if isinstance(value, str) and quantity.unit and value.strip()[:1] in WRITTEN_NUMBERS:
        try:
            value = in_unit(value, quantity.unit)
        except ValueError as error:
            raise ValueError(f"{error} {meaning}") from None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"must be a number, not {shorten(value)} {meaning}")  # noqa: TRY004 - callers treat all three alike
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise ValueError(f"must be a finite number, not {shorten(value)} {meaning}")
    if quantity.out_of_bounds(result):
        raise ValueError(f"{shorten(value)} is out of bounds: must be {quantity.bounds} {meaning}")
    return result


def code_of(quantity: Quantity, value: Any) -> float:
    """The code of a word of the file; ValueError when it is none of the quantity's."""
    if not isinstance(value, str) or value not in quantity.words:
        raise ValueError(f"{shorten(value)} is not a word of it; {advise(str(value), quantity.words)} ({quantity.description})")
    return float(quantity.words.index(value))


def read_value(quantity: Quantity, path: str, value: Any, problems: list[Problem]) -> Value:
    """A value of the file as kernels take it; NaN or no nodes, and problems, where it is none.

    Args:
        quantity: what it is a value of.
        path: its key. value: what the file says.
        problems: where problems are added, those of a table node by node.
    """
    if quantity.kind == "list":
        return read_nodes(quantity, path, value, problems)
    try:
        return code_of(quantity, value) if quantity.kind == "word" else number(quantity, value)
    except ValueError as error:
        problems.append(Problem(path, str(error)))
    return math.nan


def read_nodes(quantity: Quantity, path: str, value: Any, problems: list[Problem]) -> np.ndarray:
    """The (L,) nodes of a table; none, and problems, where there are any."""
    if not isinstance(value, list):
        meaning = f"({quantity.description}, unit {quantity.unit})"
        problems.append(Problem(path, f"must be a list of numbers such as [2.0, 3.0], not {shorten(value)} {meaning}"))
        return np.empty(0)
    found: list[Problem] = []
    nodes = np.full(len(value), math.nan)
    for node, one in enumerate(value):
        try:
            nodes[node] = number(quantity, one)
        except ValueError as error:
            found.append(Problem(f"{path}[{node}]", f"node {node}: {error}"))
    return np.empty(0) if report(found, path, problems) else nodes


def padded(tables: Sequence[Any]) -> np.ndarray:
    """(n, L) float64 of n tables of any length, NaN behind the end of the shorter ones."""
    rows = np.full((len(tables), max(map(len, tables), default=0)), math.nan)
    for row, table in zip(rows, tables, strict=True):
        row[: len(table)] = table
    return rows


def written(quantity: Quantity | None, value: Any) -> Any:
    """A value as a file gives it: a float, a whole number, a word, a list of floats."""
    if quantity is not None and quantity.kind == "list":
        nodes = np.asarray(value, float)
        return nodes[~np.isnan(nodes)].tolist()
    if quantity is not None and quantity.kind == "word":
        return quantity.words[int(value)]
    return int(value) if quantity is not None and quantity.kind == "integer" else float(value)


def read_axis(model: Model, path: str, raw: Any, scheme: str, sampled: bool, problems: list[Problem]) -> Axis | None:
    """Check one entry of [sweep.axes].

    Args:
        model: the model whose parameters are swept.
        path: key of the entry, which ends in a parameter or in "scheme".
        raw: its value: a list, or a table of from, to, count, spacing.
        scheme: the scheme that the word "default" stands for.
        sampled: whether the design draws values from ranges, which have no count of their own then.
        problems: where problems are added.

    Returns:
        The axis, or None when it has problems.
    """
    name = path.rpartition(".axes.")[2]
    quantities = {quantity.name: quantity for quantity in model.parameters}
    if name not in quantities and name != SCHEME:
        problems.append(Problem(path, of_another(name, model) or f"unknown parameter; {advise(name, [*quantities, SCHEME])}"))
    elif isinstance(raw, list) and not raw:
        problems.append(Problem(path, "empty: an axis needs at least one value, or the design has 0 points"))
    elif isinstance(raw, list):
        return read_schemes(model, path, raw, scheme, problems) if name == SCHEME else read_list(quantities[name], path, raw, problems)
    elif name == SCHEME:
        problems.append(Problem(path, f"must be a list of words, such as {list(model.schemes)}, not {shorten(raw)}"))
    elif isinstance(raw, dict):
        return read_keyed(quantities[name], path, raw, sampled, problems)
    else:
        single = number_like(raw) or (isinstance(raw, str) and quantities[name].kind == "word")
        place = f"; a single value goes to [{'time' if name in Time.model_fields else 'parameters'}]" if single else ""
        problems.append(Problem(path, f"must be {forms(quantities[name], sampled)}, not {shorten(raw)}{place}"))
    return None


def forms(quantity: Quantity, sampled: bool) -> str:
    """How an axis of a parameter can be given, of a design that draws values from ranges or of another."""
    numbers_ = SAMPLED_FORMS if sampled else FORMS
    return {"list": TABLES, "word": f"a list of words, such as {list(quantity.words)}"}.get(quantity.kind, numbers_)


def number_like(value: Any) -> bool:
    """Whether `value` is a number, booleans apart."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


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


def read_keyed(quantity: Quantity, path: str, raw: dict[str, Any], sampled: bool, problems: list[Problem]) -> Axis | None:
    """An axis given as a table of keys: a range, a distribution, or a table times a factor."""
    if "distribution" in raw or (quantity.kind == "list" and "times" in raw):
        from sweep.sensitivity.reading import read_distribution

        return read_distribution(quantity, path, raw, sampled, problems)
    return read_spacing(quantity, path, raw, sampled, problems)


def read_spacing(quantity: Quantity, path: str, raw: dict[str, Any], sampled: bool, problems: list[Problem]) -> Axis | None:
    """An axis given as { from, to, count, spacing }; of whole numbers its values are whole, words and tables have none."""
    if quantity.kind in ("word", "list"):
        problems.append(Problem(path, f"must be {forms(quantity, sampled)}, not {shorten(raw)}"))
        return None
    found: list[Problem] = []
    counted = not sampled and raw.get("spacing") != INTEGER
    shape = read_range(path, raw, counted, found)
    ends: list[float] = []
    for key, value in (("from", shape.start), ("to", shape.stop)):
        if key in raw:
            try:
                ends.append(number(quantity, value))
            except ValueError as error:
                found.append(Problem(f"{path}.{key}", str(error)))
    if shape.spacing not in SPACINGS:
        found.append(Problem(f"{path}.spacing", f"{shape.spacing!r} is no spacing; {advise(shape.spacing, SPACINGS)}"))
    elif len(ends) == 2:
        check_ends(path, ends, shape.spacing, sampled, found)
    if counted and shape.count is not None and shape.count < 1:
        found.append(Problem(f"{path}.count", f"{shape.count} is out of bounds: must be >= 1, or the design has 0 points"))
    if not counted and shape.count is not None:
        why = (
            "sweep.count says how many points there are" if sampled else "they are as many as there are whole numbers from one to the other"
        )
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
    """Whether a range can go between its two ends in that spacing."""
    first, last = ends
    if spacing == "log" and not (first > 0.0 < last or first < 0.0 > last):
        found.append(Problem(path, f"a log axis cannot touch or cross 0: from = {first:g}, to = {last:g}"))
    elif spacing == INTEGER and not (first.is_integer() and last.is_integer() and first <= last and abs(first) + abs(last) < 2**53):
        found.append(Problem(path, f"an integer axis goes up from one whole number to another: from = {first!r}, to = {last!r}"))
    elif sampled and spacing != INTEGER and not math.isfinite(last - first):
        found.append(Problem(path, f"too wide to draw from: from = {first:g}, to = {last:g}"))


def check_whole(quantity: Quantity, path: str, ends: list[float], shape: Range, found: list[Problem]) -> None:
    """Whether a range between two whole numbers gives whole numbers only."""
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


def report(found: list[Problem], path: str, problems: list[Problem]) -> bool:
    """Add what was found to `problems`, no more than a screen can hold; whether there was anything."""
    problems += found[:SHOWN]
    if len(found) > SHOWN:
        problems.append(Problem(path, f"and {len(found) - SHOWN} more values like these"))
    return bool(found)
