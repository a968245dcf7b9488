"""ADAPT of order 2: central differences, with steps that follow the apparent frequency (see `step_control.ByFrequency`).

    v_half += (h_prev + h)/2 a;  x += h v_half;  v = v_half + h/2 a;  a = a(x, v, t + h)

v contains the acceleration before the step: the force is evaluated at this v, which is also the output. At t = 0, h_prev = 0, v_half = v0.
Source: scheme ADAPT_ORDRE2 of the tool that SDND104 and SDND105 validate.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping.scheme import Body, External, Stepper, StepState, Trial, add, evaluate_once
from tribosweep.kernels.stepping.step_control import ByFrequency


def start(body: Body, force: Callable[[Array], External], x: Array, v: Array, h: Array) -> StepState:
    """The state at t = 0; see `Stepper.start`."""
    return evaluate_once(body, force, x, v, h)._replace(own=(v, 0.0 * h))


def step(body: Body, loads: tuple[External, ...], s: StepState, h: Array) -> Trial:
    """One step; see `Stepper.step`. `StepState.own` is v_half and h_prev."""
    v_half, h_before = s.own
    v_half, slack = add(v_half, 0.5 * (h_before + h) * s.a, s.slack)
    moved = h * v_half
    x, rest = s.after(moved)
    v = v_half + 0.5 * h * s.a
    a, memory = body.acceleration(loads[0], s.memory, x, moved, v, rest)
    return Trial(StepState(x, v, a, memory, (v_half, h), rest, slack), moved, (jnp.abs(a - s.a), jnp.abs(loads[0].against(moved))))


def jumped(s: StepState, change: Array) -> StepState:
    """The state after a jump of the force. The next step gives the half step behind it the new acceleration: v_half loses that."""
    v_half, h = s.own
    v_half, slack = add(v_half, -0.5 * h * change, s.slack)
    return s._replace(a=s.a + change, own=(v_half, h), slack=slack)


def kicked(s: StepState, change: Callable[[Array], Array]) -> StepState:
    """The state whose velocity has changed; the next step goes on from v_half."""
    v_half, h = s.own
    return s._replace(v=change(s.v), own=(change(v_half), h))


ADAPT2 = Stepper(fractions=(1.0,), start=start, step=step, control=ByFrequency(), jumped=jumped, kicked=kicked)
