"""Laws of friction, links and walls that other packages bring, by their entry point `tribosweep.laws`. Nothing here imports JAX.

An entry point names a declaration: plain data, read while this package is imported, so that its module must not import this package:

    LAW = {
        "kind": "friction",                                   # or "link", or "wall"
        "title": "regularised Coulomb friction",
        "parameters": [{"name": "tanh_speed", "unit": "m/s", "description": "...", "default": 0.0, "lower": 0.0}],
        "law": "my_package.law:Tanh",                         # its class, which is imported when a program is made
        "step": "my_package.step:stiffness_and_damping",      # of resolved parameters (numpy): what bounds a stable step
        "reads": ["mu_s"],                                    # those of MAY_READ that the law reads
    }

The fields of a parameter are those of `Quantity`. The first one switches the law on: a number that is 0 in rows without it. Every name
begins with that of the entry point and an underscore. `docs/how-to/laws.md` is the guide.
"""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models.quantity import Quantity, Values

GROUP = "tribosweep.laws"
FRICTION, LINK, WALL = KINDS = ("friction", "link", "wall")
# what a law of friction reads only if it says so: a row of a law that does not read it is refused
MAY_READ = ("mu_s", "belt_speed", "stribeck_speed", "normal_amplitude")
# first words of the names of this package's parameters, observables and columns, which no other law may use
TAKEN = frozenset(
    re.findall(
        r"\w+",
        """
        a a0 accepted archard belt bristle buckled buckling c chain contact dahl damper damping draw drift edf end exit
        f f0 first friction g gap halving hardening impact impacts impulse k largest left level link load m max maxwell
        mu multiplier normal omega peak period phase plastic plateau poincare point post pulse ratcheting rebound record
        regime rejected retries return right scheme separation service shakedown sides slip smallest softening spring
        stability status step stick stops stribeck sweep table time tolerance tone v v0 viscous wall wear window x x0""",
    )
)
_FIELDS = {"name", "unit", "description", "symbol", "default", "default_rule", "lower", "upper", "lower_open", "upper_open", "kind"}
_OF_LAW = {"kind", "title", "parameters", "law", "step"}
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class OutsideLaw:
    """A law of another package.

    Attributes:
        kind: one of KINDS. title: what it is called in messages, "regularised Coulomb friction".
        parameters: the first one switches it on.
        law: "module:class", a `contact.friction_law.FrictionLaw`, a `contact.link_law.LinkLaw` or a `contact.stop_law.StopLaw`.
        step: "module:function" of resolved parameters (floats or arrays) -> largest stiffness [N/m] and damping [N s/m] of the law.
        reads: those of MAY_READ that it reads.
    """

    kind: str
    title: str
    parameters: tuple[Quantity, ...]
    law: str
    step: str
    reads: tuple[str, ...] = ()

    @property
    def switch(self) -> str:
        """The parameter that switches it on."""
        return self.parameters[0].name

    @property
    def module(self) -> str:
        """The module of its class."""
        return self.law.partition(":")[0]

    def of(self, p: dict[str, Any]) -> Any:
        """The law of resolved parameters (scalars, tables (n,))."""
        return _at(self.law).of(p)

    def stiffness_and_damping(self, p: Values) -> tuple[Any, Any]:
        """Largest stiffness [N/m] and damping [N s/m] of the law, of each row that has it."""
        stiffness, damping = _at(self.step)(p)
        return stiffness, damping


def _at(place: str) -> Any:
    """The object at "module:name"."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def laws(*kinds: str) -> dict[str, OutsideLaw]:
    """The laws of some kinds, by the parameter that switches each on; of all kinds without any. One with a fault is left out."""
    return {law.switch: law for law in found()[0] if law.kind in (kinds or KINDS)}


def parameters(*kinds: str) -> tuple[Quantity, ...]:
    """The parameters of the laws of some kinds."""
    return tuple(quantity for law in laws(*kinds).values() for quantity in law.parameters)


def faults() -> tuple[str, ...]:
    """Sentences on the laws of other packages that cannot be used."""
    return found()[1]


@functools.cache
def found() -> tuple[tuple[OutsideLaw, ...], tuple[str, ...]]:
    """The laws of other packages, and what is wrong with others."""
    brought, wrong, taken = [], [], set[str]()
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            law = _declared(point, point.load(), taken)
        except (Exception, SystemExit) as error:  # the code of another package
            why = str(error) if isinstance(error, ValueError) else f"cannot be loaded: {type(error).__name__}: {error}"
            wrong.append(f"the law {point.value} (entry point {point.name}): {why}")
        else:
            taken.add(point.name)
            brought.append(law)
    return tuple(brought), tuple(wrong)


def _declared(point: EntryPoint, declared: Any, taken: Collection[str]) -> OutsideLaw:
    """The law that an entry point declares; ValueError says what is wrong with it. `taken`: the names of other entry points."""
    if point.name in taken:
        raise ValueError("another package brings a law of that name")
    if not isinstance(declared, Mapping):
        raise ValueError(f"it must be a mapping, not {type(declared).__name__}")  # noqa: TRY004 (a fault of a declaration)
    if lacking := _OF_LAW - declared.keys():
        raise ValueError(f"it lacks {', '.join(sorted(lacking))}")
    if unknown := declared.keys() - _OF_LAW - {"reads"}:
        raise ValueError(f"{', '.join(sorted(map(str, unknown)))}: unknown; it may have {', '.join(sorted(_OF_LAW))}, reads")
    if declared["kind"] not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {declared['kind']!r}")
    if not re.fullmatch(r"[a-z][a-z0-9]*", point.name) or point.name in TAKEN:
        raise ValueError(
            "the entry point must be a word of lower-case letters and digits that begins no parameter, observable or column of ours"
        )
    for key in ("law", "step"):
        if not isinstance(declared[key], str) or not _PLACE.fullmatch(declared[key]):
            raise ValueError(f"{key} must be given as 'module:name', not {declared[key]!r}")
    reads = declared.get("reads", ())
    if not isinstance(reads, list | tuple) or not {*reads} <= {*MAY_READ}:
        raise ValueError(f"reads must be a list of some of {', '.join(MAY_READ)}, not {reads!r}")
    if reads and declared["kind"] != FRICTION:
        raise ValueError("reads is of friction: leave it out")
    quantities = tuple(_quantity(point.name, each) for each in declared["parameters"])
    if len({quantity.name for quantity in quantities}) != max(len(quantities), 1):
        raise ValueError("it needs at least one parameter, and none twice")
    if quantities[0].kind != "float" or quantities[0].default != 0.0 or quantities[0].lower != 0.0:
        raise ValueError(f"{quantities[0].name}, the first parameter, switches the law on: a number whose default and lower bound are 0")
    return OutsideLaw(declared["kind"], str(declared["title"]), quantities, declared["law"], declared["step"], tuple(reads))


def _quantity(word: str, declared: Any) -> Quantity:
    """A declared parameter, whose name begins with a word and an underscore."""
    if not isinstance(declared, Mapping) or not {"name", "unit", "description"} <= declared.keys():
        raise ValueError(f"a parameter is a mapping with name, unit and description, not {declared!r}")
    if unknown := declared.keys() - _FIELDS:
        raise ValueError(f"parameter {declared['name']}: {', '.join(sorted(map(str, unknown)))}: unknown")
    name = declared["name"]
    if not re.fullmatch(rf"{word}_[a-z0-9_]+", str(name)):
        raise ValueError(f"the name of parameter {name!r} must begin with {word}_")
    if declared.get("kind", "float") not in ("float", "list"):
        raise ValueError(f"parameter {name}: kind must be float or list")
    if unfit := _unfit(declared):
        raise ValueError(f"parameter {name}: {unfit}")
    default = declared["default"]
    made = dict(declared) | {"default": tuple(map(float, default)) if isinstance(default, tuple | list) else float(default)}
    return Quantity(**made)


def switched(law: OutsideLaw, p: dict[str, Any]) -> tuple[Any, Any]:
    """The law of resolved parameters (scalars), and whether this row has it: one beside rows with the law may not.

    A row without it gets that of a switch of 1, whose force is not used.
    """
    on = p[law.switch] > 0.0
    return law.of({**p, law.switch: np.where(on, p[law.switch], 1.0)}), on


def _unfit(declared: Mapping[str, Any]) -> str:
    """What is wrong with the default or a bound of a declared parameter; empty if nothing is."""
    default, table = declared.get("default"), declared.get("kind", "float") == "list"
    if table != isinstance(default, tuple | list):
        return "default must be a list of numbers, () for none" if table else "default must be a number"
    low, high = (declared.get(name, bound) for name, bound in (("lower", -math.inf), ("upper", math.inf)))
    numbers = [low, high, *(default if isinstance(default, tuple | list) else (default,))]
    if not all(isinstance(each, int | float) and not isinstance(each, bool) and not math.isnan(each) for each in numbers):
        return "default, lower and upper must be numbers"
    if not all(low <= each <= high and math.isfinite(each) for each in numbers[2:]):
        return "the default must be finite and within the bounds"
    return ""


def added(some: Mapping[str, OutsideLaw], p: Values, stiffness: Any, damping: Any) -> tuple[Any, Any]:
    """A stiffness [N/m] and a damping [N s/m] with those of laws, in the rows of parameters that have them."""
    for switch, law in some.items():
        if switch in p:
            has = np.asarray(p[switch]) > 0.0
            with np.errstate(all="ignore"):  # of rows without the law
                k, c = law.stiffness_and_damping(p)
            stiffness, damping = stiffness + np.where(has, k, 0.0), damping + np.where(has, c, 0.0)
    return stiffness, damping
