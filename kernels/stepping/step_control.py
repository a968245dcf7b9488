"""Step size control: by the apparent frequency of the motion (adapt1, adapt2), or by an error estimate (rk32, rk54)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping.scheme import Limits, StepVerdict

POINTS_PER_PERIOD = 50.0
SHORTER = 0.75
LONGER = 1.1
PATIENCE = 4.0
ROOM = 0.75
SAFETY, MOST_SHRINKING, MOST_GROWTH = 0.9, 0.2, 5.0


class ByFrequency(NamedTuple):
    """At least 50 steps in a period of the apparent frequency f = sqrt(|da| / |dx|) / (2 pi): e = 50 f h < 1.

    A step with e >= 1 is tried again at 3/4 of its length, at most `retries` times, and then taken as it is. After more than 4 steps
    without growth, the next step is 1.1 times as long if e < 0.75. dx is the displacement relative to the support. (The published rule
    divides by max(|v| h / 100, |dx|), which is |dx| where dx = h v.)
    Doubt: |da| [m/s^2] and |dx| [m]. Source: scheme ADAPT of the tool that SDND104 and SDND105 validate.
    """

    def start(self, x: Array, _v: Array, _pull: Array, _h: Array) -> tuple[Array, ...]:
        """Number of the present step, counted from 1 after the last growth, and retries of this step."""
        return jnp.ones_like(x), jnp.zeros_like(x)

    def judge(self, memory: tuple[Array, ...], doubt: tuple[Array, Array], tried: Array, planned: Array, _x: Array, _v: Array,
              limits: Limits) -> StepVerdict:  # fmt: skip
        """See `scheme.Control`."""
        steps, retries = memory
        changed, moved = doubt
        scaled = (POINTS_PER_PERIOD * tried / (2.0 * math.pi)) ** 2 * changed  # e^2 times |dx|
        grows = (steps > PATIENCE) & ((scaled < ROOM**2 * moved) | (changed == 0.0))
        return StepVerdict(
            accepted=(scaled < moved) | (changed == 0.0) | (retries >= limits.retries),
            longer=jnp.where(grows, jnp.minimum(LONGER * planned, limits.largest), planned),
            shorter=SHORTER * tried,
            after=(jnp.where(grows, 1.0, steps + 1.0), jnp.zeros_like(retries)),
            again=(steps, retries + 1.0),
        )

    def unsure(self, _memory: tuple[Array, ...], _limits: Limits) -> None:
        """None: it has no tolerance (see `scheme.Control`)."""


class ByError(NamedTuple):
    """Error of a step at most 1: e = max(|error of x| / X, |error of v| / V) / tolerance.

    X and V are the largest |x| and |v| so far in the run. They are at least what the excitation gives to the free mass in the first step:
    from rest x grows like t^3, so that the error of the embedded solution of order 2 is a fixed part of x however short the step.
    The next step is 0.9 `inverse_root`(e) times as long, at least 1/5 and at most 5 times. Doubt: errors of x [m] and v [m/s].
    """

    inverse_root: Callable[[Array], Array]

    def start(self, x: Array, v: Array, pull: Array, h: Array) -> tuple[Array, ...]:
        """X [m] and V [m/s]."""
        return jnp.maximum(jnp.abs(x), pull * h * h), jnp.maximum(jnp.abs(v), pull * h)

    def judge(self, memory: tuple[Array, ...], doubt: tuple[Array, Array], tried: Array, planned: Array, x: Array, v: Array,
              limits: Limits) -> StepVerdict:  # fmt: skip
        """See `scheme.Control`."""
        scales = jnp.maximum(memory[0], jnp.abs(x)), jnp.maximum(memory[1], jnp.abs(v))
        parts = [jnp.where(error == 0.0, 0.0, jnp.abs(error) / scale) for error, scale in zip(doubt, scales, strict=True)]
        e = jnp.maximum(*parts) / limits.tolerance
        factor = jnp.clip(SAFETY * self.inverse_root(jnp.maximum(e, 1e-30)), MOST_SHRINKING, MOST_GROWTH)
        factor = jnp.where(jnp.isfinite(e), factor, MOST_SHRINKING)
        longer = jnp.minimum(factor * tried, limits.largest)
        return StepVerdict(
            accepted=e <= 1.0,
            longer=jnp.where(tried < planned, jnp.maximum(longer, planned), longer),
            shorter=factor * tried,
            after=scales,
            again=memory,
        )

    def unsure(self, memory: tuple[Array, ...], limits: Limits) -> Array:
        """The tolerance times X (see `scheme.Control`)."""
        return limits.tolerance * memory[0]
