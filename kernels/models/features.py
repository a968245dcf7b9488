"""Excitation beyond one sine, varying friction, links: only programs of rows with them read their parameters. Nothing here imports JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.models.friction_laws import FRICTION_LAWS
from tribosweep.kernels.models.links import LINKS, OUTSIDE
from tribosweep.kernels.models.quantity import Values

STOPS = {switch: law.parameters for switch, law in outside_laws.laws(outside_laws.WALL).items()}  # laws of elastic stops
# parts of an excitation, each with the parameters that only programs with that part read
FEATURES: Mapping[str, tuple[str, ...]] = {
    "harmonic": ("a0", "f0", "phase"),
    "sweep": ("sweep_rate",),
    "tones": ("tone_a0", "tone_omega", "tone_phase"),
    "record": ("record", "record_scale", "bank", "interval"),
    "table": ("table_time", "table_force", "table_scale"),
    "pulse": ("pulse", "pulse_start", "pulse_duration", "pulse_f0", "pulse_a0"),
}
HARMONIC = "harmonic"
UNBOUNDED = ("table_time", "table_force", "pulse_duration")  # padded with NaN, or infinite by default
DRIVEN = ("sweep", "tones", "record", "table", "pulse")  # those beyond one sine
DRIVES = tuple(name for feature in DRIVEN for name in FEATURES[feature])  # a steady motion has none of them: it repeats with its one sine
# ways in which friction varies, and links beside k and c: the parameter that switches each on (see `varied`) -> the parameters that only
# such programs read
VARIED: Mapping[str, tuple[str, ...]] = {
    "normal_amplitude": ("normal_amplitude", "normal_omega", "normal_phase", "friction_sides"),
    "stribeck_speed": ("stribeck_speed",),
    "stribeck_exponent": ("stribeck_exponent",),
    "belt_speed": ("belt_speed",),
    **{switch: tuple(quantity.name for quantity in law) for switch, law in {**FRICTION_LAWS, **LINKS, **STOPS}.items()},
    "maxwell_exponent": ("maxwell_exponent",),
}
EXPONENTS = {"stribeck_exponent": "stribeck_speed", "maxwell_exponent": "maxwell_stiffness"}  # and the law that each is of
# the ways in which friction varies from one linear phase to the next, which scheme "exact" has too
LINEAR = ("normal_amplitude", "belt_speed")


def used(value: Any) -> Any:
    """Mask, of any shape, of the rows that use a parameter: its value is a finite number other than 0."""
    value = np.asarray(value)
    return np.isfinite(value) & (value != 0.0)


def varied(values: Values) -> dict[str, Any]:
    """Name in VARIED -> mask, of any shape, of the rows that vary that way. An exponent of 1 needs no law of its own."""
    found = {name: used(values.get(name, 0.0)) for name in VARIED}
    found |= {name: np.any(used(np.atleast_1d(values.get(name, 0.0))), axis=-1) for name in LINKS if name not in OUTSIDE}
    return found | {exponent: found[law] & (np.asarray(values.get(exponent, 1.0)) != 1.0) for exponent, law in EXPONENTS.items()}
