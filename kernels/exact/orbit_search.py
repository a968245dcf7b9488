"""The search for the periodic motion that a run tends to, on a Poincare section.

The event loop over one period T of the excitation maps a point y of the section (`poincare`) to P(y). Forward mode gives the Jacobian J of
P. A motion has the period q T if P^q(y) = y, with the smallest such q from 1 to MOST_MULTIPLE.

The map is iterated until some P^q acts linearly and contracts. It acts linearly if J predicts its residual from the one a period before. It
contracts if all multipliers are less than 1. Newton steps y + (I - J_q)^-1 (P^q(y) - y) then take over. J_q is the product of the last q
Jacobians. A step is undone if it neither halves the residual nor reduces it along its direction. The next step is then shorter: near a
boundary between regimes a run may creep through a bottleneck, where P is almost the identity. A step to a point that does not attract is
undone, too: after a period doubling some points of the double period seem to contract. No step is taken while the map does not contract,
as in a free oscillation without damping. Only motions to which the run tends are found that way. A motion counts as periodic if it returns
to rounding and a Newton step would not move it. If it only comes near, as close to a bifurcation or to grazing, the iteration goes on. The
search ends without a period after MOST_PERIODS, or earlier where small deviations keep growing (see `CHAOTIC`).

Walls that buckle change the map as long as they yield. A period in which one does counts as a new start: points before it are forgotten. A
Newton step behind which a wall yields is undone, so that walls are never pressed further than by the run itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact import rigid_loop
from tribosweep.kernels.exact.poincare import Build, Section, lasting
from tribosweep.kernels.excitation.harmonic import Harmonic
from tribosweep.kernels.numerics.fusion import decide, for_every_lane, fusion_barrier
from tribosweep.kernels.numerics.numbers import Array

MOST_PERIODS = 1000
# A motion counts as chaotic if small deviations have grown by more than a factor e^DIVERGENCE a period, on average from period SETTLING to
# period CHAOTIC or a later one
SETTLING, CHAOTIC, DIVERGENCE = 64, 320, 0.1
MOST_MULTIPLE = 16
# A motion returns if every coordinate does, within this fraction of its scale.
RETURN = 1e-12
_APART = 16.0  # points closer than this multiple of the tolerance of a return may be the same
_ROUNDING, _FLOOR = 1e-14, 4e-15  # residuals this small are rounding: relative to the scale of the motion; relative to its speeds
_FIRST_NEWTON, _PAUSE = 3, 8  # periods before the first Newton step; periods to wait after a step was undone
_SHORTER, _ALONG = 0.25, 0.25  # factor on the stride after a Newton step was undone; allowed relative change of a residual's direction
_NEAR = 0.05  # a residual over several periods below this fraction of the largest residual is worth a Newton step
_CONTRACTION = 1.0 + 1e-10  # multipliers above its inverse count as 1
_PIVOT = 1e-12
_YIELDS = 1e-13  # relative growth of a largest compression or change of a plastic set in a period; less is rounding


class OrbitSearch(NamedTuple):
    """One state of the iteration.

    Attributes:
        state: present state. back: the state just before the last Newton step.
        jumped: q of the last Newton step, 0 once it is judged. since: periods since that step. before: residual (n,) before it [m/s].
        pause: periods until the next step is allowed. stride: fraction of it to take. failed: q of the last step if it was undone, else 0.
        earlier, directions: y (MOST_MULTIPLE, n) and direction at the sections before, the last one first; NaN where there is none.
        jacobians: (MOST_MULTIPLE - 1, n, n), those of the periods that began at these sections.
        periods: number of integrated periods. multiple: q of the periodic motion; 0 until it is found.
        counted, counted_back: number of periods that led to `state` and to `back`, without those that were undone.
        yielded: number of these periods after which no wall has yielded any more.
        tangent: direction (n,) in which a small deviation grows. growth: logarithm of its growth since period SETTLING.
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
    counted: Array
    counted_back: Array
    yielded: Array
    tangent: Array
    growth: Array


def solve(matrix: Array, right: Array) -> Array:
    """Solution (n,) of a small linear system by elimination with full pivoting. An unknown with a pivot below 1e-12 is set to 0."""
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
    """Whether all eigenvalues of a matrix (n <= 3) lie inside the unit circle (Jury's conditions on the characteristic polynomial)."""
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


def _changed(before: Array, after: Array) -> Array:
    """Whether walls have yielded between two states, by what they keep (see `Section.kept`)."""
    (changed,) = decide(jnp.any(jnp.abs(after - before) > _YIELDS * jnp.abs(after)))
    return changed


class Searcher(NamedTuple):
    """The iteration that finds the periodic motion of one oscillator.

    Attributes:
        section: over one period. first: the state before the first period.
        going_on: state -> whether it is still searched. iterate: (state, whether the lane runs) -> the state one period later.
    """

    section: Section
    first: OrbitSearch
    going_on: Callable[[OrbitSearch], Array]
    iterate: Callable[[OrbitSearch, Array], OrbitSearch]


def search(build: Build, p: dict[str, Any]) -> OrbitSearch:
    """The periodic motion that a run tends to.

    Args:
        build: parameters of `lasting` -> section. p: resolved parameters (scalars, SI units; the window and the end are not read).

    Returns:
        The last state of the iteration, without derivatives. `multiple` is 0 if no periodic motion is found within MOST_PERIODS, or before
        the motion counts as chaotic.
    """
    made = searcher(build, p)
    runs = jnp.ones_like(made.section.finite)
    found: OrbitSearch = jax.lax.while_loop(made.going_on, lambda c: made.iterate(c, runs), for_every_lane(made.first, made.section.finite))
    return found


def searcher(build: Build, p: dict[str, Any]) -> Searcher:
    """The iteration that finds the periodic motion of one oscillator. Arguments: see `search`."""
    p = jax.lax.stop_gradient(lasting(p, 1.0))
    section = build(p)
    p = section.p
    speed = jnp.abs(Harmonic.of(p).amplitude) / (p["m"] * p["omega"])
    start = section.write(section.start, section.read(section.start))
    nothing = jnp.nan * section.read(start)
    n = nothing.shape[0]
    numbers = jnp.arange(1.0, MOST_MULTIPLE + 1.0)

    def going_on(c: OrbitSearch) -> Array:
        diverges = (c.periods >= CHAOTIC) & (c.growth > DIVERGENCE * (c.periods - SETTLING))
        ends = diverges | (c.multiple > 0.0) | (c.periods >= MOST_PERIODS) | (c.state.events >= rigid_loop.MOST_EVENTS)
        searching: Array = section.finite & ~ends
        return searching

    def iterate(c: OrbitSearch, runs: Array) -> OrbitSearch:
        y = section.read(c.state)
        s, jacobian, _ = section.image(c.state, y, runs)
        end, direction = section.read(s), section.direction(c.state)
        starts = jnp.concatenate([y[None], c.earlier])
        directions = jnp.concatenate([direction[None], c.directions])
        jacobians = jnp.concatenate([jacobian[None], c.jacobians])

        # the residuals of P, P^2, ..., and the tolerances of a return
        residuals = end - starts[:-1]
        floor = _FLOOR * (speed + jnp.abs(p["v0"]) + jnp.abs(y))
        scale = section.scale(s, y, speed + jnp.abs(p["v0"]))
        tolerance, rounding = fusion_barrier(RETURN * scale + floor, _ROUNDING * scale + floor)
        alike = (section.direction(s) == directions[:-1]) | (jnp.abs(end[0]) <= tolerance[0])
        sizes = jnp.max(jnp.abs(residuals), axis=1)
        returns = alike & jnp.all(jnp.abs(residuals) <= tolerance, axis=1)
        nearly = alike & jnp.all(jnp.abs(residuals) <= _APART * tolerance, axis=1)

        # q to examine: the first near return; else that of a Newton step to judge; else the first promising one, above `failed` if possible
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
        # a residual that keeps its direction shows that the step jumped over nothing
        along = jnp.max(jnp.abs(left - size / before * c.before)) <= _ALONG * size
        (worse,) = decide(judged & ~(((size <= 0.5 * before) | ((size < before) & along)) & attracts))
        settled = jnp.all(jnp.abs(newton) <= tolerance) | jnp.all(jnp.abs(residual) <= rounding)
        yields = None if section.kept is None else _changed(section.kept(c.state), section.kept(s))
        if yields is not None:
            worse = worse | (yields & (c.jumped > 0.0))
        fresh = jnp.zeros_like(worse) if yields is None else yields
        (returned,) = decide(jnp.any(chosen & returns) & settled & ~worse & ~fresh)

        ready = jnp.any(chosen & promising) & attracts & (c.pause <= 0.0) & (c.periods >= _FIRST_NEWTON) & ~fresh
        (jumps,) = decide(ready & ((c.jumped == 0.0) | judged) & ~worse & jnp.all(jnp.isfinite(newton)))
        jumped_to = section.write(s, end + c.stride * (of_chosen(starts[:-1]) + newton - end))
        state = jax.tree.map(lambda back, to, plain: jnp.where(worse, back, jnp.where(jumps, to, plain)), c.back, jumped_to, s)
        plain = ~worse & ~jumps & ~fresh
        counted = jnp.where(worse, c.counted_back, c.counted + 1.0)
        tangent = jnp.sum(jacobian * c.tangent, axis=1)
        length = jnp.maximum(jnp.max(jnp.abs(tangent)), 1e-300)
        return OrbitSearch(
            state=state._replace(events=s.events),
            back=jax.tree.map(lambda now, then: jnp.where(jumps, now, then), s, c.back),
            jumped=jnp.where(jumps, which, jnp.where(judged | worse, 0.0, c.jumped)),
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
            counted=counted,
            counted_back=jnp.where(jumps, counted, c.counted_back),
            yielded=jnp.where(fresh & ~worse, counted, c.yielded),
            tangent=tangent / length,
            growth=c.growth + jnp.where(c.periods >= SETTLING, jnp.log(length), 0.0),
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
        counted=zero,
        counted_back=zero,
        yielded=zero,
        tangent=jnp.ones_like(nothing) + zero,
        growth=zero,
    )
    return Searcher(section, first, going_on, iterate)
