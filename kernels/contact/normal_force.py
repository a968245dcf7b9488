"""A normal force that varies in time, and the times at which it is 0."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.excitation.harmonic import Harmonic, wrap
from tribosweep.kernels.numerics.elementary import asin
from tribosweep.kernels.numerics.numbers import Array

_AT_ZERO = 1e-9  # rad, from a zero of the normal force


class Pressing(NamedTuple):
    """Normal force that varies in time, n(t) = n0 + n1 sin(omega_n t + phase_n).

    On one surface F_n = max(0, n): contact is lost where n <= 0. Between two surfaces F_n = |n|: the mass always presses on one of them.

    Attributes:
        swing: n(t) [N] as a harmonic force. sides: 1 or 2 surfaces.
    """

    swing: Harmonic
    sides: Array

    @classmethod
    def of(cls, p: dict[str, Any]) -> Pressing:
        """The normal force of resolved parameters (scalars)."""
        return cls(Harmonic(p["normal_amplitude"], p["normal_omega"], p["normal_phase"], p["normal_force"]), p["friction_sides"])

    def contact(self, n: Array) -> Array:
        """F_n [N] at n [N]."""
        return jnp.where(self.sides > 1.0, jnp.abs(n), jnp.maximum(n, 0.0))

    def off(self, pressed: Array) -> Array:
        """Whether the mass is off its support under F_n [N]; between two surfaces it never is."""
        return (pressed <= 0.0) & (self.sides <= 1.0)

    @property
    def crosses(self) -> Array:
        """Whether n changes its sign; a zero that it only touches is none."""
        return jnp.abs(self.swing.amplitude) > jnp.abs(self.swing.load)

    def until_zero(self, time: Array) -> Array:
        """Duration from a time [s] to the next change of sign of n [s], inf if there is none. One at that time itself does not count."""
        swing, crosses = self.swing, self.crosses
        level = asin(jnp.where(crosses, -swing.load / jnp.where(crosses, swing.amplitude, 1.0), 0.0))
        seen = swing.omega * time + swing.phase + _AT_ZERO
        turn = _AT_ZERO + jnp.minimum(wrap(level - seen), wrap(math.pi - level - seen))
        return jnp.where(crosses, turn / swing.omega, jnp.inf)
