"""The rubbing mass (SDND104)."""

from __future__ import annotations

from typing import Any

from tribosweep.kernels.models import links, observables, parameters, rules
from tribosweep.kernels.models.model import Model
from tribosweep.kernels.models.quantity import Values
from tribosweep.kernels.models.schemes import SCHEMES


def derive(values: Values, xp: Any) -> dict[str, Any]:
    """Fill in what follows from other parameters."""
    p = dict(values)
    parameters.derive_friction(p, xp)
    p.setdefault("normal_force", p["m"] * p["g"])
    parameters.derive_excitation(p, xp)
    parameters.derive_time(p, xp)
    parameters.derive_wear_law(p)
    return p


RUBBING_MASS = Model(
    name="rubbing_mass",
    description="a mass that rubs on a shaken support: m x'' + c x' + k x = (f0 - m a0) sin(omega t + phase) + load + F_t, |F_t| <= mu F_n",
    parameters=(*parameters.OSCILLATOR, *parameters.EXCITATION, *parameters.WEAR_LAW, *parameters.TIME),
    observables=(
        *observables.WEAR_OBSERVABLES,
        *observables.WORN_OBSERVABLES,
        *observables.RUBBING_STATISTICS,
        *links.OBSERVABLES,
        *observables.RUN_OBSERVABLES,
    ),
    schemes=tuple(SCHEMES),
    penalty=("k_t", "c_t"),
    implied=("mu", "g", *(q.name for q in parameters.WEAR_LAW)),
    steady=True,
    derive=derive,
    rules=(*rules.WINDOW_RULES, *rules.EXCITATION_RULES, *rules.FRICTION_RULES, *rules.LINK_RULES, *rules.STEP_RULES),
)
