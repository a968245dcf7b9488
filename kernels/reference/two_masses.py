"""SDND106: two masses joined by a spring, of which one is pulled and the other rubs. Its model and its published values.

The normal force is constant: the floor is pressed in by 1 m, and nothing moves across it. Source: SDND106, V5.01.106, with the values that
its test case SDND106A holds (absolute tolerance 1e-4). There k_t = 5e7 N/m, and the steps of ADAPT_ORDRE2 are 1e-4 s.
"""

from __future__ import annotations

import numpy as np

from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.structures import FORCE, Load, Structure
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.reference.case import Case

NAME = "two masses"
RUBBING, PULLED = "rubbing", "pulled"
_ALONG = np.eye(3)[:, :1]  # both move along x
_BASIS = Basis.of_matrices(
    np.diag([5.0, 5.0]),
    1e4 * np.array([[1.0, -1.0], [-1.0, 1.0]]),
    np.zeros((2, 2)),
    {RUBBING: _ALONG * [1.0, 0.0], PULLED: _ALONG * [0.0, 1.0]},
    np.zeros((3, 2)),
)
TWO_MASSES = Structure(
    _BASIS,
    [Support("floor", RUBBING, axes=((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))],
    [Load("pull", FORCE, point=PULLED)],
    observed=[RUBBING, PULLED],
).model
_COMMON = {
    "gap": -1.0, "k_n": 1e4, "mu_s": 0.3, "mu_d": 0.2, "pulse[pull]": 1.0, "pulse_amplitude[pull]": 3000.0, "pulse_duration[pull]": 0.2,
    "largest_step": 1e-4,
}  # fmt: skip
STIFF = {**_COMMON, "k_t": 5e9, "c_t": 3.16e5, "step": 1e-5}  # by rk54; as good as rigid friction
AS_PUBLISHED = {**_COMMON, "k_t": 5e7, "c_t": 3.16e4, "step": 1e-4}  # by adapt2; c_t is critical, as that tool's default
TOLERANCE = 1e-4  # absolute
TOLERANCE_OF_LAST = 2e-3  # of the last displacement, which the document grants its own scheme
PUBLISHED = (
    (0.02, "x_end[rubbing]", 0.0),
    (0.02, "x_end[pulled]", 0.11221),
    (0.15, "x_end[rubbing]", 1.35332),
    (0.15, "x_end[pulled]", 1.80751),
    (0.339965, "x_rate_end[rubbing]", 0.0),
    (0.339965, "x_end[pulled]", 3.96813),
)
_UNITS = {name: quantity.unit for name, quantity in by_name(TWO_MASSES.observables).items()}
CASES = tuple(
    Case(
        f"SDND106 at {end:g} s, {name}",
        scheme,
        name,
        _UNITS[name],
        value,
        tolerance / (value or 1.0),
        "SDND106A, V5.01.106",
        {**config, "end": end},
        f"{how}. The document asks for {tolerance:g}, absolute.",
        NAME,
    )
    for scheme, how, config, last in (
        ("rk54", "k_t = 5e9 N/m, as good as rigid", STIFF, TOLERANCE),
        ("adapt2", "k_t = 5e7 N/m and the step of the document", AS_PUBLISHED, TOLERANCE_OF_LAST),
    )
    for (end, name, value), tolerance in zip(PUBLISHED, (*[TOLERANCE] * 5, last), strict=True)
)
