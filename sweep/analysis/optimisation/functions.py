"""Objectives and constraints: what a text such as "quantile 0.95 of peak_force <= 5 kN" says, and its value from the rows of a point."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.io.errors import ConfigError, advise
from tribosweep.sweep.io.text import exactly
from tribosweep.sweep.study.comparison import limit_in
from tribosweep.sweep.study.event import RELATIONS, Comparison, Event, Values, named_in, outcome_in, read_events
from tribosweep.sweep.study.schema import OBSERVABLES

VALUE, MEAN, QUANTILE, WORST, CHANCE = "value", "mean", "quantile", "worst", "chance"
FORMS = (
    "an observable, 'mean of OBSERVABLE', 'quantile 0.95 of OBSERVABLE', 'worst of OBSERVABLE' or 'chance of EVENT', such as "
    "'chance of peak_force > 5 kN'"
)
MOST_ROWS = 64  # of a worst case: so many of its largest rows are functions of their own, with derivatives that do not jump
# of texts with single spaces
_CONSTRAINT = re.compile(r"(?P<left>.+?) ?(?P<relation><=|>=|<|>|=) ?(?P<limit>[^<>=]++)")
_MEASURE = re.compile(r"(?:(?P<kind>mean|worst|quantile (?P<level>\S++)) of )?(?P<name>\S++)")


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that the rows of a point give.

    Attributes:
        kind: VALUE of the only row, MEAN, QUANTILE, WORST (largest or smallest) or CHANCE over the rows.
        quantity: the observable, of a probability the first one of its event. level: of a quantile. event: of a probability.
        model: that simulates the rows.
    """

    kind: str
    quantity: Quantity
    level: float = math.nan
    event: Event | None = None
    model: Model | None = field(default=None, repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the observables that it needs."""
        return (self.quantity.name,) if self.event is None else tuple(named_in(self.event))

    @property
    def unit(self) -> str:
        """Its unit."""
        return "1" if self.kind == CHANCE else self.quantity.unit

    @property
    def unit_suffix(self) -> str:
        """The unit as written after a number."""
        return "" if self.kind == CHANCE else self.quantity.unit_suffix

    @property
    def counts(self) -> bool:
        """Whether it takes steps, so that its derivative is 0 where it has one."""
        return self.kind == CHANCE or self.quantity.kind != "float"

    def __str__(self) -> str:
        """The measure as a study states it."""
        if self.event is not None:
            numeric = isinstance(self.event, Comparison) and not isinstance(self.event.value, str)
            suffix = self.quantity.unit_suffix if numeric else ""
            return f"chance of {self.event}{suffix}"
        head = {VALUE: "", MEAN: "mean of ", WORST: "worst of ", QUANTILE: f"quantile {exactly(self.level)} of "}[self.kind]
        return f"{head}{self.quantity.name}"

    def values(self, observed: Values, largest: bool) -> np.ndarray:
        """Its values (...) from the rows (..., rows) of each observable; `largest`: whether the worst row is the largest one.

        NaN if a row has no value, and for a probability if it is unknown of a row whether the event happened.
        """
        if self.event is not None and self.model is not None:
            happened, unknown = outcome_in(self.event, self.model, observed)
            return np.where(unknown.any(axis=-1), np.nan, happened.mean(axis=-1))
        rows = observed[self.quantity.name]
        if self.kind == MEAN:
            return np.asarray(rows.mean(axis=-1))
        if self.kind == WORST:
            return np.asarray(rows.max(axis=-1) if largest else rows.min(axis=-1))
        return np.asarray(rows[..., 0] if self.kind == VALUE else np.quantile(rows, self.level, axis=-1))

    def smooth(self, observed: Values, slopes: np.ndarray, largest: bool) -> tuple[np.ndarray, np.ndarray]:
        """The functions whose maximum (or minimum, unless `largest`) it is, and their derivatives, for one point.

        A quantile is interpolated linearly between two rows, and so are its derivatives.

        Args:
            observed: (rows,) of each observable. slopes: (rows, n) of `quantity`.

        Returns:
            (k,) and (k, n): k = 1, or for the worst case up to MOST_ROWS rows, the worst first.
        """
        if self.counts:
            return self.values(observed, largest)[np.newaxis], np.zeros((1, slopes.shape[-1]))
        rows = observed[self.quantity.name]
        if self.kind == VALUE:
            return rows[:1], slopes[:1]
        if self.kind == MEAN:
            return rows.mean(axis=0, keepdims=True), slopes.mean(axis=0, keepdims=True)
        order = np.argsort(rows, kind="stable")
        if self.kind == WORST:
            chosen = (order[::-1] if largest else order)[:MOST_ROWS]
            return rows[chosen], slopes[chosen]
        place = self.level * (len(rows) - 1)
        below = min(int(place), len(rows) - 2)
        weight = place - below
        ends = order[below : below + 2]
        parts = np.array([1.0 - weight, weight])
        return parts @ rows[ends][:, np.newaxis], (parts @ slopes[ends])[np.newaxis]


@dataclass(frozen=True, slots=True)
class Objective:
    """What is made as small as possible, or as large as possible.

    Attributes:
        measure: of the rows of a point. maximise: whether large is good.
    """

    measure: Measure
    maximise: bool = False

    @property
    def sign(self) -> float:
        """Factor that makes small good."""
        return -1.0 if self.maximise else 1.0

    @property
    def verb(self) -> str:
        """The key of the study: minimise or maximise."""
        return "maximise" if self.maximise else "minimise"

    def __str__(self) -> str:
        """The measure as a study states it."""
        return str(self.measure)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A limit that a point must keep.

    Attributes:
        measure: of the rows of a point. upper: whether it must be at most, or at least, `limit`, in its unit.
    """

    measure: Measure
    upper: bool
    limit: float

    @property
    def sign(self) -> float:
        """Factor that makes small good."""
        return 1.0 if self.upper else -1.0

    @property
    def relation(self) -> str:
        """Between measure and limit."""
        return "<=" if self.upper else ">="

    def __str__(self) -> str:
        """The constraint as a study states it, in SI units."""
        return f"{self.measure} {self.relation} {exactly(self.limit)}{self.measure.unit_suffix}"


def read_measure(text: str, model: Model, rows: int, default: str) -> Measure:
    """Parse a measure; ValueError says what is wrong.

    Args:
        text: as given. model: of the study. rows: number of rows of a point. default: kind of a bare observable where there are several.
    """
    if text.split()[:1] == [CHANCE]:
        event = read_event(text.split(" of ", 1)[1] if " of " in text else "", model)
        return Measure(CHANCE, by_name(model.observables)[named_in(event)[0]], event=event, model=model)
    parts = _MEASURE.fullmatch(" ".join(text.split()))
    if parts is None:
        raise ValueError(f"{text!r} must be {FORMS}")
    quantity = read_observable(parts["name"], model)
    kind = (parts["kind"] or "").split()[:1]
    if not kind:
        if rows > 1 and not default:
            raise ValueError(
                f"each point has {rows:,} rows, those of [sweep]: say 'mean of {quantity.name}', 'quantile 0.95 of {quantity.name}' or "
                f"'worst of {quantity.name}'"
            )
        return Measure(default if rows > 1 else VALUE, quantity)
    if rows == 1:
        raise ValueError(f"{text!r}: each point has one row, so that there is nothing to take over: [sweep] says which cases or draws")
    if kind[0] == QUANTILE:
        try:
            level = float(parts["level"])
        except ValueError:
            level = math.nan
        if not 0.0 < level < 1.0:
            raise ValueError(f"{text!r}: the level of a quantile must be > 0 and < 1, not {parts['level']!r}")
        return Measure(QUANTILE, quantity, level)
    return Measure(kind[0], quantity)


def read_observable(name: str, model: Model) -> Quantity:
    """The observable of a name that can be compared with numbers; ValueError if there is none."""
    known = {quantity.name: quantity for quantity in model.observables if quantity.kind != "list"}
    if name not in known:
        raise ValueError(f"{name!r} is no observable of the model {model.name}; {advise(name, known, OBSERVABLES)}")
    if known[name].words:
        raise ValueError(f"{name} is a word: take the probability of it, such as 'chance of {name} = {known[name].words[0]}'")
    return known[name]


def read_event(text: str, model: Model) -> Event:
    """Parse the event of a probability; ValueError if it is none."""
    if not text.strip():
        raise ValueError("a probability is that of an event: 'chance of peak_force > 5 kN'")
    try:
        (event,) = read_events("", [text], model)
    except ConfigError as error:
        raise ValueError(error.problems[0].message) from None
    return event


def read_constraint(text: str, model: Model, rows: int) -> Constraint:
    """Parse a constraint; a bare observable must keep its limit in all rows. ValueError says what is wrong."""
    parts = _CONSTRAINT.fullmatch(" ".join(text.split()))
    chance = text.split()[:1] == [CHANCE]
    form = "'chance of peak_force > 5 kN <= 0.05'" if chance else "'peak_force <= 5 kN'"
    unread = ValueError(f"{text!r} must be a measure, <= or >=, and a limit, such as {form}")
    if parts is None:
        raise unread
    if parts["relation"] == "=":
        raise ValueError(f"{text!r}: a constraint is <= or >=; what must equal a number is a parameter of [parameters]")
    upper = parts["relation"].startswith("<")
    try:
        measure = read_measure(parts["left"], model, rows, WORST)
    except ValueError as error:
        lone = chance and not any(relation in parts["left"] for relation in RELATIONS)  # the relation belongs to the event
        raise (unread if lone else error) from None
    try:
        limit = limit_in(parts["limit"], measure.unit)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    if measure.kind == CHANCE:
        if not 0.0 <= limit <= 1.0:
            raise ValueError(f"{text!r}: a probability is from 0 to 1, not {limit:g}")
        return as_quantile(measure, upper, limit, rows)
    return Constraint(measure, upper, limit)


def as_quantile(measure: Measure, upper: bool, limit: float, rows: int) -> Constraint:
    """A limit of the probability of "observable above (below) a number", as the order statistic that must keep that number.

    At most k of the rows exceed a number if and only if the largest but k does not. The order statistic has a derivative, and the
    probability has none. (A tie, where rows equal the number, has the probability 0.)
    """
    event = measure.event
    quantity = measure.quantity
    may_be_void = quantity.optional and not quantity.unknown  # a row without a value is then one without the event
    if not (isinstance(event, Comparison) and event.ordered and quantity.kind == "float" and upper and rows > 1) or may_be_void:
        return Constraint(measure, upper, limit)
    most = math.floor(limit * rows + 1e-9)
    above = event.relation.startswith(">")
    if most >= rows:
        return Constraint(measure, upper, limit)
    level = (rows - 1 - most) / (rows - 1) if above else most / (rows - 1)
    kind = WORST if most == 0 else QUANTILE
    return Constraint(Measure(kind, measure.quantity, level), above, float(event.value))
