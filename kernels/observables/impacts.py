"""Shock: impacts on a wall with their forces, times and velocities, in the window, and what happened first in the run."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.numerics.numbers import Array, choice
from kernels.observables.push import Push

SUMMED = ("contact_time", "impulse")  # sums of many small numbers, which float32 runs sum in two levels


class Shock(NamedTuple):
    """Sums over the window, and first events of the run. Times and velocities are NaN until their event has happened.

    Attributes:
        first_time, first_velocity: of the first contact of the run [s], [m/s].
        buckling_time: when the force first reached the criterion in the run [s].
        away: 1 from where the mass leaves the wall until it is back at x = 0, else 0.
        impacts: entries into the wall. peak: largest force [N]. contact_time: time with a force [s]. impulse: integral of the force [N s].
        compression: largest compression [m]. rebound, separation: velocity [m/s] and time [s] when the force last came to 0.
        left: when the mass last left the wall [s]. returned: when it last came back through x = 0 after that [s].
    """

    first_time: Array
    first_velocity: Array
    buckling_time: Array
    away: Array
    impacts: Array
    peak: Array
    contact_time: Array
    impulse: Array
    compression: Array
    rebound: Array
    separation: Array
    left: Array
    returned: Array


def init(
    like: Array, compression: Array, velocity: Array, side: Array | float, buckled: Array, window_start: Array | float = 0.0,
    pressed: Array | bool = False,
) -> Shock:  # fmt: skip
    """Sums before the run.

    A mass that starts inside the wall, or at rest at its face, is in contact from t = 0 on. It has an impact there if it moves inwards from
    inside, or is driven inwards from rest at the face; another entry from the face is an event of the run.

    Args:
        compression: of the wall at t = 0 [m], negative outside. velocity: of the mass [m/s]. side: +1 or -1, the side of the wall.
        buckled: whether the wall has buckled at t = 0. window_start: start of the window [s].
        pressed: whether the wall pushes at t = 0; a start at rest at its face, if it is driven inwards.
    """
    zero = jnp.zeros_like(like)
    never = zero + jnp.nan
    inside, inwards = compression > 0.0, side * velocity
    touches = inside | ((compression == 0.0) & (velocity == 0.0))
    hits = (inside & (inwards > 0.0) | touches & ~inside & pressed) & (window_start <= 0.0)
    return Shock(
        jnp.where(touches, zero, never), jnp.where(touches, velocity, never), jnp.where(buckled, zero, never), zero,
        jnp.where(hits, 1.0, zero), zero, zero, zero, zero, never, never, never, never,
    )  # fmt: skip


def nothing(like: Array) -> Shock:
    """Sums at the start of a window of a periodic motion."""
    zero = jnp.zeros_like(like)
    never = zero + jnp.nan
    return Shock(never, never, never, zero, zero, zero, zero, zero, zero, never, never, never, never)


def update(sums: Shock, now: Push) -> Shock:
    """Sums after one more stretch of time."""
    first = now.entered & jnp.isnan(sums.first_time)
    away = jnp.where(now.left, 1.0, sums.away)
    back = now.back & (away > 0.0)
    sums = sums._replace(
        first_time=jnp.where(first, now.time, sums.first_time),
        first_velocity=jnp.where(first, now.velocity, sums.first_velocity),
        buckling_time=jnp.where(now.buckled, now.time, sums.buckling_time),
        away=jnp.where(back | now.entered, 0.0, away),
    )
    part = now.within
    if part is None:
        return sums
    return sums._replace(
        impacts=sums.impacts + choice(now.entered & part.event, 1.0, 0.0, part.force),
        peak=jnp.maximum(sums.peak, part.force),
        contact_time=sums.contact_time + part.pressed,
        impulse=sums.impulse + part.impulse,
        compression=jnp.maximum(sums.compression, part.compression),
        rebound=jnp.where(now.parted & part.event, now.velocity, sums.rebound),
        separation=jnp.where(now.parted & part.event, now.time, sums.separation),
        left=jnp.where(now.left & part.event, now.time, sums.left),
        returned=jnp.where(back & part.back, now.back_time, sums.returned),
    )


def merged(one: Shock, other: Shock) -> Shock:
    """The sums over two walls: counts, durations and impulses added, the larger force and compression, the first entry, the last exit."""
    first = jnp.isnan(other.first_time) | (one.first_time <= other.first_time)
    parted = jnp.isnan(other.separation) | (one.separation >= other.separation)
    left = jnp.isnan(other.left) | (one.left >= other.left)
    returned = jnp.isnan(other.returned) | (one.returned >= other.returned)
    buckled = jnp.isnan(other.buckling_time) | (one.buckling_time <= other.buckling_time)
    return Shock(
        first_time=jnp.where(first, one.first_time, other.first_time),
        first_velocity=jnp.where(first, one.first_velocity, other.first_velocity),
        buckling_time=jnp.where(buckled, one.buckling_time, other.buckling_time),
        away=jnp.maximum(one.away, other.away),
        impacts=one.impacts + other.impacts,
        peak=jnp.maximum(one.peak, other.peak),
        contact_time=one.contact_time + other.contact_time,
        impulse=one.impulse + other.impulse,
        compression=jnp.maximum(one.compression, other.compression),
        rebound=jnp.where(parted, one.rebound, other.rebound),
        separation=jnp.where(parted, one.separation, other.separation),
        left=jnp.where(left, one.left, other.left),
        returned=jnp.where(returned, one.returned, other.returned),
    )


def finish(sums: Shock, p: dict[str, Any]) -> dict[str, Array]:
    """Observables of shock by name (scalars, SI units), without those of `of_wall`. `p` has the ends of the window [s]."""
    length = p["window_end"] - p["window_start"]
    return {
        "impacts": sums.impacts,
        "impact_rate": sums.impacts / length,
        "peak_force": sums.peak,
        "contact_time": sums.contact_time,
        "contact_ratio": sums.contact_time / length,
        "impulse": sums.impulse,
        "first_contact_time": sums.first_time,
        "first_contact_velocity": sums.first_velocity,
        "max_compression": sums.compression,
        "rebound_velocity": sums.rebound,
        "separation_time": sums.separation,
        "exit_time": sums.left,
        "return_time": sums.returned,
        "buckling_time": sums.buckling_time,
    }


def of_wall(sums: Shock, plastic: Array, regime: Array, prefix: str) -> dict[str, Array]:
    """Observables of one wall of a model whose walls may buckle, by name with the wall's prefix.

    Args:
        sums: of this wall. plastic: its plastic set [m]. regime: code of how far it was pressed.
        prefix: empty for the first wall. A wall with a prefix also has its own number of impacts, largest force and largest compression.
    """
    buckled = jnp.where(jnp.isnan(sums.buckling_time), 0.0, 1.0)
    found = {"buckled": buckled, "buckling_time": sums.buckling_time, "plastic_set": plastic, "wall_regime": regime}
    if prefix:
        found |= {"impacts": sums.impacts, "peak_force": sums.peak, "max_compression": sums.compression}
    return {prefix + name: value for name, value in found.items()}
