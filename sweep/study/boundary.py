"""Reading [sweep] of a boundary study."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.design.axis import Axis, Spaced
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.io.errors import ConfigError, Problem, advise, shorten
from tribosweep.sweep.io.values import number_like, read_number
from tribosweep.sweep.study.draws import read_draws
from tribosweep.sweep.study.event import Event, named_in, read_events
from tribosweep.sweep.study.grammar import unsaid
from tribosweep.sweep.study.schema import OBSERVABLES, Sweep

KEYS = (
    "observable",
    "level",
    "width",
    "halvings",
    "seeds",
    "event",
    "chance",
    "confidence",
    "count",
    "seed",
    "correlations",
)  # keys of [sweep] for this design
HALVINGS = (0, 20)  # least and largest value
MOST_NODES = 2**24  # of the smallest cells along an axis, so that neighbours differ by much more than rounding
MOST_POINTS = 131_072  # of the coarse grid
MOST_ROWS = 20_000_000  # of the coarse grid, with all draws
DEFAULT_WIDTH, DEFAULT_HALVINGS = 1e-6, 5
PROBABILITY_WIDTH, PROBABILITY_HALVINGS, CONFIDENCE = 1e-3, 3, 0.95  # of a probability, which has a larger sampling error
OF_PROBABILITIES = ("chance", "confidence", "count", "seed", "correlations")  # keys that belong to an event
FORM = '{ from = 1.0, to = 10.0, count = 17, spacing = "linear" }'


def read_boundary(
    sweep: Sweep, where: str, axes: tuple[Axis, ...], random: set[str], model: Model, problems: list[Problem]
) -> Boundary | None:
    """Parse [sweep] of a boundary study; None if its axes are invalid.

    Args:
        sweep: the section. where: its key.
        axes: the valid axes of the section. random: names of those that are drawn.
        model: the simulated model.
        problems: list to which problems are added.
    """
    if sweep.event is not None:
        return read_chance(sweep, where, sweep.event, axes, random, model, problems)
    problems += [
        Problem(f"{where}.{key}", 'belongs to a boundary with an event, such as event = "buckled"')
        for key in OF_PROBABILITIES
        if getattr(sweep, key) is not None
    ]
    observable = sweep.observable if sweep.observable is not None else default_observable(model)
    level = check_level(observable, sweep.level, model, problems)
    width = DEFAULT_WIDTH if sweep.width is None else sweep.width
    halvings = read_halvings(sweep, DEFAULT_HALVINGS, problems)
    pair = check_axes(sweep, axes, list(sweep.axes or {}), model, halvings, problems)
    if pair is None:
        return None
    return Boundary(pair, observable, level, width, halvings, read_seeds(sweep.seeds, pair, model, problems))


def read_chance(
    sweep: Sweep, where: str, text: str, axes: tuple[Axis, ...], random: set[str], model: Model, problems: list[Problem]
) -> Boundary | None:
    """Parse [sweep] of a boundary on which the probability of an event has a value; see `read_boundary`."""
    before = len(problems)
    event = read_event(text, model, problems)
    problems += [
        Problem(f"{where}.{key}", "an event names its observable and its limit: leave this out, or the event")
        for key in ("observable", "level")
        if getattr(sweep, key) is not None
    ]
    if sweep.chance is None and unsaid(f"{where}.chance", problems):
        problems.append(Problem(f"{where}.chance", "missing: probability of the event on the boundary, a number > 0 and < 1 such as 0.05"))
    confidence = CONFIDENCE if sweep.confidence is None else sweep.confidence
    width = PROBABILITY_WIDTH if sweep.width is None else sweep.width
    halvings = read_halvings(sweep, PROBABILITY_HALVINGS, problems)
    names = [name for name, raw in (sweep.axes or {}).items() if isinstance(raw, dict) and name not in random and "count" in raw]
    plane = tuple(axis for axis in axes if axis.name in names)
    pair = check_axes(sweep, plane, names, model, halvings, problems)
    rest = [name for name in sweep.axes or {} if name not in names]
    if not rest:
        message = (
            'the probability needs further axes over which it is taken: distributions, draw = { from = 0, to = 99, spacing = "integer" }'
        )
        problems.append(Problem(f"{where}.axes", message))
    over = read_draws(sweep, where, tuple(axis for axis in axes if axis.name in rest), random, problems)
    if pair is None or over is None or event is None or sweep.chance is None or len(problems) > before:
        return None
    points = over.count * pair[0].count * pair[1].count
    if points > MOST_ROWS:
        problems.append(Problem(f"{where}.count", f"{points:,} points of the coarse grid with all draws: must be <= {MOST_ROWS:,}"))
    seeds = read_seeds(sweep.seeds, pair, model, problems)
    return Boundary(pair, named_in(event)[0], None, width, halvings, seeds, text.strip(), sweep.chance, confidence, over)


def read_event(text: str, model: Model, problems: list[Problem]) -> Event | None:
    """Read an event; None and its problems if it is none."""
    try:
        return read_events("sweep.event", [text], model)[0]
    except ConfigError as error:
        problems += [Problem("sweep.event", problem.message) for problem in error.problems]
        return None


def read_halvings(sweep: Sweep, default: int, problems: list[Problem]) -> int:
    """How often coarse cells are halved; the default and a problem if it is out of bounds."""
    halvings = default if sweep.halvings is None else sweep.halvings
    if not HALVINGS[0] <= halvings <= HALVINGS[1]:
        message = f"{halvings} is out of bounds: must be >= {HALVINGS[0]} and <= {HALVINGS[1]} (of the coarse cells along the boundaries)"
        problems.append(Problem("sweep.halvings", message))
        return default
    return halvings


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
    described = replace(quantity, kind="float", lower=-math.inf, upper=math.inf, description=f"{observable}: {quantity.description}")
    return read_number(described, "sweep.level", level, problems)


def in_unit(quantity: Quantity) -> str:
    """The unit of a number, for a sentence."""
    return f" in {quantity.unit}" if quantity.unit not in ("", "1") else ""


def check_axes(
    sweep: Sweep, axes: tuple[Axis, ...], names: list[str], model: Model, halvings: int, problems: list[Problem]
) -> tuple[Spaced, Spaced] | None:
    """Return the two axes; None and problems if those of these names are not exactly two that can be halved."""
    if len(names) != 2:
        there = f"not {len(names)} ({', '.join(names)})" if names else "none is given"
        ranges = "two ranges with a count" if sweep.event is not None else "two axes"
        problems.append(Problem("sweep.axes", f"boundaries are curves over two parameters: give {ranges}, {there}"))
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
    if not isinstance(raw, list) or not all(isinstance(seed, list) and len(seed) == 2 for seed in raw):
        problems.append(Problem("sweep.seeds", f"must be a list of points {names}, such as [[1.0, 2.0]], not {shorten(raw)}"))
        return ()
    found = []
    for position, seed in enumerate(raw):
        point = []
        for axis, value in zip(axes, seed, strict=True):
            quantity = model.parameter(axis.name)
            low, high = sorted((axis.start, axis.stop))
            if (number := read_number(quantity, f"sweep.seeds[{position}]", value, problems)) is None:
                return ()
            if not low <= number <= high:
                unit = quantity.unit_suffix
                said = f"{axis.name} = {shorten(value)}{unit if number_like(value) else ''}"
                message = f"{said} is outside its axis, {low:g} to {high:g}{unit}"
                problems.append(Problem(f"sweep.seeds[{position}]", message))
                return ()
            point.append(number)
        found.append((point[0], point[1]))
    return tuple(found)
