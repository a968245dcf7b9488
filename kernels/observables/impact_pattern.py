"""How a mass hits a stop over a window of its steady motion: not at all, without leaving it, barely, again and again, or in trains.

A train is a sequence of impacts on one side within one period of the excitation, each slower than the one before by at least STEP and
following it sooner by at least as much: what a mass does that bounces to rest on a stop (chatter: Budd and Dux 1994, Phil. Trans. R. Soc. A
347, 365-389). On a stop with a stiffness there are finitely many; CHATTER of them are taken for chatter.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from kernels.numerics.numbers import Array

CHATTER = 5  # impacts of a train
STEP = 0.01
GRAZING = 0.01  # of the speed amplitude |f0 - m a0| / (m omega) that the excitation alone would give the mass
NO_CONTACT, PERMANENT, GRAZES, IMPACTS, CHATTERS, APERIODIC = range(3, 9)  # after the regimes of friction


class Impacting(NamedTuple):
    """Sums of the window, and what is remembered of the impacts before.

    Attributes:
        clock: time [s], from any instant on. when, interval, speed, side: of the last impact its time, the time since the one before [s],
            its speed [m/s] and its side. begun, train: when the present train began [s], and how many impacts it has.
        longest, slowest: of the window, impacts of the longest train and the least speed of an impact [m/s], infinite where there is none.
        inside, outside: whether the mass was anywhere in the window inside the stop, and outside, each 0 or 1.
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


def init(like: Array) -> Impacting:
    """Nothing seen."""
    zero = jnp.zeros_like(like)
    never = zero + jnp.inf
    return Impacting(zero, zero, never, zero, zero, zero, zero, zero, never, zero, zero)


def window(seen: Impacting) -> Impacting:
    """At the start of a window: what is remembered stays."""
    zero = jnp.zeros_like(seen.clock)
    return seen._replace(longest=zero, slowest=zero + jnp.inf, inside=zero, outside=zero)


def update(seen: Impacting, duration: Array, inside: Array, entered: Array, speed: Array, side: Array, period: Array) -> Impacting:
    """What was seen after one more stretch of time.

    Args:
        duration: its length [s]. inside: whether the mass was inside the stop during it. entered: whether it comes into it at its end, at
            this `speed` [m/s] on this `side`. period: of the excitation [s].
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
    )


def finish(seen: Impacting, scale: Array, repeats: Array) -> Array:
    """Code of the regime.

    Args:
        seen: at the end of the window. scale: speed amplitude that the excitation alone would give the mass [m/s]. repeats: whether the
            motion is periodic.
    """
    met = jnp.where(seen.slowest <= GRAZING * scale, GRAZES, IMPACTS)
    met = jnp.where(seen.longest >= CHATTER, CHATTERS, met)
    met = jnp.where(seen.outside > 0.0, met, PERMANENT)
    return jnp.where(repeats, jnp.where(seen.inside > 0.0, met, NO_CONTACT), APERIODIC)
