"""Runge-Kutta of order 5 with an embedded solution of order 4: Dormand and Prince (1980), J. Comp. Appl. Math. 6, 19-26."""

from __future__ import annotations

import jax.numpy as jnp

from tribosweep.kernels.stepping.runge_kutta import Tableau
from tribosweep.kernels.stepping.scheme import Stepper, evaluate_once
from tribosweep.kernels.stepping.step_control import ByError

TABLEAU = Tableau(
    nodes=(1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    rows=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    error=(71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
)

CONTROL = ByError(lambda e: jnp.exp(jnp.log(e) / -6.0))
RK54 = Stepper(fractions=TABLEAU.fractions, start=evaluate_once, step=TABLEAU.step, control=CONTROL, degree=5)
