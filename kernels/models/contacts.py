"""Which contacts a model has, declared as data. Nothing here imports JAX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tribosweep.kernels.models.outputs import NOTHING_ELSE, Asked

RIGID, PENALISED = "rigid", "penalised"  # friction
STOP, BUCKLING, VARYING = "stop", "buckling", "varying"  # walls: elastic; buckling; buckling with a damping that varies as they yield


@dataclass(frozen=True, slots=True)
class WallContact:
    """A wall that the mass of a model may hit.

    Attributes:
        prefix: the beginning of the names of the wall's parameters and observables: "" or such as "left_".
        sides: 1: the wall is at x = +gap; -1: it is at x = -gap; 0: the parameter `sides` of a row decides (1, or 2 for both).
        buckles: whether it may buckle; its law then has the parameters of the buckling wall.
    """

    prefix: str = ""
    sides: int = 1
    buckles: bool = False


class WallLaw(NamedTuple):
    """A wall of a program, and the law that the program has for it.

    Attributes:
        law: STOP, BUCKLING or VARYING; a wall with a simpler law costs less.
        prefix, sides: see `WallContact`.
    """

    law: str
    prefix: str = ""
    sides: int = 0


class Kind(NamedTuple):
    """The contacts of a program of the exact engine.

    Attributes:
        friction: RIGID, PENALISED, or None without friction. walls: the walls that the mass may hit.
        asked: further observables. stiff: see `first_guard.first_crossing`.
    """

    friction: str | None
    walls: tuple[WallLaw, ...] = ()
    asked: Asked = NOTHING_ELSE
    stiff: bool = True
