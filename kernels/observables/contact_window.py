"""Contact with a wall in the window: the part of the window in which the wall pushes, and how often the mass comes into the wall."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.numerics.numbers import Array, choice
from kernels.observables.push import Push

SUMMED = ("pressed",)  # sums of many small numbers, which float32 runs sum in two levels


class ContactWindow(NamedTuple):
    """Sums over the window: time in which the wall pushes [s], and entries into the wall."""

    pressed: Array
    entries: Array


def init(like: Array, enters: Array) -> ContactWindow:
    """Sums before the run; `enters`: whether the mass starts inside the wall in a window that begins with the run."""
    zero = jnp.zeros_like(like)
    return ContactWindow(zero, jnp.where(enters, 1.0, zero))


def update(sums: ContactWindow, now: Push) -> ContactWindow:
    """Sums after one more stretch of time."""
    if now.within is None:
        return sums
    entered = now.entered & now.within.end
    return ContactWindow(sums.pressed + now.within.pressed, sums.entries + choice(entered, 1.0, 0.0, now.force))


def merged(one: ContactWindow, other: ContactWindow) -> ContactWindow:
    """The sums over two walls."""
    return ContactWindow(one.pressed + other.pressed, one.entries + other.entries)


def finish(sums: ContactWindow, p: dict[str, Any]) -> dict[str, Array]:
    """contact_ratio [1] and impact_rate [1/s]."""
    length = p["window_end"] - p["window_start"]
    return {"contact_ratio": sums.pressed / length, "impact_rate": sums.entries / length}
