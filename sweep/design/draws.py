"""How many different random draws the points of a design have."""

from __future__ import annotations

import math

from sweep.design.axis import DRAW
from sweep.design.designs import Adaptive, Concatenation, Design, Part
from sweep.design.grid import Grid


def most_draws(design: Design, points: int, counted: bool = True) -> int:
    """How many different draws any `points` successive points of a design have at most; of one that goes level by level any points.

    Where draws are not `counted`, of any design with longer axes of draws as well.
    """
    parts = design.parts if isinstance(design, Concatenation) else (design,)
    return min(points, sum(draws_of(part, points, counted) for part in parts))


def draws_of(part: Part | Adaptive, points: int, counted: bool) -> int:
    """`most_draws` of one part of a design."""
    place = next((place for place, axis in enumerate(part.axes) if axis.name == DRAW), None)
    if place is None:
        return 1
    there: int = getattr(part.axes[place], "count", points) if counted else points
    if not isinstance(part, Grid):
        return min(points, there)
    within = math.prod(axis.count for axis in part.axes[place + 1 :])  # points with the same draw, one after the other
    return min(points, there, (points + within - 2) // within + 1)
