"""Regime of a run from what happened in the window (no slip, slip with sticking, slip without sticking), and the number of stops."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.interval import Interval


class Regime(NamedTuple):
    """What happened so far. All but `stops` are 0 or 1: numbers of one width, unlike booleans, let XLA vectorise a loop.

    `moved`: slip anywhere in the run. `stuck`: rest in the window, after the first slip. `stops`: number of such rests. `counted`: whether
    the present rest is one of them.
    """

    moved: Array
    stuck: Array
    stops: Array
    counted: Array


def init(like: Array) -> Regime:
    """The state before the run."""
    zero = jnp.zeros_like(like)
    return Regime(zero, zero, zero, zero)


def update(seen: Regime, now: Interval) -> Regime:
    """The state after one more interval. Rest before the first slip of the run does not count: the regime is that after the transient."""
    rests = now.resting & (now.duration > 0.0)
    return Regime(
        moved=jnp.where(now.slipping, 1.0, seen.moved),
        stuck=jnp.where(rests, jnp.maximum(seen.stuck, seen.moved), seen.stuck),
        stops=jnp.where(rests & (seen.counted == 0.0), seen.stops + seen.moved, seen.stops),
        counted=jnp.where(now.slipping, 0.0, jnp.where(rests, jnp.maximum(seen.counted, seen.moved), seen.counted)),
    )


def finish(seen: Regime, slip_phases: Array) -> tuple[Array, Array]:
    """Code of the regime (0 stick, 1 stick-slip, 2 slip-slip) and number of stops, given the number of slip phases in the window."""
    regime = jnp.where(slip_phases > 0.0, jnp.where(seen.stuck > 0.0, 1, 2), 0)
    # a rest that begins at the very end of a steady window is seen only at its start, where it is not counted
    return regime, jax.lax.stop_gradient(jnp.where(slip_phases > 0.0, jnp.maximum(seen.stops, seen.stuck), 0.0))
