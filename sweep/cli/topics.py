"""`tribosweep list`: models, parameters, observables, rules, designs and so on, from the data that validation uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from tribosweep.kernels.models import MODELS, SINGLE_RULES, Model
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.naming import nearest_spelling
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import SCHEMES
from tribosweep.kernels.models.status import RESULTS, Status
from tribosweep.kernels.models.structure_model import BODY, STRUCTURE
from tribosweep.kernels.models.structures import CENTRE, Load, Structure, body_basis
from tribosweep.kernels.models.supports import RING, Support
from tribosweep.sweep.cli.shared import EXIT_STATUSES
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say
from tribosweep.sweep.design.designs import ABOUT_CONCATENATION, CONCATENATION, DESIGNS
from tribosweep.sweep.design.distributions import DISTRIBUTIONS, LAWS
from tribosweep.sweep.design.sensitivity import SAMPLERS
from tribosweep.sweep.io import shipped
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.io.toml import inline
from tribosweep.sweep.io.values import written
from tribosweep.sweep.study.load_tables import file_keys
from tribosweep.sweep.study.schema import EXCITATION, OUTPUT, PARTS, Range, Study, Sweep, Time
from tribosweep.sweep.study.schema import STRUCTURE as STRUCTURE_KEYS
from tribosweep.sweep.study.value_types import TableSchema

PROSE = ("why not", "schemes", "description", "default", "parameters", "rule", "models", "status")
LIKE = 0.7  # similarity of spelling of a word and the name that it may mean
KINDS = {"float": "number", "integer": "integer", "word": "word", "list": "list"}
Thing = TypeVar("Thing")


def listed_models() -> dict[str, Model]:
    """All models; a body and a structure have a support SUPPORT, a load LOAD, a mode 0 and a point POINT, in place of those of a study."""
    parts: dict[str, Any] = {"supports": [Support("SUPPORT", "POINT", RING)], "loads": [Load("LOAD", channel=0)]}
    shapes = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    points = {"POINT": shapes, "OTHER": 0.5 * shapes}
    basis = Basis(np.ones(2), np.ones(2), np.zeros(2), points, shapes, {"POINT": 0.0, "OTHER": 1.0})
    structure = Structure(basis, **parts, observed=("POINT",), peak_edges=(0.0, 1.0), modal_energies=True, own_modes=(0,))
    body = Structure(body_basis(), [replace(parts["supports"][0], point=CENTRE)], parts["loads"], body=True, peak_edges=(0.0, 1.0))
    return {**MODELS, BODY: body.model, STRUCTURE: structure.model}


class Topic(StrEnum):
    """The topics that can be listed."""

    studies = "studies"
    models = "models"
    parameters = "parameters"
    schemes = "schemes"
    observables = "observables"
    rules = "rules"
    designs = "designs"
    study = "study"
    time = "time"
    sweep = "sweep"
    axes = "axes"
    output = "output"
    calibration = "calibration"
    optimise = "optimise"
    branches = "branches"
    excitation = "excitation"
    structures = "structures"
    combinations = "combinations"
    statuses = "statuses"
    exits = "exits"


def studies() -> list[dict[str, Any]]:
    """The studies that come with tribosweep."""
    return [{"study": name, "description": shipped.about(name)} for name in shipped.names()]


def models() -> list[dict[str, Any]]:
    """The models."""
    return [{"model": m.name, "schemes": ", ".join(m.schemes), "description": m.description} for m in listed_models().values()]


def parameters() -> list[dict[str, Any]]:
    """The parameters of all models, and the keys that name a file in place of two of them."""
    files = shared(lambda model: list(file_keys(model).items()))
    return [
        {
            "parameter": q.name,
            "unit": q.unit,
            "kind": KINDS[q.kind],
            "default": default_of(q),
            "bounds": bounds_of(q),
            "description": q.description,
            "models": models,
        }
        for q, models in shared(lambda model: model.parameters)
    ] + [
        {"parameter": name, "unit": "", "kind": "file", "default": "-", "bounds": "", "description": about, "models": models}
        for (name, about), models in files
    ]


def schemes() -> list[dict[str, Any]]:
    """The schemes."""
    return [{"scheme": s.name, "reads": ", ".join(s.reads) or "-", "description": s.description} for s in SCHEMES.values()]


def observables() -> list[dict[str, Any]]:
    """The observables of all models."""
    return [
        {"observable": q.name, "unit": q.unit, "kind": KINDS[q.kind], "description": meaning_of(q), "models": models}
        for q, models in shared(lambda model: model.observables)
    ]


def rules() -> list[dict[str, Any]]:
    """The rules between parameters."""
    return [
        {"parameters": ", ".join(rule.parameters), "rule": rule.sentence, "models": models}
        for rule, models in shared(lambda model: (*model.rules, *SINGLE_RULES))
    ]


def designs() -> list[dict[str, Any]]:
    """The designs."""
    return [{"design": name, "description": description} for name, description in {**DESIGNS, CONCATENATION: ABOUT_CONCATENATION}.items()]


def keys_in(parts: Mapping[str, type[TableSchema]]) -> list[dict[str, Any]]:
    """The keys of sections of a study, by the section's name."""
    return [
        {"key": f"{part}.{field.alias or key}".lstrip("."), "description": field.description or f"parameter {key}[NAME]"}
        for part, shape in parts.items()
        for key, field in shape.model_fields.items()
    ]


def axes() -> list[dict[str, Any]]:
    """The forms of an axis."""
    drawn = f'of a sample (design = {", ".join(SAMPLERS)}), such as {{ distribution = "normal", mean = 2.0, std = 0.1 }}; one of:'
    ranges = [{**row, "description": f"of a range {{ from, to, count, spacing }}: {row['description']}"} for row in keys_in({"": Range})]
    laws = DISTRIBUTIONS.items()
    return [
        {"key": "[...]", "description": 'the values one by one; "default" stands for the default of the parameter'},
        *ranges,
        {"key": "distribution", "description": drawn},
        *({"key": f'"{name}"', "description": f"{LAWS[name].meaning} ({keys})" if name in LAWS else keys} for name, keys in laws),
    ]


def calibration() -> list[dict[str, Any]]:
    """The keys of [calibration]."""
    from tribosweep.sweep.study.calibration import TABLES

    return keys_in(TABLES)


def optimisation() -> list[dict[str, Any]]:
    """The keys of [optimise]."""
    from tribosweep.sweep.study.optimise import TABLES

    return keys_in(TABLES)


def branching() -> list[dict[str, Any]]:
    """The keys of [branches]."""
    from tribosweep.sweep.study.branches import TABLES

    return keys_in(TABLES)


def statuses() -> list[dict[str, Any]]:
    """The statuses of rows."""
    return [{"status": each.sentence, "row": "has results" if each in RESULTS else "failed: NaN"} for each in Status]


def combinations(model: str | None = None, scheme: str | None = None) -> list[dict[str, Any]]:
    """Which models, schemes and features go together, of one model or one scheme if it is named."""
    from tribosweep.sweep.study import combinations as combined

    models = {name: each for name, each in listed_models().items() if model in (None, name)}
    return list(combined.summary(combined.combinations(models, [name for name in SCHEMES if scheme in (None, name)])))


ROWS: dict[Topic, Callable[[], list[dict[str, Any]]]] = {
    Topic.studies: studies,
    Topic.models: models,
    Topic.parameters: parameters,
    Topic.schemes: schemes,
    Topic.observables: observables,
    Topic.rules: rules,
    Topic.designs: designs,
    Topic.study: lambda: keys_in({"study": Study}),
    Topic.time: lambda: keys_in({"time": Time}),
    Topic.sweep: lambda: keys_in({"sweep": Sweep}),
    Topic.axes: axes,
    Topic.output: lambda: keys_in(OUTPUT),
    Topic.calibration: calibration,
    Topic.optimise: optimisation,
    Topic.branches: branching,
    Topic.excitation: lambda: keys_in(EXCITATION),
    Topic.structures: lambda: keys_in({**STRUCTURE_KEYS, **{f"{name}.NAME": shape for name, shape in PARTS.items()}}),
    Topic.combinations: combinations,
    Topic.statuses: statuses,
    Topic.exits: lambda: [{"exit status": str(number), "description": text} for number, text in EXIT_STATUSES.items()],
}


def rows_of(topic: Topic, model: str | None = None, scheme: str | None = None) -> list[dict[str, Any]]:
    """The entries of a topic, one dict each; those of combinations for one model or scheme if it is named."""
    return combinations(model, scheme) if topic is Topic.combinations else ROWS[topic]()


ABOUT: dict[Topic, str] = {
    Topic.studies: "the studies that come with tribosweep: run them by name, or begin your own (tribosweep init)",
    Topic.models: "what is simulated: [study] model",
    Topic.parameters: "keys of [parameters] and [sweep.axes], with units, defaults and bounds",
    Topic.schemes: "how it is computed: [study] scheme",
    Topic.observables: "what a run returns: the columns of its dataset",
    Topic.rules: "conditions between parameters",
    Topic.designs: "which points: [sweep] design",
    Topic.study: "keys of [study]: name, model, scheme, precision",
    Topic.time: "keys of [time]: end, steps, window",
    Topic.sweep: "keys of [sweep]: design, its file or count, what it looks for",
    Topic.axes: "the forms of an axis: lists, ranges, distributions",
    Topic.output: "keys of [output]: which columns",
    Topic.calibration: "keys of [calibration]",
    Topic.optimise: "keys of [optimise]",
    Topic.branches: "keys of [branches]",
    Topic.excitation: "keys of [excitation]: records and random accelerations",
    Topic.structures: "keys of [structure], [supports.NAME] and [loads.NAME]",
    Topic.combinations: "models, schemes and features: what goes together, and if not, why",
    Topic.statuses: "what the column status says of a row",
    Topic.exits: "exit statuses of the commands",
}  # topic -> what it lists


LONG = (Topic.combinations,)  # topics that take some seconds: listed only where they are named, or where everything is asked for
NARROWED = {"model": ("model", "models"), "scheme": ("scheme", "schemes")}  # option -> the columns of topics that it reads


def shared(things: Callable[[Model], Sequence[Thing]]) -> list[tuple[Thing, str]]:
    """The distinct things of all models, each with the names of its models."""
    found: dict[Thing, list[str]] = {}
    for model in listed_models().values():
        for thing in things(model):
            found.setdefault(thing, []).append(model.name)
    return [(thing, ", ".join(names)) for thing, names in found.items()]


def meaning_of(quantity: Quantity) -> str:
    """The description of an observable, with its words if it has any, and whether its value may be missing."""
    words = f": {', '.join(quantity.words)}" if quantity.words else ""
    return f"{quantity.description}{words}{' (NaN: it did not happen)' if quantity.optional else ''}"


def default_of(quantity: Quantity) -> str:
    """The default of a parameter: its value, or the rule that derives it."""
    if quantity.default_rule:
        return quantity.default_rule
    return f"{quantity.default:.7g}" if quantity.kind == "float" else inline(written(quantity, quantity.default)).strip('"')


def bounds_of(quantity: Quantity) -> str:
    """The admissible values of a parameter; for a table, those of every node."""
    if quantity.kind == "word":
        return " or ".join(quantity.words)
    return f"each {quantity.bounds}" if quantity.kind == "list" else quantity.bounds


def search(rows: list[dict[str, Any]], words: Sequence[str], model: str | None, scheme: str | None = None) -> list[dict[str, Any]]:
    """The rows in which all words occur, in any case, and which are of a model and of a scheme if one is named."""
    wanted = [word.casefold() for word in words]
    return [
        row
        for row in rows
        if all(word in " ".join(map(str, row.values())).casefold() for word in wanted)
        and (model is None or model in str(row.get("models", row.get("model", ""))).split(", "))
        and (scheme is None or scheme in str(row.get("schemes", row.get("scheme", ""))).split(", "))
    ]


def check_narrowed(topic: Topic, rows: Sequence[Mapping[str, Any]], model: str | None, scheme: str | None) -> None:
    """Raise ConfigError if the rows of a topic have no models, or no schemes, to which an option could keep."""
    for option, name in (("model", model), ("scheme", scheme)):
        if name is not None and rows and not {*NARROWED[option]} & rows[0].keys():
            raise ConfigError(f"--{option}", [Problem("", f"the topic {topic.value} has no {option}s: leave --{option} out")])


def advice_on(wanted: Sequence[str], named: Sequence[Topic]) -> str:
    """What the words of a search without result may mean: a topic, or a name in the topics that were searched."""
    searched = named or [topic for topic in Topic if topic not in LONG]
    names = [] if named else [topic.value for topic in ABOUT]
    names += [str(next(iter(row.values()))) for topic in searched if topic not in LONG for row in rows_of(topic)]
    near = next(filter(None, (nearest_spelling(word, names, LIKE) for word in wanted)), "")
    if near:
        return f"; did you mean {near!r}?"
    return f"; `tribosweep list {named[0].value}` shows all" if named else f"; the topics are {', '.join(ABOUT)}"


def print_topics(words: Sequence[str], model: str | None, scheme: str | None, as_json: bool) -> None:
    """Print on stdout, as tables or as one JSON object, a topic, what a search finds, or an overview.

    Args:
        words: a topic or words to search for; words after a topic are searched in it alone.
        model, scheme: only what this model, or this scheme, has. as_json: as JSON; without words that is everything.

    Raises:
        ConfigError: nothing is found, or there is no such model or scheme.
    """
    if model is not None and model not in (models := listed_models()):
        raise ConfigError("--model", [Problem("", f"{model!r} is not a model; {advise(model, models)}")])
    if scheme is not None and scheme not in SCHEMES:
        raise ConfigError("--scheme", [Problem("", f"{scheme!r} is not a scheme; {advise(scheme, SCHEMES)}")])
    named = [Topic(words[0])] if words and words[0] in list(Topic) else []
    if not words and model is None and scheme is None and not as_json:
        print_table(
            "",
            ["topic", "entries", "what it lists"],
            [(t.value, "-" if t in LONG else str(len(rows_of(t))), ABOUT[t]) for t in ABOUT],
            ["entries"],
            ["what it lists"],
        )
        but = " and ".join(topic.value for topic in LONG)
        say(
            f"tribosweep list TOPIC shows one, tribosweep list WORD searches in all of them but {but}, which takes some seconds "
            f"(tribosweep list {but} WORD), --model NAME and --scheme NAME keep to one."
        )
        return
    wanted = words[1:] if named else words
    everywhere = [topic for topic in Topic if topic not in LONG or not (wanted or model or scheme)]
    listed = {topic.value: search(rows_of(topic, model, scheme), wanted, model, scheme) for topic in named or everywhere}
    if named:
        check_narrowed(named[0], listed[named[0].value] or rows_of(named[0]), model, scheme)
    if wanted or model is not None or scheme is not None:
        listed = {title: rows for title, rows in listed.items() if rows}
    if not listed:
        sought = " and ".join(map(repr, [*wanted, *(each for each in (model, scheme) if each is not None)]))
        raise ConfigError("tribosweep list", [Problem("", f"nothing has {sought}{advice_on(wanted, named)}")])
    if as_json:
        print_json(listed)
        return
    for title, rows in listed.items():
        print_table(title, list(rows[0]), [list(row.values()) for row in rows], prose=PROSE)
        emit("")
