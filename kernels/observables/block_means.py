"""Block means: the wear energy of each of the equal blocks of the window, and how the wear powers of the blocks scatter."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tribosweep.kernels.models.outputs import OBSERVED
from tribosweep.kernels.numerics.numbers import Array


def bounds(p: dict[str, Any], count: int) -> Array:
    """(count + 1,) bounds of the blocks [s]. The first and the last are the ends of the window to the last bit.

    Args:
        p: resolved parameters (scalars); only the window is read. count: number of blocks (compile-time).
    """
    parts = jnp.arange(count + 1) / count
    inner = p["window_start"] + (p["window_end"] - p["window_start"]) * parts
    return jnp.where(parts == 0.0, p["window_start"], jnp.where(parts == 1.0, p["window_end"], inner))


def following(instants: Array, t: Array) -> Array:
    """The first of the ascending `instants` after `t` [s]; the last instant if none is after `t`."""
    return jnp.min(jnp.where(instants > t, instants, instants[-1]))


def init(like: Array, count: int) -> Array:
    """Wear energies (count,) before the run [J]."""
    return jnp.zeros(count, like.dtype) + jnp.zeros_like(like)


def update(worn: Array, instants: Array, end: Array, energy: Array) -> Array:
    """Wear energies after a stretch of time that ends at `end` [s], with wear energy `energy` [J]. It lies in one block or in none."""
    return worn + jnp.where((instants[:-1] < end) & (end <= instants[1:]), energy, 0.0)


def finish(worn: Array, p: dict[str, Any]) -> dict[str, Array]:
    """Wear powers of the blocks (OBSERVED,) [W], padded with NaN, their standard deviation and the standard error of their mean [W]."""
    count = worn.shape[0]
    powers = worn * (count / (p["window_end"] - p["window_start"]))
    squares = jnp.sum((powers - jnp.mean(powers)) ** 2)
    scatters = squares > 0.0
    scatter = jnp.where(scatters, jnp.sqrt(jnp.where(scatters, squares, 1.0) / (count - 1)), 0.0)
    padded = jnp.concatenate([powers, jnp.full(OBSERVED - count, jnp.nan)])
    return {"wear_power_blocks": padded, "wear_power_scatter": scatter, "wear_power_error": scatter / count**0.5}
