"""The models with a wall: an elastic stop, and a wall that buckles (SDND105); both may rub as well."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models import links, outside_laws
from tribosweep.kernels.models.contacts import WallContact
from tribosweep.kernels.models.model import Model, Rule, beyond
from tribosweep.kernels.models.observables import (
    REGIMES,
    RUBBING_STATISTICS,
    RUN_OBSERVABLES,
    WEAR_OBSERVABLES,
    WORN_OBSERVABLES,
    statistics_of,
)
from tribosweep.kernels.models.parameters import (
    EXCITATION,
    OSCILLATOR,
    TIME,
    WEAR_LAW,
    derive_excitation,
    derive_friction,
    derive_time,
    derive_wear_law,
)
from tribosweep.kernels.models.quantity import Quantity, Values
from tribosweep.kernels.models.rules import EXCITATION_RULES, FRICTION_RULES, LINK_RULES, STEP_RULES, STOP_RULES, WINDOW_RULES
from tribosweep.kernels.models.schemes import SCHEMES, rubs

CRITERIA = ("included", "excluded")
WALL_REGIMES = ("no contact", "elastic", "plateau", "softened", "beyond table")

# the mass has friction only if the study asks for it
_PRESSED = "m g with friction (mu_s > 0), 0 without: the mass touches nothing but the wall"
PRESSED_OSCILLATOR = tuple(
    replace(q, default=0.0) if q.name == "mu" else replace(q, default_rule=_PRESSED) if q.name == "normal_force" else q for q in OSCILLATOR
)

# of every model with a wall: said where a user reads what the model is
ALONG = "; friction, if any, acts along the impact under a constant normal force"

STOP_PARAMETERS = (
    Quantity("k_n", "N/m", "stiffness of the wall", "k_n", default=1.0, lower=0.0, lower_open=True),
    Quantity("c_n", "N s/m", "damping of the wall", "c_n", default=0.0, lower=0.0),
    Quantity("gap", "m", "free way to the wall; negative: the mass at x = 0 is inside it", default=0.0),
    Quantity("m_2", "kg", "mass of a second body that carries the wall and is hit; x is then the first body less the second", "m_2",
             default_rule="absent: the wall stands on the support", lower=0.0, lower_open=True),
    Quantity("x0_2", "m", "initial displacement of the second body", "x_{0,2}", default=0.0),
    Quantity("v0_2", "m/s", "initial velocity of the second body", "v_{0,2}", default=0.0),
)  # fmt: skip

SIDES = Quantity("sides", "", "1: wall at x = +gap; 2: walls at x = +gap and -gap", kind="integer", default=1.0, lower=1.0, upper=2.0)

BUCKLING_PARAMETERS = (
    Quantity("f_crit", "N", "force at which the wall buckles", r"f_\mathrm{crit}", default=1.0, lower=0.0, lower_open=True),
    Quantity("f_post", "N", "force of the wall after it has buckled", r"f_\mathrm{post}", default=0.5, lower=0.0, lower_open=True),
    Quantity("plateau", "m", "way at constant force f_crit before the force falls", default=0.0, lower=0.0),
    Quantity("softening", "m", "way over which the force falls from f_crit to f_post", default=0.0, lower=0.0),
    Quantity("k_post", "N/m", "unloading stiffness after buckling, where there is no table", r"k_\mathrm{post}",
             default_rule="absent: the table post_set, post_stiffness", lower=0.0, lower_open=True),
    Quantity("post_set", "m", "plastic set at the nodes of the table", kind="list", default=(), lower=0.0),
    Quantity("post_stiffness", "N/m", "unloading stiffness at the nodes of the table", kind="list", default=(), lower=0.0,
             lower_open=True),
    Quantity("c_buckled", "N s/m", "damping of the wall at the end of the softening", default_rule="c_n", lower=0.0),
    Quantity("post_damping", "N s/m", "damping of the wall at the nodes of the table", kind="list", default_rule="c_buckled at every node",
             lower=0.0),
    Quantity("damping_criterion", "", "whether the viscous force counts against the criterion", kind="word", words=CRITERIA, default=0.0),
)  # fmt: skip

SHOCK_OBSERVABLES = (
    Quantity("impacts", "", "impacts on the wall in the window, touches of its face apart; a start inside it is one if the mass moves "
             "inwards", kind="integer"),
    Quantity("peak_force", "N", "largest force of the wall in the window", r"F_\mathrm{max}"),
    Quantity("contact_time", "s", "time of the window in which the wall pushes", r"t_\mathrm{contact}"),
    Quantity("contact_ratio", "1", "part of the window in which the wall pushes", r"r_\mathrm{contact}"),
    Quantity("impact_rate", "1/s", "impacts over the length of the window", r"n_\mathrm{impact}"),
    Quantity("impulse", "N s", "integral of the force of the wall over the window, on both sides without sign"),
    Quantity("first_contact_time", "s", "time of the first contact of the run; 0 for a start inside the wall, or at rest at its face",
             optional=True),
    Quantity("first_contact_velocity", "m/s", "velocity at the first contact of the run", optional=True),
    Quantity("max_compression", "m", "largest compression of the wall in the window, x beyond the gap", r"x_\mathrm{max}"),
    Quantity("rebound_velocity", "m/s", "velocity when the force of the wall last came to 0 in the window", r"v_\mathrm{rebound}",
             optional=True),
    Quantity("separation_time", "s", "time when the force of the wall last came to 0 in the window", optional=True),
    Quantity("exit_time", "s", "time when the mass last left the wall in the window, through its face x = gap", optional=True),
    Quantity("return_time", "s", "time when the mass last came back through x = 0 in the window after it had left the wall; the exit "
             "itself where the wall reaches to x = 0 (gap <= 0)", optional=True),
)  # fmt: skip

BUCKLING_OBSERVABLES = (
    Quantity("buckled", "", "1 if the force reached the criterion in the run, else 0", kind="integer"),
    Quantity("buckling_time", "s", "time when the force first reached the criterion in the run", r"t_\mathrm{buckling}", optional=True),
    Quantity("plastic_set", "m", "plastic set of the wall at the end of the run", r"d_p"),
    Quantity("wall_regime", "", "how far the wall was pressed in the run: not at all, elastically, into its plateau, into its softening or "
             "past it, beyond the last node of its table", kind="word", words=WALL_REGIMES),
)  # fmt: skip

SHAKEDOWN = (
    Quantity("shakedown", "", "periods of the excitation after which walls are at the end of each as they were at its start, 0 where "
             "none ever yields, or only at t = 0; null if they may go on to change", kind="integer",
             optional=True, unknown=True, steady=True),
    Quantity("ratcheting", "m", "growth of the plastic set of the walls in a period of the excitation; 0 after shakedown", steady=True),
)  # fmt: skip

# words for a steady window with stops; a given window has those of friction, which come first. Codes: `observables/impact_pattern.py`
STOP_REGIMES = ("no contact", "permanent contact", "grazing", "periodic impacts", "chatter", "aperiodic")

REGIME_AT_STOPS = Quantity("regime", "",
    "what happened in the window: no slip, slip with sticking, slip without (rest before the first slip does not count); in a steady "
    "window, whatever friction does: the stop is never touched, is never left, has a slowest impact below 1 % of |f0 - m a0| / (m omega), "
    "has impacts, has trains of 5 or more impacts within a period that come ever slower and sooner, or the motion has no period up to 16",
    kind="word", words=(*REGIMES, *STOP_REGIMES))  # fmt: skip

WALL_STATISTICS = (
    *RUBBING_STATISTICS,
    *statistics_of(
        "wall_force", "N", "force of the wall, or of both sides or walls together, without sign (0 where none pushes),", r"F_\mathrm{*}"
    ),
)

SECOND_BODY = (
    Quantity("x_end_2", "m", "displacement of the second body at the end of the run, or of the steady window; 0 where there is none"),
    Quantity("v_end_2", "m/s", "velocity of the second body at the end of the run, or of the steady window; 0 where there is none"),
)  # fmt: skip

# whose motion it is where there is a second body; all else is of the wall between them, or of friction, which two bodies do not have
_OF_TWO = {
    **dict.fromkeys(("x_end", "v_end"), "of the first of two bodies"),
    **dict.fromkeys(
        (
            "first_contact_velocity",
            "rebound_velocity",
            "return_time",
            "poincare_x",
            "poincare_v",
            "x_mean",
            "x_rms",
            "x_std",
            "x_min",
            "x_max",
            "v_rms",
        ),
        "of two bodies, of the first less the second",
    ),
    **dict.fromkeys(("multiplier_1", "multiplier_2"), "of two bodies, of the motion of the first less the second"),
}


def of_two(observables: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    """The observables of a model that may have a second body: their descriptions say whose motion they have."""
    return tuple(replace(q, description=f"{q.description}; {_OF_TWO[q.name]}") if q.name in _OF_TWO else q for q in observables)


SIDES_RULE = Rule(("gap", "sides"), "between two walls the gap must not be negative",
                  lambda p, _s: (np.asarray(p["sides"]) > 1.0) & (np.asarray(p["gap"]) < 0.0),
                  lambda p, _s: f"gap = {p['gap']:g} m and sides = 2")  # fmt: skip

PAIR_RULES = (
    Rule(("m_2", "mu", "mu_s"), "two bodies that meet do not rub on a support: leave out m_2 or friction",
         lambda p, _s: np.isfinite(p["m_2"]) & rubs(p),
         lambda p, _s: f"m_2 = {p['m_2']:g} kg and mu_s = {p['mu_s']:g}"),
    Rule(("x0_2", "v0_2", "m_2"), "a second body needs a mass: give m_2",
         lambda p, _s: np.isinf(p["m_2"]) & ((np.asarray(p["x0_2"]) != 0.0) | (np.asarray(p["v0_2"]) != 0.0))),
    Rule(("m_2", "sweep_rate"), "the centre of mass of two bodies has no closed form under a sine that sweeps: leave out m_2 or sweep_rate",
         lambda p, _s: np.isfinite(p["m_2"]) & (np.asarray(p.get("sweep_rate", 0.0)) != 0.0)),
)  # fmt: skip


def derive_pressed(p: dict[str, Any], xp: Any) -> None:
    """Fill in, in place, the parameters of friction; a mass without friction touches nothing but walls."""
    derive_friction(p, xp)
    p.setdefault("normal_force", xp.where(xp.asarray(p["mu_s"]) > 0.0, p["m"] * p["g"], 0.0))


def derive_buckling(p: dict[str, Any], xp: Any, prefix: str = "") -> None:
    """Fill in, in place, what follows from other parameters of a wall that buckles; `prefix` stands before their names."""
    p.setdefault(f"{prefix}k_post", math.nan)
    p.setdefault(f"{prefix}c_buckled", p[f"{prefix}c_n"])
    if f"{prefix}post_damping" not in p:
        sets, damping = xp.asarray(p[f"{prefix}post_set"]), xp.asarray(p[f"{prefix}c_buckled"])
        p[f"{prefix}post_damping"] = xp.where(xp.isnan(sets), math.nan, damping[..., None])


def derive_stop(values: Values, xp: Any) -> dict[str, Any]:
    """Fill in what follows from other parameters."""
    p = dict(values)
    derive_pressed(p, xp)
    p.setdefault("m_2", math.inf)
    derive_excitation(p, xp)
    derive_time(p, xp)
    derive_wear_law(p)
    return p


def derive_wall(values: Values, xp: Any) -> dict[str, Any]:
    """Fill in what follows from other parameters."""
    p = derive_stop(values, xp)
    p["sides"] = 1.0
    derive_buckling(p, xp)
    return p


_TABLES = ("post_set", "post_stiffness", "post_damping")


def _ends(p: Values) -> tuple[np.ndarray, np.ndarray]:
    """Total compression and plastic set [m] where the softening ends and at the nodes after it, (..., n + 1), NaN where padded."""
    sets, stiffnesses = np.asarray(p["post_set"]), np.asarray(p["post_stiffness"])
    count = max(sets.shape[-1], stiffnesses.shape[-1])
    sets, stiffnesses = (
        np.pad(t, [(0, 0)] * (t.ndim - 1) + [(0, count - t.shape[-1])], constant_values=np.nan) for t in (sets, stiffnesses)
    )
    u1 = np.asarray(p["f_crit"]) / p["k_n"] + p["plateau"] + p["softening"]
    ends = sets + np.asarray(p["f_post"])[..., None] / stiffnesses
    shape = np.broadcast_shapes(np.shape(u1), ends.shape[:-1])

    def after(first: Any, others: Any) -> Any:
        head = np.broadcast_to(np.asarray(first)[..., None], (*shape, 1))
        found: np.ndarray = np.concatenate([head, np.broadcast_to(others, (*shape, count))], axis=-1)
        return found

    return after(u1, ends), after(p["plateau"], sets)


def _lengths(p: Values) -> list[np.ndarray]:
    """Number of nodes in each of the three tables."""
    return [np.count_nonzero(~np.isnan(np.asarray(p[name])), axis=-1) for name in _TABLES]


def _unequal(p: Values) -> Any:
    """Mask of the rows whose tables differ in length."""
    first, second, third = _lengths(p)
    return (second != first) | (third != first)


def _out_of_order(p: Values, column: int) -> Any:
    """Mask (..., n) of nodes whose total compression (column 0) is not above, or plastic set (column 1) is below, the node before."""
    step = np.diff(_ends(p)[column], axis=-1)
    found: np.ndarray = (step <= 0.0) if column == 0 else (step < 0.0)
    return found


def _disordered(p: Values, column: int) -> Any:
    """Mask of the rows whose tables have equal lengths and a node that is `_out_of_order`."""
    return np.any(_out_of_order(p, column), axis=-1) & ~_unequal(p)


def _first_node(p: Values, column: int) -> str:
    """The first node of one row that is `_out_of_order`, in words, with its value and that of the node before."""
    values = _ends(p)[column]
    node = int(np.flatnonzero(_out_of_order(p, column))[0])
    before = "the end of the softening" if node == 0 else f"node {node - 1}"
    return f"node {node} has {values[node + 1]:g} m, {before} {values[node]:g} m"


BUCKLING_RULES = (
    Rule(("f_post", "f_crit"), "the force after buckling must not exceed the force at which the wall buckles: f_post <= f_crit",
         lambda p, _s: beyond(p["f_post"], p["f_crit"]),
         lambda p, _s: f"f_post = {p['f_post']:g} N, f_crit = {p['f_crit']:g} N"),
    Rule(_TABLES, "the tables after buckling must have the same number of nodes",
         lambda p, _s: _unequal(p),
         lambda p, _s: ", ".join(f"{name} has {count}" for name, count in zip(_TABLES, _lengths(p), strict=True))),
    Rule(("k_post", "post_set"), "what the wall does after buckling is either a table (post_set, post_stiffness) or one stiffness k_post",
         lambda p, _s: np.isnan(p["k_post"]) == (_lengths(p)[0] == 0),
         lambda p, _s: "give k_post, or a table" if np.isnan(p["k_post"]) else "leave out k_post, or the table"),
    Rule(("post_stiffness", "post_set"), "the total compression post_set + f_post / post_stiffness must grow from node to node, from "
         "f_crit / k_n + plateau + softening on",
         lambda p, _s: _disordered(p, 0),
         lambda p, _s: _first_node(p, 0)),
    Rule(("post_set", "plateau"), "the plastic set must not fall from node to node, nor below the plateau",
         lambda p, _s: _disordered(p, 1),
         lambda p, _s: _first_node(p, 1)),
    Rule(("k_post", "f_post", "f_crit", "k_n", "softening"), "k_post must be at least f_post / (f_crit / k_n + softening), or the plastic "
         "set would fall below the plateau",
         lambda p, _s: np.asarray(p["k_post"]) * (np.asarray(p["f_crit"]) / p["k_n"] + p["softening"]) < p["f_post"] * (1.0 - 1e-12),
         lambda p, _s: f"k_post = {p['k_post']:g} N/m must be at least {p['f_post'] / (p['f_crit'] / p['k_n'] + p['softening']):.6g} N/m"),
)  # fmt: skip

STOP = Model(
    name="stop",
    description="a mass that hits an elastic stop: m x'' + c x' + k x = (f0 - m a0) sin(omega t + phase) + load - F, "
    f"F = max(0, k_n (x - gap) + c_n v) for x >= gap{ALONG}",
    parameters=(*PRESSED_OSCILLATOR, *EXCITATION, *STOP_PARAMETERS, SIDES, *outside_laws.parameters(outside_laws.WALL), *WEAR_LAW, *TIME),
    observables=of_two(
        (
            *SHOCK_OBSERVABLES,
            *(REGIME_AT_STOPS if q.name == REGIME_AT_STOPS.name else q for q in WEAR_OBSERVABLES),
            *WORN_OBSERVABLES,
            *WALL_STATISTICS,
            *links.OBSERVABLES,
            *RUN_OBSERVABLES,
            *SECOND_BODY,
        )
    ),
    schemes=tuple(SCHEMES),
    penalty=("k_t", "c_t"),
    implied=("mu", "g", *(q.name for q in WEAR_LAW)),
    steady=True,
    derive=derive_stop,
    rules=(*WINDOW_RULES, *EXCITATION_RULES, *FRICTION_RULES, *LINK_RULES, SIDES_RULE, *PAIR_RULES, *STOP_RULES, *STEP_RULES),
    walls=(WallContact(sides=0),),
)

BUCKLING_WALL = Model(
    name="buckling_wall",
    description=f"a mass that hits a wall which buckles: elastic up to f_crit, then plastic along a plateau, a softening and f_post{ALONG}",
    parameters=(*PRESSED_OSCILLATOR, *EXCITATION, *STOP_PARAMETERS, *BUCKLING_PARAMETERS, *WEAR_LAW, *TIME),
    observables=of_two(
        (
            *SHOCK_OBSERVABLES,
            *BUCKLING_OBSERVABLES,
            *SHAKEDOWN,
            *(REGIME_AT_STOPS if q.name == REGIME_AT_STOPS.name else q for q in WEAR_OBSERVABLES),
            *WORN_OBSERVABLES,
            *WALL_STATISTICS,
            *links.OBSERVABLES,
            *RUN_OBSERVABLES,
            *SECOND_BODY,
        )
    ),
    schemes=tuple(SCHEMES),
    penalty=("k_t", "c_t"),
    implied=("mu", "g", *(q.name for q in WEAR_LAW)),
    steady=True,
    derive=derive_wall,
    rules=(*WINDOW_RULES, *EXCITATION_RULES, *FRICTION_RULES, *LINK_RULES, *PAIR_RULES, *BUCKLING_RULES, *STEP_RULES),
    walls=(WallContact(buckles=True),),
)
