"""ADAPT of order 1: symplectic Euler, with steps that follow the apparent frequency (see `step_control.ByFrequency`).

Source: scheme ADAPT_ORDRE1 of the tool that SDND104 and SDND105 validate.
"""

from __future__ import annotations

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping import euler
from tribosweep.kernels.stepping.scheme import Body, External, Stepper, StepState, Trial, evaluate_once
from tribosweep.kernels.stepping.step_control import ByFrequency


def step(body: Body, loads: tuple[External, ...], s: StepState, h: Array) -> Trial:
    """One step; see `Stepper.step`."""
    trial = euler.step(body, loads, s, h)
    return trial._replace(doubt=(jnp.abs(trial.state.a - s.a), jnp.abs(loads[0].against(trial.moved))))


ADAPT1 = Stepper(fractions=(1.0,), start=evaluate_once, step=step, control=ByFrequency())
