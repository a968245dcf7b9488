"""What every entry refuses: parameters out of bounds, and those that break a rule of their model. One gate for plain and traced numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model, arrays
from tribosweep.kernels.models.arrays import is_traced
from tribosweep.kernels.models.model import Rule
from tribosweep.kernels.models.schemes import STEADY
from tribosweep.kernels.models.status import SENTENCES, Status


def refused(
    model: Model, params: Mapping[str, Any], scheme: str, window: str | None = None, without: Collection[Rule] = (), one: bool = False
) -> Any:
    """Status codes of the rows that bounds and rules exclude, 0 for the others, in the common shape; None if none is excluded.

    Args:
        model, params, scheme, window: see `tribosweep.simulate`; the parameters are checked by `check_given`.
        without: rules of the model that do not matter here. one: whether no row but a single one is meant, which must have a result.

    Raises:
        ValueError: a rule is broken by one oscillator whose numbers in this rule are plain; with `one`, also one with a plain number that
            is out of bounds or not finite.

    Codes are traced if numbers are on which they depend: such a row cannot raise. Whether a traced number is finite is left to the engine.
    """
    given = {name: arrays.asarray(value, float) for name, value in params.items()}
    with np.errstate(all="ignore"):
        resolved = model.resolve(given, xp=arrays)
        if window == STEADY:  # the end does not count
            resolved["end"] = resolved["window_end"] = 2.0 * np.pi / resolved["omega"]
        shape = common_shape(model, resolved)
        outside = _any_of(model, {name: model.parameter(name).out_of_bounds(value, arrays) for name, value in given.items()})
        strange = _any_of(model, {name: _strange(model, name, given) for name, value in given.items() if not is_traced(value)})
        first = _code(strange, outside, np.False_)
        broken: Any = np.False_
        for rule in model.rules:
            if rule in without:
                continue
            mask = rule.broken(resolved, scheme)
            if not shape and not is_traced(mask) and np.any(mask) and (is_traced(first) or not first):
                raise ValueError(_sentence(rule, model, resolved, scheme))
            broken = broken | mask
        codes = _code(strange, outside, broken)
    if is_traced(codes):
        return arrays.broadcast_to(codes, shape)
    if not np.any(codes):
        return None
    if one:
        raise ValueError(SENTENCES[int(codes)])
    return np.broadcast_to(codes, shape)


def common_shape(model: Model, values: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape that parameters have in common; the last axis of a table does not count."""
    shapes = {name: np.shape(value) for name, value in values.items()}
    return np.broadcast_shapes(*(shape[:-1] if name in model.tables else shape for name, shape in shapes.items()))


def _code(strange: Any, outside: Any, broken: Any) -> Any:
    """The first status that applies."""
    code = arrays.where(broken, int(Status.RULE_BROKEN), int(Status.OK))
    return arrays.where(strange, int(Status.NOT_FINITE), arrays.where(outside, int(Status.OUT_OF_BOUNDS), code))


def _any_of(model: Model, masks: Mapping[str, Any]) -> Any:
    """Mask of the rows in which one of the parameters' masks holds, a table's in any of its entries."""
    found: Any = np.False_
    for name, mask in masks.items():
        found = found | (arrays.any(mask, axis=-1) if name in model.tables else mask)
    return found


def _strange(model: Model, name: str, given: Mapping[str, Any]) -> Any:
    """Mask of the entries of a plain parameter that are not finite, unless that is its default: f_crit = inf N does not buckle."""
    value = given[name]
    if name in model.tables:
        return np.isinf(value)  # NaN pads them
    if np.isfinite(value).all():
        return np.False_
    # an excitation or a friction that nothing else asks for is absent: NaN
    default = model.resolve({other: each for other, each in given.items() if other != name}, xp=arrays).get(name, np.nan)
    absent = ~arrays.isfinite(default) & ((value == default) | (np.isnan(value) & arrays.isnan(default)))
    return ~np.isfinite(value) & ~absent


def _sentence(rule: Rule, model: Model, resolved: Mapping[str, Any], scheme: str) -> str:
    """What a rule says to one oscillator that breaks it."""
    one = {
        name: value if is_traced(value) or name in model.tables else float(value)
        for name, value in ((name, value if is_traced(value) else np.asarray(value, float)) for name, value in resolved.items())
    }
    return "; ".join(part for part in (rule.sentence, rule.advice(one, scheme)) if part)
