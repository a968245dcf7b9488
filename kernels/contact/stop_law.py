"""The interface of laws of an elastic stop to the time schemes: its force where it replaces the spring k_n and the damper c_n."""

from __future__ import annotations

from typing import Any

from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.numerics.numbers import Array

LAWS = outside_laws.laws(outside_laws.WALL)


class StopLaw:
    """The force of a stop, for one oscillator; a law is a NamedTuple of numbers that inherits from this class. It has no memory."""

    @property
    def constants(self) -> tuple[Array, ...]:
        """The numbers made of tables that must be finite; parameters that are numbers are looked at in any case."""
        return ()

    def force(self, y: Array, speed: Array) -> Array:
        """Force [N] at a compression y > 0 [m] that grows at a speed [m/s]. Where it is negative the stop pushes with 0.

        As y tends to 0 it tends to the force with which the stop receives the mass.
        """
        raise NotImplementedError


def stop_law(p: dict[str, Any]) -> tuple[StopLaw | None, Array | None]:
    """The law of resolved parameters (scalars) and whether this row has it; None for the spring k_n and the damper c_n."""
    for switch, law in LAWS.items():
        if switch in p:
            made, on = outside_laws.switched(law, p)
            return made, on
    return None, None
