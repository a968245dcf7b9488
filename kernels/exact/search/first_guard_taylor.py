"""First crossing of a guard along a segment whose damping changes with the displacement.

Guards are polynomials in time over one step of the Taylor series. A guard has no zero in a step if its Bernstein coefficients over the step
have no sign change. It has exactly one zero if they have one sign change (Descartes). A step with more sign changes is shortened.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from tribosweep.kernels.contact.law import Guard
from tribosweep.kernels.exact.search.first_guard import GuardCrossing
from tribosweep.kernels.exact.search.roots import falling_root
from tribosweep.kernels.numerics.fusion import traced_once
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.interface import Anchor, Motion
from tribosweep.kernels.segments.taylor import STEP, TERMS, TaylorSegment, derivative, powers

_SHORTER, _TRIES = 4.0, 8
# Bernstein coefficient k of a polynomial of degree TERMS - 1: sum over n <= k of C(k, n) / C(TERMS - 1, n) times its n-th coefficient
_BERNSTEIN = np.array([[math.comb(k, n) / math.comb(TERMS - 1, n) for n in range(TERMS)] for k in range(TERMS)])


def first_crossing(segment: TaylorSegment, anchor: Anchor, guards: tuple[Guard, ...], limit: Array) -> GuardCrossing:
    """First crossing of a guard in one step of at most `limit` [s] (see `first_guard.first_crossing`). If none, `tau` is the step."""
    z = segment.series(anchor)
    d, v, a = z, derivative(z, 1), derivative(z, 2)
    polynomials = jnp.stack(
        [
            (each.on_d * d + each.on_v * v + each.on_a * a + _own(segment, anchor, each)).at[0].set(jnp.maximum(each.value, 0.0))
            for each in guards
        ]
    )
    longest = jnp.maximum(jnp.minimum(limit, segment.longest(anchor)), 0.0)

    def attempt(n: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        step, changes, done = carry
        h = longest * _SHORTER**-n
        found = _sign_changes(polynomials * powers(h))
        good = (done == 0.0) & (jnp.all(found <= 1.0) | (n == _TRIES - 1))
        return jnp.where(good, h, step), jnp.where(good, found, changes), jnp.where(good, 1.0, done)

    zero = jnp.zeros_like(longest)
    step, changes, _ = jax.lax.fori_loop(0, _TRIES, attempt, (longest, jnp.zeros((len(guards),)) + zero, zero))
    falls = changes == 1.0
    rate = STEP / segment.longest(anchor)
    zeros = jax.vmap(_zero, in_axes=(0, 0, None))(polynomials, jnp.where(falls, step, 0.0), rate)
    roots = jnp.where(falls, zeros, jnp.inf)
    which = jnp.argmin(roots)
    first = jnp.min(roots)
    happens = (first <= step) & (limit > 0.0)
    return GuardCrossing(jnp.where(happens, first, step), happens, which.astype(step.dtype))


def _own(segment: TaylorSegment, anchor: Anchor, guard: Guard) -> Array:
    """The terms (TERMS,) of a guard that follow time itself and the normal force."""
    terms = jnp.zeros((TERMS,)) if guard.on_t is None else jnp.zeros((TERMS,)).at[1].set(guard.on_t)
    normal = segment.course(anchor, jnp.zeros_like(anchor.v)).normal
    if guard.on_n is None or normal is None:
        return terms
    swing = [0.0 * normal[1], normal[1], 0.5 * normal[2]]
    for n in range(3, TERMS):
        swing.append(swing[-2] * segment.omega[..., -1] ** 2 * (-1.0 / (n * (n - 1.0))))
    return terms + guard.on_n * jnp.stack(swing)


@traced_once
def _sign_changes(terms: Array) -> Array:
    """Number of sign changes in the Bernstein coefficients over [0, 1] of polynomials (n, TERMS); zero counts as positive."""
    rounding = 4e-16 * jnp.max(jnp.abs(terms), axis=1, keepdims=True)
    values = jnp.sum(terms[:, None, :] * _BERNSTEIN, axis=2)
    negative = jnp.where(values < -rounding, 1.0, 0.0)
    return jnp.sum(jnp.abs(jnp.diff(negative, axis=1)), axis=1)


def _zero(terms: Array, high: Array, rate: Array) -> Array:
    """The zero of a polynomial (TERMS,) that falls through zero once in [0, high] [s]; `rate` [1/s] is that of the motion."""

    def as_velocity(tau: Array) -> Motion:
        at = powers(tau)
        return Motion(tau, *(jnp.sum(derivative(terms, order) * at) for order in range(5)))

    return falling_root(as_velocity, jnp.zeros_like(high), high, 0.5 * high, rate)
