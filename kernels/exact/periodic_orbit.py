"""Steady motion: the observables of one period of the motion that a run tends to.

`orbit_search` finds the motion. A motion without a period is observed over OBSERVED periods of the excitation more. `simulate` runs one
oscillator, with derivatives; `begin` to `result` run it in a queue (see `batch.queue.Driver`).
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact import floquet, rigid_loop
from tribosweep.kernels.exact.orbit_search import OrbitSearch, Searcher, search, searcher, solve
from tribosweep.kernels.exact.poincare import Build, Section, lasting
from tribosweep.kernels.models.outputs import OBSERVED
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.numerics.fusion import decide, for_every_lane
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.impact_pattern import GRAZING

PERIODS = 4  # of the excitation, between two times at which lanes that are done take other rows


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


@jax.custom_jvp
def _without_derivative(value: Array, p: dict[str, Any]) -> Array:  # noqa: ARG001 (for the derivative by it)
    """A value whose derivative by the parameters nobody computes: it is NaN, instead of a wrong 0."""
    return value


@_without_derivative.defjvp
def _without_derivative_jvp(primals: tuple[Any, ...], _: tuple[Any, ...]) -> tuple[Array, Array]:
    """NaN in every direction."""
    return primals[0], jnp.full_like(primals[0], jnp.nan)


class Passes(NamedTuple):
    """The periods that are observed.

    Attributes:
        number: of periods so far. state: at the end of them. x, v: displacement [m] and velocity [m/s] at the start of each, (OBSERVED,),
            padded with NaN.
        matrix: Jacobian (n, n) of the section point at the end by that at the start, NaN where a wall has yielded; None where no
            multipliers are asked for.
    """

    number: Array
    state: Any
    x: Array
    v: Array
    matrix: Array | None = None


def _no_passes(section: Section, s: Any, multipliers: bool) -> Passes:
    """Before the first period, which begins with the state `s`."""
    none = jnp.full(OBSERVED, jnp.nan) + 0.0 * s.t
    matrix = jnp.eye(section.read(s).shape[0]) + 0.0 * s.t if multipliers else None
    return Passes(jnp.zeros_like(s.t), s, none, none, matrix)


def _one_pass(section: Section, so_far: Passes, runs: Array | None = None) -> Passes:
    """One period more. `runs`: whether the lane runs at all; None if it does."""
    number, s, x, v, matrix = so_far
    here = jnp.arange(OBSERVED) == number
    if matrix is None:
        after = section.after(s if runs is None else s._replace(stage=jnp.where(runs, s.stage, 3.0)))
    else:
        after, jacobian, yields = section.image(s, section.read(s), section.finite if runs is None else runs, adds=True)
        matrix = jnp.where(yields, jnp.nan, jnp.sum(jacobian[:, :, None] * matrix[None], axis=1))
    # the next period starts at t = 0 again and adds to the same sums
    after = after._replace(t=jnp.zeros_like(s.t), stage=jnp.where(section.finite, 1.0, s.stage))
    return Passes(number + 1.0, after, jnp.where(here, s.x, x), jnp.where(here, s.anchor.v, v), matrix)


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
    observed, pressed = section.observe(seen.state, lasting(p, _to_observe(found)), periodic)
    status = jnp.where(status == int(Status.OK), pressed, status)
    if section.kept is not None:
        crept = jnp.sum(section.kept(seen.state)[1] - section.kept(found.state)[1])
        observed["shakedown"] = jnp.where(periodic, found.yielded, jnp.nan)
        observed["ratcheting"] = jnp.where(periodic, 0.0, crept / _to_observe(found))
    if seen.matrix is not None:
        near = floquet.nearest_touch(section.p, observed, seen.state.sums) <= GRAZING
        observed |= {name: jnp.where(periodic, value, jnp.nan) for name, value in floquet.columns(seen.matrix, near).items()}
    return {**ends, **observed}, status


def _to_observe(found: OrbitSearch) -> Array:
    """Number of periods to observe."""
    return jnp.where(found.multiple > 0.0, found.multiple, float(OBSERVED))


class SteadyRun(NamedTuple):
    """A run in a queue: the search, and the periods observed after it; `begun` is 1 once these have begun."""

    search: OrbitSearch
    begun: Array
    seen: Passes


def begin(p: dict[str, Any], build: Build, multipliers: bool = False) -> SteadyRun:
    """The run at t = 0 (see `batch.queue.Driver`). `multipliers`: whether they are asked for."""
    made = searcher(build, p)
    return SteadyRun(made.first, jnp.zeros_like(made.first.periods), _no_passes(made.section, made.first.state, multipliers))


def advance(p: dict[str, Any], run: SteadyRun, build: Build) -> SteadyRun:
    """The run PERIODS periods later."""
    made = searcher(build, p)

    def one(_: Any, run: SteadyRun) -> SteadyRun:
        (searches,) = decide(made.going_on(run.search))
        (goes,) = decide(_goes_on(made, run))
        further = made.iterate(run.search, searches)
        found = jax.tree.map(lambda new, old: jnp.where(searches, new, old), further, run.search)
        (starts,) = decide(~searches & (run.begun == 0.0))
        begins = made.section.write(found.state, made.section.read(found.state))
        placed = _no_passes(made.section, begins, run.seen.matrix is not None)
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


def simulate(p: dict[str, Any], build: Build, multipliers: bool = False) -> tuple[dict[str, Array], Array]:
    """Run one oscillator to its steady motion and observe one period of it, or OBSERVED periods of the excitation if it has no period.

    Args:
        p: resolved parameters of its model (scalars, SI units; the window and the end are not read).
        build: parameters of `lasting` -> section. multipliers: whether Floquet multipliers are asked for (`floquet.columns`).

    Returns:
        Observables by name (scalars; `poincare_x` and `poincare_v` (OBSERVED,)), and the status code. With k = 0 the steady motion of a
        rubbing mass may lie anywhere; by convention it begins at x0.

    Differentiable in every parameter (forward mode), by the implicit function theorem. Derivatives of motions without a period, of motions
    beside walls that have yielded, and of multipliers, are NaN.
    Validated by tests/kernels/exact/test_periodic_orbit.py, test_periodic_orbit_of_a_stop.py, test_periodic_orbit_of_two_bodies.py,
    test_shakedown.py and test_floquet.py.
    """
    found = search(build, p)
    section = build(lasting(p, 1.0))
    y = point(build, p, section.read(found.state), found.state, found.multiple)
    if section.kept is not None:  # how far walls have yielded follows from all periods before
        buckled = jnp.any(section.kept(found.state)[0] > 0.0)
        found, y = jax.tree.map(lambda value: jnp.where(buckled, _without_derivative(value, p), value), (found, y))
    begin = section.write(found.state, y)
    count = jnp.where(section.finite, _to_observe(found), 0.0)

    def passes(section: Section, begin: Any, multipliers: bool) -> Passes:
        first = for_every_lane(_no_passes(section, begin, multipliers), section.finite)
        seen: Passes = jax.lax.while_loop(lambda seen: seen.number < count, functools.partial(_one_pass, section), first)
        return seen

    seen = passes(section, begin, multipliers=False)
    if multipliers:
        fixed, start = jax.lax.stop_gradient((p, begin))
        matrix = passes(build(lasting(fixed, 1.0)), start, multipliers=True).matrix
        seen = seen._replace(matrix=_without_derivative(matrix, p))
    return _observed(build, p, found, seen)
