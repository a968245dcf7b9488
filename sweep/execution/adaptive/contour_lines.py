"""Contour lines: crossings of boundaries with the sides of cells are joined to curves.

If a boundary between two classes crosses the sides of a cell twice, the two crossings are joined. If more than two classes meet in a cell,
a boundary may cross its sides only once. The curve then ends at that cell, like the other curves that meet there. In a cell whose corners
alternate, one boundary has four crossings, which make two pieces. They run around the two corners whose class is not that of the centre.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.execution.adaptive.bisection import Brackets

# sides of a cell, in order around it, as pairs of its corners (see `quadtree.CORNERS`)
AROUND = ((0, 1), (1, 3), (3, 2), (2, 0))


@dataclass(frozen=True, slots=True)
class ContourLine:
    """A piece of a boundary.

    Attributes:
        classes: the classes on its two sides, the lower first.
        crossings: (n,) positions of brackets, in the order along the curve.
        closed: whether the last crossing connects to the first.
    """

    classes: tuple[int, int]
    crossings: np.ndarray
    closed: bool


def sides_of(corners: np.ndarray, columns: int) -> np.ndarray:
    """(4, n) numbers of the sides of cells (see `Brackets.sides`), in order around each cell.

    Args:
        corners: (4, n) keys of the corners of the smallest cells.
        columns: number of nodes of the lattice along its second axis.
    """
    found = []
    for first, last in AROUND:
        low, high = np.minimum(corners[first], corners[last]), np.maximum(corners[first], corners[last])
        found.append(2 * low + (high - low < columns))
    return np.stack(found)


def saddles(classes: np.ndarray) -> np.ndarray:
    """Mask of the cells whose corners alternate between two classes, given the (4, n) classes of the corners."""
    mask: np.ndarray = (classes[0] == classes[3]) & (classes[1] == classes[2]) & (classes[0] != classes[1])
    return mask


def join(found: Brackets, sides: np.ndarray, classes: np.ndarray, centres: np.ndarray) -> list[ContourLine]:
    """Join crossings to curves, in the order of their first crossings.

    Args:
        found: the narrowed brackets.
        sides: (4, n) sides of the cells that boundaries cross, in order around each cell. classes: (4, n) classes of their corners.
        centres: (n,) classes of their centres, needed only for cells whose corners alternate.
    """
    starts, ends = np.searchsorted(found.sides, sides), np.searchsorted(found.sides, sides, side="right")
    low, high = np.minimum(found.low_class, found.high_class), np.maximum(found.low_class, found.high_class)
    pairs = list(zip(low.tolist(), high.tolist(), strict=True))
    links: list[list[int]] = [[] for _ in pairs]
    alternate = saddles(classes)
    for cell in range(sides.shape[1]):
        inside = [list(range(start, end)) for start, end in zip(starts[:, cell].tolist(), ends[:, cell].tolist(), strict=True)]
        if alternate[cell] and all(len(each) == 1 for each in inside):
            round_first = centres[cell] == classes[1, cell]  # around corners 0 and 3, or around 1 and 2
            couples = [(3, 0), (1, 2)] if round_first else [(0, 1), (2, 3)]
            couple_all(links, [(inside[one][0], inside[other][0]) for one, other in couples])
            continue
        together = defaultdict(list)
        for crossing in [crossing for each in inside for crossing in each]:
            together[pairs[crossing]].append(crossing)
        couple_all(links, [(each[0], each[1]) for each in together.values() if len(each) == 2])
    return [ContourLine(pairs[way[0]], np.array(way), closed) for way, closed in ways(links)]


def couple_all(links: list[list[int]], couples: Iterable[tuple[int, int]]) -> None:
    """Link pairs of crossings as neighbours."""
    for one, other in couples:
        links[one].append(other)
        links[other].append(one)


def ways(links: list[list[int]]) -> list[tuple[list[int], bool]]:
    """Chains of neighbours: the open ones from their first end, then the closed ones."""
    found: list[tuple[list[int], bool]] = []
    seen = [False] * len(links)
    for closed in (False, True):
        for start, neighbours in enumerate(links):
            if seen[start] or (len(neighbours) > 1 and not closed):
                continue
            way, following = [start], neighbours[:1]
            seen[start] = True
            while following:
                way.append(following[0])
                seen[following[0]] = True
                following = [each for each in links[following[0]] if not seen[each]][:1]
            found.append((way, closed))
    return sorted(found, key=lambda each: each[0][0])
