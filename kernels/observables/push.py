"""What each engine reports about a wall over a stretch of time."""

from __future__ import annotations

from typing import NamedTuple

from kernels.numerics.numbers import Array


class Within(NamedTuple):
    """The part of a stretch of time in the window.

    Attributes:
        pressed: how long the wall pushes in the window [s]. end: whether the event of the stretch lies in the window.
    """

    pressed: Array
    end: Array


class Push(NamedTuple):
    """What one step of a scheme, or one segment of the exact engine, did at a wall.

    Its event is at the end of the segment in the exact engine, and within the step in a scheme.

    Attributes:
        time: of the event [s]. velocity: of the mass just before the event [m/s].
        entered, left: whether the mass comes into the wall, or leaves it. parted: whether the force comes to 0.
        buckled: whether the force reaches the criterion for the first time.
        force: largest force [N]. pressed: how long there is a force [s]. impulse: integral of the force [N s].
        compression: largest compression [m].
        within: the part in the window; None if no part is in the window.
    """

    time: Array
    velocity: Array
    entered: Array
    left: Array
    parted: Array
    buckled: Array
    force: Array
    pressed: Array
    impulse: Array
    compression: Array
    within: Within | None = None
