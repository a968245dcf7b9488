"""What each engine reports about friction over a stretch of time: one step of a scheme, or one segment of the exact engine."""

from __future__ import annotations

from typing import NamedTuple

from tribosweep.kernels.numerics.numbers import Array


class Interval(NamedTuple):
    """A stretch of one run during which the contact either slips in one direction or does not slip.

    Attributes:
        duration: its length within the averaging window [s]; 0 outside the window.
        displacement: displacement during that part [m].
        slip: distance slipped during that part [m], >= 0; 0 where the contact does not slip.
        slipping: whether the contact slips.
        resting: whether the mass rests on its support. In the brief stuck state of a penalised contact at a reversal it does not.
        sticking: whether the contact holds; the same as `resting` in rigid friction.
        begins: whether a new slip phase begins with the stretch.
        top_speed: largest speed in the stretch [m/s].
    """

    duration: Array
    displacement: Array
    slip: Array
    slipping: Array
    resting: Array
    sticking: Array
    begins: Array
    top_speed: Array
