"""Published values of links beyond a linear spring and damper: SDND103, SDND107 and SDND124."""

from __future__ import annotations

import math
from typing import Any

from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.rubbing_mass import RUBBING_MASS
from tribosweep.kernels.reference.case import Case

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

# SDND107: k1 in series with k2, beside which are k3 and a dashpot C in series; a mass pulled by its foot (A) or shaken (B, C)
_K1, _K2, _K3, _C = 120.0, 10.0, 60.0, 1.7


def zener(k1: float, k2: float, k3: float, c: float, exponent: float) -> dict[str, float]:
    """The parameters k, maxwell_stiffness, maxwell_damping and maxwell_exponent of the link DIS_VISC with K1, K2, K3, C, PUIS_ALPHA."""
    total, ratio = k1 + k2 + k3, (k1 + k2) / k1
    return {
        "k": k1 * k2 / (k1 + k2),
        "maxwell_stiffness": k1 * k1 * k3 / (total * (k1 + k2)),
        "maxwell_damping": c / ratio ** (1.0 + exponent),
        "maxwell_exponent": exponent,
    }


def released(t: float) -> float:
    """SDND107 A in closed form: displacement [m] of the mass against its foot, which jumps by 0.1 m at t = 0."""
    slow, omega = math.exp(-1573.0 / 2072.0 * t), 14593.0 / 4792.0
    swing = 5516.0 / 214807.0 * math.sin(omega * t) - 3137.0 / 29305.0 * math.cos(omega * t)
    return slow * swing + 413.0 / 58610.0 * math.exp(-38132.0 / 1685.0 * t)


def _viscoelastic(exponent: float) -> dict[str, Any]:
    """The link of SDND107 as parameters of the rubbing mass."""
    found: dict[str, Any] = zener(_K1, _K2, _K3, _C, exponent)
    tables = {name: (found[name],) for name in ("maxwell_stiffness", "maxwell_damping")}
    return {"m": 1.0, "mu": 0.0, **found, **tables}


_SDND107_A = {**_viscoelastic(1.0), "x0": -0.1}
_SDND107_C = {**_viscoelastic(0.5), "a0": 1.0, "omega": 10.0 * math.pi}
_SDND107_C["k"] += 1.0  # a spring of 1 N/m to a support that moves along
_SHAKEN = {0.1: -3.09076712e-3, 0.2: -4.90498885e-3, 0.4: -3.33665136e-3, 0.6: 1.09544323e-3, 0.8: 1.76840310e-3}
_STEPS_107: dict[str, dict[str, float]] = {"euler": {"step": 2e-5}, "devogelaere": {"step": 1e-3}, "rk54": {"tolerance": 1e-9}}


def _sdnd107(name: str, source: str, config: dict[str, Any], values: dict[float, float], tolerance: float) -> list[Case]:
    """The cases of displacements [m] at times [s]."""
    return [
        Case(f"SDND107 {name}, t = {end:g} s", scheme, "x_end", _UNITS["x_end"], value, tolerance, source, {**config, **steps, "end": end})
        for scheme, steps in _STEPS_107.items()
        for end, value in values.items()
    ]


# SDND124: a mass between a linear spring and an elasto-plastic link whose feet move along, by the document's Runge-Kutta scheme (B)
_YIELD, _HIGHEST, _ELASTIC, _BEND = 200.0, 450.0, 400.0, 1.5


def hardening_curve(most: float, step: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Displacements [m] and forces [N] of the link of SDND124 up to a displacement beyond its elastic limit."""
    beyond = [step * n for n in range(round(most / step) + 1)]
    forces = [_YIELD + _ELASTIC * x / (1.0 + (_ELASTIC * x / (_HIGHEST - _YIELD)) ** _BEND) ** (1.0 / _BEND) for x in beyond]
    return (0.0, *(x + _YIELD / _ELASTIC for x in beyond)), (0.0, *forces)


_CURVE = hardening_curve(5.0, 0.02)
_SDND124: dict[str, Any] = {"m": 200.0, "mu": 0.0, "k": 400.0, "a0": -6.0, "omega": math.pi, "tolerance": 1e-8}
_SDND124 |= {"hardening_displacement": _CURVE[0], "hardening_force": _CURVE[1]}
_YIELDED = {  # time -> force of the link [N], displacement [m], energy dissipated [J]
    1.275: (404.88913151, 1.7698015185, 277.61584657),
    2.525: (-435.61384847, -2.0647488879, 1014.8609295),
    3.625: (439.22358796, 0.77296791458, 1299.613046),
    9.5: (228.50594731, 0.87186811306, 1716.7488224),
    31.5: (378.00091336, 0.94341885317, 1949.9811116),
}
_OF_THE_LINK = ("link_force_end", "x_end", "link_dissipation")

CASES: tuple[Case, ...] = (
    *(
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
    ),
    *_sdnd107("A, Zener", "SDND107, V5.01.107, closed form", _SDND107_A, {t: released(t) for t in (0.876, 1.904, 2.936, 3.968)}, 1e-4),
    *_sdnd107("C, dashpot of exponent 0.5", "SDND107, V5.01.107, Runge-Kutta", _SDND107_C, _SHAKEN, 1e-5),
    *(
        Case(
            f"SDND124 B, {name}, t = {end:g} s",
            "rk54",
            name,
            _UNITS[name],
            value,
            1e-3,
            "SDND124, V5.01.124, model B by RUNGE_KUTTA_54",
            {**_SDND124, "end": end},
            "The document's run interpolates the acceleration between samples 0.0125 s apart; with the same samples ours differs by 2e-4.",
        )
        for end, values in _YIELDED.items()
        for name, value in zip(_OF_THE_LINK, values, strict=True)
    ),
)
