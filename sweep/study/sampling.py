"""Reading [sweep] of sampling designs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.sweep.design.axis import Axis, Continuous
from tribosweep.sweep.design.copula import Correlation, matrix_of
from tribosweep.sweep.design.distributions import (
    TRUNCATED,
    Drawn,
    Scaled,
)
from tribosweep.sweep.design.latin_hypercube import LatinHypercube
from tribosweep.sweep.design.sensitivity import HARMONICS, LEVELS, Fast, Halton, Morris, Saltelli, Sampling
from tribosweep.sweep.design.sobol import MOST_SAMPLED, Sobol
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.io.errors import Problem, advise, shorten
from tribosweep.sweep.study.schema import SAMPLED_SEED

if TYPE_CHECKING:
    from tribosweep.sweep.study.schema import Sweep

MOST_SEED = 2**63 - 1
MOST_LEVELS = 1000


def read_sample(sweep: Sweep, where: str, axes: tuple[Axis, ...], _model: Model, problems: list[Problem]) -> Sampling | None:
    """Read a sampling design; None and problems if it is invalid."""
    count, seed = sweep.count, SAMPLED_SEED if sweep.seed is None else sweep.seed
    before = len(problems)
    things = {"saltelli": "groups", "morris": "trajectories", "fast": "points of a curve"}.get(sweep.design, "points")
    if count is None:
        problems.append(Problem(f"{where}.count", f"missing: design {sweep.design!r} needs the number of its {things}"))
    elif not 1 <= count <= MOST_SAMPLED:
        problems.append(Problem(f"{where}.count", f"{count} is out of bounds: must be >= 1 and <= {MOST_SAMPLED:.0e} ({things})"))
    if not 0 <= seed <= MOST_SEED:
        problems.append(Problem(f"{where}.seed", f"{seed} is out of bounds: must be >= 0 and <= {MOST_SEED} (of the random numbers)"))
    correlations = read_correlations(sweep, where, axes, problems)
    makers: dict[str, Callable[[int], Sampling]] = {
        "sobol": lambda n: Sobol(axes, n, seed, correlations),
        "latin_hypercube": lambda n: LatinHypercube(axes, n, seed, correlations),
        "halton": lambda n: Halton(axes, n, seed, correlations),
        "saltelli": lambda n: Saltelli(axes, n, seed, bool(sweep.second_order)),
        "morris": lambda n: Morris(axes, n, seed, LEVELS if sweep.levels is None else sweep.levels),
        "fast": lambda n: Fast(axes, n, seed, HARMONICS if sweep.harmonics is None else sweep.harmonics),
    }
    if sweep.design == "morris":
        check_levels(sweep, where, axes, problems)
    if sweep.design == "fast":
        check_harmonics(sweep, where, axes, problems)
    if len(problems) > before or not axes or count is None:
        return None
    return makers[sweep.design](count)


def check_levels(sweep: Sweep, where: str, axes: tuple[Axis, ...], problems: list[Problem]) -> None:
    """Check that a Morris design has an even number of levels, and axes with a first and a last value."""
    if sweep.levels is not None and (sweep.levels % 2 or not 2 <= sweep.levels <= MOST_LEVELS):
        problems.append(Problem(f"{where}.levels", f"{sweep.levels}: must be an even number from 2 to {MOST_LEVELS} (levels of each axis)"))
    for axis in axes:
        drawn = axis.factor if isinstance(axis, Scaled) else axis
        if isinstance(drawn, Drawn) and not drawn.bounded:
            need = f"the levels of a Morris design need a least and a largest value, which {drawn.law!r} has not"
            message = f'{need}; "{TRUNCATED}" with lower and upper has'
            problems.append(Problem(f"{where}.axes.{axis.name}", message))


def check_harmonics(sweep: Sweep, where: str, axes: tuple[Axis, ...], problems: list[Problem]) -> None:
    """Check that a FAST design has enough harmonics, points and axes."""
    harmonics = HARMONICS if sweep.harmonics is None else sweep.harmonics
    if not 1 <= harmonics <= 100:
        problems.append(Problem(f"{where}.harmonics", f"{harmonics} is out of bounds: must be >= 1 and <= 100 (harmonics of a curve)"))
    elif sweep.count is not None and 1 <= sweep.count <= 4 * harmonics**2:
        message = f"{sweep.count} points of a curve are too few for {harmonics} harmonics: must be > 4 harmonics^2 = {4 * harmonics**2}"
        problems.append(Problem(f"{where}.count", message))
    if len(axes) == 1:
        problems.append(Problem(f"{where}.axes", "a FAST design needs two axes or more: there is nothing to compare"))


def read_correlations(sweep: Sweep, where: str, axes: tuple[Axis, ...], problems: list[Problem]) -> tuple[Correlation, ...]:
    """Read the correlations of the `axes` that are drawn, which designs for indices of sensitivity do not support."""
    raw, path = sweep.correlations, f"{where}.correlations"
    if raw is None:
        return ()
    if sweep.design in ("saltelli", "morris", "fast"):
        reason = "its indices share the variance out among independent parameters"
        able = f'"sobol", "latin_hypercube", "halton", "draws", "{SUBSET}" and a "boundary" with an event take them'
        message = f"design {sweep.design!r} takes no correlations: {reason}; {able}"
        problems.append(Problem(path, message))
        return ()
    names = [axis.name for axis in axes if isinstance(axis, Continuous | Drawn)]
    found: list[Correlation] = []
    for position, entry in enumerate(raw):
        if not (isinstance(entry, list) and len(entry) == 3 and all(isinstance(word, str) for word in entry[:2])):
            example = '["mu", "a0", 0.5]'
            problems.append(Problem(f"{path}[{position}]", f"must be two parameters and a number, such as {example}, not {shorten(entry)}"))
            continue
        unknown = [word for word in entry[:2] if word not in names]
        if unknown:
            message = f"{unknown[0]!r} is no axis with a range or a continuous distribution; {advise(unknown[0], names)}"
            problems.append(Problem(f"{path}[{position}]", message))
        elif entry[0] == entry[1] or any({*entry[:2]} == {first, second} for first, second, _ in found):
            problems.append(Problem(f"{path}[{position}]", "a pair of different parameters has one correlation: this one is given twice"))
        elif isinstance(entry[2], bool) or not isinstance(entry[2], int | float) or not -1.0 < entry[2] < 1.0:
            problems.append(Problem(f"{path}[{position}]", f"{shorten(entry[2])} is no correlation: must be > -1 and < 1"))
        else:
            found.append((entry[0], entry[1], float(entry[2])))
    if found and np.linalg.eigvalsh(matrix_of(names, tuple(found)))[0] < 1e-10:
        problems.append(Problem(path, "contradict each other: their matrix is not positive definite"))
        return ()
    return tuple(found)
