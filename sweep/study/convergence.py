"""Reading [sweep] of a convergence study."""

from __future__ import annotations

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.sweep.design.axis import SCHEME, SCHEME_NAMES, Counted
from tribosweep.sweep.design.grid import Grid
from tribosweep.sweep.design.refinement import Convergence, refined_by
from tribosweep.sweep.io.errors import Problem, advise
from tribosweep.sweep.study.capabilities import CONVERGENCE, found_of
from tribosweep.sweep.study.schema import Sweep

KEYS = ("observable", "digits", "halvings")  # keys of [sweep] for this design alone
DIGITS, HALVINGS = (1, 12), (2, 30)  # least and largest value
MOST_POINTS = 131_072  # a level is one shard
DEFAULT_DIGITS, DEFAULT_HALVINGS = 5, 12


def read_convergence(sweep: Sweep, axes: tuple[Counted, ...], model: Model, scheme: str, problems: list[Problem]) -> Convergence:
    """Parse [sweep] of a convergence study.

    Args:
        sweep: the section.
        axes: the valid axes of the section.
        model: the simulated model. scheme: the scheme if it is not swept.
        problems: list to which problems are added.
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
    """The schemes of the study that can be refined; add problems for the others."""
    named = [("study.scheme", scheme)]
    for axis in axes:
        if axis.name == SCHEME:
            named = [(f"sweep.axes.scheme[{i}]", SCHEME_NAMES[code]) for i, code in enumerate(axis.at(np.arange(axis.count)))]
    in_doubt = any(problem.path == "study.scheme" for problem in problems) or SCHEME in (sweep.axes or {})
    if named[0][0] == "study.scheme" and in_doubt:
        return []
    known = [name for name in model.schemes if not found_of(CONVERGENCE, model, [name], {}, [])]
    for path, name in named:
        advice = f"(the table compares with it unasked); choose {' or '.join(known)}"
        problems += [Problem(path, f"{name!r} {each.limit.reason} {advice}") for each in found_of(CONVERGENCE, model, [name], {}, [])]
    return [name for _, name in named if refined_by(name)]


def check_observable(name: str, model: Model, problems: list[Problem]) -> None:
    """Check that an observable can settle digit by digit."""
    kinds = {quantity.name: quantity.kind for quantity in model.observables}
    if kinds.get(name) != "float":
        what = {"word": "holds words", "integer": "is a whole number"}.get(kinds.get(name, ""), "is no observable")
        listed = [known for known, kind in kinds.items() if kind == "float"]
        problems.append(Problem("sweep.observable", f"{name!r} {what}; {advise(name, listed)}"))
