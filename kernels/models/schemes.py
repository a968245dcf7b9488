"""The schemes a study can name: what they are, which parameters of the time they read, and the largest step at which they are stable.

Nothing here imports JAX, so that a configuration is read and checked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Values = Mapping[str, Any]

EXACT = "exact"
DOUBLE, SINGLE = "float64", "float32"  # numbers that programs compute with
STEADY = "steady"  # the window that is one period of the motion that a run tends to
RUN = ("end", "window_start", "window_end")  # what such a run does not read
PACE = ("step", *RUN)  # rows that share these take their steps abreast
PAIR = ("m_2", "x0_2", "v0_2")  # what it cannot have: of two bodies only the relative motion would be steady
OBSERVED = 64  # periods of the excitation that are observed of a motion without a period
MOST_STEPS = 1e8  # of one run, rejected ones included
BLOCKS, STATISTICS = "blocks", "statistics"  # what a run over a window that is given may be asked for besides


class Asked(NamedTuple):
    """What a run is asked for besides its observables (compile-time: only programs that are asked do the work).

    Attributes:
        blocks: into how many equal blocks the window is divided for block means of the wear power, 2 to OBSERVED; 0: none.
        statistics: whether mean, RMS, standard deviation and extremes of displacement and forces are told.
    """

    blocks: int = 0
    statistics: bool = False

    @property
    def names(self) -> set[str]:
        """The names by which observables need it."""
        return {name for name, asked in ((BLOCKS, self.blocks), (STATISTICS, self.statistics)) if asked}

    @property
    def keywords(self) -> dict[str, Any]:
        """What `kernels.simulate` is given to ask for it; nothing where nothing is asked."""
        return {name: value for name, value in self._asdict().items() if value}


NOTHING_ELSE = Asked()

# parts of an excitation, each with the parameters that programs read only where it is there, and those that are more than one sine
FEATURES: Mapping[str, tuple[str, ...]] = {
    "harmonic": ("a0", "f0", "phase"),
    "sweep": ("sweep_rate",),
    "tones": ("tone_a0", "tone_omega", "tone_phase"),
    "record": ("record", "record_scale", "bank", "interval"),
}
DRIVEN = ("sweep", "tones", "record")
DRIVES = tuple(name for feature in DRIVEN for name in FEATURES[feature])  # what a steady motion cannot have: it repeats with its one sine
# what friction may have besides: by the parameter that makes it where rows are `varied` by it, those that programs read only there
VARIED: Mapping[str, tuple[str, ...]] = {
    "normal_amplitude": ("normal_amplitude", "normal_omega", "normal_phase", "friction_sides"),
    "stribeck_speed": ("stribeck_speed",),
    "stribeck_exponent": ("stribeck_exponent",),
    "belt_speed": ("belt_speed",),
}


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way to integrate an oscillator.

    Attributes:
        name, description: how a study names it and what it is.
        reads: the parameters of the time that it reads, besides end and window.
        largest_stable_step: (resolved parameters, floats or arrays) -> largest step [s] at which it is stable; None where the scheme
            has no step or chooses it itself.
    """

    name: str
    description: str
    reads: tuple[str, ...] = ()
    largest_stable_step: Callable[[Values], Any] | None = None

    @property
    def fixed_step(self) -> bool:
        """Whether every step has the length that the study gives."""
        return self.reads == ("step",)

    @property
    def adaptive(self) -> bool:
        """Whether the scheme chooses its steps."""
        return "largest_step" in self.reads


def used(value: Any) -> Any:
    """Mask of the rows of a parameter, of any shape, that have what it stands for: a finite number other than 0."""
    value = np.asarray(value)
    return np.isfinite(value) & (value != 0.0)


def varied(values: Values) -> dict[str, Any]:
    """Which rows of parameters have each of what makes friction VARIED, as masks of any shape; an exponent of 1 is none."""
    found = {name: used(values.get(name, 0.0)) for name in VARIED}
    return found | {"stribeck_exponent": found["stribeck_speed"] & (np.asarray(values.get("stribeck_exponent", 1.0)) != 1.0)}


def rubs(values: Values) -> Any:
    """Mask of the rows of resolved parameters that have friction: a coefficient, and at some time a normal force."""
    return np.asarray(values["mu_s"]) * (values["normal_force"] + np.abs(values.get("normal_amplitude", 0.0))) > 0.0


def held_stiffness_and_damping(values: Values) -> tuple[Any, Any]:
    """Stiffness [N/m] and damping [N s/m] of the contact where it can hold the mass; 0 where it has no friction."""
    holds = rubs(values)
    return np.where(holds, values["k_t"], 0.0), np.where(holds, values["c_t"], 0.0)


def wall_stiffness_and_damping(values: Values) -> tuple[Any, Any]:
    """Largest stiffness [N/m] and damping [N s/m] of a wall, or of two together that press the mass at once; 0 where there is none."""
    (stiffness, damping), (left_stiffness, left_damping) = (_of_wall(values, prefix) for prefix in ("", "left_"))
    both = np.asarray(values.get("gap", 0.0)) + values.get("left_gap", np.inf) < 0.0
    return (
        np.where(both, stiffness + left_stiffness, np.fmax(stiffness, left_stiffness)),
        np.where(both, damping + left_damping, np.fmax(damping, left_damping)),
    )


def _of_wall(values: Values, prefix: str) -> tuple[Any, Any]:
    """Largest stiffness [N/m] and damping [N s/m] of the wall whose parameters begin with `prefix`; 0 where there is none."""
    stiffness, damping = np.asarray(values.get(f"{prefix}k_n", 0.0)), np.asarray(values.get(f"{prefix}c_n", 0.0))
    for name in ("k_post", "post_stiffness"):
        stiffness = np.fmax(stiffness, _largest(values, name, prefix))
    for name in ("c_buckled", "post_damping"):
        damping = np.fmax(damping, _largest(values, name, prefix))
    return stiffness, damping


def _largest(values: Values, name: str, prefix: str) -> Any:
    """The largest entry of a parameter, along its last axis where it is a table; NaN where it has none."""
    value = np.asarray(values.get(prefix + name, np.nan))
    if not name.startswith("post_"):
        return value
    return np.fmax.reduce(value, axis=-1, initial=np.nan) if value.ndim else value


def _held(values: Values, weight: float) -> tuple[Any, Any]:
    """Stiffness over mass [1/s^2] and damping over mass [1/s] of the stuck mass on the wall; contact damping counts `weight` times."""
    k_t, c_t = held_stiffness_and_damping(values)
    k_n, c_n = wall_stiffness_and_damping(values)
    by_m = 1.0 / np.asarray(values["m"])
    by_pair = by_m + 1.0 / np.asarray(values.get("m_2", np.inf))  # over the mass of the relative motion
    stiffness = (values["k"] + k_t) * by_m + k_n * by_pair
    return stiffness, (values["c"] + weight * c_t) * by_m + weight * c_n * by_pair


def euler_stability(values: Values) -> Any:
    """Largest stable step h [s] of symplectic Euler on the stuck mass, on the wall: 4 m - 2 h C - h^2 K > 0, C and K all of them.

    Args:
        values: resolved parameters of a model (floats or arrays that broadcast).

    Returns:
        h [s], the shape of the parameters; inf when nothing limits it. Source: SDND104 (V5.01.104), section 3.1, with damping.
    """
    stiffness, damping = _held(values, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 4.0 / (damping + np.sqrt(damping**2 + 4.0 * stiffness))


def devogelaere_stability(values: Values) -> Any:
    """Largest stable step h [s] of De Vogelaere on the stuck mass, on the wall: 24 m - 2 h (c + 6 C) - 3 h^2 K > 0, and h c < 4 m to start.

    C is the damping of the contacts, K all stiffness.

    Args:
        values: resolved parameters of a model (floats or arrays that broadcast).

    Returns:
        h [s], the shape of the parameters; inf when nothing limits it. There an eigenvalue of the map of one step reaches +1, as tests show
        (tests/kernels/models/test_stability.py); without damping it is the known bound 2 sqrt(2) / sqrt(k / m).
    """
    stiffness, damping = _held(values, 6.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        stable = 24.0 / (damping + np.sqrt(damping**2 + 72.0 * stiffness))
        return np.minimum(stable, 4.0 * values["m"] / np.asarray(values["c"]))


FREQUENCY_CONTROL = ("step", "largest_step", "smallest_step", "retries")
ERROR_CONTROL = ("step", "largest_step", "smallest_step", "tolerance")

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme(EXACT, "event by event in closed form, no step; rigid Coulomb friction (k_t absent) or penalised friction (k_t given)"),
        Scheme("euler", "symplectic Euler, fixed step, order 1; penalised friction (k_t given)", ("step",), euler_stability),
        Scheme(
            "devogelaere",
            "De Vogelaere, fixed step, order 4 (3 with damping c, lower where a force depends on velocity); penalised friction",
            ("step",),
            devogelaere_stability,
        ),
        Scheme("adapt1", "symplectic Euler with steps that follow the apparent frequency, order 1; penalised friction", FREQUENCY_CONTROL),
        Scheme(
            "adapt2", "central differences with steps that follow the apparent frequency, order 2; penalised friction", FREQUENCY_CONTROL
        ),
        Scheme("rk32", "Runge-Kutta of Bogacki and Shampine, order 3 with error control; penalised friction", ERROR_CONTROL),
        Scheme("rk54", "Runge-Kutta of Dormand and Prince, order 5 with error control; penalised friction", ERROR_CONTROL),
    )
}


def check_asked(asked: Asked, window: str | None) -> None:
    """ValueError where the number of blocks is out of bounds, or where anything is asked of a steady window."""
    if asked.blocks and (not 2 <= asked.blocks <= OBSERVED or asked.blocks != int(asked.blocks)):
        raise ValueError(f"blocks must be a whole number from 2 to {OBSERVED} (0: none), not {asked.blocks}")
    if window == STEADY and asked.names:
        raise ValueError(f"{' and '.join(sorted(asked.names))} need a window that is given, not {STEADY!r}")


def check_window(window: str | None, scheme: str, given: Collection[str], steady: bool = True) -> None:
    """ValueError where a `window` is not None or "steady", or a steady one cannot be.

    Args:
        window, scheme: as asked for. given: the parameters that are given, among which no end may be. steady: whether the model has one.
    """
    if window not in (None, STEADY):
        raise ValueError(f"window must be {STEADY!r} or None (window_start and window_end are parameters), not {window!r}")
    if window == STEADY and not steady:
        raise ValueError(f"window {STEADY!r} is not to be had for this model")
    if window == STEADY and scheme != EXACT:
        raise ValueError(f"window {STEADY!r} needs scheme {EXACT!r}, not {scheme!r}")
    if window == STEADY and (ends := [name for name in RUN if name in given]):
        raise ValueError(f"window {STEADY!r} is one period of the motion, wherever it is reached: leave out {', '.join(ends)}")
    if window == STEADY and (pair := [name for name in PAIR if name in given]):
        raise ValueError(f"window {STEADY!r} is of one body: leave out {', '.join(pair)}")
    if window == STEADY and (drives := [name for name in DRIVES if name in given]):
        raise ValueError(f"window {STEADY!r} is of motion that repeats with one sine: leave out {', '.join(drives)}")
