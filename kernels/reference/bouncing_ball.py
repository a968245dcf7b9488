"""A ball that bounces on a rigid table shaken with a0 sin(omega t): when it can keep time with the table, and for how long.

In units of the ball's weight, gamma = m a0 / load. It leaves the table once a period, always alike, from gamma = pi (1 - e)/(1 + e) on, e
the restitution: gamma cos(theta) is that at the angle theta of the impact. The multipliers of its map have the product e^2 and the sum
1 + e^2 - (1 + e)^2 gamma sin(theta); the period doubles where the sum is -1 - e^2.

Source: Holmes 1982, J. Sound Vib. 84, 173-189, for a table that moves little; exact: Luo and Han 1996, Nonlinear Dynamics 10, 1-18. These
are formulas, derived again and tested in tests/kernels/exact/test_periodic_orbit_of_a_stop.py.
"""

from __future__ import annotations

import math


def period_one_begins(e: float) -> float:
    """The least gamma at which a ball of restitution `e` can leave the table once a period."""
    return math.pi * (1.0 - e) / (1.0 + e)


def period_one_doubles(e: float) -> float:
    """The gamma at which that motion gives way to one of twice the period."""
    return math.hypot(period_one_begins(e), 2.0 * (1.0 + e * e) / (1.0 + e) ** 2)
