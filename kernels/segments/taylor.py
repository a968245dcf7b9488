"""Segment whose damping changes along the way, linearly with the displacement: the one phase of a contact that is not linear.

    x'' + (2 zeta + bend d) x' + w2 d = b + alpha sin(omega t + phase),    d the displacement since the anchor

A wall that yields has it where its damping varies over the softening or between the nodes of its table. There is no closed form; the Taylor
series of the motion, from one recurrence, is as good over a step that is short against its scales, and one step follows another. Guards are
polynomials there. With no sign change among its Bernstein coefficients over a step a guard has no zero in it, with one it has exactly one
(Descartes); a step with more is shortened.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kernels.contact.law import Guard
from kernels.exact.search.first_guard import Crossing
from kernels.numerics.fusion import traced_once
from kernels.numerics.numbers import Array
from kernels.segments.damped import highest, over_sines
from kernels.segments.interface import Anchor, Motion

TERMS = 22
STEP = 0.15  # of the shortest time scale: the terms left out are below rounding
_SHORTER, _TRIES = 4.0, 8
_HALVINGS = 60
_N = np.arange(TERMS)
# Bernstein coefficient k of a polynomial of degree TERMS - 1: sum over n <= k of C(k, n) / C(TERMS - 1, n) times its n-th coefficient
_BERNSTEIN = np.array([[math.comb(k, n) / math.comb(TERMS - 1, n) for n in range(TERMS)] for k in range(TERMS)])
# factor of the n-th coefficient in the derivative of order r, where it is that of t^(n - r)
_FALLING = np.array([[math.perm(n, r) for n in range(TERMS)] for r in range(6)], dtype=float)


def _powers(t: Array) -> Array:
    """1, t, t^2 ... (TERMS,)."""
    return jnp.concatenate([jnp.ones((1,)), jnp.cumprod(jnp.broadcast_to(t, (TERMS - 1,)))])


def _derivative(z: Array, order: int) -> Array:
    """Coefficients (TERMS,) of the derivative of a series."""
    return jnp.concatenate([(z * _FALLING[order])[order:], jnp.zeros((order,))])


class Bent(NamedTuple):
    """Constants of one segment: those of `damped.Damped`, ramp too, and `bend`, by which 2 zeta grows with the displacement [1/(m s)]."""

    alpha: Array
    omega: Array
    zeta: Array
    w2: Array
    bend: Array
    ramp: Array | None = None

    @traced_once
    def series(self, anchor: Anchor) -> Array:
        """Taylor coefficients of the displacement since `anchor` [m/s^n], (TERMS,)."""

        def following(n: Array, carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
            z, drive, sine, cosine = carry
            drive, sine, cosine = drive * self.omega / n, cosine, -sine
            square = jnp.sum(jnp.where(n + 1 >= _N, z * z[n + 1 - _N], 0.0))  # coefficient n + 1 of d^2
            push = over_sines(drive * sine)
            push = push if self.ramp is None else push + jnp.where(n == 1, self.ramp, 0.0)
            term = push - 2.0 * self.zeta * (n + 1) * z[n + 1] - self.w2 * z[n] - 0.5 * self.bend * (n + 1) * square
            return z.at[n + 2].set(term / ((n + 2) * (n + 1))), drive, sine, cosine

        z = jnp.zeros((TERMS,)).at[1].set(anchor.v).at[2].set(0.5 * anchor.a)
        start = (z, self.alpha + 0.0 * anchor.v, anchor.sine, anchor.cosine)
        found: Array = jax.lax.fori_loop(1, TERMS - 2, following, start)[0]
        return found

    def motion(self, anchor: Anchor, tau: Array) -> Motion:
        """The motion `tau` [s] after `anchor`, at most `longest`."""
        z, powers = self.series(anchor), _powers(tau)
        return Motion(*(jnp.sum(_derivative(z, order) * powers) for order in range(6)))

    def area(self, anchor: Anchor, tau: Array) -> Array:
        """Integral of the displacement since `anchor` over the `tau` [s] after it [m s]."""
        return tau * jnp.sum(self.series(anchor) / (_N + 1) * _powers(tau))

    def longest(self, anchor: Anchor) -> Array:
        """Length of a step [s]."""
        rate = highest(self.omega) + jnp.sqrt(jnp.abs(self.w2)) + 2.0 * jnp.abs(self.zeta) + jnp.sqrt(jnp.abs(self.bend * anchor.v))
        return STEP / (rate + jnp.cbrt(jnp.abs(self.bend * anchor.a)))

    def first_crossing(self, anchor: Anchor, guards: tuple[Guard, ...], limit: Array) -> Crossing:
        """The first crossing of a guard in one step of at most `limit` [s] (see `crossing.first_crossing`); `tau` ends the step."""
        z = self.series(anchor)
        d, v, a = z, _derivative(z, 1), _derivative(z, 2)
        polynomials = jnp.stack(
            [(each.on_d * d + each.on_v * v + each.on_a * a).at[0].set(jnp.maximum(each.value, 0.0)) for each in guards]
        )
        longest = jnp.maximum(jnp.minimum(limit, self.longest(anchor)), 0.0)

        def attempt(n: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            step, changes, done = carry
            h = longest * _SHORTER**-n
            found = _sign_changes(polynomials * _powers(h))
            good = (done == 0.0) & (jnp.all(found <= 1.0) | (n == _TRIES - 1))
            return jnp.where(good, h, step), jnp.where(good, found, changes), jnp.where(good, 1.0, done)

        zero = jnp.zeros_like(longest)
        step, changes, _ = jax.lax.fori_loop(0, _TRIES, attempt, (longest, jnp.zeros((len(guards),)) + zero, zero))
        roots = jnp.where(changes == 1.0, jax.vmap(_falling, in_axes=(0, None))(polynomials, step), jnp.inf)
        which = jnp.argmin(roots)
        first = jnp.min(roots)
        happens = (first <= step) & (limit > 0.0)
        return Crossing(jnp.where(happens, first, step), happens, which.astype(step.dtype))


@traced_once
def _sign_changes(terms: Array) -> Array:
    """Sign changes, from not negative to negative or back, among the Bernstein coefficients over [0, 1] of polynomials (n, TERMS)."""
    rounding = 4e-16 * jnp.max(jnp.abs(terms), axis=1, keepdims=True)
    values = jnp.sum(terms[:, None, :] * _BERNSTEIN, axis=2)
    negative = jnp.where(values < -rounding, 1.0, 0.0)
    return jnp.sum(jnp.abs(jnp.diff(negative, axis=1)), axis=1)


def _falling(terms: Array, h: Array) -> Array:
    """The zero of a polynomial (TERMS,) that is positive at 0 and negative at h, by bisection and a step of Newton."""

    def halve(_: Array, bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket
        middle = 0.5 * (low + high)
        positive = jnp.sum(terms * _powers(middle)) > 0.0
        return jnp.where(positive, middle, low), jnp.where(positive, high, middle)

    low, high = jax.lax.fori_loop(0, _HALVINGS, halve, (jnp.zeros_like(h), h))
    root = 0.5 * (low + high)
    powers = _powers(root)
    value, slope = jnp.sum(terms * powers), jnp.sum(_derivative(terms, 1) * powers)
    better = root - value / jnp.where(slope != 0.0, slope, -1.0)
    return jnp.where((better >= low) & (better <= high), better, root)
