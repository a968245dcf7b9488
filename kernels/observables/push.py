"""What every engine tells the observables about a wall."""

from __future__ import annotations

from typing import NamedTuple

from kernels.numerics.numbers import Array


class Within(NamedTuple):
    """What of a stretch of time lies in the window.

    Attributes:
        pressed: how long the wall pushes there [s]. end: whether the instant lies there at which the mass comes into the wall, if it does.
    """

    pressed: Array
    end: Array


class Push(NamedTuple):
    """What an engine tells about the wall over a stretch of time: one step of a scheme, or one segment of the exact engine.

    Attributes:
        time: at its end [s]. velocity: of the mass at its end, before anything there changes it [m/s].
        entered, left: whether at its end the mass comes into the wall or goes out of it. parted: whether the force comes to 0 there.
        buckled: whether the force reaches the criterion for the first time.
        force: the largest force in it [N]. pressed: how long there was one [s]. impulse: integral of the force [N s].
        compression: the largest in it [m].
        within: what of it lies in the window; None where that is known to be nothing.
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
