"""A stop in closed form between its events in numba, one oscillator after the other on each core, for comparison with `exact`.

Flight and contact are each a linear oscillator under the force -m a0 sin(omega t). A march with fixed fractions of the shorter period looks
for the guard that ends a phase, at the end of a stride and where x turns within it; Newton's method finds the time between bounds. The
march is not safe: it misses what happens and is undone between these places. Both phases must be less than critically damped. The
oscillators start at rest at x = 0 < gap.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

STRIDE = 0.4  # rad of the faster of excitation and oscillator
ACCURATE = 4e-16  # relative


@nb.njit(inline="always", error_model="numpy")
def phase(t, x, v, m, stiffness, damping, rest, a0, w):  # noqa: ANN001, ANN201
    """The numbers of the motion that begins at t with x and v: exp(-b s) (p cos r s + q sin r s) + steady motion about `rest`."""
    real, imaginary = stiffness - m * w * w, damping * w
    size = -m * a0 / (real * real + imaginary * imaginary)
    by_sin, by_cos, sin, cos = size * real, -size * imaginary, math.sin(w * t), math.cos(w * t)
    b = 0.5 * damping / m
    r = math.sqrt(stiffness / m - b * b)
    p = x - rest - by_sin * sin - by_cos * cos
    q = (v - w * (by_sin * cos - by_cos * sin) + b * p) / r
    return t, w, rest, by_sin, by_cos, b, r, p, q


@nb.njit(inline="always")
def motion(s, numbers):  # noqa: ANN001, ANN201
    """Place, velocity, acceleration and decaying part of the place, s after the phase began."""
    t, w, rest, by_sin, by_cos, b, r, p, q = numbers
    fade, cosine, sine, sin, cos = math.exp(-b * s), math.cos(r * s), math.sin(r * s), math.sin(w * (t + s)), math.cos(w * (t + s))
    y = fade * (p * cosine + q * sine)
    u = fade * ((q * r - b * p) * cosine - (p * r + b * q) * sine)
    steady = by_sin * sin + by_cos * cos
    return rest + y + steady, u + w * (by_sin * cos - by_cos * sin), -(r * r + b * b) * y - 2.0 * b * u - w * w * steady, y


@nb.njit(inline="always", error_model="numpy")
def root(low, high, numbers, by_x, by_v, gap):  # noqa: ANN001, ANN201
    """Where by_x (x - gap) + by_v v rises through 0 between `low` and `high`."""
    s = 0.5 * (low + high)
    for _ in range(200):
        x, v, a, _ = motion(s, numbers)
        value, slope = by_x * (x - gap) + by_v * v, by_x * v + by_v * a
        low, high = (low, s) if value > 0.0 else (s, high)
        new = s - value / slope
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - s) <= ACCURATE * (numbers[0] + s):
            break
        s = new
    return s


@nb.njit(parallel=True, error_model="numpy")
def stops(a0, omega, m, k, c, k_n, c_n, gap, end):  # noqa: ANN001, ANN201
    """Number of impacts and impulse of the stop [N s] in [0, end], (n,) each."""
    impacts, impulse = np.zeros(a0.size), np.zeros(a0.size)
    for i in nb.prange(a0.size):
        w, t, x, v, pushed = omega[i], 0.0, 0.0, 0.0, False
        while t < end:
            if pushed:
                stiffness, damping, rest, by_x, by_v = k + k_n, c + c_n, k_n * gap / (k + k_n), -k_n, -c_n
            else:
                stiffness, damping, rest, by_x, by_v = k, c, 0.0, 1.0, 0.0
            numbers = phase(t, x, v, m, stiffness, damping, rest, a0[i], w)
            stride = STRIDE / max(math.sqrt(stiffness / m), w)
            low, before, found = 0.0, v, False
            below = not (by_x * (x - gap) + by_v * v > 0.0)  # a flight begins beyond the gap, where the stop lost its force
            while not found and t + low < end:
                high = min(low + stride, end - t)
                now_x, now_v, _, _ = motion(high, numbers)
                above = by_x * (now_x - gap) + by_v * now_v > 0.0
                if not pushed and below != above and before * now_v < 0.0 and (before > 0.0) == below:  # x turns in between
                    turn = root(low, high, numbers, 0.0, -1.0 if below else 1.0, gap)
                    if (motion(turn, numbers)[0] > gap) == below:
                        high, now_v, above = turn, 0.0, below
                found = below and above
                if found:
                    low = root(low, high, numbers, by_x, by_v, gap)
                else:
                    low, before, below = high, now_v, below or not above
            now_x, now_v, _, y = motion(low, numbers)
            if pushed:  # the integral of the force, of the decaying part by its equation of motion
                _, _, _, by_sin, by_cos, b, r, p, q = numbers
                turn, back = w * (t + low), w * t
                steady = (by_cos * (math.sin(turn) - math.sin(back)) - by_sin * (math.cos(turn) - math.cos(back))) / w
                u = now_v - w * (by_sin * math.cos(turn) - by_cos * math.sin(turn))
                decayed = -(m * (u - (q * r - b * p)) + damping * (y - p)) / stiffness
                impulse[i] += k_n * (decayed + steady + (rest - gap) * low) + c_n * (now_x - x)
            t, x, v = t + low, now_x, now_v
            if found:
                pushed = not pushed
                impacts[i] += 1.0 if pushed else 0.0
    return impacts, impulse
