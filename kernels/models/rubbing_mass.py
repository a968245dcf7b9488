"""The rubbing mass (SDND104)."""

from __future__ import annotations

from typing import Any

from kernels.models.model import Model
from kernels.models.shared import (
    EXCITATION,
    EXCITATION_RULES,
    FRICTION_RULES,
    OSCILLATOR,
    RUN_OBSERVABLES,
    STEP_RULES,
    TIME,
    WEAR_OBSERVABLES,
    WINDOW_RULES,
    derive_excitation,
    derive_friction,
    derive_time,
)
from kernels.schemes import SCHEMES, Values


def derive(values: Values, xp: Any) -> dict[str, Any]:
    """Fill in what follows from other parameters."""
    p = dict(values)
    derive_friction(p, xp)
    p.setdefault("normal_force", p["m"] * p["g"])
    derive_excitation(p, xp)
    derive_time(p, xp)
    return p


RUBBING_MASS = Model(
    name="rubbing_mass",
    description="a mass that rubs on a shaken support: m x'' + c x' + k x = (f0 - m a0) sin(omega t + phase) + load + F_t, |F_t| <= mu F_n",
    parameters=(*OSCILLATOR, *EXCITATION, *TIME),
    observables=(*WEAR_OBSERVABLES, *RUN_OBSERVABLES),
    schemes=tuple(SCHEMES),
    penalty=("k_t", "c_t"),
    implied=("mu", "g"),
    steady=True,
    derive=derive,
    rules=(*WINDOW_RULES, *EXCITATION_RULES, *FRICTION_RULES, *STEP_RULES),
)
