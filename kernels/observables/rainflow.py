"""Rainflow cycles of many rows, counted as their samples arrive (ASTM E1049-85; the counting itself is done by the package rainflow)."""

from __future__ import annotations

import numpy as np


class Cycles:
    """The cycles of several rows.

    What a row keeps are its turning points that have closed no cycle yet, and its full cycles by class.

    Args:
        count: number of rows. edges: lower bounds of the classes of ranges, ascending; the last class has no end. exponent: of damage.
    """

    def __init__(self, count: int, edges: tuple[float, ...], exponent: float | None) -> None:
        """Begin with no samples."""
        self._edges, self._exponent = np.asarray(edges, float), exponent
        self._open: list[np.ndarray] = [np.empty(0)] * count
        self._full = np.zeros((count, len(edges)))
        self._damage = np.zeros(count)

    def add(self, samples: np.ndarray) -> None:
        """Count the full cycles that close within further samples (rows, n)."""
        for row, values in enumerate(samples):
            points = turning_points(np.concatenate([self._open[row], values]))
            ranges, self._open[row] = closed(points)
            self._full[row] += self._binned(ranges)
            self._damage[row] += self._worn(ranges)

    def counts(self) -> np.ndarray:
        """Numbers of cycles by class, (rows, classes); what has closed no cycle counts as half cycles."""
        return np.asarray(self._full + 0.5 * np.stack([self._binned(np.abs(np.diff(points))) for points in self._open]))

    def equivalent(self, cycles: np.ndarray) -> np.ndarray:
        """The range (rows,) of which `cycles` (rows,) do the same damage, which grows with the exponent of the range."""
        halves = np.array([self._worn(np.abs(np.diff(points))) for points in self._open])
        return np.asarray(((self._damage + 0.5 * halves) / cycles) ** (1.0 / (self._exponent or 1.0)))

    def _binned(self, ranges: np.ndarray) -> np.ndarray:
        return np.histogram(ranges, np.append(self._edges, np.inf))[0].astype(float)

    def _worn(self, ranges: np.ndarray) -> float:
        return 0.0 if self._exponent is None else float(np.sum(ranges**self._exponent))


def turning_points(values: np.ndarray) -> np.ndarray:
    """The first entry of a sequence (n,), its extremes, and its last entry."""
    if not len(values):
        return values
    moves = np.append(True, np.diff(values) != 0.0)
    values = values[moves]
    rises = np.diff(values) > 0.0
    keep = np.concatenate([[True], rises[1:] != rises[:-1], [True]]) if len(values) > 1 else np.ones(1, bool)
    return np.asarray(values[keep])


def closed(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ranges of the full cycles of turning points (n,), and the points that belong to none of them.

    Points that follow later close the same further cycles with these points as with all.
    """
    from rainflow import extract_cycles  # type: ignore[import-untyped]

    if len(points) < 3:
        return np.empty(0), points
    full = [(size, begin, end) for size, _, count, begin, end in extract_cycles(points.tolist()) if count == 1.0]
    left = np.ones(len(points), bool)
    left[[place for _, *ends in full for place in ends]] = False
    return np.array([size for size, *_ in full]), np.asarray(points[left])
