"""Derivatives by the bounds of the window and of the run where these fall on the ends of steps. No value depends on them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.numerics.tangents import moved_with, only_tangent, with_tangent_of


def begins_at(place: Array) -> Array:
    """The fraction of a step, in [0, 1], at which a window begins that begins `place` steps after the start of this step.

    A window that begins where two steps meet moves the later one's part: one that begins with the run can only begin later.
    """
    return with_tangent_of(jnp.where((place >= 0.0) & (place < 1.0), place, jnp.where(place > 0.0, 1.0, 0.0)), jnp.clip(place, 0.0, 1.0))


def ends_at(place: Array, at_end: Array | bool = False) -> Array:
    """The same of its end, which moves the earlier one's part: a window that ends with the run can only end earlier.

    `at_end`: whether window and run end with this step (`closes`); `place` may then be 1 and a rounding error.
    """
    moves = ((place > 0.0) & (place <= 1.0)) | at_end
    return with_tangent_of(jnp.where(moves, place, jnp.where(place > 0.0, 1.0, 0.0)), jnp.clip(place, 0.0, 1.0))


def closes(bound: Array, end: Array, done: Array, whole: Array) -> Array:
    """Whether a window that ends at `bound` [s] ends with its run, at `end` [s], in the step after `done` of `whole` steps."""
    return (bound == end) & (done == whole - 1.0)


def lost_at_start(p: dict[str, Any], t: Array) -> Array:
    """How much later a window begins that begins with the run, in a step that does so at `t` [s]: 0 [s], with a derivative.

    A step of chosen length ends where a window begins later; where it begins with the run no step shows it.
    """
    return jnp.where((t == 0.0) & (p["window_start"] == 0.0), only_tangent(p["window_start"]), 0.0)


def without(before: Array, after: Array, late: Array, h: Array) -> Array:
    """The sum `after` a first step of `h` [s] that had the value `before`; its derivative lacks what a time `late` takes of the step."""
    share = (late / jnp.where(h > 0.0, h, 1.0)).astype(after.dtype)
    return moved_with(after, -share * jax.lax.stop_gradient(after - before))


def left_at_end(p: dict[str, Any], t: Array) -> Array:
    """What a run that has reached its end at `t` [s] lacks until there: 0 [s], with a derivative if its last step ended with the window."""
    return jnp.where(t == p["end"], only_tangent(p["end"] - t), 0.0)
