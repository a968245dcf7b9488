"""The design "convergence": what is refined with which scheme, how [sweep] asks for it, and the points of a level.

A scheme of given steps is refined by halving them, with the bounds of those that it chooses. A scheme that chooses its steps by a
tolerance is refined by dividing that by ten: its steps go with a root of the tolerance (the third of rk32, the fifth of rk54), so that half
of it would change them by a fifth or less, and two successive values would agree because they are nearly the same computation, not because
they are right. Its smallest step is divided as well, for where a force jumps the error is that of the step across, whatever the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernels.models import Model
from kernels.models.schemes import SCHEMES
from sweep.axes import SCHEME, SCHEME_NAMES, Counted
from sweep.blocks import Points
from sweep.design import Convergence, Grid
from sweep.problems import Problem, advise
from sweep.rules import by_scheme, take
from sweep.sections import Sweep

if TYPE_CHECKING:
    from sweep.config import Config

CONVERGENCE = "convergence"
KEYS = ("observable", "digits", "halvings")  # of [sweep], for this design alone
STEP, LARGEST_STEP, SMALLEST_STEP, TOLERANCE = "step", "largest_step", "smallest_step", "tolerance"
DIGITS, HALVINGS = (1, 12), (2, 30)  # least and most
MOST_POINTS = 131_072  # a level is one shard
DEFAULT_DIGITS, DEFAULT_HALVINGS = 5, 12


def refined_by(scheme: str) -> tuple[str, ...]:
    """The parameters that are divided from level to level where `scheme` computes; none where it has neither step nor tolerance.

    The first is the one that its accuracy depends on, which tables and pictures show.
    """
    reads = SCHEMES[scheme].reads
    names = (TOLERANCE, SMALLEST_STEP) if TOLERANCE in reads else (LARGEST_STEP, STEP, SMALLEST_STEP)
    return tuple(name for name in names if name in reads)


def divisor_of(scheme: str) -> float:
    """What they are divided by."""
    return 10.0 if TOLERANCE in refined_by(scheme) else 2.0


def read_convergence(sweep: Sweep, axes: tuple[Counted, ...], model: Model, scheme: str, problems: list[Problem]) -> Convergence:
    """Check what [sweep] says of a convergence study, adding to `problems`.

    Args:
        sweep: the section.
        axes: those of its axes that are sound.
        model: what is simulated. scheme: how, where the scheme is not swept.
        problems: where problems are added.
    """
    grid = Grid(axes)
    schemes = check_schemes(sweep, axes, model, scheme, problems)
    refined = tuple(q.name for q in model.parameters if any(q.name in refined_by(word) for word in schemes))
    for axis in axes:
        if axis.name in refined:
            message = f"is what this study refines, so it is no axis: time.{axis.name} says where it starts"
            problems.append(Problem(f"sweep.axes.{axis.name}", message))
    if grid.count > MOST_POINTS:
        problems.append(Problem("sweep.axes", f"{grid.count:.7g} points: a convergence study has at most {MOST_POINTS}"))
    observable = sweep.observable if sweep.observable is not None else model.main
    check_observable(observable, model, problems)
    digits = DEFAULT_DIGITS if sweep.digits is None else sweep.digits
    halvings = DEFAULT_HALVINGS if sweep.halvings is None else sweep.halvings
    agreement, number = "significant digits to which successive results agree", "refinements at most; it takes two to observe an order"
    for key, value, bounds, what in (("digits", digits, DIGITS, agreement), ("halvings", halvings, HALVINGS, number)):
        if not bounds[0] <= value <= bounds[1]:
            message = f"{value} is out of bounds: must be >= {bounds[0]} and <= {bounds[1]} ({what})"
            problems.append(Problem(f"sweep.{key}", message))
    return Convergence(grid, observable, digits, halvings, refined)


def check_schemes(sweep: Sweep, axes: tuple[Counted, ...], model: Model, scheme: str, problems: list[Problem]) -> list[str]:
    """The schemes of the study that can be refined; problems for the others."""
    named = [("study.scheme", scheme)]
    for axis in axes:
        if axis.name == SCHEME:
            named = [(f"sweep.axes.scheme[{i}]", SCHEME_NAMES[code]) for i, code in enumerate(axis.at(np.arange(axis.count)))]
    in_doubt = any(problem.path == "study.scheme" for problem in problems) or SCHEME in (sweep.axes or {})
    if named[0][0] == "study.scheme" and in_doubt:
        return []
    known = [name for name in model.schemes if refined_by(name)]
    for path, name in named:
        if not refined_by(name):
            message = f"{name!r} has neither step nor tolerance to refine (the table compares with it unasked); choose {' or '.join(known)}"
            problems.append(Problem(path, message))
    return [name for _, name in named if refined_by(name)]


def check_observable(name: str, model: Model, problems: list[Problem]) -> None:
    """Whether an observable can settle digit by digit."""
    kinds = {quantity.name: quantity.kind for quantity in model.observables}
    if kinds.get(name) != "float":
        what = {"word": "holds words", "integer": "is a whole number"}.get(kinds.get(name, ""), "is no observable")
        listed = [known for known, kind in kinds.items() if kind == "float"]
        problems.append(Problem("sweep.observable", f"{name!r} {what}; {advise(name, listed)}"))


def level_points(config: Config, level: int, positions: np.ndarray) -> Points:
    """The points at `positions` of a convergence study, refined `level` times.

    Args:
        config: the study.
        level: how many times what is refined is divided, from 0.
        positions: (n,) positions in the grid.

    Returns:
        The points with what is refined as columns, absent where another thing is refined and it is not set; numbered by level.
    """
    design = design_of(config)
    whole = design.points(0, design.count)
    columns = {name: values[positions] for name, values in whole.columns.items()}
    absent = {name: mask[positions] for name, mask in whole.absent.items()}
    schemes = None if whole.schemes is None else whole.schemes[positions]
    with np.errstate(all="ignore"):
        start = config.model.resolve({**config.fixed, **columns}, absent)
    words = scheme_names(config, schemes, len(positions))
    divisors = np.array([divisor_of(word) for word in words])
    for name in design.refined:
        mask = np.array([name in refined_by(word) for word in words])
        columns[name] = np.where(mask, start[name] / divisors**level, config.fixed.get(name, np.nan))
        if name not in config.fixed and not mask.all():
            absent[name] = ~mask
    return Points(level * design.count + positions, columns, absent, schemes, level)


def last_levels(config: Config) -> np.ndarray:
    """(n,) the last level of every point: as many as the study allows, fewer where one more would break a rule, such as that on steps."""
    design = design_of(config)
    last = np.zeros(design.count, dtype=np.int64)
    positions = np.arange(design.count)
    for level in range(1, design.halvings + 1):
        points = level_points(config, level, positions)
        broken = np.zeros(points.count, dtype=bool)
        for scheme, rows in by_scheme(points, config.scheme):
            columns, absent, _ = take(points, rows)
            with np.errstate(all="ignore"):
                resolved = config.model.resolve({**config.fixed, **columns}, absent)
                for rule in config.model.rules:
                    broken[rows] |= np.asarray(rule.broken(resolved, scheme))
        positions = positions[~broken]
        last[positions] = level
    return last


def scheme_names(config: Config, schemes: np.ndarray | None, count: int) -> list[str]:
    """The schemes of `count` points by name; `schemes` are their codes where they are swept."""
    return [config.scheme] * count if schemes is None else [SCHEME_NAMES[code] for code in schemes]


def leading(config: Config) -> list[str]:
    """What the accuracy of the study's points depends on: the step, the largest step, the tolerance."""
    design = design_of(config)
    schemes = scheme_names(config, design.points(0, design.count).schemes, design.count)
    return [name for name in design.refined if any(refined_by(scheme)[0] == name for scheme in set(schemes))]


def design_of(config: Config) -> Convergence:
    """The design of a convergence study; TypeError for another one."""
    if not isinstance(config.design, Convergence):
        raise TypeError(f"{config.name} is no convergence study")
    return config.design
