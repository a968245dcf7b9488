"""Stops and rigid Coulomb friction event by event with heyoka's Taylor integrators, for comparison with `exact`.

A batch has as many oscillators as a vector register has float64 numbers, and integrates to heyoka's default tolerance, the rounding error.
heyoka finds events as roots of the Taylor polynomials; a callback in Python then changes the phase of that oscillator. The batches are
dealt over threads, each with an integrator of its own, which is built and compiled once. SI units; the force of the excitation is
-m a0 sin(omega t), and all oscillators start at rest at x = 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from tribosweep.kernels.runtime import jax_setup

STARTED = 1e-13  # m/s: speed that a release gives a mass, whose acceleration is 0 then; from rest rounding would stop it at once
SHARE = 64  # batches that a thread takes at once


class Stop(NamedTuple):
    """A mass and its stop, SI units; see the parameters of the model `stop`."""

    m: float
    k: float
    c: float
    k_n: float
    c_n: float
    gap: float


def dealt(run: Callable[[Any, slice], None], made: Callable[[int], Any], count: int) -> None:
    """Run `count` oscillators in batches on all cores: run(integrator of a thread, the oscillators of a batch)."""
    import heyoka

    width, threads = int(heyoka.recommended_simd_size()), jax_setup.cores()
    if count % width:
        raise ValueError(f"the number of oscillators must be a multiple of {width}")
    firsts = list(range(0, count, width))
    shares = [firsts[start : start + SHARE] for start in range(0, len(firsts), SHARE)]

    def work(thread: int) -> None:
        for share in shares[thread::threads]:
            for first in share:
                run(made(thread), slice(first, first + width))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))


def begun(integrator: Any, parameters: Any) -> None:
    """Bring an integrator to rest at t = 0. The `parameters` of the batch follow those that name the phase, which become 0."""
    integrator.reset_cooldowns()
    integrator.set_time(0.0)
    integrator.state[:] = 0.0
    integrator.pars[:] = 0.0
    integrator.pars[-len(parameters) :] = parameters


@functools.cache
def stop_integrator(stop: Stop, _thread: int) -> tuple[Any, np.ndarray]:
    """An integrator of (x, v, impulse) with parameters (pushed, a0, omega), and the counts of impacts, which its callbacks raise."""
    import heyoka as hy

    m, k, c, k_n, c_n, gap = stop
    width = hy.recommended_simd_size()
    x, v, impulse = hy.make_vars("x", "v", "impulse")
    pushed, a0, omega = hy.par[0], hy.par[1], hy.par[2]
    force = k_n * (x - gap) + c_n * v
    drive = m * a0 * hy.sin(omega * hy.time)
    system = [(x, v), (v, (-k * x - c * v - drive - pushed * force) / m), (impulse, pushed * force)]
    impacts = np.zeros(width, int)

    def touches(integrator: Any, _direction: int, lane: int) -> bool:
        integrator.pars[0, lane] = 1.0
        impacts[lane] += 1
        return True

    def leaves(integrator: Any, _direction: int, lane: int) -> bool:
        integrator.pars[0, lane] = 0.0
        return True

    events = [  # where the other phase is, an event function is a constant
        hy.t_event_batch((1.0 - pushed) * (x - gap) - pushed, direction=hy.event_direction.positive, callback=touches),
        hy.t_event_batch(pushed * force + (1.0 - pushed), direction=hy.event_direction.negative, callback=leaves),
    ]
    zeros = np.zeros((3, width))
    return hy.taylor_adaptive_batch(system, zeros, pars=zeros.copy(), t_events=events), impacts


def stops(a0: Any, omega: Any, stop: Stop, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Number of impacts and impulse of the stop [N s] in [0, end], (n,) each."""
    found = np.empty(a0.size, int), np.empty(a0.size)

    def run(of: tuple[Any, np.ndarray], here: slice) -> None:
        integrator, impacts = of
        impacts[:] = 0
        begun(integrator, (a0[here], omega[here]))
        integrator.propagate_until([end] * impacts.size)
        found[0][here], found[1][here] = impacts, integrator.state[2]

    dealt(run, functools.partial(stop_integrator, stop), a0.size)
    return found


@functools.cache
def friction_integrator(normal: float, m: float, k: float, c: float, omega: float, _thread: int) -> Any:
    """An integrator of (x, v, distance slipped) with parameters (side of the slip: -1, 0, 1; slips: 0, 1; a0, mu)."""
    import heyoka as hy

    width = hy.recommended_simd_size()
    x, v, distance = hy.make_vars("x", "v", "distance")
    side, slips, a0, mu = hy.par[0], hy.par[1], hy.par[2], hy.par[3]
    limit = mu * normal
    applied = -k * x - m * a0 * hy.sin(omega * hy.time)
    system = [(x, slips * v), (v, slips * (applied - c * v - side * limit) / m), (distance, side * v)]

    def pull(integrator: Any, lane: int) -> float:
        """The applied force at rest."""
        place, (_, _, amplitude, _) = integrator.state[0, lane], integrator.pars[:, lane]
        return float(-k * place - m * amplitude * math.sin(omega * integrator.time[lane]))

    def stops_at(integrator: Any, _direction: int, lane: int) -> bool:
        integrator.state[1, lane] = 0.0
        now = pull(integrator, lane)
        if abs(now) > integrator.pars[3, lane] * normal:
            integrator.pars[0, lane] = math.copysign(1.0, now)
        else:
            integrator.pars[0:2, lane] = 0.0
        return True

    def released(integrator: Any, _direction: int, lane: int) -> bool:
        side = math.copysign(1.0, pull(integrator, lane))
        integrator.state[1, lane] = side * STARTED
        integrator.pars[0:2, lane] = side, 1.0
        return True

    events = [
        hy.t_event_batch(side * v + (1.0 - slips), direction=hy.event_direction.negative, callback=stops_at),
        hy.t_event_batch(
            (1.0 - slips) * (applied * applied - limit * limit) - slips, direction=hy.event_direction.positive, callback=released
        ),
    ]
    return hy.taylor_adaptive_batch(system, np.zeros((3, width)), pars=np.zeros((4, width)), t_events=events)


def friction(
    a0: Any, mu: Any, normal: float, m: float, k: float, c: float, omega: float, window: tuple[float, float]
) -> np.ndarray:  # fmt: skip
    """Wear power over the window [start, end] [s] of masses that begin at rest at t = 0 [W], (n,)."""
    (start, end), found = window, np.empty(a0.size)

    def run(integrator: Any, here: slice) -> None:
        begun(integrator, (a0[here], mu[here]))
        width = here.stop - here.start
        integrator.propagate_until([start] * width)
        before = integrator.state[2].copy()
        integrator.propagate_until([end] * width)
        found[here] = normal * (integrator.state[2] - before) / (end - start)

    dealt(run, functools.partial(friction_integrator, normal, m, k, c, omega), a0.size)
    return found
