"""Curves of special points in two parameters: where periodic motions fold, double their period, begin to touch, or stop resting.

With two parameters the fixed points of the Poincare map are a surface in the space of the section point and both parameters. A curve of
special points lies on it: the zeros of det(J - 1) (folds), det(J + 1) (flips) or of the product of multipliers less 1 (Neimark-Sacker), or
the boundary of the motions that consist of the same events (grazings). A step goes along the curve by a length in that space, and there the
special point is located on the line of the surface across it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tribosweep.kernels.branches.branch import Branch
from tribosweep.kernels.branches.collect import closing_at_zero
from tribosweep.kernels.branches.curve_steps import CLOSED, FOLLOWED, STEPS, Side, follow
from tribosweep.kernels.branches.follow import Steps
from tribosweep.kernels.branches.problem import Points, Problem, joined, multipliers
from tribosweep.kernels.branches.section_map import SectionMap
from tribosweep.kernels.models import Model

_SAME, _SAME_MULTIPLIERS = 2e-3, 0.02  # distances in s, and of multipliers, of a point from a curve on which it lies


@dataclass(frozen=True, slots=True)
class SpecialCurve:
    """One curve of special points, from end to end.

    Attributes:
        row: number of its row. kind: of its points, one of `curve_steps.FOLLOWED`. branch: number of the branch on which it was found.
        periods: of the excitation after which its motions repeat. ends: why each side ends, of `curve_steps.ENDS`.
        value: (N, 2) both parameters. points: the motions, each at a section of its own (`Points.shift`).
        y: (N, n) points of the section t = 0, from which motions close as far as they can there: velocity, displacement times omega, and
            so on [m/s]. x: (N,) displacement there [m].
        multipliers: (N, n) complex Floquet multipliers, the largest first.
    """

    row: int
    kind: str
    branch: int
    periods: int
    ends: tuple[str, str]
    value: np.ndarray
    points: Points
    y: np.ndarray
    x: np.ndarray
    multipliers: np.ndarray


def curves(
    model: Model,
    columns: Mapping[str, np.ndarray | float],
    parameters: tuple[str, str],
    bounds: Sequence[tuple[float, float]],
    logarithmic: Sequence[bool],
    found: Sequence[Branch],
    steps: Steps = STEPS,
    rows: int = 1,
) -> list[SpecialCurve]:
    """Follow the special points of branches as curves in two parameters.

    Args:
        model: of the branches. columns: theirs (see `collect.branches`), and among them the second parameter, within its bounds.
        parameters: that along which the branches were followed, and the second one. bounds: of both, low < high.
        logarithmic: whether steps are those of their logarithms; the first parameter as along the branches.
        found: the branches. steps: the steps along curves. rows: see `collect.branches`.

    Returns:
        The curves of folds, flips, Neimark-Sacker points and grazings, in the order of the branches. A curve on which several special
        points lie is there once.

    Raises:
        KeyError: `columns` lack the second parameter. ValueError: rows whose contacts differ in kind; a second parameter out of bounds.
    """
    section = SectionMap(model, {name: value for name, value in columns.items() if name != parameters[0]}, parameters, bounds, rows)
    second = np.broadcast_to(np.asarray(columns[parameters[1]], dtype=float), section.count)
    low, high = np.array(bounds, dtype=float).T
    if ((second < low[1]) | (second > high[1])).any():
        raise ValueError(f"{parameters[1]} of the branches is not from {low[1]:g} to {high[1]:g}, where their curves are")
    with np.errstate(all="ignore"):  # guesses that lead nowhere
        return along_surfaces(Problem(section, low, high, np.array(logarithmic), np.zeros(0, int), np.zeros(0)), second, found, steps)


def along_surfaces(problem: Problem, second: np.ndarray, found: Sequence[Branch], steps: Steps = STEPS) -> list[SpecialCurve]:
    """The curves of `curves`, in a problem of two parameters; `second`: (rows,) values of the second one on the branches."""
    starts = [
        (number, branch, i) for number, branch in enumerate(found) for i, kind in enumerate(branch.kinds) if kind in FOLLOWED
    ]  # fmt: skip
    if not starts:
        return []
    row = np.array([branch.row for _, branch, _ in starts])
    kinds = [branch.kinds[i] for _, branch, i in starts]
    points = joined([branch.points.take(np.array([i])) for _, branch, i in starts])
    value = np.stack([np.full(len(row), problem.low[0]), second[row]], axis=1)  # type: ignore[index]
    u = np.append(points.u, problem.place(value)[:, 1:], axis=1)
    along = np.append(points.tangent, np.zeros((len(row), 1)), axis=1)
    problem = replace(problem, row=row, periods=np.array([float(branch.periods) for _, branch, _ in starts]))
    places = points.places._replace(branch=np.arange(len(row)))
    curves: list[SpecialCurve] = []
    for (number, _, _), kind, sides in zip(starts, kinds, follow(problem, kinds, u, places, along, points.signature, steps), strict=True):
        if sides:
            curve = _curve(problem, number, kind, sides)
            start = len(sides[1].points) - 1 if len(sides) > 1 else 0
            if not any(_lies_on(problem, other, curve, start) for other in curves):
                curves.append(curve)
    return curves


def _curve(problem: Problem, branch: int, kind: str, sides: Sequence[Side]) -> SpecialCurve:
    """A curve, its two sides put together."""
    points = joined(sides[0].points)
    ends = (CLOSED, CLOSED)
    if len(sides) > 1:
        back = joined(sides[1].points[:0:-1]) if len(sides[1].points) > 1 else None
        both = [points] if back is None else [replace(back, tangent=-back.tangent), points]
        points, ends = joined(both), (sides[1].end, sides[0].end)
    number = int(points.branch[0])
    value, (y, _) = problem.value(points.u[:, problem.map.dimension :]), closing_at_zero(problem, points)
    omega = problem.map.omega(problem.row[points.branch], value)
    return SpecialCurve(
        int(problem.row[number]), kind, branch, int(problem.periods[number]), ends, value, points, y, y[:, 1] / omega, multipliers(points)
    )


def _lies_on(problem: Problem, curve: SpecialCurve, other: SpecialCurve, place: int) -> bool:
    """Whether a point of another curve lies on this one."""
    if (curve.row, curve.kind, curve.periods) != (other.row, other.kind, other.periods):
        return False
    at, there = problem.place(curve.value), problem.place(other.value)[place]
    a, b = (at[:-1], at[1:]) if len(at) > 1 else (at, at)
    chord = b - a
    length = np.sum(chord**2, axis=1)
    part = np.clip(np.sum((there - a) * chord, axis=1) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)[:, None]
    near = np.linalg.norm(a + part * chord - there, axis=1) < _SAME
    m = curve.multipliers
    between = m[: len(a)] + part * (m[len(m) - len(a) :] - m[: len(a)])
    wanted = other.multipliers[place]
    alike = np.abs(np.abs(between) - np.abs(wanted)).max(axis=1) < _SAME_MULTIPLIERS * (1.0 + np.abs(wanted).max())
    return bool((near & alike).any())
