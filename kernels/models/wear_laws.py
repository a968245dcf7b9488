"""Wear laws: the volume V [m^3] that a wear power P [W] wears over a service time t [s]. Nothing here imports JAX.

    Archard  V = K P t

    EDF-MZ   V = V0 [X t + (1 - X) (1 - exp(-N t)) / N],  V0 = A P^B,  X = S / V0 <= 1

The wear rate of EDF-MZ falls from V0 to S. At small powers with V0 < S it would grow instead, which the law does not cover: V is then NaN,
but the row does not fail. Without power V = 0.

KWU-EPRI, the third law of the tool that SDND104 validates, is not here. It weights the histories of normal force and sliding speed with
separate coefficients for impacts and for sliding, so that it is not a function of the wear power. That tool has no defaults for the
coefficients, and there is no published value to compare an implementation with.

Source: the manuals of that tool; EDF-MZ with its constants in the documentation of its post-processing of wear.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

READS = ("service_time", "archard_k", "contact_area", "edf_a", "edf_b", "edf_n", "edf_s")  # parameters
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


def of_all(p: Mapping[str, Any], observables: Mapping[str, Any], given: Collection[str], xp: Any = np) -> dict[str, Any]:
    """`volumes` of every wear power among observables: those of "wear_power[ring]" have names such as "wear_volume[ring]"."""
    found: dict[str, Any] = {}
    for name, power in observables.items():
        base, bracket, support = name.partition("[")
        if base == "wear_power":
            found |= {worn + bracket + support: value for worn, value in volumes(p, power, given, xp).items()}
    return found
