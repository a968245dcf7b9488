"""The parameters that models share, and the defaults that follow from others. Nothing here imports JAX."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tribosweep.kernels.models.arrays import is_traced
from tribosweep.kernels.models.friction_laws import PARAMETERS as FRICTION_LAW_PARAMETERS
from tribosweep.kernels.models.links import PARAMETERS as LINK_PARAMETERS
from tribosweep.kernels.models.loads import PULSES_OF_A_MASS, TABLES, fastest_of_pulse, is_none
from tribosweep.kernels.models.quantity import Quantity

OSCILLATOR = (
    Quantity("m", "kg", "mass", "m", default=1.0, lower=0.0, lower_open=True),
    Quantity("g", "m/s^2", "gravity, which presses the mass on its support", "g", default=10.0, lower=0.0),
    Quantity("k", "N/m", "stiffness of the spring to the support: m (2 pi f)^2 for the natural frequency f", "k", default=0.0, lower=0.0),
    Quantity("c", "N s/m", "viscous damping to the support: 2 zeta sqrt(k m) for the damping ratio zeta", "c", default=0.0, lower=0.0),
    Quantity("x0", "m", "initial displacement relative to the support", "x_0", default=0.0),
    Quantity("v0", "m/s", "initial velocity relative to the support", "v_0", default=0.0),
    Quantity("mu", "1", "Coulomb friction coefficient", r"\mu", default=0.1, lower=0.0),
    Quantity("mu_s", "1", "static friction coefficient", r"\mu_s", default_rule="mu", lower=0.0),
    Quantity("mu_d", "1", "dynamic friction coefficient", r"\mu_d", default_rule="mu", lower=0.0),
    Quantity("normal_force", "N", "normal force on the contact", "F_n", default_rule="m g", lower=0.0),
    Quantity("normal_amplitude", "N", "amplitude of a normal force that varies: n = normal_force + normal_amplitude sin(normal_omega t + "
             "normal_phase)", "n_1", default=0.0),
    Quantity("normal_omega", "rad/s", "circular frequency of the normal force", r"\omega_n", default_rule="omega", lower=0.0,
             lower_open=True),
    Quantity("normal_phase", "rad", "phase of the normal force at t = 0", r"\varphi_n", default=0.0),
    Quantity("friction_sides", "", "surfaces that a varying normal force presses: 1, F_n = max(0, n), contact is lost where n <= 0; 2, the "
             "mass is between two, F_n = |n|", kind="integer", default=1.0, lower=1.0, upper=2.0),
    Quantity("stribeck_speed", "m/s", "slip speed over which friction falls from mu_s to mu_d (Stribeck)", "v_s",
             default_rule="absent: friction is mu_d at any slip speed", lower=0.0, lower_open=True),
    Quantity("stribeck_exponent", "1", "exponent d of mu(v) = mu_d + (mu_s - mu_d) exp(-(|v| / stribeck_speed)^d)", "d", default=1.0,
             lower=0.0, lower_open=True),
    Quantity("belt_speed", "m/s", "constant velocity of the surface that the mass rubs on, as of a belt", r"v_\mathrm{belt}", default=0.0),
    Quantity("k_t", "N/m", "tangential stiffness of the penalised contact", "k_t", default_rule="absent: rigid Coulomb friction",
             lower=0.0, lower_open=True),
    Quantity("c_t", "N s/m", "tangential damping of the penalised contact", "c_t",
             default_rule="critical damping of the stuck mass, max(0, 2 sqrt(m (k + k_t)) - c)", lower=0.0),
    *FRICTION_LAW_PARAMETERS,
    *LINK_PARAMETERS,
    Quantity("a0", "m/s^2", "amplitude of the base acceleration a0 sin(omega t + phase)", "a_0", default=0.0),
    Quantity("omega", "rad/s", "circular frequency of the excitation", r"\omega", default=2.0 * math.pi, lower=0.0, lower_open=True),
    Quantity("phase", "rad", "phase of the excitation at t = 0", r"\varphi", default=0.0),
    Quantity("f0", "N", "amplitude of the harmonic force f0 sin(omega t + phase)", "f_0", default=0.0),
    Quantity("load", "N", "constant force", r"F_\mathrm{load}", default=0.0),
)  # fmt: skip

EXCITATION = (
    Quantity("sweep_rate", "rad/s^2", "rate at which omega grows: its sine is that of omega t + sweep_rate t^2 / 2 + phase", default=0.0),
    Quantity("tone_a0", "m/s^2", "amplitudes of more base accelerations tone_a0 sin(tone_omega t + tone_phase)", kind="list", default=()),
    Quantity("tone_omega", "rad/s", "circular frequencies of the tones", kind="list", default=(), lower=0.0, lower_open=True),
    Quantity("tone_phase", "rad", "phases of the tones at t = 0", kind="list", default_rule="0 for each"),
    Quantity("record", "", "which record of base acceleration is added, counted from 0", kind="integer", default_rule="absent: none",
             lower=0.0),
    Quantity("record_scale", "1", "factor of the record", default=1.0),
    *TABLES,
    *PULSES_OF_A_MASS,
)  # fmt: skip

WEAR_LAW = (
    Quantity("service_time", "s", "time in service over which wear volumes are computed", r"t_\mathrm{service}",
             default_rule="absent: no volumes", lower=0.0),
    Quantity("archard_k", "1/Pa", "wear coefficient of Archard: worn volume over normal force times slip distance", "K",
             default_rule="absent: no volume by Archard", lower=0.0),
    Quantity("contact_area", "m^2", "area over which the volume is worn, flat on flat", r"A_\mathrm{contact}",
             default_rule="absent: no depths", lower=0.0, lower_open=True),
    Quantity("edf_a", "m^3/s", "A of the law EDF-MZ: initial wear rate at a power of 1 W", "A", default=1e-13, lower=0.0,
             lower_open=True),
    Quantity("edf_b", "1", "B of the law EDF-MZ: exponent of the power", "B", default=1.2, lower=0.0, lower_open=True),
    Quantity("edf_n", "1/s", "N of the law EDF-MZ: how fast the wear rate falls from its initial to its final value", "N", default=2.44e-8,
             lower=0.0),
    Quantity("edf_s", "m^3/s", "S of the law EDF-MZ: final wear rate", "S", default=1.14e-16, lower=0.0),
)  # fmt: skip

TIME = (
    Quantity("end", "s", "end of the run, which starts at 0", r"t_\mathrm{end}", default=12.0, lower=0.0, lower_open=True),
    Quantity("step", "s", "largest step of the fixed-step schemes, which divide the run into equal steps; first step of the others",
             "h", default=1e-4, lower=0.0, lower_open=True),
    Quantity("largest_step", "s", "largest step of the schemes that choose their steps",
             default_rule="a twentieth of the shortest period, pi / (10 omega); with a record at most its interval, with a pulse at "
             "most a tenth of its duration",
             lower=0.0, lower_open=True),
    Quantity("smallest_step", "s", "smallest step of the schemes that choose their steps; a run that needs a smaller one fails "
             "(adapt1 and adapt2 start from rest with 1e-4 step)",
             default_rule="1e-6 step", lower=0.0, lower_open=True),
    Quantity("tolerance", "1", "largest error of a step of rk32 and rk54, relative to the largest displacement and speed so far",
             default=1e-7, lower=0.0, lower_open=True),
    Quantity("retries", "1", "how many times adapt1 and adapt2 shorten one step before they take it as it is", default=16.0, lower=0.0),
    Quantity("window_start", "s", 'start of the averaging window; in a study [time] window = [start, end], or "steady"', r"t_a",
             default=0.0, lower=0.0),
    Quantity("window_end", "s", "end of the averaging window", r"t_b", default_rule="end", lower=0.0, lower_open=True),
)  # fmt: skip


def _is_zero(value: Any) -> bool:
    """Whether a value is the plain number 0."""
    return isinstance(value, float | int) and value == 0.0


def derive_friction(p: dict[str, Any], xp: Any) -> None:
    """Fill in, in place, mu_s, mu_d, normal_omega, k_t (inf: rigid), c_t (critical damping) and stribeck_speed (NaN: absent)."""
    p.setdefault("mu_s", p["mu"])
    p.setdefault("mu_d", p["mu"])
    p.setdefault("normal_omega", p["omega"])
    p.setdefault("stribeck_speed", math.nan)
    p.setdefault("k_t", math.inf)
    if "c_t" not in p:
        rigid = xp.isinf(p["k_t"])  # guarded, as the derivative of the root of infinity is NaN
        critical = 2.0 * xp.sqrt(p["m"] * (p["k"] + xp.where(rigid, 1.0, p["k_t"])))
        p["c_t"] = xp.where(rigid, math.inf, xp.maximum(0.0, critical - p["c"]))


def normal_force_of_motion(params: Mapping[str, Any], resolved: Mapping[str, Any]) -> Any:
    """The normal force [N] that programs read, of parameters as they were given and resolved.

    Beside walls its default is 0 without friction. Where a coefficient is traced it is m g at mu = 0 too, so that the friction mu m g has
    its derivative by mu there; nothing else of the motion depends on it.
    """
    if "normal_force" not in params and any(is_traced(params.get(name)) for name in ("mu", "mu_s")):
        return resolved["m"] * resolved["g"]
    return resolved["normal_force"]


def derive_excitation(p: dict[str, Any], xp: Any) -> None:
    """Fill in, in place, the phases of the tones (0) and `record` (NaN: absent)."""
    if "tone_phase" not in p:
        p["tone_phase"] = xp.where(xp.isnan(xp.asarray(p["tone_a0"])), math.nan, 0.0)
    p.setdefault("record", math.nan)


def derive_wear_law(p: dict[str, Any]) -> None:
    """Fill in, in place, absent parameters of wear laws. The values are placeholders: nothing is computed from an absent parameter."""
    for name, value in (("service_time", 0.0), ("archard_k", 0.0), ("contact_area", 1.0)):
        p.setdefault(name, value)


def derive_time(p: dict[str, Any], xp: Any) -> None:
    """Fill in, in place, the end of the window and the bounds of the steps."""
    p.setdefault("window_end", p["end"])
    if "largest_step" not in p:
        fastest, tones = p["omega"], xp.asarray(p["tone_omega"])
        if not _is_zero(p["sweep_rate"]):
            fastest = xp.maximum(fastest, xp.abs(fastest + p["sweep_rate"] * p["end"]))
        if tones.shape[-1]:
            fastest = xp.maximum(fastest, xp.max(xp.where(xp.isnan(tones), 0.0, tones), axis=-1))
        if not is_none(p["pulse"]):
            fastest = xp.maximum(fastest, fastest_of_pulse(p, xp))
        p["largest_step"] = math.pi / (10.0 * fastest)
    p.setdefault("smallest_step", 1e-6 * p["step"])
