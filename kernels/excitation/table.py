"""Forces that are linear between given instants, and jump at some of them: a table of force over time, and pulses."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp

from tribosweep.kernels.models.loads import HALF_SINE, RAMP, TRIANGLE
from tribosweep.kernels.numerics.elementary import sincos
from tribosweep.kernels.numerics.numbers import Array

_FEW = 32  # instants up to which all are compared with a time; more are searched by halving


class PiecewiseForce(Protocol):
    """A force that is linear in each of its pieces, which are counted from 0 (a whole float)."""

    def begin(self) -> Array:
        """Number of the piece at t = 0."""

    def until(self, piece: Array) -> Array:
        """End of a piece [s]; inf for the last one."""

    def after(self, piece: Array) -> Array:
        """The piece that begins where a piece ends."""

    def force(self, piece: Array, time: Array) -> Array:
        """Force at a time of a piece [N]."""

    def at_end(self, piece: Array) -> Array:
        """Force where a piece has ended and the next one has begun [N]."""

    def slope(self, piece: Array) -> Array:
        """Rate of the force in a piece [N/s]."""

    def jump(self, piece: Array) -> Array | None:
        """How much the force jumps at the end of a piece [N]; None if it never jumps."""

    def at(self, time: Array) -> Array:
        """Force [N] at a time [s]; where it jumps, that after the jump."""


class TabledForce(NamedTuple):
    """A force that is linear between instants. It has its first value before them and its last value after them.

    Attributes:
        times: instants (n,) [s], ascending; equal ones are a jump; inf behind the last. values: forces there (n,) [N].
        past: number of instants up to each of them, itself and equal ones included (n,), whole floats.
        arch: 1 if a half sine is added while two of four instants have passed, else 0; None if there never is one (compile-time).
        height, start, length: of that half sine [N], [s], [s].
    """

    times: Array
    values: Array
    past: Array
    arch: Array | None = None
    height: Array | None = None
    start: Array | None = None
    length: Array | None = None

    @classmethod
    def of(cls, times: Array, values: Array, factor: Array) -> TabledForce:
        """The force of a table, padded with NaN: instants [s], values in any unit, and the force for a value of 1."""
        if not times.shape[0]:
            times = values = jnp.full(1, jnp.nan)
        there = ~jnp.isnan(times)
        count = jnp.sum(there)
        last = jnp.where(count > 0, values[jnp.maximum(count - 1, 0)], 0.0)
        return cls._of(jnp.where(there, times, jnp.inf), factor * jnp.where(there, values, last))

    @classmethod
    def pulse(cls, shape: Array, height: Array, start: Array, duration: Array) -> TabledForce:
        """The force of a pulse: its shape (a code of `loads.PULSES`), height [N], start and duration [s]."""
        end = start + duration
        never = jnp.full_like(end, jnp.inf)
        triangle, ramp, arch = shape == TRIANGLE, shape == RAMP, shape == HALF_SINE
        bent = triangle | ramp
        times = [
            start,
            jnp.where(triangle, start + 0.5 * duration, jnp.where(ramp, end, start)),
            jnp.where(ramp, never, end),
            jnp.where(bent, never, end),
        ]
        up, off = jnp.where((shape == 0.0) | arch, 0.0, 1.0), 0.0 * height
        values = [off, up, jnp.where(triangle, 0.0, up), jnp.where(ramp, up, 0.0)]
        found = cls._of(jnp.stack(times), height * jnp.stack(jnp.broadcast_arrays(*values)))
        return found._replace(arch=jnp.where(arch, 1.0, off), height=height, start=start, length=jnp.where(arch, duration, 1.0))

    @classmethod
    def _of(cls, times: Array, values: Array) -> TabledForce:
        """The force of instants that end in inf."""
        fixed = jax.lax.stop_gradient(times)
        return cls(times, values, jnp.searchsorted(fixed, fixed, side="right").astype(times.dtype))

    @property
    def most(self) -> int:
        """Number of instants."""
        return int(self.times.shape[0])

    @property
    def largest(self) -> Array:
        """A bound of the force [N]."""
        most = jnp.max(jnp.abs(self.values), axis=0)
        return most if self.arch is None or self.height is None else jnp.maximum(most, self.arch * jnp.abs(self.height))

    def _place(self, number: Array) -> Array:
        """Number of an instant, as an index within bounds."""
        return jnp.clip(number, 0, self.most - 1).astype(int)

    def begin(self) -> Array:
        """See `PiecewiseForce`."""
        return jnp.sum(jax.lax.stop_gradient(self.times) <= 0.0).astype(self.times.dtype)

    def until(self, piece: Array) -> Array:
        """See `PiecewiseForce`."""
        return jnp.where(piece < self.most, self.times[self._place(piece)], jnp.inf)

    def after(self, piece: Array) -> Array:
        """See `PiecewiseForce`. Instants that are equal are passed together."""
        return self.past[self._place(piece)]

    def force(self, piece: Array, time: Array) -> Array:
        """See `PiecewiseForce`; without the half sine."""
        before = self._place(piece - 1.0)
        since = jnp.where(jnp.isfinite(self.times[before]) & (piece > 0.0), time - self.times[before], 0.0)
        return self.values[before] + self.slope(piece) * since

    def at_end(self, piece: Array) -> Array:
        """See `PiecewiseForce`."""
        return self.values[self._place(self.after(piece) - 1.0)]

    def slope(self, piece: Array) -> Array:
        """See `PiecewiseForce`."""
        before, end = self._place(piece - 1.0), self._place(piece)
        length = self.times[end] - self.times[before]
        lasts = jnp.isfinite(self.times[end]) & (piece > 0.0) & (piece < self.most) & (length > 0.0)
        return jnp.where(lasts, (self.values[end] - self.values[before]) / jnp.where(lasts, length, 1.0), 0.0)

    def jump(self, piece: Array) -> Array:
        """See `PiecewiseForce`."""
        return self.at_end(piece) - self.values[self._place(piece)]

    def gate(self, piece: Array) -> Array:
        """1 in a piece with the half sine, else 0."""
        return jnp.where(piece == 2.0, 1.0 if self.arch is None else self.arch, 0.0)

    def at(self, time: Array, before: bool = False) -> Array:
        """Force [N] at a time [s]; where it jumps, that after the jump, or that `before` it. Few instants may have lanes at their end."""
        if self.most <= _FEW:
            found = self._of_all(time, before)
        else:
            fixed = jax.lax.stop_gradient(self.times)
            piece = jnp.searchsorted(fixed, time, side="left" if before else "right", method="scan_unrolled")
            found = self.force(piece.astype(self.times.dtype), time)
        if self.arch is not None and self.height is not None and self.start is not None and self.length is not None:
            part = (time - self.start) / self.length
            acts = (self.arch > 0.0) & (part > 0.0) & (part < 1.0)
            found = found + self.height * sincos(jnp.where(acts, jnp.pi * part, 0.0).astype(found.dtype))[0]
        return found.astype(self.values.dtype)

    def _of_all(self, time: Array, before: bool) -> Array:
        """`at` without the half sine, as a sum over all pieces: it needs no index."""
        first, last = self.times[:-1], self.times[1:]
        lasts = jnp.isfinite(last) & (last > first)
        part = jnp.clip((time - first) / jnp.where(lasts, last - first, 1.0), 0.0, 1.0)
        step = jnp.where(time > first if before else time >= first, 1.0, 0.0)
        share = jnp.where(lasts, part, jnp.where(jnp.isfinite(last), step, 0.0)).astype(self.values.dtype)
        return self.values[0] + jnp.sum(share * jnp.diff(self.values, axis=0), axis=0)

    def next_after(self, time: Array) -> Array:
        """The first instant after a time [s]; inf if there is none."""
        fixed = jax.lax.stop_gradient(self.times)
        return jnp.min(jnp.where(fixed > time, self.times, jnp.inf), axis=0)
