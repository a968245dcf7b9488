"""Dahl friction: a force that follows the displacement and tends to Coulomb's.

    dF/dx = sigma |1 - r|^n sgn(1 - r),   r = F sgn(w) / F_c,   F_t = -F,   F_c = mu_d F_n

w is the velocity against the support, sigma = dahl_stiffness and n = dahl_exponent. Along a displacement in one direction the equation has
a closed solution. With n = 1 and the direction s it is F = s F_c (1 - (1 - s F_0 / F_c) exp(-sigma |x| / F_c)).

Source: Dahl (1968), A solid friction model, The Aerospace Corporation, TOR-0158(3107-18)-1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.contact.presliding import Constants, Presliding
from tribosweep.kernels.numerics.numbers import Array

_LEAST = 1e-30  # least F_c [N], and least |1 - r|, whose logarithm is taken


class _Numbers(NamedTuple):
    stiffness: Array
    exponent: Array
    static_limit: Array
    dynamic_force: Array
    normal_force: Array
    belt: Array | None


class Dahl(_Numbers, Presliding):
    """Dahl friction of one oscillator."""

    @classmethod
    def of(cls, p: dict[str, Any]) -> Dahl:
        """The law of resolved parameters (scalars)."""
        return cls(p["dahl_stiffness"], p["dahl_exponent"], *Constants.of(p))

    def limit(self, w: Array) -> Array:
        """F_c [N]."""
        return jnp.maximum(self.dynamic_force, _LEAST) + 0.0 * w

    def bending(self, f: Array, w: Array) -> Array:
        """dz/dt = dF/dt / sigma [m/s]."""
        left = 1.0 - f * jnp.sign(w) / self.limit(w)
        return w * jnp.sign(left) * jnp.exp(self.exponent * jnp.log(jnp.maximum(jnp.abs(left), _LEAST)))

    def advance(self, f: Array, path: Path, begin: Array | float, end: Array) -> Array:
        """The force [N] after a part of a path in one direction (see `Presliding.advance`)."""
        moved = path.place(end) - path.place(begin)
        s, limit = jnp.sign(moved), self.limit(moved)
        left, way = 1.0 - f * s / limit, self.stiffness * jnp.abs(moved) / limit
        logarithm, p = jnp.log(jnp.maximum(jnp.abs(left), _LEAST)), 1.0 - self.exponent
        scaled = way * jnp.exp(-p * logarithm)
        stays = p * scaled < 1.0  # with an exponent below 1 the force reaches the limit after a finite displacement
        change = jnp.where(p == 0.0, -way, jnp.log1p(jnp.where(stays, -p * scaled, 0.0)) / jnp.where(p == 0.0, 1.0, p))
        return f - s * limit * left * jnp.where(stays, jnp.expm1(change), -1.0)
