"""Regime boundaries on the path of a fit, and the observables that jump there.

Between two points of a path, the regime or a count of a run may change. Bisection then locates the change to rounding, and the change of
the observables across it is compared with the prediction of their derivatives. Least squares fail at a jump, because the gradients on both
sides do not show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.analysis.calibration.fitting import FitStep
from tribosweep.sweep.analysis.calibration.system import System, regimes_in_words

HALVINGS = 46
MOST = 96  # largest number of boundaries that are searched
STEPPED_HALVINGS, STEPPED_MOST = 24, 16  # the same for a time scheme, whose runs take longer
RELATIVE, OF_SD = 1e-6, 1e-6  # parts of the value and of its standard deviation: a smaller difference counts as rounding


@dataclass(frozen=True, slots=True)
class Jump:
    """An observable that jumps at a boundary.

    Attributes:
        observable: its name. before, after: its values on the two sides, in its unit; NaN if it does not exist there.
    """

    observable: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class BoundaryCrossing:
    """A boundary that a fit crossed.

    Attributes:
        run: position of the run. before, after: the regimes or counts that differ, in words.
        where: (n,) values of the free parameters at the boundary.
        jumps: compared observables of that run that jump.
    """

    run: int
    before: str
    after: str
    where: np.ndarray
    jumps: tuple[Jump, ...]


def find_crossings(system: System, path: Sequence[FitStep], lanes: Sequence[int]) -> list[BoundaryCrossing]:
    """Find the boundaries on a path, such as that of fits, which some of its lanes crossed; each kind is reported once per run."""
    brackets = changes(path, lanes)[: STEPPED_MOST if system.stepped else MOST]
    if not brackets:
        return []
    runs = np.array([run for run, *_ in brackets])
    a, b = (np.array([each[side] for each in brackets]) for side in (1, 2))
    codes = np.array([each[3] for each in brackets])
    space = system.space
    for _ in range(STEPPED_HALVINGS if system.stepped else HALVINGS):
        middle = 0.5 * (a + b)
        same = (system.rows(space.values(middle), runs).codes == codes).all(axis=1)[:, np.newaxis]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    ends = [system.rows(space.values(side), runs) for side in (a, b)]
    found = []
    for place, run in enumerate(runs.tolist()):
        before, after = (regimes_in_words(system.model, system.words, end.codes[place]) for end in ends)
        differ = [k for k in range(len(before)) if before[k] != after[k]]
        moved = space.values(b[place]) - space.values(a[place])
        jumps = jumps_of(system, run, ends[0].values[place], ends[1].values[place], ends[0].slopes[place] @ moved)
        one, other = (", ".join(side[k] for k in differ) for side in (before, after))
        found.append(BoundaryCrossing(run, one, other, space.values(a[place]), jumps))
    return found


def changes(path: Sequence[FitStep], lanes: Sequence[int]) -> list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """(run, coordinates before, coordinates after, codes before) for every kind of change on the paths of some lanes, the latest first."""
    wanted = set(lanes)
    last: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    found = {}
    for step in path:
        for lane, coordinates, codes in zip(step.lanes.tolist(), step.coordinates, step.codes, strict=True):
            if lane in wanted and lane in last:
                there, before = last[lane]
                for run in np.flatnonzero((codes != before).any(axis=1)).tolist():
                    kind = (run, *sorted([tuple(before[run]), tuple(codes[run])]))
                    found[kind] = (run, there, coordinates, before[run])
            last[lane] = coordinates, codes
    return list(found.values())[::-1]


def jumps_of(system: System, run: int, before: np.ndarray, after: np.ndarray, smooth: np.ndarray) -> tuple[Jump, ...]:
    """The observables measured in a run that change across a boundary by more than their derivatives (`smooth`) predict."""
    data = system.data
    found = []
    for observable in np.unique(data.observable[data.run == run]).tolist():
        sd = float(data.spread[(data.run == run) & (data.observable == observable)].min())
        one, other = float(before[observable]), float(after[observable])
        if np.isnan(one) and np.isnan(other):
            continue
        rounding = RELATIVE * max(abs(one), abs(other)) + OF_SD * sd
        if np.isnan(one) or np.isnan(other) or abs(other - one - smooth[observable]) > rounding:
            found.append(Jump(data.names[observable], one, other))
    return tuple(found)
