"""The rubbing mass (SDND104)."""

from __future__ import annotations

from typing import Any

from kernels.models.model import Model
from kernels.models.schemes import SCHEMES, Values
from kernels.models.shared import (
    EXCITATION,
    EXCITATION_RULES,
    FRICTION_RULES,
    OSCILLATOR,
    RUBBING_STATISTICS,
    RUN_OBSERVABLES,
    STEP_RULES,
    TIME,
    WEAR_LAW,
    WEAR_OBSERVABLES,
    WINDOW_RULES,
    WORN_OBSERVABLES,
    derive_excitation,
    derive_friction,
    derive_time,
    derive_wear_law,
)


def derive(values: Values, xp: Any) -> dict[str, Any]:
    """Fill in what follows from other parameters."""
    p = dict(values)
    derive_friction(p, xp)
    p.setdefault("normal_force", p["m"] * p["g"])
    derive_excitation(p, xp)
    derive_time(p, xp)
    derive_wear_law(p)
    return p


RUBBING_MASS = Model(
    name="rubbing_mass",
    description="a mass that rubs on a shaken support: m x'' + c x' + k x = (f0 - m a0) sin(omega t + phase) + load + F_t, |F_t| <= mu F_n",
    parameters=(*OSCILLATOR, *EXCITATION, *WEAR_LAW, *TIME),
    observables=(*WEAR_OBSERVABLES, *WORN_OBSERVABLES, *RUBBING_STATISTICS, *RUN_OBSERVABLES),
    schemes=tuple(SCHEMES),
    penalty=("k_t", "c_t"),
    implied=("mu", "g", *(q.name for q in WEAR_LAW)),
    steady=True,
    derive=derive,
    rules=(*WINDOW_RULES, *EXCITATION_RULES, *FRICTION_RULES, *STEP_RULES),
)
