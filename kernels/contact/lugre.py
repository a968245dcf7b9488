"""LuGre friction: bristles whose deflection z follows the motion until it reaches its value in steady slip.

    dz/dt = w - sigma0 |w| z / g(w),   F_t = -(sigma0 z + sigma1 dz/dt + sigma2 w),
    g(w) = F_c + (F_s - F_c) exp(-(|w| / stribeck_speed)^stribeck_exponent),   F_c = mu_d F_n,  F_s = mu_s F_n

w is the velocity against the support. Without a Stribeck speed g = F_c.

Source: Canudas de Wit, Olsson, Astrom and Lischinsky (1995), IEEE Trans. Automatic Control 40, 419-425.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.contact.presliding import Constants, Presliding
from tribosweep.kernels.contact.varying_friction import Stribeck
from tribosweep.kernels.numerics.numbers import Array

_LEAST = 1e-30  # N, least limit
_SHORT = 1e-4  # below this y, (1 - exp(-y)) / y is computed as a series


class _Numbers(NamedTuple):
    stiffness: Array
    damping: Array
    viscous: Array
    static_limit: Array
    dynamic_force: Array
    normal_force: Array
    belt: Array | None
    stribeck: Stribeck | None


class LuGre(_Numbers, Presliding):  # type: ignore[misc] # fields in place of the attributes of Presliding
    """LuGre friction of one oscillator; `stribeck`: how g falls with the velocity, None where g = F_c."""

    @classmethod
    def of(cls, p: dict[str, Any]) -> LuGre:
        """The law of resolved parameters (scalars)."""
        return cls(p["bristle_stiffness"], p["bristle_damping"], p["viscous_friction"], *Constants.of(p), Stribeck.of(p))

    def limit(self, w: Array) -> Array:
        """g(w) [N]."""
        falls = 0.0 if self.stribeck is None else (self.static_limit - self.dynamic_force) * self.stribeck.weight(w)
        return jnp.maximum(self.dynamic_force + falls, _LEAST)

    def bending(self, f: Array, w: Array) -> Array:
        """dz/dt [m/s]."""
        return w - jnp.abs(w) * f / self.limit(w)

    def advance(self, f: Array, path: Path, begin: Array | float, end: Array) -> Array:
        """The force f = sigma0 z after a part of a path where w has one sign s (see `Presliding.advance`).

        y = f - g s obeys y' = -rate y - s g', rate = sigma0 |w| / g. Without a Stribeck speed the solution is exact. Else it is the Magnus
        expansion of order 4, with g as a parabola in time. It stays bounded, and tends to f = g s where the rate is large.
        """
        moved = path.place(end) - path.place(begin)
        s = jnp.sign(moved)
        if self.stribeck is None:
            return f + (f - s * self.dynamic_force) * jnp.expm1(-self.stiffness * jnp.abs(moved) / self.limit(moved))
        width = end - begin
        places = begin, begin + 0.5 * width, end
        g0, g1, g2 = (self.limit(path.velocity(u)) for u in places)
        r0, r1, r2 = (self.stiffness * width * jnp.abs(path.pace(u)) / g for u, g in zip(places, (g0, g1, g2), strict=True))
        rate = (r0 + 4.0 * r1 + r2) / 6.0
        force, bend = -s * (g2 - g0), -4.0 * s * (g0 - 2.0 * g1 + g2)
        force = force + (rate * bend - (r2 - r0) * force) / 12.0
        lasts = rate > _SHORT
        safe = jnp.where(lasts, rate, 1.0)
        mean = jnp.where(lasts, -jnp.expm1(-safe) / safe, 1.0 - rate * (0.5 - rate / 6.0))
        return f + (f - g0 * s) * jnp.expm1(-rate) + s * (g2 - g0) + force * mean
