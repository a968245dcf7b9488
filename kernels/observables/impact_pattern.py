"""How a mass hits a stop over a window of its steady motion: no contact, permanent contact, grazing, impacts or chatter.

A train is a sequence of impacts on one side within one period of the excitation. Its speeds, and the times between its impacts, fall by at
least the part STEP from impact to impact. A mass that bounces to rest on a stop makes such trains (chatter: Budd and Dux 1994, Phil. Trans.
R. Soc. A 347, 365-389). On a stop with a stiffness a train is finite; at least CHATTER impacts count as chatter.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array

CHATTER = 5  # least number of impacts of a train
STEP = 0.01
GRAZING = 0.01  # of the speed amplitude |f0 - m a0| / (m omega) that the excitation alone would give the mass
NO_CONTACT, PERMANENT, GRAZES, IMPACTS, CHATTERS, APERIODIC = range(3, 9)  # codes, after those of the regimes of friction


class Impacting(NamedTuple):
    """Sums over the window, and the memory of earlier impacts.

    Attributes:
        clock: time since an arbitrary instant [s]. when, interval, speed, side: of the last impact, its time [s], the time since the impact
            before it [s], its speed [m/s] and its side. begun, train: start of the present train [s], and number of its impacts.
        longest, slowest: number of impacts of the longest train in the window, and least speed of an impact [m/s], inf without an impact.
        inside, outside: 1 if the mass was inside the stop, or outside, at any time of the window, else 0.
        entries: how often it came into the stop in the window, however little.
    """

    clock: Array
    when: Array
    interval: Array
    speed: Array
    side: Array
    begun: Array
    train: Array
    longest: Array
    slowest: Array
    inside: Array
    outside: Array
    entries: Array


def init(like: Array) -> Impacting:
    """Sums and memory before the first stretch of time."""
    zero = jnp.zeros_like(like)
    never = zero + jnp.inf
    return Impacting(zero, zero, never, zero, zero, zero, zero, zero, never, zero, zero, zero)


def window(seen: Impacting) -> Impacting:
    """At the start of a window: its sums are set back, and the memory of earlier impacts stays."""
    zero = jnp.zeros_like(seen.clock)
    return seen._replace(longest=zero, slowest=zero + jnp.inf, inside=zero, outside=zero, entries=zero)


def update(seen: Impacting, duration: Array, inside: Array, entered: Array, speed: Array, side: Array, period: Array) -> Impacting:
    """Sums and memory after one more stretch of time.

    Args:
        duration: its length [s]. inside: whether the mass was inside the stop during it. entered: whether the mass comes into the stop at
            its end, with `speed` [m/s] and on `side`. period: of the excitation [s].
    """
    clock = seen.clock + duration
    interval = clock - seen.when
    decays = (speed < (1.0 - STEP) * seen.speed) & (interval < (1.0 - STEP) * seen.interval)
    goes_on = (seen.train > 0.0) & decays & (side == seen.side) & (clock - seen.begun < period)
    train = jnp.where(entered, jnp.where(goes_on, seen.train + 1.0, 1.0), seen.train)
    lasts = duration > 0.0
    return Impacting(
        clock=clock,
        when=jnp.where(entered, clock, seen.when),
        interval=jnp.where(entered, interval, seen.interval),
        speed=jnp.where(entered, speed, seen.speed),
        side=jnp.where(entered, side, seen.side),
        begun=jnp.where(entered & ~goes_on, clock, seen.begun),
        train=train,
        longest=jnp.where(entered, jnp.maximum(seen.longest, train), seen.longest),
        slowest=jnp.where(entered, jnp.minimum(seen.slowest, speed), seen.slowest),
        inside=jnp.where(inside & lasts, 1.0, seen.inside),
        outside=jnp.where(~inside & lasts, 1.0, seen.outside),
        entries=seen.entries + jnp.where(entered, 1.0, 0.0),
    )


def finish(seen: Impacting, scale: Array, repeats: Array) -> Array:
    """Code of the regime.

    Args:
        seen: the sums at the end of the window. scale: speed amplitude that the excitation alone would give the mass [m/s].
        repeats: whether the motion is periodic.
    """
    met = jnp.where(seen.slowest <= GRAZING * scale, GRAZES, IMPACTS)
    met = jnp.where(seen.longest >= CHATTER, CHATTERS, met)
    met = jnp.where(seen.outside > 0.0, met, PERMANENT)
    return jnp.where(repeats, jnp.where(seen.inside > 0.0, met, NO_CONTACT), APERIODIC)
