"""Reference time integration of one oscillator with penalised Coulomb friction, a stop or a wall that buckles, or both.

    m x'' + c x' + k x = (f0 - m a0) sin(omega t + phase) + load + T - F

The normal force may vary in time, the coefficient of friction fall with the slip speed, the support move.

Plain Python floats, one oscillator, no vectorisation: written to be read and to be compared with.
The functions below `run` use only what a scalar compiler (numba.njit, function by function) accepts.
"""

import math
from typing import NamedTuple


class Case(NamedTuple):
    """Everything a run needs; `run` fills it from a dictionary."""

    m: float = 1.0
    c: float = 0.0
    k: float = 0.0
    a0: float = 0.0
    f0: float = 0.0
    omega: float = 0.0
    phase: float = 0.0
    load: float = 0.0
    normal: float = 0.0  # F_n, or the mean of one that varies
    normal_amplitude: float = 0.0
    normal_omega: float = 1.0
    normal_phase: float = 0.0
    friction_sides: int = 1  # 1: F_n = max(0, n); 2: |n|
    stribeck_speed: float = 0.0  # 0: none
    stribeck_exponent: float = 1.0
    belt_speed: float = 0.0
    mu_s: float = 0.0
    mu_d: float = 0.0
    k_t: float = 0.0
    c_t: float = 0.0
    sides: int = 0  # 0: nothing to hit, 1: at x = gap, 2: at x = -gap too
    gap: float = 0.0
    k_n: float = 0.0
    c_n: float = 0.0
    buckles: bool = False
    included: bool = True  # damping in the criterion
    f_crit: float = 0.0
    f_post: float = 0.0
    k_post: float = 0.0
    plateau: float = 0.0
    softening: float = 0.0
    c_buckled: float = 0.0
    nodes: tuple = ((0.0, 0.0, 0.0, 0.0),)  # total compression, plastic set, stiffness, damping; the first is the end of the softening
    x0: float = 0.0
    v0: float = 0.0
    end: float = 1.0
    window_start: float = 0.0
    window_end: float = 1.0
    step: float = 1e-4
    largest_step: float = 1e-4
    smallest_step: float = 1e-10
    tolerance: float = 1e-7
    retries: int = 16


class Memory(NamedTuple):
    """State of the contacts after their last committed evaluation."""

    slip: bool
    force: float  # T0
    stretch: float  # x - anchor
    velocity: float
    compression: float  # largest so far
    plastic_set: float
    push: float  # F, as a push whatever the side
    reached: bool  # F has reached the criterion
    time: float  # of the evaluation
    lost: bool  # off the support


class Tally(NamedTuple):
    """What the accepted states of a run say of the shocks."""

    impacts: int  # states beyond the gap after one that is not, the first state included
    peak_force: float
    buckling_time: float  # time of the first state after which the criterion is reached


class Outcome(NamedTuple):
    """State at the end of a run and the totals of its accepted steps."""

    x: float
    v: float
    slip_distance: float
    accepted: int
    rejected: int
    failed: bool
    tally: Tally
    memory: Memory
    wear: float  # integral of F_n |v - belt| over slip
    friction: float  # integral of mu F_n |v - belt|


SLOWEST_SLIP = 1e-6  # m/s, below this a slip is put to the stick trial

# Bogacki-Shampine 3(2): nodes, stages (the last row is the third-order solution), error weights.
RK32_NODES = (0.0, 1 / 2, 3 / 4, 1.0)
RK32_STAGES = (
    (0.0, 0.0, 0.0, 0.0),
    (1 / 2, 0.0, 0.0, 0.0),
    (0.0, 3 / 4, 0.0, 0.0),
    (2 / 9, 1 / 3, 4 / 9, 0.0),
)
RK32_ERROR = (-5 / 72, 1 / 12, 1 / 9, -1 / 8)

# Dormand-Prince 5(4), in the same order.
RK54_NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
RK54_STAGES = (
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0, 0.0),
    (44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0, 0.0),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0, 0.0),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0, 0.0),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
)
RK54_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def run(scheme: str, parameters: dict) -> dict:
    """Integrate one case with one of the six schemes.

    `parameters` holds fields of `Case`; instead of some of them it may hold `mu` (both coefficients),
    `g` (normal = m g) and `window` (a pair). Without `c_t` the stuck mass is damped critically.
    The window defaults to the whole run and `largest_step` to `step`. With `k_n` there is a stop (`sides` 1 unless given), with
    `f_crit` a wall that buckles, whose table is given as `post_set`, `post_stiffness` and `post_damping`, and `damping_criterion`.
    """
    values = dict(parameters)
    wall(values)
    mu = values.pop("mu", 0.0)
    values.setdefault("mu_s", mu)
    values.setdefault("mu_d", mu)
    g = values.pop("g", 0.0)
    values.setdefault("normal", values.get("m", 1.0) * g)
    window = values.pop("window", (0.0, values.get("end", 1.0)))
    values.setdefault("window_start", window[0])
    values.setdefault("window_end", window[1])
    values.setdefault("largest_step", values.get("step", 1e-4))
    if values.get("c_t") is None:
        m, c, k, k_t = (values.get(n, Case._field_defaults[n]) for n in ("m", "c", "k", "k_t"))
        values["c_t"] = max(0.0, 2.0 * math.sqrt(m * (k + k_t)) - c)
    exact = ("buckles", "included", "nodes")
    case = Case(**{n: v if n in exact else int(v) if n in ("retries", "sides", "friction_sides") else float(v) for n, v in values.items()})
    if scheme == "euler":
        outcome = euler(case)
    elif scheme == "devogelaere":
        outcome = devogelaere(case)
    elif scheme == "adapt1":
        outcome = adapt(case, False)
    elif scheme == "adapt2":
        outcome = adapt(case, True)
    elif scheme == "rk32":
        outcome = runge_kutta(case, RK32_NODES, RK32_STAGES, RK32_ERROR, 0.25)
    elif scheme == "rk54":
        outcome = runge_kutta(case, RK54_NODES, RK54_STAGES, RK54_ERROR, 1.0 / 6.0)
    else:
        raise ValueError(f"unknown scheme {scheme!r}")
    length = case.window_end - case.window_start
    return {
        "x_end": outcome.x,
        "v_end": outcome.v,
        "slip_distance": outcome.slip_distance,
        "wear_power": outcome.wear / length,
        "friction_power": outcome.friction / length,
        "accepted_steps": outcome.accepted,
        "rejected_steps": outcome.rejected,
        "failed": outcome.failed,
        "impacts": outcome.tally.impacts,
        "peak_force": outcome.tally.peak_force,
        "buckling_time": outcome.tally.buckling_time,
        "plastic_set": outcome.memory.plastic_set,
        "max_compression": outcome.memory.compression,
    }


def wall(values: dict) -> None:
    """Turn the parameters of a stop or a wall into fields of `Case`."""
    if values.get("k_n") is None:
        return
    if values.get("sides") is None:
        values["sides"] = 1
    values["sides"] = int(values["sides"])
    tables = [values.pop(n, None) or () for n in ("post_set", "post_stiffness", "post_damping")]
    values["included"] = (values.pop("damping_criterion", None) or "included") == "included"
    for name in ("f_crit", "f_post", "k_post", "c_buckled", "plateau", "softening", "c_n", "gap"):
        if values.get(name) is None:
            values.pop(name, None)
    if "f_crit" not in values:
        return
    values["buckles"] = True
    values.setdefault("c_buckled", values.get("c_n", 0.0))
    plateau, buckled, post = values.get("plateau", 0.0), values["c_buckled"], values["f_post"]
    end = values["f_crit"] / values["k_n"] + plateau + values.get("softening", 0.0)
    nodes = [(end, plateau, post / (end - plateau), buckled)]
    for j in range(len(tables[0])):
        damping = tables[2][j] if tables[2] else buckled
        nodes.append((tables[0][j] + post / tables[1][j], tables[0][j], tables[1][j], damping))
    values["nodes"] = tuple(nodes)


def sign(value: float) -> float:
    """-1, 0 or 1."""
    if value > 0.0:
        return 1.0
    if value < 0.0:
        return -1.0
    return 0.0


def normal_force(case: Case, t: float) -> float:
    """What presses the mass at a time, before a surface is asked."""
    return case.normal + case.normal_amplitude * math.sin(case.normal_omega * t + case.normal_phase)


def contact_force(case: Case, t: float) -> float:
    """F_n at a time."""
    n = normal_force(case, t)
    return abs(n) if case.friction_sides == 2 else max(0.0, n)


def coefficient(case: Case, w: float) -> float:
    """Coefficient of friction at a slip velocity."""
    if case.stribeck_speed == 0.0:
        return case.mu_d
    return case.mu_d + (case.mu_s - case.mu_d) * math.exp(-((abs(w) / case.stribeck_speed) ** case.stribeck_exponent))


def friction(case: Case, memory: Memory, move: float, speed: float, t: float) -> tuple[float, Memory]:
    """Friction force at a velocity and time after a displacement `move` since `memory`, and the memory to commit."""
    rest = (memory.compression, memory.plastic_set, memory.push, memory.reached, t)
    v, move = speed - case.belt_speed, move - case.belt_speed * (t - memory.time)
    normal = contact_force(case, t)
    if case.mu_s * (case.normal + abs(case.normal_amplitude)) == 0.0:
        return 0.0, Memory(False, 0.0, 0.0, v, *rest, False)
    if normal <= 0.0:
        return 0.0, Memory(False, 0.0, 0.0, v, *rest, True)
    size = coefficient(case, v) * normal
    sliding = -size * sign(v)
    if memory.slip and v * memory.velocity > 0.0 and abs(v) > SLOWEST_SLIP:
        return sliding, Memory(True, sliding, 0.0, v, *rest, False)
    stretch = memory.stretch + move
    trial = memory.force - case.k_t * stretch - case.c_t * v
    if abs(trial) <= case.mu_s * normal:
        return trial, Memory(False, memory.force, stretch, v, *rest, False)
    if case.normal_amplitude != 0.0 and not memory.slip and not memory.lost:
        sliding = size * sign(trial)  # a hold that a falling normal force ends
    # the velocity to keep is one of the direction of slip
    return sliding, Memory(True, sliding, 0.0, -sign(sliding) * max(abs(v), 1e-300) if sliding != 0.0 else v, *rest, False)


def envelope(case: Case, largest: float) -> tuple[float, float, float]:
    """Critical force, unloading stiffness and damping at the largest compression."""
    begin = case.f_crit / case.k_n + case.plateau
    end = case.nodes[0][0]
    if largest <= begin:
        return case.f_crit, case.k_n, case.c_n
    if largest <= end:
        part = (largest - begin) / case.softening
        force = case.f_crit + part * (case.f_post - case.f_crit)
        return force, force / (largest - case.plateau), case.c_n + part * (case.c_buckled - case.c_n)
    last = case.nodes[len(case.nodes) - 1]
    if len(case.nodes) == 1:
        return case.f_post, case.k_post, case.c_buckled
    if largest > last[0]:
        return case.f_post, last[2], last[3]
    j = 1
    while largest > case.nodes[j][0]:
        j += 1
    left, right = case.nodes[j - 1], case.nodes[j]
    part = (largest - left[0]) / (right[0] - left[0])
    plastic = left[1] + part * (right[1] - left[1])
    return case.f_post, case.f_post / (largest - plastic), left[3] + part * (right[3] - left[3])


def shock(case: Case, memory: Memory, x: float, v: float) -> tuple[float, Memory]:
    """Force of the stop or the wall on the mass, and the memory to commit."""
    side = -1.0 if case.sides == 2 and (x < 0.0 or (x == 0.0 and v < 0.0)) else 1.0
    y, speed = side * x - case.gap, side * v
    compression, plastic, push, reached = memory.compression, memory.plastic_set, 0.0, memory.reached
    if case.sides > 0 and y >= 0.0:
        compression = max(compression, y)
        if case.buckles:
            critical, stiffness, damping = envelope(case, compression)
            push = stiffness * (y - plastic)
            if case.included:
                push += damping * speed
            if push >= critical:
                push, plastic, reached = critical, max(0.0, y - critical / stiffness), True
            if not case.included:
                push += damping * speed
            push = max(push, 0.0) if y >= plastic else 0.0
        else:
            push = max(0.0, case.k_n * y + case.c_n * speed)
    return -side * push, memory._replace(compression=compression, plastic_set=plastic, push=push, reached=reached)


def acceleration(case: Case, memory: Memory, x: float, move: float, v: float, v_damper: float, t: float) -> tuple[float, Memory]:
    """Acceleration at (x, t): v is the velocity the contact sees, v_damper the one that c sees."""
    tangential, memory = friction(case, memory, move, v, t)
    normal, memory = shock(case, memory, x, v)
    drive = (case.f0 - case.m * case.a0) * math.sin(case.omega * t + case.phase)
    total = drive + case.load - case.k * x - case.c * v_damper + tangential + normal
    return total / case.m, memory


def unloaded(case: Case) -> Memory:
    """Contacts at the start: friction slips where the mass moves on its support; nothing has loaded the walls or a spring at rest."""
    w, normal = case.v0 - case.belt_speed, contact_force(case, 0.0)
    slips = w != 0.0 and normal > 0.0
    force = -coefficient(case, w) * normal * sign(w) if slips else 0.0
    return Memory(slips, force, 0.0, w, 0.0, 0.0, 0.0, False, 0.0, normal <= 0.0)


def count(case: Case, tally: Tally, before: float, x: float, t: float, memory: Memory) -> Tally:
    """Add the accepted state x at t, which follows the state `before`."""
    reach = case.gap if case.sides > 0 else math.inf
    inside = x > reach or (case.sides == 2 and x < -reach)
    was = before > reach or (case.sides == 2 and before < -reach)
    crossed = case.sides == 2 and x * before < 0.0
    impacts = tally.impacts + (1 if inside and (crossed or not was) else 0)
    first = t if memory.reached and math.isnan(tally.buckling_time) else tally.buckling_time
    return Tally(impacts, max(tally.peak_force, memory.push), first)


def first_count(case: Case, memory: Memory) -> Tally:
    """The tally of the first state."""
    return count(case, Tally(0, 0.0, math.nan), case.gap, case.x0, 0.0, memory)


def slip_in_step(case: Case, memory_new: Memory, move: float, start: float, stop: float) -> float:
    """Slip distance in one accepted step: that against the support if the contact slips at its end.

    Where contact is lost or made in it, what touches in its middle decides.
    """
    slips = memory_new.slip
    if case.normal_amplitude != 0.0:
        slips = (slips or memory_new.lost) and contact_force(case, 0.5 * (start + stop)) > 0.0
    return abs(move - case.belt_speed * (stop - start)) if slips else 0.0


def bisected(case: Case, memory: Memory, path: tuple, since: float, limit: bool) -> float:
    """The fraction of a step from `since` on at which |T| reaches mu_s F_n (`limit`), or else the velocity 0, along a cubic `path`.

    `path`: its start and end in time, displacement and velocities against the support. `since` itself if that is so from there on.
    """
    low, high = since, 1.0
    for _ in range(60):
        u = 0.5 * (low + high)
        if passed(case, memory, path, since, u, limit):
            high = u
        else:
            low = u
    return high if not passed(case, memory, path, since, since + 1e-9 * (1.0 - since), limit) else since


def passed(case: Case, memory: Memory, path: tuple, since: float, u: float, limit: bool) -> bool:
    """Whether that is past at the fraction u."""
    start, stop = path[0], path[1]
    w = velocity_along(path, u)
    if not limit:
        return w * path[3] <= 0.0
    trial = memory.force - case.k_t * (memory.stretch + way_along(path, u) - way_along(path, since)) - case.c_t * w
    return abs(trial) > case.mu_s * contact_force(case, start + u * (stop - start))


def way_along(path: tuple, u: float) -> float:
    """Displacement against the support at a fraction of a step, by the cubic through its ends."""
    start, stop, move, v0, v1 = path
    h = stop - start
    return u * u * (3.0 - 2.0 * u) * move + u * (1.0 - u) ** 2 * h * v0 - u * u * (1.0 - u) * h * v1


def velocity_along(path: tuple, u: float) -> float:
    """Velocity against the support along that cubic."""
    start, stop, move, v0, v1 = path
    return 6.0 * u * (1.0 - u) * move / (stop - start) + (1.0 - u) * (1.0 - 3.0 * u) * v0 - u * (2.0 - 3.0 * u) * v1


def slipping_parts(
    case: Case, memory: Memory, memory_new: Memory, move: float, v0: float, v1: float, start: float, stop: float
) -> list[tuple[float, float]]:
    """The fractions of a step between which it slips: a slip ends where its velocity is 0, and begins where the force reaches the limit."""
    if memory_new.lost or memory.lost:
        return [(0.0, 1.0)] if memory_new.lost or memory_new.slip else []
    w0, w1 = v0 - case.belt_speed, v1 - case.belt_speed
    path = (start, stop, move - case.belt_speed * (stop - start), w0, w1)
    slipped = memory.slip and w0 * memory.velocity > 0.0 and abs(w0) > SLOWEST_SLIP
    if slipped and memory_new.slip and memory.velocity * memory_new.velocity > 0.0:
        return [(0.0, 1.0)]
    ends = bisected(case, memory, path, 0.0, False) if slipped and w0 * w1 < 0.0 else 1.0 if slipped else 0.0
    parts = [(0.0, ends)] if slipped else []
    return [*parts, (bisected(case, memory, path, ends, True), 1.0)] if memory_new.slip else parts


def slip_along(case: Case, memory: Memory, memory_new: Memory, move: float, v0: float, v1: float, start: float, stop: float) -> float:
    """Slip distance in the parts of a step that slip."""
    if memory_new.lost or memory.lost:
        return slip_in_step(case, memory_new, move, start, stop)
    path = (start, stop, move - case.belt_speed * (stop - start), v0 - case.belt_speed, v1 - case.belt_speed)
    parts = slipping_parts(case, memory, memory_new, move, v0, v1, start, stop)
    return sum(abs(way_along(path, end) - way_along(path, begin)) for begin, end in parts)


# Gauss-Legendre, five points on [0, 1]
GAUSS = (
    (0.04691007703066802, 0.11846344252809454),
    (0.23076534494715845, 0.23931433524968324),
    (0.5, 0.28444444444444444),
    (0.7692346550528415, 0.23931433524968324),
    (0.9530899229693319, 0.11846344252809454),
)


def works_in_step(
    case: Case, memory_new: Memory, move: float, v0: float, v1: float, start: float, stop: float, part: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Wear and friction work in a part of one accepted step, all of it if it slips at its end, within the window, along the cubic."""
    if part is None and not (memory_new.slip or memory_new.lost):
        return 0.0, 0.0
    h = stop - start
    first, last = (0.0, 1.0) if part is None else part
    begin, end = max(start + first * h, case.window_start), min(start + last * h, case.window_end)
    wear, work = 0.0, 0.0
    if end <= begin:
        return 0.0, 0.0
    for place, weight in GAUSS:
        t = begin + place * (end - begin)
        u = (t - start) / h
        w = 6.0 * u * (1.0 - u) * move / h + (1.0 - u) * (1.0 - 3.0 * u) * v0 - u * (2.0 - 3.0 * u) * v1 - case.belt_speed
        wear += weight * (end - begin) * contact_force(case, t) * w
        work += weight * (end - begin) * coefficient(case, w) * contact_force(case, t) * w
    return abs(wear), abs(work)


def overlap(case: Case, start: float, stop: float) -> float:
    """Part of the step [start, stop] that lies in the window."""
    common = min(stop, case.window_end) - max(start, case.window_start)
    return max(0.0, common / (stop - start))


def fixed_steps(case: Case) -> int:
    """Number of equal steps in a run; a remainder that is only rounding does not make one more."""
    return max(1, math.ceil(case.end / case.step * (1.0 - 1e-12)))


def euler(case: Case) -> Outcome:
    """Symplectic Euler: velocity first, then displacement with the new velocity."""
    steps = fixed_steps(case)
    h = case.end / steps
    x, v, distance, wear, work = case.x0, case.v0, 0.0, 0.0, 0.0
    a, memory = acceleration(case, unloaded(case), x, 0.0, v, v, 0.0)
    tally = first_count(case, memory)
    for n in range(steps):
        t, t_new = case.end * n / steps, case.end * (n + 1) / steps
        v_new = v + h * a
        x_new = x + h * v_new
        a, memory_new = acceleration(case, memory, x_new, h * v_new, v_new, v_new, t_new)
        distance += slip_in_step(case, memory_new, h * v_new, t, t_new) * overlap(case, t, t_new)
        rubbed = works_in_step(case, memory_new, h * v_new, v, v_new, t, t_new)
        wear, work = wear + rubbed[0], work + rubbed[1]
        tally = count(case, tally, x, x_new, t_new, memory_new)
        x, v, memory = x_new, v_new, memory_new
    return Outcome(x, v, distance, steps, 0, False, tally, memory, wear, work)


def devogelaere(case: Case) -> Outcome:
    """De Vogelaere's scheme; `force` is everything but the viscous damping, over m. The contact remembers the half step too."""
    steps = fixed_steps(case)
    h = case.end / steps
    C = case.c / case.m
    x, v, distance, wear, work = case.x0, case.v0, 0.0, 0.0, 0.0
    first = unloaded(case)
    force, memory = acceleration(case, first, x, 0.0, v, 0.0, 0.0)
    tally = first_count(case, memory)
    back = -h / 2 * v + h * h / 8 * (force - C * v)
    force_half, _ = acceleration(case, first, x + back, back, -2 * back / h, 0.0, -h / 2)
    v_half = ((4 + h * C) * v - h * (force + force_half)) / (4 - h * C)
    for n in range(steps):
        t = case.end * n / steps
        move = h / 2 * v + h * h / 24 * (4 * force - force_half - C * (4 * v - v_half))
        force_half, memory = acceleration(case, memory, x + move, move, 2 * move / h, 0.0, t + h / 2)
        v_half = 4 * (v + h / 4 * (force + force_half - C * v)) / (4 + h * C)
        step = h * v + h * h / 6 * (force + 2 * force_half - C * (v + 2 * v_half))
        t_new = case.end * (n + 1) / steps
        force_new, memory_new = acceleration(case, memory, x + step, step - move, 2 * (step - move) / h, 0.0, t_new)
        v_new = 6 * (v + h / 6 * (force_new + 4 * force_half + force - C * (4 * v_half + v))) / (6 + h * C)
        distance += slip_in_step(case, memory_new, step, t, t_new) * overlap(case, t, t_new)
        rubbed = works_in_step(case, memory_new, step, v, v_new, t, t_new)
        wear, work = wear + rubbed[0], work + rubbed[1]
        tally = count(case, tally, x, x + step, t_new, memory_new)
        x, v, force, memory = x + step, v_new, force_new, memory_new
    return Outcome(x, v, distance, steps, 0, False, tally, memory, wear, work)


def next_stop(case: Case, t: float) -> float:
    """The next time that a variable step has to hit."""
    stop = case.end
    if t < case.window_start < stop:
        stop = case.window_start
    if t < case.window_end < stop:
        stop = case.window_end
    if case.normal_amplitude != 0.0 and abs(case.normal) < abs(case.normal_amplitude):
        angle = math.asin(-case.normal / case.normal_amplitude)
        for first in (angle, math.pi - angle):  # contact is lost or made
            turns = math.ceil((case.normal_omega * t + case.normal_phase + 1e-9 - first) / (2.0 * math.pi))
            stop = min(stop, (first + 2.0 * math.pi * turns - case.normal_phase) / case.normal_omega)
    return stop


def in_window(case: Case, start: float, stop: float) -> bool:
    """Whether a step that crosses no end of the window lies in it."""
    return start >= case.window_start and stop <= case.window_end


def adapt_error(da: float, dx: float, h: float, v: float) -> float:
    """50 h times the apparent frequency of a step."""
    scale = max(h * abs(v) / 100, abs(dx))
    if da == 0.0:
        return 0.0
    if scale == 0.0:
        return math.inf
    return 50 * h * math.sqrt(abs(da) / scale) / (2 * math.pi)


def adapt(case: Case, staggered: bool) -> Outcome:
    """adapt2 (staggered velocities) or adapt1 (symplectic Euler), with the control of the apparent frequency."""
    h = min(case.step, case.largest_step)
    t, x, v, speed, h_prev, distance = 0.0, case.x0, case.v0, case.v0, 0.0, 0.0
    wear, work = 0.0, 0.0
    counter, accepted, rejected = 1, 0, 0
    a, memory = acceleration(case, unloaded(case), x, 0.0, v, v, 0.0)
    tally = first_count(case, memory)
    while t < case.end:
        stop = next_stop(case, t)
        for attempt in range(case.retries + 1):
            hit = stop - t <= h * (1 + 1e-6)
            tried = stop - t if hit else h
            t_new = stop if hit else t + h
            speed_new = speed + ((h_prev + tried) / 2 * a if staggered else tried * a)
            v_new = speed_new + tried / 2 * a if staggered else speed_new
            move = tried * speed_new
            a_new, memory_new = acceleration(case, memory, x + move, move, v_new, v_new, t_new)
            error = adapt_error(a_new - a, move - case.belt_speed * tried, tried, speed_new - case.belt_speed)
            if error < 1.0 or attempt == case.retries:
                break
            rejected += 1
            h = 0.75 * tried
            if h < case.smallest_step:
                return Outcome(x, v, distance, accepted, rejected, True, tally, memory, wear, work)
        if in_window(case, t, t_new):
            distance += slip_in_step(case, memory_new, move, t, t_new)
            rubbed = works_in_step(case, memory_new, move, v, v_new, t, t_new)
            wear, work = wear + rubbed[0], work + rubbed[1]
        tally = count(case, tally, x, x + move, t_new, memory_new)
        t, x, v, speed, h_prev, a, memory = t_new, x + move, v_new, speed_new, tried, a_new, memory_new
        accepted += 1
        if counter > 4 and error < 0.75:
            h = min(1.1 * h, case.largest_step)
            counter = 1
        else:
            counter += 1
    return Outcome(x, v, distance, accepted, rejected, False, tally, memory, wear, work)


def ratio(error: float, scale: float) -> float:
    """error / scale, with 0/0 = 0."""
    if error == 0.0:
        return 0.0
    if scale == 0.0:
        return math.inf
    return error / scale


def runge_kutta(case: Case, nodes: tuple, stages: tuple, weights: tuple, exponent: float) -> Outcome:
    """An embedded pair whose last stage is the new state.

    The error is relative to the largest |x| and |v| so far, not below A h^2 and A h with A the largest acceleration of
    the drive and h the first step. Without this floor rk32 never leaves a rest under a drive that starts from zero:
    displacement and error are then both proportional to h^3.
    """
    h = min(case.step, case.largest_step)
    t, x, v, distance, accepted, rejected = 0.0, case.x0, case.v0, 0.0, 0, 0
    wear, work = 0.0, 0.0
    a, memory = acceleration(case, unloaded(case), x, 0.0, v, v, 0.0)
    memory_new = memory
    tally = first_count(case, memory)
    drive = (abs(case.f0 - case.m * case.a0) + abs(case.load)) / case.m
    x_largest = max(abs(x), drive * h**2)
    v_largest = max(abs(v), drive * h)
    last = len(nodes) - 1
    speeds = [v] * len(nodes)
    accelerations = [a] * len(nodes)
    while t < case.end:
        stop = next_stop(case, t)
        hit = stop - t <= h * (1 + 1e-6)
        tried = stop - t if hit else h
        t_new = stop if hit else t + h
        move, v_stage = 0.0, v
        speeds[0], accelerations[0] = v, a
        for i in range(1, last + 1):
            move, change = 0.0, 0.0
            for j in range(i):
                move += stages[i][j] * speeds[j]
                change += stages[i][j] * accelerations[j]
            move *= tried
            v_stage = v + tried * change
            t_stage = t_new if i == last else t + nodes[i] * tried
            a_stage, memory_new = acceleration(case, memory, x + move, move, v_stage, v_stage, t_stage)
            speeds[i], accelerations[i] = v_stage, a_stage
        error_x, error_v = 0.0, 0.0
        for i in range(last + 1):
            error_x += weights[i] * speeds[i]
            error_v += weights[i] * accelerations[i]
        x_scale, v_scale = max(x_largest, abs(x + move)), max(v_largest, abs(v_stage))
        error = max(ratio(tried * abs(error_x), x_scale), ratio(tried * abs(error_v), v_scale)) / case.tolerance
        factor = 5.0 if error == 0.0 else min(5.0, max(0.2, 0.9 * error ** (-exponent)))
        if error > 1.0:
            rejected += 1
            h = min(tried * factor, case.largest_step)
            if h < case.smallest_step:
                return Outcome(x, v, distance, accepted, rejected, True, tally, memory, wear, work)
            continue
        if in_window(case, t, t_new):
            distance += slip_along(case, memory, memory_new, move, v, v_stage, t, t_new)
            for part in slipping_parts(case, memory, memory_new, move, v, v_stage, t, t_new):
                rubbed = works_in_step(case, memory_new, move, v, v_stage, t, t_new, part)
                wear, work = wear + rubbed[0], work + rubbed[1]
        tally = count(case, tally, x, x + move, t_new, memory_new)
        shortened = tried < h
        t, x, v, a, memory = t_new, x + move, v_stage, accelerations[last], memory_new
        x_largest, v_largest = x_scale, v_scale
        accepted += 1
        h = min(max(tried * factor, h) if shortened else tried * factor, case.largest_step)
    return Outcome(x, v, distance, accepted, rejected, False, tally, memory, wear, work)
