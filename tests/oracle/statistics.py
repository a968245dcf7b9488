"""Statistics and block means of the high-precision runs of this folder, by quadrature of mpmath and by search of every extremum.

Nothing here is taken from the engine: a stretch of a run is cut at points that get denser towards its beginning, where transients live, and
integrated piece by piece; an extreme is at an end of a stretch, or where a derivative that changes its sign on a fine mesh vanishes.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from mpmath import mp, mpf

from . import penalised_friction, rigid_friction
from .linear_motion import root_in

DIGITS = 30
Run = rigid_friction.Oscillator | penalised_friction.Oscillator
Curve = Callable[[mpf], tuple[mpf, mpf, mpf]]  # of the time: a value and its first two derivatives


def curves(run: Run, stretch: Any) -> dict[str, Curve]:
    """Displacement, velocity and friction force along a stretch, of the time of the run."""
    amplitude, omega = run.amplitude, run.omega
    force = -stretch.direction * run.slide

    def jet(t: mpf) -> list[mpf]:
        if stretch.motion is None:
            return [stretch.x, mpf(0), mpf(0), mpf(0)]
        found: list[mpf] = stretch.motion.jet(t - stretch.start)
        return found

    def friction(t: mpf) -> tuple[mpf, mpf, mpf]:
        if stretch.direction:
            return force, mpf(0), mpf(0)
        angle = omega * t + run.phase
        load, slope, bend = amplitude * mp.sin(angle), amplitude * omega * mp.cos(angle), -amplitude * omega**2 * mp.sin(angle)
        m, c, k = run.mck
        x, v, a, jerk = jet(t)
        # what is left of the equation of motion; its second derivative would need a fourth of x, which a difference gives
        h = mpf(10) ** (-mp.dps // 3) * min(1 / omega, stretch.stop - stretch.start)
        snap = (jet(t + h)[3] - jerk) / h
        return m * a + c * v + k * x - load - run.load, m * jerk + c * a + k * v - slope, m * snap + c * jerk + k * a - bend

    return {"x": lambda t: tuple(jet(t)[:3]), "v": lambda t: tuple(jet(t)[1:]), "friction_force": friction}


def pieces(run: Run, stretch: Any, begin: mpf, stop: mpf) -> list[mpf]:
    """Points between which nothing changes by much."""
    fastest = run._fastest(True) if isinstance(run, penalised_friction.Oscillator) else run.omega + mp.sqrt(run.mck[2] / run.mck[0])  # noqa: SLF001
    step, points = 1 / fastest, [begin]
    slow = 1 / (run.omega + mp.sqrt(run.mck[2] / run.mck[0]))
    rings = stretch.direction == 0 and isinstance(run, penalised_friction.Oscillator) and run.rings
    while points[-1] < stop:
        since = points[-1] - stretch.start
        points.append(min(stop, points[-1] + (step if rings else min(slow, max(step, since / 2)))))
    return points


def statistics(run: Run, first: float, last: float) -> dict[str, mpf]:
    """Mean, RMS, standard deviation and extremes of x and of the friction force, and the RMS of v, in [first, last]."""
    with mp.workdps(DIGITS):
        sums: dict[str, mpf] = {}
        extremes: dict[str, list[mpf]] = {}
        span = mpf(last) - mpf(first)
        parts = [(s, max(s.start, mpf(first)), min(s.stop, mpf(last))) for s in run.stretches]
        for stretch, begin, stop in parts:
            if stop <= begin:
                continue
            points = pieces(run, stretch, begin, stop)
            for name, curve in curves(run, stretch).items():
                for power in (1, 2):
                    area = sum(_gauss(lambda t, n=power, f=curve: f(t)[0] ** n, low, high) for low, high in pairwise(points))
                    sums[f"{name}{power}"] = sums.get(f"{name}{power}", mpf(0)) + area
                values = extremes.setdefault(name, [])
                values += [curve(begin)[0], curve(stop)[0]]
                for low, high in pairwise(points):
                    mesh = [low + (high - low) * n / 8 for n in range(9)]
                    slopes = [curve(t)[1] for t in mesh]
                    for n in range(8):
                        if slopes[n] * slopes[n + 1] < 0:
                            values.append(curve(root_in(lambda t, f=curve: f(t)[1:], mesh[n], mesh[n + 1]))[0])
        found = {}
        for name, values in extremes.items():
            mean, square = sums[f"{name}1"] / span, sums[f"{name}2"] / span
            found |= {f"{name}_mean": mean, f"{name}_rms": mp.sqrt(square), f"{name}_std": mp.sqrt(max(square - mean**2, mpf(0)))}
            found |= {f"{name}_min": min(values), f"{name}_max": max(values)}
        return found


def blocks(run: Run, first: float, last: float, count: int) -> list[mpf]:
    """Wear power of each of `count` equal blocks of [first, last]."""
    with mp.workdps(DIGITS):
        bounds = [mpf(first) + (mpf(last) - mpf(first)) * n / count for n in range(count + 1)]
        powers = []
        for low, high in pairwise(bounds):
            way = mpf(0)
            for stretch in run.stretches:
                begin, stop = max(stretch.start, low), min(stretch.stop, high)
                if stop > begin and stretch.direction:
                    way += abs(stretch.state(stop)[0] - stretch.state(begin)[0])
            powers.append(run.normal_force * way / (high - low))
        return powers


def _gauss(function: Callable[[mpf], mpf], low: mpf, high: mpf) -> mpf:
    """Integral over a short piece: Gauss and Legendre with 12 nodes, known to 16 digits."""
    middle, half = (low + high) / 2, (high - low) / 2
    nodes, weights = np.polynomial.legendre.leggauss(12)
    return half * sum(weight * function(middle + half * node) for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True))
