"""Shock: impacts on a wall with their forces, times and velocities, over the whole run."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.numerics.numbers import Array, choice
from kernels.observables import contact_window
from kernels.observables.push import Push

IN_WINDOW = (contact_window,)  # observables of shock over the window: modules with `init`, `update`, `merged`, `finish` and `SUMMED`


class Shock(NamedTuple):
    """Sums over the run, and those IN_WINDOW. Times and velocities are NaN until their event has happened.

    Attributes:
        impacts: entries into the wall. peak: largest force [N]. contact_time: time with a force [s]. impulse: integral of the force [N s].
        first_time, first_velocity: of the first entry [s], [m/s]. buckling_time: when the force first reached the criterion [s].
        compression: largest compression [m]. rebound, separation: velocity [m/s] and time [s] when the force last came to 0.
        returned: when the mass last left the wall [s].
        in_window: sums of each of IN_WINDOW.
    """

    impacts: Array
    peak: Array
    contact_time: Array
    impulse: Array
    first_time: Array
    first_velocity: Array
    buckling_time: Array
    compression: Array
    rebound: Array
    separation: Array
    returned: Array
    in_window: tuple[Any, ...]


def init(like: Array, inside: Array, velocity: Array, buckled: Array, window_start: Array | float = 0.0) -> Shock:
    """Sums before the run. A mass that starts `inside` the wall enters it at t = 0, with `velocity` [m/s].

    `buckled`: whether the wall has buckled at t = 0. `window_start`: start of the window [s].
    """
    zero = jnp.zeros_like(like)
    never = zero + jnp.nan
    return Shock(
        jnp.where(inside, 1.0, zero), zero, zero, zero, jnp.where(inside, zero, never), jnp.where(inside, velocity, never),
        jnp.where(buckled, zero, never), zero, never, never, never,
        tuple(each.init(like, inside & (window_start <= 0.0)) for each in IN_WINDOW),
    )  # fmt: skip


def update(sums: Shock, now: Push) -> Shock:
    """Sums after one more stretch of time."""
    first = now.entered & (sums.impacts == 0.0)
    return Shock(
        impacts=sums.impacts + choice(now.entered, 1.0, 0.0, now.force),
        peak=jnp.maximum(sums.peak, now.force),
        contact_time=sums.contact_time + now.pressed,
        impulse=sums.impulse + now.impulse,
        first_time=jnp.where(first, now.time, sums.first_time),
        first_velocity=jnp.where(first, now.velocity, sums.first_velocity),
        buckling_time=jnp.where(now.buckled, now.time, sums.buckling_time),
        compression=jnp.maximum(sums.compression, now.compression),
        rebound=jnp.where(now.parted, now.velocity, sums.rebound),
        separation=jnp.where(now.parted, now.time, sums.separation),
        returned=jnp.where(now.left, now.time, sums.returned),
        in_window=tuple(each.update(seen, now) for each, seen in zip(IN_WINDOW, sums.in_window, strict=True)),
    )


def merged(one: Shock, other: Shock) -> Shock:
    """The sums over two walls: counts, durations and impulses added, the larger force and compression, the first entry, the last exit."""
    first = jnp.isnan(other.first_time) | (one.first_time <= other.first_time)
    parted = jnp.isnan(other.separation) | (one.separation >= other.separation)
    left = jnp.isnan(other.returned) | (one.returned >= other.returned)
    buckled = jnp.isnan(other.buckling_time) | (one.buckling_time <= other.buckling_time)
    return Shock(
        impacts=one.impacts + other.impacts,
        peak=jnp.maximum(one.peak, other.peak),
        contact_time=one.contact_time + other.contact_time,
        impulse=one.impulse + other.impulse,
        first_time=jnp.where(first, one.first_time, other.first_time),
        first_velocity=jnp.where(first, one.first_velocity, other.first_velocity),
        buckling_time=jnp.where(buckled, one.buckling_time, other.buckling_time),
        compression=jnp.maximum(one.compression, other.compression),
        rebound=jnp.where(parted, one.rebound, other.rebound),
        separation=jnp.where(parted, one.separation, other.separation),
        returned=jnp.where(left, one.returned, other.returned),
        in_window=tuple(each.merged(a, b) for each, a, b in zip(IN_WINDOW, one.in_window, other.in_window, strict=True)),
    )


def finish(sums: Shock, p: dict[str, Any]) -> dict[str, Array]:
    """Observables of shock by name (scalars, SI units), without those of `of_wall`. `p` has the ends of the window [s]."""
    windowed = [each.finish(seen, p) for each, seen in zip(IN_WINDOW, sums.in_window, strict=True)]
    return {
        **{name: value for found in windowed for name, value in found.items()},
        "impacts": sums.impacts,
        "peak_force": sums.peak,
        "contact_time": sums.contact_time,
        "impulse": sums.impulse,
        "first_contact_time": sums.first_time,
        "first_contact_velocity": sums.first_velocity,
        "max_compression": sums.compression,
        "rebound_velocity": sums.rebound,
        "separation_time": sums.separation,
        "return_time": sums.returned,
        "buckling_time": sums.buckling_time,
    }


def of_wall(sums: Shock, plastic: Array, regime: Array, prefix: str) -> dict[str, Array]:
    """Observables of one wall of a model whose walls may buckle, by name with the wall's prefix.

    Args:
        sums: of this wall. plastic: its plastic set [m]. regime: code of how far it was pressed.
        prefix: empty for the first wall. A wall with a prefix also has its own number of impacts, largest force and largest compression.
    """
    found = {"buckling_time": sums.buckling_time, "plastic_set": plastic, "wall_regime": regime}
    if prefix:
        found |= {"impacts": sums.impacts, "peak_force": sums.peak, "max_compression": sums.compression}
    return {prefix + name: value for name, value in found.items()}
