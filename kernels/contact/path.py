"""The path of a step: a displacement whose velocity is a parabola in time."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array


class Path(NamedTuple):
    """A path in a time `h` [s]. Its methods take fractions `u` of that time, from 0 to 1.

    Attributes:
        h: time [s]. slid: displacement at its end [m]. early, late: displacements at the velocities of its ends, less `slid` [m].
    """

    h: Array
    slid: Array
    early: Array
    late: Array

    @classmethod
    def of(cls, h: Array, v0: Array, v1: Array, slid: Array) -> Path:
        """The path of a displacement [m] whose velocities at the ends are v0 and v1 [m/s]."""
        return cls(h, slid, h * v0 - slid, h * v1 - slid)

    def pace(self, u: Array | float) -> Array:
        """Velocity times h [m]."""
        return self.slid + self.early * (1.0 - u) * (1.0 - 3.0 * u) - self.late * u * (2.0 - 3.0 * u)

    def place(self, u: Array | float) -> Array:
        """Displacement [m]."""
        return u * (self.slid + (1.0 - u) * ((1.0 - u) * self.early - u * self.late))

    def velocity(self, u: Array | float) -> Array:
        """Velocity [m/s]."""
        return self.pace(u) / jnp.where(self.h == 0.0, 1.0, self.h)

    def turn(self) -> tuple[Array, Array]:
        """Whether the velocities at the ends have opposite signs, and the fraction of the time at which the velocity is then 0."""
        first, last = self.pace(0.0), self.pace(1.0)
        turns = first * last < 0.0
        b, c = -4.0 * self.early - 2.0 * self.late, 3.0 * (self.early + self.late)
        root = jnp.sqrt(jnp.maximum(jnp.where(turns, b * b - 4.0 * first * c, 1.0), 0.0))
        q = -0.5 * (b + jnp.where(b < 0.0, -root, root))
        one, other = first / jnp.where(q == 0.0, 1.0, q), q / jnp.where(c == 0.0, 1.0, c)
        return turns, jnp.clip(jnp.where((one > 0.0) & (one < 1.0), one, other), 0.0, 1.0)

    def part(self, begin: Array | float, end: Array | float) -> Path:
        """The path between two fractions of its time."""
        return Path.of(self.h * (end - begin), self.velocity(begin), self.velocity(end), self.place(end) - self.place(begin))
