"""Events whose probability is asked for: observables above, below or at a value, joined by `or`, `and` and `not`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.design.joined import Joined, Outcome, margin_of, outcome_of, singles, with_sign
from tribosweep.sweep.io.errors import ConfigError, Problem, advise, shorten
from tribosweep.sweep.study.comparison import Parts, limit_in, read_expression
from tribosweep.sweep.study.schema import OBSERVABLES

if TYPE_CHECKING:
    import pyarrow as pa

RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip
FORM = f"an observable, one of {' '.join(RELATIONS)}, and a value, or several joined by or, and, not: 'wear_power>1.0', wall_regime=plateau"

Single = TypeVar("Single")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What may happen in a row: `observable` `relation` `value`, such as buckling_time > 0.5 or wall_regime = plateau.

    A row in which the observable has no value, because nothing happened, counts as a row in which the event did not happen. One in which
    the value could not be computed (`Quantity.unknown`) counts as neither: probabilities leave it out, and their intervals hold both.

    Attributes:
        relation: one of RELATIONS. value: a number, or a word of the observable.
    """

    observable: str
    relation: str
    value: float | str

    def __str__(self) -> str:
        """The event in words: "buckling_time > 0.5"."""
        return f"{self.observable} {self.relation} {self.value if isinstance(self.value, str) else format(self.value, 'g')}"

    @property
    def ordered(self) -> bool:
        """Whether rows can be near to it: whether its observable passes a limit."""
        return isinstance(self.value, float) and self.relation != "="

    def outcome(self, quantity: Quantity, values: np.ndarray) -> Outcome:
        """Its outcome in the rows, given the (n,) values of its observable: numbers, or codes of words; NaN without one."""
        value = float(quantity.words.index(self.value)) if isinstance(self.value, str) else self.value
        missing = np.isnan(values)
        return Outcome(np.asarray(RELATIONS[self.relation](values, value) & ~missing), missing & quantity.unknown)

    def margins(self, quantity: Quantity, values: np.ndarray) -> np.ndarray:
        """(n,) how far rows are beyond its limit, in parts of it (of a limit of 0 in its unit); arguments as of `outcome`.

        At least 0 where it happened, -inf where the observable has no value, NaN where it is unknown whether it happened.
        """
        limit, (happened, unknown) = float(self.value), self.outcome(quantity, values)
        beyond = (1.0 if self.relation[0] == ">" else -1.0) * (values - limit) / (abs(limit) or 1.0)
        return np.where(unknown, np.nan, with_sign(np.where(np.isnan(values), -np.inf, beyond), happened))


Event: TypeAlias = Joined[Comparison] | Comparison
Values = Mapping[str, np.ndarray]  # (n,) values of observables, by their names: numbers, or codes of words; NaN without one


def named_in(event: Event) -> list[str]:
    """The names of the observables of an event, each once."""
    return list(dict.fromkeys(each.observable for each in singles(event)))


def subject_of(event: Event) -> tuple[str, str]:
    """Observable and measure under which tables show the probability of an event: "peak_force" and "P(> 5000)"; of a joined one itself."""
    return (str(event), "P") if isinstance(event, Joined) else (event.observable, f"P({str(event).removeprefix(event.observable).strip()})")


def outcome_in(event: Event, model: Model, values: Values) -> Outcome:
    """The outcome of an event of a model in rows."""
    known = by_name(model.observables)
    return outcome_of(event, lambda each: each.outcome(known[each.observable], values[each.observable]))


def margin_in(event: Event, model: Model, values: Values) -> np.ndarray | None:
    """(n,) margins of an event in rows, see `joined.margin_of`; None if it has a part that is no limit which rows pass."""
    if not all(each.ordered for each in singles(event)):
        return None
    known = by_name(model.observables)
    return margin_of(event, lambda each: each.margins(known[each.observable], values[each.observable]))


def values_in(event: Event, model: Model, table: pa.Table) -> dict[str, np.ndarray]:
    """The values of the observables of an event in the rows of a run."""
    known = by_name(model.observables)
    return {name: numbers_of(known[name], table.column(name)) for name in named_in(event)}


def numbers_of(quantity: Quantity, column: pa.ChunkedArray) -> np.ndarray:
    """(n,) float64 values of an observable in a column of a run: numbers, or codes of words; NaN without one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if quantity.words:
        column = pc.index_in(column.cast(pa.string()), pa.array(quantity.words))
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def share_interval(hits: Any, count: Any, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of Clopper and Pearson of the probability of an event that happened in `hits` of `count` independent rows, (n,).

    Numbers of rows may be broken: effective ones of rows that are not independent.
    """
    from scipy.special import betaincinv

    hits, count, tail = np.asarray(hits), np.asarray(count), 0.5 * (1.0 - level)
    low = betaincinv(np.where(hits > 0, hits, 1), count - hits + 1, tail)
    high = betaincinv(hits + 1, np.where(hits < count, count - hits, 1), 1.0 - tail)
    return np.where(hits > 0, low, 0.0), np.where(hits < count, high, 1.0)


def is_mark(quantity: Quantity) -> bool:
    """Whether a whole number only says yes or no."""
    return quantity.kind == "integer" and "1 if " in quantity.description


def read_events(option: str, texts: Sequence[str], model: Model) -> tuple[Event, ...]:
    """Parse texts such as "peak_force > 5 kN" and "wall_regime = plateau or buckled"; ConfigError, named after the option."""
    found, problems = [], list[Problem]()
    for text in texts:
        event = read_joined(text, model, "", FORM, compared, problems)
        found += [] if event is None else [event]
    if problems:
        raise ConfigError(option, problems)
    return tuple(found)


def read_joined(
    text: str, model: Model, path: str, form: str, leaf: Callable[[Parts, Quantity], Single], problems: list[Problem]
) -> Joined[Single] | Single | None:
    """Parse the text of an event, which may be joined of several.

    Args:
        text: as given. model: whose observables it may name. path: of the text, for problems. form: what a text must be, in words.
        leaf: turns a comparison and its quantity into a single event; ValueError says what is wrong.
        problems: list to which problems are added.

    Returns:
        The event, or None and problems.
    """
    known = {quantity.name: quantity for quantity in model.observables if quantity.kind != "list"}
    before = len(problems)

    def turned(part: Joined[Parts] | Parts) -> Joined[Single] | Single | None:
        if isinstance(part, Joined):
            inner = [turned(each) for each in part.parts]
            return Joined(part.word, tuple(each for each in inner if each is not None))
        quantity = known.get(part.observable)
        if quantity is None:
            problems.append(
                Problem(
                    path, f"{part.observable!r} is no observable of the model {model.name}; {advise(part.observable, known, OBSERVABLES)}"
                )
            )
            return None
        if not part.relation and not is_mark(quantity):
            problems.append(Problem(path, f"{text!r} must be {form}"))
            return None
        try:
            return leaf(part if part.relation else Parts(part.observable, "=", "1"), quantity)
        except ValueError as error:
            problems.append(Problem(path, str(error)))
            return None

    try:
        found = turned(read_expression(text))
    except ValueError as error:
        problems.append(Problem(path, f"{shorten(text)} must be {form}: {error}"))
        return None
    return found if len(problems) == before else None


def compared(parts: Parts, quantity: Quantity) -> Comparison:
    """A comparison of an observable with a number or a word; ValueError says what is wrong."""
    name, relation, value = parts
    if not quantity.words:
        try:
            return Comparison(name, relation, limit_in(value, quantity.unit))
        except ValueError as error:
            raise ValueError(f"{f'{name} {relation} {value}'!r}: {error}") from None
    if value not in quantity.words or relation != "=":
        raise ValueError(f"{f'{name} {relation} {value}'!r}: {name} is a word, written {name}=WORD; {advise(value, quantity.words)}")
    return Comparison(name, relation, value)
