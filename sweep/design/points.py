"""Blocks of design points."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tribosweep.sweep.design.axis import SCHEME, SCHEME_NAMES, Axis


@dataclass(frozen=True, slots=True)
class Points:
    """A block of design points.

    Attributes:
        numbers: (n,) int64 positions in the design.
        columns: swept parameter -> (n,) float64 in its unit, NaN if absent; (n, L) for tables, each padded with NaN.
        absent: swept parameter -> (n,) mask of the rows that take its documented default; only for parameters with such rows.
        schemes: (n,) int8 positions in SCHEMES if the scheme is swept.
        level: level of these points in an adaptive design.
    """

    numbers: np.ndarray
    columns: dict[str, np.ndarray]
    absent: dict[str, np.ndarray]
    schemes: np.ndarray | None
    level: int = 0

    @property
    def count(self) -> int:
        """The number of points, n."""
        return len(self.numbers)

    def cut(self, most: int) -> list[Points]:
        """Cut the block into blocks of at most `most` points."""
        starts = range(0, self.count, most)
        return [self.part(slice(start, start + most)) for start in starts]

    def part(self, rows: np.ndarray | slice) -> Points:
        """Select some of the points."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        absent = {name: mask[rows] for name, mask in self.absent.items()}
        return Points(self.numbers[rows], columns, absent, None if self.schemes is None else self.schemes[rows], self.level)

    def digest(self) -> str:
        """SHA-256 of the points; it depends neither on their design nor on the padding of tables."""
        found = hashlib.sha256(self.numbers.tobytes())
        for name, values in self.columns.items():
            found.update(name.encode())
            if values.ndim > 1:
                nodes = ~np.isnan(values)
                found.update(np.count_nonzero(nodes, axis=1).tobytes())
                found.update(values[nodes].tobytes())
            else:
                found.update(np.ascontiguousarray(values).tobytes())
            if name in self.absent and self.absent[name].any():
                found.update(self.absent[name].tobytes())
        if self.schemes is not None:
            found.update(self.schemes.tobytes())
        return found.hexdigest()


def gather(axes: tuple[Axis, ...], positions: list[np.ndarray], numbers: np.ndarray) -> Points:
    """Look up each axis at its own (n,) `positions`; `numbers` are those of the points."""
    columns: dict[str, np.ndarray] = {}
    absent: dict[str, np.ndarray] = {}
    schemes = None
    for axis, position in zip(axes, positions, strict=True):
        if axis.name == SCHEME:
            schemes = axis.at(position)
            continue
        columns[axis.name] = axis.at(position)
        mask = axis.absent_at(position)
        if mask is not None:
            absent[axis.name] = mask
    return Points(numbers, columns, absent, schemes)


@dataclass(frozen=True, slots=True)
class Missing:
    """The value of a swept parameter in the rows of a block that does not sweep it.

    Attributes:
        value: (), or (L,) for a table padded with NaN to the L nodes of the widest table of any block; NaN if `default`.
        default: whether this is the documented default.
    """

    value: np.ndarray
    default: bool

    def column(self, block: Points, name: str) -> np.ndarray:
        """The (n,) values, or (n, L) tables, of a block: its own column, or this value repeated."""
        shape = (block.count, *self.value.shape)
        if name not in block.columns:
            return np.broadcast_to(self.value, shape)
        own = block.columns[name]
        return widened(own, shape[-1]) if own.ndim > 1 else own


def widened(tables: np.ndarray, width: int) -> np.ndarray:
    """Pad tables (..., L) with NaN to `width` nodes, at least L."""
    return np.pad(tables, [*[(0, 0)] * (tables.ndim - 1), (0, width - tables.shape[-1])], constant_values=np.nan)


def join(blocks: list[Points], numbers: np.ndarray, missing: Mapping[str, Missing], scheme: int | None) -> Points:
    """Join blocks, with all columns that any block of a design may have.

    Args:
        blocks: the blocks. numbers: (n,) the positions of all points.
        missing: every swept parameter -> its value in blocks that do not sweep it.
        scheme: if the scheme is swept, its code in blocks that do not sweep it.

    Returns:
        The joined block. Every parameter that may have absent rows has a mask, and tables are as wide as in any other block.
    """
    columns, absent = {}, {}
    for name, value in missing.items():
        columns[name] = np.concatenate([value.column(block, name) for block in blocks])
        nothing = [np.full(block.count, value.default and name not in block.columns) for block in blocks]
        absent[name] = np.concatenate([block.absent.get(name, mask) for block, mask in zip(blocks, nothing, strict=True)])
    schemes = None
    if scheme is not None:
        schemes = np.concatenate([np.full(block.count, scheme, np.int8) if block.schemes is None else block.schemes for block in blocks])
    return Points(numbers, columns, absent, schemes)


@dataclass(frozen=True, slots=True)
class SchemeRows:
    """The rows of a block that one scheme runs.

    Attributes:
        scheme: name of the scheme.
        rows: positions of the rows in the block.
        columns, absent: of these rows, as in `Points`.
        count: number of rows.
    """

    scheme: str
    rows: np.ndarray | slice
    columns: dict[str, np.ndarray]
    absent: dict[str, np.ndarray]
    count: int


def by_scheme(points: Points, scheme: str) -> list[SchemeRows]:
    """Group the rows of a block by their scheme; all rows have `scheme` if it is not swept."""
    if points.schemes is None:
        return [SchemeRows(scheme, slice(None), points.columns, points.absent, points.count)]
    found = []
    for code in np.unique(points.schemes):
        rows = np.flatnonzero(points.schemes == code)
        part = points.part(rows)
        found.append(SchemeRows(SCHEME_NAMES[code], rows, part.columns, part.absent, part.count))
    return found
