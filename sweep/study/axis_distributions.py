"""Reading an axis given as a distribution, as weighted values or as a table times a random factor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.design.axis import Axis, Continuous, Whole
from tribosweep.sweep.design.distributions import (
    CHOICE,
    DISTRIBUTIONS,
    INTEGERS,
    LAWS,
    LOG_NORMAL,
    LOG_UNIFORM,
    TRIANGULAR,
    TRUNCATED,
    UNIFORM,
    Drawn,
    Scaled,
    Weighted,
)
from tribosweep.sweep.design.sensitivity import SAMPLERS
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.io.errors import Problem, advise, shorten
from tribosweep.sweep.io.values import read_nodes, read_number
from tribosweep.sweep.study.axes import read_list
from tribosweep.sweep.study.capabilities import BOUNDARY
from tribosweep.sweep.study.draws import DRAWS

WEIGHT = Quantity("weight", "1", "weight of a value", lower=0.0)
FACTOR = Quantity("factor", "1", "what the table is multiplied by", lower=0.0, lower_open=True)


def read_distribution(quantity: Quantity, path: str, raw: dict[str, Any], sampled: bool, problems: list[Problem]) -> Axis | None:
    """Read an axis { distribution = ..., ... }; None and problems if it is wrong.

    Args:
        quantity: the parameter. path: key of the axis.
        raw: the entry. sampled: whether the design samples.
        problems: list to which problems are added.
    """
    found: list[Problem] = []
    word = raw.get("distribution", UNIFORM)
    if not sampled:
        designs = ", ".join(f'"{name}"' for name in (*SAMPLERS, DRAWS, SUBSET))
        able = f'{designs}, or "{BOUNDARY}" with an event'
        found.append(Problem(path, f"only a design that draws takes a distribution: design = one of {able}"))
    elif not isinstance(word, str) or word not in DISTRIBUTIONS:
        found.append(Problem(f"{path}.distribution", f"{shorten(word)} is no distribution; {advise(word, list(DISTRIBUTIONS))}"))
    elif word == CHOICE:
        axis = read_choice(quantity, path, raw, found)
        problems += found
        return axis
    elif quantity.kind == "word":
        message = f'a word is drawn from a list of words, such as {list(quantity.words)}, or by distribution = "{CHOICE}"'
        found.append(Problem(path, message))
    elif quantity.kind == "list":
        axis = read_scaled(quantity, path, raw, found)
        problems += found
        return axis
    elif quantity.kind == "integer" and word != INTEGERS:
        message = f'{word!r} does not give whole numbers ({quantity.description}): distribution = "{INTEGERS}" or "{CHOICE}"'
        found.append(Problem(f"{path}.distribution", message))
    else:
        axis = read_law(quantity, path, raw, str(word), found)
        problems += found
        return axis
    problems += found
    return None


def check_keys(path: str, raw: dict[str, Any], known: tuple[str, ...], optional: tuple[str, ...], word: str, found: list[Problem]) -> bool:
    """Check that a distribution has all keys that it needs and no unknown keys."""
    before = len(found)
    names = ", ".join(known)
    found += [Problem(f"{path}.{key}", f"missing: distribution {word!r} needs {names}") for key in known if key not in {*raw, *optional}]
    found += [
        Problem(f"{path}.{key}", f"unknown key of distribution {word!r}; {advise(str(key), known)}")
        for key in raw
        if key not in (*known, "distribution")
    ]
    return len(found) == before


def read_law(quantity: Quantity, path: str, raw: dict[str, Any], word: str, found: list[Problem]) -> Axis | None:
    """Read a distribution of numbers; check its keys, its parameters, and that all its values are within the parameter's bounds."""
    law = LAWS.get(word)
    keys, optional = (law.keys, law.optional) if law else (("from", "to"), ())
    if not check_keys(path, raw, keys, optional, word, found):
        return None
    given: dict[str, float] = {}
    before = len(found)
    for key in keys:
        meaning = spread(quantity) if key == "std" else without_bounds(quantity) if key in ("mean", "lower", "upper") else quantity
        if key in raw and (value := read_number(meaning, f"{path}.{key}", raw[key], found)) is not None:
            given[key] = value
    if len(found) == before:
        check_sense(path, word, given, found)
    if len(found) > before:
        return None
    if word == INTEGERS:
        return Whole(quantity.name, int(given["from"]), int(given["to"]))
    if word in (UNIFORM, LOG_UNIFORM):
        return Continuous(quantity.name, given["from"], given["to"], word == LOG_UNIFORM)
    axis = Drawn(quantity.name, word, tuple(given.items()))
    check_bounds(quantity, path, axis, found)
    return axis if len(found) == before else None


def spread(quantity: Quantity) -> Quantity:
    """A quantity that describes the standard deviation of another one."""
    return Quantity("std", quantity.unit, "standard deviation", lower=0.0, lower_open=True)


def without_bounds(quantity: Quantity) -> Quantity:
    """The quantity without its bounds."""
    return Quantity(quantity.name, quantity.unit, quantity.description)


def check_sense(path: str, word: str, at: dict[str, float], found: list[Problem]) -> None:
    """Check that the parameters of a distribution are consistent."""
    if word in (UNIFORM, LOG_UNIFORM, TRIANGULAR, INTEGERS):
        first, last = at["from"], at["to"]
        if word == INTEGERS and not (first.is_integer() and last.is_integer()):
            found.append(Problem(path, f"whole numbers go from one whole number to another: from = {first:g}, to = {last:g}"))
        if first >= last:
            found.append(Problem(path, f"from must be below to: from = {first:g}, to = {last:g}; a constant goes to [parameters]"))
        elif word == LOG_UNIFORM and first <= 0.0 <= last:
            found.append(Problem(path, f"a logarithm cannot touch or cross 0: from = {first:g}, to = {last:g}"))
        elif not math.isfinite(last - first):
            found.append(Problem(path, f"too wide to draw from: from = {first:g}, to = {last:g}"))
        elif word == TRIANGULAR and not first <= at["mode"] <= last:
            found.append(Problem(f"{path}.mode", f"{at['mode']:g} must lie between from = {first:g} and to = {last:g}"))
    elif word == LOG_NORMAL and at["mean"] <= 0.0:
        found.append(Problem(f"{path}.mean", f"{at['mean']:g}: the values of a log-normal distribution are positive, and so is their mean"))
    elif word == TRUNCATED:
        lower, upper = at.get("lower", -math.inf), at.get("upper", math.inf)
        if lower >= upper:
            found.append(Problem(path, f"lower must be below upper: lower = {lower:g}, upper = {upper:g}"))
        elif (lower - at["mean"]) / at["std"] > 30.0 or (at["mean"] - upper) / at["std"] > 30.0:
            far = f"mean = {at['mean']:g}, std = {at['std']:g}, lower = {lower:g}, upper = {upper:g}"
            found.append(Problem(path, f"the bounds lie more than 30 standard deviations from the mean: {far}"))


def check_bounds(quantity: Quantity, path: str, axis: Drawn, found: list[Problem]) -> None:
    """Check that all values of a distribution are admissible."""
    with np.errstate(all="ignore"):  # of a distribution too wide for floats
        least, most = (float(each) for each in axis.at(np.array([0.0, 1.0])))
    if not (math.isfinite(least) and math.isfinite(most)):
        found.append(Problem(path, f"too wide to draw from: {least:g} to {most:g}"))
        return
    if not np.any(quantity.out_of_bounds([least, most])):
        return
    u = np.linspace(0.0, 1.0, 100_001)
    share = float(np.mean(quantity.out_of_bounds(axis.at(u))))
    how_often = f"in one draw of {1.0 / share:,.0f}" if share > 1e-4 else "in fewer than one draw of 10,000"
    below = quantity.out_of_bounds(least)
    bound = f"lower = {quantity.lower:g}" if below else f"upper = {quantity.upper:g}"
    if below and quantity.lower_open:
        bound = f"a lower above {quantity.lower:g}"
    advice = f'distribution = "{TRUNCATED}" with {bound} stays within' if axis.law != LOG_NORMAL else "make std smaller"
    unit = f", unit {quantity.unit}" if quantity.unit else ""
    message = f"goes out of bounds {how_often}: must be {quantity.bounds} ({quantity.description}{unit}); {advice}"
    found.append(Problem(path, message))


def read_choice(quantity: Quantity, path: str, raw: dict[str, Any], found: list[Problem]) -> Axis | None:
    """Read a choice between several values, with equal or given weights."""
    if not check_keys(path, raw, ("values", "weights"), ("weights",), CHOICE, found):
        return None
    values = raw["values"]
    if not isinstance(values, list) or not values:
        found.append(Problem(f"{path}.values", f"must be a list of one value or more, not {shorten(values)}"))
        return None
    before = len(found)
    listed = read_list(quantity, f"{path}.values", values, found)
    weights = raw.get("weights")
    if weights is None:
        return listed
    if not isinstance(weights, list) or len(weights) != len(values):
        found.append(Problem(f"{path}.weights", f"must be a list of {len(values)} numbers, one for each value, not {shorten(weights)}"))
        return None
    chances: list[float] = []
    for position, weight in enumerate(weights):
        if (chance := read_number(WEIGHT, f"{path}.weights[{position}]", weight, found)) is not None:
            chances.append(chance)
    if len(found) == before and not 0.0 < math.fsum(chances) < math.inf:
        found.append(Problem(f"{path}.weights", "their sum must be positive and finite: nothing could be drawn"))
    return Weighted(listed, tuple(chances)) if listed is not None and len(found) == before else None


def read_scaled(quantity: Quantity, path: str, raw: dict[str, Any], found: list[Problem]) -> Axis | None:
    """Read a table times a random factor."""
    if "times" not in raw:
        example = '{ distribution = "uniform", from = 0.8, to = 1.2, times = [0.2, 0.1] }'
        message = f"a table is drawn from a list of tables, or is a table times a factor that is drawn: {example}"
        found.append(Problem(path, message))
        return None
    before = len(found)
    nodes = read_nodes(quantity, f"{path}.times", raw["times"], found)
    if len(found) == before and not nodes.size:
        found.append(Problem(f"{path}.times", "a table without nodes: there is nothing to multiply"))
    word = str(raw.get("distribution", UNIFORM))
    if word == INTEGERS:
        found.append(Problem(f"{path}.distribution", f"{word!r} is no distribution of a factor; a list of tables can be drawn from"))
        return None
    rest = {key: value for key, value in raw.items() if key not in ("times", "spacing")}
    if raw.get("spacing") == "log":
        word = LOG_UNIFORM
    factor = read_law(FACTOR, path, rest, word, found)
    if factor is None or len(found) > before or not isinstance(factor, Continuous | Drawn):
        return None
    renamed = (
        Continuous(quantity.name, factor.start, factor.stop, factor.logarithmic)
        if isinstance(factor, Continuous)
        else Drawn(quantity.name, factor.law, factor.numbers)
    )
    scaled = Scaled(renamed, tuple(nodes.tolist()))
    if np.any(quantity.out_of_bounds(scaled.at(np.array([0.0, 1.0])))):
        found.append(Problem(path, f"goes out of bounds: each node must be {quantity.bounds} ({quantity.description})"))
        return None
    return scaled
