"""Parameters of the laws of friction of the time schemes that replace the spring k_t and the damper c_t. Nothing here imports JAX.

The first parameter of a law switches it on; it is 0 in a row without the law. `kernels/contact/lugre.py` and `dahl.py` have the equations
of presliding friction; other packages bring further laws (`outside_laws`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.models.quantity import Quantity

# the parameter that switches a law on -> the parameters that only programs with the law read, that one first
PRESLIDING: Mapping[str, tuple[Quantity, ...]] = {
    "bristle_stiffness": (
        Quantity("bristle_stiffness", "N/m", "stiffness of the bristles of LuGre friction, replaces k_t and c_t; 0: no LuGre friction",
                 r"\sigma_0", default=0.0, lower=0.0),
        Quantity("bristle_damping", "N s/m", "damping of the bristles of LuGre friction", r"\sigma_1", default=0.0, lower=0.0),
        Quantity("viscous_friction", "N s/m", "viscous friction of the LuGre law, times the velocity against the support", r"\sigma_2",
                 default=0.0, lower=0.0),
    ),
    "dahl_stiffness": (
        Quantity("dahl_stiffness", "N/m", "stiffness at rest of Dahl friction, which replaces k_t and c_t; 0: no Dahl friction",
                 r"\sigma_\mathrm{Dahl}", default=0.0, lower=0.0),
        Quantity("dahl_exponent", "1", "exponent n of Dahl's law, dF/dx = dahl_stiffness |1 - F/F_c|^n", "n", default=1.0, lower=0.0),
    ),
}  # fmt: skip
OUTSIDE = outside_laws.laws(outside_laws.FRICTION)
FRICTION_LAWS: Mapping[str, tuple[Quantity, ...]] = {**PRESLIDING, **{switch: law.parameters for switch, law in OUTSIDE.items()}}
PARAMETERS = tuple(quantity for law in FRICTION_LAWS.values() for quantity in law)


def has_law(p: Mapping[str, Any]) -> Any:
    """Mask of the rows of parameters whose friction is by one of these laws."""
    return sum(1 * has(p, switch) for switch in FRICTION_LAWS) > 0


def has(p: Mapping[str, Any], switch: str) -> Any:
    """Mask of the rows of parameters that have the law of a switch."""
    return np.asarray(p.get(switch, 0.0)) > 0.0


def stiffness_and_damping(p: Mapping[str, Any]) -> tuple[Any, Any]:
    """Stiffness [N/m] of the contact by these laws, and damping with viscous friction [N s/m]; 0 where a row has none."""
    stiffness = sum(np.asarray(p.get(switch, 0.0)) for switch in PRESLIDING)
    damping = np.asarray(p.get("bristle_damping", 0.0)) + p.get("viscous_friction", 0.0)
    return outside_laws.added(OUTSIDE, p, stiffness, damping)
