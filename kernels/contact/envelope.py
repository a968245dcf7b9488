"""The envelope of a wall that buckles: force, plastic set, stiffness and damping as functions of its largest compression X.

Elastic up to f_crit / k_n, a plateau of that force, a softening down to f_post, and from there on the tables over the plastic set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.numerics.fusion import traced_once
from tribosweep.kernels.numerics.numbers import Array, by_width

_NEVER = 1e100, 1e15  # N, in float64 and float32: stands for an infinite f_crit, so that no difference of infinities arises
PLATEAU, SOFTENING, BEYOND = 0.0, 1.0, 2.0  # its intervals; varying damping: one BEYOND per node


class Envelope(NamedTuple):
    """A wall that buckles, along its largest compression X; lengths [m], forces [N].

    Attributes:
        k_n: stiffness before buckling [N/m]. f_crit, f_post: force at buckling and after the softening.
        u0, u1: compression where the softening begins and ends. plateau: plastic set at u0 and u1.
        ends: (n,) total compression at the nodes of the table, +inf where padded; sets: (n,) plastic set there. last: stiffness beyond.
        c_n: damping up to u0 [N s/m]. c_buckled: at u1. dampings: (n,) at the nodes.
    """

    k_n: Array
    f_crit: Array
    f_post: Array
    u0: Array
    u1: Array
    plateau: Array
    ends: Array
    sets: Array
    last: Array
    c_n: Array
    c_buckled: Array
    dampings: Array

    @classmethod
    def of(cls, p: dict[str, Any]) -> Envelope:
        """The envelope of resolved parameters (scalars, and (n,) tables padded with NaN at their end)."""
        sets, stiffnesses, dampings = p["post_set"], p["post_stiffness"], p["post_damping"]
        real = ~jnp.isnan(sets)
        f_crit = jnp.where(jnp.isinf(p["f_crit"]), by_width(p["f_crit"], *_NEVER), p["f_crit"])
        u0 = f_crit / p["k_n"] + p["plateau"]
        last = p["k_post"]
        for n in range(sets.shape[-1]):
            last = jnp.where(real[n], stiffnesses[n], last)
        ends = jnp.where(real, sets + p["f_post"] / jnp.where(real, stiffnesses, 1.0), jnp.inf)
        return cls(
            p["k_n"], f_crit, p["f_post"], u0, u0 + p["softening"], p["plateau"], ends, jnp.where(real, sets, 0.0), last,
            p["c_n"], p["c_buckled"], jnp.where(real, dampings, 0.0),
        )  # fmt: skip

    @property
    def softens(self) -> Array:
        """Whether the softening has a width."""
        return self.u1 > self.u0

    @property
    def slope(self) -> Array:
        """How fast the force falls over the softening [N/m]."""
        return (self.f_crit - self.f_post) / jnp.where(self.softens, self.u1 - self.u0, 1.0)

    @traced_once
    def criterion(self, X: Array) -> Array:
        """Force at which the wall yields [N]."""
        falling = self.f_crit - self.slope * (X - self.u0)
        return jnp.where(X <= self.u0, self.f_crit, jnp.where(X <= self.u1, falling, self.f_post))

    @traced_once
    def _along(self, X: Array, start: Array, values: Array) -> tuple[Array, Array]:
        """Interpolation of the nodes' `values` from `start` at u1 to the last node, and the distance of X beyond that node [m]."""
        before, value, low = start, start, self.u1
        for n in range(values.shape[-1]):
            high = self.ends[n]
            real = high < jnp.inf
            part = jnp.clip((X - low) / jnp.where(real, high - low, 1.0), 0.0, 1.0)
            value = value + jnp.where(real, part * (values[n] - before), 0.0)
            before, low = jnp.where(real, values[n], before), jnp.where(real, high, low)
        return value, X - low

    @traced_once
    def plastic(self, X: Array) -> Array:
        """Plastic set on the envelope [m]; negative before the force reaches the criterion."""
        table, beyond = self._along(X, self.plateau, self.sets)
        post = jnp.where(beyond > 0.0, X - self.f_post / self.last, table)
        return jnp.where(X <= self.u0, X - self.f_crit / self.k_n, jnp.where(X <= self.u1, self.plateau, post))

    @traced_once
    def damping(self, X: Array) -> Array:
        """Damping of the wall [N s/m]."""
        part = (X - self.u0) / jnp.where(self.softens, self.u1 - self.u0, 1.0)
        softening = self.c_n + (self.c_buckled - self.c_n) * part
        table, _ = self._along(X, self.c_buckled, self.dampings)
        return jnp.where(X <= self.u0, self.c_n, jnp.where(X <= self.u1, softening, table))

    def end_of(self, piece: Array, nodes: bool) -> Array:
        """Compression at the end of an interval [m], infinite for the last one. `nodes`: whether each node of the table is an end."""
        end = jnp.where(piece == PLATEAU, self.u0, jnp.where(piece == SOFTENING, self.u1, jnp.inf))
        for n in range(self.ends.shape[-1] if nodes else 0):
            end = jnp.where(piece == BEYOND + n, self.ends[n], end)
        return end

    def damping_slope_on(self, piece: Array) -> Array:
        """Growth of the damping with the compression on an interval of the envelope [N s/m^2]."""
        softening = (self.c_buckled - self.c_n) / jnp.where(self.softens, self.u1 - self.u0, 1.0)
        slope = jnp.where((piece == SOFTENING) & self.softens, softening, 0.0)
        low, before = self.u1, self.c_buckled
        for n in range(self.ends.shape[-1]):
            real = self.ends[n] < jnp.inf
            rate = (self.dampings[n] - before) / jnp.where(real, self.ends[n] - low, 1.0)
            slope = jnp.where((piece == BEYOND + n) & real, rate, slope)
            low, before = self.ends[n], self.dampings[n]
        return slope

    def damping_on(self, piece: Array, y: Array) -> Array:
        """Damping on an interval of the envelope [N s/m]. Compression `y` may lie outside it by a rounding error."""
        damping = jnp.where(piece == SOFTENING, self.c_n + self.damping_slope_on(piece) * (y - self.u0), self.c_n)
        table, _ = self._along(y, self.c_buckled, self.dampings)
        return jnp.where(piece >= BEYOND, table, damping)

    @traced_once
    def stiffness(self, X: Array) -> Array:
        """Stiffness of unloading and reloading [N/m]."""
        stretch = X - self.plastic(X)
        return jnp.where(X <= self.u0, self.k_n, self.criterion(X) / jnp.where(stretch > 0.0, stretch, 1.0))

    def beyond_table(self, X: Array) -> Array:
        """Whether X is beyond the last node of a table."""
        _, beyond = self._along(X, self.plateau, self.sets)
        return (self.ends[..., 0] < jnp.inf if self.ends.shape[-1] else jnp.zeros_like(X, dtype=bool)) & (X > self.u1) & (beyond > 0.0)

    def regime(self, X: Array, buckled: Array, pressed: Array) -> Array:
        """Code of the damage from the largest compression: 0 no contact, 1 elastic, 2 plateau, 3 softened, 4 beyond table.

        Args:
            X: largest compression [m]. buckled: 1 where the force has reached the criterion. pressed: whether there was any contact.
        """
        yielded = jnp.where(self.beyond_table(X), 4, jnp.where(X > self.u0, 3, 2))
        return jnp.where(pressed, jnp.where(buckled > 0.0, yielded, 1), 0)
