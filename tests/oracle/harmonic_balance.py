"""Harmonic balance with alternating frequency and time, for a mass with penalised friction or with an elastic stop.

m x'' + c x' + k x = -m a0 sin(omega t) + F. The motion is x = sum over n of Re(X_n e^(i n omega t)); the harmonics of F follow from the
motion in time. Where F has kinks or jumps (contact, slip and stick begin and end) its integrals are taken piece by piece by Gauss's rule:
the only error is that of the harmonics left out.

Source: T. M. Cameron, J. H. Griffin, An alternating frequency/time domain method, Journal of Applied Mechanics 56 (1989), 149-154.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

Piece = tuple[float, float, Callable[[np.ndarray], np.ndarray]]  # from, to [rad] and the force [N] at angles between
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


class Motion:
    """A motion with given harmonics X (N,) of numbers n (N,) [m]."""

    def __init__(self, numbers: Sequence[int], harmonics: np.ndarray) -> None:
        self.numbers, self.harmonics = np.array(numbers), np.asarray(harmonics, complex)

    def x(self, angle: np.ndarray | float, order: int = 0) -> np.ndarray:
        """The displacement at angles omega t, or its derivatives by the angle."""
        turned = np.exp(1j * np.multiply.outer(np.asarray(angle, float), self.numbers))
        found: np.ndarray = np.real(turned @ ((1j * self.numbers) ** order * self.harmonics))
        return found

    def zeros(self, value: Callable[[np.ndarray], np.ndarray], start: float = 0.0) -> list[float]:
        """Where a value changes its sign within a period from `start` on."""
        grid = start + np.linspace(0.0, 2.0 * math.pi, 40 * int(self.numbers.max()) + 1)
        at = value(grid)
        return [brentq(value, grid[i], grid[i + 1], xtol=1e-15) for i in np.flatnonzero(np.sign(at[:-1]) * np.sign(at[1:]) < 0.0)]


def harmonics_of(pieces: list[Piece], numbers: Sequence[int]) -> np.ndarray:
    """Harmonics of a force that is smooth on each piece."""
    found = np.zeros(len(numbers), complex)
    order = np.array(numbers)
    for begin, end, force in pieces:
        count = 1 + int((end - begin) * max(order.max(), 4) / 3.0)
        for low, high in itertools.pairwise(np.linspace(begin, end, count + 1)):
            angle = 0.5 * (low + high) + 0.5 * (high - low) * NODES
            found += np.exp(-1j * np.multiply.outer(order, angle)) @ (force(angle) * WEIGHTS) * 0.5 * (high - low) / math.pi
    return np.where(order == 0, 0.5 * found, found)


def rubbed(p: Mapping[str, float], motion: Motion) -> tuple[list[Piece], float]:
    """The force of a penalised contact without damping over a period, when it repeats, and the distance slipped in it [m]."""
    limit, k_t = p["mu"] * p["normal_force"], p["k_t"]
    turns = motion.zeros(lambda angle: motion.x(angle, 1))
    turns += [turns[0] + 2.0 * math.pi]
    force, pieces, slipped = 0.0, [], 0.0
    for _ in range(3):  # periods, until it repeats
        pieces, slipped = [], 0.0
        for begin, end in itertools.pairwise(turns):
            x0, x1 = float(motion.x(begin)), float(motion.x(end))
            side = math.copysign(1.0, x1 - x0)
            at, f0 = end, force
            break_away = x0 + (f0 + side * limit) / k_t
            if side * (x1 - break_away) > 0.0:
                at = brentq(lambda angle, x=break_away: float(motion.x(angle)) - x, begin, end, xtol=1e-15)
                slipped += side * (x1 - break_away)
                pieces.append((at, end, lambda angle, side=side: np.full_like(angle, -side * limit)))
            pieces.append((begin, at, lambda angle, f0=f0, x0=x0: f0 - k_t * (motion.x(angle) - x0)))
            force = f0 - k_t * (x1 - x0) if at == end else -side * limit
    return pieces, slipped


def stopped(p: Mapping[str, float], motion: Motion) -> list[Piece]:
    """The force of an elastic stop, k_n (x - gap) + c_n x' as long as it pushes."""

    def inside(angle: np.ndarray) -> np.ndarray:
        return motion.x(angle) - p["gap"]

    def push(angle: np.ndarray) -> np.ndarray:
        return p["k_n"] * inside(angle) + p["c_n"] * p["omega"] * motion.x(angle, 1)

    edges = motion.zeros(inside)
    if not edges:
        return []
    pieces = []
    edges += [edges[0] + 2.0 * math.pi]
    for begin, end in itertools.pairwise(edges):
        if inside(np.array(0.5 * (begin + end))) < 0.0:
            continue
        grid = np.linspace(begin, end, 400)[1:-1]
        pushing = push(grid) > 0.0
        last = end
        if not pushing.all():
            i = int(np.flatnonzero(~pushing)[0])
            last = brentq(push, grid[i - 1], grid[i], xtol=1e-15)
        pieces.append((begin, last, lambda angle: -push(angle)))
    return pieces


def linear(p: Mapping[str, float], numbers: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Dynamic stiffness of each harmonic, and the harmonics of the excitation."""
    n = np.array(numbers)
    stiffness = p["k"] - p["m"] * (n * p["omega"]) ** 2 + 1j * n * p["omega"] * p["c"]
    return stiffness, np.where(n == 1, 1j * p["m"] * p["a0"], 0.0)  # -sin = Re(i e^(i t))


def residual(p: Mapping[str, float], numbers: Sequence[int], harmonics: np.ndarray) -> np.ndarray:
    """What the equation of motion leaves in each harmonic [N]."""
    motion = Motion(numbers, harmonics)
    stiffness, load = linear(p, numbers)
    pieces = rubbed(p, motion)[0] if "k_t" in p else stopped(p, motion)
    found: np.ndarray = stiffness * harmonics - load - harmonics_of(pieces, numbers)
    return found


def real(values: np.ndarray) -> np.ndarray:
    """Complex numbers as twice as many real ones."""
    return np.concatenate([values.real, values.imag])


def differences(value: Callable[[np.ndarray], np.ndarray], u: np.ndarray) -> np.ndarray:
    """The derivatives of a value, by forward differences."""
    here, h = value(u), 1e-7 * np.abs(u).max()
    return np.stack([(value(u + h * unit) - here) / h for unit in np.eye(len(u))], axis=1)


def root(value: Callable[[np.ndarray], np.ndarray], start: np.ndarray, slope: np.ndarray | None = None) -> np.ndarray:
    """Newton's method to 1e-12 of the largest unknown; the derivatives are taken anew where a step does not shrink to a tenth."""
    u, last, size = start.copy(), np.inf, np.abs(start).max()
    for _ in range(60):
        if slope is None:
            slope = differences(value, u)
        step = -np.linalg.solve(slope, value(u))
        length = np.abs(step).max()
        u += step
        if length < 1e-12 * size:
            return u
        slope = slope if length < 0.1 * last and length < 1e-2 * size else None
        last = length
    raise ArithmeticError(f"Newton's method: last step {length:.1e}")


def balanced(p: Mapping[str, float], numbers: Sequence[int], start: np.ndarray) -> np.ndarray:
    """The harmonics at which the equation of motion is balanced."""
    count = len(numbers)
    u = root(lambda u: real(residual(p, numbers, u[:count] + 1j * u[count:])), real(start))
    return u[:count] + 1j * u[count:]


def friction_branch(p: Mapping[str, float], count: int, mus: Sequence[float]) -> list[tuple[float, float]]:
    """Amplitude [m] and wear power [W] at growing coefficients of friction, with `count` odd harmonics."""
    numbers = list(range(1, 2 * count, 2))
    stiffness, load = linear(p, numbers)
    harmonics, found = load / stiffness, []
    for mu in mus:
        row = {**p, "mu": mu}
        harmonics = balanced(row, numbers, harmonics)
        motion = Motion(numbers, harmonics)
        turns = motion.zeros(lambda angle, motion=motion: motion.x(angle, 1))
        slipped = rubbed(row, motion)[1]
        found.append((float(np.abs(motion.x(np.array(turns))).max()), p["normal_force"] * slipped * p["omega"] / (2.0 * math.pi)))
    return found


def through(p: Mapping[str, float], x: float, v: float, numbers: Sequence[int]) -> np.ndarray:
    """Harmonics of the motion of a mass with a stop through (x, v) at t = 0, as a start for Newton's method."""

    def rate(angle: float, y: np.ndarray) -> list[float]:
        force = max(0.0, p["k_n"] * (y[0] - p["gap"]) + p["c_n"] * y[1]) if y[0] > p["gap"] else 0.0
        load = -p["m"] * p["a0"] * math.sin(angle) - p["k"] * y[0] - p["c"] * y[1] - force
        return [y[1] / p["omega"], load / p["m"] / p["omega"]]

    angles = np.arange(4096) * 2.0 * math.pi / 4096
    motion = solve_ivp(rate, (0.0, 2.0 * math.pi), [x, v], t_eval=angles, rtol=1e-8, atol=1e-10, max_step=0.01).y[0]
    found = 2.0 * np.fft.fft(motion)[np.array(numbers)] / 4096
    return np.where(np.array(numbers) == 0, 0.5 * found, found)


def stop_fold(p: Mapping[str, float], count: int, start: tuple[float, float], along: str = "a0") -> float:
    """The parameter `along` at which a branch turns back, near p and the motion through (x, v) at t = 0, with `count` harmonics."""
    numbers = list(range(count + 1))
    first = through(p, *start, numbers)

    def value(u: np.ndarray, size: float) -> np.ndarray:
        """What is left, with an amplitude of the first harmonic."""
        harmonics = u[: count + 1] + 1j * np.append(0.0, u[count + 1 : -1])
        left = residual({**p, along: u[-1]}, numbers, harmonics)
        return np.concatenate([left.real, left.imag[1:], [abs(harmonics[1]) - size]])

    def at(u: np.ndarray, size: float, slope: np.ndarray | None = None) -> np.ndarray:
        return root(lambda u: value(u, size), u, slope)

    size = abs(first[1])
    u = at(np.concatenate([first.real, first.imag[1:], [p[along]]]), size)
    slope, h = differences(lambda u: value(u, size), u), 1e-3 * size
    for _ in range(20):  # to the top of parabolas through three neighbours
        low, middle, high = (float(at(u, each, slope)[-1]) for each in (size - h, size, size + h))
        move = 0.5 * h * (low - high) / (low - 2.0 * middle + high)
        size += min(max(move, -10.0 * h), 10.0 * h)
        u = at(u, size, slope)
        if abs(move) < 0.1 * h:
            return float(u[-1])
    raise ArithmeticError("no fold")
