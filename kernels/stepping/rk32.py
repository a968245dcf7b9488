"""Runge-Kutta of order 3 with an embedded solution of order 2: Bogacki and Shampine (1989), Applied Mathematics Letters 2, 321-325."""

from __future__ import annotations

import jax.numpy as jnp

from tribosweep.kernels.stepping.runge_kutta import Tableau
from tribosweep.kernels.stepping.scheme import Stepper, evaluate_once
from tribosweep.kernels.stepping.step_control import ByError

TABLEAU = Tableau(
    nodes=(1 / 2, 3 / 4, 1.0),
    rows=((1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)),
    error=(2 / 9 - 7 / 24, 1 / 3 - 1 / 4, 4 / 9 - 1 / 3, -1 / 8),
)

CONTROL = ByError(lambda e: 1.0 / jnp.sqrt(jnp.sqrt(e)))
RK32 = Stepper(fractions=TABLEAU.fractions, start=evaluate_once, step=TABLEAU.step, control=CONTROL, degree=3)
