"""Statistics of the window: mean, root mean square, standard deviation and extremes of displacement and forces.

Sums of squares would lose the digits of a small deviation from a large mean. So means and squared deviations are kept, and merged with
those of each further panel of a quadrature (Chan, Golub and LeVeque 1979).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.numerics.tangents import with_tangent_of

SEEN = ("x", "friction_force", "wall_force")  # the quantities, in this order; the last only with a wall


class Statistics(NamedTuple):
    """Sums over the window, of q quantities.

    Attributes:
        duration: time covered so far [s]. mean, deviations: (q,) means, and integrals of the squared deviations from them.
        lowest, highest: (q,) extremes, infinite before the window. speeds: integral of the squared velocity [m^2/s].
    """

    duration: Array
    mean: Array
    deviations: Array
    lowest: Array
    highest: Array
    speeds: Array


def init(like: Array, count: int) -> Statistics:
    """Sums before the run, of `count` quantities."""
    zero = jnp.zeros_like(like)
    several = jnp.zeros(count, zero.dtype) + zero
    return Statistics(zero, several, several, several + jnp.inf, several - jnp.inf, zero)


def add(sums: Statistics, weights: Array, values: Array, velocities: Array) -> Statistics:
    """Sums after one more panel of a quadrature: `weights` (n,) [s], >= 0; `values` (q, n) and `velocities` (n,) [m/s] at its nodes."""
    length = jnp.sum(weights)
    lasts = length > 0.0
    mean = jnp.sum(weights * values, axis=1) / jnp.where(lasts, length, 1.0)
    deviations = jnp.sum(weights * (values - mean[:, None]) ** 2, axis=1)
    total = sums.duration + length
    part = jnp.where(lasts, length / jnp.where(lasts, total, 1.0), 0.0)
    apart = jnp.where(lasts, mean - sums.mean, 0.0)
    return sums._replace(
        duration=total,
        mean=sums.mean + part * apart,
        deviations=sums.deviations + deviations + apart * apart * (part * sums.duration),
        speeds=sums.speeds + jnp.sum(weights * velocities**2),
    )


def add_instant(sums: Statistics, length: Array, values: Array, velocity: Array) -> Statistics:
    """The same sums with the derivatives of one more stretch of no length, `length` being 0 [s] with derivatives.

    Args:
        values, velocity: of the instant, (q,) and scalar [m/s].
    """
    begun = sums.duration > 0.0
    apart = values - sums.mean
    return sums._replace(
        duration=sums.duration + length,
        mean=sums.mean + jnp.where(begun, length / jnp.where(begun, sums.duration, 1.0), 0.0) * apart,
        deviations=sums.deviations + length * apart * apart,
        speeds=sums.speeds + length * velocity * velocity,
    )


def widen(sums: Statistics, lasts: Array, values: Array) -> Statistics:
    """Extremes after more `values` (q, n); `lasts`: whether their stretch of time has a length in the window.

    Of equal values the earlier one stays, with its derivative: a value at the end of a window may be looked at again at that instant. The
    numbers are those of the minimum and maximum, which keep NaN.
    """
    low, high = jnp.min(values, axis=1), jnp.max(values, axis=1)
    lowest = with_tangent_of(jnp.where(low < sums.lowest, low, sums.lowest), jnp.minimum(sums.lowest, low))
    highest = with_tangent_of(jnp.where(high > sums.highest, high, sums.highest), jnp.maximum(sums.highest, high))
    return sums._replace(lowest=jnp.where(lasts, lowest, sums.lowest), highest=jnp.where(lasts, highest, sums.highest))


def _root(square: Array) -> Array:
    """Square root, with derivative 0 at 0."""
    some = square > 0.0
    return jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def finish(sums: Statistics) -> dict[str, Array]:
    """The statistics by name (SI units)."""
    duration = jnp.where(sums.duration > 0.0, sums.duration, 1.0)
    variance = sums.deviations / duration
    rms, std = _root(variance + sums.mean**2), _root(variance)
    never = jnp.where(jnp.arange(sums.mean.shape[0]) == SEEN.index("wall_force"), 0.0, -jnp.inf)  # a wall pulls by rounding only
    columns = {"mean": sums.mean, "rms": rms, "std": std, "min": jnp.maximum(sums.lowest, never), "max": sums.highest}
    found = {f"{name}_{ending}": column[i] for i, name in enumerate(SEEN[: sums.mean.shape[0]]) for ending, column in columns.items()}
    return found | {"v_rms": _root(sums.speeds / duration)}
