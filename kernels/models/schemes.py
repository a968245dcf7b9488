"""The schemes a study can name: the time parameters that they read, and the largest step at which they are stable.

Nothing here imports JAX, so that a configuration is read and checked without waiting for JAX to start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models import friction_laws, links, outside_laws
from tribosweep.kernels.models.quantity import Values

EXACT = "exact"
DOUBLE, SINGLE = "float64", "float32"  # precisions of programs
STEADY = "steady"  # the window over one period of the motion to which a run tends
RUN = ("end", "window_start", "window_end")  # parameters that a steady run does not read
PACE = ("step", *RUN)  # rows that share these run in lockstep
PAIR = ("m_2", "x0_2", "v0_2")  # parameters of a second body
STOPS = outside_laws.laws(outside_laws.WALL)  # laws of elastic stops, in place of k_n and c_n
MOST_STEPS = 1e8  # of one run, rejected ones included


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way to integrate an oscillator.

    Attributes:
        name, description: how a study names it and what it is.
        reads: the parameters in TIME that it reads, other than end and window.
        largest_stable_step: (resolved parameters, floats or arrays) -> largest step [s] at which it is stable; None if the scheme
            has no step or chooses its steps.
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


def rubs(values: Values) -> Any:
    """Mask of the rows of resolved parameters that have friction: a coefficient, and a normal force at some time."""
    return np.asarray(values["mu_s"]) * (values["normal_force"] + np.abs(values.get("normal_amplitude", 0.0))) > 0.0


def same_friction(static: Any, dynamic: Any) -> Any:
    """Mask of the contacts whose static friction is that of slip, but for rounding: coefficients or forces."""
    return static - dynamic <= 1e-9 * dynamic


def held_stiffness_and_damping(values: Values) -> tuple[Any, Any]:
    """Stiffness [N/m] and damping [N s/m] of the contact while it holds the mass; 0 without friction."""
    holds, by_law, of_law = rubs(values), friction_laws.has_law(values), friction_laws.stiffness_and_damping(values)
    k_t, c_t = (np.where(by_law, own, values[name]) for own, name in zip(of_law, ("k_t", "c_t"), strict=True))
    return np.where(holds, k_t, 0.0), np.where(holds, c_t, 0.0)


def wall_stiffness_and_damping(values: Values) -> tuple[Any, Any]:
    """Largest stiffness [N/m] and damping [N s/m] of a wall, or of two walls that the mass touches at once; 0 without a wall."""
    (stiffness, damping), (left_stiffness, left_damping) = (_of_wall(values, prefix) for prefix in ("", "left_"))
    both = np.asarray(values.get("gap", 0.0)) + values.get("left_gap", np.inf) < 0.0
    return (
        np.where(both, stiffness + left_stiffness, np.fmax(stiffness, left_stiffness)),
        np.where(both, damping + left_damping, np.fmax(damping, left_damping)),
    )


def _of_wall(values: Values, prefix: str) -> tuple[Any, Any]:
    """Largest stiffness [N/m] and damping [N s/m] of the wall whose parameters begin with `prefix`; 0 without that wall."""
    stiffness, damping = np.asarray(values.get(f"{prefix}k_n", 0.0)), np.asarray(values.get(f"{prefix}c_n", 0.0))
    if STOPS and not prefix:
        by_law = sum(1 * (np.asarray(values.get(switch, 0.0)) > 0.0) for switch in STOPS) > 0
        stiffness, damping = (np.where(by_law, 0.0, own) for own in (stiffness, damping))
        stiffness, damping = outside_laws.added(STOPS, values, stiffness, damping)
    for name in ("k_post", "post_stiffness"):
        stiffness = np.fmax(stiffness, _largest(values, name, prefix))
    for name in ("c_buckled", "post_damping"):
        damping = np.fmax(damping, _largest(values, name, prefix))
    return stiffness, damping


def _largest(values: Values, name: str, prefix: str) -> Any:
    """The largest entry of a parameter, along the last axis of a table; NaN if it has no entry."""
    value = np.asarray(values.get(prefix + name, np.nan))
    if not name.startswith("post_"):
        return value
    if not value.ndim:
        return value
    most = np.max(np.where(np.isnan(value), -np.inf, value), axis=-1, initial=-np.inf)
    return np.where(np.isneginf(most), np.nan, most)


def _held(values: Values, weight: float) -> tuple[Any, Any]:
    """Stiffness [1/s^2] and damping [1/s], over mass, of a stuck mass in contact with the wall; contact damping counts `weight` times.

    Links beside k and c count with their largest stiffness, and with their largest damping as that of a contact.
    """
    k_t, c_t = held_stiffness_and_damping(values)
    k_n, c_n = wall_stiffness_and_damping(values)
    k_link, c_link = links.stiffness_and_damping(values)
    k_t, c_t = k_t + k_link, c_t + c_link
    by_m = 1.0 / np.asarray(values["m"])
    by_pair = by_m + 1.0 / np.asarray(values.get("m_2", np.inf))  # over the mass of the relative motion
    stiffness = (values["k"] + k_t) * by_m + k_n * by_pair
    return stiffness, (values["c"] + weight * c_t) * by_m + weight * c_n * by_pair


def euler_stability(values: Values) -> Any:
    """Largest stable step h [s] of symplectic Euler for a stuck mass in contact with the wall: 4 m - 2 h C - h^2 K > 0.

    C is the sum of all damping, K of all stiffness.

    Args:
        values: resolved parameters of a model (floats or arrays that broadcast).

    Returns:
        h [s], the shape of the parameters; inf when nothing limits it. Source: SDND104 (V5.01.104), section 3.1, with damping.
    """
    stiffness, damping = _held(values, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 4.0 / (damping + np.sqrt(damping**2 + 4.0 * stiffness))


def devogelaere_stability(values: Values) -> Any:
    """Largest stable step h [s] of De Vogelaere for a stuck mass in contact with the wall: 24 m - 2 h (c + 6 C) - 3 h^2 K > 0.

    C is the damping of the contacts, K the sum of all stiffness. The start also needs h c < 4 m.

    Args:
        values: resolved parameters of a model (floats or arrays that broadcast).

    Returns:
        h [s], the shape of the parameters; inf when nothing limits it. At this h an eigenvalue of the map of one step reaches +1 (see
        tests/kernels/models/test_stability.py). Without damping it is the known bound 2 sqrt(2) / sqrt(k / m).
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
