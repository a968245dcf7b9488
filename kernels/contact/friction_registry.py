"""Selection of the friction law of a time scheme from the names of the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from tribosweep.kernels.contact.dahl import Dahl
from tribosweep.kernels.contact.friction_law import FrictionLaw
from tribosweep.kernels.contact.lugre import LuGre
from tribosweep.kernels.contact.penalised import Penalised
from tribosweep.kernels.contact.varying_friction import Varied
from tribosweep.kernels.models.friction_laws import OUTSIDE
from tribosweep.kernels.models.outside_laws import OutsideLaw

# parameter -> the law that it selects; the first parameter present counts; without any the law is Penalised
LAWS: Mapping[str, Any] = {
    **OUTSIDE,
    "bristle_stiffness": LuGre,
    "dahl_stiffness": Dahl,
    "normal_amplitude": Varied,
    "stribeck_speed": Varied,
    "belt_speed": Varied,
}


def friction_law(p: dict[str, Any]) -> FrictionLaw:
    """The law of resolved parameters (scalars). They hold the friction parameters of this run only."""
    law: Any = next((law for switch, law in LAWS.items() if switch in p), Penalised)
    if isinstance(law, OutsideLaw):  # a row without the law beside rows with it has no friction of its own here: its numbers are none
        p = {**p, law.switch: jnp.where(p[law.switch] > 0.0, p[law.switch], jnp.nan)}
    made: FrictionLaw = law.of(p)
    return made
