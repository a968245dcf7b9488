"""Comparison of the high-precision reference with a general-purpose integrator.

Every stretch of slip is integrated by DOP853 with its event location, every stretch of
sticking is scanned for the release: nothing is shared with the reference but the law.
Run as ``python -m tests.oracle.solve_ivp_check`` from the top folder.
"""

import json
from collections.abc import Callable, Mapping
from math import pi, sin, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from .rigid_friction import run

DATA = Path(__file__).resolve().parent.parent / "data"
COMPARED = ("slip_distance", "stick_fraction", "drift", "x_end", "v_end")
Array = NDArray[np.float64]


def _release(excess: Callable[[float], float], t: float, end: float, h: float) -> float:
    """First time after ``t`` at which the force needed exceeds the hold, or ``end``."""
    while t < end:
        if excess(t + h) > 0:
            return min(end, float(brentq(excess, t, t + h, xtol=1e-15)))
        t += h
    return end


def integrate(p: Mapping[str, Any], end: float, window: list[float]) -> dict[str, Any]:
    """Run in double precision with ``solve_ivp``; the quantities of ``COMPARED``."""
    m, c, k, omega, load = (float(p[n]) for n in ("m", "c", "k", "omega", "load"))
    normal = float(p["normal_force"] or m * p["g"])
    hold, slide = float(p["mu_s"]) * normal, float(p["mu_d"]) * normal
    h = 2 * pi / max(omega, sqrt(k / m)) / 50

    def force(t: float, x: float) -> float:
        drive: float = (p["f0"] - m * p["a0"]) * sin(omega * t + p["phase"])
        return drive + load - k * x

    t, side = 0.0, int(np.sign(p["v0"]))
    y: Array = np.array([p["x0"], p["v0"], 0.0])  # x, v, slip distance
    stuck = 0.0
    marks: dict[float, Array] = {}
    cuts = sorted({*window, end} - {0.0})
    marks[0.0] = y.copy()
    for cut in cuts:
        while t < cut:
            needed = force(t, y[0])
            if side == 0 and abs(needed) > hold:
                side = int(np.sign(needed))
            if side == 0:

                def excess(s: float, x: float = y[0]) -> float:
                    return abs(force(s, x)) - hold

                go = _release(excess, t, cut, h)
                stuck += max(0.0, min(go, window[1]) - max(t, window[0]))
                t = go
                if t < cut:
                    side = int(np.sign(force(t, y[0])))
                    if hold == slide:  # an instant later: the net force starts at 0
                        t = min(cut, t + 1e-8 / omega)
                continue

            def rhs(s: float, u: Array, side: int = side) -> list[float]:
                a = (force(s, u[0]) - side * slide - c * u[1]) / m
                return [u[1], a, side * u[1]]

            def halt(_: float, u: Array) -> float:
                return float(u[1])

            halt.terminal = True  # type: ignore[attr-defined]
            halt.direction = -side  # type: ignore[attr-defined]
            solution = solve_ivp(
                rhs,
                (t, cut),
                y,
                method="DOP853",
                rtol=1e-13,
                atol=1e-15,
                events=halt,
                max_step=h,
            )
            t, y = float(solution.t[-1]), solution.y[:, -1].copy()
            if solution.status == 1:
                y[1], side = 0.0, 0
        marks[cut] = y.copy()
    first, last = marks[window[0]], marks[window[1]]
    return {
        "slip_distance": last[2] - first[2],
        "stick_fraction": stuck / (window[1] - window[0]),
        "drift": last[0] - first[0],
        "x_end": y[0],
        "v_end": y[1],
    }


def check_with_solve_ivp(rows: list[dict[str, Any]]) -> list[float]:
    """Largest difference of each row, relative to the sizes met in that run."""
    worst = []
    for row in rows:
        window = row["window"]
        exact = run(row["params"], row["end"], window)
        other = integrate(row["params"], row["end"], window)
        length = float(exact["slip_distance"] + abs(exact["x_end"]))
        speed = float(max(exact["max_slip_speed"], abs(exact["v_end"])))
        scale = {"stick_fraction": 1.0, "v_end": speed}
        differences = [abs(other[name] - float(exact[name])) / (scale.get(name, length) or 1.0) for name in COMPARED]
        worst.append(max(differences))
    return worst


if __name__ == "__main__":
    for file in ("rigid_k0.json", "rigid_oscillator.json"):
        sample = json.loads((DATA / file).read_text())["rows"][::16]
        for sampled, difference in zip(sample, check_with_solve_ivp(sample), strict=True):
            print(f"{sampled['kind']:24s} {sampled['margin']:.1e} {difference:.1e}")
