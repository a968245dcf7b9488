"""What models share: parameters of oscillator, friction and loads, the quantities of time, observables, and rules between them."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from kernels.models.model import Rule
from kernels.models.presliding import PARAMETERS as PRESLIDING_PARAMETERS
from kernels.models.presliding import PRESLIDING, presliding
from kernels.models.quantity import Quantity
from kernels.models.schemes import (
    BLOCKS,
    EXACT,
    MOST_STEPS,
    SCHEMES,
    STATISTICS,
    Values,
    held_stiffness_and_damping,
    rubs,
    used,
    wall_stiffness_and_damping,
)

REGIMES = ("stick", "stick-slip", "slip-slip")

OSCILLATOR = (
    Quantity("m", "kg", "mass", "m", default=1.0, lower=0.0, lower_open=True),
    Quantity("g", "m/s^2", "gravity, which presses the mass on its support", "g", default=10.0, lower=0.0),
    Quantity("k", "N/m", "stiffness of the spring to the support", "k", default=0.0, lower=0.0),
    Quantity("c", "N s/m", "viscous damping to the support", "c", default=0.0, lower=0.0),
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
    *PRESLIDING_PARAMETERS,
    Quantity("a0", "m/s^2", "amplitude of the base acceleration a0 sin(omega t + phase)", "a_0", default=0.0),
    Quantity("omega", "rad/s", "circular frequency of the excitation", r"\omega", default=2.0 * math.pi, lower=0.0, lower_open=True),
    Quantity("phase", "rad", "phase of the excitation at t = 0", r"\varphi", default=0.0),
    Quantity("f0", "N", "amplitude of the harmonic force f0 sin(omega t + phase)", "f_0", default=0.0),
    Quantity("load", "N", "constant force", r"F_\mathrm{load}", default=0.0),
)  # fmt: skip

EXCITATION = (
    Quantity("sweep_rate", "rad/s^2", "rate at which omega grows: its sine is that of omega t + sweep_rate t^2 / 2 + phase", default=0.0),
    Quantity("tone_a0", "m/s^2", "amplitudes of more base accelerations tone_a0 sin(tone_omega t + tone_phase)", kind="list", default=()),
    Quantity("tone_omega", "rad/s", "their circular frequencies", kind="list", default=(), lower=0.0, lower_open=True),
    Quantity("tone_phase", "rad", "their phases at t = 0", kind="list", default_rule="0 for each"),
    Quantity("record", "", "which record of base acceleration is added, counted from 0", kind="integer", default_rule="absent: none",
             lower=0.0),
    Quantity("record_scale", "1", "factor of the record", default=1.0),
)  # fmt: skip

WEAR_LAW = (
    Quantity("service_time", "s", "time in service over which wear volumes are told", r"t_\mathrm{service}",
             default_rule="absent: no volumes", lower=0.0),
    Quantity("archard_k", "1/Pa", "wear coefficient of Archard, volume per work of the normal force over the way slipped", "K",
             default_rule="absent: no volume by Archard", lower=0.0),
    Quantity("contact_area", "m^2", "area over which the volume is worn, flat on flat", r"A_\mathrm{contact}",
             default_rule="absent: no depths", lower=0.0, lower_open=True),
    Quantity("edf_a", "m^3/s", "A of the law EDF-MZ: first rate of wear by a power of 1 W", "A", default=1e-13, lower=0.0,
             lower_open=True),
    Quantity("edf_b", "1", "B of the law EDF-MZ: exponent of the power", "B", default=1.2, lower=0.0, lower_open=True),
    Quantity("edf_n", "1/s", "N of the law EDF-MZ: how fast the rate of wear falls from its first to its last value", "N", default=2.44e-8,
             lower=0.0),
    Quantity("edf_s", "m^3/s", "S of the law EDF-MZ: rate of wear at last", "S", default=1.14e-16, lower=0.0),
)  # fmt: skip

_NEEDS = {"archard": ("service_time", "archard_k"), "edf": ("service_time",), "depth": ("contact_area",)}
_TOO_LITTLE = "none where the power is so small that the law would have it grow (below (S / A)^(1 / B), 3.5 mW), 0 at 0 W"
WORN_OBSERVABLES = (
    Quantity("wear_volume", "m^3", "volume worn in service by Archard's law: archard_k wear_power service_time", r"V_\mathrm{Archard}",
             needs=_NEEDS["archard"], optional=True),
    Quantity("wear_depth", "m", "that volume over the contact area", r"h_\mathrm{Archard}", needs=(*_NEEDS["archard"], *_NEEDS["depth"]),
             optional=True),
    Quantity("wear_volume_edf_mz", "m^3", f"volume worn in service by the law EDF-MZ; {_TOO_LITTLE}", r"V_\mathrm{EDF-MZ}",
             needs=_NEEDS["edf"], optional=True),
    Quantity("wear_depth_edf_mz", "m", "that volume over the contact area", r"h_\mathrm{EDF-MZ}", needs=(*_NEEDS["edf"], *_NEEDS["depth"]),
             optional=True),
    Quantity("wear_power_blocks", "W", "wear power of each of the equal blocks of the window", r"P_\mathrm{wear}", kind="list",
             needs=(BLOCKS,)),
    Quantity("wear_power_scatter", "W", "standard deviation of the wear powers of the blocks (divisor: one less than blocks)",
             r"\sigma_P", needs=(BLOCKS,)),
    Quantity("wear_power_error", "W", "standard error of the wear power: the scatter over the root of the number of blocks",
             needs=(BLOCKS,)),
)  # fmt: skip


def statistics_of(name: str, unit: str, what: str, symbol: str) -> tuple[Quantity, ...]:
    """Mean, RMS, standard deviation and extremes of a quantity in the window, where statistics are asked for."""
    kinds = (("mean", "mean"), ("rms", "root mean square"), ("std", "standard deviation"), ("min", "smallest"), ("max", "largest"))
    return tuple(
        Quantity(f"{name}_{ending}", unit, f"{words} {what} in the window", symbol.replace("*", ending), needs=(STATISTICS,))
        for ending, words in kinds
    )


RUBBING_STATISTICS = (
    *statistics_of("x", "m", "displacement", r"x_\mathrm{*}"),
    Quantity("v_rms", "m/s", "root mean square velocity in the window", r"v_\mathrm{rms}", needs=(STATISTICS,)),
    *statistics_of("friction_force", "N", "friction force on the mass", r"F_{t,\mathrm{*}}"),
)

WEAR_OBSERVABLES = (
    Quantity("wear_power", "W", "mean wear power in the window: normal force times slip speed, averaged (Archard; no mu in it)",
             r"P_\mathrm{wear}"),
    Quantity("wear_energy", "J", "normal force times slip distance in the window, or its integral over the slip where it varies",
             r"W_\mathrm{wear}"),
    Quantity("friction_power", "W", "mean power dissipated by friction in the window: mu_d times the wear power (mean of mu(v) F_n |v|)",
             r"P_\mathrm{friction}"),
    Quantity("slip_distance", "m", "distance slipped in the window", r"d_\mathrm{slip}"),
    Quantity("stick_fraction", "1", "part of the window during which the contact sticks"),
    Quantity("slip_phases", "", "number of stretches of slip in one direction that overlap the window", kind="integer"),
    Quantity("stops", "", "number of rests in the window after the first slip; of a steady window in the `period` periods that it has",
             kind="integer"),
    Quantity("regime", "", "what happened in the window: no slip, slip with sticking, slip without (rest before the first slip apart)",
             kind="word", words=REGIMES),
    Quantity("max_slip_speed", "m/s", "largest slip speed in the window", r"v_\mathrm{max}"),
    Quantity("drift", "m", "displacement at the end of the window less that at its start"),
)  # fmt: skip

RUN_OBSERVABLES = (
    Quantity(
        "period",
        "",
        'periods of the excitation after which the steady motion repeats (window = "steady"); 0 for a fixed window',
        kind="integer",
        optional=True,
    ),
    Quantity(
        "poincare_x",
        "m",
        "displacement at the start of each period of the excitation in the steady window, t = n 2 pi / omega: `period` of them, or 64",
        "x",
        kind="list",
        steady=True,
    ),
    Quantity("poincare_v", "m/s", "velocity at the same instants", "v", kind="list", steady=True),
    Quantity("x_end", "m", "displacement at the end of the run, or of the steady window", r"x_\mathrm{end}"),
    Quantity("v_end", "m/s", "velocity at the end of the run, or of the steady window", r"v_\mathrm{end}"),
    Quantity("time_reached", "s", "time that the run reached: its end, or where a row that failed was given up", survives=True),
    Quantity("accepted_steps", "", "steps of the time scheme; 0 by exact, which has none", kind="integer"),
    Quantity("rejected_steps", "", "steps that the time scheme tried, found too long and tried again shorter", kind="integer"),
)


TIME = (
    Quantity("end", "s", "end of the run, which starts at 0", r"t_\mathrm{end}", default=12.0, lower=0.0, lower_open=True),
    Quantity("step", "s", "largest step of the fixed-step schemes, for which the run is divided into whole steps; first step of the others",
             "h", default=1e-4, lower=0.0, lower_open=True),
    Quantity("largest_step", "s", "largest step of the schemes that choose their steps",
             default_rule="a twentieth of the shortest period, pi / (10 omega); with a record at most its interval",
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

FRICTION_RULES = (
    Rule(("mu_s", "mu_d", "mu"),
         "static friction must be at least dynamic friction (mu_s >= mu_d), or the contact would chatter for ever",
         lambda p, _s: np.asarray(p["mu_s"]) < p["mu_d"],
         lambda p, _s: f"mu_s = {p['mu_s']:g} is less than mu_d = {p['mu_d']:g}"),
    Rule(("k_t",), "a time scheme needs the penalised contact: give k_t",
         lambda p, s: (s != EXACT) & np.isposinf(p["k_t"]) & rubs(p) & ~presliding(p),
         lambda _p, s: f"scheme {s!r} needs the tangential stiffness k_t [N/m] (SDND104 uses 9e6), or choose the scheme 'exact'"),
    Rule(("normal_amplitude",), "scheme 'exact' has a constant normal force: choose a time scheme, or leave out normal_amplitude",
         lambda p, s: (s == EXACT) & used(p.get("normal_amplitude", 0.0)),
         lambda p, _s: f"normal_amplitude = {p['normal_amplitude']:g} N"),
    Rule(("stribeck_speed",), "scheme 'exact' has no Stribeck friction, whose phases are not linear: choose a time scheme, or leave out "
         "stribeck_speed",
         lambda p, s: (s == EXACT) & used(p.get("stribeck_speed", 0.0)),
         lambda p, _s: f"stribeck_speed = {p['stribeck_speed']:g} m/s"),
    Rule(("belt_speed",), "scheme 'exact' has a support at rest: choose a time scheme, or leave out belt_speed",
         lambda p, s: (s == EXACT) & used(p.get("belt_speed", 0.0)),
         lambda p, _s: f"belt_speed = {p['belt_speed']:g} m/s"),
    Rule(tuple(PRESLIDING), "scheme 'exact' has no presliding friction (LuGre, Dahl), whose phases are not linear: choose a time scheme, "
         f"or leave out {' and '.join(PRESLIDING)}",
         lambda p, s: (s == EXACT) & presliding(p),
         lambda p, _s: ", ".join(f"{name} = {p[name]:g} N/m" for name in PRESLIDING if name in p)),
    Rule(tuple(PRESLIDING), f"friction has one law: give one of {' and '.join(PRESLIDING)}",
         lambda p, _s: functools.reduce(operator.and_, (used(p.get(name, 0.0)) for name in PRESLIDING))),
    Rule((*PRESLIDING, "normal_amplitude"), "presliding friction (LuGre, Dahl) needs a constant normal force: leave out normal_amplitude",
         lambda p, _s: presliding(p) & used(p.get("normal_amplitude", 0.0))),
    Rule(("dahl_stiffness", "stribeck_speed"), "Dahl friction has one limit, mu_d F_n: leave out stribeck_speed, or use LuGre friction",
         lambda p, _s: used(p.get("dahl_stiffness", 0.0)) & used(p.get("stribeck_speed", 0.0))),
)  # fmt: skip


def _entries(p: Values, name: str) -> np.ndarray:
    """Number of entries in a table."""
    return np.asarray(np.count_nonzero(~np.isnan(np.asarray(p.get(name, ()))), axis=-1))


def _unequal_tones(p: Values) -> Any:
    """Mask of the rows whose tables of tones differ in length."""
    first, second, third = (_entries(p, name) for name in TONES)
    return (second != first) | (third != first)


def driven(p: Values) -> Any:
    """Mask of the rows whose excitation is more than one sine of constant frequency."""
    return ~np.isnan(p.get("record", math.nan)) | (np.asarray(p.get("sweep_rate", 0.0)) != 0.0) | (_entries(p, "tone_a0") > 0)


TONES = ("tone_a0", "tone_omega", "tone_phase")
EXCITATION_RULES = (
    Rule(TONES, "every tone needs an amplitude and a frequency: tone_a0, tone_omega and tone_phase (if given) must be of one length",
         lambda p, _s: _unequal_tones(p),
         lambda p, _s: ", ".join(f"{name} has {int(_entries(p, name))}" for name in TONES)),
    Rule(("sweep_rate",), "scheme 'exact' needs a constant frequency: leave out sweep_rate, or choose a time scheme",
         lambda p, s: (s == EXACT) & (np.asarray(p.get("sweep_rate", 0.0)) != 0.0),
         lambda p, _s: f"sweep_rate = {p['sweep_rate']:g} rad/s^2"),
)  # fmt: skip

WINDOW_RULES = (
    Rule(("window_end", "end"), "the window must end within the run: window_end <= end",
         lambda p, _s: p["window_end"] > p["end"] * (1.0 + 1e-12),
         lambda p, _s: f"window_end = {p['window_end']:g} s is after end = {p['end']:g} s"),
    Rule(("window_start", "window_end"), "the window must have a length: window_start < window_end",
         lambda p, _s: ~(np.asarray(p["window_start"]) < p["window_end"]),
         lambda p, _s: f"window_start = {p['window_start']:g} s is not before window_end = {p['window_end']:g} s"),
)  # fmt: skip


def _unstable(p: Values, scheme: str) -> Any:
    """Mask of the rows whose fixed step is not stable."""
    bound = SCHEMES[scheme].largest_stable_step
    # a contact that lacks the stiffness it needs breaks another rule
    return np.False_ if bound is None else np.isfinite(held_stiffness_and_damping(p)[0]) & (np.asarray(p["step"]) >= bound(p))


def _stable_step(p: Values, scheme: str) -> Any:
    """Largest stable step [s] of a fixed-step scheme; inf for the others."""
    bound = SCHEMES[scheme].largest_stable_step
    return np.inf if bound is None else bound(p)


def _stiffness_in_words(p: Values) -> str:
    """What bounds the step of one row: the contact, or without friction the oscillator."""
    if "k_n" in p and wall_stiffness_and_damping(p)[0] >= held_stiffness_and_damping(p)[0]:
        return f"k_n = {p['k_n']:g} N/m and c_n = {p['c_n']:g} N s/m"
    contact = f"k_t = {p['k_t']:g} N/m and c_t = {p['c_t']:g} N s/m"
    return contact if held_stiffness_and_damping(p)[0] > 0.0 else f"k = {p['k']:g} N/m and c = {p['c']:g} N s/m"


STEP_RULES = (
    Rule(("step", "end"), f"a run has at most {MOST_STEPS:.0e} steps",
         lambda p, s: SCHEMES[s].fixed_step & (np.asarray(p["end"]) > MOST_STEPS * np.asarray(p["step"])),
         lambda p, _s: f"end = {p['end']:g} s takes {p['end'] / p['step']:.3g} steps of {p['step']:g} s"),
    Rule(("smallest_step", "step"), "smallest_step must not exceed step, the first one",
         lambda p, s: SCHEMES[s].adaptive & (np.asarray(p["smallest_step"]) > p["step"]),
         lambda p, _s: f"smallest_step = {p['smallest_step']:g} s, step = {p['step']:g} s"),
    Rule(("largest_step", "smallest_step"), "largest_step must not be less than smallest_step",
         lambda p, s: SCHEMES[s].adaptive & (np.asarray(p["largest_step"]) < p["smallest_step"]),
         lambda p, _s: f"largest_step = {p['largest_step']:g} s, smallest_step = {p['smallest_step']:g} s"),
    Rule(("retries",), "retries must be a whole number",
         lambda p, s: ("retries" in SCHEMES[s].reads) & (np.asarray(p["retries"]) != np.floor(p["retries"])),
         lambda p, _s: f"retries = {p['retries']:g}"),
    Rule(("step", "k_t", "c_t", "k", "c", "m"), "a fixed step must be stable for the stuck mass and on the wall",
         _unstable,
         lambda p, s: f"step = {p['step']:g} s is unstable: with scheme {s!r} it must be less than {float(_stable_step(p, s)):.4g} s "
                      f"for {_stiffness_in_words(p)}",
         _stable_step),
)  # fmt: skip

LEAST_TOLERANCE, LEAST_STEP = 2.0**-24, 1e-18  # of float32: its rounding error, and steps [s] whose squares are numbers that it has
SINGLE_RULES = (
    Rule(("tolerance",),
         "in float32 the tolerance must be at least 6e-8 = 2^-24: the error of a step below that is lost in rounding",
         lambda p, s: ("tolerance" in SCHEMES[s].reads) & (np.asarray(p["tolerance"]) < LEAST_TOLERANCE),
         lambda p, _s: f"tolerance = {p['tolerance']:g}: take a larger one, or leave precision out"),
    Rule(("smallest_step", "step", "largest_step"), f"in float32 no step may be below {LEAST_STEP:g} s",
         lambda p, s: SCHEMES[s].adaptive & (np.fmin(np.fmin(p["step"], p["largest_step"]), p["smallest_step"]) < LEAST_STEP),
         lambda p, _s: f"smallest_step = {p['smallest_step']:g} s, step = {p['step']:g} s, largest_step = {p['largest_step']:g} s"),
)  # fmt: skip


def _is_zero(value: Any) -> bool:
    """Whether a value is the plain number 0."""
    return isinstance(value, float | int) and value == 0.0


def derive_friction(p: dict[str, Any], xp: Any) -> None:
    """Fill in, in place, what follows from other parameters: mu_s, mu_d, normal_omega, k_t (rigid), c_t (critical); no Stribeck speed."""
    p.setdefault("mu_s", p["mu"])
    p.setdefault("mu_d", p["mu"])
    p.setdefault("normal_omega", p["omega"])
    p.setdefault("stribeck_speed", math.nan)
    p.setdefault("k_t", math.inf)
    if "c_t" not in p:
        p["c_t"] = xp.maximum(0.0, 2.0 * xp.sqrt(p["m"] * (p["k"] + p["k_t"])) - p["c"])


def derive_excitation(p: dict[str, Any], xp: Any) -> None:
    """Fill in, in place, phases of tones and that there is no record."""
    if "tone_phase" not in p:
        p["tone_phase"] = xp.where(xp.isnan(xp.asarray(p["tone_a0"])), math.nan, 0.0)
    p.setdefault("record", math.nan)


def derive_wear_law(p: dict[str, Any]) -> None:
    """Fill in, in place, what is absent. These numbers stand for nothing: without them no volume or depth is told."""
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
        p["largest_step"] = math.pi / (10.0 * fastest)
    p.setdefault("smallest_step", 1e-6 * p["step"])
