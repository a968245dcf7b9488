"""Steady motion: the periodic motion that a run tends to, found on a Poincare section, and the observables of one period of it.

The event loop run over one period T of the excitation is a map y -> P(y) of the section (`sections`), and forward mode gives its Jacobian
J. A motion has the period q T if P^q brings it back, with the smallest q from 1 to MOST_MULTIPLE.

The map is iterated. As soon as some P^q acts linearly (its last residual is what J makes of the one before) and contracts (all multipliers
are less than 1), Newton steps y + (I - J_q)^-1 (P^q(y) - y) take over, J_q the product of the last q Jacobians. One that neither halves the
residual nor makes it less along itself is taken back, and a shorter part of the next is tried: near a boundary between regimes a run may
creep along a bottleneck, where the map all but stands still. One that leads to what does not attract is taken back, too (after a doubling
some points of the double period seem to contract). What the map does not contract, such as a free oscillation without damping, is never
jumped over, so that only motions are found to which the run tends. A motion is called periodic where it returns to rounding and a Newton
step would not move it: one that only comes near, as beside a bifurcation or a graze, is iterated further. What has no period after
MOST_PERIODS is observed over OBSERVED more.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kernels.exact import rigid_loop
from kernels.exact.poincare import Build, Section, lasting
from kernels.excitation.harmonic import Harmonic
from kernels.models.outputs import OBSERVED
from kernels.models.status import Status
from kernels.numerics.fusion import decide, for_every_lane, fusion_barrier
from kernels.numerics.numbers import Array

MOST_PERIODS = 1000
MOST_MULTIPLE = 16
# A motion returns when every coordinate does to this fraction of how large it is.
RETURN = 1e-12
_APART = 16.0  # times that: points nearer than this may be the same
_ROUNDING, _FLOOR = 1e-14, 4e-15  # a residual of the first, relative to the motion, or of the second, to its scale, is as small as it gets
_FIRST_NEWTON, _PAUSE = 3, 8  # periods before the first Newton step, and after one that was taken back
_SHORTER, _ALONG = 0.25, 0.25  # part of a Newton step that is tried after one was taken back; how far residuals may differ in direction
_NEAR = 0.05  # of the largest residual: a return of several periods that is worth a Newton step
_CONTRACTION = 1.0 + 1e-10  # multipliers above its inverse count as 1
_PIVOT = 1e-12


class OrbitSearch(NamedTuple):
    """The iteration, at one section.

    Attributes:
        state: present state. back: where it would be without the last Newton step.
        jumped: how many periods the last Newton step is for, 0 once it is judged. since: periods since then. before: the residual (n,) that
            it had to make less [m/s]. pause: periods until the next one is allowed. stride: part of it that is taken. failed: how many
            periods the one was for that was taken back.
        earlier, directions: y (MOST_MULTIPLE, n) and direction at the sections before, the last one first; NaN where there is none.
        jacobians: (MOST_MULTIPLE - 1, n, n) of the periods that began there.
        periods: how many were integrated. multiple: q; 0 while there is none.
    """

    state: Any
    back: Any
    jumped: Array
    since: Array
    before: Array
    pause: Array
    stride: Array
    failed: Array
    earlier: Array
    directions: Array
    jacobians: Array
    periods: Array
    multiple: Array


def solve(matrix: Array, right: Array) -> Array:
    """Solution (n,) of a small linear system by elimination with full pivoting; an unknown left with a pivot below 1e-12 is taken as 0."""
    n = right.shape[0]
    unused = jnp.ones((n, n))
    solution = jnp.zeros_like(right)
    pivots = []
    for _ in range(n):
        place = jnp.argmax(jnp.where(unused > 0.0, jnp.abs(matrix), -1.0).reshape(-1))
        row, column = (jnp.where(jnp.arange(n) == index, 1.0, 0.0) for index in (place // n, place % n))
        pivot_row, pivot_column = jnp.sum(row[:, None] * matrix, axis=0), jnp.sum(matrix * column, axis=1)
        pivot = jnp.sum(pivot_row * column)
        usable = jnp.abs(pivot) > _PIVOT
        by_pivot = jnp.where(usable, 1.0 / jnp.where(usable, pivot, 1.0), 0.0)
        factors = pivot_column * by_pivot * (1.0 - row)
        matrix, right = matrix - factors[:, None] * pivot_row, right - factors * jnp.sum(row * right)
        unused = unused * (1.0 - row)[:, None] * (1.0 - column)
        pivots.append((row, column, by_pivot))
    for row, column, by_pivot in pivots:
        solution = solution + column * by_pivot * jnp.sum(row * right)
    return solution


def contracts(jacobian: Array) -> Array:
    """Whether all eigenvalues of a matrix (n <= 3) are less than 1 in size (Jury's conditions on the characteristic polynomial)."""
    j = jacobian * _CONTRACTION
    trace = jnp.trace(j)
    if j.shape[0] == 1:
        return jnp.abs(trace) < 1.0
    if j.shape[0] == 2:
        det = j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0]
        return (jnp.abs(trace) < 1.0 + det) & (det < 1.0)
    minors = [j[a, a] * j[b, b] - j[a, b] * j[b, a] for a, b in ((0, 1), (0, 2), (1, 2))]
    second = minors[0] + minors[1] + minors[2]
    det = j[0, 0] * minors[2] - j[0, 1] * (j[1, 0] * j[2, 2] - j[1, 2] * j[2, 0]) + j[0, 2] * (j[1, 0] * j[2, 1] - j[1, 1] * j[2, 0])
    return (jnp.abs(trace + det) < 1.0 + second) & (jnp.abs(second - trace * det) < 1.0 - det * det)


def product(jacobians: Array, count: Array) -> Array:
    """The product (n, n) of the first `count` of the matrices (m, n, n), the first leftmost."""

    def multiply(carry: tuple[Array, Array], matrix: Array) -> tuple[tuple[Array, Array], None]:
        so_far, number = carry
        further = jnp.sum(so_far[:, :, None] * matrix[None], axis=1)
        return (jnp.where(number < count, further, so_far), number + 1.0), None

    (found, _), _ = jax.lax.scan(multiply, (jnp.eye(jacobians.shape[-1]), jnp.zeros_like(count)), jacobians)
    return found


def search(build: Build, p: dict[str, Any]) -> OrbitSearch:
    """The periodic motion that a run tends to.

    Args:
        build: (parameters of `lasting`) -> its section. p: resolved parameters (scalars, SI units; the window and the end are not read).

    Returns:
        The iteration where it ended; `multiple` is 0 where there is no periodic motion within MOST_PERIODS. Derivatives do not pass.
    """
    p = jax.lax.stop_gradient(lasting(p, 1.0))
    section = build(p)
    speed = jnp.abs(Harmonic.of(p).amplitude) / (p["m"] * p["omega"])
    start = section.write(section.start, section.read(section.start))
    nothing = jnp.nan * section.read(start)
    n = nothing.shape[0]
    numbers = jnp.arange(1.0, MOST_MULTIPLE + 1.0)

    def going_on(c: OrbitSearch) -> Array:
        searching: Array = section.finite & (c.multiple == 0.0) & (c.periods < MOST_PERIODS) & (c.state.events < rigid_loop.MOST_EVENTS)
        return searching

    def iterate(c: OrbitSearch) -> OrbitSearch:
        y = section.read(c.state)
        s, jacobian = section.image(c.state, y)
        end, direction = section.read(s), section.direction(c.state)
        starts = jnp.concatenate([y[None], c.earlier])
        directions = jnp.concatenate([direction[None], c.directions])
        jacobians = jnp.concatenate([jacobian[None], c.jacobians])

        # by how much the motion misses its return after 1, 2, ... periods, and how exact a return is
        residuals = end - starts[:-1]
        floor = _FLOOR * (speed + jnp.abs(p["v0"]) + jnp.abs(y))
        scale = section.scale(s, y, speed + jnp.abs(p["v0"]))
        tolerance, rounding = fusion_barrier(RETURN * scale + floor, _ROUNDING * scale + floor)
        alike = (section.direction(s) == directions[:-1]) | (jnp.abs(end[0]) <= tolerance[0])
        sizes = jnp.max(jnp.abs(residuals), axis=1)
        returns = alike & jnp.all(jnp.abs(residuals) <= tolerance, axis=1)
        nearly = alike & jnp.all(jnp.abs(residuals) <= _APART * tolerance, axis=1)

        # which return is looked at: the first that nearly is one; else that of the last Newton step; else the first that shrinks linearly
        befores = starts[:1] - starts[1:]
        foreseen = jnp.sum(jacobian[None] * befores[:, None, :], axis=2)
        linear = jnp.max(jnp.abs(residuals - foreseen), axis=1) <= 0.25 * jnp.max(jnp.abs(befores), axis=1)
        near = (numbers == 1.0) | (sizes <= _NEAR * jnp.max(jnp.where(jnp.isfinite(sizes), sizes, 0.0)))
        judged = (c.jumped > 0.0) & (c.since + 1.0 >= c.jumped)
        jumped_here = judged & (numbers == c.jumped)
        (left,) = fusion_barrier(jnp.sum(jnp.where((numbers == c.jumped)[:, None], residuals, 0.0), axis=0))
        promising = alike & near & (jumped_here | linear)
        later = promising & (numbers > c.failed)
        first_promising = jnp.where(jnp.any(later), jnp.argmax(later), jnp.argmax(promising))
        preferred = jnp.where(jnp.any(nearly), jnp.argmax(nearly), jnp.where(judged, c.jumped - 1.0, first_promising))
        (which,) = fusion_barrier(preferred + 1.0)
        chosen = numbers == which

        def of_chosen(values: Array) -> Array:
            return jnp.sum(jnp.where(chosen[:, None], values, 0.0), axis=0)

        matrix, residual = product(jacobians, which), of_chosen(residuals)
        (newton,) = fusion_barrier(solve(jnp.eye(n) - matrix, residual))
        (attracts,) = decide(contracts(matrix))
        size, before = jnp.max(jnp.abs(left)), jnp.max(jnp.abs(c.before))
        # nothing was jumped over where the residual points as it did
        along = jnp.max(jnp.abs(left - size / before * c.before)) <= _ALONG * size
        (worse,) = decide(judged & ~(((size <= 0.5 * before) | ((size < before) & along)) & attracts))
        settled = jnp.all(jnp.abs(newton) <= tolerance) | jnp.all(jnp.abs(residual) <= rounding)
        (returned,) = decide(jnp.any(chosen & returns) & settled & ~worse)

        ready = jnp.any(chosen & promising) & attracts & (c.pause <= 0.0) & (c.periods >= _FIRST_NEWTON)
        (jumps,) = decide(ready & ((c.jumped == 0.0) | judged) & ~worse & jnp.all(jnp.isfinite(newton)))
        jumped_to = section.write(s, end + c.stride * (of_chosen(starts[:-1]) + newton - end))
        state = jax.tree.map(lambda back, to, plain: jnp.where(worse, back, jnp.where(jumps, to, plain)), c.back, jumped_to, s)
        plain = ~worse & ~jumps
        return OrbitSearch(
            state=state._replace(events=s.events),
            back=jax.tree.map(lambda now, then: jnp.where(jumps, now, then), s, c.back),
            jumped=jnp.where(jumps, which, jnp.where(judged, 0.0, c.jumped)),
            since=jnp.where(jumps, 0.0, c.since + 1.0),
            before=jnp.where(jumps, residual, c.before),
            pause=jnp.where(worse, float(_PAUSE), c.pause - 1.0),
            stride=jnp.where(worse, _SHORTER * c.stride, jnp.where(judged, jnp.minimum(1.0, 2.0 * c.stride), c.stride)),
            failed=jnp.where(worse, c.jumped, jnp.where(jumps, 0.0, c.failed)),
            earlier=jnp.where(plain, starts[:-1], nothing),
            directions=jnp.where(plain, directions[:-1], jnp.nan),
            jacobians=jacobians[:-1],
            periods=c.periods + 1.0,
            multiple=jnp.where(returned, which, 0.0),
        )

    zero = jnp.zeros_like(speed)
    none = jnp.broadcast_to(nothing, (MOST_MULTIPLE, n))
    first = OrbitSearch(
        state=start,
        back=start,
        jumped=zero,
        since=zero,
        before=nothing,
        pause=zero,
        stride=zero + 1.0,
        failed=zero,
        earlier=none,
        directions=none[:, 0],
        jacobians=jnp.zeros((MOST_MULTIPLE - 1, n, n)) + zero,
        periods=zero,
        multiple=zero,
    )
    found: OrbitSearch = jax.lax.while_loop(going_on, iterate, for_every_lane(first, section.finite))
    return found


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def point(build: Build, p: dict[str, Any], y: Array, state: Any, multiple: Array) -> Array:  # noqa: ARG001 (its derivative needs them)
    """The point `y` of the section to which `multiple` periods from `state` return, found elsewhere, as a function of the parameters.

    Its derivative is that of the implicit function P(y; p) = y: dy = (I - J)^-1 dP/dp. Where y is free (a mass at rest on a spring may rest
    anywhere) the derivative of its free part is taken as 0; where nothing returns (`multiple` is 0) there is none, and it is NaN.
    """
    return y


def _point_jvp(build: Build, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Array, Array]:
    """See `point`; the point itself is asked for again, so that derivatives of derivatives see it move."""
    p, _, state, multiple = primals
    y = point(build, *primals)

    def image(p: dict[str, Any], y: Array) -> Array:
        section = build(lasting(p, multiple))
        return section.read(section.after(section.write(state, y)))

    n = y.shape[0]
    along_p = jax.tree.map(lambda rate: jnp.concatenate([rate[None], jnp.zeros((n, *rate.shape), rate.dtype)]), tangents[0])
    along_y = jnp.concatenate([jnp.zeros((1, n)), jnp.eye(n)])
    rates = jax.vmap(lambda *direction: jax.jvp(image, (p, y), direction)[1])(along_p, along_y)
    return y, jnp.where(multiple > 0.0, solve(jnp.eye(n) - rates[1:].T, rates[0]), jnp.nan)


point.defjvp(_point_jvp)


def passes(section: Section, s: Any, periods: Array) -> tuple[Any, Array, Array]:
    """So many periods from a state: the one after them, and x [m] and v [m/s] at the beginning of each, (OBSERVED,), padded with NaN."""
    none = jnp.full(OBSERVED, jnp.nan) + 0.0 * s.t

    def one(carry: Any) -> Any:
        number, s, x, v = carry
        here = jnp.arange(OBSERVED) == number
        after = section.after(s)
        # the next one, in the same window
        after = after._replace(t=jnp.zeros_like(s.t), stage=jnp.where(section.finite, 1.0, s.stage))
        return number + 1.0, after, jnp.where(here, s.x, x), jnp.where(here, s.anchor.v, v)

    _, last, x, v = jax.lax.while_loop(
        lambda carry: carry[0] < periods, one, for_every_lane((jnp.zeros_like(s.t), s, none, none), section.finite)
    )
    return last, x, v


def simulate(p: dict[str, Any], build: Build) -> tuple[dict[str, Array], Array]:
    """Run one oscillator to its steady motion and observe one period of that, or OBSERVED periods of the excitation where it has none.

    Args:
        p: resolved parameters of its model (scalars, SI units; the window and the end are not read).
        build: its section, with all but the parameters chosen.

    Returns:
        Observables by name (scalars; `poincare_x` and `poincare_v` (OBSERVED,)), and the status code. With k = 0 the motion of a rubbing
        mass may lie anywhere; it is taken to begin at x0.

    Differentiable in every parameter (forward mode), by the implicit function theorem; without a period derivatives are NaN. Validated by
    tests/kernels/exact/test_periodic_orbit.py and tests/kernels/exact/test_periodic_orbit_of_a_stop.py.
    """
    found = search(build, p)
    periodic = found.multiple > 0.0
    status = jnp.where(periodic, int(Status.OK), int(Status.NOT_PERIODIC))
    status = jnp.where(found.state.events < rigid_loop.MOST_EVENTS, status, int(Status.TOO_MANY_EVENTS))
    section = build(lasting(p, 1.0))
    status = jnp.where(section.finite, status, int(Status.NOT_FINITE))
    begin = section.write(found.state, point(build, p, section.read(found.state), found.state, found.multiple))
    multiple = jnp.where(periodic, found.multiple, float(OBSERVED))
    last, x, v = passes(section, begin, jnp.where(section.finite, multiple, 0.0))
    zero = jnp.zeros_like(last.t)
    ends = {
        "poincare_x": x,
        "poincare_v": v,
        "x_end": last.x,
        "v_end": last.anchor.v,
        "period": jnp.where(periodic, found.multiple, jnp.nan),
        "time_reached": found.periods * 2.0 * math.pi / p["omega"],
        "accepted_steps": zero,
        "rejected_steps": zero,
    }
    return {**section.observe(last, lasting(p, multiple), periodic), **ends}, status
