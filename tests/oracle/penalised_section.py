"""Periods of a mass with penalised friction by scipy's DOP853, and the Floquet multipliers of its motion by differences.

m x'' + c x' + k x = -m a0 sin(omega t) + T. While the contact holds, T = T0 - k_t (x - xa) - c_t x'; where |T| exceeds mu_s F_n it slips in
the direction of x' with |T| = mu_d F_n, and where x' = 0 it holds again with T0 = T, xa = x. A state is (x, x', s), with s the stretch of
the spring (T = -k_t s - c_t x') while the contact holds, and its direction of slip, 0 while it holds. It shares nothing with the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

STEPS = 80  # of a period, at least: guards are looked at in each
Map = Callable[[np.ndarray], np.ndarray]


def period(p: Mapping[str, float], state: np.ndarray, direction: int) -> tuple[np.ndarray, int]:
    """The state one period after t = 0, and its direction of slip."""
    normal, end = p["m"] * p["g"], 2.0 * math.pi / p["omega"]
    t, y = 0.0, np.array(state, float)
    while t < end:

        def force(y: np.ndarray, direction: int = direction) -> float:
            return -p["mu_d"] * normal * direction if direction else -p["k_t"] * y[2] - p["c_t"] * y[1]

        def rates(t: float, y: np.ndarray, direction: int = direction) -> list[float]:
            a = -p["a0"] * math.sin(p["omega"] * t) + (force(y, direction) - p["c"] * y[1] - p["k"] * y[0]) / p["m"]
            return [y[1], a, 0.0 if direction else y[1]]

        def guard(t: float, y: np.ndarray, direction: int = direction) -> float:
            return direction * y[1] if direction else p["mu_s"] * normal - abs(force(y, 0))

        guard.terminal, guard.direction = True, -1.0  # type: ignore[attr-defined]
        found = solve_ivp(
            rates, (t, end), y, "DOP853", events=guard, rtol=3e-14, atol=1e-14 * abs(p["a0"]), max_step=2.0 * math.pi / p["omega"] / STEPS
        )  # fmt: skip
        assert found.success
        t, y = found.t[-1], found.y[:, -1]
        if found.status == 1 and direction:
            y[1], y[2] = 0.0, p["mu_d"] * normal * direction / p["k_t"]
            direction = 0
        elif found.status == 1:
            direction = int(np.sign(y[1]))
    return y, direction


class Motion(NamedTuple):
    """A periodic motion: its state (3,) and direction of slip at t = 0, and its Floquet multipliers (3,), eigenvalues of differences."""

    state: np.ndarray
    direction: int
    multipliers: np.ndarray


def motion(p: Mapping[str, float], x: float, v: float, count: int = 1) -> Motion:
    """The motion of `count` periods near one with displacement x and velocity v at t = 0, of which the stretch is looked for."""

    def image(y: np.ndarray, direction: int) -> tuple[np.ndarray, int]:
        for _ in range(count):
            y, direction = period(p, y, direction)
        return y, direction

    limit = p["mu_s"] * p["m"] * p["g"] / p["k_t"]
    scale = np.array([1.0 / p["omega"], 1.0, 1.0 / p["omega"]]) * abs(p["a0"]) / p["omega"]

    def misses(start: tuple[np.ndarray, int]) -> float:
        return float(np.abs((image(*start)[0] - start[0])[:2] / scale[:2]).max())

    y, direction = np.array([x, v, 0.0]), int(np.sign(v))
    if misses((y, direction)) > 1e-6:
        middle = 0.0
        for width in (limit, limit / 6.0):
            middle = min(np.linspace(middle - width, middle + width, 13), key=lambda s: misses((np.array([x, v, s]), 0)))
        y, direction = np.array([x, v, middle]), 0

    def stays(y: np.ndarray) -> np.ndarray:
        there, facing = image(y, direction)
        assert facing == direction
        return there

    for _ in range(10):
        matrix = differences(stays, y, scale)
        if direction:  # it has no stretch
            matrix[:, 2] = matrix[2] = 0.0
        off = stays(y) - y
        off[2] *= direction == 0
        if np.abs(off / scale).max() < 1e-11:
            return Motion(y, direction, np.linalg.eigvals(matrix))
        y = y + np.linalg.solve(np.eye(3) - matrix, off)
    raise ArithmeticError("no periodic motion was found")


def differences(image: Map, y: np.ndarray, scale: np.ndarray, h: float = 2e-6) -> np.ndarray:
    """The Jacobian of a map by central differences of h and 2 h times `scale`, extrapolated to 0."""

    def central(h: float) -> np.ndarray:
        steps = zip(np.diag(h * scale), h * scale, strict=True)
        return np.stack([(image(y + step) - image(y - step)) / (2.0 * size) for step, size in steps], axis=1)

    return (4.0 * central(h) - central(2.0 * h)) / 3.0
