"""SDND104: a mass on a shaken support, no spring, rigid friction. Its transient event by event, and its established stick-slip motion.

The method of the transient is that of the Maple program in the document. It computes in floats or, with `arithmetic=mpmath.mp`, to any
number of digits, and shares no code with the engines.
"""

from __future__ import annotations

import math
from typing import Any


def wear_power(a0: Any, mu: Any, g: Any, m: Any, omega: Any, window: tuple[Any, Any], arithmetic: Any = math) -> Any:
    """Mean wear power [W] over `window`, for x0 = v0 = phase = 0.

    Args:
        a0: amplitude of the support's acceleration [m/s^2], > 0. mu: friction [1]. g: gravity [m/s^2]. m: mass [kg].
        omega: circular frequency [rad/s]. window: start and end [s].
        arithmetic: a module with sin, cos, asin and pi: `math`, or `mpmath.mp` for any number of digits.

    Returns:
        m g times the distance slipped in the window over its length. The slip of half turn n has the direction (-1)^n. Its speed u grows
        from 0 by u' = a0 (-1)^n sin(omega t) - mu g, and the slip ends where u is 0 again.
    """
    sin, cos, pi = arithmetic.sin, arithmetic.cos, arithmetic.pi
    start, end = window
    eta = mu * g / a0
    if eta >= 1:
        return 0 * a0
    rising = arithmetic.asin(eta)
    half_turn, angle = 0, rising
    slipped = 0 * a0
    while angle < omega * end:
        sign = -1 if half_turn % 2 else 1

        # the slip that begins at `angle`: omega u / a0 = sign (cos(angle) - cos(x)) - eta (x - angle)
        def speed(x: Any, begin: Any = angle, way: int = sign) -> Any:
            return way * (cos(begin) - cos(x)) - eta * (x - begin)

        low = max(angle, half_turn * pi + pi - rising)
        high = half_turn * pi + 2 * pi + rising
        while True:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            if speed(middle) > 0:
                low = middle
            else:
                high = middle
        stop = high
        first, last = max(angle, omega * start), min(stop, omega * end)
        if last > first:
            drift = sign * (cos(angle) * (last - first) - (sin(last) - sin(first)))
            slipped += a0 / omega**2 * (drift - eta * ((last - angle) ** 2 - (first - angle) ** 2) / 2)

        if abs(sin(stop)) > eta:
            half_turn, angle = half_turn + 1, stop
        else:
            while half_turn * pi + rising < stop:
                half_turn += 1
            angle = half_turn * pi + rising
    return m * g * slipped / (end - start)


def slip_start(eta: float, omega: float) -> float:
    """First time of slip t1 = asin(eta) / omega [s] of a mass at rest at t = 0, 0 <= eta < 1, omega in rad/s (SDND104)."""
    return math.asin(eta) / omega


def slip_end(eta: float, omega: float) -> float:
    """End t2 [s] of the first slip: eta omega (t2 - t1) - cos(omega t1) + cos(omega t2) = 0, t2 > t1, by bisection (SDND104)."""
    start = math.asin(eta)
    low, high = math.pi - start, 2.0 * math.pi + start
    while high - low > 4e-16 * high:
        middle = 0.5 * (low + high)
        if eta * (middle - start) - math.cos(start) + math.cos(middle) < 0.0:
            low = middle
        else:
            high = middle
    return high / omega


def stick_slip_wear_power(m: float, g: float, mu: float, a0: float, omega: float) -> float:
    """Mean wear power [W] of the established stick-slip motion, eta* < eta < 1: wear energy of a half period over that half period.

    Args:
        m: mass [kg]. g: gravity [m/s^2]. mu: friction [1]. a0: amplitude [m/s^2]. omega: circular frequency [rad/s].

    Source: SDND104 (V5.01.104), section 2; mu enters through eta alone.
    """
    eta = mu * g / a0
    t1, t2 = slip_start(eta, omega), slip_end(eta, omega)
    length = t2 - t1
    slip = a0 / omega * (length * math.cos(omega * t1) - (math.sin(omega * t2) - math.sin(omega * t1)) / omega) - 0.5 * mu * g * length**2
    return m * g * slip * omega / math.pi
