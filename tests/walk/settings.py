"""What the walk draws: settings, each a model with a scheme and some of its optional parts, and rows of parameters for them.

Everything comes from the registries: models, schemes, excitations, friction laws, links and units. A parameter is at its default,
at a bound, at 0, at the number of another parameter of its unit, where oscillators are special (resonance, critical damping, the limit
of friction), or in between.
"""

from __future__ import annotations

import functools
import math
import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.figures import ROOM
from tribosweep.kernels.batch.solve import check, solve
from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.features import DRIVEN, EXPONENTS, FEATURES, VARIED
from tribosweep.kernels.models.friction_laws import PRESLIDING
from tribosweep.kernels.models.links import ASCENDING
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import EXACT, PACE, SCHEMES
from tribosweep.kernels.models.status import RESULTS

Row = dict[str, Any]
TYPICAL = {"kg": 1.3, "N/m": 60.0, "N s/m": 1.1, "m": 0.07, "m/s": 0.6, "m/s^2": 4.0, "N": 2.5, "rad/s": 5.0, "rad": 0.8, "rad/s^2": 2.0,
           "1": 0.15, "s": 0.6}  # fmt: skip
# what sets the length of a run, of all rows of a batch, and the numbers of the schemes
TIMES = {"end": 1.0, "step": 1e-3}
SCHEMES_NUMBERS = {name for scheme in SCHEMES.values() for name in scheme.reads} - {"step"}
WORN = ("service_time", "archard_k", "contact_area", "edf_a", "edf_b", "edf_n", "edf_s")
GRIP = 3000.0  # N/m, k_t of the rows of a setting with penalised friction
TABLE = 3  # entries of a table
# lists that begin at 0, and those whose slopes fall
CONCAVE = {"hardening_force": (0.0, 1.0, 1.5), "hardening_displacement": (0.0, 1.0, 2.0)}
SPECIAL = {
    "omega": lambda p: math.sqrt(max(p["k"], 1e-3) / p["m"]),
    "c": lambda p: 2.0 * math.sqrt(p["k"] * p["m"]),
    "load": lambda p: p["mu_s"] * p["normal_force"],
    "a0": lambda p: p["mu_s"] * p["normal_force"] / p["m"],
    "mu_s": lambda p: abs(p["load"]) / p["normal_force"] if p["normal_force"] else 0.0,
}


def parts_of(model: Model) -> dict[str, tuple[str, ...]]:
    """The optional parts of a model: the name of each, and the parameters that only rows with it have."""
    known = {quantity.name for quantity in model.parameters}
    parts = {feature: FEATURES[feature] for feature in DRIVEN if feature != "record"} | dict(VARIED)
    parts |= {exponent: (*VARIED[law], exponent) for exponent, law in EXPONENTS.items()}
    parts["k_t"] = ("k_t", "c_t")
    parts |= {"m_2": ("m_2", "x0_2", "v0_2")} if "m_2" in known else {}
    for wall in model.walls:
        if wall.buckles and model.parameter(f"{wall.prefix}f_crit").default is None:
            own = ("f_crit", "f_post", "plateau", "softening", "k_post", "c_buckled", "damping_criterion")
            parts[f"{wall.prefix}f_crit"] = tuple(wall.prefix + name for name in own)
    return {part: names for part, names in parts.items() if set(names) <= known}


@dataclass(frozen=True)
class Setting:
    """A model with a scheme and some of its optional parts.

    Attributes:
        name: of a model in `MODELS`. scheme: of a scheme. parts: keys of `parts_of`.
    """

    name: str
    scheme: str = EXACT
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The name of a test's parameter."""
        return " ".join((self.name, self.scheme, *self.parts))

    @property
    def model(self) -> Model:
        """The model."""
        return MODELS[self.name]

    def in_units(self, powers: Mapping[str, float]) -> Setting:
        """The setting whose own numbers are in other units: metre, second and kilogram times `powers`."""
        return self

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The parameters that rows of the setting may have, without those of TIMES."""
        parts = parts_of(self.model)
        absent = {name for part, names in parts.items() if part not in self.parts for name in names}
        absent |= {"record", "record_scale", *TIMES, *SCHEMES_NUMBERS, *WORN, *(n for n in FEATURES["table"] if "table" not in self.parts)}
        absent |= set(PACE) if SCHEMES[self.scheme].fixed_step else set()  # rows share it, and so their steps
        shown = (q for q in self.model.parameters if q.name not in absent)
        return tuple(q for q in shown if q.kind != "list" or any(q.name in parts.get(part, ()) for part in self.parts))

    @property
    def base(self) -> Row:
        """A row that moves, to which rows are changes: typical numbers of what has no default, of what drives it, and of its parts."""
        parts = {name for part in self.parts for name in parts_of(self.model)[part]}
        moving = {"m", "k", "a0", "omega", "v0", "gap", "k_n", "left_gap", "left_k_n", "f_crit", "f_post"}
        found = {q.name: typical(q) for q in self.quantities if q.name in moving | parts}
        found |= {"k_t": GRIP * found["k_t"] / TYPICAL["N/m"]} if "k_t" in found else {}
        for q in self.quantities:
            if q.name.endswith("k_post"):  # at least f_post k_n / f_crit
                found[q.name] = found[q.name.replace("k_post", "k_n")] * 1.25
            if q.name.endswith("f_post"):
                found[q.name] = 0.8 * found[q.name.replace("f_post", "f_crit")]
            if q.name == "mu" and not q.default and (self.scheme == EXACT or "k_t" in self.parts) and "m_2" not in self.parts:
                found[q.name] = 0.05
        rubs = "k_t" in self.parts or any(part in PRESLIDING for part in self.parts)
        return found | ({"mu": 0.0} if self.scheme != EXACT and not rubs else {})


def typical(quantity: Quantity) -> Any:
    """A number that is not special, of the size that oscillators of this walk have; other parameters have other ones."""
    if quantity.kind in ("word", "integer"):
        return 1.0
    size = TYPICAL[quantity.unit] * (0.6 + 0.8 * zlib.crc32(quantity.name.encode()) / 2**32)
    if quantity.kind == "list":
        if quantity.name in CONCAVE:
            return tuple(size * part for part in CONCAVE[quantity.name])
        first = -1.0 if quantity.name in (*ASCENDING, "spring_force", "damper_force") else 0.0 if quantity.unit == "s" else 0.5
        return tuple(size * (first + 0.75 * place) for place in range(TABLE))
    return size


def special(quantity: Quantity, others: Sequence[Quantity]) -> list[Any]:
    """The default of a parameter (None: left out), 0, its bounds, and where it is equal to another one, as "=name"."""
    alone = "a0" in {other.name for other in others}  # an oscillator of one mass, of which SPECIAL speaks
    found: list[Any] = [None, 0.0, quantity.lower, quantity.upper, *range(len(quantity.words))]
    found += [2.0] if quantity.kind == "integer" else [-typical(quantity), (0.05 if quantity.lower_open else 1e-9) * typical(quantity)]
    allowed = [each for each in found if each is None or (math.isfinite(each) and not quantity.out_of_bounds(each))]
    ties = [f"={other.name}" for other in others if other.unit == quantity.unit and other.kind == "float" and other.name != quantity.name]
    return [
        *dict.fromkeys(allowed),
        *(ties if quantity.kind == "float" else []),
        *(["=special"] if quantity.name in SPECIAL and alone else []),
    ]


def number(quantity: Quantity, others: tuple[Quantity, ...]) -> st.SearchStrategy[Any]:
    """A strategy for a parameter of a row."""
    if quantity.kind == "list":
        return st.sampled_from([typical(quantity), tuple(0.5 * each for each in typical(quantity))])
    choices = st.sampled_from(special(quantity, others))
    if quantity.kind != "float":
        return choices
    size = typical(quantity)
    low = -2.0 * size if quantity.lower < 0.0 else 0.05 * size
    return st.one_of(choices, st.floats(low, 2.0 * size).map(lambda value: float(f"{value:.6g}")))


def rows(setting: Setting, most: int = 8) -> st.SearchStrategy[list[Row]]:
    """A strategy for some rows of a setting: changes to its base."""
    quantities = setting.quantities
    by_name = {q.name: number(q, quantities) for q in quantities}
    change = st.sampled_from(sorted(by_name)).flatmap(lambda name: st.tuples(st.just(name), by_name[name]))
    row = st.lists(change, max_size=10, unique_by=lambda pair: pair[0]).map(dict)
    return st.lists(row, min_size=1, max_size=most).map(lambda many: [whole(setting, each) for each in many])


def whole(setting: Setting, change: Row) -> Row:
    """The row that a change to the base of a setting makes, in numbers; None stands for a parameter left out."""
    row = setting.base | {"end": TIMES["end"]} | ({} if setting.scheme == EXACT else {"step": TIMES["step"]}) | change
    ties = {name: value for name, value in row.items() if isinstance(value, str)}
    row |= dict.fromkeys(ties)
    with np.errstate(all="ignore"):
        given = {name: value for name, value in row.items() if value is not None}
        resolved = setting.model.resolve({name: np.asarray(value, float) for name, value in given.items()})
        for name, tie in ties.items():
            value = SPECIAL[name](resolved) if tie == "=special" else float(resolved.get(tie[1:], 0.0))
            row[name] = value if math.isfinite(value) else None
    return {name: value for name, value in row.items() if value is not None}


def columns_of(setting: Setting, many: list[Row]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Rows as columns, one for every parameter of the setting, so that they share programs; and masks of what is left out."""
    columns, absent = {}, {}
    given = {name for row in many for name in row} | {q.name for q in setting.quantities}
    for q in setting.model.parameters:
        if q.name in PACE and SCHEMES[setting.scheme].fixed_step:
            columns |= {q.name: many[0][q.name]} if q.name in many[0] else {}
        elif q.name in given:
            blank = (math.nan,) * TABLE if q.kind == "list" else 0.0
            columns[q.name] = np.array([row.get(q.name, blank) for row in many], float)
            absent[q.name] = np.array([q.name not in row for row in many])
    return columns, absent


def run(setting: Setting, many: list[Row], **asked: Any) -> dict[str, np.ndarray]:
    """Observables and status of rows, by one batch."""
    solution = solve(setting.model, setting.scheme, *columns_of(setting, many), count=len(many), room=ROOM, **asked)
    return solution.observables | {"status": solution.status}


def codes(setting: Setting, many: list[Row]) -> np.ndarray:
    """What a batch says of rows before they run (`Status`)."""
    columns, absent = columns_of(setting, many)
    with np.errstate(all="ignore"):
        return check(setting.model, setting.scheme, setting.model.resolve(columns, absent), columns, absent, len(many))


def admitted(setting: Setting, many: list[Row]) -> list[Row]:
    """The rows that are not refused."""
    return [row for row, code in zip(many, codes(setting, many), strict=True) if not code]


def with_results(found: dict[str, np.ndarray]) -> np.ndarray:
    """Mask of the rows that have results."""
    return np.isin(found["status"], [int(each) for each in RESULTS])


def possible(setting: Setting) -> bool:
    """Whether the base of a setting is not refused."""
    return bool(admitted(setting, [whole(setting, {})]))


def every_setting() -> list[Setting]:
    """Every model with every scheme, without parts and with each one of them, where that is possible."""
    found = []
    for name, model in MODELS.items():
        for scheme in model.schemes:
            held = () if scheme == EXACT else ("k_t",)
            for part in (None, *parts_of(model)):
                own = tuple(dict.fromkeys([*(() if part in PRESLIDING or part == "m_2" else held), *([part] if part else [])]))
                found.append(Setting(name, scheme, own))
            if scheme != EXACT:
                found.append(Setting(name, scheme))
    return [each for each in dict.fromkeys(found) if possible(each)]


@functools.cache
def drawn(seed: int, count: int) -> list[Setting]:
    """Some settings, of which each model and each scheme has some."""
    left, found = random.Random(seed).sample(every_setting(), len(every_setting())), []
    while len(found) < count and left:
        seen = {each.name for each in found}, {each.scheme for each in found}
        best = max(left, key=lambda each: (each.scheme not in seen[1]) + (each.name not in seen[0]))
        found.append(best)
        left.remove(best)
    return found
