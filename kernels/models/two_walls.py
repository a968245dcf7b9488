"""The model of a mass between two different walls, each elastic or buckling, with or without friction on its support."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models import links
from tribosweep.kernels.models.contacts import WallContact
from tribosweep.kernels.models.model import Model, Rule
from tribosweep.kernels.models.observables import RUN_OBSERVABLES, WEAR_OBSERVABLES, WORN_OBSERVABLES
from tribosweep.kernels.models.parameters import EXCITATION, TIME, WEAR_LAW, derive_excitation, derive_time, derive_wear_law
from tribosweep.kernels.models.quantity import Quantity, Values
from tribosweep.kernels.models.rules import EXCITATION_RULES, FRICTION_RULES, LINK_RULES, STEP_RULES, WINDOW_RULES
from tribosweep.kernels.models.schemes import SCHEMES
from tribosweep.kernels.models.walls import (
    ALONG,
    BUCKLING_OBSERVABLES,
    BUCKLING_PARAMETERS,
    BUCKLING_RULES,
    PRESSED_OSCILLATOR,
    REGIME_AT_STOPS,
    SHAKEDOWN,
    SHOCK_OBSERVABLES,
    STOP_PARAMETERS,
    WALL_STATISTICS,
    derive_buckling,
    derive_pressed,
)

LEFT = "left_"
PREFIXES = ("", LEFT)
_SECOND_BODY = ("m_2", "x0_2", "v0_2")
_OF_A_WALL = (*(q for q in STOP_PARAMETERS if q.name not in _SECOND_BODY), *BUCKLING_PARAMETERS)
_NAMES = tuple(q.name for q in _OF_A_WALL)
_WORD = re.compile(rf"\b({'|'.join(sorted(_NAMES, key=len, reverse=True))})\b")
_LARGE = 1e100  # N: stands for an infinite f_crit in rules


def _prefixed(text: str, prefix: str) -> str:
    """A text with the prefix before every name of a wall's parameter."""
    return _WORD.sub(lambda found: prefix + found[0], text)


def _parameters(prefix: str) -> tuple[Quantity, ...]:
    """The parameters of the wall at the right (prefix "") or at the left."""
    found = []
    for each in _OF_A_WALL:
        q = each
        if q.name == "f_crit":
            q = replace(q, default=None, default_rule="absent: an elastic stop, whose other parameters of buckling are not read")
        if not prefix:
            found.append(q)
            continue
        symbol = f"{q.symbol}^\\mathrm{{left}}" if q.symbol else ""
        found.append(
            replace(
                q,
                name=prefix + q.name,
                description=f"of the wall at the left, x = -left_gap: {_prefixed(q.description, prefix)}",
                symbol=symbol,
                default_rule=_prefixed(q.default_rule, prefix),
            )
        )
    return tuple(found)


def _own(p: Values, prefix: str) -> dict[str, Any]:
    """The parameters of one wall by their names without prefix, with a finite f_crit."""
    own = {name: p[prefix + name] for name in _NAMES if prefix + name in p}
    force = np.asarray(own["f_crit"])
    return own | {"f_crit": np.where(np.isinf(force), _LARGE, force)[()]}


def _of_a_wall(rule: Rule, prefix: str) -> Rule:
    """A rule of the buckling wall as a rule of one of two walls. It holds only in rows in which that wall may buckle."""

    def on_own(ask: Callable[[Values, str], Any]) -> Callable[[Values, str], Any]:
        return lambda p, scheme: ask(_own(p, prefix), scheme)

    def broken(p: Values, scheme: str) -> Any:
        return np.isfinite(p[f"{prefix}f_crit"]) & rule.broken(_own(p, prefix), scheme)

    def advice(p: Values, scheme: str) -> str:
        return _prefixed(rule.advice(_own(p, prefix), scheme), prefix)

    names = tuple(prefix + name for name in rule.parameters)
    return Rule(names, _prefixed(rule.sentence, prefix), broken, advice, on_own(rule.margin))


def derive_two_walls(values: Values, xp: Any) -> dict[str, Any]:
    """Fill in what follows from other parameters."""
    p = dict(values)
    derive_pressed(p, xp)
    derive_excitation(p, xp)
    derive_time(p, xp)
    derive_wear_law(p)
    for prefix in PREFIXES:
        p.setdefault(f"{prefix}f_crit", math.inf)
        derive_buckling(p, xp, prefix)
    return p


_DESCRIBED = {
    "impacts": "impacts on either wall in the window, touches of a face apart; a start inside one is an impact if the mass moves inwards",
    "peak_force": "largest force of a wall in the window",
    "contact_time": "time of the window in which the walls push, summed over both walls",
    "impulse": "integral of the forces of both walls over the window, without sign",
    "first_contact_time": "time of the first contact of the run with a wall; 0 for a start inside a wall, or at rest at its face",
    "first_contact_velocity": "velocity at the first contact of the run with a wall",
    "max_compression": "largest compression of a wall in the window",
    "rebound_velocity": "velocity when the force of a wall last came to 0 in the window",
    "separation_time": "time when the force of a wall last came to 0 in the window",
    "exit_time": "time when the mass last left a wall in the window, through its face",
    "return_time": "time when the mass last came back through x = 0 in the window after it had left a wall; the exit itself where the "
    "wall reaches to x = 0 (gap <= 0)",
    "buckled": "1 if the force of either wall reached its criterion in the run, else 0",
    "buckling_time": "time when the force of a wall first reached its criterion in the run",
    "plastic_set": "plastic sets of both walls at the end of the run, summed",
    "wall_regime": "how far the wall that was pressed further was pressed in the run: not at all, elastically, into its plateau, into its "
    "softening or past it, beyond the last node of its table",
}
_BOTH = tuple(
    replace(q, description=_DESCRIBED.get(q.name, f"{q.description}, summed over both walls"))
    for q in (*SHOCK_OBSERVABLES, *BUCKLING_OBSERVABLES)
)
_OF_EACH = (*BUCKLING_OBSERVABLES, *(q for q in SHOCK_OBSERVABLES if q.name in ("impacts", "peak_force", "max_compression")))


def _of_one(q: Quantity, side: str) -> Quantity:
    """An observable of the wall at one side, "left" or "right"."""
    symbol = f"{q.symbol}^\\mathrm{{{side}}}" if q.symbol else ""
    description = f"of the wall at the {side}: {q.description.replace(', x beyond the gap', '')}"
    return replace(q, name=f"{side}_{q.name}", description=description, symbol=symbol)


TWO_WALLS = Model(
    name="two_walls",
    description="a mass between two walls, at x = gap and x = -left_gap, each with its own stiffness, damping and, where its f_crit is "
    f"given, buckling{ALONG}",
    parameters=(*PRESSED_OSCILLATOR, *EXCITATION, *_parameters(""), *_parameters(LEFT), *WEAR_LAW, *TIME),
    observables=(
        *_BOTH,
        *(_of_one(q, side) for side in ("right", "left") for q in _OF_EACH),
        *(replace(q, needs=("f_crit|left_f_crit",)) for q in SHAKEDOWN),
        *(REGIME_AT_STOPS if q.name == REGIME_AT_STOPS.name else q for q in WEAR_OBSERVABLES),
        *WORN_OBSERVABLES,
        *WALL_STATISTICS,
        *links.OBSERVABLES,
        *RUN_OBSERVABLES,
    ),
    schemes=tuple(SCHEMES),
    penalty=("k_t", "c_t"),
    implied=("mu", "g", *(q.name for q in WEAR_LAW)),
    steady=True,
    derive=derive_two_walls,
    rules=(
        *WINDOW_RULES,
        *EXCITATION_RULES,
        *FRICTION_RULES,
        *LINK_RULES,
        *(_of_a_wall(rule, prefix) for prefix in PREFIXES for rule in BUCKLING_RULES),
        *STEP_RULES,
    ),
    walls=(WallContact(buckles=True), WallContact(LEFT, -1, buckles=True)),
)
