"""What a time scheme counts of friction, step by step: the sums of `observables`, with fewer numbers to carry.

A step is so little work that every number carried along shows in the time. Two of them are left out: in a window a slip or a rest has been
counted unless it begins now or none was counted yet. Where every step lies in the window, few steps at a time are counted in three numbers
(`Few`), which also keeps sums of many small numbers exact in float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.contact.friction import UNMOVED, Grip
from kernels.elementary import Array
from kernels.observables import regime, rubbing, slip

BASE = 256.0  # three counts below it are one whole number of 24 bits, which float32 holds
MOST = int(BASE) - 1  # steps that `Few` can count


class Tally(NamedTuple):
    """Sums over the window: see `slip.Slip`; `stops`: rests after the first slip of the run."""

    distance: Array
    drift: Array
    stuck_time: Array
    top_speed: Array
    phases: Array
    stops: Array


class Part(NamedTuple):
    """The part of a step that lies in the window: its length [s] and displacement [m]."""

    duration: Array
    displacement: Array


class Few(NamedTuple):
    """Sums of at most MOST steps; `counts`: steps that stick + BASE x slips + BASE^2 x rests."""

    distance: Array
    top_speed: Array
    counts: Array


def init(like: Array) -> Tally:
    """Sums before the run."""
    zero = jnp.zeros_like(like)
    return Tally(zero, zero, zero, zero, zero, zero)


def update(sums: Tally, before: Grip, after: Grip, speed: Array, part: Part) -> Tally:
    """Sums after one more step.

    Args:
        before, after: the contact at its start and end. speed: velocity at its end [m/s].
        part: what of it counts.
    """
    inside = part.duration > 0.0
    slips = after.slips & inside
    begins = slips & (after.begins(before) | (sums.phases == 0.0))
    stops = (after.way == 0.0) & inside & (after.stops(before) | (sums.stops == 0.0))
    return Tally(
        distance=sums.distance + jnp.where(slips, jnp.abs(part.displacement), 0.0),
        drift=sums.drift + part.displacement,
        stuck_time=sums.stuck_time + jnp.where(after.slips, 0.0, part.duration),
        top_speed=jnp.where(slips, jnp.maximum(sums.top_speed, jnp.abs(speed)), sums.top_speed),
        phases=sums.phases + jnp.where(begins, 1.0, 0.0),
        stops=sums.stops + jnp.where(stops, 1.0, 0.0),
    )


def counted(sums: Tally, grip: Grip) -> Grip:
    """The contact once the first step of the window is counted: a slip that is still to be counted begins when it goes on."""
    held = ~grip.slips & (grip.way != 0.0) & (sums.phases == 0.0)
    return grip._replace(way=jnp.where(held, UNMOVED, grip.way))


def few(sums: Tally) -> Few:
    """No step yet."""
    zero = jnp.zeros_like(sums.distance)
    return Few(zero, sums.top_speed, zero)


def one_more(sums: Few, before: Grip, after: Grip, speed: Array, moved: Array) -> Few:
    """Sums of few steps after one more, of displacement `moved` [m]; other arguments as those of `update`."""
    slipping = jnp.where(after.begins(before), BASE, 0.0)
    sticking = jnp.where(after.stops(before), BASE * BASE + 1.0, 1.0)
    return Few(
        distance=sums.distance + jnp.where(after.slips, jnp.abs(moved), 0.0),
        top_speed=jnp.where(after.slips, jnp.maximum(sums.top_speed, jnp.abs(speed)), sums.top_speed),
        counts=sums.counts + jnp.where(after.slips, slipping, sticking),
    )


def add(sums: Tally, now: Few, drift: Array, h: Array) -> Tally:
    """Sums after a few steps of `h` [s], over which the mass moved by `drift` [m]."""
    stops = jnp.floor(now.counts / BASE**2)
    phases = jnp.floor(now.counts / BASE) - BASE * stops
    stuck = now.counts - BASE * (phases + BASE * stops)
    return Tally(
        sums.distance + now.distance,
        sums.drift + drift,
        sums.stuck_time + stuck * h,
        now.top_speed,
        sums.phases + phases,
        sums.stops + stops,
    )


def finish(sums: Tally, p: dict[str, Any]) -> dict[str, Array]:
    """The observables of friction and wear by name (SI units; `regime` as its code)."""
    zero, seen = jnp.zeros_like(sums.stops), jnp.minimum(sums.stops, 1.0)
    slips = slip.Slip(sums.distance, sums.drift, sums.stuck_time, sums.top_speed, sums.phases, zero)
    return rubbing.finish(rubbing.Rubbing(slips, regime.Regime(zero, seen, sums.stops, zero)), p)
