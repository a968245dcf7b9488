"""Modes with planes, pairs of planes and rings by brute force: tiny steps of the midpoint rule, in plain Python compiled by numba.

It shares nothing with the kernels. Modes: m (q'' + drag q' + w^2 q) = loads + contacts. Contacts: F_n = max(0, k_n p + c_n p') where p > 0;
friction |T| <= mu F_n, a vector along the two tangential directions (in a ring along the arc and along its axis), of springs that grow
with the tangential velocity and a damper; where it slips the anchor follows. Here elongations are numbers of the differential equations;
the kernels have displacements and angles between two instants instead.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

PLANE, TWO_PLANES, RING = 0, 1, 2


@njit(cache=False)
def dot(one, other):
    """The scalar product, without a library."""
    total = 0.0
    for i in range(one.size):
        total += one[i] * other[i]
    return total


@njit(cache=False)
def touch(kind, numbers, u, v, e, force):
    """Of displacement u and velocity v along three axes, and elongation e (2,), which is made that of the slip: `force` (3,) is filled.

    Returns:
        Normal force, whether it slips, tangential velocities, penetration.
    """
    gap, k_n, c_n, mu, k_t, c_t = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    force[0], force[1], force[2] = 0.0, 0.0, 0.0
    first, second, size = 1.0, 0.0, u[0]
    if kind == RING:
        size = math.sqrt(u[0] * u[0] + u[1] * u[1])
        if size > 0.0:
            first, second = u[0] / size, u[1] / size
    elif kind == TWO_PLANES and u[0] < 0.0:
        first, size = -1.0, -u[0]
    rate, one, other = first * v[0] + second * v[1], first * v[1] - second * v[0], v[2]
    if kind != RING:
        one = v[1]
    normal = k_n * (size - gap) + c_n * rate
    if size <= gap or normal <= 0.0:
        return 0.0, False, one, other, size - gap
    t_1, t_2 = -(k_t * e[0] + c_t * one), -(k_t * e[1] + c_t * other)
    length = math.sqrt(t_1 * t_1 + t_2 * t_2)
    slips = length > mu * normal
    if slips:
        t_1, t_2 = t_1 * mu * normal / length, t_2 * mu * normal / length
        e[0], e[1] = -(t_1 + c_t * one) / k_t, -(t_2 + c_t * other) / k_t
    if kind == RING:
        force[0], force[1], force[2] = -normal * first - t_1 * second, -normal * second + t_1 * first, t_2
    else:
        force[0], force[1], force[2] = -normal * first, t_1, t_2
    return normal, slips, one, other, size - gap


@njit(cache=False)
def structure(square, drag, mass, shapes, kinds, numbers, vectors, amplitude, omega, constant, q, v, points, end, start, h, each):  # noqa: C901
    """From coordinates q with velocities v to `end`.

    Args:
        square, drag, mass: w^2, 2 xi w and m of N modes. shapes: (C, 3, N) along the axes of C contacts. kinds: (C,).
        numbers: (C, 6) of gap, k_n, c_n, mu, k_t, c_t. vectors: (L, N) of loads amplitude sin(omega t) + constant.
        points: (P, N) of displacements that the path has. each: number of steps from one row of the path to the next.

    Returns:
        (C, 4): work rate, impulse, impacts, largest force over [start, end]; the path: time, displacements, and of each contact the normal
        force, the size of friction and the work done so far.
    """
    count, contacts, steps, shown = square.size, kinds.size, round(end / h), points.shape[0]
    e, half, force, place, speed = np.zeros((contacts, 2)), np.zeros((contacts, 2)), np.zeros(3), np.zeros(3), np.zeros(3)
    found, done, before, inside = np.zeros((contacts, 4)), np.zeros(contacts), np.zeros(contacts), np.zeros(contacts)
    path = np.zeros((steps // each, 1 + shown + 3 * contacts))
    pull, here, rate, a = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    q, v, row = q.copy(), v.copy(), 0
    for i in range(steps):
        for stage in range(2):
            t = i * h + 0.5 * h * stage
            for mode in range(count):
                here[mode] = q[mode] + 0.5 * h * stage * v[mode]
                rate[mode] = v[mode] + 0.5 * h * stage * a[mode]
                pull[mode] = 0.0
            for load in range(amplitude.size):
                size = amplitude[load] * math.sin(omega[load] * t) + constant[load]
                for mode in range(count):
                    pull[mode] += size * vectors[load, mode]
            shows = stage == 0 and i % each == 0 and i > 0
            for n in range(contacts):
                for axis in range(3):
                    place[axis], speed[axis] = dot(shapes[n, axis], here), dot(shapes[n, axis], rate)
                normal, slips, one, other, depth = touch(kinds[n], numbers[n], place, speed, e[n] if stage == 0 else half[n], force)
                for mode in range(count):
                    for axis in range(3):
                        pull[mode] += force[axis] * shapes[n, axis, mode]
                if stage == 0:
                    half[n, 0], half[n, 1] = e[n, 0] + 0.5 * h * one, e[n, 1] + 0.5 * h * other
                    if depth > 0.0 and inside[n] == 0.0 and t >= start:
                        found[n, 2] += 1.0
                    inside[n] = 1.0 if depth > 0.0 else 0.0
                    if shows:
                        path[row, 1 + shown + n] = normal
                        path[row, 1 + shown + contacts + n] = math.sqrt(max(0.0, dot(force, force) - normal * normal))
                        path[row, 1 + shown + 2 * contacts + n] = done[n]
                    continue
                e[n, 0] = e[n, 0] + h * one if normal > 0.0 else 0.0
                e[n, 1] = e[n, 1] + h * other if normal > 0.0 else 0.0
                if slips:
                    done[n] += h * normal * math.sqrt(one * one + other * other)
                if t < start:
                    before[n] = done[n]
                else:
                    found[n, 1] += h * normal
                    found[n, 3] = max(found[n, 3], normal)
            if shows:
                path[row, 0] = t
                for point in range(shown):
                    path[row, 1 + point] = dot(points[point], q)
                row += 1
            for mode in range(count):
                push = pull[mode] / mass[mode] - square[mode] * here[mode] - drag[mode] * rate[mode]
                if stage == 0:
                    a[mode] = push
                else:
                    q[mode] += h * rate[mode]
                    v[mode] += h * push
    for n in range(contacts):
        found[n, 0] = (done[n] - before[n]) / (end - start)
    return found, path[:row]
