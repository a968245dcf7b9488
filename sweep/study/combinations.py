"""Which models, schemes, features and commands go together, as the checks of studies say: rules between parameters, and limits of uses."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.friction_laws import FRICTION_LAWS
from tribosweep.kernels.models.limits import TIME_SCHEMES
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.models.structure_model import WHY_NOT_EXACT
from tribosweep.kernels.models.supports import named
from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.io.values import padded
from tribosweep.sweep.study.capabilities import USES, found_of
from tribosweep.sweep.study.document import belongs

LOAD, SUPPORT = "LOAD", "SUPPORT"  # names of a load and a support of the structure that stands for all
TIME = {"end": 0.5, "step": 1e-4}  # s
HELD = 9e4  # N/m, the k_t of time schemes
NEEDED = {"buckling_wall": {"k_post": 1.0}}  # model -> the parameters that it cannot do without


@dataclass(frozen=True, slots=True)
class Setting:
    """What the parameters of a study may say.

    Attributes:
        about: what it is.
        example: parameters of an oscillator that say it; k_t = None leaves k_t out, which time schemes have otherwise.
        of_structures: the same of a structure with a support SUPPORT and a load LOAD; None where it has no such parameters by those names.
    """

    about: str
    example: Mapping[str, Any]
    of_structures: Mapping[str, Any] | None = None


_FRICTION = {"mu_s": 0.12, "mu_d": 0.1}
SETTINGS: Mapping[str, Setting] = {
    "sine": Setting("a sine of acceleration or force", {"a0": 1.5}, {named("amplitude", LOAD): 1.0}),
    "sweep": Setting("a sine whose frequency grows", {"a0": 1.5, "sweep_rate": 0.5}),
    "tones": Setting("more sines", {"tone_a0": (1.0,), "tone_omega": (9.0,)}),
    "record": Setting("a measured acceleration", {RECORD: 0.0}, {RECORD: 0.0}),
    "random": Setting("random accelerations", {RECORD: 0.0, DRAW: 0.0}, {RECORD: 0.0, DRAW: 0.0}),
    "table of force": Setting("a force over time, linear between instants", {"table_time": (0.0, 1.0), "table_force": (1.0, 0.0)},
                              {named("table_time", LOAD): (0.0, 1.0), named("table_value", LOAD): (1.0, 0.0)}),
    "pulse": Setting("a pulse of force or acceleration", {"pulse": 1.0, "pulse_f0": 1.0},
                     {named("pulse", LOAD): 1.0, named("pulse_amplitude", LOAD): 1.0}),
    "rigid friction": Setting("Coulomb friction that holds rigidly: no k_t", {**_FRICTION, "k_t": None}),
    "penalised friction": Setting("friction that holds by a spring k_t", {**_FRICTION, "k_t": HELD}, {named("mu", SUPPORT): 0.1}),
    "varying normal force": Setting("a normal force with a sine", {**_FRICTION, "normal_force": 10.0, "normal_amplitude": 2.0}),
    "two surfaces": Setting("a varying normal force between two surfaces",
                            {**_FRICTION, "normal_force": 10.0, "normal_amplitude": 12.0, "friction_sides": 2.0}),
    "belt": Setting("a surface that moves", {**_FRICTION, "belt_speed": 0.1}),
    "Stribeck friction": Setting("friction that falls with the speed", {**_FRICTION, "stribeck_speed": 0.1}),
    "LuGre friction": Setting("bristles that bend", {**_FRICTION, "bristle_stiffness": 1e4, "bristle_damping": 100.0}),
    "Dahl friction": Setting("presliding without bristle damping", {"mu": 0.1, "dahl_stiffness": 1e4}),
    "nonlinear spring": Setting("a spring whose force is a table",
                                {"spring_displacement": (-0.1, 0.0, 0.1), "spring_force": (-2.0, 0.0, 1.0)}),
    "nonlinear damper": Setting("a damper whose force is a table",
                                {"damper_velocity": (-1.0, 0.0, 1.0), "damper_force": (-2.0, 0.0, 1.0)}),
    "Maxwell branches": Setting("springs in series with dashpots", {"maxwell_stiffness": (50.0, 20.0), "maxwell_damping": (5.0, 10.0)}),
    "power law dashpots": Setting("dashpots whose force is a power of the velocity",
                                  {"maxwell_stiffness": (50.0,), "maxwell_damping": (5.0,), "maxwell_exponent": 0.5}),
    "elasto-plastic link": Setting("a link that yields and hardens",
                                   {"hardening_displacement": (0.0, 0.01, 0.1), "hardening_force": (0.0, 1.0, 2.0)}),
    "two bodies": Setting("a second body that is hit", {"m_2": 2.0}),
}  # fmt: skip
FEATURES = (*SETTINGS, *USES)


@dataclass(frozen=True, slots=True)
class Combination:
    """Some features on a model with a scheme.

    Attributes:
        features: names in SETTINGS and USES. model, scheme: their names. why: the reason why it is refused; empty if it works.
    """

    features: tuple[str, ...]
    model: str
    scheme: str
    why: str


def example_of(features: Iterable[str], model: Model, scheme: str) -> dict[str, Any] | None:
    """The parameters of an example of some features, without times; None if the features give a parameter different values."""
    found: dict[str, Any] = dict(NEEDED.get(model.name, {}))
    for setting in (SETTINGS[name] for name in features if name in SETTINGS):
        own = setting.of_structures if model.structure is not None and setting.of_structures is not None else setting.example
        for name, value in own.items():
            if found.setdefault(name, value) != value:
                return None
    if model.structure is None and scheme != EXACT and not found.keys() & FRICTION_LAWS.keys():
        found.setdefault("k_t", HELD)
    return {name: value for name, value in found.items() if value is not None}


class Judge:
    """Says why features are refused; it remembers which rules settings break, as many features share them."""

    def __init__(self) -> None:
        """Start empty."""
        self.broken: dict[tuple[str, tuple[str, ...], bool, str], str] = {}

    def why_not(self, features: Sequence[str], model: Model, scheme: str) -> str | None:
        """The reason why a study with some features is refused; empty if it works, None if no study could say them together."""
        given = example_of(features, model, scheme)
        uses = [name for name in features if name in USES]
        if given is None or sum(USES[name].alone for name in uses) > 1 or (model.structure is not None and "rigid friction" in features):
            return None
        if scheme not in model.schemes:
            return WHY_NOT_EXACT
        lacking = [name for name in given if name != DRAW and name not in by_name(model.parameters)]
        if lacking:
            return belongs(lacking[0], model)
        uses += [other for name in uses for other in USES[name].implies if other not in uses]
        for use in uses:
            for each in found_of(use, model, [scheme], {name: name for name in given}, uses):
                return f"{USES[use].stated} {each.reason}"
        key = model.name, settings_of(features), scheme == EXACT
        engines = sorted({scheme, *(USES[name].engine(model, scheme) for name in uses)})
        if any((*key, engine) not in self.broken for engine in engines):
            self.learn([features], model, scheme, engines)
        return next((self.broken[*key, engine] for engine in engines if self.broken[*key, engine]), "")

    def learn(self, many: Iterable[Sequence[str]], model: Model, scheme: str, engines: Sequence[str]) -> None:
        """Remember the sentence of the first rule that the settings of each of many features break with each of the schemes `engines`."""
        known = by_name(model.parameters)
        rows: dict[tuple[str, ...], dict[str, Any]] = {}
        for features in many:
            given = {name: value for name, value in (example_of(features, model, scheme) or {}).items() if name != DRAW}
            if given.keys() <= known.keys():
                rows[settings_of(features)] = {**TIME, **given}
        columns, absent = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for name in dict.fromkeys(itertools.chain.from_iterable(rows.values())):
            values = [row.get(name) for row in rows.values()]
            absent[name] = np.array([value is None for value in values])
            if name in model.tables:
                columns[name] = padded([() if value is None else value for value in values])
            else:
                columns[name] = np.array([np.nan if value is None else value for value in values], float)
        with np.errstate(all="ignore"):
            resolved = model.resolve(columns, {name: mask for name, mask in absent.items() if mask.any()})
            for engine in engines:
                first = [""] * len(rows)
                for rule in reversed(model.rules):
                    for row in np.flatnonzero(np.broadcast_to(rule.broken(resolved, engine), (len(rows),))):
                        first[row] = rule.sentence
                self.broken |= {(model.name, settings, scheme == EXACT, engine): why for settings, why in zip(rows, first, strict=True)}


def settings_of(features: Iterable[str]) -> tuple[str, ...]:
    """Those of some features that parameters say."""
    return tuple(name for name in features if name in SETTINGS)


def combinations(models: Mapping[str, Model], schemes: Iterable[str] = SCHEMES) -> list[Combination]:
    """Every feature on every model with every scheme, and each two of them that work alone."""
    found, judge = list[Combination](), Judge()
    for name, scheme in itertools.product(models, schemes):
        model = models[name]
        able = list(FEATURES)
        for size in (1, 2):
            many = list(itertools.combinations(able, size))
            if scheme in model.schemes:
                judge.learn(many, model, scheme, sorted({scheme, *(use.engine(model, scheme) for use in USES.values())}))
            whys = {features: judge.why_not(features, model, scheme) for features in many}
            found += [Combination(features, name, scheme, why) for features, why in whys.items() if why is not None]
            able = [features[0] for features, why in whys.items() if why == ""] if size == 1 else []
    return found


def summary(found: Iterable[Combination]) -> list[dict[str, str]]:
    """The table of combinations: each feature with the models and schemes that have it, and what it does not go together with.

    Two features that are not named together go together wherever each of them works.
    """
    outcomes: dict[tuple[str, ...], dict[str, dict[str, list[str]]]] = {}
    for each in found:
        outcomes.setdefault(each.features, {}).setdefault(each.why, {}).setdefault(each.model, []).append(each.scheme)
    rows = []
    for first in FEATURES:
        for features in sorted((key for key in outcomes if key[0] == first), key=lambda key: (len(key), key)):
            for why in sorted(outcomes[features], key=lambda why: (why != "", why)):
                if why or len(features) == 1:
                    rows += grouped(features, why, outcomes[features][why])
    return rows


def grouped(features: tuple[str, ...], why: str, schemes: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """The rows of one outcome: models with the same schemes together."""
    models: dict[tuple[str, ...], list[str]] = {}
    for model, names in schemes.items():
        models.setdefault(tuple(names), []).append(model)
    return [
        {
            "feature": features[0],
            "with": ", ".join(features[1:]),
            "models": ", ".join(names),
            "schemes": scheme_words(of),
            "works": "no" if why else "yes",
            "why not": why,
        }
        for of, names in models.items()
    ]


def scheme_words(names: tuple[str, ...]) -> str:
    """Names of schemes, or one word for all of them and for all time schemes."""
    return {tuple(SCHEMES): "all", TIME_SCHEMES: "all time schemes"}.get(names, ", ".join(names))
