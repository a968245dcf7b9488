"""LuGre and Dahl friction integrated by SciPy, with none of the code under test.

m x'' + c x' + k x = -m a0 sin(omega t + phase) + load + F_t
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.integrate import solve_ivp


def integrate(p: Mapping[str, float], until: float, rtol: float = 1e-12) -> dict[str, float]:
    """The motion at a time [s], and integrals from 0 to it, from the names of parameters of the rubbing mass.

    Returns:
        x [m], v [m/s], slip [m] (integral of |w - dz/dt|), dissipated [J].
    """
    m, k, c = (p.get(name, default) for name, default in (("m", 1.0), ("k", 0.0), ("c", 0.0)))
    limit, static = p["mu_d"] * p["normal_force"], p["mu_s"] * p["normal_force"]
    belt, a0, omega, phase, load = (p.get(name, 0.0) for name in ("belt_speed", "a0", "omega", "phase", "load"))
    lugre = "bristle_stiffness" in p
    stiffness = p["bristle_stiffness"] if lugre else p["dahl_stiffness"]
    damping, viscous = p.get("bristle_damping", 0.0), p.get("viscous_friction", 0.0)

    def bends(f: float, w: float) -> float:
        if lugre:
            g = limit
            if "stribeck_speed" in p:
                g += (static - limit) * np.exp(-((abs(w) / p["stribeck_speed"]) ** p.get("stribeck_exponent", 1.0)))
            return w - abs(w) * f / g
        left = 1.0 - f * np.sign(w) / limit
        return w * np.sign(left) * abs(left) ** p.get("dahl_exponent", 1.0)

    def rate(t: float, y: np.ndarray) -> list[float]:
        x, v, f = y[:3]
        w = v - belt
        rises = bends(f, w)
        friction = -(f + damping * rises + viscous * w)
        force = -m * a0 * np.sin(omega * t + phase) + load + friction - k * x - c * v
        return [v, force / m, stiffness * rises, abs(w - rises), f * (w - rises) + damping * rises * w + viscous * w * w]

    turns = lambda t, y: y[1] - belt  # noqa: E731
    turns.terminal = True  # type: ignore[attr-defined]
    t, y = 0.0, np.array([p.get("x0", 0.0), p.get("v0", 0.0), 0.0, 0.0, 0.0])
    while t < until:  # from one change of the sign of w to the next, between which everything is smooth
        scale = np.array([1e-14, 1e-14, 1e-12, 1e-14, 1e-14])
        found = solve_ivp(rate, (t, until), y, method="DOP853", rtol=rtol, atol=scale, events=turns, max_step=0.01)
        y, before = found.y[:, -1], t
        t = found.t[-1]
        if found.status == 1 and t - before < 1e-9:  # past the event itself
            short = solve_ivp(rate, (t, min(until, t + 1e-7)), y, method="DOP853", rtol=rtol, atol=scale)
            t, y = short.t[-1], short.y[:, -1]
    return {"x": y[0], "v": y[1], "slip": y[3], "dissipated": y[4]}
