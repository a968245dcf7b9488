"""The design "convergence": a grid whose points are computed with finer and finer steps.

A scheme without a tolerance is refined by halving its step and the bounds of its steps. A scheme with a tolerance is refined by dividing
the tolerance by ten, because its steps grow only with a root of the tolerance (the third root for rk32, the fifth for rk54). Half the
tolerance would change the steps by a fifth or less, and successive results would agree only because the computations are nearly the same.
The smallest step is divided too, because the step across a jump of the force sets the error, whatever the order of the scheme.
"""

from __future__ import annotations

from dataclasses import dataclass

from tribosweep.kernels.models.schemes import SCHEMES
from tribosweep.sweep.design.axis import Axis
from tribosweep.sweep.design.grid import Grid
from tribosweep.sweep.design.points import Points

STEP, LARGEST_STEP, SMALLEST_STEP, TOLERANCE = "step", "largest_step", "smallest_step", "tolerance"


@dataclass(frozen=True, slots=True)
class Convergence:
    """The points of a grid, each with a convergence study of its own.

    Attributes:
        grid: the points as they are at level 0.
        observable: name of the float observable that must settle.
        digits: a point has settled when two successive values agree to this number of significant digits.
        halvings: largest number of refinements of a point.
        refined: the refined parameters; each is refined at the points whose scheme uses it.
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
        """The number of points, each counted once."""
        return self.grid.count

    def points(self, start: int, stop: int) -> Points:
        """The points from `start` up to, not including, `stop`, at level 0."""
        return self.grid.points(start, stop)


def refined_by(scheme: str) -> tuple[str, ...]:
    """The parameters that this `scheme` divides from level to level; none if it has neither step nor tolerance.

    The first one determines the accuracy, and tables and pictures show it.
    """
    reads = SCHEMES[scheme].reads
    names = (TOLERANCE, SMALLEST_STEP) if TOLERANCE in reads else (LARGEST_STEP, STEP, SMALLEST_STEP)
    return tuple(name for name in names if name in reads)


def divisor_of(scheme: str) -> float:
    """The number by which a scheme divides the parameters `refined_by` it, at each level."""
    return 10.0 if TOLERANCE in refined_by(scheme) else 2.0
