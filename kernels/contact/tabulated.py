"""Links whose force is a table: a nonlinear spring F(x), a nonlinear damper F(v).

Source: behaviours RELA_EFFO_DEPL and RELA_EFFO_VITE of Code_Aster, whose SDND103 (V5.01.103) the nonlinear spring runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kernels.contact.link_law import Curve, LinkLaw, Travel
from kernels.numerics.numbers import Array


class _SpringNumbers(NamedTuple):
    curve: Curve


class NonlinearSpring(_SpringNumbers, LinkLaw):
    """A spring whose force is a table of displacements."""

    @classmethod
    def of(cls, p: dict[str, Any]) -> NonlinearSpring:
        """The law of resolved parameters."""
        return cls(Curve.of(p["spring_displacement"], p["spring_force"]))

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return self.curve.constants

    def at_start(self, x: Array) -> tuple[()]:  # noqa: ARG002 (no state)
        """It has no state."""
        return ()

    def along(self, state: tuple[()], travel: Travel) -> tuple[()]:  # noqa: ARG002 (no state)
        """It has no state."""
        return state

    def force(self, state: tuple[()], x: Array, v: Array) -> Array:  # noqa: ARG002 (a spring)
        """Restoring force [N]."""
        return self.curve.at(x)

    def dissipated(self, before: tuple[()], travel: Travel, after: tuple[()]) -> Array:  # noqa: ARG002 (a spring)
        """A spring dissipates nothing."""
        return 0.0 * travel.x


class _DamperNumbers(NamedTuple):
    curve: Curve


class NonlinearDamper(_DamperNumbers, LinkLaw):
    """A damper whose force is a table of velocities."""

    @classmethod
    def of(cls, p: dict[str, Any]) -> NonlinearDamper:
        """The law of resolved parameters."""
        return cls(Curve.of(p["damper_velocity"], p["damper_force"]))

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers of the law that must be finite."""
        return self.curve.constants

    def at_start(self, x: Array) -> tuple[()]:  # noqa: ARG002 (no state)
        """It has no state."""
        return ()

    def along(self, state: tuple[()], travel: Travel) -> tuple[()]:  # noqa: ARG002 (no state)
        """It has no state."""
        return state

    def force(self, state: tuple[()], x: Array, v: Array) -> Array:  # noqa: ARG002 (a damper)
        """Resisting force [N]."""
        return self.curve.at(v)

    def dissipated(self, before: tuple[()], travel: Travel, after: tuple[()]) -> Array:  # noqa: ARG002 (no state)
        """Integral of force times velocity [J], by Simpson's rule."""
        path = travel.path
        works = [self.curve.at(path.velocity(u)) * path.pace(u) for u in (0.0, 0.5, 1.0)]
        return (works[0] + 4.0 * works[1] + works[2]) / 6.0
