"""An adaptive tolerance controls what entries, exits, stick and slip do to a structure: a capsule, against located phases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tribosweep import kernels
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.structures import Load, Structure
from tribosweep.kernels.models.supports import Support

SHELL, INNER, MU, K_T, GAP, K_N, FORCE, OMEGA, END = 1.0, 0.4, 0.2, 1e5, 0.02, 2e4, 6.0, 11.0, 2.0
WEIGHT = (SHELL + INNER) * 9.81


def located() -> tuple[float, float]:
    """Place of the shell at the end [m], and the energy that friction dissipated [J]: every change of phase is an event of scipy's."""
    time, state, side, way = 0.0, np.zeros(6), 0, 0
    while True:

        def rates(t: float, s: Any, side: int = side, way: int = way) -> list[float]:
            x, v, z, w, e = s[:5]
            push = K_N * (side * (z - x) - GAP) * side if side else 0.0
            rub = -MU * WEIGHT * way if way else -K_T * e
            force = FORCE * math.sin(OMEGA * t)
            return [v, (push + rub - force) / SHELL, w, (force - push) / INNER, 0.0 if way else v, MU * WEIGHT * abs(v) * abs(way)]

        stops = {"free": lambda _, s, side=side: side * (s[2] - s[0]) - GAP} if side else {
            "right": lambda _, s: GAP - (s[2] - s[0]), "left": lambda _, s: GAP + (s[2] - s[0])}  # fmt: skip
        slides = {"sticks": lambda _, s, way=way: way * s[1]} if way else {
            "forth": lambda _, s: MU * WEIGHT - K_T * s[4], "back": lambda _, s: MU * WEIGHT + K_T * s[4]}  # fmt: skip
        events: dict[str, Any] = stops | slides
        for event in events.values():
            event.terminal, event.direction = True, -1.0
        run = solve_ivp(rates, (time, END), state, method="DOP853", rtol=1e-11, atol=1e-15, events=list(events.values()))
        time, state = run.t[-1], run.y[:, -1].copy()
        if run.status != 1:
            return float(state[0]), float(state[5])
        name = next(name for name, times in zip(events, run.t_events, strict=True) if len(times))
        if name in ("free", "right", "left"):
            side = {"free": 0, "right": 1, "left": -1}[name]
        elif name == "sticks":
            state[4], way = way * MU * WEIGHT / K_T, 0
        else:
            way = 1 if name == "forth" else -1


@pytest.mark.slow
@pytest.mark.long
def test_a_capsule_that_moves_by_inner_impacts_follows_the_tolerance() -> None:
    exact, friction = located()
    shell, inner = np.zeros((3, 3)), np.zeros((3, 3))
    shell[0, 0] = shell[1, 1] = inner[0, 2] = 1.0
    basis = Basis(np.zeros(3), np.array([SHELL, SHELL, INNER]), np.zeros(3), {"shell": shell, "inner": inner}, shell + inner)
    down = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    capsule = Structure(
        basis,
        [Support("ground", "shell", axes=down), Support("stop", "inner", "two planes", other="shell")],
        [Load("out", "force", (-1.0, 0.0, 0.0), "shell"), Load("in", "force", (1.0, 0.0, 0.0), "inner"),
         Load("weight", "force", (0.0, -1.0, 0.0), "shell")],
        observed=["shell"], start=np.array([0.0, -WEIGHT / K_T, 0.0]),
    )  # fmt: skip
    given = {"end": END, "largest_step": 1.0, "smallest_step": 1e-14, "step": 1e-4, "constant[weight]": WEIGHT, "gap[ground]": 0.0,
             "k_n[ground]": K_T, "c_n[ground]": 0.0, "mu[ground]": MU, "k_t[ground]": K_T, "c_t[ground]": 0.0, "gap[stop]": GAP,
             "k_n[stop]": K_N, "c_n[stop]": 0.0, "mu[stop]": 0.0, "k_t[stop]": K_T, "c_t[stop]": 0.0}  # fmt: skip
    for load in ("out", "in"):
        given |= {f"amplitude[{load}]": FORCE, f"omega[{load}]": OMEGA}
    for tolerance, error in ((1e-6, 1e-4), (1e-8, 1e-5), (1e-10, 1e-7)):
        found = kernels.simulate(capsule.model, given | {"tolerance": tolerance}, scheme="rk54")
        assert found["status"] == Status.OK
        assert float(found["x_end[shell]"]) == pytest.approx(exact, abs=error)
        assert float(found["friction_power[ground]"]) * END == pytest.approx(friction, rel=10.0 * error)
