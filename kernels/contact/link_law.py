"""The interface of links between the mass and its support to the time schemes, and tables of their forces.

A link has a state that changes along the way of the mass (`along`) and a force that follows from state, displacement and velocity
(`force`). `links` combines the laws of an oscillator; `models.links` has the parameters that select them.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import jax.numpy as jnp

from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.numerics.numbers import Array


class Travel(NamedTuple):
    """The way of the mass in a step or a part of it.

    Attributes:
        x: displacement at its beginning [m]. path: from there.
    """

    x: Array
    path: Path

    def place(self, u: Array | float) -> Array:
        """Displacement [m] at the fraction `u` of the time."""
        return self.x + self.path.place(u)

    def part(self, begin: Array | float, end: Array | float) -> Travel:
        """The way between two fractions of the time."""
        return Travel(self.place(begin), self.path.part(begin, end))


class LinkLaw:
    """A link of the time schemes, for one oscillator; a law is a NamedTuple of numbers that inherits from this class."""

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        raise NotImplementedError

    def at_start(self, x: Array) -> Any:
        """The state at t = 0 of a mass at a displacement [m]."""
        raise NotImplementedError

    def along(self, state: Any, travel: Travel) -> Any:
        """The state at the end of a way, from that at its beginning."""
        raise NotImplementedError

    def force(self, state: Any, x: Array, v: Array) -> Array:
        """Restoring force of the link [N]: it pulls the mass back where it is positive."""
        raise NotImplementedError

    def dissipated(self, before: Any, travel: Travel, after: Any) -> Array:
        """Energy dissipated on a way [J]."""
        raise NotImplementedError

    def finish(self, state: Any) -> dict[str, Array]:  # noqa: ARG002 (most laws have no observable of their own)
        """The observables of the law at the end of the run, by name."""
        return {}


class PiecewiseLinear(NamedTuple):
    """A function that is linear between nodes and goes on with its last slopes beyond them.

    Attributes:
        x, y: first node. slope: from there. nodes (n,): where the slope changes. changes (n,): by how much.
    """

    x: Array
    y: Array
    slope: Array
    nodes: Array
    changes: Array

    @classmethod
    def of(cls, x: Array, y: Array) -> PiecewiseLinear:
        """The function through nodes (n,), n >= 2, that ascend in x; NaN at their end pad a table."""
        real = ~(jnp.isnan(x) | jnp.isnan(y))
        x, y = jnp.where(real, x, 0.0), jnp.where(real, y, 0.0)
        pieces = real[1:] & real[:-1]
        slopes = jnp.where(pieces, jnp.diff(y) / jnp.where(pieces, jnp.diff(x), 1.0), 0.0)
        return cls(x[0], y[0], slopes[0], x[1:-1], jnp.where(pieces[1:], jnp.diff(slopes), 0.0))

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers that must be finite."""
        return self.y, self.slope, jnp.sum(self.changes)

    def at(self, x: Array) -> Array:
        """Value of the curve at a number."""
        return self.y + self.slope * (x - self.x) + jnp.sum(self.changes * jnp.maximum(x - self.nodes, 0.0))

    def area(self, x: Array) -> Array:
        """Integral of the curve from its first node to a number."""
        way = x - self.x
        return (self.y + 0.5 * self.slope * way) * way + 0.5 * jnp.sum(self.changes * jnp.maximum(x - self.nodes, 0.0) ** 2)


class _CurveNumbers(NamedTuple):
    curve: PiecewiseLinear


class CurveLaw(_CurveNumbers, LinkLaw):
    """A law that is a curve; `table` names the parameters of its nodes and of its forces there."""

    table: ClassVar[tuple[str, str]]

    @classmethod
    def of(cls, p: dict[str, Any]) -> Self:
        """The law of resolved parameters."""
        nodes, forces = cls.table
        return cls(PiecewiseLinear.of(p[nodes], p[forces]))

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return self.curve.constants
