"""The time that contacts spend in each class of normal force and sliding speed, for the wear law KWU-EPRI."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.models.kwu_epri import CLASSES, KwuEpriLaw, class_of, of_shares
from tribosweep.kernels.numerics.numbers import Array


class WearClasses(NamedTuple):
    """Sums over the samples of S supports, the first and the last of which count half.

    Attributes:
        times: samples in contact by class, (S, 25). work: sum of normal force times sliding speed (S,) [W]. samples: their number.
    """

    times: Array
    work: Array
    samples: Array


def init(like: Array, supports: int) -> WearClasses:
    """No samples."""
    return WearClasses(jnp.zeros((supports, CLASSES * CLASSES)) + like, jnp.zeros(supports) + like, like)


def update(sums: WearClasses, law: KwuEpriLaw, force: Array, speed: Array, first: Array, count: Array) -> WearClasses:
    """The sums after more samples of normal force [N] and sliding speed [m/s], (S, n) each; `first` is the number of the first one.

    Samples from number `count` on do not count.
    """
    number = first + jnp.arange(force.shape[1])
    weights = jnp.where(number < count, jnp.where((number == 0.0) | (number == count - 1.0), 0.5, 1.0), 0.0)
    belongs = class_of(force, speed, law.force_max, law.speed_max, jnp)[..., None] == jnp.arange(CLASSES * CLASSES)
    pressed = jnp.where(force > 0.0, weights, 0.0)
    return WearClasses(
        sums.times + jnp.sum(jnp.where(belongs, pressed[..., None], 0.0), axis=1),
        sums.work + jnp.sum(weights * force * jnp.abs(speed), axis=1),
        sums.samples + jnp.sum(weights),
    )


def finish(sums: WearClasses, law: KwuEpriLaw) -> tuple[Array, Array, Array]:
    """Worn volume [m^3] and the parts of impacts and of sliding, (S,) each; NaN without samples."""
    touched = jnp.sum(sums.times, axis=1, keepdims=True)
    shares = sums.times / jnp.where(touched > 0.0, touched, 1.0)
    volume, _, impacts, sliding = of_shares(law, shares, sums.work / sums.samples, jnp)
    known = sums.samples > 0.0
    return jnp.where(known, volume, jnp.nan), jnp.where(known, impacts, jnp.nan), jnp.where(known, sliding, jnp.nan)
