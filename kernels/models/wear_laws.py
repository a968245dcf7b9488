"""Wear laws: the volume V [m^3] that a wear power P [W] wears over a service time t [s]. Nothing here imports JAX.

    Archard  V = K P t

    EDF-MZ   V = V0 [X t + (1 - X) (1 - exp(-N t)) / N],  V0 = A P^B,  X = S / V0 <= 1

The wear rate of EDF-MZ falls from V0 to S. At small powers with V0 < S it would grow instead, which the law does not cover: V is then NaN,
but the row does not fail. Without power V = 0.

KWU-EPRI, the third law of the tool that SDND104 validates, is in `kwu_epri`. It weights the courses of normal force and sliding speed with
separate coefficients for impacts and for sliding, so that it is not a function of the wear power.

Source: the manuals of that tool; EDF-MZ with its constants in the documentation of its post-processing of wear.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

READS = ("service_time", "archard_k", "contact_area", "edf_a", "edf_b", "edf_n", "edf_s")  # parameters
SCAR = ("tube_radius", "contact_width")  # parameters of supports, for the depth of a scar
_SMALL, _SERIES = 0.5, tuple((-1.0) ** n / math.factorial(n + 1) for n in range(16))


def mean_decay(y: Any, xp: Any = np) -> Any:
    """(1 - exp(-y)) / y for y >= 0 of any shape. It and its derivatives are accurate to rounding at and near y = 0."""
    small = y < _SMALL
    inside, outside = xp.where(small, y, 0.0), xp.where(small, 1.0, y)
    series = 0.0 * inside
    for coefficient in reversed(_SERIES):
        series = series * inside + coefficient
    return xp.where(small, series, -xp.expm1(-outside) / outside)


def archard(p: Mapping[str, Any], power: Any) -> Any:
    """Volume [m^3] that a wear power [W] wears in service by Archard's law, of resolved parameters; any shapes that broadcast."""
    return p["archard_k"] * power * p["service_time"]


def edf_mz(p: Mapping[str, Any], power: Any, xp: Any = np) -> Any:
    """Volume [m^3] that a wear power [W] wears in service by EDF-MZ; NaN where 0 < V0 < S. The arguments are those of `archard`."""
    time, last = xp.asarray(p["service_time"]), xp.asarray(p["edf_s"])
    rubs = power > 0.0
    first = p["edf_a"] * xp.where(rubs, power, 1.0) ** p["edf_b"]  # a power of 0 has no derivative by its exponent
    volume = time * (last + (first - last) * mean_decay(p["edf_n"] * time, xp))
    said = xp.where(first >= last, volume, math.nan)
    return xp.where(rubs, said, xp.where(xp.isnan(power), math.nan, 0.0 * time))


def volumes(p: Mapping[str, Any], power: Any, given: Collection[str], xp: Any = np) -> dict[str, Any]:
    """Volumes [m^3] and depths [m] by name, as far as their parameters are `given`.

    Args:
        p: resolved parameters; only READS are read (floats or arrays that broadcast with `power`).
        power: wear power [W], any shape. given: names of the parameters that are given. xp: array module, numpy or jax.numpy.

    Differentiable in every parameter and the power. Validated by tests/kernels/models/test_wear_laws.py.
    """
    found: dict[str, Any] = {}
    if "service_time" not in given:
        return found
    if "archard_k" in given:
        found["wear_volume"] = archard(p, power)
    found["wear_volume_edf_mz"] = edf_mz(p, power, xp)
    if "contact_area" in given:
        found |= {name.replace("volume", "depth"): volume / p["contact_area"] for name, volume in found.items()}
    return found


def scar_area(depth: Any, radius: Any, gap: Any, xp: Any = np) -> Any:
    """Area [m^2] of a scar of a given depth [m] that a ring of radius + gap [m] leaves on a tube of that radius [m].

    The scar is the part of the tube's circle outside the ring's circle, when the tube is gap + depth off the ring's centre:
    A = r^2 (a - sin a cos a) - R^2 (b - sin b cos b), with R = r + gap, d = gap + depth, cos a = (R^2 - r^2 - d^2) / (2 r d) and
    cos b = (R^2 - r^2 + d^2) / (2 R d). Any shapes that broadcast.
    """
    ring, off = radius + gap, gap + depth
    safe = xp.where(off > 0.0, off, 1.0)
    # both cosines without the differences of near numbers: 1 - cos a = (d^2 + 2 r d - (R^2 - r^2)) / (2 r d) and so on
    on_tube = depth * (2.0 * radius + 2.0 * gap + depth) / (2.0 * radius * safe)
    on_ring = depth * (2.0 * radius - depth) / (2.0 * ring * safe)
    return radius**2 * _segment(on_tube, xp) - ring**2 * _segment(on_ring, xp)


def _segment(versine: Any, xp: Any) -> Any:
    """A - sin a cos a of the angle a with the versine 1 - cos a, in [0, 2]; near 0 by the series in sin(a / 2)^2."""
    half = xp.clip(0.5 * versine, 0.0, 1.0)  # sin(a / 2)^2
    small = half < 1e-3
    inside, outside = xp.where(small, half, 0.25), xp.where(small, 0.25, half)
    root = xp.sqrt(xp.where(inside > 0.0, inside, 1.0)) * xp.where(inside > 0.0, 1.0, 0.0)
    # 2 a - sin 2 a over two, a = 2 asin(s): (16/3) s^3 (1 - (3/10) s^2 - (3/56) s^4 - (1/48) s^6 ...)
    series = (16.0 / 3.0) * root * inside * (1.0 - inside * (0.3 + inside * (3.0 / 56.0 + inside * (1.0 / 48.0))))
    angle = 2.0 * xp.arcsin(xp.sqrt(outside))
    return xp.where(small, series, angle - xp.sin(angle) * xp.cos(angle))


def scar_depth(area: Any, radius: Any, gap: Any, xp: Any = np) -> Any:
    """Depth [m] of a scar of a given area [m^2] (see `scar_area`), by bisection and Newton's method; 2 r where the tube is worn through."""
    most = 2.0 * radius
    low, high = 0.0 * (area + radius + gap), most + 0.0 * (area + gap)
    for _ in range(60):
        middle = 0.5 * (low + high)
        more = scar_area(middle, radius, gap, xp) < area
        low, high = xp.where(more, middle, low), xp.where(more, high, middle)
    depth = 0.5 * (low + high)
    for _ in range(2):  # the derivative of the area is the chord of the scar
        off = gap + depth
        versine = depth * (2.0 * radius + 2.0 * gap + depth) / (2.0 * radius * xp.where(off > 0.0, off, 1.0))
        chord = 2.0 * radius * xp.sqrt(xp.clip(versine * (2.0 - versine), 1e-300, None))
        wide = chord > 1e-4 * radius  # at the far side of the tube the chord ends, and bisection alone has the digits
        step = xp.where(wide, (scar_area(depth, radius, gap, xp) - area) / xp.where(wide, chord, 1.0), 0.0)
        depth = xp.where(area > 0.0, depth - step, 0.0)
    depth = xp.where(area < scar_area(most, radius, gap, xp), depth, most + 0.0 * (area + gap))
    return xp.where(xp.isnan(area), math.nan, depth)


def of_all(p: Mapping[str, Any], observables: Mapping[str, Any], given: Collection[str], xp: Any = np) -> dict[str, Any]:
    """`volumes` of every wear power among observables: those of "wear_power[ring]" have names such as "wear_volume[ring]".

    With `SCAR` given, the volume worn off a tube in a ring has a `scar_depth` too.
    """
    found: dict[str, Any] = {}
    for name, power in observables.items():
        base, bracket, support = name.partition("[")
        if base != "wear_power":
            continue
        worn = volumes(p, power, given, xp)
        if all(needed in given for needed in SCAR) and "wear_volume" in worn and f"gap{bracket}{support}" in p:
            area = worn["wear_volume"] / p["contact_width"]
            worn["scar_depth"] = scar_depth(area, p["tube_radius"], p[f"gap{bracket}{support}"], xp)
        found |= {each + bracket + support: value for each, value in worn.items()}
    return found
