"""The wear law KWU-EPRI: the volume worn in service, from the course of normal force and sliding speed. Nothing here imports JAX.

The instants in contact fall into five classes of equal width of the normal force up to its maximum, and five of the sliding speed. x_ij is
the share of the time in contact in class i of the speed and j of the force; F_j and v_i are the middles of the classes:

    impacts   S_I = sum over j of x_1j K_1 k (F_j / c)^3         the slowest class: impacts that harden the surface
    sliding   S_S = sum over i > 1 and all j of x_ij K_2 F_j v_i^2  + x_11 K_2 F_1 v_1^2
    intensity w = S_S^2 / (S_S + S_I)
    volume    V = K w P t,  P the wear power (mean of normal force times sliding speed), t the service time

The law is for contacts where impacts dominate: with S_I < S_S there is no volume (NaN), as the tool of its source stops there.

Source: the wear laws of the tool that SDND104 validates, R7.04.10 (law KWU_EPRI of POST_USURE), whose defaults are k = 5 and c = 10. It
cuts the width of the classes of force down to whole newtons; here it is a fifth of the maximum.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

CLASSES = 5


class KwuEpriLaw(NamedTuple):
    """The numbers of the law; see `kwu_epri`."""

    wear_coefficient: float
    impact_coefficient: float
    sliding_coefficient: float
    service_time: float
    force_max: float
    speed_max: float
    hardening: float = 5.0
    reference_force: float = 10.0


class KwuEpri(NamedTuple):
    """What `kwu_epri` finds.

    Attributes:
        volume: worn in service [m^3], 0 without contact; NaN where the law does not hold.
        intensity: w. impacts, sliding: S_I and S_S. In the units of the coefficients.
        wear_power: mean of normal force times sliding speed [W].
        shares: of the time in contact (5, 5): classes of the sliding speed, slowest first, by classes of the normal force, weakest first.
    """

    volume: float
    intensity: float
    impacts: float
    sliding: float
    wear_power: float
    shares: np.ndarray


def kwu_epri(
    time: ArrayLike,
    normal_force: ArrayLike,
    sliding_speed: ArrayLike,
    *,
    wear_coefficient: float,
    impact_coefficient: float,
    sliding_coefficient: float,
    service_time: float,
    hardening: float = 5.0,
    reference_force: float = 10.0,
    force_max: float | None = None,
    speed_max: float | None = None,
) -> KwuEpri:
    """The volume that a contact wears in service by the law KWU-EPRI.

    Args:
        time: (n,) instants [s], ascending, evenly spaced or not; each stands for half the way to its neighbours.
        normal_force: (n,) [N], 0 off the contact. sliding_speed: (n,) [m/s], any sign; only that in contact counts.
        wear_coefficient: K [1/Pa for a dimensionless w]. impact_coefficient, sliding_coefficient: K_1 and K_2. All three are of the pair of
            materials; the law has no values of its own.
        service_time: t [s]. hardening, reference_force: k and c [N].
        force_max: upper end of the classes of force [N]; by default the largest in contact. What is above it falls into the last class.
        speed_max: the same of the sliding speed [m/s].

    Returns:
        See `KwuEpri`.

    Raises:
        ValueError: arrays of different shapes, fewer than two instants, times that do not ascend, numbers that are not finite, negative
            forces, coefficients or service, or bounds that are not positive.

    Source: R7.04.10, law KWU_EPRI.

    Examples:
        >>> t = numpy.linspace(0.0, 1.0, 1001)
        >>> force = numpy.maximum(0.0, 50.0 * numpy.sin(40.0 * t))  # bouncing on a support
        >>> speed = 0.02 * numpy.cos(40.0 * t) ** 2                 # and sliding on it
        >>> found = kwu_epri(t, force, speed, wear_coefficient=1e-14, impact_coefficient=1e-3, sliding_coefficient=1.0, service_time=3.15e7)
        >>> found.shares.shape, round(float(found.shares.sum()), 12)
        ((5, 5), 1.0)
    """
    times, force, speed = (_read(value, name) for name, value in zip(_ARRAYS, (time, normal_force, sliding_speed), strict=True))
    _check(times, force, speed)
    numbers = {
        "wear_coefficient": wear_coefficient, "impact_coefficient": impact_coefficient, "sliding_coefficient": sliding_coefficient,
        "service_time": service_time, "hardening": hardening, "reference_force": reference_force,
    }  # fmt: skip
    for name, value in numbers.items():
        if not (math.isfinite(value) and (value > 0.0 if name == "reference_force" else value >= 0.0)):
            raise ValueError(f"{name} must be {'> 0' if name == 'reference_force' else '>= 0'} and finite, not {value:g}")
    tops = {"force_max": (force_max, force), "speed_max": (speed_max, np.abs(speed))}
    for name, (top, _) in tops.items():
        if top is not None and not (math.isfinite(top) and top > 0.0):
            raise ValueError(f"{name} must be > 0 and finite, not {top:g}")
    speed = np.abs(speed)
    lasts = np.empty_like(times)
    steps = np.diff(times)
    lasts[0], lasts[-1], lasts[1:-1] = 0.5 * steps[0], 0.5 * steps[-1], 0.5 * (steps[:-1] + steps[1:])
    power = float(np.sum(lasts * force * speed) / np.sum(lasts))
    touches = force > 0.0
    largest = [float(np.max(values[touches], initial=0.0)) if top is None else top for top, values in tops.values()]
    times_of_classes = np.zeros(CLASSES * CLASSES)
    np.add.at(times_of_classes, class_of(force[touches], speed[touches], *largest).astype(int), lasts[touches])
    shares = times_of_classes / max(np.sum(lasts[touches]), np.finfo(float).tiny)
    law = KwuEpriLaw(**numbers, force_max=largest[0], speed_max=largest[1])
    volume, intensity, impacts, sliding = (float(each) for each in of_shares(law, shares, power))
    return KwuEpri(volume, intensity, impacts, sliding, power, shares.reshape(CLASSES, CLASSES))


def class_of(force: Any, speed: Any, force_max: float, speed_max: float, xp: Any = np) -> Any:
    """The class of instants with these normal forces and sliding speeds, any shape: 5 times that of the speed plus that of the force.

    Classes are counted from 0, and their upper ends belong to them; what is above the last one belongs to it too.
    """
    ends = xp.arange(1, CLASSES)
    of_speed, of_force = (
        xp.sum(values[..., None] * CLASSES > top * ends, axis=-1) for values, top in ((xp.abs(speed), speed_max), (force, force_max))
    )
    return CLASSES * of_speed + of_force


def of_shares(law: KwuEpriLaw, shares: Any, power: Any, xp: Any = np) -> tuple[Any, Any, Any, Any]:
    """Volume [m^3], intensity w, and the parts S_I and S_S of impacts and of sliding.

    Args:
        shares: of the time in contact in each class (see `class_of`), (..., 25). power: wear power [W], (...).
        xp: array module, numpy or jax.numpy.
    """
    shares = xp.reshape(shares, (*shares.shape[:-1], CLASSES, CLASSES))
    forces, speeds = (top / CLASSES * (np.arange(CLASSES) + 0.5) for top in (law.force_max, law.speed_max))
    impacts = xp.sum(shares[..., 0, :] * law.impact_coefficient * law.hardening * (forces / law.reference_force) ** 3, axis=-1)
    weights = law.sliding_coefficient * forces * speeds[:, None] ** 2
    sliding = xp.sum(shares[..., 1:, :] * weights[1:], axis=(-2, -1)) + shares[..., 0, 0] * weights[0, 0]
    both = sliding + impacts
    intensity = sliding * sliding / xp.where(both > 0.0, both, 1.0)
    volume = xp.where(impacts >= sliding, law.wear_coefficient * intensity * power * law.service_time, math.nan)
    return volume, intensity, impacts, sliding


_ARRAYS = ("time", "normal_force", "sliding_speed")


def _read(value: ArrayLike, name: str) -> np.ndarray:
    """One of the arrays, in float64."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a list of numbers: {error}") from None
    if found.ndim != 1 or found.size < 2:
        raise ValueError(f"{name} must be a list of at least 2 numbers, not an array of shape {found.shape}")
    if not np.isfinite(found).all():
        place = int(np.argmin(np.isfinite(found)))
        raise ValueError(f"{name} must be finite, and entry {place} is {found[place]}")
    return found


def _check(times: np.ndarray, force: np.ndarray, speed: np.ndarray) -> None:
    """Raise ValueError where the arrays do not go together."""
    if not times.size == force.size == speed.size:
        raise ValueError(f"{', '.join(_ARRAYS)} must be of one length, not of {times.size}, {force.size} and {speed.size}")
    if not (np.diff(times) > 0.0).all():
        place = int(np.argmax(np.diff(times) <= 0.0)) + 1
        raise ValueError(f"time must ascend, and entry {place} is {times[place]:g} s after {times[place - 1]:g} s")
    if (force < 0.0).any():
        place = int(np.argmax(force < 0.0))
        raise ValueError(f"normal_force must be >= 0 N, and entry {place} is {force[place]:g} N")
