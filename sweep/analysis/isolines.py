"""Iso-lines of a map: where its shades pass a level, such as the line on which a probability is 5 %, with the band of their intervals.

Between the values of a grid the shades are taken as linear (in the logarithm along an axis that is spaced in it), so that a line is as
accurate as its cells are fine. The band lies between the lines on which the lower and the upper end of the interval pass the level. At each
place of the true line the interval covers the level with its confidence, and then the place lies within the band.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.analysis.regime_map import OF_PROBABILITY, IsoLine, RegimeMap
from tribosweep.sweep.execution.parquet import WORDS, column, described
from tribosweep.sweep.io.errors import ConfigError, Problem

if TYPE_CHECKING:
    import pyarrow as pa

VALUE, LOWER, UPPER = "value", "lower", "upper"
COLUMNS = {
    "line": "number of the piece of a line, from 0 on",
    "level": "level that is passed on the line",
    "of": "what passes it: the value, or the lower or upper end of its interval",
}


def with_lines(drawn: RegimeMap, levels: Sequence[float]) -> RegimeMap:
    """A map with the iso-lines of its shades at levels in their unit, and those of the ends of their intervals.

    Raises:
        ConfigError: nothing shades the map, its rows are not on a grid, or contourpy is missing.
    """
    if not levels:
        return drawn
    problems = [Problem("--line", f"{level:g} is no level: must be a finite number") for level in levels if not np.isfinite(level)]
    if drawn.shade is not None and drawn.shade.name.startswith(OF_PROBABILITY):
        wrong = [level for level in levels if np.isfinite(level) and not 0.0 <= level <= 1.0]
        problems += [Problem("--line", f"{level:g} is no probability: must be from 0 to 1, 0.05 for 5 %") for level in wrong]
    if drawn.shades is None or drawn.shade is None:
        problems.append(Problem("--line", "nothing shades this map, so that nothing passes a level"))
    elif not drawn.gridded:
        problems.append(Problem("--line", "its rows are on no grid: --bins 20 takes those of equal parts of the axes together"))
    elif min(len(drawn.x_values), len(drawn.y_values)) < 2:
        problems.append(Problem("--line", "a line needs two values along each axis"))
    if problems:
        raise ConfigError("tribosweep map", problems)
    fields = {VALUE: drawn.shades} | ({} if drawn.ends is None else {LOWER: drawn.ends[0], UPPER: drawn.ends[1]})
    found = [IsoLine(float(level), of, contour(drawn, values, float(level))) for level in levels for of, values in fields.items()]
    return replace(drawn, lines=tuple(line for line in found if line.pieces or line.of == VALUE))


def contour(drawn: RegimeMap, values: np.ndarray | None, level: float) -> tuple[np.ndarray, ...]:
    """The pieces of the line on which (n_y, n_x) values of the places of a grid pass a level; none where there is no value."""
    try:
        import contourpy
    except ModuleNotFoundError:
        raise ConfigError("--line", [Problem("", "contourpy is not installed: pip install 'tribosweep[plot]'")]) from None
    if values is None or not np.isfinite(values).any():
        return ()
    axes = [np.log(v) if log else v for v, log in zip((drawn.x_values, drawn.y_values), drawn.logarithmic, strict=True)]
    there = np.isfinite(values)
    near = np.where(there, values, 0.0)
    masked = np.ma.masked_array(near, ~there)
    pieces = contourpy.contour_generator(x=axes[0], y=axes[1], z=masked).lines(level)
    found = []
    for piece in pieces:
        line = np.array(piece, dtype=np.float64)
        for axis, log in enumerate(drawn.logarithmic):
            line[:, axis] = np.exp(line[:, axis]) if log else line[:, axis]
        found.append(line)
    return tuple(sorted(found, key=len, reverse=True))


def line_table(drawn: RegimeMap) -> pa.Table:
    """The iso-lines of a map, one row for each place: `line`, `level`, `of`, and the two parameters under their names."""
    import pyarrow as pa

    pieces = [(line.level, line.of, piece) for line in drawn.lines for piece in line.pieces]
    counts = [len(piece) for *_, piece in pieces]
    places = np.concatenate([np.empty((0, 2)), *(piece for *_, piece in pieces)])
    columns = [
        pa.array(np.repeat(np.arange(len(pieces)), counts)),
        pa.array(np.repeat(np.array([level for level, *_ in pieces]), counts), pa.float64()),
        pa.array(np.repeat(np.array([of for _, of, _ in pieces], dtype=object), counts).tolist(), pa.string()).dictionary_encode(),
        pa.array(places[:, 0]),
        pa.array(places[:, 1]),
    ]
    unit = "" if drawn.shade is None else drawn.shade.unit
    fields = [
        described(name, each.type, unit if name == "level" else "", text)
        for (name, text), each in zip(COLUMNS.items(), columns, strict=False)
    ]
    fields[2] = described("of", WORDS, "", COLUMNS["of"])
    fields += [column(drawn.x), column(drawn.y)]
    arrays = [*columns[:2], columns[2].cast(WORDS), *columns[3:]]
    metadata = {"of": "" if drawn.shade is None else drawn.shade.name, "over": ", ".join(drawn.over)}
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata))
