"""Boundaries as lines of a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sweep.analysis.map_places import spread
from sweep.analysis.regime_map import RegimeMap, theory_of
from sweep.analysis.theory import Boundary

LINE_NODES = 600


def boundaries_of(drawn: RegimeMap) -> Iterable[Boundary]:
    """What theory and the run itself say of where the regimes meet."""
    values = (drawn.x_values, drawn.y_values)
    x, y = (spread(float(v.min()), float(v.max()), log, LINE_NODES) for v, log in zip(values, drawn.logarithmic, strict=True))
    return [*theory_of(drawn, x, y), *drawn.measured]


def line_of(boundary: Boundary) -> dict[str, Any]:
    """A boundary for plotly: pieces apart by null."""
    x: list[float | None] = []
    y: list[float | None] = []
    for piece in boundary.pieces:
        x += [*(float(f"{value:.7g}") for value in piece[:, 0]), None]
        y += [*(float(f"{value:.7g}") for value in piece[:, 1]), None]
    return {"name": boundary.plain, "theory": boundary.theory, "x": x, "y": y}


def limits_of_line(values: np.ndarray) -> tuple[float, float]:
    """The ends of the only axis."""
    return float(values[0]), float(values[-1])
