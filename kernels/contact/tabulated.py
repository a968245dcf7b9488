"""Links whose force is a table: a nonlinear spring F(x), a nonlinear damper F(v).

Source: behaviours RELA_EFFO_DEPL and RELA_EFFO_VITE of Code_Aster, whose SDND103 (V5.01.103) the nonlinear spring runs.
"""

from __future__ import annotations

from tribosweep.kernels.contact.link_law import CurveLaw, Travel
from tribosweep.kernels.numerics.numbers import Array


class _Stateless(CurveLaw):
    """A link whose force follows from displacement and velocity alone."""

    def at_start(self, x: Array) -> tuple[()]:  # noqa: ARG002 (no state)
        """It has no state."""
        return ()

    def along(self, state: tuple[()], travel: Travel) -> tuple[()]:  # noqa: ARG002 (no state)
        """It has no state."""
        return state


class NonlinearSpring(_Stateless):
    """A spring whose force is a table of displacements."""

    table = ("spring_displacement", "spring_force")

    def force(self, state: tuple[()], x: Array, v: Array) -> Array:  # noqa: ARG002 (a spring)
        """Restoring force [N]."""
        return self.curve.at(x)

    def dissipated(self, before: tuple[()], travel: Travel, after: tuple[()]) -> Array:  # noqa: ARG002 (a spring)
        """A spring dissipates nothing."""
        return 0.0 * travel.x


class NonlinearDamper(_Stateless):
    """A damper whose force is a table of velocities."""

    table = ("damper_velocity", "damper_force")

    def force(self, state: tuple[()], x: Array, v: Array) -> Array:  # noqa: ARG002 (a damper)
        """Resisting force [N]."""
        return self.curve.at(v)

    def dissipated(self, before: tuple[()], travel: Travel, after: tuple[()]) -> Array:  # noqa: ARG002 (no state)
        """Integral of force times velocity [J], by Simpson's rule."""
        path = travel.path
        works = [self.curve.at(path.velocity(u)) * path.pace(u) for u in (0.0, 0.5, 1.0)]
        return (works[0] + 4.0 * works[1] + works[2]) / 6.0
