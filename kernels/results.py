"""What a call from Python returns: arrays by name, with their units, as a dict that JAX takes apart and puts together again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import jax
import numpy as np

from tribosweep.kernels.models.arguments import nearest
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.status import RESULTS, SENTENCES, Status

STATUS = Quantity("status", "", "ok, or what went wrong", kind="word", words=SENTENCES)
WORDED = 5  # failed rows that an error names


@jax.tree_util.register_pytree_with_keys_class
class Results(dict[str, Any]):
    """Arrays by name: a dict, whose entries are attributes too, and a pytree of JAX.

    So a function that returns it works under jit, vmap, grad (`has_aux`), jvp and `jax.tree.map`. `pandas.DataFrame(results.in_words())`
    is the same as a table.

    Attributes:
        quantities: what each entry is, with its unit.

    Examples:
        >>> found = simulate("rubbing_mass", {"a0": 15.0, "mu": [0.1, 2.0]})
        >>> found["wear_power"].shape, found.wear_power is found["wear_power"], found.units["wear_power"]
        ((2,), True, 'W')
        >>> found.in_words()["regime"].tolist()
        ['slip-slip', 'stick']
    """

    quantities: tuple[Quantity, ...]

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), quantities: Iterable[Quantity] = ()) -> None:
        """Keep the entries in the order of `quantities`, further ones behind them, and of `quantities` those that are there."""
        given = dict(values)
        self.quantities = tuple(quantity for quantity in quantities if quantity.name in given)
        super().__init__({quantity.name: given[quantity.name] for quantity in self.quantities} | given)

    def __getattr__(self, name: str) -> Any:
        """An entry by its name."""
        if name in self:
            return self[name]
        raise AttributeError(f"there is no {name!r}; {nearest(name, self)}there are {', '.join(self)}")

    def __missing__(self, name: object) -> Any:
        """The error of a name that is no entry."""
        raise KeyError(f"there is no {name!r}; {nearest(name, self)}there are {', '.join(self)}")

    def __dir__(self) -> list[str]:
        """The names of the entries and of the methods."""
        return [*(name for name in self if name.isidentifier()), *super().__dir__()]

    def __repr__(self) -> str:
        """One line for each entry: a number with its unit, a word, or the shape of an array."""
        words, units = self.in_words(), {name: f" {unit}" for name, unit in self.units.items() if unit != "1"}
        lines = [f"  {name:20} {_shown(words.get(name, value))}{units.get(name, '')}" for name, value in self.items()]
        return "\n".join(["<Results", *lines, ">"]) if lines else "<Results>"

    @property
    def units(self) -> dict[str, str]:
        """Name -> unit, "1" for numbers without one; words and counts are left out."""
        return {quantity.name: quantity.unit for quantity in self.quantities if quantity.unit}

    def in_words(self) -> dict[str, Any]:
        """The entries as numpy arrays, with words in place of codes; None stands for the code -1. A traced entry stays as it is."""
        words = {quantity.name: (*quantity.words, None) for quantity in self.quantities if quantity.kind == "word"}
        found: dict[str, Any] = {}
        for name, value in self.items():
            plain = value if isinstance(value, jax.core.Tracer) else np.asarray(value)
            coded = name in words and getattr(plain, "dtype", np.dtype(object)).kind == "i" and isinstance(plain, np.ndarray)
            found[name] = np.array(words[name], dtype=object)[plain] if coded else plain
        return found

    @property
    def failed(self) -> Any:
        """Mask of the rows without results, in the common shape. A status other than "ok" may also be a remark on a row with results."""
        return ~np.isin(np.asarray(self["status"]), [int(status) for status in RESULTS])

    def raise_failed(self) -> Self:
        """Return these results if every row has some.

        Raises:
            ValueError: rows failed; the message names the first of them and why.
            jax.errors.TracerArrayConversionError: they are traced, so that nobody knows yet.
        """
        failed, statuses = self.failed, np.asarray(self["status"])
        if not failed.any():
            return self
        rows = [tuple(int(place) for place in row) for row in np.argwhere(failed)[:WORDED]]
        told = "; ".join(f"{f'row {row if len(row) > 1 else row[0]}: ' if row else ''}{self._said(statuses, row)}" for row in rows)
        more = f"; and {failed.sum() - len(rows):,} more" if failed.sum() > len(rows) else ""
        raise ValueError(f"{failed.sum():,} of {failed.size:,} rows failed: {told}{more}" if failed.ndim else told)

    def _said(self, statuses: np.ndarray, row: tuple[int, ...]) -> str:
        """The status of a row in the words of a call from Python, with the time at which a run ended that has too many events."""
        said = SENTENCES[int(statuses[row])].replace("[time] ", "")
        if statuses[row] != Status.TOO_MANY_EVENTS or "time_reached" not in self:
            return said
        time = np.broadcast_to(np.asarray(self["time_reached"]), statuses.shape)[row]
        return said.replace("the time `time_reached`", f"t = {time:.4g} s")

    def tree_flatten_with_keys(self) -> tuple[list[tuple[Any, Any]], tuple[tuple[str, ...], tuple[Quantity, ...]]]:
        """The entries with their keys, and what is static: names and quantities."""
        return [(jax.tree_util.DictKey(name), value) for name, value in self.items()], (tuple(self), self.quantities)

    @classmethod
    def tree_unflatten(cls, static: tuple[tuple[str, ...], tuple[Quantity, ...]], values: Iterable[Any]) -> Self:
        """Put entries together again."""
        return cls(zip(static[0], values, strict=True), static[1])


def _shown(value: Any) -> str:
    """A number with 7 digits, a word, or the shape of an array."""
    if getattr(value, "ndim", 0) or isinstance(value, jax.core.Tracer):
        return f"{getattr(value, 'dtype', '')}{list(getattr(value, 'shape', []))}"
    plain = value.item() if hasattr(value, "item") else value
    return f"{plain:.7g}" if isinstance(plain, float) else str(plain)
