"""Published values of links beyond a linear spring and damper: SDND103."""

from __future__ import annotations

import math
from typing import Any

from kernels.models.quantity import by_name
from kernels.models.rubbing_mass import RUBBING_MASS
from kernels.reference.case import Case

_UNITS = {name: quantity.unit for name, quantity in by_name(RUBBING_MASS.observables).items()}

# SDND103: a spring that softens, F = K x (1 - (|x| - 1e-6 m) / X), shaken so that x = A sin(w t) without that 1e-6 m
_MASS, _STIFFNESS, _WIDTH, _AMPLITUDE, _RATE = 450.0, 1e5, 0.1, 0.01, math.pi / 4.0
_NODES = tuple(5e-5 * n for n in range(-220, 221))
_SOFTENING = tuple(_STIFFNESS * x * (1.0 - max(abs(x) - 1e-6, 0.0) / _WIDTH) for x in _NODES)
_SINES = range(1, 62, 2)  # the acceleration has sin(w t) |sin(w t)|, whose Fourier series has odd sines alone


def _softening_spring() -> dict[str, Any]:
    """SDND103 without its end: parameters of the rubbing mass."""
    series = {n: 8.0 / (math.pi * n * (4.0 - n * n)) for n in _SINES}
    shaken = [_AMPLITUDE**2 * _STIFFNESS / (_MASS * _WIDTH) * value for value in series.values()]
    shaken[0] += _AMPLITUDE * (_RATE**2 - _STIFFNESS / _MASS)
    return {
        "m": _MASS,
        "mu": 0.0,
        "v0": _RATE * _AMPLITUDE,
        "spring_displacement": _NODES,
        "spring_force": _SOFTENING,
        "tone_a0": tuple(shaken),
        "tone_omega": tuple(_RATE * n for n in _SINES),
    }


_SDND103 = _softening_spring()
_STEPS_103: dict[str, dict[str, float]] = {"euler": {"step": 2e-3}, "devogelaere": {"step": 0.02}, "rk54": {}}

CASES: tuple[Case, ...] = tuple(
    Case(
        f"SDND103, nonlinear spring, t = {end:g} s",
        scheme,
        "x_end",
        _UNITS["x_end"],
        sign * _AMPLITUDE,
        1e-3,
        "SDND103, V5.01.103, closed form",
        {**_SDND103, **steps, "end": end},
        "The document prints 9.99988e-3 m by its schemes: below 1e-6 m its spring does not soften, which the closed form leaves out.",
    )
    for scheme, steps in _STEPS_103.items()
    for end, sign in ((2.0, 1.0), (6.0, -1.0), (10.0, 1.0), (14.0, -1.0), (18.0, 1.0))
)
