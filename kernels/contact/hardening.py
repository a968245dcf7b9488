"""Elasto-plastic link with isotropic hardening, from its curve of force over displacement in monotonic loading.

Below the force at which it last yielded the link is a spring of the curve's first slope K about its plastic set: F = K (x - set). Beyond,
it yields: with the accumulated plastic displacement p, |F| is the curve T at the displacement p + |F| / K. As no slope exceeds the first,
a trial force K |x - set| beyond that force gives |F| = T(p + |x - set|) at once, without iteration (closest-point projection in one
dimension).

Source: behaviour DIS_ECRO_TRAC of Code_Aster (SDND124, V5.01.124); Simo and Hughes (1998), Computational Inelasticity, chapter 1.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.link_law import CurveLaw, Travel
from tribosweep.kernels.numerics.numbers import Array


class Yielded(NamedTuple):
    """How far a link has yielded: plastic set [m], accumulated plastic displacement [m], force at which it yields again [N]."""

    set: Array
    way: Array
    limit: Array


class Hardening(CurveLaw):
    """An elasto-plastic link; its curve begins at (0, 0), and its second node is the elastic limit."""

    table = ("hardening_displacement", "hardening_force")

    @property
    def _divisor(self) -> Array:
        """Its stiffness [N/m]; 1 in a row without such a link, whose table is empty."""
        return jnp.where(self.curve.slope > 0.0, self.curve.slope, 1.0)

    def at_start(self, x: Array) -> Yielded:
        """The state of a link that was stretched to a displacement [m] from rest, monotonically."""
        zero = 0.0 * x
        return self._stretched(Yielded(zero, zero, self.curve.at(self.curve.nodes[0]) + zero), x)

    def along(self, state: Yielded, travel: Travel) -> Yielded:
        """The state at the end of a way, which is divided where the mass turns back."""
        turns, turn = travel.path.turn()
        turned = self._stretched(state, travel.place(turn))
        state = Yielded(*(jnp.where(turns, new, old) for new, old in zip(turned, state, strict=True)))
        return self._stretched(state, travel.place(1.0))

    def force(self, state: Yielded, x: Array, v: Array) -> Array:  # noqa: ARG002 (independent of the velocity)
        """Restoring force [N]."""
        return self.curve.slope * (x - state.set)

    def dissipated(self, before: Yielded, travel: Travel, after: Yielded) -> Array:  # noqa: ARG002 (of the states alone)
        """Integral of the yielding force over the plastic displacement [J]."""
        first, last = (state.way + state.limit / self._divisor for state in (before, after))
        stored = 0.5 * (after.limit**2 - before.limit**2) / self._divisor
        return self.curve.area(last) - self.curve.area(first) - stored

    def finish(self, state: Yielded) -> dict[str, Array]:
        """Plastic set and accumulated plastic displacement at the end of the run [m]."""
        return {"link_plastic_set": state.set, "link_plastic_way": state.way}

    def _stretched(self, state: Yielded, x: Array) -> Yielded:
        """The state at a displacement [m], reached without turning back."""
        stiffness = self.curve.slope
        trial = stiffness * (x - state.set)
        size = jnp.abs(trial)
        yields = size > state.limit
        limit = jnp.where(yields, self.curve.at(state.way + size / self._divisor), state.limit)
        slid = jnp.where(yields, (size - limit) / self._divisor, 0.0)
        return Yielded(state.set + jnp.sign(trial) * slid, state.way + slid, limit)
