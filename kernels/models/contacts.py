"""Which contacts a model has, declared as data. Nothing here imports JAX."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WallContact:
    """A wall that the mass of a model may hit.

    Attributes:
        prefix: what stands before the names of the wall's parameters and observables: "" or such as "left_".
        sides: 1: the wall is at x = +gap; -1: it is at x = -gap; 0: the parameter `sides` of a row says (1, or 2 for both).
        buckles: whether it may buckle; its law then has the parameters of the buckling wall.
    """

    prefix: str = ""
    sides: int = 1
    buckles: bool = False
