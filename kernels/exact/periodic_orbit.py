"""Steady motion: the periodic motion that a run tends to, found on a Poincare section, and the observables of one of its periods.

The event loop over one period T of the excitation maps a point y of the section (`poincare`) to P(y). Forward mode gives the Jacobian J of
P. A motion has the period q T if P^q(y) = y, with the smallest such q from 1 to MOST_MULTIPLE.

The map is iterated until some P^q acts linearly and contracts. It acts linearly if J predicts its residual from the one a period before. It
contracts if all multipliers are less than 1. Newton steps y + (I - J_q)^-1 (P^q(y) - y) then take over. J_q is the product of the last q
Jacobians. A step is undone if it neither halves the residual nor reduces it along its direction. The next step is then shorter: near a
boundary between regimes a run may creep through a bottleneck, where P is almost the identity. A step to a point that does not attract is
undone, too: after a period doubling some points of the double period seem to contract. No step is taken while the map does not contract,
as in a free oscillation without damping. Only motions to which the run tends are found that way. A motion counts as periodic if it returns
to rounding and a Newton step would not move it. If it only comes near, as close to a bifurcation or to grazing, the iteration goes on. A
run without a period after MOST_PERIODS, or in which small deviations keep growing (see `CHAOTIC`), is observed over OBSERVED more.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
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
# A motion counts as chaotic if small deviations have grown by more than a factor e^DIVERGENCE a period, on average from period SETTLING to
# period CHAOTIC or a later one
SETTLING, CHAOTIC, DIVERGENCE = 64, 320, 0.1
PERIODS = 4  # between two times at which lanes that are done take other rows
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


class OrbitSearch(NamedTuple):
    """One state of the iteration.

    Attributes:
        state: present state. back: the state just before the last Newton step.
        jumped: q of the last Newton step, 0 once it is judged. since: periods since that step. before: residual (n,) before it [m/s].
        pause: periods until the next step is allowed. stride: fraction of it to take. failed: q of the last step if it was undone, else 0.
        earlier, directions: y (MOST_MULTIPLE, n) and direction at the sections before, the last one first; NaN where there is none.
        jacobians: (MOST_MULTIPLE - 1, n, n), those of the periods that began at these sections.
        periods: number of integrated periods. multiple: q of the periodic motion; 0 until it is found.
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
        s, jacobian = section.image(c.state, y, runs)
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
        (returned,) = decide(jnp.any(chosen & returns) & settled & ~worse)

        ready = jnp.any(chosen & promising) & attracts & (c.pause <= 0.0) & (c.periods >= _FIRST_NEWTON)
        (jumps,) = decide(ready & ((c.jumped == 0.0) | judged) & ~worse & jnp.all(jnp.isfinite(newton)))
        jumped_to = section.write(s, end + c.stride * (of_chosen(starts[:-1]) + newton - end))
        state = jax.tree.map(lambda back, to, plain: jnp.where(worse, back, jnp.where(jumps, to, plain)), c.back, jumped_to, s)
        plain = ~worse & ~jumps
        tangent = jnp.sum(jacobian * c.tangent, axis=1)
        length = jnp.maximum(jnp.max(jnp.abs(tangent)), 1e-300)
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
        tangent=jnp.ones_like(nothing) + zero,
        growth=zero,
    )
    return Searcher(section, first, going_on, iterate)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def point(build: Build, p: dict[str, Any], y: Array, state: Any, multiple: Array) -> Array:  # noqa: ARG001 (its derivative needs them)
    """The fixed point `y` of P^q, with q = `multiple`, as a function of the parameters. `y` and `state` come from `search`.

    The implicit function P^q(y; p) = y gives its derivative dy = (I - J)^-1 dP^q/dp, with J the Jacobian of P^q. A part of y may be free: a
    mass at rest on a spring may rest anywhere. The derivative of that part is set to 0. Without a period (q = 0) the derivative is NaN.
    """
    return y


def _point_jvp(build: Build, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Array, Array]:
    """The derivative rule of `point`. It calls `point` again, so that second derivatives include the motion of the point."""
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


class Passes(NamedTuple):
    """The periods that are observed.

    Attributes:
        number: of periods so far. state: at the end of them. x, v: displacement [m] and velocity [m/s] at the start of each, (OBSERVED,),
            padded with NaN.
    """

    number: Array
    state: Any
    x: Array
    v: Array


def _no_passes(s: Any) -> Passes:
    """Before the first period, which begins with the state `s`."""
    none = jnp.full(OBSERVED, jnp.nan) + 0.0 * s.t
    return Passes(jnp.zeros_like(s.t), s, none, none)


def _one_pass(section: Section, so_far: Passes, runs: Array | None = None) -> Passes:
    """One period more. `runs`: whether the lane runs at all; None if it does."""
    number, s, x, v = so_far
    here = jnp.arange(OBSERVED) == number
    after = section.after(s if runs is None else s._replace(stage=jnp.where(runs, s.stage, 3.0)))
    # the next period starts at t = 0 again and adds to the same sums
    after = after._replace(t=jnp.zeros_like(s.t), stage=jnp.where(section.finite, 1.0, s.stage))
    return Passes(number + 1.0, after, jnp.where(here, s.x, x), jnp.where(here, s.anchor.v, v))


def _observed(build: Build, p: dict[str, Any], found: OrbitSearch, seen: Passes) -> tuple[dict[str, Array], Array]:
    """Observables and status code, from what the search has found and the periods observed."""
    periodic = found.multiple > 0.0
    section = build(lasting(p, 1.0))
    status = jnp.where(periodic, int(Status.OK), int(Status.NOT_PERIODIC))
    status = jnp.where(found.state.events < rigid_loop.MOST_EVENTS, status, int(Status.TOO_MANY_EVENTS))
    status = jnp.where(section.finite, status, int(Status.NOT_FINITE))
    zero = jnp.zeros_like(seen.state.t)
    ends = {
        "poincare_x": seen.x,
        "poincare_v": seen.v,
        "x_end": seen.state.x,
        "v_end": seen.state.anchor.v,
        "period": jnp.where(periodic, found.multiple, jnp.nan),
        "time_reached": found.periods * 2.0 * math.pi / p["omega"],
        "accepted_steps": zero,
        "rejected_steps": zero,
    }
    return {**section.observe(seen.state, lasting(p, _to_observe(found)), periodic), **ends}, status


def _to_observe(found: OrbitSearch) -> Array:
    """Number of periods to observe."""
    return jnp.where(found.multiple > 0.0, found.multiple, float(OBSERVED))


class SteadyRun(NamedTuple):
    """A run in a queue: the search, and the periods observed after it; `begun` is 1 once these have begun."""

    search: OrbitSearch
    begun: Array
    seen: Passes


def begin(p: dict[str, Any], build: Build) -> SteadyRun:
    """The run at t = 0 (see `batch.queue.Driver`)."""
    first = searcher(build, p).first
    return SteadyRun(first, jnp.zeros_like(first.periods), _no_passes(first.state))


def advance(p: dict[str, Any], run: SteadyRun, build: Build) -> SteadyRun:
    """The run PERIODS periods later."""
    made = searcher(build, p)

    def one(_: Any, run: SteadyRun) -> SteadyRun:
        (searches,) = decide(made.going_on(run.search))
        (goes,) = decide(_goes_on(made, run))
        further = made.iterate(run.search, searches)
        found = jax.tree.map(lambda new, old: jnp.where(searches, new, old), further, run.search)
        (starts,) = decide(~searches & (run.begun == 0.0))
        placed = _no_passes(made.section.write(found.state, made.section.read(found.state)))
        before = jax.tree.map(lambda new, old: jnp.where(starts, new, old), placed, run.seen)
        observes = goes & ~searches
        seen = jax.tree.map(lambda new, old: jnp.where(observes, new, old), _one_pass(made.section, before, observes), before)
        return SteadyRun(found, jnp.where(starts, 1.0, run.begun), seen)

    after: SteadyRun = jax.lax.fori_loop(0, PERIODS, one, run)
    return after


def _goes_on(made: Searcher, run: SteadyRun) -> Array:
    """Whether the search or the observation is not over."""
    ends = (run.begun > 0.0) & (run.seen.number >= _to_observe(run.search))
    return made.section.finite & ~ends


def active(p: dict[str, Any], run: SteadyRun, build: Build) -> Array:
    """Whether the run goes on."""
    return _goes_on(searcher(build, p), run)


def result(p: dict[str, Any], run: SteadyRun, build: Build) -> tuple[dict[str, Array], Array]:
    """Observables by name (scalars; lists (OBSERVED,)) and status code."""
    return _observed(build, p, run.search, run.seen)


def simulate(p: dict[str, Any], build: Build) -> tuple[dict[str, Array], Array]:
    """Run one oscillator to its steady motion and observe one period of it, or OBSERVED periods of the excitation if it has no period.

    Args:
        p: resolved parameters of its model (scalars, SI units; the window and the end are not read).
        build: parameters of `lasting` -> section.

    Returns:
        Observables by name (scalars; `poincare_x` and `poincare_v` (OBSERVED,)), and the status code. With k = 0 the steady motion of a
        rubbing mass may lie anywhere; by convention it begins at x0.

    Differentiable in every parameter (forward mode), by the implicit function theorem. Without a period derivatives are NaN. Validated by
    tests/kernels/exact/test_periodic_orbit.py and tests/kernels/exact/test_periodic_orbit_of_a_stop.py.
    """
    found = search(build, p)
    section = build(lasting(p, 1.0))
    begin = section.write(found.state, point(build, p, section.read(found.state), found.state, found.multiple))
    count = jnp.where(section.finite, _to_observe(found), 0.0)
    seen = jax.lax.while_loop(
        lambda seen: seen.number < count, functools.partial(_one_pass, section), for_every_lane(_no_passes(begin), section.finite)
    )
    return _observed(build, p, found, seen)
