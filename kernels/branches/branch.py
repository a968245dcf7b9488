"""A branch of periodic motions that was followed from end to end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tribosweep.kernels.branches.events import GRAZING
from tribosweep.kernels.branches.follow import MERGES
from tribosweep.kernels.branches.problem import Points

# what a branch does at a grazing: it ends where no motion is found on either side, or those of a branch of fewer periods
PASSAGES = ("passes through", "turns back", "ends")


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of periodic motions, from end to end.

    Attributes:
        row: number of its row. periods: of the excitation after which its motions repeat.
        origin: "steady motion", or the kind of the special point where it begins; parent: the branch with that point, or -1.
        ends: why each side ends (see `follow.ENDS`).
        value: (N,) the parameter. points: the points, each at a section of its own (`Points.shift`), to which its unknowns, direction and
            Jacobian belong. kinds: what is special at each, or "".
        y: (N, n) points of the section t = 0: velocity, displacement times omega, and so on [m/s]. x: (N,) displacement there [m].
        multipliers: (N, n) complex Floquet multipliers of each point, the largest first.
    """

    row: int
    periods: int
    origin: str
    parent: int
    ends: tuple[str, str]
    value: np.ndarray
    points: Points
    kinds: list[str]
    y: np.ndarray
    x: np.ndarray
    multipliers: np.ndarray

    @property
    def stable(self) -> np.ndarray:
        """Whether all multipliers of each point lie inside the unit circle (N,)."""
        stable: np.ndarray = np.abs(self.multipliers[:, 0]) < 1.0
        return stable

    @property
    def passages(self) -> dict[int, str]:
        """What the branch does at its grazings (see `PASSAGES`), by their places along it."""
        found: dict[int, str] = {}
        for i in np.flatnonzero([kind == GRAZING for kind in self.kinds]):
            before, after = self.value[: i + 1][::-1], self.value[i:]
            came, goes = (next((step for step in np.diff(values) if step), 0.0) for values in (before, after))
            end = (i == 0 and self.ends[0] in (GRAZING, MERGES)) or (i == len(self.kinds) - 1 and self.ends[1] in (GRAZING, MERGES))
            found[int(i)] = PASSAGES[2 if end else 1 if came * goes > 0.0 else 0]
        return found
