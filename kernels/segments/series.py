"""Taylor series of the motion of a damped oscillator, exact to rounding over a stretch that is short against its time scales.

    x'' + 2 zeta x' + w2 x = b + alpha sin(omega t + phase) + ramp t        or a sum of such sines

It costs a third of the closed form of `damped`, needs no case distinctions, and gives every derivative at every instant of the stretch.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tribosweep.kernels.numerics.fusion import fusion_barrier, traced_once
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.segments.damped import Damped, over_sines
from tribosweep.kernels.segments.interface import Point

TERMS = 27
LENGTH = 2.2  # longest stretch over the shortest time scale: the first term left out of the acceleration is 2.2^25 / 25! = 2e-17 of it


class Series(NamedTuple):
    """Taylor coefficients of the displacement since the anchor over a stretch.

    Attributes:
        terms: coefficients of (t / h)^n, n from 0 to TERMS - 1 [m]. h: length of the stretch [s].
    """

    terms: tuple[Array, ...]
    h: Array

    def derivative(self, order: int, place: Array) -> Array:
        """The derivative of the displacement times h^order [m], at t = place h."""
        value = math.perm(TERMS - 1, order) * self.terms[-1]
        for n in range(TERMS - 2, order - 1, -1):
            value = value * place + math.perm(n, order) * self.terms[n]
        return value

    def at_end(self, order: int) -> Array:
        """The derivative of the displacement times h^order [m], at the end of the stretch."""
        value = math.perm(TERMS - 1, order) * self.terms[-1]
        for n in range(TERMS - 2, order - 1, -1):
            value = value + math.perm(n, order) * self.terms[n]
        return value

    def area(self, place: Array) -> Array:
        """The integral of the displacement from the start of the stretch to t = place h [m s]."""
        value = self.terms[-1] / TERMS
        for n in range(TERMS - 2, -1, -1):
            value = value * place + self.terms[n] / (n + 1.0)
        return value * place * self.h


@traced_once
def series(segment: Damped, at: Point, h: Array) -> Series:
    """The series that starts at an instant of a segment and lasts `h` [s]."""
    alpha, omega, zeta, w2, ramp = segment[:5]
    turn = omega * h
    squared = -(turn * turn)
    damping, stiffness = -2.0 * zeta * h, -w2 * h * h
    terms = [at.d, at.v * h, 0.5 * at.a * h * h]
    push = alpha * turn * h * h
    push, following = fusion_barrier(push * at.cosine, 0.5 * push * turn * -at.sine)
    squared, damping, stiffness = fusion_barrier(squared, damping, stiffness)
    for n in range(1, TERMS - 2):
        drive = over_sines(push)
        if n == 1 and ramp is not None:
            drive = drive + ramp * h * h * h
        (term,) = fusion_barrier((drive + damping * (n + 1.0) * terms[n + 1] + stiffness * terms[n]) * (1.0 / ((n + 2) * (n + 1))))
        terms.append(term)
        push, following = following, fusion_barrier(push * squared * (1.0 / ((n + 1.0) * (n + 2.0))))[0]
    return Series(tuple(terms), h)
