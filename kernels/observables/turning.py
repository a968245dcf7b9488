"""Samples with the extremes between them, and how often they pass levels."""

from __future__ import annotations

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array


def with_extremes(before: Array, samples: Array, slope_before: Array, slopes: Array, interval: float) -> Array:
    """Samples (n,), each after the extreme between it and the one before, (2 n,).

    The extreme is that of the cubic through both samples and their slopes, where the slope changes its sign; else it repeats the sample.

    Args:
        before, slope_before: the sample before the first one, and its slope. slopes: (n,) derivatives. interval: time between samples [s].
    """
    start, rate = jnp.append(before, samples[:-1]), interval * jnp.append(slope_before, slopes[:-1])
    end, last = samples, interval * slopes
    # start + rate s + b s^2 + c s^3 on 0 <= s <= 1
    way = end - start
    b, c = 3.0 * way - 2.0 * rate - last, rate + last - 2.0 * way
    turns = rate * last < 0.0
    root = jnp.sqrt(jnp.maximum(b * b - 3.0 * c * rate, 0.0))
    # of the two zeros of rate + 2 b s + 3 c s^2 the one between 0 and 1: the slope passes 0 once, against the sign of `rate`
    divisor = b - jnp.where(rate > 0.0, 1.0, -1.0) * root
    place = jnp.clip(-rate / jnp.where(turns & (divisor != 0.0), divisor, 1.0), 0.0, 1.0)
    extreme = start + place * (rate + place * (b + place * c))
    return jnp.stack([jnp.where(turns, extreme, samples), samples], axis=1).reshape(-1)


def upward(before: Array, values: Array, levels: Array) -> Array:
    """How often a sequence (n,) passes each level (L,) upwards: from below it to it or above. `before` is the entry before the first."""
    start = jnp.append(before, values[:-1])
    return jnp.sum((start[:, None] < levels) & (values[:, None] >= levels), axis=0).astype(values.dtype)
