"""Slip in the window: distance, number of phases, largest speed, time stuck, net drift.

A contact slips where the friction that would hold it exceeds mu_s F_n by more than rounding may decide (`holds_to`). A force that is equal
to the limit, whatever sum of parameters makes it, holds. Every law of both engines takes its limit from here.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array, by_width
from tribosweep.kernels.observables.interval import Interval

ROUNDED = (1e-14, 4e-7)  # of the limit of friction, in float64 and in float32


def holds_to(limit: Array) -> Array:
    """The largest friction [N] that holds a contact with this limit of friction; of a coefficient, the coefficient to compare with."""
    return limit * (1.0 + by_width(limit, *ROUNDED))


class Slip(NamedTuple):
    """Sums over the window.

    Attributes:
        distance: distance slipped [m]. drift: net displacement [m]. stuck_time: time stuck [s]. top_speed: largest slip speed [m/s].
        phases: number of slip phases. counted: 1 if the present phase is one of them, else 0.
    """

    distance: Array
    drift: Array
    stuck_time: Array
    top_speed: Array
    phases: Array
    counted: Array


def init(like: Array) -> Slip:
    """Sums before the run."""
    zero = jnp.zeros_like(like)
    return Slip(zero, zero, zero, zero, zero, zero)


def update(sums: Slip, now: Interval) -> Slip:
    """Sums after one more interval."""
    inside = now.slipping & (now.duration > 0.0)
    counted = jnp.where(now.begins, 0.0, sums.counted)
    return Slip(
        distance=sums.distance + now.slip,
        drift=sums.drift + now.displacement,
        stuck_time=jnp.where(now.sticking, sums.stuck_time + now.duration, sums.stuck_time),
        top_speed=jnp.where(inside, jnp.maximum(sums.top_speed, now.top_speed), sums.top_speed),
        phases=jnp.where(inside, sums.phases + (1.0 - counted), sums.phases),
        counted=jnp.where(inside, 1.0, counted),
    )
