"""The motion within a step as a polynomial: where it crosses a level, its extremes, integrals over parts of the step.

`motion` is Hermite's polynomial through displacement, velocity and, where the scheme has it, acceleration at both ends of the step.
It is of degree 3 or 5, in error by h^4 or h^6. `through` is the polynomial of degree 4 through five values of any quantity.

The fraction u of the step runs from 0 to 1. Coefficients may have any shape. All functions are elementwise, and without branches.

Source: Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.6.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.numerics.tangents import only_tangent

FIFTHS = (0.0, 0.25, 0.5, 0.75, 1.0)  # the nodes of `through` and of Boole's rule
BOOLE = tuple(weight / 90.0 for weight in (7.0, 32.0, 12.0, 32.0, 7.0))
GAUSS = ((0.5 - 0.15**0.5, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.5 + 0.15**0.5, 5.0 / 18.0))  # node and weight; exact to degree 5
_NEWTON = 4  # steps from the crossing of the chord; each about doubles the number of digits
_SECANTS = 12  # steps of false position
_ROUNDED = 1e-6  # as a part of the step


class Polynomial(NamedTuple):
    """A polynomial of the fraction u of a step. `coefficients`: of 1, u, u^2 and so on, at least two."""

    coefficients: tuple[Array, ...]

    def at(self, u: Array | float) -> Array:
        """Its value."""
        value = self.coefficients[-1]
        for coefficient in self.coefficients[-2::-1]:
            value = value * u + coefficient
        return value

    @property
    def rate(self) -> Polynomial:
        """Its derivative by u."""
        return Polynomial(tuple(n * coefficient for n, coefficient in enumerate(self.coefficients) if n))

    def plus(self, constant: Array | float, factor: Array | float = 1.0) -> Polynomial:
        """`constant` + `factor` times the polynomial."""
        first, *others = self.coefficients
        return Polynomial((constant + factor * first, *(factor * other for other in others)))

    def __add__(self, other: object) -> Polynomial:
        """The sum with another polynomial."""
        if not isinstance(other, Polynomial):
            return NotImplemented
        longer, shorter = sorted((self.coefficients, other.coefficients), key=len, reverse=True)
        return Polynomial((*(a + b for a, b in zip(longer, shorter, strict=False)), *longer[len(shorter) :]))

    def integral(self, begin: Array | float = 0.0, end: Array | float = 1.0) -> Array:
        """Integral over u between two fractions; times the length of the step it is one over the time."""
        whole = Polynomial(tuple(coefficient / (n + 1.0) for n, coefficient in enumerate(self.coefficients)))
        return end * whole.at(end) - begin * whole.at(begin)

    def crossing(self, begin: Array | float = 0.0, end: Array | float = 1.0) -> Array:
        """The fraction between `begin` and `end` at which the polynomial is 0, if its values there have different signs.

        Else, and where it is 0 at both, the fraction has no meaning but lies between them. Its derivatives are those of the crossing.
        """
        first, last = self.at(begin), self.at(end)
        if len(self.coefficients) == 2:
            part: Array = jnp.clip(first / jnp.where(first != last, first - last, 1.0), 0.0, 1.0)
            return begin + (end - begin) * part
        fixed = Polynomial(tuple(jax.lax.stop_gradient(coefficient) for coefficient in self.coefficients))
        low, high = (jax.lax.stop_gradient(bound + 0.0 * first) for bound in (begin, end))
        first, last = jax.lax.stop_gradient(first), jax.lax.stop_gradient(last)
        u = low + (high - low) * jnp.clip(first / jnp.where(first != last, first - last, 1.0), 0.0, 1.0)
        for _ in range(_NEWTON):
            value, slope = fixed.at(u), fixed.rate.at(u)
            before = (value > 0.0) == (first > 0.0)  # the crossing is farther on
            low, high = jnp.where(before, u, low), jnp.where(before, high, u)
            guess = u - value / jnp.where(slope != 0.0, slope, 1.0)
            inside = (slope != 0.0) & (guess >= low - _ROUNDED) & (guess <= high + _ROUNDED)  # at a root, rounding may put it just outside
            u = jnp.where(inside, jnp.clip(guess, low, high), 0.5 * (low + high))
            u, low, high = fusion_barrier(u, low, high)
        slope = fixed.rate.at(u)
        last = u - self.at(u) / jnp.where(slope != 0.0, slope, jnp.inf)  # one more step, with the derivatives of the implicit function
        (u,) = fusion_barrier(jnp.where((last >= low) & (last <= high), last, u))
        return u

    def extremes(self, begin: Array | float = 0.0, end: Array | float = 1.0) -> tuple[Array, Array]:
        """Smallest and largest value between two fractions, of which at most one lies inside: one extreme between the ends is found."""
        rate = self.rate
        first, last = self.at(begin), self.at(end)
        turns = rate.at(begin) * rate.at(end) < 0.0
        inside = jnp.where(turns, self.at(jax.lax.stop_gradient(rate.crossing(begin, end))), first)
        return jnp.minimum(jnp.minimum(first, last), inside), jnp.maximum(jnp.maximum(first, last), inside)


def line(first: Array, last: Array) -> Polynomial:
    """The straight line from a value at the start to a value at the end."""
    return Polynomial((first, last - first))


def motion(h: Array, v0: Array, v1: Array, moved: Array, a0: Array | None = None, a1: Array | None = None) -> Polynomial:
    """Displacement since the start of a step [m].

    Args:
        h: length of the step [s]. v0, v1: velocities at its ends [m/s]. moved: displacement of the step [m].
        a0, a1: accelerations at its ends [m/s^2]; without them the polynomial is of degree 3.
    """
    zero, first, last = 0.0 * moved, h * v0, h * v1
    if a0 is None or a1 is None:
        return Polynomial((zero, *fusion_barrier(first, 3.0 * moved - 2.0 * first - last, first + last - 2.0 * moved)))
    bend = 0.5 * h * h * a0
    bend, first, last = fusion_barrier(bend, first, last)
    way, speed, change = moved - first - bend, last - first - 2.0 * bend, h * h * a1 - 2.0 * bend
    third, fourth = 10.0 * way - 4.0 * speed + 0.5 * change, 7.0 * speed - 15.0 * way - change
    return Polynomial((zero, first, bend, *fusion_barrier(third, fourth, 6.0 * way - 3.0 * speed + 0.5 * change)))


def velocity(course: Polynomial, h: Array) -> Polynomial:
    """Velocity [m/s] over a step of `h` [s] with a displacement `course`; 0 over a step of no length."""
    return course.rate.plus(0.0, 1.0 / jnp.where(h > 0.0, h, jnp.inf))


def through(values: tuple[Array, ...]) -> Polynomial:
    """The polynomial of degree 4 through five values at u = 0, 1/4, 1/2, 3/4 and 1."""
    a, b, c, d, e = values
    return Polynomial((
        a,
        (-25.0 * a + 48.0 * b - 36.0 * c + 16.0 * d - 3.0 * e) / 3.0,
        (70.0 * a - 208.0 * b + 228.0 * c - 112.0 * d + 22.0 * e) / 3.0,
        (-80.0 * a + 288.0 * b - 384.0 * c + 224.0 * d - 48.0 * e) / 3.0,
        (32.0 * a - 128.0 * b + 192.0 * c - 128.0 * d + 32.0 * e) / 3.0,
    ))  # fmt: skip


def integral(value: Callable[[Array], Array], begin: Array, end: Array) -> Array:
    """Integral over u between two fractions of any function, by Gauss's rule of order 6."""
    total = GAUSS[0][1] * value(begin + GAUSS[0][0] * (end - begin))
    for node, weight in GAUSS[1:]:
        total = total + weight * value(begin + node * (end - begin))
    return (end - begin) * total


def zero(value: Callable[[Array], Array], first: Array, last: Array) -> Array:
    """The fraction of the step at which a function is 0, with derivatives, if its values at the ends, `first` and `last`, differ in sign.

    By false position in Illinois's form, which halves the value of an end that stays.
    """
    fixed = jax.lax.stop_gradient
    a, b = jnp.zeros_like(first), jnp.ones_like(first)
    low, high = fixed(first), fixed(last)
    for _ in range(_SECANTS):
        u = a + (b - a) * jnp.clip(low / jnp.where(low != high, low - high, 1.0), 0.0, 1.0)
        there = fixed(value(u))
        left = (there > 0.0) == (low > 0.0)  # the zero is farther on
        a, b = jnp.where(left, u, a), jnp.where(left, b, u)
        low, high = jnp.where(left, there, 0.5 * low), jnp.where(left, 0.5 * high, there)
    u = fixed(u)
    at, slope = jax.jvp(value, (u,), (jnp.ones_like(u),))
    return u - only_tangent(at) / fixed(jnp.where(slope == 0.0, 1.0, slope))


def mean(values: tuple[Array, ...]) -> Array:
    """Mean over a step of what is known at the nodes `FIFTHS`, by Boole's rule; exact to degree 5."""
    total = BOOLE[0] * values[0]
    for weight, value in zip(BOOLE[1:], values[1:], strict=True):
        total = total + weight * value
    return total


def peak(values: tuple[Array, ...]) -> Array:
    """Largest value over a step of the polynomial `through` values at its nodes, of which at most one peak lies within the step.

    Two steps of Newton from the vertex of the parabola through the largest value at a node and its neighbours.
    """
    course = through(values)
    rate = course.rate
    bend = rate.rate
    u, a, b, c = jnp.full_like(values[0], FIFTHS[1]), values[0], values[1], values[2]
    for node, left, here, right in zip(FIFTHS[2:4], values[1:], values[2:], values[3:], strict=False):
        higher = here > b
        u, a, b, c = jnp.where(higher, node, u), jnp.where(higher, left, a), jnp.where(higher, here, b), jnp.where(higher, right, c)
    bends = a - 2.0 * b + c
    u = jnp.clip(u + 0.125 * (a - c) / jnp.where(bends < 0.0, bends, -jnp.inf), 0.0, 1.0)
    for _ in range(2):
        slope = bend.at(u)
        u = jnp.clip(u - rate.at(u) / jnp.where(slope < 0.0, slope, -jnp.inf), 0.0, 1.0)
    return functools.reduce(jnp.maximum, values, course.at(jax.lax.stop_gradient(u)))


def at_nodes(fractions: tuple[float, ...], first: Array, others: tuple[Array, ...]) -> tuple[Array, ...]:
    """At the nodes `FIFTHS`, the polynomial through a value at the start of the step and `others` at ascending `fractions`, the last 1."""
    points, values = (0.0, *fractions), (first, *others)
    inner = []
    for node in FIFTHS[1:-1]:
        total = 0.0 * first
        for place, value in zip(points, values, strict=True):
            weight = math.prod((node - other) / (place - other) for other in points if other != place)
            total = total + weight * value
        inner.append(total)
    return (first, *inner, others[-1])
