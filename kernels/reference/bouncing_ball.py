"""A ball on a rigid table shaken with a0 sin(omega t): where a motion of period one with one impact exists, and where it doubles.

gamma = m a0 / load is the excitation over the ball's weight, and e is the restitution. The motion exists from gamma = pi (1 - e)/(1 + e)
on: its impact is at the angle theta with gamma cos(theta) = pi (1 - e)/(1 + e). The multipliers of its map have the product e^2 and the sum
1 + e^2 - (1 + e)^2 gamma sin(theta). The period doubles where the sum is -1 - e^2.

Source: Holmes 1982, J. Sound Vib. 84, 173-189, for a table that moves little; exact: Luo and Han 1996, Nonlinear Dynamics 10, 1-18. The
formulas are derived again and tested in tests/kernels/exact/test_periodic_orbit_of_a_stop.py.
"""

from __future__ import annotations

import math


def period_one_begins(e: float) -> float:
    """The least gamma at which the motion of period one exists, for a ball of restitution `e`."""
    return math.pi * (1.0 - e) / (1.0 + e)


def period_one_doubles(e: float) -> float:
    """The gamma at which the motion of period one gives way to one of twice the period, for a ball of restitution `e`."""
    return math.hypot(period_one_begins(e), 2.0 * (1.0 + e * e) / (1.0 + e) ** 2)
