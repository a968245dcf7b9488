"""Derivatives by the bounds of the window and of the run, which computed steps do not show by themselves. No value depends on them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.numerics.tangents import moved_with, only_tangent, with_tangent_of


def begins_at(place: Array) -> Array:
    """The fraction of a step, in [0, 1], at which a window begins that begins `place` steps after the start of this step.

    A window that begins where two steps meet moves the later one's part: one that begins with the run can only begin later.
    """
    return with_tangent_of(jnp.where(_begins_in(place), place, jnp.where(place > 0.0, 1.0, 0.0)), jnp.clip(place, 0.0, 1.0))


def ends_at(place: Array, at_end: Array | bool = False) -> Array:
    """The same of its end, which moves the earlier one's part: a window that ends with the run can only end earlier.

    `at_end`: whether window and run end with this step (`closes`); `place` may then be 1 and a rounding error.
    """
    moves = _ends_in(place) | at_end
    return with_tangent_of(jnp.where(moves, place, jnp.where(place > 0.0, 1.0, 0.0)), jnp.clip(place, 0.0, 1.0))


def after_end(places: tuple[Array, Array], h: Array, at_end: Array) -> tuple[Array, Array]:
    """How much later than the end of a step of `h` [s] the window begins and ends, if it does so in the step: 0 [s], with derivatives.

    Args:
        places: where it begins and ends, as for `begins_at` and `ends_at`. at_end: see `ends_at`.
    """
    moves = _begins_in(places[0]), _ends_in(places[1]) | at_end
    begins, ends = (jnp.where(each, only_tangent((place - 1.0) * h), 0.0) for each, place in zip(moves, places, strict=True))
    return begins.astype(h.dtype), ends.astype(h.dtype)


def _begins_in(place: Array) -> Array:
    """Whether a window that begins at a place begins in this step."""
    return (place >= 0.0) & (place < 1.0)


def _ends_in(place: Array) -> Array:
    """The same of its end."""
    return (place > 0.0) & (place <= 1.0)


def closes(bound: Array, end: Array, done: Array, whole: Array) -> Array:
    """Whether a window that ends at `bound` [s] ends with its run, at `end` [s], in the step after `done` of `whole` steps."""
    return (bound == end) & (done == whole - 1.0)


def lost_at_start(p: dict[str, Any], t: Array) -> Array:
    """How much later than its run a window begins that begins with it: in the step from `t` = 0 it is 0 [s] with a derivative.

    Steps of chosen length end where a window begins later than the run; no step ends at the start of the run.
    """
    return jnp.where((t == 0.0) & (p["window_start"] == 0.0), only_tangent(p["window_start"]), 0.0)


def part_of(late: Array, h: Array) -> Array:
    """A time `late` as a fraction of a step of `h`, both [s] and the former 0 with a derivative."""
    return moved_with(jnp.zeros_like(h), (late / jnp.where(h > 0.0, h, 1.0)).astype(h.dtype))


def without(before: Array, after: Array, part: Array) -> Array:
    """A sum `after` a first step, which was `before`. Its derivative lacks what a `part` of the step, 0 with a derivative, adds to it."""
    return moved_with(after, -part.astype(after.dtype) * (after - before))


def narrowed(extreme: Array, start: Array, end: Array, part: Array) -> Array:
    """An extreme after a first step, at whose ends the observed value is `start` and `end`.

    If the extreme is the value at the start, its derivative is that at a `part` of the step, which is 0 and has a derivative.
    """
    change = part.astype(extreme.dtype) * (end - start)
    return moved_with(extreme, jnp.where(extreme == start, change, 0.0))


def left_at_end(p: dict[str, Any], t: Array) -> Array:
    """How much later than its last step, which ended at `t` [s], a run ends: 0 [s].

    The derivative is not 0 if that step ended where the window ends, which another parameter moves.
    """
    return jnp.where(t == p["end"], only_tangent(p["end"] - t), 0.0)
