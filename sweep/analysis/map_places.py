"""Places on a map: the ends of its axes, its pixels, the sides of its cells, and the rows nearest to places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.regime_map import RegimeMap

PROBABILITY_AREAS = "chance"  # areas of a map of probabilities: never, sometimes, always
MOST_TRIANGLED = 200_000  # scattered rows; more are so close to each other that the nearest one shades a pixel
LEAST_WEIGHT = 0.05  # of the rows of its own area that a place needs in its triangle


def limits_of(drawn: RegimeMap) -> list[tuple[float, float]]:
    """The ends of the axes: half a cell beyond the values of a grid, the extremes of scattered rows, and some room around single points."""
    found = []
    for values, log in zip((drawn.x_values, drawn.y_values), drawn.logarithmic, strict=True):
        if drawn.gridded:
            found.append(ends(values, log))
        else:
            low, high = float(values.min()), float(values.max())
            found.append(widened(low, high, log) if drawn.loose else (low, high))
    return found


def widened(low: float, high: float, log: bool, part: float = 0.03) -> tuple[float, float]:
    """Two ends with room beyond them, as a part of their distance (of the logarithms if `log`)."""
    if log:
        room = (high / low) ** part
        return low / room, high * room
    return low - part * (high - low), high + part * (high - low)


def ends(values: np.ndarray, log: bool) -> tuple[float, float]:
    """The ends of an axis: half a cell beyond the first and the last of its values."""
    v = np.log(values) if log else values
    first, last = v[0] - (v[1] - v[0]) / 2.0, v[-1] + (v[-1] - v[-2]) / 2.0
    return (math.exp(first), math.exp(last)) if log else (float(first), float(last))


def sides_of(values: np.ndarray, log: bool) -> np.ndarray:
    """The (n + 1,) sides of the cells around the (n,) values of an axis of a grid, in the middle between neighbours."""
    v = np.log(values) if log else values
    first, last = ends(values, log)
    middles = (v[1:] + v[:-1]) / 2.0
    return np.concatenate([[first], np.exp(middles) if log else middles, [last]])


def spread(first: float, last: float, log: bool, count: int) -> np.ndarray:
    """The (count,) centres of the pixels of an axis."""
    parts = (np.arange(count) + 0.5) / count
    return np.asarray(first * (last / first) ** parts if log else first + (last - first) * parts)


def nearest(values: np.ndarray, places: np.ndarray, log: bool) -> np.ndarray:
    """Positions of the elements of the ascending `values` that are nearest to `places`."""
    v = np.log(values) if log else values
    return np.searchsorted((v[1:] + v[:-1]) / 2.0, np.log(places) if log else places)


def nearest_rows(drawn: RegimeMap, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n_y, n_x) flat positions of the map's rows nearest to places: on a grid nearest along each axis, else nearest in the picture."""
    if drawn.gridded:
        columns, rows = nearest(drawn.x_values, x, drawn.logarithmic[0]), nearest(drawn.y_values, y, drawn.logarithmic[1])
        return np.asarray(rows[:, np.newaxis] * len(drawn.x_values) + columns[np.newaxis, :])
    from scipy.spatial import cKDTree

    own = ((drawn.x_values, drawn.logarithmic[0]), (drawn.y_values, drawn.logarithmic[1]))
    tree = cKDTree(np.stack([scaled(rows, rows, log) for rows, log in own], axis=1))
    across, up = (scaled(places, rows, log) for places, (rows, log) in zip((x, y), own, strict=True))
    _, found = tree.query(np.stack(np.meshgrid(across, up), axis=-1))
    return np.asarray(found)


def between(drawn: RegimeMap, values: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n_y, n_x) of the values on a grid, linear between its places (in the logarithm along an axis that is spaced in it); NaN beyond."""
    from scipy.interpolate import RegularGridInterpolator

    axes = zip((drawn.y_values, drawn.x_values), (y, x), reversed(drawn.logarithmic), strict=True)
    own, at = zip(*((scaled(rows, rows, log), scaled(places, rows, log)) for rows, places, log in axes), strict=True)
    found = RegularGridInterpolator(own, values, bounds_error=False)(tuple(np.meshgrid(*at, indexing="ij")))
    return np.asarray(found)


def shades_between(drawn: RegimeMap, x: np.ndarray, y: np.ndarray, areas: np.ndarray) -> np.ndarray | None:
    """(n_y, n_x) shades at places between scattered rows, linear within the triangles of neighbouring rows (Delaunay's).

    Observables may jump from one area to another. So a place takes the rows of its own area alone, in proportion, and the nearest row where
    its triangle has none of that area. (The areas of a probability follow from the probability itself, which has no jump there.)

    Args:
        drawn: a map of scattered rows. x, y: the places along its axes. areas: (n_y, n_x) codes of the areas there.

    Returns:
        NaN where no triangle has such a row; None if the rows span no triangles, or are too many to need them.
    """
    from scipy.spatial import Delaunay, QhullError

    if drawn.shades is None or not 3 < drawn.rows or len(drawn.x_values) > MOST_TRIANGLED:
        return None
    axes = ((drawn.x_values, x, drawn.logarithmic[0]), (drawn.y_values, y, drawn.logarithmic[1]))
    own = np.stack([scaled(rows, rows, log) for rows, _, log in axes], axis=1)
    at = np.stack(np.meshgrid(*(scaled(places, rows, log) for rows, places, log in axes)), axis=-1).reshape(-1, 2)
    try:
        net = Delaunay(own)
    except QhullError:  # all rows lie on a line
        return None
    found = net.find_simplex(at)
    affine = net.transform[found]
    first = np.einsum("nij,nj->ni", affine[:, :2], at - affine[:, 2])
    parts = np.concatenate([first, 1.0 - first.sum(axis=1, keepdims=True)], axis=1)
    corners = net.simplices[found]
    values = drawn.shades[corners]
    same = np.isfinite(values) & np.isfinite(parts) & (found >= 0)[:, np.newaxis]
    if drawn.areas != PROBABILITY_AREAS:
        same &= drawn.regimes[corners] == areas.reshape(-1, 1)
    weights = np.where(same, np.clip(np.nan_to_num(parts), 0.0, 1.0), 0.0)
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shades = np.where(total > LEAST_WEIGHT, (weights * np.nan_to_num(values)).sum(axis=1) / total, np.nan)
    return np.asarray(shades.reshape(areas.shape))


def scaled(values: np.ndarray, rows: np.ndarray, log: bool) -> np.ndarray:
    """Values as parts of the range of rows, of their logarithms if `log`."""
    v, r = (np.log(values), np.log(rows)) if log else (values, rows)
    return np.asarray((v - r.min()) / (np.ptp(r) or 1.0))
