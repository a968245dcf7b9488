"""The tangential damping of a support that none is given for: critical damping of the stuck point. Nothing here imports JAX.

It is the rule of one mass, c_t = max(0, 2 sqrt(m (k + k_t)) - c), with mass, stiffness and damping of a structure M, K, C at the point:
those of the shape u = M^-1 n that a sudden force there sets in motion, n the displacement of the point in the tangential direction in which
it is lightest. m = 1 / (n u), k = (u K u) m^2, c = (u C u) m^2. Of a body these are its own m, k and c. Without a damper the stuck point
rings at its contact frequency for ever, and its work rate with it.

The point is that which the support names, also where `position` or `angle` move the support.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from tribosweep.kernels.models.quantity import Values
from tribosweep.kernels.models.supports import RING, named


class AtPoint(NamedTuple):
    """A basis at a point: its mass [kg], (N,) shares of the modes in its motion [-], squares of frequencies [1/s^2], damping [N s/m]."""

    mass: float
    shares: np.ndarray
    squares: np.ndarray
    damping: float


@functools.lru_cache(maxsize=256)
def at_point(structure: Any, support: Any) -> tuple[AtPoint, ...]:
    """The point of a support in the tangential direction in which it is lightest, in each basis."""
    found = []
    kind = structure.kind_of(support)
    for basis in structure.bases.values():
        rows = structure.shapes_of(support, basis)[0 if kind.obstacle == RING else 1 : kind.axes]
        light = (rows**2 / basis.mass).sum(axis=1)
        shape = rows[int(np.argmax(light))]
        mass = 1.0 / light.max() if light.max() > 0.0 else 0.0  # a point that does not move needs no damper
        way = shape / basis.mass
        full = np.diag(2.0 * basis.damping * basis.omega * basis.mass) if basis.damping.ndim == 1 else basis.damping
        found.append(AtPoint(mass, mass * shape * way, basis.omega**2, float(way @ full @ way) * mass**2))
    return tuple(found)


def critical(structure: Any, support: Any, p: Values, xp: Any) -> Any:
    """c_t of a support [N s/m] from resolved parameters, among them its k_t."""
    points, k_t = at_point(structure, support), p[named("k_t", support.name)]
    if structure.body:
        light = points[0].mass  # of a body of 1 kg: 1 along its own directions
        return xp.maximum(0.0, 2.0 * xp.sqrt(light * p["m"] * (light * p["k"] + k_t)) - light * p["c"])
    number = xp.asarray(p["basis"], int) if len(points) > 1 else None

    def of_row(values: list[Any]) -> Any:
        return values[0] if number is None else xp.asarray(values)[number]

    mass, damping = of_row([each.mass for each in points]), of_row([each.damping for each in points])
    stiffness = of_row([each.mass * float(each.shares @ each.squares) for each in points])
    for mode in structure.own_modes:
        share = points[0].mass * points[0].shares[mode]
        own, usual = 2.0 * math.pi * p[named("frequency", str(mode))], points[0].squares[mode]
        stiffness = stiffness + share * (own**2 - usual)
        damping = damping + 2.0 * share * (p[named("damping", str(mode))] * own - structure.basis.damping[mode] * math.sqrt(usual))
    factor = p["frequency_factor"]
    stiffness, damping = stiffness * factor**2, damping * factor * p["damping_factor"]
    return xp.maximum(0.0, 2.0 * xp.sqrt(mass * (stiffness + k_t)) - damping)
