"""De Vogelaere: fixed step; order 4 without damping, 3 with c > 0, lower where the contact force depends on velocity.

F is the sum of all forces without the damper c, divided by m, and C = c/m. F_h and v_h are at the middle of the step, F_e and v_e at the
middle of the step before:

    x_h = x + h/2 v + h^2/24 [4 F - F_e - C (4 v - v_e)]        force at velocity 2 (x_h - x)/h
    v_h = 4 [v + h/4 (F + F_h - C v)] / (4 + h C)
    x_1 = x + h v + h^2/6 [F + 2 F_h - C (v + 2 v_h)]           force at velocity 2 (x_1 - x_h)/h
    v_1 = 6 [v + h/6 (F_1 + 4 F_h + F - C (4 v_h + v))] / (6 + h C)

    start: x_e = x_0 - h/2 v_0 + h^2/8 (F_0 - C v_0),  v_e = [(4 + h C) v_0 - h (F_0 + F_e)] / (4 - h C)

The contact's memory is updated at the half step too. Over a whole step in which slip ends, displacement and final velocity can have
opposite signs, and friction then gets the wrong sign: SDND104 had up to 4 % more wear at one step length in four (see
tests/kernels/stepping/test_time_schemes.py).

Source: scheme DEVOGE of the tool that SDND104 and SDND105 validate; De Vogelaere (1955).
"""

from __future__ import annotations

from collections.abc import Callable

from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping.scheme import Body, External, Stepper, StepState, Trial


def start(body: Body, force: Callable[[Array], External], x: Array, v: Array, h: Array) -> StepState:
    """The state at t = 0, with a half step back in time; see `Stepper.start`."""
    zero = 0.0 * body.one
    load = force(zero)
    unmoved = body.at_start(load, v)
    a, memory = body.push(load, unmoved, x, zero, v)
    before = v - 0.25 * h * (a - body.drag * v)  # 2 (x_0 - x_e) / h
    back = -0.5 * h * before
    early, _ = body.push(force(-0.5 * h), unmoved, x + back, back, before)
    slow = h * body.drag
    return StepState(x, v, a, memory, (early, ((4.0 + slow) * v - h * (a + early)) / (4.0 - slow)))


def step(body: Body, loads: tuple[External, ...], s: StepState, h: Array) -> Trial:
    """One step (see `Stepper.step`). `StepState.a` is F, its `own` is F_e and v_e. Differences over h are expanded, without a division."""
    early, v_early = s.own
    slow = h * body.drag
    by_four, by_six = 1.0 / (4.0 + slow), 1.0 / (6.0 + slow)  # the same in every step: computed before the loop
    half_speed = s.v + h * (1.0 / 12.0) * (4.0 * s.a - early - body.drag * (4.0 * s.v - v_early))
    half_moved = 0.5 * h * half_speed
    middle, rest = s.after(half_moved)
    half, memory = body.push(loads[0], s.memory, middle, half_moved, half_speed, rest)
    (half,) = fusion_barrier(half)
    v_half, _ = _onward(s, 4.0 * s.v, h * (s.a + half - body.drag * s.v), slow, by_four)
    mean_speed = s.v + h * (1.0 / 6.0) * (s.a + 2.0 * half - body.drag * (s.v + 2.0 * v_half))
    moved = h * mean_speed
    x, rest = s.after(moved)
    a, memory = body.push(loads[1], memory, x, moved - half_moved, 2.0 * mean_speed - half_speed, rest)
    v, slack = _onward(s, 6.0 * s.v, h * (a + 4.0 * half + s.a - body.drag * (4.0 * v_half + s.v)), slow, by_six)
    return Trial(StepState(x, v, a, memory, (half, v_half), rest, slack), moved, None)


def _onward(s: StepState, weighed: Array, change: Array, slow: Array, by: Array) -> tuple[Array, Array | None]:
    """The velocity after a step or half step, (weight v + change) / (weight + slow), and its part lost by rounding.

    `weighed` is weight v, and `by` is 1 / (weight + slow). In float32 the increment of v is computed instead: the rounding error of `by`,
    3e-8, is the same in every step and would make v grow.
    """
    return ((weighed + change) * by, None) if s.slack is None else s.faster((change - slow * s.v) * by)


DEVOGELAERE = Stepper(fractions=(0.5, 1.0), start=start, step=step, remembers=True, undamped=True, degree=3)
