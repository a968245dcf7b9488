"""Links beside a linear spring and damper, integrated by SciPy with none of the code under test.

m x'' + c x' + k x + S(x) + D(x') + sum of branches + elasto-plastic link = -m a0 sin(omega t) - wall
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp


def table(x: Sequence[float], y: Sequence[float], at: float) -> float:
    """A table at a number, linear between its nodes and beyond its ends."""
    n = int(np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2))
    return float(y[n] + (y[n + 1] - y[n]) / (x[n + 1] - x[n]) * (at - x[n]))


def integrate(p: Mapping[str, Any], until: float) -> dict[str, float]:
    """x [m], v [m/s], force of the links [N] and energy they dissipated [J] at a time [s], from parameters of rubbing mass or stop."""
    m, k, c, a0, omega = (p.get(name, default) for name, default in (("m", 1.0), ("k", 0.0), ("c", 0.0), ("a0", 0.0), ("omega", 1.0)))

    def spring(x: float) -> float:
        return table(p["spring_displacement"], p["spring_force"], x) if "spring_force" in p else 0.0

    def damper(v: float) -> float:
        return table(p["damper_velocity"], p["damper_force"], v) if "damper_force" in p else 0.0

    stiffness, damping = (np.asarray(p.get(f"maxwell_{name}", ())) for name in ("stiffness", "damping"))
    exponent = p.get("maxwell_exponent", 1.0)
    curve = (p.get("hardening_displacement", (0.0, 1.0)), p.get("hardening_force", (0.0, 0.0)))
    first = curve[1][1] / curve[0][1]
    yields, rests_at = 0, 0.0  # direction in which the link yields; displacement at which it has no force while it does not
    reached = max(curve[0][1], abs(p.get("x0", 0.0)))  # displacement on the curve that it has reached
    if first and reached > curve[0][1]:
        rests_at = np.sign(p["x0"]) * (reached - table(*curve, reached) / first)

    def hardening(y: np.ndarray) -> float:
        return yields * table(*curve, y[-1]) if yields else first * (y[0] - rests_at)

    def rate(t: float, y: np.ndarray) -> list[float]:
        x, v, f = y[0], y[1], y[3:-1]
        slides = np.sign(f) * (np.abs(f) / damping) ** (1.0 / exponent)
        pushed = p.get("k_n", 0.0) * max(0.0, x - p.get("gap", 0.0))
        links = spring(x) + damper(v) + f.sum() + hardening(y)
        slope = (table(*curve, y[-1] + 1e-9) - table(*curve, y[-1])) / 1e-9
        plastic = yields * v * table(*curve, y[-1]) * (1.0 - slope / first) if yields else 0.0
        return [
            v,
            -a0 * np.sin(omega * t) - (c * v + k * x + links + pushed) / m,
            damper(v) * v + f @ slides + plastic,
            *(stiffness * (v - slides)),
            yields * v,
        ]

    start = [p.get("x0", 0.0), p.get("v0", 0.0), 0.0, *(stiffness * p.get("x0", 0.0)), reached]

    def limit(side: int) -> Any:
        """The event that the link begins to yield to a side."""
        event = lambda _t, y: side * first * (y[0] - rests_at) - table(*curve, y[-1])  # noqa: E731
        event.terminal, event.direction = True, 1.0
        return event

    def turn(_t: float, y: np.ndarray) -> float:
        return yields * y[1]

    turn.terminal, turn.direction = True, -1.0  # type: ignore[attr-defined]
    t, y = 0.0, np.array(start)
    while t < until:
        events = [] if not first else [turn] if yields else [limit(1), limit(-1)]
        found = solve_ivp(rate, (t, until), y, method="DOP853", rtol=1e-11, atol=1e-13, max_step=0.01, events=events)
        t, y = found.t[-1], found.y[:, -1]
        if found.status == 1 and yields:
            rests_at, yields = y[0] - yields * table(*curve, y[-1]) / first, 0
        elif found.status == 1:
            yields = 1 if len(found.t_events[0]) else -1
    force = spring(y[0]) + damper(y[1]) + y[3:-1].sum() + hardening(y)
    ends = {"x_end": y[0], "v_end": y[1], "link_force_end": force, "link_dissipation": y[2]}
    return ends | ({"link_plastic_way": y[-1] - table(*curve, y[-1]) / first} if first else {})
