"""Boundaries near an optimum across which an objective or a constraint jumps; derivatives do not show such a jump."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.analysis.calibration.system import regimes_in_words
from tribosweep.sweep.analysis.optimisation.evaluation import Evaluator
from tribosweep.sweep.analysis.optimisation.searching import Candidate, Scales

HALVINGS = 40
MOST = 8  # boundaries that are searched
NEAR = 0.25  # part of the ranges: points farther from the optimum are not looked at
OF_SCALE = 1e-6  # a smaller difference counts as rounding


@dataclass(frozen=True, slots=True)
class Jump:
    """A function that jumps near an optimum.

    Attributes:
        function: its position among objectives and constraints.
        before, after: its values on the side of the optimum and beyond, in its unit.
        place: (n,) the boundary, in parts of the ranges. distance: from the optimum, in parts of the ranges.
        change: the regimes or counts that differ, in words: "impacts 3 becomes impacts 4".
    """

    function: int
    before: float
    after: float
    place: np.ndarray
    distance: float
    change: str


def find_jumps(evaluator: Evaluator, best: Candidate, candidates: Sequence[Candidate], scales: Scales) -> list[Jump]:
    """Bisect between an optimum and the nearest computed points with other regimes or counts, and compare both sides.

    The function jumps if it changes by more than its derivatives predict. Each kind of change is looked at once.
    """
    kinds: dict[bytes, Candidate] = {}
    good = [each for each in candidates if each.functions.good]
    for candidate in sorted(good, key=lambda each: float(np.abs(each.place - best.place).max())):
        if np.abs(candidate.place - best.place).max() > NEAR or len(kinds) == MOST:
            break
        if (candidate.functions.codes != best.functions.codes).any():
            kinds.setdefault(candidate.functions.codes.tobytes(), candidate)
    if not kinds:
        return []
    a, b = np.tile(best.place, (len(kinds), 1)), np.stack([each.place for each in kinds.values()])
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        codes = evaluator.plain_rows(evaluator.space.low + evaluator.space.width * middle).codes
        same = (codes == best.functions.codes).all(axis=(1, 2))[:, np.newaxis]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    ends = [evaluator.at(evaluator.space.low + evaluator.space.width * each) for each in (a, b)]
    sizes = np.concatenate([scales.objectives, scales.constraints])
    found = []
    for lane, (one, other) in enumerate(zip(*ends, strict=True)):
        moved = b[lane] - a[lane]
        rates = [rows[1][0] for rows in (*one.objectives, *one.constraints)]
        for function, size in enumerate(sizes):
            before, after = one.measures[function], other.measures[function]
            smooth = evaluator.functions[function].sign * float(rates[function] @ moved)
            if not abs(after - before - smooth) <= OF_SCALE * size:
                distance = float(np.abs(a[lane] - best.place).max())
                found.append(
                    Jump(function, float(before), float(after), a[lane], distance, change_in_words(evaluator, one.codes, other.codes))
                )
    return sorted(found, key=lambda each: each.distance)


def change_in_words(evaluator: Evaluator, before: np.ndarray, after: np.ndarray) -> str:
    """The first regimes or counts that differ between two sides."""
    rows, words = np.nonzero(before != after)
    if not rows.size:
        return "one regime becomes another"
    row = int(rows[0])
    one, other = (regimes_in_words(evaluator.model, evaluator.words, each[row]) for each in (before, after))
    places = words[rows == row].tolist()
    where = f" in row {row}" if evaluator.count > 1 else ""
    return f"{', '.join(one[k] for k in places)} becomes {', '.join(other[k] for k in places)}{where}"
