"""An axis of a design: the values that one parameter (or the scheme) takes, given as a list or as a range."""

from __future__ import annotations

from typing import Any

from kernels.models import Model
from kernels.quantity import Quantity
from sweep.design.axis import SCHEME, Axis
from sweep.io.errors import Problem, advise, shorten
from sweep.io.values import number_like
from sweep.study.axis_lists import read_list, read_schemes
from sweep.study.axis_ranges import forms, read_spacing
from sweep.study.schema import Time, of_another


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


def read_keyed(quantity: Quantity, path: str, raw: dict[str, Any], sampled: bool, problems: list[Problem]) -> Axis | None:
    """An axis given as a table of keys: a range, a distribution, or a table times a factor."""
    if "distribution" in raw or (quantity.kind == "list" and "times" in raw):
        from sweep.study.axis_distributions import read_distribution

        return read_distribution(quantity, path, raw, sampled, problems)
    return read_spacing(quantity, path, raw, sampled, problems)
