"""Rigid Coulomb friction event by event with general solvers, for comparison with `exact`.

The masses are at rest at t = 0 on a support, with k = c = 0 and the force -m a0 sin(omega t); SI units, a0 and mu (n,). The solver's own
events end a slip at v = 0. The duration of a rest is an arc sine, which any user would write down. Both functions return the wear power [W]
over the window [start, end] [s]. `diffrax_events` runs all masses in one vmapped program, `scipy_events` one after the other.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np


@functools.cache
def diffrax_program(solver: str, tolerance: float) -> Any:
    """The jitted function of (a0, mu, normal, m, omega, start, end), a0 and mu (n,)."""
    import diffrax
    import jax
    import jax.numpy as jnp
    import optimistix

    def field(t: Any, y: Any, args: Any) -> Any:
        a0, grip, side, omega = args
        return jnp.stack([y[1], -a0 * jnp.sin(omega * t) - side * grip])

    def stops(t: Any, y: Any, args: Any, **_: Any) -> Any:  # noqa: ARG001 (diffrax names them)
        return args[2] * y[1]

    event = diffrax.Event(stops, optimistix.Newton(1e-10, 1e-10), direction=False)
    control = diffrax.PIDController(rtol=tolerance, atol=tolerance, dtmax=0.1)
    made = getattr(diffrax, solver)()

    def one(a0: Any, mu: Any, normal: Any, m: Any, omega: Any, start: Any, end: Any) -> Any:
        grip = mu * normal / m

        def release(t: Any) -> Any:
            """The time at which a rest at t ends: now, or when a0 |sin| next reaches the limit."""
            angle = jnp.arcsin(jnp.minimum(grip / a0, 1.0)) / omega
            half = math.pi / omega
            place = t - half * jnp.floor(t / half)
            wait = jnp.where(place < angle, angle - place, jnp.where(place <= half - angle, 0.0, half + angle - place))
            return jnp.where(a0 > grip, t + wait, end)

        def piece(now: Any) -> Any:
            t, v, distance = now
            rest = v == 0.0
            begin = jnp.where(rest, jnp.minimum(release(t), end), t)
            side = jnp.where(rest, -jnp.sign(jnp.sin(omega * begin + 1e-12)), jnp.sign(v))
            stop = jnp.where(begin < start, start, end)
            arguments = (a0, grip, side, omega)
            going = begin < end
            last = jnp.where(going, stop, begin + 1e-3)
            found = diffrax.diffeqsolve(
                diffrax.ODETerm(field), made, begin, last, 1e-3, jnp.stack([0.0 * v, v]), arguments,
                saveat=diffrax.SaveAt(t1=True), stepsize_controller=control, event=event, max_steps=4096, throw=False,
            )  # fmt: skip
            moved, speed = found.ys[0, 0], found.ys[0, 1]
            after = found.ts[0]
            ended = after < last
            distance = distance + jnp.where(going & (begin >= start), jnp.abs(moved), 0.0)
            return jnp.where(going, after, end), jnp.where(ended | ~going, 0.0, speed), distance

        zero = 0.0 * a0
        _, _, distance = jax.lax.while_loop(lambda now: now[0] < end, piece, (zero, zero, zero))
        return normal * distance / (end - start)

    return jax.jit(jax.vmap(one, in_axes=(0, 0, None, None, None, None, None)))


def diffrax_events(
    a0: Any, mu: Any, normal: float, m: float, omega: float, window: tuple[float, float], solver: str, tolerance: float
) -> Any:
    """Wear power [W], (n,)."""
    import jax

    return np.asarray(jax.block_until_ready(diffrax_program(solver, tolerance)(a0, mu, normal, m, omega, *window)))


def scipy_events(a0: Any, mu: Any, normal: float, m: float, omega: float, window: tuple[float, float], tolerance: float) -> Any:
    """Wear power [W], (n,)."""
    return np.array([_one_by_scipy(*each, normal / m, omega, window, tolerance) for each in zip(a0, mu, strict=True)]) * normal


def _one_by_scipy(a0: float, mu: float, weight: float, omega: float, window: tuple[float, float], tolerance: float) -> float:
    """Distance slipped per time in the window [m/s]."""
    from scipy.integrate import solve_ivp

    start, end = window
    grip, half = mu * weight, math.pi / omega
    if a0 <= grip:
        return 0.0
    angle = math.asin(grip / a0) / omega
    t, v, distance = 0.0, 0.0, 0.0
    while t < end:
        if v == 0.0:
            place = t % half
            t += angle - place if place < angle else 0.0 if place <= half - angle else half + angle - place
            if t >= end:
                break
        side = -math.copysign(1.0, math.sin(omega * (t + 1e-12))) if v == 0.0 else math.copysign(1.0, v)

        def stops(_t: float, y: Any, side: float = side) -> float:
            return side * y[1]

        def field(now: float, y: Any, side: float = side) -> list[float]:
            return [y[1], -a0 * math.sin(omega * now) - side * grip]

        stops.terminal, stops.direction = True, -1  # type: ignore[attr-defined]
        stop = start if t < start else end
        found = solve_ivp(field, (t, stop), [0.0, v], events=stops, rtol=tolerance, atol=tolerance, method="DOP853")
        if t >= start:
            distance += abs(found.y[0, -1])
        t, v = found.t[-1], found.y[1, -1] if found.status == 0 else 0.0
    return distance / (end - start)
