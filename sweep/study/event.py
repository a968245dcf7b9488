"""An event whose chance is asked for: an observable above, below or at a value."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.models import Model
from kernels.models.quantity import Quantity, by_name
from sweep.io.errors import ConfigError, Problem, advise
from sweep.study.comparison import limit_in, parts_of
from sweep.study.schema import OBSERVABLES

if TYPE_CHECKING:
    import pyarrow as pa

RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """What may happen in a row: `observable` `relation` `value`, such as buckling_time > 0.5 or wall_regime = plateau.

    A row in which the observable has no value, because nothing happened, counts as a row in which the event did not happen. One in which
    the value could not be computed (`Quantity.unknown`) counts as neither: chances leave it out, and their intervals hold both outcomes.

    Attributes:
        relation: one of RELATIONS. value: a number, or a word of the observable.
    """

    observable: str
    relation: str
    value: float | str

    @property
    def measure(self) -> str:
        """Its chance as the name of a measure: "P(> 1)"."""
        return f"P({self.relation} {self.value if isinstance(self.value, str) else format(self.value, 'g')})"

    def __str__(self) -> str:
        """The event in words: "buckling_time > 0.5"."""
        return f"{self.observable} {self.measure[2:-1]}"

    def values_in(self, model: Model, column: pa.ChunkedArray) -> np.ndarray:
        """(n,) float64 values of its observable in a column of a run: numbers, or codes of words; NaN without one."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if words := by_name(model.observables)[self.observable].words:
            column = pc.index_in(column.cast(pa.string()), pa.array(words))
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)

    def happens(self, quantity: Quantity, values: np.ndarray) -> np.ndarray:
        """(n,) mask of the rows in which it happened, of the (n,) values of its observable: numbers, or codes of words; NaN without one."""
        value = float(quantity.words.index(self.value)) if isinstance(self.value, str) else self.value
        return np.asarray(RELATIONS[self.relation](values, value) & ~np.isnan(values))

    @staticmethod
    def unknown(quantity: Quantity, values: np.ndarray) -> np.ndarray:
        """(n,) mask of the rows of which it is not known whether it happened; arguments as of `happens`."""
        return np.asarray(np.isnan(values) & quantity.unknown)


def share_interval(hits: Any, count: Any, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of Clopper and Pearson of the chance of an event that happened in `hits` of `count` independent rows, (n,).

    Numbers of rows may be broken: effective ones of rows that are not independent.
    """
    from scipy.special import betaincinv

    hits, count, tail = np.asarray(hits), np.asarray(count), 0.5 * (1.0 - level)
    low = betaincinv(np.where(hits > 0, hits, 1), count - hits + 1, tail)
    high = betaincinv(hits + 1, np.where(hits < count, count - hits, 1), 1.0 - tail)
    return np.where(hits > 0, low, 0.0), np.where(hits < count, high, 1.0)


def read_events(option: str, texts: Sequence[str], model: Model) -> tuple[Event, ...]:
    """Parse texts such as "wear_power > 1.0", "peak_force > 5 kN", "wall_regime = plateau"; ConfigError, named after the option."""
    known = {quantity.name: quantity for quantity in model.observables if quantity.kind != "list"}
    found, problems = [], []
    for text in texts:
        parts = parts_of(text)
        if parts is None:
            message = f"{text!r} must be an observable, one of {' '.join(RELATIONS)}, and a value: 'wear_power>1.0', wall_regime=plateau"
            problems.append(Problem("", message))
            continue
        name, relation, value = parts
        if name not in known:
            problems.append(Problem("", f"{name!r} is no observable of the model {model.name}; {advise(name, known, OBSERVABLES)}"))
        elif (words := by_name(model.observables)[name].words) and (value not in words or relation != "="):
            problems.append(Problem("", f"{text!r}: {name} is a word, written {name}=WORD; {advise(value, words)}"))
        elif words:
            found.append(Event(name, relation, value))
        else:
            try:
                found.append(Event(name, relation, limit_in(value, known[name].unit)))
            except ValueError as error:
                problems.append(Problem("", f"{text!r}: {error}"))
    if problems:
        raise ConfigError(option, problems)
    return tuple(found)
