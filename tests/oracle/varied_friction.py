"""Rigid friction that varies, from event to event by scipy's DOP853: the limit that the penalised law approaches.

    m x'' + c x' + k x = -m a0 sin(omega t + phase) + load + T,   w = x' - belt
    holds: w = 0 while |friction needed| <= mu_s F_n(t);   slips: T = -mu(w) F_n(t) sign(w)
    F_n = max(0, n) or |n|, n = n0 + n1 sin(omega_n t + phase_n);   mu(w) = mu_d + (mu_s - mu_d) exp(-(|w| / v_s)^d)

Where n changes its sign integration begins anew, so that it is of full order between those instants.
"""

import math
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

DEFAULTS = {
    "m": 1.0, "k": 0.0, "c": 0.0, "mu_s": 0.1, "mu_d": 0.1, "a0": 0.0, "omega": 1.0, "phase": 0.0, "load": 0.0, "normal_force": 10.0,
    "normal_amplitude": 0.0, "normal_omega": 1.0, "normal_phase": 0.0, "friction_sides": 1.0, "stribeck_speed": math.inf,
    "stribeck_exponent": 1.0, "belt_speed": 0.0, "x0": 0.0, "v0": 0.0, "end": 12.0, "window_start": 0.0, "window_end": math.nan,
}  # fmt: skip
TOLERANCE = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-14, "max_step": 0.05}


def run(row: dict[str, Any]) -> dict[str, float]:  # noqa: C901 - one story
    """Observables of one row."""
    p = DEFAULTS | {"window_end": row.get("end", DEFAULTS["end"])} | row
    n0, n1, wn, phase = (p[name] for name in ("normal_force", "normal_amplitude", "normal_omega", "normal_phase"))
    belt, mass = p["belt_speed"], p["m"]

    def normal(t: float) -> float:
        n = n0 + n1 * math.sin(wn * t + phase)
        return abs(n) if p["friction_sides"] == 2.0 else max(0.0, n)

    def coefficient(w: float) -> float:
        if math.isinf(p["stribeck_speed"]):
            return p["mu_d"]
        return p["mu_d"] + (p["mu_s"] - p["mu_d"]) * math.exp(-((abs(w) / p["stribeck_speed"]) ** p["stribeck_exponent"]))

    def needed(t: float, x: float) -> float:
        return -mass * p["a0"] * math.sin(p["omega"] * t + p["phase"]) + p["load"] - p["k"] * x - p["c"] * belt

    def next_way(t: float, x: float, w: float) -> float:
        """Direction of slip from an instant on, 0 where it holds."""
        pull = needed(t, x)
        if abs(w) > 1e-12:
            return math.copysign(1.0, w)
        return 0.0 if abs(pull) <= p["mu_s"] * normal(t + 1e-10) else math.copysign(1.0, pull)

    stops = {p["window_start"], p["window_end"], p["end"]}
    if abs(n0) < abs(n1):
        angle = math.asin(-n0 / n1)
        turns = range(math.ceil(p["end"] * wn / 6.0) + 4)
        stops |= {(first + 2.0 * math.pi * (turn - 2) - phase) / wn for turn in turns for first in (angle, math.pi - angle)}
    t, x, v = 0.0, p["x0"], p["v0"]
    way = next_way(t, x, v - belt)
    found = dict.fromkeys(("wear_energy", "friction_energy", "slip_distance", "stuck"), 0.0)
    for stop in sorted(stop for stop in stops if 0.0 < stop <= p["end"]):
        inside = p["window_start"] <= t and stop <= p["window_end"]
        while t < stop:
            t0 = t
            if way == 0.0:
                t, x, held = _hold(t, stop, x, belt, lambda t, x: p["mu_s"] * normal(t) - abs(needed(t, x)))
                found["stuck"] += inside * (t - t0)
                way = 0.0 if held else math.copysign(1.0, needed(t, x))
                continue

            def rates(t: float, y: np.ndarray, way: float = way) -> list[float]:
                w, n = y[1] - belt, normal(t)
                rub = coefficient(w) * n
                force = needed(t, y[0]) - p["c"] * w - rub * way
                return [y[1], force / mass, n * abs(w), rub * abs(w), abs(w) if n > 0.0 else 0.0]

            def reversal(_t: float, y: np.ndarray, way: float = way) -> float:
                return way * (y[1] - belt)

            reversal.terminal, reversal.direction = True, -1.0  # type: ignore[attr-defined]
            path = solve_ivp(rates, (t, stop), [x, v, 0.0, 0.0, 0.0], events=reversal, **TOLERANCE)
            t, (x, v, *sums) = path.t[-1], path.y[:, -1]
            for name, value in zip(("wear_energy", "friction_energy", "slip_distance"), sums, strict=True):
                found[name] += inside * value
            if path.t_events[0].size:
                v = belt
                way = next_way(t, x, 0.0)
        if way == 0.0:
            v, way = belt, next_way(t, x, 0.0)
    length = p["window_end"] - p["window_start"]
    found |= {"x_end": x, "v_end": v, "stick_fraction": found.pop("stuck") / length}
    return found | {"wear_power": found["wear_energy"] / length, "friction_power": found.pop("friction_energy") / length}


def _hold(t: float, stop: float, x: float, belt: float, margin: Any) -> tuple[float, float, bool]:
    """Where a hold ends, that begins at t and x: then, its place, and whether it lasts until `stop`."""
    times = np.linspace(t, stop, max(3, int(2e3 * (stop - t)) + 3))
    values = np.array([margin(each, x + belt * (each - t)) for each in times])
    over = np.flatnonzero(values[1:] < 0.0)
    if not over.size:
        return stop, x + belt * (stop - t), True
    low, high = times[over[0]], times[over[0] + 1]
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if margin(middle, x + belt * (middle - t)) >= 0.0 else (low, middle)
    return high, x + belt * (high - t), False
