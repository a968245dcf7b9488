"""Links beside a linear spring and damper, integrated by SciPy with none of the code under test.

m x'' + c x' + k x + S(x) + D(x') + sum of branches = -m a0 sin(omega t) - wall
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

    def rate(t: float, y: np.ndarray) -> list[float]:
        x, v, f = y[0], y[1], y[3:]
        slides = np.sign(f) * (np.abs(f) / damping) ** (1.0 / exponent)
        pushed = p.get("k_n", 0.0) * max(0.0, x - p.get("gap", 0.0))
        links = spring(x) + damper(v) + f.sum()
        return [v, -a0 * np.sin(omega * t) - (c * v + k * x + links + pushed) / m, damper(v) * v + f @ slides, *(stiffness * (v - slides))]

    start = [p.get("x0", 0.0), p.get("v0", 0.0), 0.0, *(stiffness * p.get("x0", 0.0))]
    found = solve_ivp(rate, (0.0, until), start, method="DOP853", rtol=1e-11, atol=1e-13, max_step=0.01)
    x, v, dissipated = found.y[:3, -1]
    return {"x_end": x, "v_end": v, "link_force_end": spring(x) + damper(v) + found.y[3:, -1].sum(), "link_dissipation": dissipated}
