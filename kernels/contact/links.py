"""All links of an oscillator beside its linear spring and damper, as a time scheme uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.hardening import Hardening
from tribosweep.kernels.contact.link_law import LinkLaw, Travel
from tribosweep.kernels.contact.maxwell import Maxwell
from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.contact.tabulated import NonlinearDamper, NonlinearSpring
from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.models.links import LINKS, OUTSIDE
from tribosweep.kernels.numerics.numbers import Array

# parameter -> the law that it selects (see `models.links.LINKS`); any number of them act side by side
LAWS: Mapping[str, Any] = {
    "spring_force": NonlinearSpring,
    "damper_force": NonlinearDamper,
    "maxwell_stiffness": Maxwell,
    "hardening_force": Hardening,
}


class _SwitchedNumbers(NamedTuple):
    law: LinkLaw
    on: Array


class Switched(_SwitchedNumbers, LinkLaw):
    """A law of another package, in rows that may not have it beside rows that have: without force there."""

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return tuple(jnp.where(self.on, number, 0.0) for number in self.law.constants)

    def at_start(self, x: Array) -> Any:
        """The state at t = 0."""
        return self.law.at_start(x)

    def along(self, state: Any, travel: Travel) -> Any:
        """The state at the end of a way."""
        return self.law.along(state, travel)

    def force(self, state: Any, x: Array, v: Array) -> Array:
        """Restoring force [N]."""
        return jnp.where(self.on, self.law.force(state, x, v), 0.0)

    def dissipated(self, before: Any, travel: Travel, after: Any) -> Array:
        """Energy dissipated on a way [J]."""
        return jnp.where(self.on, self.law.dissipated(before, travel, after), 0.0)

    def finish(self, state: Any) -> dict[str, Array]:
        """The observables of the law."""
        return self.law.finish(state)


class LinkMemory(NamedTuple):
    """What the links remember from one evaluation to the next: velocity of the mass [m/s], and the state of each law."""

    speed: Array
    states: tuple[Any, ...]


class Links(NamedTuple):
    """The links of an oscillator.

    Attributes:
        laws: at least one. x0: displacement at t = 0 [m].
    """

    laws: tuple[LinkLaw, ...]
    x0: Array

    @classmethod
    def of(cls, p: dict[str, Any]) -> Links | None:
        """The links of resolved parameters (scalars, tables (n,)), which hold only the links of this run; None without any."""
        made = {name: Switched(*outside_laws.switched(law, p)) for name, law in OUTSIDE.items() if name in p}
        laws = tuple(made[name] if name in made else LAWS[name].of(p) for name in LINKS if name in p)
        return cls(laws, p["x0"]) if laws else None

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers that must be finite."""
        return tuple(number for law in self.laws for number in law.constants)

    def at_start(self, v: Array) -> LinkMemory:
        """The memory at t = 0, before any evaluation."""
        x0 = self.x0 + 0.0 * v
        return LinkMemory(v, tuple(law.at_start(x0) for law in self.laws))

    def along(self, memory: LinkMemory, travel: Travel) -> tuple[Any, ...]:
        """The states of the laws at the end of a way, from the memory at its beginning."""
        return tuple(law.along(state, travel) for law, state in zip(self.laws, memory.states, strict=True))

    def evaluate(self, memory: LinkMemory, x: Array, moved: Array, v: Array, elapsed: Array) -> LinkMemory:
        """The memory of a mass that has `moved` [m] to x [m] in the `elapsed` time [s] and is now at a velocity [m/s]."""
        return LinkMemory(v, self.along(memory, Travel(x - moved, Path.of(elapsed, memory.speed, v, moved))))

    def force(self, memory: LinkMemory, x: Array, v: Array) -> Array:
        """Restoring force of all links [N], from their memory, displacement [m] and velocity [m/s]."""
        return sum((law.force(state, x, v) for law, state in zip(self.laws, memory.states, strict=True)), 0.0 * x)

    def dissipated(self, memory: LinkMemory, travel: Travel, begin: Array | float, end: Array | float) -> Array:
        """Energy dissipated between two fractions of a step [J], from the memory at its beginning."""
        first = memory.states if isinstance(begin, float) and begin == 0.0 else self.along(memory, travel.part(0.0, begin))
        part, total = travel.part(begin, end), 0.0 * travel.x
        for law, state in zip(self.laws, first, strict=True):
            total = total + law.dissipated(state, part, law.along(state, part))
        return jnp.where(jnp.asarray(end) > begin, total, 0.0)

    def finish(self, memory: LinkMemory) -> dict[str, Array]:
        """The observables of the laws at the end of the run, by name."""
        found: dict[str, Array] = {}
        for law, state in zip(self.laws, memory.states, strict=True):
            found |= law.finish(state)
        return found
