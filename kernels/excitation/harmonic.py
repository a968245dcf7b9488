"""Harmonic excitation: A sin(omega t + phase) + load, with A = f0 - m a0 (base acceleration and force share omega and phase)."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import jax.numpy as jnp

from tribosweep.kernels.numerics.elementary import chord, sincos
from tribosweep.kernels.numerics.numbers import Array


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

    @property
    def largest(self) -> Array:
        """The largest magnitude of the force [N]."""
        return jnp.abs(self.amplitude) + jnp.abs(self.load)

    def force(self, sine: Array) -> Array:
        """Force [N] where sin(omega t + phase) is `sine`."""
        return self.amplitude * sine + self.load

    def at(self, time: Array) -> Array:
        """Force [N] at a time [s], which may be of a wider type than the other numbers."""
        return self.force(sincos(angle_at(self, time))[0])

    def turn(self, time: Array) -> Turn:
        """The rotation of the excitation in a time [s]."""
        return Turn(*chord(self.omega * time))


class Turn(NamedTuple):
    """Rotation by a fixed angle: its sine and its versine (1 - cos), which keeps errors at rounding level."""

    sine: Array
    versine: Array


class Turning(Protocol):
    """A quantity with a circular frequency [rad/s] and a phase at t = 0 [rad]."""

    @property
    def omega(self) -> Array:
        """Circular frequency [rad/s]."""

    @property
    def phase(self) -> Array:
        """Phase at t = 0 [rad]."""


class Rotation(NamedTuple):
    """Sine and cosine of omega t + phase at equal steps, by rotation: four products in a step instead of a sine.

    With sine and versine only rounding errors of the sum change the radius: 1e-16 in a step, of either sign, and 4e-14 after 120 000 steps.
    """

    sine: Array
    cosine: Array

    @classmethod
    def start(cls, excitation: Turning) -> Rotation:
        """The rotation at t = 0."""
        return cls(*sincos(excitation.phase))

    @classmethod
    def at(cls, excitation: Turning, time: Array) -> Rotation:
        """The rotation at a time [s], which may be of a wider type than the other numbers."""
        return cls(*sincos(angle_at(excitation, time)))

    def sine_after(self, turn: Turn) -> Array:
        """sin(omega t + phase) after a turn."""
        return self.sine + (self.cosine * turn.sine - self.sine * turn.versine)

    def after(self, turn: Turn) -> Rotation:
        """The rotation after a turn."""
        return Rotation(self.sine_after(turn), self.cosine - (self.sine * turn.sine + self.cosine * turn.versine))


def angle_at(excitation: Turning, time: Array) -> Array:
    """The angle omega t + phase [rad] at a time [s]. If the time is of a wider type, the angle is reduced to [-pi, pi) and then rounded."""
    angle = excitation.omega * time + excitation.phase
    if angle.dtype == excitation.phase.dtype:
        return angle
    return (wrap(angle + jnp.pi) - jnp.pi).astype(excitation.phase.dtype)


def wrap(angle: Array) -> Array:
    """The angle [rad] reduced to [0, 2 pi)."""
    turn = 2.0 * jnp.pi
    return angle - turn * jnp.floor(angle * (1.0 / turn))
