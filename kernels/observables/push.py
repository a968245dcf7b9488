"""What each engine reports about a wall over a stretch of time."""

from __future__ import annotations

from typing import NamedTuple

from tribosweep.kernels.numerics.numbers import Array


class Unresolved(NamedTuple):
    """What the steps of a scheme do not resolve: numbers of a wall, or (G,) of the supports of a group.

    Attributes:
        way: an excursion through the face of a wall that comes no farther than this [m].
        speed: one that begins no faster than this [m/s]; it decides only where speeds are known (`Push.arrival`).
    """

    way: Array
    speed: Array


class Within(NamedTuple):
    """The part of a stretch of time that lies in the window.

    Attributes:
        event, back, struck: whether the event of the stretch, the return through x = 0, and the begin of an impact lie in the window.
        force: largest force [N]. pressed: how long there is a force [s]. impulse: integral of the force [N s].
        compression: largest compression [m].
    """

    event: Array
    back: Array
    struck: Array
    force: Array
    pressed: Array
    impulse: Array
    compression: Array


class Push(NamedTuple):
    """What one step of a scheme, or one segment of the exact engine, did at a wall.

    Its event is at the end of the segment in the exact engine, and within the step in a scheme.

    Attributes:
        time: of the event [s]. velocity: of the mass just before the event [m/s].
        entered, left: whether the mass comes into the wall, or leaves it. parted: whether the force comes to 0.
        buckled: whether the force reaches the criterion for the first time.
        back: whether the mass passes x = 0 from the side of the wall, or leaves a wall that reaches to x = 0 (gap <= 0).
        back_time: when it does so [s].
        low, high: smallest and largest compression of the wall, or of the first of two sides [m]; of a step those at its end.
        room: distance of the two faces [m], infinite with one.
        rounded: depth that rounding may decide [m] (`impacts.rounded`).
        within: the part in the window; None if no part is in the window.
        left_time: when the mass leaves the wall [s], where that need not be `time`; else None.
        arrival: speed into the nearer wall at the start of the step [m/s]; None where none decides (see `Unresolved`).
        unresolved: what the steps do not resolve; None where they resolve everything.
    """

    time: Array
    velocity: Array
    entered: Array
    left: Array
    parted: Array
    buckled: Array
    back: Array
    back_time: Array
    low: Array
    high: Array
    room: Array
    rounded: Array | float
    within: Within | None = None
    left_time: Array | None = None
    arrival: Array | None = None
    unresolved: Unresolved | None = None
