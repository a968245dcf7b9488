"""Modes of a sampled number: peaks of the density of its draws, with valleys between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GRID = 400
VALLEY = 0.3  # of the lower of two peaks: a valley below it parts them
FEWEST = 10  # draws of a group
LEAST_PART = 0.02  # of the draws: fewer are no mode
NARROW = 0.5  # bandwidth over that of Silverman's rule, which is one for a single normal peak


@dataclass(frozen=True, slots=True)
class Mode:
    """A peak.

    Attributes:
        mean: of the draws in it. part: their part of all draws. low, high: the valleys beside it, or the ends of the draws.
    """

    mean: float
    part: float
    low: float
    high: float


def modes_of(values: np.ndarray) -> list[Mode]:
    """The modes of (n,) draws in ascending order; one if there is no deep valley."""
    from scipy.stats import gaussian_kde

    ends = float(values.min()), float(values.max())
    if len(values) < 20 or ends[0] == ends[1]:
        return [Mode(float(values.mean()), 1.0, *ends)]
    grid = np.linspace(*ends, GRID)
    density = gaussian_kde(values, lambda kde: NARROW * kde.silverman_factor())(grid)
    inner = np.flatnonzero((density[1:-1] <= density[:-2]) & (density[1:-1] < density[2:])) + 1
    cuts: list[int] = []
    for place in inner.tolist():  # a valley counts between the highest points on both sides, up to the valleys that count already
        before = cuts[-1] if cuts else 0
        if density[place] < VALLEY * min(density[before:place].max(), density[place:].max()):
            cuts.append(place)
        elif cuts and density[place] < density[cuts[-1]] and density[cuts[-1] : place].max() * VALLEY < density[place]:
            cuts[-1] = place
    edges = [ends[0], *(float(grid[cut]) for cut in cuts), ends[1]]
    found: list[Mode] = []
    low = edges[0]
    for high in edges[1:]:
        inside = values[(values >= low) & ((values < high) | (high == ends[1]))]
        if len(inside) >= LEAST_PART * len(values):
            found.append(Mode(float(inside.mean()), len(inside) / len(values), low, high))
            low = high
    return found


def groups_of(values: np.ndarray) -> np.ndarray:
    """(n,) groups of draws (n, p): those that lie in the same mode of every number; groups of few draws join the largest."""
    labels = np.zeros(len(values), dtype=np.int64)
    for drawn in values.T:
        ends = [mode.high for mode in modes_of(drawn)[:-1]]
        labels = labels * (len(ends) + 1) + np.searchsorted(ends, drawn, side="right")
    found, counts = np.unique(labels, return_counts=True)
    small = found[counts < max(LEAST_PART * len(values), FEWEST)]
    labels[np.isin(labels, small)] = found[np.argmax(counts)]
    return labels


def words(name: str, unit: str, modes: list[Mode]) -> str:
    """A sentence on several modes."""
    unit = f" {unit}" if unit not in ("", "1") else ""
    peaks = ", ".join(f"{mode.mean:.4g}{unit} ({100.0 * mode.part:.0f} % of the draws)" for mode in modes)
    return f"{name} has {len(modes)} modes, around {peaks}: mean and interval describe neither."
