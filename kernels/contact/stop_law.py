"""The interface of laws of an elastic stop to the time schemes: its force where it replaces the spring k_n and the damper c_n."""

from __future__ import annotations

from typing import Any

from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.numerics.numbers import Array

LAWS = outside_laws.laws(outside_laws.WALL)


class StopLaw:
    """The force of a stop, for one oscillator; a law is a NamedTuple of numbers that inherits from this class. It has no memory."""

    def force(self, y: Array, speed: Array) -> Array:
        """Force [N] at a compression y > 0 [m] that grows at a speed [m/s]. Where it is negative the stop pushes with 0.

        As y tends to 0 it tends to the force with which the stop receives the mass.
        """
        raise NotImplementedError


def stop_law(p: dict[str, Any]) -> StopLaw | None:
    """The law of resolved parameters (scalars); None for the spring k_n and the damper c_n."""
    return next((law.of(p) for switch, law in LAWS.items() if switch in p), None)
