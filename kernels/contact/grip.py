"""State of a penalised contact between two steps of a time scheme."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.numbers import Array

# `Grip.slip_state` while the contact holds: so small that its product with any velocity is below the least slip speed of the law
BRIEFLY, UNMOVED = 2.0**-100, 2.0**-120
# `Grip.slip_state` while the mass is off its support: positive once it has slipped. Its product with another is below that of `BRIEFLY`
AWAY = 2.0**-110


class Grip(NamedTuple):
    """State of the penalised contact between two steps.

    Attributes:
        slip_state: the state in one number, because every number that a step loop carries costs time.
            +1 or -1: it slips in that direction. +-BRIEFLY: it holds just after such a slip, while its spring unloads. 0: the mass rests.
            UNMOVED: it has never slipped. +-AWAY: the mass is off its support.
        spring: force of its spring [N], T0 - k_t (x - xa) while it holds and T0 while it slips; it is updated with the displacement
            of each step, because x is many orders larger than x - xa.
    """

    slip_state: Array
    spring: Array

    @property
    def slips(self) -> Array:
        """Whether it slips."""
        return jnp.abs(self.slip_state) > 0.5

    @property
    def rests(self) -> Array:
        """Whether the mass rests on its support after a slip."""
        return self.slip_state == 0.0

    @property
    def is_away(self) -> Array:
        """Whether the mass is off its support."""
        return jnp.abs(self.slip_state) == AWAY

    def force(self, c_t: Array, v: Array) -> Array:
        """Friction force [N] of a contact whose damper is `c_t` [N s/m], at the velocity `v` [m/s] against the support."""
        return jnp.where(self.slips | self.is_away, self.spring, self.spring - c_t * v)

    def begins(self, before: Grip) -> Array:
        """Whether a slip begins in the step since `before`: after a rest, or in the direction opposite to the last slip."""
        # the product is at most 2^-9 unless the contact slips, and -1 where a slip went on
        return self.slip_state * (self.slip_state - (2.0 / BRIEFLY) * before.slip_state) > 0.5

    def stops(self, before: Grip) -> Array:
        """Whether a rest begins with the step since `before`."""
        return (self.slip_state == 0.0) & (before.slip_state != 0.0)


def new_grip(v: Array, sliding: Array) -> Grip:
    """The contact at t = 0: it slips where the mass moves, and holds with an unloaded spring where the mass is at rest.

    Args:
        v: velocity against the support [m/s]. sliding: size of the friction of that slip [N].
    """
    moves = v != 0.0
    return Grip(jnp.where(moves, jnp.sign(v), UNMOVED), jnp.where(moves, -sliding * jnp.sign(v), 0.0))
