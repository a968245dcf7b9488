"""Steady motion: the periodic motion that a run tends to, found on a Poincare section, and the observables of one period of it.

The section is the instants t = n T, T = 2 pi / omega. There a motion is a point y: the velocity, with k > 0 the displacement, of a
penalised contact that holds its stretch, all in units of velocity; and whether the contact slips. The event loop run over one period is
the map y -> P(y), and forward mode gives its Jacobian J. A motion has the period q T if P^q brings it back, with the smallest q from 1 to
MOST_MULTIPLE.

The map is iterated. As soon as it acts linearly (the last residual is what J makes of the one before) and contracts (all multipliers are
less than 1), Newton steps y + (I - J)^-1 (P(y) - y) take over; one that neither halves the residual nor makes it less along itself is taken
back, and a shorter part of the next is tried: near a boundary between regimes a run may creep along a bottleneck, where the map all but
stands still. What the map does not contract, such as a free oscillation without damping, is never jumped over, so that only motions are
found to which the run tends.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from kernels.contact.friction import FrictionPhases, Penalised
from kernels.elementary import Array, decide, run_time_one, settle, sincos
from kernels.exact import events, loop, oscillators
from kernels.excitation.harmonic import Harmonic, wrap
from kernels.observables import rubbing
from kernels.status import Status

MOST_PERIODS = 1000
MOST_MULTIPLE = 16
# A motion returns when its speed does to this fraction of its largest one, and its place to this fraction of the distance slipped.
RETURN = 1e-12
_ROUNDING, _FLOOR = 1e-14, 4e-15  # a residual of the first, relative to the motion, or of the second, to its scale, is as small as it gets
_FIRST_NEWTON, _PAUSE = 3, 8  # periods before the first Newton step, and after one that was taken back
_SHORTER, _ALONG = 0.25, 0.25  # part of a Newton step that is tried after one was taken back; how far residuals may differ in direction
_CONTRACTION = 1.0 + 1e-10  # multipliers above its inverse count as 1
_PIVOT = 1e-12


class Section(NamedTuple):
    """An event loop as the section sees it. States are those of the loop.

    Attributes:
        start: the state at t = 0. finite: whether all parameters are finite numbers.
        next_event: from one event to the next; stage 1 ends after the periods that were asked for.
        read: state -> y (n,) [m/s]. write: (state, y) -> the same state with that y, at the beginning of those periods.
        direction: state -> +1 or -1 in slip, 0 while the contact holds. sums: state -> the sums of friction.
    """

    start: Any
    finite: Array
    next_event: Callable[[Any], Any]
    read: Callable[[Any], Array]
    write: Callable[[Any, Array], Any]
    direction: Callable[[Any], Array]
    sums: Callable[[Any], rubbing.Rubbing]

    def after(self, s: Any) -> Any:
        """The state at the end of the periods that begin with `s`."""
        return jax.lax.while_loop(lambda s: (s.stage < 2.0) & (s.events < loop.MOST_EVENTS), self.next_event, s)


Build = Callable[[dict[str, Any]], Section]


class Search(NamedTuple):
    """The iteration, at one section.

    Attributes:
        state: present state. back: where it would be without the last Newton step.
        residual, jacobian: of the period before. jumped: 1 after a Newton step. pause: periods until the next one is allowed.
        stride: part of it that is taken.
        earlier, directions: y (MOST_MULTIPLE - 1, n) and direction at the sections before, the last one first; NaN where there is none.
        periods: how many were integrated. multiple: q; 0 while there is none.
    """

    state: Any
    back: Any
    residual: Array
    jacobian: Array
    jumped: Array
    pause: Array
    stride: Array
    earlier: Array
    directions: Array
    periods: Array
    multiple: Array


def rigid(p: dict[str, Any], free: bool) -> Section:
    """The section of a mass with rigid friction (`loop.machine`); `free` promises k = c = 0."""
    machine = loop.machine(p, free)
    omega, zero = p["omega"], jnp.zeros_like(machine.start.t)

    def read(s: loop.State) -> Array:
        return jnp.stack([s.anchor.v] if free else [s.anchor.v, jnp.where(p["k"] > 0.0, s.x * omega, 0.0)])

    def write(s: loop.State, y: Array) -> loop.State:
        origin = p["x0"] + zero
        placed = machine.place(s, origin if free else jnp.where(p["k"] > 0.0, y[1] / omega, origin), y[0])
        sums = rubbing.established(zero, (placed.direction != 0.0) & (placed.anchor.v != 0.0))
        return placed._replace(stage=jnp.where(machine.finite, placed.stage, 3.0), sums=sums)

    return Section(machine.start, machine.finite, machine.next_event, read, write, lambda s: s.direction, lambda s: s.sums)


def penalised(p: dict[str, Any]) -> Section:
    """The section of a mass with penalised friction (`events.machine`)."""
    made = oscillators.setup(p, oscillators.Kind(oscillators.PENALISED))
    contact = cast("Penalised", cast("FrictionPhases", made.friction).law)
    machine = events.machine(made.law, made.excitation, p, made.observe, made.sums, made.finite)
    omega, zero = p["omega"], jnp.zeros_like(machine.start.t)

    def read(s: Any) -> Array:
        stretch = jnp.where(s.memory.direction == 0.0, -s.memory.force / contact.k_t, 0.0)
        return jnp.stack([s.anchor.v, jnp.where(p["k"] > 0.0, s.x * omega, 0.0), stretch * omega])

    def write(s: Any, y: Array) -> Any:
        v, x = y[0], jnp.where(p["k"] > 0.0, y[1] / omega, p["x0"])
        slips = s.memory.direction != 0.0
        direction = jnp.where(slips & (v != 0.0), jnp.sign(v), s.memory.direction)
        force = jnp.where(slips, -contact.dynamic_force * direction, -contact.k_t * y[2] / omega)
        sine, _ = sincos(wrap(p["phase"] + zero))
        a = (made.excitation.force(sine) - p["k"] * x - p["c"] * v + force) / p["m"]
        a = jnp.where(slips & (v == 0.0), s.anchor.a, a)
        rising = jnp.where(v == 0.0, s.memory.rising, jnp.where(direction * a >= 0.0, jnp.abs(direction), 0.0))
        memory = s.memory._replace(direction=direction, rising=rising, force=force, last=jnp.where(slips, direction, s.memory.last))
        placed = machine.place(s, x, v, a, memory)
        sums = rubbing.established(zero, slips & (v != 0.0))
        return placed._replace(stage=jnp.where(made.finite, placed.stage, 3.0), sums=oscillators.Sums(sums, None))

    return Section(machine.start, made.finite, machine.next_event, read, write, lambda s: s.memory.direction, lambda s: s.sums.rubbing)


def lasting(p: dict[str, Any], periods: Array | float) -> dict[str, Any]:
    """The parameters of a run over a number of periods of the excitation, all of it in the window."""
    end = periods * (2.0 * math.pi / p["omega"])
    return {**p, "window_start": jnp.zeros_like(end), "window_end": end, "end": end}


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


def search(build: Build, p: dict[str, Any]) -> Search:
    """The periodic motion that a run tends to.

    Args:
        build: (parameters of `lasting`) -> its section. p: resolved parameters (scalars, SI units; the window and the end are not read).

    Returns:
        The iteration where it ended; `multiple` is 0 where there is no periodic motion within MOST_PERIODS. Derivatives do not pass.
    """
    p = jax.lax.stop_gradient(lasting(p, 1.0))
    one = run_time_one(p["omega"])
    section = build(p)
    excitation = Harmonic.of(p)
    speed = jnp.abs(excitation.amplitude) / (p["m"] * p["omega"]) + jnp.abs(p["v0"])
    start = section.write(section.start, section.read(section.start))
    nothing = jnp.nan * section.read(start)
    n = nothing.shape[0]

    def going_on(c: Search) -> Array:
        searching: Array = section.finite & (c.multiple == 0.0) & (c.periods < MOST_PERIODS) & (c.state.events < loop.MOST_EVENTS)
        return searching

    def iterate(c: Search) -> Search:
        def image(y: Array) -> tuple[Array, Any]:
            s = section.after(section.write(c.state, y))
            return section.read(s), s

        y = section.read(c.state)
        jacobian, s = jax.jacfwd(image, has_aux=True)(y)
        end = section.read(s)
        residual = end - y
        (newton,) = settle(one, solve(jnp.eye(n) - jacobian, residual))
        (attracts,) = decide(one, contracts(jacobian))

        # how exactly a motion returns: by its speeds the velocity, by the distance slipped the other coordinates
        slip = section.sums(s).slip
        slips = slip.distance > 0.0
        speeds, places = slip.top_speed, slip.distance * p["omega"]
        scale = jnp.where(slips, jnp.where(jnp.arange(n) == 0, speeds, places), speed)
        floor = _FLOOR * (speed + jnp.abs(y))
        tolerance, rounding = settle(one, RETURN * scale + floor, _ROUNDING * scale + floor)
        direction = section.direction(c.state)
        alike = (section.direction(s) == direction) | (jnp.abs(end[0]) <= tolerance[0])
        back_already = alike & jnp.all(jnp.abs(residual) <= tolerance)
        near = jnp.all(jnp.abs(newton) <= tolerance) | jnp.all(jnp.abs(residual) <= rounding)
        (returned,) = decide(one, back_already & (near | ~attracts))
        apart = jnp.abs(end - c.earlier) <= tolerance
        again = jnp.all(apart, axis=1) & (section.direction(s) == c.directions) & ~back_already
        multiple = jnp.where(returned, 1.0, jnp.where(jnp.any(again), jnp.argmax(again) + 2.0, 0.0))

        size, before = jnp.max(jnp.abs(residual)), jnp.max(jnp.abs(c.residual))
        # nothing was jumped over where the residual points as it did and both ends contract
        along = jnp.max(jnp.abs(residual - size / before * c.residual)) <= _ALONG * size
        (worse,) = decide(one, (c.jumped > 0.0) & ~((size <= 0.5 * before) | ((size < before) & attracts & along)))
        foreseen = jnp.sum(c.jacobian * c.residual, axis=1)
        linear = jnp.max(jnp.abs(residual - foreseen)) <= 0.25 * before
        ready = alike & attracts & (c.pause <= 0.0) & (c.periods >= _FIRST_NEWTON) & ((c.jumped > 0.0) | linear)
        (jumps,) = decide(one, ready & ~worse & jnp.all(jnp.isfinite(newton)))
        jumped_to = section.write(s, end + c.stride * (y + newton - end))
        state = jax.tree.map(lambda back, to, plain: jnp.where(worse, back, jnp.where(jumps, to, plain)), c.back, jumped_to, s)
        plain = ~worse & ~jumps
        return Search(
            state=state._replace(events=s.events),
            back=s,
            residual=jnp.where(worse, nothing, residual),
            jacobian=jacobian,
            jumped=jnp.where(jumps, 1.0, 0.0),
            pause=jnp.where(worse, float(_PAUSE), c.pause - 1.0),
            stride=jnp.where(worse, _SHORTER * c.stride, jnp.where(c.jumped > 0.0, jnp.minimum(1.0, 2.0 * c.stride), c.stride)),
            earlier=jnp.where(plain, jnp.concatenate([y[None], c.earlier[:-1]]), nothing),
            directions=jnp.where(plain, jnp.concatenate([direction[None], c.directions[:-1]]), jnp.nan),
            periods=c.periods + 1.0,
            multiple=multiple,
        )

    zero = jnp.zeros_like(speed)
    none = jnp.broadcast_to(nothing, (MOST_MULTIPLE - 1, n))
    first = Search(
        state=start,
        back=start,
        residual=nothing,
        jacobian=jnp.broadcast_to(nothing, (n, n)),
        jumped=zero,
        pause=zero,
        stride=zero + 1.0,
        earlier=none,
        directions=none[:, 0],
        periods=zero,
        multiple=zero,
    )
    return jax.lax.while_loop(going_on, iterate, first)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def point(build: Build, p: dict[str, Any], y: Array, state: Any, multiple: Array) -> Array:  # noqa: ARG001 (its derivative needs them)
    """The point `y` of the section to which `multiple` periods from `state` return, found elsewhere, as a function of the parameters.

    Its derivative is that of the implicit function P(y; p) = y: dy = (I - J)^-1 dP/dp. Where y is free (a mass at rest on a spring may rest
    anywhere) the derivative of its free part is taken as 0.
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
    return y, solve(jnp.eye(n) - rates[1:].T, rates[0])


point.defjvp(_point_jvp)


def simulate(p: dict[str, Any], build: Build) -> tuple[dict[str, Array], Array]:
    """Run one rubbing mass to its steady motion and observe one period of that.

    Args:
        p: resolved parameters of the model `rubbing_mass` (scalars, SI units; the window and the end are not read).
        build: `penalised`, or `rigid` with `free` chosen.

    Returns:
        Observables by name (scalars), and the status code. With k = 0 the motion may lie anywhere; it is taken to begin at x0.

    Differentiable in every parameter (forward mode), by the implicit function theorem. Validated by tests/kernels/test_steady.py.
    """
    found = search(build, p)
    status = jnp.where(found.multiple > 0.0, int(Status.OK), int(Status.NOT_PERIODIC))
    status = jnp.where(found.state.events < loop.MOST_EVENTS, status, int(Status.TOO_MANY_EVENTS))
    multiple = jnp.maximum(found.multiple, 1.0)
    lasts = lasting(p, multiple)
    section = build(lasts)
    status = jnp.where(section.finite, status, int(Status.NOT_FINITE))
    last = section.after(section.write(found.state, point(build, p, section.read(found.state), found.state, multiple)))
    sums = section.sums(last)
    slip = sums.slip
    # slip that never ends is one phase, under way at both ends of the window
    phases = jnp.maximum(slip.phases, jnp.where(slip.distance > 0.0, 1.0, 0.0))
    sums = sums._replace(slip=slip._replace(phases=phases))
    zero = jnp.zeros_like(last.t)
    ends = {"x_end": last.x, "v_end": last.anchor.v, "period": found.multiple, "time_reached": found.periods * 2.0 * math.pi / p["omega"]}
    return {**rubbing.finish(sums, lasts), **ends, "accepted_steps": zero, "rejected_steps": zero}, status
