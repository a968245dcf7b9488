"""Symplectic Euler: order 1, fixed step.

    v += h a;  x += h v;  a = a(x, v, t + h)

The first acceleration is that of the initial state. For a stuck mass the scheme is stable while 4 m - 2 h (c + c_t) - h^2 (k + k_t) > 0
(see `models.schemes.euler_stability`). Source: scheme EULER of the tool that SDND104 and SDND105 validate.
"""

from __future__ import annotations

from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping.scheme import Body, External, Stepper, StepState, Trial, evaluate_once


def step(body: Body, loads: tuple[External, ...], s: StepState, h: Array) -> Trial:
    """One step; see `Stepper.step`."""
    v, slack = s.faster(h * s.a)
    moved = h * v
    x, rest = s.after(moved)
    a, memory = body.acceleration(loads[0], s.memory, x, moved, v, rest)
    return Trial(StepState(x, v, a, memory, (), rest, slack), moved, None)


EULER = Stepper(fractions=(1.0,), start=evaluate_once, step=step)
