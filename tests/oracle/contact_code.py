"""A mass in a ring by brute force: tiny steps of the midpoint rule, in polar numbers, in plain Python compiled by numba.

It shares nothing with the kernels. The equations are those of docs/how-to/structures.md: F_n = max(0, k_n p + c_n p') for p = r - gap > 0;
the friction |T| <= mu F_n of a spring k_t and a damper c_t along the arc, whose anchor follows where it slips.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=False)
def contact(x, y, vx, vy, e, gap, k_n, c_n, mu, k_t, c_t):
    """Forces along x and y, elongation, normal force, whether it slips, speed along the arc."""
    r = math.sqrt(x * x + y * y)
    if r <= gap:
        return 0.0, 0.0, 0.0, 0.0, False, 0.0
    cos, sin = x / r, y / r
    radial, around = vx * cos + vy * sin, vy * cos - vx * sin
    normal = k_n * (r - gap) + c_n * radial
    if normal <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, False, around
    t = -(k_t * e + c_t * around)
    slips = abs(t) > mu * normal
    if slips:
        t = math.copysign(mu * normal, t)
        e = -(t + c_t * around) / k_t
    return -normal * cos - t * sin, -normal * sin + t * cos, e, normal, slips, around


@njit(cache=False)
def step(m, k, c, gap, k_n, c_n, mu, k_t, c_t, x, y, vx, vy, e, gx, gy, gxm, gym, h):
    """One step under accelerations of the ground at its start and in its middle: the new state, normal force, slip and speed there."""
    fx, fy, e, _, _, a0 = contact(x, y, vx, vy, e, gap, k_n, c_n, mu, k_t, c_t)
    bx, by = (fx - k * x - c * vx) / m - gx, (fy - k * y - c * vy) / m - gy
    xm, ym, vxm, vym = x + 0.5 * h * vx, y + 0.5 * h * vy, vx + 0.5 * h * bx, vy + 0.5 * h * by
    fx, fy, _, nm, sm, am = contact(xm, ym, vxm, vym, e + 0.5 * h * a0, gap, k_n, c_n, mu, k_t, c_t)
    bx, by = (fx - k * xm - c * vxm) / m - gxm, (fy - k * ym - c * vym) / m - gym
    e = e + h * am if nm > 0.0 else 0.0
    return x + h * vxm, y + h * vym, vx + h * bx, vy + h * by, e, nm, sm, am


@njit(cache=False)
def ring(m, k, c, gap, k_n, c_n, mu, k_t, c_t, ax, wx, ay, wy, x, y, vx, vy, end, start, h):
    """Over [start, end]: (work rate, impulse, impacts, part of the time in contact), and (x, y) at the end."""
    steps = round(end / h)
    e, work, impulse, impacts, touched = 0.0, 0.0, 0.0, 0, 0.0
    inside = math.sqrt(x * x + y * y) > gap
    for i in range(steps):
        t, tm = i * h, i * h + 0.5 * h
        gx, gy, gxm, gym = ax * math.sin(wx * t), ay * math.sin(wy * t), ax * math.sin(wx * tm), ay * math.sin(wy * tm)
        x, y, vx, vy, e, nm, sm, am = step(m, k, c, gap, k_n, c_n, mu, k_t, c_t, x, y, vx, vy, e, gx, gy, gxm, gym, h)
        if t >= start:
            if sm:
                work += h * nm * abs(am)
            impulse += h * nm
            touched += h if nm > 0.0 else 0.0
        now = math.sqrt(x * x + y * y) > gap
        if now and not inside and t >= start:
            impacts += 1
        inside = now
    length = end - start
    return np.array([work / length, impulse, impacts, touched / length, x, y])


@njit(cache=False)
def at(samples, interval, t):
    """A record at a time: linear between its samples."""
    place = t / interval
    before = min(int(place), samples.size - 2)
    part = place - before
    return (1.0 - part) * samples[before] + part * samples[before + 1]


@njit(cache=False)
def ring_under_records(m, k, c, gap, k_n, c_n, mu, k_t, c_t, samples, interval, end, start, h, each):
    """A mass at rest in the middle, under accelerations of the ground along x and y, (2, L): see `ring`, and its path.

    Returns:
        (work rate, impulse, impacts, part of the time in contact) over [start, end]; (time, x, y, work done so far) after every `each`
        steps, (n, 4).
    """
    steps = round(end / h)
    x, y, vx, vy, e = 0.0, 0.0, 0.0, 0.0, 0.0
    work, impulse, impacts, touched, before, inside = 0.0, 0.0, 0, 0.0, 0.0, False
    path = np.zeros((steps // each, 4))
    for i in range(steps):
        t, tm = i * h, i * h + 0.5 * h
        gx, gy, gxm, gym = (
            at(samples[0], interval, t),
            at(samples[1], interval, t),
            at(samples[0], interval, tm),
            at(samples[1], interval, tm),
        )
        x, y, vx, vy, e, nm, sm, am = step(m, k, c, gap, k_n, c_n, mu, k_t, c_t, x, y, vx, vy, e, gx, gy, gxm, gym, h)
        if sm:
            work += h * nm * abs(am)
        if t < start:
            before = work
        else:
            impulse += h * nm
            touched += h if nm > 0.0 else 0.0
        now = x * x + y * y > gap * gap
        if now and not inside and t >= start:
            impacts += 1
        inside = now
        if (i + 1) % each == 0:
            path[(i + 1) // each - 1] = (t + h, x, y, work)
    length = end - start
    return np.array([(work - before) / length, impulse, impacts, touched / length]), path
