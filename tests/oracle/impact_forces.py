"""Impact forces of a mass in a ring, as a load cell would measure them: tiny steps of Heun's method in plain Python, compiled by numba.

It shares nothing with the kernels, nor with `contact_code`. The equations are those of docs/how-to/structures.md: F_n = max(0, k_n p
+ c_n p') for p = r - gap > 0; the friction is a spring k_t along the arc with a damper c_t, at most mu F_n, and its anchor
follows where it slips.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=False)
def pushes(x, y, vx, vy, e, ring):
    """Forces along x and y [N], what is left of the elongation [m], the normal force [N], and the speed along the arc [m/s]."""
    gap, k_n, c_n, mu, k_t, c_t = ring
    r = math.hypot(x, y)
    if r <= gap:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    nx, ny = x / r, y / r
    normal = k_n * (r - gap) + c_n * (nx * vx + ny * vy)
    slide = nx * vy - ny * vx
    if normal <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, slide
    friction, limit = -k_t * e - c_t * slide, mu * normal
    if abs(friction) > limit:
        friction = limit if friction > 0.0 else -limit
        e = -(friction + c_t * slide) / k_t
    return -normal * nx - friction * ny, -normal * ny + friction * nx, e, normal, slide


@njit(cache=False)
def measured(body, ring, shakes, end, steps, every):
    """A mass that starts at rest in the middle of a ring on a ground that shakes.

    Args:
        body: (m, k, c). ring: (gap, k_n, c_n, mu, k_t, c_t). shakes: ((amplitude [m/s^2], omega [rad/s]) along x, the same along y).
        end: of the run [s]. steps: their number. every: how many lie between two samples.

    Returns:
        (time, x, y, normal force) after every `every` steps, (n, 4); largest normal force [N], its integral [N s], and number of impacts.
    """
    m, k, c = body
    (ax, wx), (ay, wy) = shakes
    h = end / steps
    x, y, vx, vy, e = 0.0, 0.0, 0.0, 0.0, 0.0
    found = np.zeros((steps // every, 4))
    largest, impulse, impacts, before, inside = 0.0, 0.0, 0, 0.0, False
    for i in range(steps):
        t = i * h
        fx, fy, e, _, slide = pushes(x, y, vx, vy, e, ring)
        bx, by = (fx - k * x - c * vx) / m - ax * math.sin(wx * t), (fy - k * y - c * vy) / m - ay * math.sin(wy * t)
        # a first guess at the end of the step, and the mean of both slopes
        gx, gy, ux, uy = x + h * vx, y + h * vy, vx + h * bx, vy + h * by
        sx, sy, _, pressed, later = pushes(gx, gy, ux, uy, e + h * slide, ring)
        t += h
        dx, dy = (sx - k * gx - c * ux) / m - ax * math.sin(wx * t), (sy - k * gy - c * uy) / m - ay * math.sin(wy * t)
        x, y, vx, vy = x + 0.5 * h * (vx + ux), y + 0.5 * h * (vy + uy), vx + 0.5 * h * (bx + dx), vy + 0.5 * h * (by + dy)
        e = e + 0.5 * h * (slide + later) if pressed > 0.0 else 0.0
        normal = pushes(x, y, vx, vy, e, ring)[3]
        largest = max(largest, normal)
        impulse += 0.5 * h * (before + normal)
        before = normal
        now = x * x + y * y > ring[0] * ring[0]
        if now and not inside:
            impacts += 1
        inside = now
        if (i + 1) % every == 0:
            found[(i + 1) // every - 1] = (t, x, y, normal)
    return found, largest, impulse, impacts
