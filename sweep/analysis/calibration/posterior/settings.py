"""Reading [calibration.posterior] and the priors of free parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.calibration.posterior.nuts import NutsSettings
from tribosweep.sweep.analysis.calibration.posterior.priors import NOISE, PRIORS, Sampled, from_bounds
from tribosweep.sweep.design.distributions import LOG_NORMAL, NORMAL, Drawn
from tribosweep.sweep.io.errors import Problem, advise, shorten
from tribosweep.sweep.io.values import read_number
from tribosweep.sweep.study.axis_distributions import read_law

POSTERIOR_KEYS = {
    "chains": "number of independent chains; default 4",
    "warmup": "NUTS: draws of each chain that adapt its step and are dropped; default 300",
    "draws": "NUTS: draws of each chain that are kept; default 1000",
    "acceptance": "NUTS: mean acceptance, towards which steps are adapted; default 0.8, smaller steps above",
    "particles": "SMC: number of particles of each chain; default 1000",
    "ess": "SMC: effective sample size that a stage keeps, as a part of the particles; default 0.5",
    "noise": 'with noise = "estimated": prior of the common factor of the standard deviations; default log_uniform from 0.001 to 1000',
}  # key of [calibration.posterior] -> what it is
WHOLE = {"chains": (1, 64), "warmup": (20, 100_000), "draws": (10, 1_000_000), "particles": (20, 1_000_000)}
PARTS = {
    name: Quantity(name, "1", text, lower=0.0, upper=1.0, lower_open=True, upper_open=True)
    for name, text in (("acceptance", "mean acceptance of a draw"), ("ess", "effective sample size over the number of particles"))
}
NOISE_SCALE = Quantity("noise_scale", "1", "factor of the standard deviations of the data", lower=0.0, lower_open=True)
NOISE_BOUNDS = (1e-3, 1e3)
ANY_NOISE = from_bounds(NOISE_SCALE.name, NOISE_SCALE.unit, *NOISE_BOUNDS, logarithmic=True, role=NOISE)
LEAST_MASS = 1e-6  # a prior that leaves the bounds a smaller probability contradicts them


@dataclass(frozen=True, slots=True)
class PosteriorSettings:
    """How a posterior is sampled; see POSTERIOR_KEYS.

    Attributes:
        noise: the factor of the standard deviations with its prior, which is sampled if it is not known.
    """

    chains: int = 4
    warmup: int = 300
    draws: int = 1000
    acceptance: float = 0.8
    particles: int = 1000
    ess: float = 0.5
    noise: Sampled = ANY_NOISE

    def nuts(self, seed: int) -> NutsSettings:
        """Those of NUTS."""
        return NutsSettings(self.chains, self.warmup, self.draws, seed, self.acceptance)


def read_posterior(raw: Any, problems: list[Problem]) -> PosteriorSettings:
    """Read [calibration.posterior]; problems if it is wrong."""
    path = "calibration.posterior"
    if not isinstance(raw, dict):
        problems.append(Problem(path, f"must be a table with keys such as draws = 1000, not {shorten(raw)}"))
        return PosteriorSettings()
    problems += [Problem(f"{path}.{key}", f"unknown key; {advise(str(key), POSTERIOR_KEYS)}") for key in raw if key not in POSTERIOR_KEYS]
    found: dict[str, Any] = {}
    for key, (least, most) in WHOLE.items():
        if key in raw:
            found[key] = whole(raw, key, 0, least, most, POSTERIOR_KEYS[key].partition(";")[0], problems, path)
    for key, quantity in PARTS.items():
        if key in raw and (value := read_number(quantity, f"{path}.{key}", raw[key], problems)) is not None:
            found[key] = value
    if "noise" in raw:
        prior = read_prior(raw["noise"], NOISE_SCALE, f"{path}.noise", True, NOISE_BOUNDS, problems)
        if prior is not None:
            found["noise"] = Sampled(NOISE_SCALE.name, NOISE_SCALE.unit, *NOISE_BOUNDS, True, *prior, given=True, role=NOISE)
    return PosteriorSettings(**found)


def whole(
    section: Mapping[str, Any], key: str, default: int, least: int, most: int, what: str, problems: list[Problem], path: str = "calibration"
) -> int:
    """Read a whole number of the section."""
    value = section.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        problems.append(Problem(f"{path}.{key}", f"must be a whole number from {least} to {most} ({what}), not {shorten(value)}"))
        return default
    return value


def read_prior(
    raw: Any, quantity: Quantity, path: str, logarithmic: bool, bounds: tuple[float, float], problems: list[Problem]
) -> tuple[str, tuple[tuple[str, float], ...]] | None:
    """Read a prior: the name of its distribution and its numbers; None and problems if it is wrong.

    Without the key `distribution` it is normal on a linear scale and log-normal on a logarithmic one.
    """
    if not isinstance(raw, dict):
        problems.append(
            Problem(path, f"must be {{ mean = 1.0, std = 0.1 }} in {quantity.unit}, or {{ distribution = ... }}, not {shorten(raw)}")
        )
        return None
    word = raw.get("distribution", LOG_NORMAL if logarithmic else NORMAL)
    if not isinstance(word, str) or word not in PRIORS:
        problems.append(Problem(f"{path}.distribution", f"{shorten(word)} is no distribution of a prior; {advise(word, PRIORS)}"))
        return None
    found: list[Problem] = []
    anywhere = Quantity(quantity.name, quantity.unit, quantity.description)
    axis = read_law(anywhere, path, raw, word, found)
    problems += found
    if axis is None or found:
        return None
    law, numbers = word, tuple(axis.numbers) if isinstance(axis, Drawn) else (("from", float(raw["from"])), ("to", float(raw["to"])))
    sampled = Sampled(quantity.name, quantity.unit, *bounds, logarithmic, law, numbers)
    low, high = sampled.support
    if low >= high or sampled.mass < LEAST_MASS:
        ends = f"from = {bounds[0]:g}, to = {bounds[1]:g} (unit {quantity.unit})"
        message = f"leaves hardly any probability to the bounds {ends}: change one of them"
        problems.append(Problem(path, message))
        return None
    return law, numbers
