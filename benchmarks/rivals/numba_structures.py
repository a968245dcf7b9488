"""Tubes in rings in numba, written in two ways, for comparison with structures by `euler`. It shares nothing with the kernels.

M modes with N = M coordinates, S supports, each a ring in the plane of two displacements (rows 2 s and 2 s + 1 of `shapes`), under loads
amplitude sin(omega t). The equations are those of docs/how-to/structures.md: F_n = max(0, k_n p + c_n p') for p = r - gap > 0, and friction
by return mapping. Both ways return wear power [W], impulse [N s], number of impacts and contact ratio of every support, (4, S, n), over the
steps after `first`. A force that begins or ends within a step does so where its line crosses 0.

`lanes` is written for the vector unit: it steps WIDTH tubes at a time, and the lanes are contiguous. `plain` is a loop over tubes on all
cores, with loops over steps and modes in it. Arguments: shapes (2 S, N), vectors (L, N), by_mass, stiffness (w^2), drag (2 xi w) (N,), of
one kind of tube; gap, mu, factor (of the loads) and omega (L, n) of each of n tubes; amplitude (L,); the rest are numbers in SI units.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

WIDTH = 64
FAST = {"contract", "reassoc", "nsz", "arcp"}  # all freedoms but those of numbers that are not finite


# rows of what `lanes` holds of a support: LLVM sees that rows of one array do not overlap, and vectorises the loop over lanes
PLACE, SPEED, FORCE, BEFORE, GAP, MU, DEPTH, PULL, NORMAL, STRETCH, SLIDING, SUMS, HELD = 0, 2, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 19


@nb.njit(fastmath=FAST, error_model="numpy", inline="always")
def contact(s, k_n, c_n, k_t, c_t, h, counts):  # noqa: ANN001, ANN201
    """One evaluation of a support of WIDTH tubes, and its sums; `s` (HELD, WIDTH), `counts` 1.0 in the window, else 0.0."""
    for j in range(WIDTH):
        px, py, vx, vy = s[PLACE, j], s[PLACE + 1, j], s[SPEED, j], s[SPEED + 1, j]
        p0, pull0, n0, speed0, gap = s[DEPTH, j], s[PULL, j], s[NORMAL, j], s[SLIDING, j], s[GAP, j]
        r, r0 = math.sqrt(px * px + py * py), p0 + gap
        by_r = 1.0 / (r + 1e-300)
        cos, sin = px * by_r, py * by_r
        turned = (s[BEFORE, j] * py - s[BEFORE + 1, j] * px) * by_r / (r0 + 1e-300)
        angle = turned * (1.0 + turned * turned * (1.0 / 6.0 + turned * turned * (3.0 / 40.0)))
        radial, around = cos * vx + sin * vy, cos * vy - sin * vx
        p = r - gap
        pull = k_n * p + c_n * radial
        touches = (p > 0.0) & (pull > 0.0)
        normal = pull if touches else 0.0
        difference = p - p0
        part = p / (difference if difference != 0.0 else 1.0)
        way = 0.5 * (r + r0) * angle * (part if p0 < 0.0 else 1.0)
        stretch = s[STRETCH, j] + way
        trial = -(k_t * stretch + c_t * around)
        limit = s[MU, j] * normal
        slips = abs(trial) > limit
        sliding = limit if trial > 0.0 else -limit
        t = (sliding if slips else trial) if touches else 0.0
        stretch = (-(t + c_t * around) / k_t if slips else stretch) if touches else 0.0
        s[FORCE, j], s[FORCE + 1, j] = -cos * normal - sin * t, cos * t - sin * normal
        entered, pushed, speed = (p0 <= 0.0) & (p > 0.0), n0 > 0.0, abs(around)
        low, high = p0 if entered else pull0, p if entered else pull
        change = low - high
        place = low / (change if change != 0.0 else 1.0)
        share = ((1.0 if pushed else 1.0 - place) if touches else (place if pushed else 0.0)) * counts
        s[SUMS, j] += 0.5 * h * share * (n0 * speed0 + normal * speed) if slips & touches else 0.0
        s[SUMS + 1, j] += 0.5 * h * share * (n0 + normal)
        s[SUMS + 2, j] += counts if entered else 0.0
        s[SUMS + 3, j] += h * share
        s[DEPTH, j], s[PULL, j], s[NORMAL, j], s[STRETCH, j], s[SLIDING, j] = p, pull, normal, stretch, speed
        s[BEFORE, j], s[BEFORE + 1, j] = px, py


@nb.njit(parallel=True, fastmath=FAST, error_model="numpy")
def lanes(shapes, vectors, by_mass, stiffness, drag, gap, mu, factor, omega, amplitude, k_n, c_n, k_t, c_t, h, steps, first):  # noqa: ANN001, ANN201, C901, PLR0912
    """Blocks of WIDTH tubes, without branches; their number must be a multiple of WIDTH, that of modes a multiple of 5."""
    count, modes, supports, loads = gap.size, by_mass.size, shapes.shape[0] // 2, vectors.shape[0]
    found = np.empty((4, supports, count))
    for block in nb.prange(count // WIDTH):
        base = block * WIDTH
        x, v, a = np.zeros((modes, WIDTH)), np.zeros((modes, WIDTH)), np.zeros((modes, WIDTH))
        held, force = np.zeros((supports, HELD, WIDTH)), np.empty((loads, WIDTH))
        s, c, turn_s, turn_c = np.zeros((loads, WIDTH)), np.ones((loads, WIDTH)), np.empty((loads, WIDTH)), np.empty((loads, WIDTH))
        size = np.empty((loads, WIDTH))
        for j in range(WIDTH):
            for load in range(loads):
                turn_s[load, j], turn_c[load, j] = math.sin(omega[load, base + j] * h), math.cos(omega[load, base + j] * h)
                size[load, j] = factor[base + j] * amplitude[load]
            for g in range(supports):
                held[g, GAP, j], held[g, MU, j], held[g, DEPTH, j] = gap[base + j], mu[base + j], -gap[base + j]
        for n in range(steps):
            counts = 1.0 if n >= first else 0.0
            for i in range(modes):
                for j in range(WIDTH):
                    v[i, j] += h * a[i, j]
                    x[i, j] += h * v[i, j]
            for row in range(2 * supports):
                place, speed = held[row // 2, PLACE + row % 2], held[row // 2, SPEED + row % 2]
                place[:], speed[:] = 0.0, 0.0
                for i in range(0, modes, 5):
                    w0, w1, w2, w3, w4 = shapes[row, i], shapes[row, i + 1], shapes[row, i + 2], shapes[row, i + 3], shapes[row, i + 4]
                    for j in range(WIDTH):
                        place[j] += w0 * x[i, j] + w1 * x[i + 1, j] + w2 * x[i + 2, j] + w3 * x[i + 3, j] + w4 * x[i + 4, j]
                    for j in range(WIDTH):
                        speed[j] += w0 * v[i, j] + w1 * v[i + 1, j] + w2 * v[i + 2, j] + w3 * v[i + 3, j] + w4 * v[i + 4, j]
            for load in range(loads):
                for j in range(WIDTH):
                    turned = s[load, j] * turn_c[load, j] + c[load, j] * turn_s[load, j]
                    c[load, j] = c[load, j] * turn_c[load, j] - s[load, j] * turn_s[load, j]
                    s[load, j] = turned
                    force[load, j] = size[load, j] * turned
            for g in range(supports):
                contact(held[g], k_n, c_n, k_t, c_t, h, counts)
            for i in range(modes):
                w, d, by = stiffness[i], drag[i], by_mass[i]
                for j in range(WIDTH):
                    a[i, j] = -w * x[i, j] - d * v[i, j]
                g = 0
                while g + 1 < supports:
                    one, other = held[g], held[g + 1]
                    w0, w1, w2, w3 = by * shapes[2 * g, i], by * shapes[2 * g + 1, i], by * shapes[2 * g + 2, i], by * shapes[2 * g + 3, i]
                    for j in range(WIDTH):
                        a[i, j] += w0 * one[FORCE, j] + w1 * one[FORCE + 1, j] + w2 * other[FORCE, j] + w3 * other[FORCE + 1, j]
                    g += 2
                if g < supports:
                    w0, w1 = by * shapes[2 * g, i], by * shapes[2 * g + 1, i]
                    for j in range(WIDTH):
                        a[i, j] += w0 * held[g, FORCE, j] + w1 * held[g, FORCE + 1, j]
                for load in range(loads):
                    w0 = by * vectors[load, i]
                    for j in range(WIDTH):
                        a[i, j] += w0 * force[load, j]
        length = (steps - first) * h
        for g in range(supports):
            for j in range(WIDTH):
                found[0, g, base + j], found[1, g, base + j] = held[g, SUMS, j] / length, held[g, SUMS + 1, j]
                found[2, g, base + j], found[3, g, base + j] = held[g, SUMS + 2, j], held[g, SUMS + 3, j] / length
    return found


@nb.njit(parallel=True, fastmath=FAST, error_model="numpy")
def plain(shapes, vectors, by_mass, stiffness, drag, gap, mu, factor, omega, amplitude, k_n, c_n, k_t, c_t, h, steps, first):  # noqa: ANN001, ANN201, C901, PLR0912
    """One tube after the other on each core, with branches where there is no contact."""
    count, modes, supports, loads = gap.size, by_mass.size, shapes.shape[0] // 2, vectors.shape[0]
    found = np.empty((4, supports, count))
    for tube in nb.prange(count):
        x, v, a = np.zeros(modes), np.zeros(modes), np.zeros(modes)
        before = np.zeros((2, supports))
        depth, pulled, pressing, stretch, sliding = (
            np.full(supports, -gap[tube]), np.zeros(supports), np.zeros(supports), np.zeros(supports), np.zeros(supports),
        )  # fmt: skip
        sums = np.zeros((4, supports))
        s, c = np.zeros(loads), np.ones(loads)
        turn_s, turn_c = np.sin(omega[:, tube] * h), np.cos(omega[:, tube] * h)
        for n in range(steps):
            counts = 1.0 if n >= first else 0.0
            for i in range(modes):
                v[i] += h * a[i]
                x[i] += h * v[i]
                a[i] = 0.0
            for load in range(loads):
                s[load], c[load] = (
                    s[load] * turn_c[load] + c[load] * turn_s[load],
                    c[load] * turn_c[load] - s[load] * turn_s[load],
                )
                size = factor[tube] * amplitude[load] * s[load]
                for i in range(modes):
                    a[i] += size * vectors[load, i]
            for g in range(supports):
                px, py, vx, vy = 0.0, 0.0, 0.0, 0.0
                for i in range(modes):
                    px += shapes[2 * g, i] * x[i]
                    py += shapes[2 * g + 1, i] * x[i]
                    vx += shapes[2 * g, i] * v[i]
                    vy += shapes[2 * g + 1, i] * v[i]
                r = math.sqrt(px * px + py * py)
                p0, pull0, n0, speed0 = depth[g], pulled[g], pressing[g], sliding[g]
                p, cos, sin = r - gap[tube], 1.0, 0.0
                if r > 0.0:
                    cos, sin = px / r, py / r
                radial, around = cos * vx + sin * vy, cos * vy - sin * vx
                pull = k_n * p + c_n * radial
                normal, t, slips = 0.0, 0.0, False
                if p > 0.0 and pull > 0.0:
                    normal = pull
                    r0 = p0 + gap[tube]
                    turned = (before[0, g] * py - before[1, g] * px) / (r * r0)
                    angle = turned * (1.0 + turned * turned * (1.0 / 6.0 + turned * turned * (3.0 / 40.0)))
                    way = 0.5 * (r + r0) * angle
                    if p0 < 0.0:
                        way *= p / (p - p0)
                    stretch[g] += way
                    t = -(k_t * stretch[g] + c_t * around)
                    if abs(t) > mu[tube] * normal:
                        slips = True
                        t = math.copysign(mu[tube] * normal, t)
                        stretch[g] = -(t + c_t * around) / k_t
                    fx, fy = -cos * normal - sin * t, -sin * normal + cos * t
                    for i in range(modes):
                        a[i] += shapes[2 * g, i] * fx + shapes[2 * g + 1, i] * fy
                else:
                    stretch[g] = 0.0
                if n0 > 0.0 or normal > 0.0:
                    begin, end = 0.0, 1.0
                    if n0 <= 0.0:
                        begin = p0 / (p0 - p) if p0 <= 0.0 else pull0 / (pull0 - pull)
                    if normal <= 0.0:
                        end = pull0 / (pull0 - pull)
                    pressed = counts * h * max(min(end, 1.0) - max(begin, 0.0), 0.0)
                    if slips:
                        sums[0, g] += 0.5 * pressed * (n0 * speed0 + normal * abs(around))
                    sums[1, g] += 0.5 * pressed * (n0 + normal)
                    sums[3, g] += pressed
                if p0 <= 0.0 and p > 0.0:
                    sums[2, g] += counts
                depth[g], pulled[g], pressing[g], sliding[g] = p, pull, normal, abs(around)
                before[0, g], before[1, g] = px, py
            for i in range(modes):
                a[i] = a[i] * by_mass[i] - stiffness[i] * x[i] - drag[i] * v[i]
        length = (steps - first) * h
        for g in range(supports):
            found[0, g, tube], found[1, g, tube] = sums[0, g] / length, sums[1, g]
            found[2, g, tube], found[3, g, tube] = sums[2, g], sums[3, g] / length
    return found


WAYS = {"numba, lanes": lanes, "numba, one tube after the other": plain}
