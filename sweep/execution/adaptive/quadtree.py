"""The quadtree of a boundary study: cells of the coarse grid whose corners differ in class are divided into four.

A place is a node of the lattice of the smallest cells, identified by its key. A cell is divided if any known node on or within it differs
in class from its first corner. A curve may leave a cell through a side whose ends agree. The neighbouring cell is then divided as soon as
the first cell is fine enough to show the curve, so that no curve ends at a larger cell. Features within a cell whose nodes agree are
missed, such as an island smaller than a coarse cell, unless a seed lies on it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.design.axis import Spaced

FAILED, NONE = -2, -1  # classes of rows without results, and of rows without the event
CORNERS = tuple(itertools.product((0, 1), (0, 1)))


@dataclass(frozen=True, slots=True)
class Lattice:
    """The nodes of the smallest cells: (i, j) counts them along the two axes, and key = i columns + j.

    Attributes:
        axes: axes of the coarse grid. halvings: how many times its cells are halved.
    """

    axes: tuple[Spaced, Spaced]
    halvings: int

    @property
    def rows(self) -> int:
        """The number of nodes along the first axis."""
        return ((self.axes[0].count - 1) << self.halvings) + 1

    @property
    def columns(self) -> int:
        """The number of nodes along the second axis."""
        return ((self.axes[1].count - 1) << self.halvings) + 1

    def keys(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """The keys of the nodes (i, j)."""
        found: np.ndarray = i * self.columns + j
        return found

    def coarse(self) -> np.ndarray:
        """The keys of the nodes of the coarse grid."""
        i, j = (np.arange(axis.count) << self.halvings for axis in self.axes)
        return self.keys(i[:, np.newaxis], j).ravel()

    def places(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values of the two parameters at nodes."""
        scale = 2.0**-self.halvings
        x, y = (axis.at(number * scale) for axis, number in zip(self.axes, np.divmod(keys, self.columns), strict=True))
        return x, y

    def middles(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values of the two parameters in the middle of the smallest cells, given the keys of their first corners."""
        scale = 2.0**-self.halvings
        x, y = (axis.at((number + 0.5) * scale) for axis, number in zip(self.axes, np.divmod(keys, self.columns), strict=True))
        return x, y

    def nearest(self, point: tuple[float, float]) -> int:
        """The key of the node nearest to a point within the axes, in their units."""
        found = []
        for axis, value in zip(self.axes, point, strict=True):
            first, last, at = axis.start, axis.stop, value
            if axis.logarithmic:
                first, last, at = math.log(abs(first)), math.log(abs(last)), math.log(abs(at))
            found.append(round((at - first) / (last - first) * ((axis.count - 1) << self.halvings)))
        return found[0] * self.columns + found[1]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The known nodes and their results.

    Attributes:
        keys: (n,) int64, ascending. classes: (n,) int64. heights: (n,) float64 of the observable above its level; NaN without a level.
    """

    keys: np.ndarray
    classes: np.ndarray
    heights: np.ndarray

    def where(self, keys: np.ndarray) -> np.ndarray:
        """The positions of known keys."""
        return np.searchsorted(self.keys, keys)

    def unknown(self, keys: np.ndarray) -> np.ndarray:
        """The distinct keys that are not known, ascending."""
        found: np.ndarray = np.setdiff1d(keys, self.keys)
        return found

    def joined(self, keys: np.ndarray, classes: np.ndarray, heights: np.ndarray) -> Nodes:
        """These nodes and new ones."""
        every = np.concatenate([self.keys, keys])
        order = np.argsort(every, kind="stable")
        return Nodes(every[order], np.concatenate([self.classes, classes])[order], np.concatenate([self.heights, heights])[order])


@dataclass(frozen=True, slots=True)
class Cells:
    """The undivided cells.

    Attributes:
        lattice: the lattice of their nodes.
        levels: for each number of halvings the (n,) ascending codes of its cells. A code is row times cells in a row, plus column.
    """

    lattice: Lattice
    levels: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, lattice: Lattice) -> Cells:
        """The cells of the coarse grid."""
        coarse = (lattice.axes[0].count - 1) * (lattice.axes[1].count - 1)
        return cls(lattice, (np.arange(coarse), *[np.empty(0, dtype=np.int64)] * lattice.halvings))

    def across(self, level: int) -> int:
        """The number of cells of a level in a row."""
        return (self.lattice.axes[1].count - 1) << level

    def corners(self, level: int, codes: np.ndarray) -> np.ndarray:
        """(4, n) keys of the corners of cells: (0, 0), (0, 1), (1, 0), (1, 1) along the two axes."""
        size = 1 << (self.lattice.halvings - level)
        i, j = np.divmod(codes, self.across(level))
        return np.stack([self.lattice.keys((i + di) * size, (j + dj) * size) for di, dj in CORNERS])

    def mixed(self, nodes: Nodes) -> tuple[np.ndarray, ...]:
        """The codes of the cells to divide, by level."""
        lattice = self.lattice
        i, j = np.divmod(nodes.keys, lattice.columns)
        found: list[list[np.ndarray]] = [[] for _ in range(lattice.halvings)]
        for back in CORNERS:  # each of the four smallest cells around a node lies in an undivided cell that has the node
            row, column = i - back[0], j - back[1]
            left = np.flatnonzero((row >= 0) & (column >= 0) & (row < lattice.rows - 1) & (column < lattice.columns - 1))
            for level, codes in enumerate(self.levels[:-1]):
                down = lattice.halvings - level
                cells = (row[left] >> down) * self.across(level) + (column[left] >> down)
                inside = np.isin(cells, codes)
                first = nodes.where(self.corners(level, cells[inside])[0])
                other = nodes.classes[first] != nodes.classes[left[inside]]
                found[level].append(cells[inside][other])
                left = left[~inside]
        return tuple(np.unique(np.concatenate(codes)) for codes in found)

    def divided(self, mixed: tuple[np.ndarray, ...]) -> tuple[Cells, np.ndarray]:
        """The cells after dividing those of `mixed` into four, and the keys of the corners of the new cells."""
        levels, keys = list(self.levels), [np.empty(0, dtype=np.int64)]
        for level, codes in enumerate(mixed):
            i, j = np.divmod(codes, self.across(level))
            quarters = np.concatenate([(2 * i + di) * self.across(level + 1) + 2 * j + dj for di, dj in CORNERS])
            levels[level] = np.setdiff1d(levels[level], codes)
            levels[level + 1] = np.union1d(levels[level + 1], quarters)
            keys.append(self.corners(level + 1, quarters).ravel())
        return Cells(self.lattice, tuple(levels)), np.concatenate(keys)

    def crossed(self, nodes: Nodes) -> np.ndarray:
        """(4, n) keys of the corners of the smallest cells whose corners differ in class."""
        corners = self.corners(self.lattice.halvings, self.levels[-1])
        classes = nodes.classes[nodes.where(corners)]
        return corners[:, (classes != classes[0]).any(axis=0)]
