"""Harmonic excitation: A sin(omega t + phase) + load, with A = f0 - m a0 (base acceleration and force share omega and phase)."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from kernels.elementary import Array, chord, sincos


class Harmonic(NamedTuple):
    """External force on one oscillator.

    Attributes:
        amplitude: A [N], any sign.
        omega: circular frequency [rad/s], > 0.
        phase: phase at t = 0 [rad].
        load: constant force [N].
    """

    amplitude: Array
    omega: Array
    phase: Array
    load: Array

    @classmethod
    def of(cls, p: dict[str, Any]) -> Harmonic:
        """The excitation of resolved parameters (scalars)."""
        return cls(p["f0"] - p["m"] * p["a0"], p["omega"], p["phase"], p["load"])

    def force(self, sine: Array) -> Array:
        """Force [N] where sin(omega t + phase) is `sine`."""
        return self.amplitude * sine + self.load


class Rotation(NamedTuple):
    """sin and cos of omega t + phase at equal steps, by rotation: four products a step instead of a sine.

    Attributes:
        sine, cosine: now.
        sine_step, versine_step: sin(omega h) and 1 - cos(omega h) of the step; the versine keeps the error at rounding level a step.
    """

    sine: Array
    cosine: Array
    sine_step: Array
    versine_step: Array

    @classmethod
    def start(cls, excitation: Harmonic, step: Array) -> Rotation:
        """The rotation at t = 0 with step [s]."""
        sine, cosine = sincos(excitation.phase)
        return cls(sine, cosine, *chord(excitation.omega * step))

    def next(self) -> Rotation:
        """One step later, pulled back to the unit circle."""
        sine = self.sine + (self.cosine * self.sine_step - self.sine * self.versine_step)
        cosine = self.cosine - (self.sine * self.sine_step + self.cosine * self.versine_step)
        scale = 1.5 - 0.5 * (sine * sine + cosine * cosine)
        return self._replace(sine=sine * scale, cosine=cosine * scale)


def wrap(angle: Array) -> Array:
    """The angle [rad] reduced to [0, 2 pi)."""
    turn = 2.0 * jnp.pi
    return angle - turn * jnp.floor(angle / turn)
