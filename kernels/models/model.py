"""What a model is: its parameters, derived defaults, rules between parameters, and observables. Nothing here imports JAX."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tribosweep.kernels.models import arrays
from tribosweep.kernels.models.contacts import WallContact
from tribosweep.kernels.models.features import DRIVEN, FEATURES, LINEAR, VARIED, varied
from tribosweep.kernels.models.quantity import Quantity, Values, by_name
from tribosweep.kernels.models.schemes import EXACT, SCHEMES, STEADY


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition that ties several parameters together.

    Attributes:
        parameters: the names of these parameters; an error message points to the first.
        sentence: what must hold, for messages and documents.
        broken: (resolved parameters, scheme) -> mask of the rows that break it, any broadcast shape.
        advice: (resolved parameters of ONE row as floats, scheme) -> what to do about that row; may be empty.
        margin: (resolved parameters, scheme) -> margin of each row; the advice is for the row with the smallest.
    """

    parameters: tuple[str, ...]
    sentence: str
    broken: Callable[[Values, str], Any]
    advice: Callable[[Values, str], str] = lambda _values, _scheme: ""
    margin: Callable[[Values, str], Any] = lambda _values, _scheme: 0.0


def beyond(value: Any, bound: Any) -> Any:
    """Mask of the rows where a value exceeds a positive one by more than the rounding of units, in which equal ones may be given."""
    return arrays.asarray(value) > arrays.asarray(bound) * (1.0 + 1e-12)


@dataclass(frozen=True, slots=True)
class Model:
    """A family of oscillators.

    Attributes:
        name, description: how a study names it and what it is.
        parameters: every float parameter, the time quantities included.
        observables: every column that a run may return, in order (`returns`).
        schemes: names of the schemes that can run it.
        penalty: the parameters of the penalised contact, which runs with rigid friction do not read.
        implied: the parameters that no program reads: those that only give defaults of others, and those of `models.wear_laws`.
        steady: whether a run to its steady motion is possible.
        derive: (values with every underived parameter, array module) -> the same with derived defaults filled in.
        rules: conditions between parameters.
        walls: the walls that the mass may hit. Friction on a support is part of every model.
        structure: the `structures.Structure` of which it is the model; None of an oscillator with one coordinate.
        fallbacks: the parameters whose default depends on the reader; `derive` takes a NaN of theirs for one that is left out.
    """

    name: str
    description: str
    parameters: tuple[Quantity, ...]
    observables: tuple[Quantity, ...]
    schemes: tuple[str, ...]
    penalty: tuple[str, ...]
    implied: tuple[str, ...]
    steady: bool
    derive: Callable[[Values, Any], dict[str, Any]]
    rules: tuple[Rule, ...]
    walls: tuple[WallContact, ...] = ()
    structure: Any = None
    fallbacks: tuple[str, ...] = ()

    def parameter(self, name: str) -> Quantity:
        """The parameter of that name; KeyError when the model has none."""
        return by_name(self.parameters)[name]

    def returns(self, window: str | None, given: Collection[str] = ()) -> tuple[Quantity, ...]:
        """The observables of a run to its steady motion (`window` is "steady"), or over a given window (`window` is None).

        An observable with `needs` is returned only if all of them are in `given`: names of parameters, and of outputs (`Asked.names`).
        """
        every = (q for q in self.observables if window == STEADY or not q.steady)
        return tuple(q for q in every if all(any(one in given for one in names.split("|")) for names in q.needs))

    @property
    def main(self) -> str:
        """The observable that is shown if none is named: the first float."""
        return next(quantity.name for quantity in self.observables if quantity.kind == "float")

    @property
    def tables(self) -> set[str]:
        """The parameters that are tables: their last axis counts nodes."""
        return {quantity.name for quantity in self.parameters if quantity.kind == "list"}

    def unread(self, scheme: str, values: Values | None = None) -> set[str]:
        """The parameters that no program of a scheme reads. With `values`, only programs for these resolved parameters are meant."""
        steps = {name for other in SCHEMES.values() for name in other.reads if name not in SCHEMES[scheme].reads}
        idle = {name for name in VARIED if scheme == EXACT and name not in LINEAR}
        idle |= set() if values is None else {name for name, rows in varied(values).items() if not rows.any()}
        return {*self.implied, *steps, *(name for switch in idle for name in VARIED[switch])}

    def resolve(self, values: Values, absent: Mapping[str, np.ndarray] | None = None, xp: Any = np) -> dict[str, Any]:
        """Fill in every omitted parameter.

        Args:
            values: name -> float or array (SI units, shapes that broadcast together; a table has one axis more, the last); an omitted name
                takes its default.
            absent: name -> mask of the rows of `values[name]` that are omitted (numpy only).
            xp: array module that the derived defaults are computed with, numpy or jax.numpy (then differentiable).

        Returns:
            name -> value for every parameter of the model, in the order of `parameters`, without those of an excitation (`DRIVEN`) or a
            friction or link (`VARIED`) that is not given. An absent `k_t` or `m_2` is inf (rigid); an absent `k_post`, `record` or
            `stribeck_speed` is NaN. Tables whose names begin with the same word have the same width.

        Raises:
            KeyError: a name that is not a parameter of the model.
        """
        known = by_name(self.parameters)
        for name in values:
            if name not in known:
                raise KeyError(f"{self.name} has no parameter {name!r}; it has {', '.join(known)}")
        pending = {name: mask for name, mask in (absent or {}).items() if name in values}
        fixed = [quantity for quantity in self.parameters if quantity.default is not None]
        defaults = {q.name: xp.asarray(q.default, float) if q.kind == "list" else q.default for q in fixed}
        given = defaults | {name: value for name, value in values.items() if name not in pending}
        for name in (q.name for q in self.parameters if q.name in pending):  # a default derives from names before it
            value, mask = values[name], pending[name]
            if name in self.fallbacks:
                given[name] = np.where(mask, np.nan, value)
                continue
            default = self.derive({key: value for key, value in given.items() if key != name or name in defaults}, xp)[name]
            if name in self.tables:
                (default, value), mask = _of_one_width([default, value], np), mask[:, None]
            given[name] = np.where(mask, default, value)
        filled = self.derive(given, xp)
        tables = [q.name for q in self.parameters if q.kind == "list"]
        for _, family in itertools.groupby(sorted(tables), lambda name: name.split("_")[0]):
            names = list(family)
            filled |= zip(names, _of_one_width([filled[name] for name in names], xp), strict=True)
        parts = [*(FEATURES[feature] for feature in DRIVEN), *VARIED.values()]
        left_out = {name for names in parts if not any(name in values for name in names) for name in names}
        return {q.name: filled[q.name] for q in self.parameters if q.name not in left_out}


def _of_one_width(tables: Sequence[Any], xp: Any) -> list[Any]:
    """Tables (..., L) padded with NaN to the same L."""
    arrays = [xp.asarray(table, float) for table in tables]
    width = max((array.shape[-1] for array in arrays), default=0)
    return [
        array
        if array.shape[-1] == width
        else xp.pad(array, [*[(0, 0)] * (array.ndim - 1), (0, width - array.shape[-1])], constant_values=np.nan)
        for array in arrays
    ]
