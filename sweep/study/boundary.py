"""Reading [sweep] of a boundary study."""

from __future__ import annotations

import math
from typing import Any

from kernels.models import Model
from kernels.models.quantity import Quantity, by_name
from sweep.design.axis import Axis, Spaced
from sweep.design.boundary import Boundary
from sweep.io.errors import Problem, advise, shorten
from sweep.io.values import number_like
from sweep.study.schema import OBSERVABLES, Sweep

BOUNDARY = "boundary"
KEYS = ("observable", "level", "width", "halvings", "seeds")  # keys of [sweep] for this design
WIDTHS, HALVINGS = (1e-14, 0.1), (0, 20)  # least and largest value
MOST_NODES = 2**24  # of the smallest cells along an axis, so that neighbours differ by much more than rounding
MOST_POINTS = 131_072  # of the coarse grid
DEFAULT_WIDTH, DEFAULT_HALVINGS = 1e-6, 5
FORM = '{ from = 1.0, to = 10.0, count = 17, spacing = "linear" }'


def read_boundary(sweep: Sweep, axes: tuple[Axis, ...], model: Model, problems: list[Problem]) -> Boundary | None:
    """Parse [sweep] of a boundary study; None if its axes are invalid.

    Args:
        sweep: the section.
        axes: the valid axes of the section.
        model: the simulated model.
        problems: list to which problems are added.
    """
    observable = sweep.observable if sweep.observable is not None else default_observable(model)
    level = check_level(observable, sweep.level, model, problems)
    width = DEFAULT_WIDTH if sweep.width is None else read_width(sweep.width, problems)
    halvings = DEFAULT_HALVINGS if sweep.halvings is None else sweep.halvings
    if not HALVINGS[0] <= halvings <= HALVINGS[1]:
        message = f"{halvings} is out of bounds: must be >= {HALVINGS[0]} and <= {HALVINGS[1]} (of the coarse cells along the boundaries)"
        problems.append(Problem("sweep.halvings", message))
        halvings = DEFAULT_HALVINGS
    pair = check_axes(sweep, axes, model, halvings, problems)
    if pair is None:
        return None
    return Boundary(pair, observable, level, width, halvings, read_seeds(sweep.seeds, pair, model, problems))


def default_observable(model: Model) -> str:
    """The default observable: the first one that is a word."""
    return next(quantity.name for quantity in model.observables if quantity.kind == "word")


def check_level(observable: str, level: Any, model: Model, problems: list[Problem]) -> float | None:
    """The level of an observable; None and problems if a level is missing or does not apply."""
    known = by_name(model.observables)
    if observable not in known:
        advice = advise(observable, known, OBSERVABLES)
        problems.append(Problem("sweep.observable", f"{observable!r} is no observable of {model.name}; {advice}"))
        return None
    quantity = known[observable]
    if level is None:
        if quantity.kind == "float":
            message = (
                f"missing: {observable} is a number, whose boundary is where it passes a level{in_unit(quantity)}, such as level = 1.0"
            )
            problems.append(Problem("sweep.level", message))
        return None
    if quantity.kind == "word":
        problems.append(Problem("sweep.level", f"{observable} is a word ({', '.join(quantity.words)}): it has boundaries, and no level"))
        return None
    if not number_like(level) or not math.isfinite(level):
        problems.append(Problem("sweep.level", f"must be a finite number{in_unit(quantity)}, not {shorten(level)} (of {observable})"))
        return None
    return float(level)


def in_unit(quantity: Quantity) -> str:
    """The unit of a number, for a sentence."""
    return f" in {quantity.unit}" if quantity.unit not in ("", "1") else ""


def read_width(value: Any, problems: list[Problem]) -> float:
    """The final width of the brackets; the default and a problem if it is invalid."""
    least, most = WIDTHS
    meaning = "(width of the bracket of a boundary, relative to the parameter; smaller widths are lost in rounding)"
    if not number_like(value):
        problems.append(Problem("sweep.width", f"must be a number, not {shorten(value)} {meaning}"))
    elif not least <= value <= most:
        problems.append(Problem("sweep.width", f"{shorten(value)} is out of bounds: must be >= {least:g} and <= {most:g} {meaning}"))
    else:
        return float(value)
    return DEFAULT_WIDTH


def check_axes(sweep: Sweep, axes: tuple[Axis, ...], model: Model, halvings: int, problems: list[Problem]) -> tuple[Spaced, Spaced] | None:
    """Return the two axes; None and problems if there are not exactly two axes that can be halved."""
    names = list(sweep.axes or {})
    if len(names) != 2:
        there = f"not {len(names)} ({', '.join(names)})" if names else "none is given"
        problems.append(Problem("sweep.axes", f"boundaries are curves over two parameters: give two axes, {there}"))
    found = []
    for axis in axes:
        path, before = f"sweep.axes.{axis.name}", len(problems)
        quantity = by_name(model.parameters).get(axis.name)
        if quantity is None or quantity.kind != "float" or not isinstance(axis, Spaced):
            what = "a range of numbers that can be halved"
            problems.append(Problem(path, f"must be {what}, {FORM}: the cells between its values are divided"))
            continue
        if axis.count < 2:
            problems.append(Problem(f"{path}.count", f"{axis.count} is out of bounds: must be >= 2, the two ends of a cell"))
        elif (axis.count - 1) << halvings > MOST_NODES:
            message = f"{axis.count - 1} cells halved {halvings} times are {(axis.count - 1) << halvings:,}: must be <= {MOST_NODES:,}"
            problems.append(Problem("sweep.halvings", message))
        if axis.start == axis.stop or not math.isfinite(axis.stop - axis.start):
            problems.append(Problem(path, f"from = {axis.start:g} to {axis.stop:g} is no range that can be halved"))
        if len(problems) == before:
            found.append(axis)
    if len(names) != 2 or len(found) != 2:
        return None
    if found[0].count * found[1].count > MOST_POINTS:
        count = found[0].count * found[1].count
        message = f"{count:,} points: a coarse grid has at most {MOST_POINTS:,}; halvings make it finer where it matters"
        problems.append(Problem("sweep.axes", message))
    return found[0], found[1]


def read_seeds(raw: Any, axes: tuple[Spaced, Spaced], model: Model, problems: list[Problem]) -> tuple[tuple[float, float], ...]:
    """Read the valid seeds; add problems for the others."""
    names = f"[{axes[0].name}, {axes[1].name}]"
    if raw is None:
        return ()
    if not isinstance(raw, list) or not all(isinstance(seed, list) and len(seed) == 2 and all(map(number_like, seed)) for seed in raw):
        problems.append(Problem("sweep.seeds", f"must be a list of points {names}, such as [[1.0, 2.0]], not {shorten(raw)}"))
        return ()
    for position, seed in enumerate(raw):
        for axis, value in zip(axes, seed, strict=True):
            low, high = sorted((axis.start, axis.stop))
            if not low <= value <= high:
                unit = model.parameter(axis.name).unit_suffix
                message = f"{axis.name} = {shorten(value)}{unit} is outside its axis, {low:g} to {high:g}{unit}"
                problems.append(Problem(f"sweep.seeds[{position}]", message))
                return ()
    return tuple((float(first), float(second)) for first, second in raw)
