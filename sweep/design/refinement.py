"""The design "convergence": a grid whose points are computed with finer and finer steps.

A scheme with a given step is refined by halving it, together with the bounds of the steps that it chooses. A scheme with a tolerance is
refined by dividing that by ten: its steps grow with a root of the tolerance (the third of rk32, the fifth of rk54). With half the tolerance
they would change by a fifth or less, and two successive values would agree because they are nearly the same computation. The smallest step
is divided as well: where a force jumps, the error is that of the step across the jump, whatever the order.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernels.models.schemes import SCHEMES
from sweep.design.axis import Axis
from sweep.design.grid import Grid
from sweep.design.points import Points

STEP, LARGEST_STEP, SMALLEST_STEP, TOLERANCE = "step", "largest_step", "smallest_step", "tolerance"


@dataclass(frozen=True, slots=True)
class Convergence:
    """The points of a grid, each with a convergence study of its own.

    Attributes:
        grid: the points as they are at level 0.
        observable: name of the float observable that must settle.
        digits: it is settled when two successive values agree to that many significant digits.
        halvings: how many times a point is refined at most.
        refined: the parameters that are refined, each at the points whose scheme is refined by it.
    """

    grid: Grid
    observable: str
    digits: int
    halvings: int
    refined: tuple[str, ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the grid."""
        return self.grid.axes

    @property
    def count(self) -> int:
        """How many points, each counted once."""
        return self.grid.count

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`, as they are at level 0."""
        return self.grid.points(start, stop)


def refined_by(scheme: str) -> tuple[str, ...]:
    """The parameters that are divided from level to level with this `scheme`; none if it has neither step nor tolerance.

    The first is the one that its accuracy depends on, which tables and pictures show.
    """
    reads = SCHEMES[scheme].reads
    names = (TOLERANCE, SMALLEST_STEP) if TOLERANCE in reads else (LARGEST_STEP, STEP, SMALLEST_STEP)
    return tuple(name for name in names if name in reads)


def divisor_of(scheme: str) -> float:
    """What they are divided by."""
    return 10.0 if TOLERANCE in refined_by(scheme) else 2.0
