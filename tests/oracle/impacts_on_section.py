"""Poincare points of a mass that hits an elastic stop, in high precision: the map over periods of the excitation, and its multipliers."""

from collections.abc import Mapping, Sequence
from typing import Any

from mpmath import mp, mpf

from .shock_events import Oscillator

DIGITS = 30
STEP = mpf("1e-12")  # of the differences that give the multipliers, central: exact to about 1e-17


def periods(params: Mapping[str, Any], point: Sequence[Any], count: int) -> list[tuple[mpf, mpf]]:
    """(x [m], v [m/s]) at the beginning of each of `count` periods from `point` on, and at the end of the last.

    Every period starts anew from displacement and velocity, which is all that an elastic stop knows.
    """
    with mp.workdps(DIGITS):
        period = 2 * mp.pi / mpf(params["omega"])
        found = [(mpf(point[0]), mpf(point[1]))]
        for _ in range(count):
            x, v = found[-1]
            found.append(Oscillator({**params, "x0": x, "v0": v}, period).state(period))
        return found


def multipliers(params: Mapping[str, Any], point: Sequence[Any], count: int) -> list[complex]:
    """The two eigenvalues of the Jacobian of the map over `count` periods at `point`."""
    with mp.workdps(DIGITS):
        columns = []
        for dx, dv in ((STEP, 0), (0, STEP)):
            ahead, behind = (periods(params, (point[0] + s * dx, point[1] + s * dv), count)[-1] for s in (1, -1))
            columns.append([(a - b) / (2 * STEP) for a, b in zip(ahead, behind, strict=True)])
        (a, c), (b, d) = columns
        root = mp.sqrt(mp.mpc((a + d) ** 2 / 4 - (a * d - b * c)))
        return [complex((a + d) / 2 + root), complex((a + d) / 2 - root)]
