"""The Pareto front of two objectives by epsilon constraints: the first is minimised with the second at most a cap, for many caps at once.

Source: Y. Y. Haimes, L. S. Lasdon and D. A. Wismer, IEEE Transactions on Systems, Man, and Cybernetics 1 (1971), 296-297. The searches of
all caps run together, each from the best points known for its cap. First the caps are evenly spaced; then the widest gaps are halved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tribosweep.sweep.analysis.optimisation.evaluation import Evaluator
from tribosweep.sweep.analysis.optimisation.optimality import CONVERGED, conditions
from tribosweep.sweep.analysis.optimisation.searching import Candidate, Scales, Task, limits_of, search

SLACK = 1e-6  # of the scales of objectives: values that differ by less are equal
ROUNDS = 3  # of caps: evenly spaced ones, then those of the widest gaps
WARM = 2  # known points from which a search for each cap starts


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A point of the front.

    Attributes:
        candidate: the point. trade_off: how much the first objective falls for each unit by which the second grows, both in their units
            times their sign; NaN at the ends, and where the second does not bind. residual: of the optimality conditions.
    """

    candidate: Candidate
    trade_off: float
    residual: float

    @property
    def converged(self) -> bool:
        """Whether the optimality conditions hold."""
        return self.residual <= CONVERGED


@dataclass(slots=True)
class Known:
    """All computed points that keep the constraints, of which a front is made.

    Attributes:
        candidates: the points. goals: (candidates, 2) both objectives in their units times their sign.
    """

    candidates: list[Candidate]
    goals: np.ndarray

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Known:
        """Choose the points with results that keep the limits of constraints, whatever cap they were computed for."""
        own = [each for each in candidates if each.functions.good and each.kept]
        goals = [[float(f.max()) for f, _ in each.functions.objectives] for each in own]
        return cls(own, np.array(goals).reshape(-1, 2))

    def best(self, cap: float, slack: float, count: int = 1) -> list[Candidate]:
        """The points with the least first objective whose second is at most a cap."""
        inside = np.flatnonzero(self.goals[:, 1] <= cap + slack)
        return [self.candidates[place] for place in inside[np.argsort(self.goals[inside, 0], kind="stable")][:count]]


def front_of(evaluator: Evaluator, candidates: list[Candidate], starts: np.ndarray, count: int, scales: Scales) -> list[FrontPoint]:
    """Compute the front.

    Args:
        evaluator: the functions. candidates: points that minimised the first objective, to which all others are added.
        starts: (starts, n) in parts of the ranges. count: number of points of the front. scales: of the functions.

    Returns:
        Points none of which is better than another in both objectives, the least second objective first.
    """
    slack = SLACK * scales.objectives[1]
    known = Known.of(candidates)
    best_of_second = known.candidates[int(np.argmin(known.goals[:, 1]))].place
    explore(evaluator, [Task(place, objective=1) for place in (best_of_second, *starts)], scales, candidates)
    known = Known.of(candidates)
    least = float(known.goals[:, 1].min())
    most = float(min(known.goals[known.goals[:, 0] <= known.goals[:, 0].min() + SLACK * scales.objectives[0], 1]))
    caps = np.array([least, most])
    if most - least <= slack:  # one point is best in both
        return pruned([point_of(known.best(most, slack)[0], None, scales)], slack)
    for number in range(ROUNDS):
        room = count - len(caps)
        wanted = room if number == ROUNDS - 1 else -(-room // 2)
        new = np.linspace(least, most, wanted + 2)[1:-1] if number == 0 else between(Known.of(candidates), caps, wanted, slack)
        if not len(new):
            continue
        caps = np.sort(np.append(caps, new))
        known = Known.of(candidates)
        tasks = [Task(each.place, cap=float(cap)) for cap in new for each in known.best(cap, slack, WARM)]
        explore(evaluator, tasks, scales, candidates)
    known = Known.of(candidates)
    ends = [known.best(cap, slack)[0] for cap in caps]  # from here on each cap starts at its neighbours' ends
    tasks = [Task(ends[place + side].place, cap=float(cap)) for place, cap in enumerate(caps) for side in (-1, 1)
             if 0 < place < len(caps) - 1]  # fmt: skip
    explore(evaluator, tasks, scales, candidates)
    known = Known.of(candidates)
    return pruned([point_of(known.best(cap, slack)[0], float(cap), scales) for cap in caps], slack)


def explore(evaluator: Evaluator, tasks: Sequence[Task], scales: Scales, candidates: list[Candidate]) -> None:
    """Carry out searches, and add their points as those of the first objective without a cap, so that they can be compared."""
    if not tasks:
        return
    first = 1 + max((candidate.search for candidate in candidates), default=-1)
    for candidate in search(evaluator, tasks, scales, first=first):
        if not candidate.functions.good:
            continue
        goal = float(candidate.functions.objectives[0][0].max()) / scales.objectives[0]
        excess = max((float(g.max()) for g, _ in limits_of(candidate.functions, scales)), default=0.0)
        candidates.append(replace(candidate, goal=goal, excess=max(0.0, excess)))


def between(known: Known, caps: np.ndarray, count: int, slack: float) -> np.ndarray:
    """Caps in the middle of the widest gaps between the best points of some caps, both objectives in parts of their ranges."""
    places = np.array([[float(f.max()) for f, _ in known.best(cap, slack)[0].functions.objectives] for cap in caps])
    places[:, 1] = caps
    size = np.ptp(places, axis=0)
    widths = np.linalg.norm(np.diff(places / np.where(size > 0.0, size, 1.0), axis=0), axis=1)
    parts = np.ones(len(widths), dtype=int)
    for _ in range(count):
        parts[int(np.argmax(widths / parts))] += 1
    found = [np.linspace(caps[place], caps[place + 1], each + 1)[1:-1] for place, each in enumerate(parts)]
    return np.concatenate(found)


def point_of(candidate: Candidate, cap: float | None, scales: Scales) -> FrontPoint:
    """A point with its trade-off, from the multiplier of its cap."""
    task = Task(candidate.place, cap=cap)
    found = conditions(candidate, task, scales)
    slope = found.multipliers[-1] * scales.objectives[0] / scales.objectives[1] if cap is not None else np.nan
    return FrontPoint(candidate, float(slope) if slope > 0.0 else float("nan"), found.residual)


def pruned(points: Sequence[FrontPoint], slack: float) -> list[FrontPoint]:
    """The points that no other one dominates, each once."""
    found: list[FrontPoint] = []
    for point in sorted(points, key=lambda each: [float(f.max()) for f, _ in each.candidate.functions.objectives][::-1]):
        first, second = (float(f.max()) for f, _ in point.candidate.functions.objectives)
        if found:
            last_first, last_second = (float(f.max()) for f, _ in found[-1].candidate.functions.objectives)
            if first >= last_first or second - last_second <= 0.0 * slack:
                continue
        found.append(point)
    return found
