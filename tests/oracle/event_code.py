"""An event code in numba that shares nothing with the kernels: one oscillator after the other, each phase by its Taylor series.

    m x'' + c x' + k x = sum_i A_i sin(w_i t + phi_i) + load + F(t) + T - sum over walls of side F(y, y'),    y = side x - gap

F(t) is linear between given instants, and may jump there; half sines may begin and end there. T is rigid or penalised Coulomb friction on a
surface that rests or moves at constant speed, under a normal force n = n0 + n1 sin(w_n t + phi_n): F_n = max(0, n) on one surface, |n|
between two; F(y, y') an elastic stop, or a wall that buckles. Between events the equation is linear (quadratic where an added
damping varies with the compression), and the series of x follows from it by recurrence, without any
closed form of the motion. The guards are polynomials in the time since the step began: leading coefficients that are rounding errors are
dropped, so that a guard that starts at 0 is judged by its first rate that is not 0, and the first root of the rest is bracketed on a mesh
whose extrema are looked at. One event is processed at a time; what follows at the same instant is found as an event after 0 s.

The laws are those of PHYSICS.md, sections 1, 2 and 4, in words:

- Penalised friction starts slipping where the mass moves, else with an unloaded spring. Slip ends at v = 0, where the spring takes over
  with the friction of the slip. A slip phase is a stretch of one direction: it ends where the direction changes, or where the mass
  could rest (the force needed to hold it where v = 0 is within mu_s F_n).
- Where n comes to 0 the mass leaves its only surface, and lands with an unloaded spring; between two it presses on the other. A penalised
  contact whose limit falls below its force slips against that force. If the mass creeps the other way it holds again at once, its spring at
  mu_d F_n, unless its damper alone would exceed the limits; this happens again and again, ever sooner, until the mass turns round. Where a
  slip stops and the limit falls faster than the force, this begins at no speed, ever later, and no limit of small steps exists: the first
  grip is by definition where the force of the damper is FIRST_GRIP times the limits.
- A wall pushes with k_u(X) (y - d) + c(X) y' between 0 and the criterion, where it yields. Phases: OFF (y < 0), BEHIND (0 < y < d), LIFTED
  (the damper would pull), ELASTIC, and at the criterion CAPPED (y below F_c / k_u, d = 0), RELOAD (y below X) and YIELD (y = X).

Source of the laws: SDND104 (V5.01.104), SDND105 (V5.01.105), and for phases in continuous time the limit of the evaluation step by step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numba
import numpy as np

ORDER = 16  # of the Taylor series
REACH = 0.6  # step times the fastest rate
NODES = 32  # of the mesh on which a guard is looked at, per step, denser near its start
NO_FORCE = 1e-11  # of a damper, relative to the largest limit of friction: where a contact grips again and again, the mass has turned round
FIRST_GRIP = 1e-8
ROUNDING = 1e-12  # of a coefficient, relative to the terms it is the sum of
MOST_EVENTS = 20000

# scalars of a row
M, C, K, LOAD, MU_S, MU_D, K_T, C_T, X0, V0, END, START, STOP, FRICTION, WALLS, NORMAL, SWING, PACE, ANGLE, SURFACES, BELT, STRETCH = range(
    22
)
NONE, RIGID, PENALISED = range(3)
# scalars of a wall; values and slopes of a piece of its envelope, over lower < X <= upper: F_c, D = X - F_c / k_u, c
SIDE, GAP, K_N, C_N, BUCKLES, INCLUDED = range(6)
LOWER, UPPER, FORCE, FORCE_SLOPE, SET, SET_SLOPE, DAMPING, DAMPING_SLOPE = range(8)
PIECES = 12
OFF, BEHIND, LIFTED, ELASTIC, CAPPED, RELOAD, YIELD = range(7)
SLIP, HELD, FREE = 1, 0, 2  # of friction; FREE: off the surface
# state of a wall, beside its phase
LARGEST, PLASTIC, PIECE, AWAY = range(4)
# results of a row, and of each of its two walls
DISTANCE, STUCK, PHASES, STOPS, TOP, DRIFT, X_END, V_END, STATUS, EVENTS, ENERGY = range(11)
IMPACTS, PEAK, CONTACT, IMPULSE, FIRST_T, FIRST_V, COMPRESSION, REBOUND, SEPARATION, EXIT, RETURN, BUCKLING, PLASTIC_END, X_LARGEST = range(
    14
)
OF_WALL = 14

_jit = numba.njit(cache=True)


@_jit
def value(series, u):
    """A polynomial at u."""
    total = 0.0
    for j in range(series.size - 1, -1, -1):
        total = total * u + series[j]
    return total


@_jit
def rate(series, u):
    """The derivative of a polynomial at u."""
    total = 0.0
    for j in range(series.size - 1, 0, -1):
        total = total * u + j * series[j]
    return total


@_jit
def bisect(series, low, high, of_rate):
    """Where a polynomial, or its derivative, changes sign in [low, high]."""
    rises = (rate(series, low) if of_rate else value(series, low)) < 0.0
    for _ in range(80):
        mid = 0.5 * (low + high)
        if mid <= low or mid >= high:
            break
        if ((rate(series, mid) if of_rate else value(series, mid)) < 0.0) == rises:
            low = mid
        else:
            high = mid
    return high


@_jit
def first_root(series, sizes):
    """The first u in [0, 1] from where a guard is negative; 2 if it stays positive. `sizes`: of the terms of each coefficient."""
    lead = 0
    while lead < series.size and abs(series[lead]) <= ROUNDING * sizes[lead]:
        lead += 1
    if lead == series.size:
        return 2.0
    rest = series[lead:]
    if rest[0] < 0.0:
        return 0.0
    low, slope = 0.0, rate(rest, 0.0)
    for i in range(1, NODES + 1):
        high = (i / NODES) ** 2
        at_high, then = value(rest, high), rate(rest, high)
        if at_high < 0.0:
            return bisect(rest, low, high, False)
        if slope < 0.0 < then:
            valley = bisect(rest, low, high, True)
            if value(rest, valley) < 0.0:
                return bisect(rest, low, valley, False)
        low, slope = high, then
    return 2.0


@_jit
def largest(series, end):
    """The largest value of a polynomial on [0, end]."""
    best = max(series[0], value(series, end))
    low, slope = 0.0, rate(series, 0.0)
    for i in range(1, NODES + 1):
        high = end * i / NODES
        then = rate(series, high)
        if slope > 0.0 > then:
            best = max(best, value(series, bisect(series, low, high, True)))
        low, slope = high, then
    return best


@_jit
def criterion(wall, pieces, state):
    """F_c, F_c / k_u, k_u and c of a wall at its largest compression."""
    if wall[BUCKLES] == 0.0:
        return math.inf, math.inf, wall[K_N], wall[C_N]
    piece = pieces[int(state[PIECE])]
    way = state[LARGEST] - piece[LOWER]
    force = piece[FORCE] + piece[FORCE_SLOPE] * way
    stretch = state[LARGEST] - (piece[SET] + piece[SET_SLOPE] * way)
    return force, stretch, force / stretch, piece[DAMPING] + piece[DAMPING_SLOPE] * way


@_jit
def law(wall, pieces, phase, state):
    """The force of a wall in its phase, f0 + f1 y + (f2 + f3 y) y'."""
    force, _, k, c = criterion(wall, pieces, state)
    if phase == ELASTIC:
        return -k * state[PLASTIC], k, c, 0.0
    if phase in (CAPPED, RELOAD):
        return force, 0.0, 0.0, 0.0
    if phase == YIELD:
        piece = pieces[int(state[PIECE])]
        level = piece[FORCE] - piece[FORCE_SLOPE] * piece[LOWER]
        if wall[INCLUDED] == 1.0:
            return level, piece[FORCE_SLOPE], 0.0, 0.0
        return level, piece[FORCE_SLOPE], piece[DAMPING] - piece[DAMPING_SLOPE] * piece[LOWER], piece[DAMPING_SLOPE]
    return 0.0, 0.0, 0.0, 0.0


@_jit
def reach(wall, pieces, state, y):
    """The phase of a wall whose force has reached the criterion at y."""
    _, stretch, _, _ = criterion(wall, pieces, state)
    small = 1e-11 * max(state[LARGEST], y)
    if wall[INCLUDED] == 1.0 and y < stretch - small:
        state[PLASTIC] = 0.0
        return CAPPED
    if wall[INCLUDED] == 1.0 and y < state[LARGEST] - small:
        return RELOAD
    return follow(pieces, state, y)


@_jit
def follow(pieces, state, y):
    """The phase of a wall that yields along its envelope."""
    state[LARGEST] = max(state[LARGEST], y)
    if state[LARGEST] >= pieces[int(state[PIECE]), UPPER] * (1.0 - 1e-12):
        state[LARGEST] = max(state[LARGEST], pieces[int(state[PIECE]), UPPER])
        state[PIECE] += 1.0
    return YIELD


@_jit
def settled(pieces, state, y):
    """Plastic set where the wall stops yielding along its envelope at y."""
    piece = pieces[int(state[PIECE])]
    return max(0.0, piece[SET] + piece[SET_SLOPE] * (y - piece[LOWER]))


@_jit
def _add_sine(series, sizes, amplitude, omega, angle, h):
    """Add amplitude sin(angle + omega h u) to a series in u."""
    sine, cosine, factor = math.sin(angle), math.cos(angle), amplitude
    for j in range(series.size):
        part = sine if j % 4 == 0 else cosine if j % 4 == 1 else -sine if j % 4 == 2 else -cosine
        series[j] += factor * part
        sizes[j] += abs(factor)
        factor *= omega * h / (j + 1.0)


@_jit
def integrate(p, tones, lines, walls, pieces, out, of_walls):  # noqa: C901 (numba: one function, no objects)
    """One oscillator. Writes into `out` and `of_walls`."""
    m, mu_s, mu_d, belt, varies = p[M], p[MU_S], p[MU_D], p[BELT], p[SWING] != 0.0
    kind, count = int(p[FRICTION]), int(p[WALLS])
    t, x, v, end = 0.0, p[X0], p[V0], p[END]
    xs, sizes, drive, drive_sizes = np.zeros(ORDER + 1), np.zeros(ORDER + 1), np.zeros(ORDER + 1), np.zeros(ORDER + 1)
    guard, guard_sizes, force = np.zeros(ORDER), np.zeros(ORDER), np.zeros(ORDER)
    press, press_sizes = np.zeros(ORDER + 1), np.zeros(ORDER + 1)  # F_n, where the mass is pressed
    phase, state = np.zeros(2, dtype=np.int64), np.zeros((2, 4))
    out[:] = 0.0
    of_walls[:] = 0.0
    for name in (FIRST_T, FIRST_V, REBOUND, SEPARATION, EXIT, RETURN, BUCKLING):
        of_walls[:, name] = math.nan
    for i in range(count):
        w, s = walls[i], walls[i, SIDE]
        y, speed = s * x - w[GAP], s * v
        if y > 0.0:
            state[i, LARGEST] = y
            while w[BUCKLES] == 1.0 and y > pieces[i, int(state[i, PIECE]), UPPER]:
                state[i, PIECE] += 1.0
            phase[i] = ELASTIC
            limit, stretch, k_u, c_u = criterion(w, pieces[i], state[i])
            if k_u * y + (c_u * speed if w[INCLUDED] == 1.0 else 0.0) >= limit:
                of_walls[i, BUCKLING] = 0.0
                if y < stretch:
                    phase[i] = CAPPED
                elif speed > 0.0:
                    phase[i] = YIELD
                else:
                    state[i, PLASTIC] = y - stretch
            if phase[i] == ELASTIC and k_u * (y - state[i, PLASTIC]) + c_u * speed < 0.0:
                phase[i] = LIFTED
            if speed > 0.0 and p[START] <= 0.0:
                of_walls[i, IMPACTS] = 1.0
        if y > 0.0 or (y == 0.0 and v == 0.0):
            of_walls[i, FIRST_T], of_walls[i, FIRST_V] = 0.0, v
    slips, direction, last, resting, moved = SLIP, 0.0, 0.0, False, False
    stored, anchor, gripped = 0.0, x, 0.0  # of the spring: its force where it was last looked at, there and then
    back = 0.0  # speed against the slip at which a contact grips whose limit falls faster than its force
    pressed = 1.0
    if varies:
        now_n = p[NORMAL] + p[SWING] * math.sin(p[ANGLE])
        pressed = math.copysign(1.0, now_n if now_n != 0.0 else p[SWING] * math.cos(p[ANGLE]))
        if p[SURFACES] < 2.0:
            pressed = max(pressed, 0.0)
    if kind != NONE and pressed == 0.0:
        slips = FREE
    elif kind == PENALISED and not math.isnan(p[STRETCH]):
        slips, stored = HELD, -p[K_T] * p[STRETCH]
    elif kind != NONE and v == belt:
        slips, resting = HELD, True
    elif kind != NONE:
        direction = last = math.copysign(1.0, v - belt)
    counted_slip, counted_rest = False, False
    starts = True  # of rigid friction: whether it holds is to be decided
    bent = -1  # the last bend passed
    idle = 0
    for _ in range(MOST_EVENTS * 1000):
        if t >= end:
            break
        within = p[START] <= t < p[STOP]
        until = p[START] if t < p[START] else p[STOP] if t < p[STOP] else end
        while bent + 1 < lines.shape[0] and lines[bent + 1, 0] <= t:
            bent, starts = bent + 1, starts or (kind == RIGID and slips == HELD)
            tones[-1] = lines[bent, 3:]
        if bent + 1 < lines.shape[0]:
            until = min(until, lines[bent + 1, 0])
        pull = p[LOAD] + lines[bent, 1] + lines[bent, 2] * (t - lines[bent, 0])
        # the equation: m x'' = drive + constant - K x - (C + Q x) v
        constant, stiff, damp, quadratic = pull, p[K], p[C], 0.0
        for i in range(count):
            f0, f1, f2, f3 = law(walls[i], pieces[i], phase[i], state[i])
            s, gap = walls[i, SIDE], walls[i, GAP]
            constant -= s * (f0 - f1 * gap)
            stiff += f1
            damp += f2 - f3 * gap
            quadratic += f3 * s
        fastest, force_now, force_size = 0.0, 0.0, 0.0
        for i in range(tones.shape[0]):
            if tones[i, 0] != 0.0:
                fastest = max(fastest, tones[i, 1])
                force_now += tones[i, 0] * math.sin(tones[i, 1] * t + tones[i, 2])
                force_size += abs(tones[i, 0])
        if varies:
            fastest = max(fastest, p[PACE])
        normal = p[NORMAL] + (p[SWING] * math.sin(p[PACE] * t + p[ANGLE]) if varies else 0.0)
        needed = force_now + constant - stiff * x - (damp + quadratic * x) * belt  # by what holds the mass on its surface
        if kind == RIGID and starts and slips == HELD and abs(needed) > mu_s * abs(normal):
            slips, direction = SLIP, math.copysign(1.0, needed)
            if resting or direction != last:
                counted_slip = False
            last, resting, counted_rest = direction, False, False
        starts = False
        spring_k = spring_c = spring_0 = 0.0
        if kind == PENALISED and slips == HELD:
            spring_0, spring_k, spring_c = stored + p[K_T] * (anchor + belt * (t - gripped)) + p[C_T] * belt, p[K_T], p[C_T]
            constant, stiff, damp = constant + spring_0, stiff + spring_k, damp + spring_c
        still = kind == RIGID and slips == HELD
        # step, and the series in u = time / h
        size = fastest + (abs(damp + quadratic * x) + abs(quadratic * x)) / m + math.sqrt((abs(stiff) + abs(quadratic * v)) / m)
        h = until - t
        if size > 0.0:
            h = min(h, REACH / size)
        for j in range(ORDER + 1):
            drive[j] = drive_sizes[j] = 0.0
        for i in range(tones.shape[0]):
            if tones[i, 0] != 0.0:
                _add_sine(drive, drive_sizes, tones[i, 0], tones[i, 1], tones[i, 1] * t + tones[i, 2], h)
        drive[1] += lines[bent, 2] * h + spring_k * belt * h
        drive_sizes[1] += abs(lines[bent, 2] * h) + abs(spring_k * belt * h)
        for j in range(ORDER + 1):
            press[j] = press_sizes[j] = xs[j] = sizes[j] = 0.0
        press[0] = press_sizes[0] = p[NORMAL]
        if varies:
            _add_sine(press, press_sizes, p[SWING], p[PACE], p[PACE] * t + p[ANGLE], h)
        for j in range(ORDER + 1):
            press[j] *= pressed if pressed != 0.0 else -1.0  # off its surface the mass waits for n to rise above 0
            if slips == SLIP and kind != NONE:
                drive[j] -= direction * mu_d * press[j]
                drive_sizes[j] += mu_d * press_sizes[j]
        xs[0], sizes[0], xs[1], sizes[1] = x, abs(x), v * h, abs(v * h)
        if not still:
            for j in range(ORDER - 1):
                bend, bends = 0.0, 0.0
                if quadratic != 0.0:
                    for i in range(j + 1):
                        bend += xs[i] * xs[j - i + 1] * (j - i + 1)
                        bends += abs(xs[i] * xs[j - i + 1] * (j - i + 1))
                total = drive[j] - stiff * xs[j] - (damp * xs[j + 1] * (j + 1) + quadratic * bend) / h
                total_size = drive_sizes[j] + abs(stiff) * sizes[j] + (abs(damp) * sizes[j + 1] * (j + 1) + abs(quadratic) * bends) / h
                if j == 0:
                    total += constant
                    total_size += abs(constant) + abs(pull) + abs(spring_0)
                xs[j + 2] = total * h * h / (m * (j + 1) * (j + 2))
                sizes[j + 2] = total_size * h * h / (m * (j + 1) * (j + 2))
        else:
            xs[1], sizes[1] = belt * h, abs(belt * h)
        # the first guard that is reached
        first, element, code = 2.0, -1, 0
        for e in range(-1, count):
            for which in range(4):
                g0, gx, gv, gd, gp = 0.0, 0.0, 0.0, 0.0, 0.0
                if e < 0:
                    if kind == NONE or which > 2:
                        break
                    sign = 1.0 if which == 0 else -1.0
                    if which == 2:
                        if abs(p[SWING]) <= abs(p[NORMAL]):
                            break
                        gp = 1.0
                    elif slips == SLIP:
                        if which == 1:
                            continue
                        g0, gv = back - direction * belt, direction
                    elif slips == FREE:
                        continue
                    elif kind == PENALISED:
                        g0, gx, gv, gp = -sign * spring_0, sign * spring_k, sign * spring_c, mu_s
                    else:
                        g0, gx, gd, gp = -sign * (constant - damp * belt), sign * (stiff + quadratic * belt), -sign, mu_s
                else:
                    s, gap, now = walls[e, SIDE], walls[e, GAP], phase[e]
                    limit, stretch, k_u, c_u = criterion(walls[e], pieces[e], state[e])
                    viscous = c_u if walls[e, INCLUDED] == 1.0 else 0.0
                    d = state[e, PLASTIC]
                    on_y, on_w = 0.0, 0.0  # g = g0 + on_y y + on_w y'
                    if now == OFF:
                        if which == 0:
                            on_y = -1.0
                        elif which == 1 and state[e, AWAY] == 1.0:
                            on_y, g0 = 1.0, gap
                        else:
                            continue
                    elif now == BEHIND:
                        if which == 0:
                            on_y = 1.0
                        elif which == 1:
                            on_y, g0 = -1.0, d
                        elif which == 2 and viscous > 0.0:
                            g0, on_y, on_w = limit + k_u * d, -k_u, -viscous
                        else:
                            continue
                    elif now == LIFTED:
                        if which == 0:
                            g0, on_y, on_w = k_u * d, -k_u, -c_u
                        elif which == 1:
                            g0, on_y = -d, 1.0
                        else:
                            continue
                    elif now == ELASTIC:
                        if which == 0:
                            g0, on_y, on_w = -k_u * d, k_u, c_u
                        elif which == 1 and walls[e, BUCKLES] == 1.0:
                            g0, on_y, on_w = limit + k_u * d, -k_u, -viscous
                        else:
                            continue
                    elif now == CAPPED:
                        if which == 0:
                            g0, on_y, on_w = -limit, k_u, c_u
                        elif which == 1:
                            g0, on_y = stretch, -1.0
                        else:
                            continue
                    elif which == 0:
                        on_w = 1.0
                    elif which == 1:
                        top = state[e, LARGEST] if now == RELOAD else pieces[e, int(state[e, PIECE]), UPPER]
                        if top == math.inf:
                            continue
                        g0, on_y = top, -1.0
                    else:
                        continue
                    g0 -= on_y * gap
                    gx, gv = on_y * s, on_w * s
                for j in range(ORDER):
                    speed_j = (j + 1) * xs[j + 1] / h
                    guard[j] = gx * xs[j] + gv * speed_j + gd * drive[j] + gp * press[j]
                    guard_sizes[j] = abs(gx) * sizes[j] + abs(gv) * (j + 1) * sizes[j + 1] / h + abs(gd) * drive_sizes[j]
                    guard_sizes[j] += gp * press_sizes[j]
                guard[0] += g0
                guard_sizes[0] += abs(g0) + (abs(walls[e, GAP] * gx) if e >= 0 else 0.0)
                if e < 0 and which < 2 and kind == PENALISED and slips == HELD:  # its force: by differences, which lose no digits
                    way = p[K_T] * (anchor - x + belt * (t - gripped))
                    drag = p[C_T] * (v - belt)
                    guard[0] = mu_s * press[0] - sign * (stored + way - drag)
                    guard_sizes[0] = mu_s * press_sizes[0] + abs(stored) + abs(way) + abs(drag)
                    guard[1] -= sign * spring_k * belt * h
                    guard_sizes[1] += abs(spring_k * belt * h)
                root = first_root(guard, guard_sizes)
                if root < first:
                    first, element, code = root, e, which
        u = min(first, 1.0)
        tau = u * h
        before_x = x
        # what happened within
        if within and tau > 0.0:
            for j in range(ORDER):
                guard[j] = (j + 1) * xs[j + 1] / h
            if kind != NONE and slips == SLIP:
                out[DISTANCE] += abs(value(xs, u) - x - belt * tau)
                guard[0] -= belt
                for j in range(ORDER):
                    guard[j] *= direction
                for j in range(ORDER):
                    rubbed = 0.0
                    for i in range(j + 1):
                        rubbed += guard[i] * press[j - i]
                    out[ENERGY] += rubbed * u ** (j + 1) * h / (j + 1)
                out[TOP] = max(out[TOP], largest(guard, u))
                if not counted_slip:
                    out[PHASES] += 1.0
                    counted_slip = True
            elif kind != NONE and slips == HELD:
                out[STUCK] += tau
                if resting and moved and not counted_rest:
                    out[STOPS] += 1.0
                    counted_rest = True
            for i in range(count):
                s, gap = walls[i, SIDE], walls[i, GAP]
                guard[0] = s * xs[0] - gap
                for j in range(1, ORDER):
                    guard[j] = s * xs[j]
                of_walls[i, COMPRESSION] = max(of_walls[i, COMPRESSION], largest(guard, u))
                if phase[i] >= ELASTIC:
                    f0, f1, f2, f3 = law(walls[i], pieces[i], phase[i], state[i])
                    for j in range(ORDER):
                        bend = 0.0
                        if f3 != 0.0:
                            for n in range(j + 1):
                                bend += guard[n] * s * (j - n + 1) * xs[j - n + 1] / h
                        force[j] = f1 * guard[j] + f2 * s * (j + 1) * xs[j + 1] / h + f3 * bend
                    force[0] += f0
                    of_walls[i, CONTACT] += tau
                    of_walls[i, PEAK] = max(of_walls[i, PEAK], largest(force, u))
                    for j in range(ORDER):
                        of_walls[i, IMPULSE] += force[j] * u ** (j + 1) * h / (j + 1)
        if kind != NONE and slips == SLIP and tau > 0.0:
            moved = True
        if not still:
            x = value(xs, u)
            v = rate(xs, u) / h
        elif belt != 0.0:
            x, v = x + belt * tau, belt
        if within:
            out[DRIFT] += x - before_x
        t = until if first > 1.0 and h == until - t else t + tau
        for i in range(count):
            if phase[i] == YIELD:
                state[i, LARGEST] = max(state[i, LARGEST], walls[i, SIDE] * x - walls[i, GAP])
        if first > 1.0:
            continue
        out[EVENTS] += 1.0
        idle = idle + 1 if tau == 0.0 else 0
        if out[EVENTS] > MOST_EVENTS or idle > 40:
            out[STATUS] = 1.0
            break
        if element < 0:  # friction
            normal = abs(p[NORMAL] + p[SWING] * math.sin(p[PACE] * t + p[ANGLE])) if varies else p[NORMAL]
            if code == 2:
                if p[SURFACES] > 1.0:
                    pressed = -pressed
                elif pressed != 0.0:
                    pressed, slips, direction, resting, counted_rest = 0.0, FREE, 0.0, False, False
                elif v == belt:
                    pressed, slips, resting, stored, anchor, gripped = 1.0, HELD, True, 0.0, x, t
                else:
                    pressed, slips, counted_slip = 1.0, SLIP, False
                    direction = last = math.copysign(1.0, v - belt)
            elif slips == SLIP:
                v, slips, starts = belt if back == 0.0 else v, HELD, kind == RIGID
                needed = p[LOAD] + lines[bent, 1] + lines[bent, 2] * (t - lines[bent, 0])
                for i in range(tones.shape[0]):
                    needed += tones[i, 0] * math.sin(tones[i, 1] * t + tones[i, 2])
                needed -= p[K] * x + p[C] * belt
                for i in range(count):
                    f0, f1, f2, f3 = law(walls[i], pieces[i], phase[i], state[i])
                    y = walls[i, SIDE] * x - walls[i, GAP]
                    needed -= walls[i, SIDE] * (f0 + f1 * y) + (f2 + f3 * y) * belt
                fall = -mu_s * pressed * p[SWING] * p[PACE] * math.cos(p[PACE] * t + p[ANGLE])
                turns = direction * needed - mu_d * normal  # m times the acceleration along the slip that has stopped
                if back == 0.0 and kind == PENALISED and mu_s == mu_d and p[C_T] * abs(turns) < m * fall and p[C_T] > 0.0:
                    slips, back = SLIP, FIRST_GRIP * (mu_s + mu_d) * normal / p[C_T]
                    continue
                back = 0.0
                resting, counted_rest = abs(needed) <= mu_s * normal, False
                stored, anchor, gripped = -mu_d * normal * direction, x, t
            else:
                away = 1.0 if code == 0 else -1.0  # where the force needed pulls, or against the spring
                if kind == PENALISED:
                    away, creep = -away, v - belt
                    if varies and away * creep < 0.0 and p[C_T] * abs(creep) <= (mu_s + mu_d) * normal:
                        if p[C_T] * abs(creep) > NO_FORCE * mu_s * (abs(p[NORMAL]) + abs(p[SWING])) or p[C_T] == 0.0:
                            stored, anchor, gripped = -mu_d * normal * away, x, t
                            continue
                        v = belt
                    elif away * creep < 0.0:
                        away = -away
                if resting or away != last:
                    counted_slip = False
                slips, direction, last, resting, counted_rest = SLIP, away, away, False, False
            continue
        i = element
        w, s, gap, now = walls[i], walls[i, SIDE], walls[i, GAP], phase[i]
        y, inside = s * x - gap, p[START] <= t <= p[STOP]
        limit, stretch, k_u, c_u = criterion(w, pieces[i], state[i])
        outside = BEHIND if state[i, PLASTIC] > 0.0 else OFF
        then = now
        if now == OFF and code == 0:
            x, y = s * gap, 0.0
            then = BEHIND if state[i, PLASTIC] > 0.0 else ELASTIC
            state[i, AWAY] = 0.0
            if inside:
                of_walls[i, IMPACTS] += 1.0
            if math.isnan(of_walls[i, FIRST_T]):
                of_walls[i, FIRST_T], of_walls[i, FIRST_V] = t, v
        elif now == OFF:
            state[i, AWAY] = 0.0
            if inside:
                of_walls[i, RETURN] = t
        elif now == BEHIND:
            then = OFF if code == 0 else ELASTIC if code == 1 else reach(w, pieces[i], state[i], y)
        elif now == LIFTED:
            then = ELASTIC if code == 0 else outside
        elif now == ELASTIC:
            if code == 1:
                then = reach(w, pieces[i], state[i], y)
            else:
                then = LIFTED if c_u > 0.0 else outside
                if then == OFF:
                    x, y = s * gap, 0.0
        elif now == CAPPED:
            if code == 0:
                then = ELASTIC
                state[i, LARGEST] = max(state[i, LARGEST], y)
            else:
                then = RELOAD if y < state[i, LARGEST] * (1.0 - 1e-11) else follow(pieces[i], state[i], y)
        elif code == 0:  # the mass turns back
            if now == YIELD:
                state[i, PLASTIC] = settled(pieces[i], state[i], y)
                state[i, LARGEST] = max(state[i, LARGEST], y)
            else:
                state[i, PLASTIC] = y - stretch
            v, then = 0.0, ELASTIC
        elif now == RELOAD:
            then = follow(pieces[i], state[i], y)
        else:
            state[i, LARGEST] = pieces[i, int(state[i, PIECE]), UPPER]
            state[i, PIECE] += 1.0
        if then >= CAPPED and math.isnan(of_walls[i, BUCKLING]):
            of_walls[i, BUCKLING] = t
        if now >= ELASTIC and then < ELASTIC and inside:
            of_walls[i, REBOUND], of_walls[i, SEPARATION] = v, t
        if now != OFF and then == OFF:
            x = s * gap
            if inside:
                of_walls[i, EXIT] = t
                if gap <= 0.0:
                    of_walls[i, RETURN] = t
            state[i, AWAY] = 1.0 if gap > 0.0 else 0.0
        phase[i] = then
        starts = starts or (kind == RIGID and slips == HELD)
    if t < end:
        out[STATUS] = 1.0
    if out[PHASES] == 0.0:  # rests are counted between slip phases of the window
        out[STOPS] = 0.0
    out[X_END], out[V_END] = x, v
    for i in range(count):
        y = walls[i, SIDE] * x - walls[i, GAP]
        if phase[i] == YIELD:
            state[i, PLASTIC] = settled(pieces[i], state[i], y)
        elif phase[i] == RELOAD:
            state[i, PLASTIC] = y - criterion(walls[i], pieces[i], state[i])[1]
        of_walls[i, PLASTIC_END], of_walls[i, X_LARGEST] = state[i, PLASTIC], state[i, LARGEST]


@numba.njit(parallel=True)
def integrate_all(p, tones, lines, walls, pieces, out, of_walls):
    """Every oscillator of a table of them."""
    for i in numba.prange(p.shape[0]):
        integrate(p[i], tones[i], lines[i], walls[i], pieces[i], out[i], of_walls[i])


def _lines(p: Mapping[str, Any]) -> list[tuple[float, ...]]:
    """Instants from which a row's table and pulse have another line: time, force and its rate there, and a half sine (A, w, phi)."""
    height = p.get("pulse_f0", 0.0) - p.get("m", 1.0) * p.get("pulse_a0", 0.0)
    start, long = p.get("pulse_start", 0.0), p.get("pulse_duration", math.inf)
    lines: list[tuple[float, float, float, float, float]] = []  # from, until, force at `from`, rate, half sine
    shape = ("none", "rectangle", "triangle", "half-sine", "ramp")[int(p.get("pulse", 0))]
    if shape == "rectangle":
        lines.append((start, start + long, height, 0.0, 0.0))
    elif shape == "triangle":
        half = 0.5 * long
        lines += [(start, start + half, 0.0, height / half, 0.0), (start + half, start + long, height, -height / half, 0.0)]
    elif shape == "half-sine":
        lines.append((start, start + long, 0.0, 0.0, height))
    elif shape == "ramp":
        lines += [(start, start + long, 0.0, height / long, 0.0), (start + long, math.inf, height, 0.0, 0.0)]
    table = [(t, p.get("table_scale", 1.0) * f) for t, f in zip(p.get("table_time", ()), p.get("table_force", ()), strict=True) if t == t]
    if table:
        lines += [(-1.0, table[0][0], table[0][1], 0.0, 0.0), (table[-1][0], math.inf, table[-1][1], 0.0, 0.0)]
        lines += [(t0, t1, f0, (f1 - f0) / (t1 - t0), 0.0) for (t0, f0), (t1, f1) in pairwise(table) if t1 > t0]
    found = []
    for t in sorted({-1.0, *(edge for line in lines for edge in line[:2] if math.isfinite(edge))}):
        now = [line for line in lines if line[0] <= t < line[1]]
        sines = [line for line in now if line[4] != 0.0]
        w = math.pi / long
        sine = (sines[0][4], w, -w * start) if sines else (0.0, 0.0, 0.0)
        found.append((t, sum(line[2] + line[3] * (t - line[0]) for line in now), sum(line[3] for line in now), *sine))
    return found


def _pieces(p: Mapping[str, Any]) -> list[tuple[float, ...]]:
    """The envelope of a wall that buckles, of its parameters without prefix."""
    crit, post, k_n, c_n = p["f_crit"], p["f_post"], p["k_n"], p.get("c_n", 0.0)
    plateau, softening, buckled = p.get("plateau", 0.0), p.get("softening", 0.0), p.get("c_buckled", p.get("c_n", 0.0))
    u0 = crit / k_n + plateau
    u1 = u0 + softening
    found = [(0.0, u0, crit, 0.0, -crit / k_n, 1.0, c_n, 0.0)]
    if softening > 0.0:
        found.append((u0, u1, crit, (post - crit) / softening, plateau, 0.0, c_n, (buckled - c_n) / softening))
    if "post_set" not in p:
        return [*found, (u1, math.inf, post, 0.0, u1 - post / p["k_post"], 1.0, buckled, 0.0)]
    nodes = [(u1, plateau, buckled)]
    damping = p.get("post_damping", [buckled] * len(p["post_set"]))
    nodes += [(d + post / k, d, c) for d, k, c in zip(p["post_set"], p["post_stiffness"], damping, strict=True)]
    for (a, d_a, c_a), (b, d_b, c_b) in pairwise(nodes):
        found.append((a, b, post, 0.0, d_a, (d_b - d_a) / (b - a), c_a, (c_b - c_a) / (b - a)))
    return [*found, (nodes[-1][0], math.inf, post, 0.0, nodes[-1][1], 1.0, nodes[-1][2], 0.0)]


def solve(rows: Sequence[Mapping[str, Any]], nudge: float = 0.0) -> dict[str, np.ndarray]:
    """Observables of every row, by the names of the product; those of walls also as `right_...` and `left_...`.

    Args:
        rows: parameters by the names of the product (SI units). A row has the walls that its parameters name: one at the right if it has
            k_n (two of them with sides = 2), which buckles if it has f_crit; one at the left with left_k_n. With `stretch` [m] its
            penalised contact holds at first, its spring stretched by that.
        nudge: relative change of m, x0 and v0, to see how much a row's results depend on rounding.
    """
    n = len(rows)
    p, tones = np.zeros((n, 22)), np.zeros((n, 4, 3))
    lines = np.zeros((n, max(len(_lines(r)) for r in rows), 6))
    lines[:, :, 0] = math.inf
    walls, pieces = np.zeros((n, 2, 6)), np.zeros((n, 2, PIECES, 8))
    for i, r in enumerate(rows):
        mu, normal = r.get("mu", 0.0), r.get("normal_force", r.get("m", 1.0) * r.get("g", 10.0))
        mu_s, end, swing = r.get("mu_s", mu), r["end"], r.get("normal_amplitude", 0.0)
        kind = NONE if mu_s * max(normal, abs(swing)) == 0.0 else PENALISED if "k_t" in r else RIGID
        m = r.get("m", 1.0) * (1.0 + nudge)
        p[i] = (
            m, r.get("c", 0.0), r.get("k", 0.0), r.get("load", 0.0), mu_s, r.get("mu_d", mu), r.get("k_t", 0.0), r.get("c_t", 0.0),
            r.get("x0", 0.0) * (1.0 - 0.7 * nudge), r.get("v0", 0.0) * (1.0 + 0.4 * nudge), end, r.get("window_start", 0.0),
            r.get("window_end", end), kind, 0, normal, swing, r.get("normal_omega", r["omega"]), r.get("normal_phase", 0.0),
            r.get("friction_sides", 1.0), r.get("belt_speed", 0.0), r.get("stretch", math.nan),
        )  # fmt: skip
        tones[i, 0] = r.get("f0", 0.0) - r.get("m", 1.0) * r.get("a0", 0.0), r["omega"], r.get("phase", 0.0)
        for j, (a, w, phi) in enumerate(zip(r.get("tone_a0", ()), r.get("tone_omega", ()), r.get("tone_phase", ()), strict=True)):
            tones[i, j + 1] = -r.get("m", 1.0) * a, w, phi
        for j, line in enumerate(_lines(r)):
            lines[i, j] = line
        if "k_n" not in r:
            continue
        own = {name: value for name, value in r.items() if not name.startswith("left_")}
        other = {name.removeprefix("left_"): value for name, value in r.items() if name.startswith("left_")}
        found = [(1.0, own)] + ([(-1.0, other)] if other else [(-1.0, own)] if r.get("sides", 1) == 2 else [])
        p[i, WALLS] = len(found)
        for j, (side, q) in enumerate(found):
            buckles = "f_crit" in q
            included = q.get("damping_criterion", "included") == "included"
            walls[i, j] = side, q.get("gap", 0.0), q["k_n"], q.get("c_n", 0.0), buckles, included
            if buckles:
                table = _pieces(q)
                pieces[i, j, : len(table)] = table
    out, of_walls = np.zeros((n, 11)), np.zeros((n, 2, OF_WALL))
    integrate_all(p, tones, lines, walls, pieces, out, of_walls)
    return _named(p, out, of_walls)


def _named(p: np.ndarray, out: np.ndarray, of_walls: np.ndarray) -> dict[str, np.ndarray]:
    """The results of every row by name."""
    length = p[:, STOP] - p[:, START]
    right, left = of_walls[:, 0], of_walls[:, 1]
    first = np.where(np.nan_to_num(right[:, FIRST_T], nan=np.inf) <= np.nan_to_num(left[:, FIRST_T], nan=np.inf), 0, 1)
    last = {
        name: np.where(np.nan_to_num(right[:, name], nan=-1.0) >= np.nan_to_num(left[:, name], nan=-1.0), 0, 1) for name in (SEPARATION,)
    }
    rows = np.arange(len(p))
    return {
        "slip_distance": out[:, DISTANCE], "stick_fraction": out[:, STUCK] / length, "slip_phases": out[:, PHASES],
        "wear_power": out[:, ENERGY] / length,
        "friction_power": p[:, MU_D] * out[:, ENERGY] / length, "stops": out[:, STOPS], "max_slip_speed": out[:, TOP],
        "drift": out[:, DRIFT], "x_end": out[:, X_END], "v_end": out[:, V_END], "status": out[:, STATUS], "events": out[:, EVENTS],
        "impacts": right[:, IMPACTS] + left[:, IMPACTS], "contact_time": right[:, CONTACT] + left[:, CONTACT],
        "impulse": right[:, IMPULSE] + left[:, IMPULSE], "peak_force": np.maximum(right[:, PEAK], left[:, PEAK]),
        "max_compression": np.maximum(right[:, COMPRESSION], left[:, COMPRESSION]),
        "first_contact_time": of_walls[rows, first, FIRST_T], "first_contact_velocity": of_walls[rows, first, FIRST_V],
        "rebound_velocity": of_walls[rows, last[SEPARATION], REBOUND], "separation_time": of_walls[rows, last[SEPARATION], SEPARATION],
        "exit_time": np.fmax(right[:, EXIT], left[:, EXIT]), "return_time": np.fmax(right[:, RETURN], left[:, RETURN]),
        "buckling_time": np.fmin(right[:, BUCKLING], left[:, BUCKLING]), "plastic_set": right[:, PLASTIC_END] + left[:, PLASTIC_END],
        "right_buckling_time": right[:, BUCKLING], "right_plastic_set": right[:, PLASTIC_END], "right_impacts": right[:, IMPACTS],
        "right_peak_force": right[:, PEAK], "right_max_compression": right[:, COMPRESSION],
        "left_buckling_time": left[:, BUCKLING], "left_plastic_set": left[:, PLASTIC_END], "left_impacts": left[:, IMPACTS],
        "left_peak_force": left[:, PEAK], "left_max_compression": left[:, COMPRESSION],
    }  # fmt: skip
