"""Statistics along a stretch of closed-form motion: integrals and extremes to rounding.

A stretch is divided into panels with 9 Gauss-Lobatto nodes each, exact for polynomials of degree 15. A panel of 1.5 times the shortest time
scale integrates a square to 1e-15. A pure decay allows panels half as long as the time since the stretch began. They keep that accuracy,
because less of the decay is left by then. An extreme lies near the highest or lowest node of a panel; the derivatives there lead to it.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tribosweep.kernels.exact.event_loop import Stretch
from tribosweep.kernels.numerics.fusion import for_every_lane, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.statistics import Statistics, add, add_instant, widen
from tribosweep.kernels.segments.damped import Course, Damped
from tribosweep.kernels.segments.interface import Motion

_NODES = 9
_PANEL, _GROWTH = 1.5, 0.5  # length of a panel: over the shortest time scale; over the time since the stretch began
_DAMPED = 0.7  # fraction of critical damping from which a free motion counts as a pure decay
_GONE = 41.0  # e-foldings after which a decaying motion is below rounding
_MOST_PANELS = 1e6
_BESIDE = 0.2  # longest step from a node to an extreme, over the length of the panel


def _lobatto(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes in [0, 1], ends included, and weights of Gauss-Lobatto quadrature."""
    legendre = np.polynomial.legendre.Legendre.basis(count - 1)
    nodes = np.concatenate([[-1.0], np.sort(legendre.deriv().roots().real), [1.0]])
    inner = nodes - legendre.deriv()(nodes) / np.where(np.abs(nodes) < 1.0, legendre.deriv(2)(nodes), np.inf)
    return 0.5 + 0.5 * inner, 1.0 / (count * (count - 1) * legendre(inner) ** 2)


NODES, WEIGHTS = _lobatto(_NODES)


class Curves(NamedTuple):
    """Quantities along a stretch, (q,) each: value + on_d d + on_v (v - v0) + on_a (a - a0) + on_dv d v + on_n (n - n0) + on_t t.

    d is counted from the start of the stretch. `on_n` and `on_t` are as in `law.Guard`. `moves` is 1 if the mass moves. It is 0 if a rigid
    contact holds the mass; v is then not its velocity, which is `carried` [m/s] (None: 0).
    """

    value: Array
    on_d: Array
    on_v: Array
    on_a: Array
    on_dv: Array
    moves: Array
    on_n: Array | None = None
    on_t: Array | None = None
    carried: Array | None = None

    def at(self, m: Motion, v0: Array, a0: Array, course: Course) -> tuple[Array, Array, Array, Array]:
        """Values and first three time derivatives, (q, n), for a motion and a course whose entries are (n,) or (q, n)."""
        value, on_d, on_v, on_a, on_dv = (each[:, None] for each in self[:5])
        d, v, a, jerk, snap, crackle = m
        found = [
            value + on_d * d + on_v * (v - v0) + on_a * (a - a0) + on_dv * d * v,
            on_d * v + on_v * a + on_a * jerk + on_dv * (v * v + d * a),
            on_d * a + on_v * jerk + on_a * snap + on_dv * (3.0 * v * a + d * jerk),
            on_d * jerk + on_v * snap + on_a * crackle + on_dv * (3.0 * a * a + 4.0 * v * jerk + d * snap),
        ]
        if self.on_t is not None:
            found[:2] = found[0] + self.on_t[:, None] * course.time, found[1] + self.on_t[:, None]
        if self.on_n is not None and course.normal is not None:
            found = [one + self.on_n[:, None] * n for one, n in zip(found, course.normal, strict=True)]
        return found[0], found[1], found[2], found[3]

    def speed(self, v: Array) -> Array:
        """Velocity of the mass [m/s]."""
        moving = v * self.moves
        return moving if self.carried is None else moving + self.carried * (1.0 - self.moves)


def _to_extreme(sign: Array, first: Array, second: Array, third: Array, most: Array) -> Array:
    """Halley step [s] to the nearby extreme of a curve: a maximum if `sign` is 1, a minimum if it is -1; 0 if none lies within `most`."""
    divisor = 2.0 * second * second - first * third
    bends = (sign * second < 0.0) & (divisor != 0.0)
    step = jnp.where(bends, -2.0 * first * second / jnp.where(bends, divisor, 1.0), 0.0)
    return jnp.where(jnp.abs(step) <= most, step, 0.0)


def _longest(segment: Damped, t: Array) -> Array:
    """Longest panel [s] for the rates of the motion that persist. Free motion that only decays, or is gone at time `t` [s], is left out."""
    free = jnp.sqrt(jnp.abs(segment.w2)) + 2.0 * jnp.abs(segment.zeta)
    decays = (segment.zeta >= 0.0) & (segment.w2 >= 0.0)
    only_decays = decays & ((segment.zeta >= _DAMPED * jnp.sqrt(jnp.maximum(segment.w2, 0.0))) | (segment.zeta * t > _GONE))
    lasting = jnp.where(only_decays, segment.rate - free, segment.rate)
    return _PANEL / jnp.where(lasting > 0.0, lasting, 1e-300)


def peak(curve: tuple[Array, Array, Array, Array, Array], now: Stretch) -> Array:
    """The largest value of a quantity within a stretch that is short against the time scales of the motion; its middle if it has no crest.

    Args:
        curve: value, on_d, on_v, on_a and on_dv of the quantity (see `Curves`), scalars.
    """
    fixed = jax.lax.stop_gradient
    value, on_d, on_v, on_a, on_dv = (jnp.reshape(each, (1,)) for each in curve)
    curves = Curves(value, on_d, on_v, on_a, on_dv, jnp.ones((1,)))
    v0, a0, most = now.start.v, now.start.a, fixed(now.duration)

    def at(time: Array) -> tuple[Array, Array, Array, Array]:
        near, course = jax.tree.map(lambda each: jnp.reshape(each, (1, 1)), (now.motion(time), now.course(time)))
        value, first, second, third = (each[0, 0] for each in curves.at(near, v0, a0, course))
        return value, first, second, third

    time = 0.5 * most
    for _ in range(3):
        _, first, second, third = (fixed(each) for each in at(time))
        time = jnp.clip(time + _to_extreme(jnp.ones_like(time), first, second, third, most), 0.0, most)
    return at(time)[0]


def rubbed(swings: Array, normal: Array, belt: Array | None, now: Stretch) -> Array:
    """The integral of n w over a stretch [N m], n being the normal force and w the velocity against the support.

    Args:
        swings: whether it is asked for; without it the integral is 0 and costs nothing. normal: n at the start of the stretch [N].
        belt: velocity of the support [m/s]; None where it rests.
    """
    segment: Damped = jax.tree.map(jax.lax.stop_gradient, now.segment)
    length, motion, course = jnp.where(swings, now.duration, 0.0), jax.vmap(now.motion), jax.vmap(now.course)

    def panel(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        t, total = carry
        h = jnp.maximum(jnp.minimum(jnp.maximum(_PANEL / segment.rate, _GROWTH * t), _longest(segment, t)), length / _MOST_PANELS)
        end = jnp.where(t + h * (1.0 + 1e-9) >= length, length, t + jax.lax.stop_gradient(h))
        nodes = t + (end - t) * NODES
        n = course(nodes).normal
        speeds = motion(nodes).v if belt is None else motion(nodes).v - belt
        forces = normal if n is None else normal + n[0]
        return end, total + jnp.sum((end - t) * WEIGHTS * forces * speeds)

    start = for_every_lane((jnp.zeros_like(length), jnp.zeros_like(length)), length, now.start)
    total = jax.lax.while_loop(lambda carry: carry[0] < length, panel, start)[1]
    speed = now.start.v if belt is None else now.start.v - belt
    return total + jnp.where(length > 0.0, 0.0, length * normal * speed)  # a stretch of no length, as between two faces, has a derivative


def look(sums: Statistics, curves: Curves, now: Stretch, asked: Array | None = None) -> Statistics:
    """The statistics after a stretch. A stretch outside the window changes nothing, nor one where they are not `asked` for (0)."""
    fixed = jax.lax.stop_gradient
    segment: Damped = jax.tree.map(fixed, now.segment)
    length = jnp.where(now.inside if asked is None else now.inside & (asked > 0.0), now.duration, 0.0)
    v0, a0 = now.start.v, now.start.a
    count = curves.value.shape[0]
    signs = jnp.asarray([[1.0, -1.0]])  # largest, smallest
    motion, course = jax.vmap(now.motion), jax.vmap(now.course)

    def panel(carry: tuple[Array, Statistics]) -> tuple[Array, Statistics]:
        t, sums = carry
        grown = jnp.maximum(_PANEL / segment.rate, _GROWTH * t)
        h = jnp.maximum(jnp.minimum(grown, _longest(segment, t)), length / _MOST_PANELS)
        end = jnp.where(t + h * (1.0 + 1e-9) >= length, length, t + fixed(h))
        nodes = t + (end - t) * NODES
        m = Motion(*fusion_barrier(*motion(nodes)))
        values, *slopes = fusion_barrier(*curves.at(m, v0, a0, course(nodes)))
        sums = add(sums, (end - t) * WEIGHTS, values, curves.speed(m.v))
        lasts = end > t
        sums = widen(sums, lasts, values)

        # extremes near the highest and the lowest node of every curve
        scores = fixed(values)[:, None, :] * signs[0][:, None]
        here = jnp.where(scores >= jnp.max(scores, axis=2, keepdims=True), 1.0, 0.0)
        here = here / jnp.sum(here, axis=2, keepdims=True)
        at, first, second, third = (jnp.sum(here * fixed(each)[..., None, :], axis=2) for each in (nodes[None], *slopes))
        most = _BESIDE * fixed(end - t)
        (beside,) = fusion_barrier(jnp.clip(at + _to_extreme(signs, first, second, third, most), 0.0, fixed(length)))
        near, then = jax.tree.map(lambda each: each.reshape(count, 2), (motion(beside.reshape(-1)), course(beside.reshape(-1))))
        value, first, second, third = fusion_barrier(*curves.at(Motion(*fusion_barrier(*near)), v0, a0, then))
        step = _to_extreme(signs, fixed(first), fixed(second), fixed(third), most)
        step = jnp.where((beside + step >= 0.0) & (beside + step <= fixed(length)), step, 0.0)
        found = value + step * (first + step * (0.5 * second + step * third / 6.0))
        return end, widen(sums, lasts, found)

    start = for_every_lane((jnp.zeros_like(length), sums), length, curves, now.start)
    seen = jax.lax.while_loop(lambda carry: carry[0] < length, panel, start)[1]
    return add_instant(seen, jnp.where(length > 0.0, 0.0, length), curves.value, curves.speed(v0))
