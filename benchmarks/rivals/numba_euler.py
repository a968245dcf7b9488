"""Symplectic Euler on the penalised rubbing mass in numba, written in three ways, for comparison with `euler`.

All return the wear power [W] of masses with k = c = 0 and the force -m a0 sin(omega t), over the last steps; arguments in SI units, a0 and
mu (n,). `plain` is what one writes first: a loop over oscillators on all cores, with a loop over steps in it. `rotating` turns sin and cos
by a fixed angle instead of calling sin. `lanes` is written for the vector unit: it steps 64 oscillators at a time.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

FLOOR = 1e-6  # m/s; below this speed a slip tries to stick
WIDTH = 64


@nb.njit(parallel=True)
def plain(a0, mu, m, normal, k_t, c_t, omega, h, steps, first):  # noqa: ANN001, ANN201
    """Wear power of steps `first` to `steps` of `h` [s], one oscillator after the other on each core."""
    found = np.empty(a0.size)
    for i in nb.prange(a0.size):
        limit = mu[i] * normal
        v = a = stored = stretch = distance = 0.0
        slips = False
        for n in range(1, steps + 1):
            before = v
            v += h * a
            stretch += h * v
            friction = stored - k_t * stretch - c_t * v
            if (slips and v * before > 0.0 and abs(v) > FLOOR) or abs(friction) > limit:
                friction = -limit if v > 0.0 else limit
                stored, stretch, slips = friction, 0.0, True
                if n > first:
                    distance += abs(h * v)
            else:
                slips = False
            a = friction / m - a0[i] * math.sin(omega * n * h)
        found[i] = normal * distance / ((steps - first) * h)
    return found


@nb.njit(parallel=True)
def rotating(a0, mu, m, normal, k_t, c_t, omega, h, steps, first):  # noqa: ANN001, ANN201
    """`plain` without sin in its loop."""
    found = np.empty(a0.size)
    turn_s, turn_c = math.sin(omega * h), math.cos(omega * h)
    for i in nb.prange(a0.size):
        limit = mu[i] * normal
        v = a = stored = stretch = distance = 0.0
        s, c = 0.0, 1.0
        slips = False
        for n in range(1, steps + 1):
            before = v
            v += h * a
            stretch += h * v
            s, c = s * turn_c + c * turn_s, c * turn_c - s * turn_s
            friction = stored - k_t * stretch - c_t * v
            if (slips and v * before > 0.0 and abs(v) > FLOOR) or abs(friction) > limit:
                friction = -limit if v > 0.0 else limit
                stored, stretch, slips = friction, 0.0, True
                if n > first:
                    distance += abs(h * v)
            else:
                slips = False
            a = friction / m - a0[i] * s
        found[i] = normal * distance / ((steps - first) * h)
    return found


@nb.njit(parallel=True)
def lanes(a0, mu, m, normal, k_t, c_t, omega, h, steps, first):  # noqa: ANN001, ANN201
    """`rotating` for blocks of 64 oscillators, without branches; their number must be a multiple of 64."""
    found = np.empty(a0.size)
    turn_s, turn_c, by_m = math.sin(omega * h), math.cos(omega * h), 1.0 / m
    for block in nb.prange(a0.size // WIDTH):
        v, a, spring, slips, distance = np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH)
        limit, pull = np.empty(WIDTH), np.empty(WIDTH)
        for j in range(WIDTH):
            limit[j], pull[j] = mu[block * WIDTH + j] * normal, a0[block * WIDTH + j]
        s, c = 0.0, 1.0
        for n in range(1, steps + 1):
            s, c = s * turn_c + c * turn_s, c * turn_c - s * turn_s
            counts = 1.0 if n > first else 0.0
            for j in range(WIDTH):
                new = v[j] + h * a[j]
                moved = h * new
                held = spring[j] - k_t * moved
                trial = held - c_t * new
                sticks = (not ((slips[j] > 0.0) & (new * v[j] > 0.0) & (abs(new) > FLOOR))) & (abs(trial) <= limit[j])
                sliding = -limit[j] if new > 0.0 else limit[j]
                friction = trial if sticks else sliding
                spring[j] = held if sticks else sliding
                slips[j] = 0.0 if sticks else 1.0
                distance[j] += 0.0 if sticks else counts * abs(moved)
                v[j] = new
                a[j] = friction * by_m - pull[j] * s
        for j in range(WIDTH):
            found[block * WIDTH + j] = normal * distance[j] / ((steps - first) * h)
    return found


WAYS = {"numba, one oscillator after the other": plain, "the same, without sin": rotating, "numba, 64 lanes": lanes}
