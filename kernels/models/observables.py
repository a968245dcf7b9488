"""The observables that models share. Nothing here imports JAX."""

from __future__ import annotations

from tribosweep.kernels.models.outputs import BLOCKS, MULTIPLIERS, STATISTICS
from tribosweep.kernels.models.quantity import Quantity

REGIMES = ("stick", "stick-slip", "slip-slip")

_NEEDS = {"archard": ("service_time", "archard_k"), "edf": ("service_time",), "depth": ("contact_area",)}
_TOO_LITTLE = "none at powers so small that the wear rate of the law would grow (below (S / A)^(1 / B), 3.5 mW), 0 at 0 W"
WORN_OBSERVABLES = (
    Quantity("wear_volume", "m^3", "volume worn in service by Archard's law: archard_k wear_power service_time", r"V_\mathrm{Archard}",
             needs=_NEEDS["archard"], optional=True, unknown=True),
    Quantity("wear_depth", "m", "wear_volume over contact_area", r"h_\mathrm{Archard}", needs=(*_NEEDS["archard"], *_NEEDS["depth"]),
             optional=True, unknown=True),
    Quantity("wear_volume_edf_mz", "m^3", f"volume worn in service by the law EDF-MZ; {_TOO_LITTLE}", r"V_\mathrm{EDF-MZ}",
             needs=_NEEDS["edf"], optional=True, unknown=True),
    Quantity("wear_depth_edf_mz", "m", "wear_volume_edf_mz over contact_area", r"h_\mathrm{EDF-MZ}",
             needs=(*_NEEDS["edf"], *_NEEDS["depth"]), optional=True, unknown=True),
    Quantity("wear_power_blocks", "W", "wear power of each of the equal blocks of the window", r"P_\mathrm{wear}", kind="list",
             needs=(BLOCKS,)),
    Quantity("wear_power_scatter", "W", "standard deviation of the wear powers of the blocks (divisor: one less than blocks)",
             r"\sigma_P", needs=(BLOCKS,)),
    Quantity("wear_power_error", "W", "standard error of the wear power: the scatter over the root of the number of blocks",
             needs=(BLOCKS,)),
)  # fmt: skip


def statistics_of(name: str, unit: str, what: str, symbol: str) -> tuple[Quantity, ...]:
    """Mean, RMS, standard deviation and extremes of a quantity in the window, returned if statistics are asked for."""
    kinds = (("mean", "mean"), ("rms", "root mean square"), ("std", "standard deviation"), ("min", "smallest"), ("max", "largest"))
    return tuple(
        Quantity(f"{name}_{ending}", unit, f"{words} {what} in the window", symbol.replace("*", ending), needs=(STATISTICS,))
        for ending, words in kinds
    )


MOTION = (
    Quantity("x", "m", "displacement", "x"),
    Quantity("v", "m/s", "velocity", "v"),
    Quantity("friction_force", "N", "friction on the mass", r"F_t"),
    Quantity("wall_force", "N", "force of the wall", "F"),
)  # at one time

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
    Quantity("slip_phases", "", "number of stretches of slip in one direction that overlap the window; a new one begins where the "
             "direction changes, and after a rest: where slip stops and the force that holds the mass there is within mu_s F_n",
             kind="integer"),
    Quantity("stops", "", "number of rests in the window, after the first slip; 0 where the mass does not slip in the window; a steady "
             "window is `period` periods long", kind="integer"),
    Quantity("regime", "", "what happened in the window: no slip, slip with sticking, slip without (rest before the first slip does not "
             "count)", kind="word", words=REGIMES),
    Quantity("max_slip_speed", "m/s", "largest slip speed in the window", r"v_\mathrm{max}"),
    Quantity("drift", "m", "displacement at the end of the window less that at its start"),
)  # fmt: skip

NO_FRICTION = {
    quantity.name: -1.0 if quantity.kind == "word" else 0.0 for quantity in WEAR_OBSERVABLES
}  # of a mass that touches no support

STABILITY = ("stable", "fold near", "flip near", "Neimark-Sacker near", "grazing near", "neutral", "unstable")


def _multiplier(number: int, which: str) -> tuple[Quantity, ...]:
    """Modulus and argument of a Floquet multiplier."""
    return (
        Quantity(f"multiplier_{number}", "1", f"modulus of the {which} Floquet multiplier of the steady motion over its `period`",
                 rf"|\lambda_{number}|", needs=(MULTIPLIERS,), optional=True, unknown=True, steady=True),
        Quantity(f"multiplier_angle_{number}", "rad", f"argument of the {which} Floquet multiplier, 0 to pi: 0 of a positive one, pi of a "
                 "negative one; of a complex pair both have the positive argument", rf"\arg \lambda_{number}",
                 needs=(MULTIPLIERS,), optional=True, unknown=True, steady=True),
    )  # fmt: skip


FLOQUET = (
    *_multiplier(1, "largest"),
    *_multiplier(2, "second largest"),
    Quantity(
        "stability", "", "of the steady motion: unstable or neutral if a multiplier is beyond the unit circle or on it to 1e-10; grazing "
        "near if the speed of the slowest impact, or without contact the distance to the stop times omega, is below 1 % of "
        "|f0 - m a0| / (m omega); fold, flip or Neimark-Sacker near if a multiplier is within 0.01 of 1, of -1, or as a complex one of "
        "the unit circle",
        kind="word", words=STABILITY, needs=(MULTIPLIERS,), optional=True, unknown=True, steady=True,
    ),
)  # fmt: skip

RUN_OBSERVABLES = (
    Quantity(
        "period",
        "",
        'periods of the excitation after which the steady motion repeats (window = "steady"); 0 for a fixed window',
        kind="integer",
        optional=True,
        unknown=True,
    ),
    Quantity(
        "poincare_x",
        "m",
        "displacement at the start of each period of the excitation in the steady window, t = n 2 pi / omega: `period` of them, or 64",
        "x",
        kind="list",
        steady=True,
    ),
    Quantity("poincare_v", "m/s", "velocity at the instants of poincare_x", "v", kind="list", steady=True),
    *FLOQUET,
    Quantity("x_end", "m", "displacement at the end of the run, or of the steady window", r"x_\mathrm{end}"),
    Quantity("v_end", "m/s", "velocity at the end of the run, or of the steady window", r"v_\mathrm{end}"),
    Quantity("time_reached", "s", "time that the run reached: its end, or where a row failed", survives=True),
    Quantity("accepted_steps", "", "steps of the time scheme; 0 by exact, which has none", kind="integer"),
    Quantity("rejected_steps", "", "steps that the time scheme tried, found too long and tried again shorter", kind="integer"),
)
