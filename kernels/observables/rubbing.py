"""All observables of friction together, as an engine starts, updates and finishes them."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.models.observables import NO_FRICTION
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import regime, slip, wear
from tribosweep.kernels.observables.interval import Interval


class Rubbing(NamedTuple):
    """Sums of the slip and regime observables."""

    slip: slip.Slip
    regime: regime.Regime


def init(like: Array) -> Rubbing:
    """Sums before the run."""
    return Rubbing(slip.init(like), regime.init(like))


def update(sums: Rubbing, now: Interval) -> Rubbing:
    """Sums after one more interval."""
    return Rubbing(slip.update(sums.slip, now), regime.update(sums.regime, now))


def established(like: Array, slipping: Array) -> Rubbing:
    """Sums at the start of a window of a periodic motion; `slipping`: whether a slip phase is under way there.

    Rest counts as sticking from the start. The slip phase or rest under way at the start is under way at the end again, and counted there.
    """
    sums = init(like)
    one = jnp.ones_like(like)
    counted = jnp.where(slipping, one, 0.0)
    return Rubbing(sums.slip._replace(counted=counted), sums.regime._replace(moved=one, counted=1.0 - counted))


def finish(sums: Rubbing, p: dict[str, Any], worn: Array | None = None, dissipated: Array | None = None) -> dict[str, Array]:
    """The observables of friction and wear by name (SI units; `regime` as its code); see `wear.finish`."""
    s = sums.slip
    code, stops = regime.finish(sums.regime, s.phases)
    return {
        **wear.finish(p, s.distance, worn, dissipated),
        "slip_distance": s.distance,
        "stick_fraction": s.stuck_time / (p["window_end"] - p["window_start"]),
        "slip_phases": s.phases,
        "stops": stops,
        "regime": code,
        "max_slip_speed": s.top_speed,
        "drift": s.drift,
    }


def nothing(like: Array) -> dict[str, Array]:
    """The observables of friction of a mass that touches no support: 0, with the code -1 for no regime."""
    return {name: jnp.full_like(like, value) for name, value in NO_FRICTION.items()}
