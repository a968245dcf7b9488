"""Which law of friction a run of a time scheme has: looked up by the parameters that it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernels.contact.coulomb import Penalised
from kernels.contact.dahl import Dahl
from kernels.contact.friction_law import FrictionLaw
from kernels.contact.lugre import LuGre
from kernels.contact.varying_friction import Varied

# the parameter that switches a law on -> the law; the first that a run has counts, and Penalised where it has none
LAWS: Mapping[str, Any] = {
    "bristle_stiffness": LuGre,
    "dahl_stiffness": Dahl,
    "normal_amplitude": Varied,
    "stribeck_speed": Varied,
    "belt_speed": Varied,
}


def friction_law(p: dict[str, Any]) -> FrictionLaw:
    """The law of resolved parameters (scalars), among which are those of the parts of friction that the run has, and no others."""
    law: Any = next((law for switch, law in LAWS.items() if switch in p), Penalised)
    made: FrictionLaw = law.of(p)
    return made
