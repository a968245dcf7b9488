"""The image of a point of a Poincare section some periods of the excitation later, with derivatives by the point and by parameters.

A periodic motion is a fixed point of this map. Its Jacobian has the Floquet multipliers as eigenvalues: each event is linearised with the
derivative of its time, so jumps of the motion at events (saltation) are in it.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tribosweep.kernels.exact import rigid_loop
from tribosweep.kernels.exact.forward_sensitivity import along_all
from tribosweep.kernels.exact.poincare import Build, Section, lasting
from tribosweep.kernels.models.arguments import DIRECTION, PERIODS, POINT, RATES
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.numerics.fusion import for_every_lane
from tribosweep.kernels.numerics.numbers import Array


def simulate(p: dict[str, Any], build: Build, along: tuple[str, ...]) -> tuple[dict[str, Array], Array]:
    """Run one oscillator from a point of its section.

    Args:
        p: resolved parameters of its model (scalars, SI units; the window and the end are not read), and `section_point`: y (n,) [m/s],
            `section_direction`: direction of slip, +1 or -1, 0 where the contact sticks; `section_periods`: number of periods to run;
            `section_rates` (d, len(along)): how fast the parameters `along` change along each of d directions; `section_statistics`:
            1 where statistics of these periods are asked for, which take most of the time; else 0, and they are NaN.
        build: parameters of `lasting` -> section. along: parameters that change along the directions; not x0 or v0.

    Returns:
        Observables of these periods as a window by name, and `image` (n,) [m/s], `by_point` (n, n), `by_parameters` (n, d) (derivatives of
        `image` by the point and along the directions), `image_direction`, `events`; with walls `slowest_impact` [m/s] and `entries`;
        and the status code.
    """
    point, facing, periods, rates_along = p[POINT], p[DIRECTION], p[PERIODS], p[RATES]
    p = {name: value for name, value in p.items() if name not in (POINT, DIRECTION, PERIODS, RATES)}
    chosen = {name: p[name] for name in along}

    def of(chosen: dict[str, Any]) -> Section:
        return build(lasting({**p, **chosen}, periods))

    def split(s: Any) -> tuple[Any, Any]:
        return s._replace(sums=None, events=None), (s.sums, s.events)

    def join(motion: Any, rest: Any) -> Any:
        return motion._replace(sums=rest[0], events=rest[1])

    def begin(chosen: dict[str, Any], y: Array) -> Any:
        section = of(chosen)
        return split(section.write(section.turned(section.start, facing), y))

    def event(rest: Any) -> Any:
        return lambda chosen, motion: split(of(chosen).next_event(join(motion, rest)))

    def goes_on(carry: Any) -> Array:
        s = join(*carry[:2])
        more: Array = (s.stage < 2.0) & (s.events < rigid_loop.MOST_EVENTS)
        return more

    def body(carry: Any) -> Any:
        motion, rest, rates = carry
        after, push, left = jax.linearize(event(rest), chosen, motion, has_aux=True)
        return after, left, along_all(push, True, parameters, rates)

    n, directions = point.shape[0], rates_along.shape[0]
    none = {name: jnp.zeros_like(value) for name, value in chosen.items()}
    parameters = [none] * n + [dict(zip(along, rate, strict=True)) for rate in rates_along]
    points = [*jnp.eye(n), *[jnp.zeros(n)] * directions]
    finite = of(chosen).finite & jnp.all(jnp.isfinite(point))
    motion, push, rest = jax.linearize(begin, chosen, point, has_aux=True)
    motion = motion._replace(stage=jnp.where(finite, motion.stage, 3.0))
    first = for_every_lane((motion, rest, along_all(push, False, parameters, points)), finite)
    motion, rest, rates = jax.lax.while_loop(goes_on, body, first)
    last = join(motion, rest)
    image, push = jax.linearize(lambda chosen, motion: of(chosen).read(join(motion, rest)), chosen, motion)
    by_all = jnp.stack([push(*rate) for rate in zip(parameters, rates, strict=True)], axis=1)
    status = jnp.where(last.events < rigid_loop.MOST_EVENTS, int(Status.OK), int(Status.TOO_MANY_EVENTS))
    section = of(chosen)
    found, _ = section.observe(last, lasting(p, periods), finite)
    found |= {"image": image, "by_point": by_all[:, :n], "by_parameters": by_all[:, n:], "image_direction": section.direction(last)}
    if last.sums.impacting is not None:
        found |= {"slowest_impact": last.sums.impacting.slowest, "entries": last.sums.impacting.entries}
    return {**found, "events": last.events + 0.0 * image[0]}, jnp.where(finite, status, int(Status.NOT_FINITE))
