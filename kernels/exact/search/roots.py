"""Root of a velocity in a bracket: Householder steps of order four, and bisection where they leave the bracket or converge slowly."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.contact.law import Guard
from tribosweep.kernels.numerics.fusion import decide, for_every_lane, fusion_barrier, traced_once
from tribosweep.kernels.numerics.numbers import Array, by_width
from tribosweep.kernels.segments.damped import Damped
from tribosweep.kernels.segments.interface import Anchor, Motion, Moving
from tribosweep.kernels.segments.taylor import TaylorSegment

# A Householder step below this fraction of the shortest time scale leaves an error of the order of the fifth power of it, below rounding.
CLOSE = 1e-3
# A step below this fraction leaves an error below 1e-6 of the time scale; one more step removes it.
NEAR = 0.03
_MOST_EVALUATIONS = 200


class RootSearch(NamedTuple):
    """Bracket [low, high] with v(low) > 0 >= v(high), the next trial, the last step, and whether the root is found."""

    low: Array
    high: Array
    trial: Array
    step: Array
    found: Array
    evaluations: Array

    @classmethod
    def of(cls, low: Array, high: Array, guess: Array) -> RootSearch:
        """The search before its first trial, which is `guess`, or the middle of the bracket if `guess` is outside."""
        start = jnp.where((guess > low) & (guess < high), guess, 0.5 * (low + high))
        zero = jnp.zeros_like(start)
        return cls(low, high, start, high - low + zero, low + zero >= high, jnp.zeros_like(start, dtype=jnp.int32))

    @property
    def goes_on(self) -> Array:
        """Whether the search continues: the root is not found and evaluations are left."""
        return ~self.found & (self.evaluations < _MOST_EVALUATIONS)

    def improved(self, m: Motion, rate: Array, close: float) -> RootSearch:
        """The search after one evaluation: `m` is the motion at its trial (see `falling_root`)."""
        (positive,) = decide(m.v > 0.0, like=m.v)
        low, high = jnp.where(positive, self.trial, self.low), jnp.where(positive, self.high, self.trial)
        step, neglected = householder(m)
        (step,) = fusion_barrier(step)
        target = self.trial + step
        inside = (target >= low) & (target <= high)
        narrow = high - low <= by_width(high, 4e-16, 2.4e-7) * high
        (found,) = decide(narrow | (inside & (jnp.abs(step) * rate < close) & (neglected < close)), like=m.v)
        converging = jnp.abs(step) < 0.5 * jnp.abs(self.step)
        trial = jnp.where(inside & (converging | found), target, 0.5 * (low + high))
        return RootSearch(low, high, trial, jnp.where(inside & converging, step, high - low), found, self.evaluations + 1)


@jax.custom_jvp
def guard_time(tau: Array, segment: Moving, anchor: Anchor, guard: Guard) -> Array:  # noqa: ARG001 (its derivative needs them)
    """The time `tau` [s] from `anchor` at which `guard` vanishes, found by a search, as a function of segment, anchor and guard.

    Its derivatives, to any order, are those of the implicit function g(tau; p) = 0, dtau = -g_p / g'. They are 0 at a graze, where g' = 0.
    """
    return tau


@guard_time.defjvp
def _guard_time_jvp(primals: tuple[Array, Moving, Anchor, Guard], tangents: tuple[Array, Moving, Anchor, Guard]) -> tuple[Array, Array]:
    """See `guard_time`. It calls `guard_time` again, so that higher derivatives include the motion of the root."""
    tau = guard_time(*primals)
    _, segment, anchor, guard = primals

    def value(segment: Moving, anchor: Anchor, guard: Guard) -> tuple[Array, Array]:
        m = segment.motion(anchor, tau)
        g = guard.value + guard.on_d * m.d + guard.on_v * (m.v - anchor.v) + guard.on_a * (m.a - anchor.a)
        slope = guard.on_d * m.v + guard.on_v * m.a + guard.on_a * m.jerk
        if guard.on_t is not None:
            g, slope = g + guard.on_t * tau, slope + guard.on_t
        normal = segment.course(anchor, tau).normal if isinstance(segment, Damped | TaylorSegment) else None
        if guard.on_n is not None and normal is not None:
            g, slope = g + guard.on_n * normal[0], slope + guard.on_n * normal[1]
        return g, slope

    (_, slope), (rate, _) = jax.jvp(value, (segment, anchor, guard), tangents[1:])
    return tau, jnp.where(slope != 0.0, -rate / jnp.where(slope != 0.0, slope, 1.0), 0.0)


def reversal_time(tau: Array, segment: Moving, anchor: Anchor) -> Array:
    """The time `tau` [s] from `anchor` at which v vanishes, found by a search, with its derivatives (see `guard_time`)."""
    zero = jnp.zeros_like(tau)
    return guard_time(tau, segment, anchor, Guard(anchor.v, zero, zero + 1.0, zero))


@traced_once
def householder(m: Motion) -> tuple[Array, Array]:
    """Step [s] from a point to the nearby zero of v, by reversion of its Taylor series to fourth order.

    Returns:
        The step, and the size of its first corrections relative to it. The step is reliable if that size is small.
    """
    by_slope = 1.0 / jnp.where(m.a < 0.0, m.a, by_width(m.a, -1e-300, -1e-30))
    h = -m.v * by_slope
    r1, r2, r3 = m.jerk * by_slope / 2.0, m.snap * by_slope / 6.0, m.crackle * by_slope / 24.0
    step = h * (1.0 + h * (-r1 + h * ((2.0 * r1 * r1 - r2) + h * (-5.0 * r1 * r1 * r1 + 5.0 * r1 * r2 - r3))))
    return step, jnp.abs(r1 * h) + jnp.abs(r2 * h * h)


def root_step(m: Motion, rate: Array) -> Array:
    """The step [s] from a point to the zero of v if it is reliable and below CLOSE (float32: NEAR) of the shortest time scale, else 0."""
    step, neglected = householder(m)
    close = by_width(step, CLOSE, NEAR)
    return jnp.where((jnp.abs(step) * rate < close) & (neglected < close), step, 0.0)


def falling_root(motion: Callable[[Array], Motion], low: Array, high: Array, guess: Array, rate: Array, close: float = CLOSE) -> Array:
    """The zero of v in a bracket where v goes from positive to non-positive once.

    Args:
        motion: time [s] -> Motion (scalars).
        low, high: bracket [s] with v(low) >= 0 >= v(high) and a single crossing in (low, high].
        guess: first trial [s]; if it is outside the bracket, the middle of the bracket is taken.
        rate: sum of the rates of the motion [1/s], the inverse of its shortest time scale.
        close: CLOSE for a root exact to rounding, or NEAR for a root that `root_step` then refines.

    Returns:
        The root [s]. The search itself has no derivatives: the caller applies the implicit function theorem.
    """
    return jax.lax.while_loop(
        lambda s: s.goes_on,
        lambda s: s.improved(motion(s.trial), rate, close),
        for_every_lane(RootSearch.of(low, high, guess), low, high, rate),
    ).trial
