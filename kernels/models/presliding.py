"""Parameters of the laws of presliding friction, which time schemes have. Nothing here imports JAX.

The stiffness of a law switches it on; it is 0 in a row without the law. `kernels/contact/lugre.py` and `dahl.py` have the equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tribosweep.kernels.models import arrays as np
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
PARAMETERS = tuple(quantity for law in PRESLIDING.values() for quantity in law)


def presliding(p: Mapping[str, Any]) -> Any:
    """Mask of the rows of parameters that have a law of presliding friction."""
    return stiffness(p) > 0.0


def stiffness(p: Mapping[str, Any]) -> Any:
    """Stiffness of the bristles [N/m]; 0 where a row has none."""
    return sum(np.asarray(p.get(switch, 0.0)) for switch in PRESLIDING)


def damping(p: Mapping[str, Any]) -> Any:
    """Damping of the bristles and viscous friction [N s/m]; 0 where a row has neither."""
    return np.asarray(p.get("bristle_damping", 0.0)) + p.get("viscous_friction", 0.0)
