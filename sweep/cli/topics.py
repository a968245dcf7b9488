"""`tribosweep list`: models, parameters, observables, rules, designs and so on, from the data that validation uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from kernels.models import MODELS, SINGLE_RULES, Model
from kernels.models.basis import Basis
from kernels.models.quantity import Quantity
from kernels.models.schemes import SCHEMES
from kernels.models.status import RESULTS, Status
from kernels.models.structure_model import BODY, STRUCTURE
from kernels.models.structures import CENTRE, Load, Structure, body_basis
from kernels.models.supports import RING, Support
from sweep.cli.shared import EXIT_STATUSES
from sweep.cli.terminal import emit, print_json, print_table
from sweep.design.designs import ABOUT_CONCATENATION, CONCATENATION, DESIGNS
from sweep.io import shipped
from sweep.io.toml import inline
from sweep.io.values import written
from sweep.study.schema import EXCITATION, PARTS, TableSchema
from sweep.study.schema import STRUCTURE as STRUCTURE_KEYS

PROSE = ("schemes", "description", "default", "parameters", "rule", "models", "status")
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
    excitation = "excitation"
    structures = "structures"
    statuses = "statuses"
    exits = "exits"


def studies() -> list[dict[str, Any]]:
    """The studies that come with tribosweep."""
    return [{"study": name, "description": shipped.about(name)} for name in shipped.names()]


def models() -> list[dict[str, Any]]:
    """The models."""
    return [{"model": m.name, "schemes": ", ".join(m.schemes), "description": m.description} for m in listed_models().values()]


def parameters() -> list[dict[str, Any]]:
    """The parameters of all models."""
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
        {"key": f"{part}.{key}", "description": field.description or f"parameter {key}[NAME]"}
        for part, shape in parts.items()
        for key, field in shape.model_fields.items()
    ]


def statuses() -> list[dict[str, Any]]:
    """The statuses of rows."""
    return [{"status": each.sentence, "row": "has results" if each in RESULTS else "failed: NaN"} for each in Status]


ROWS: dict[Topic, Callable[[], list[dict[str, Any]]]] = {
    Topic.studies: studies,
    Topic.models: models,
    Topic.parameters: parameters,
    Topic.schemes: schemes,
    Topic.observables: observables,
    Topic.rules: rules,
    Topic.designs: designs,
    Topic.excitation: lambda: keys_in(EXCITATION),
    Topic.structures: lambda: keys_in({**STRUCTURE_KEYS, **{f"{name}.NAME": shape for name, shape in PARTS.items()}}),
    Topic.statuses: statuses,
    Topic.exits: lambda: [{"exit status": str(number), "description": text} for number, text in EXIT_STATUSES.items()],
}


def rows_of(topic: Topic) -> list[dict[str, Any]]:
    """The entries of a topic, one dict each."""
    return ROWS[topic]()


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


def print_topics(topics: list[Topic], as_json: bool) -> None:
    """Print topics on stdout, as tables or as one JSON object."""
    listed = {topic.value: rows_of(topic) for topic in topics}
    if as_json:
        print_json(listed)
        return
    for title, rows in listed.items():
        print_table(title, list(rows[0]), [list(row.values()) for row in rows], prose=PROSE)
        emit("")
