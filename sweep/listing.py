"""`tribosweep list`: models, parameters, schemes, observables, rules and designs, from the source that validation uses."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from kernels.models import MODELS
from kernels.quantity import Quantity
from kernels.schemes import SCHEMES
from sweep.design import DESIGNS
from sweep.terminal import emit, print_json, print_table

PROSE = ("schemes", "description", "default", "parameters", "rule")


class Topic(StrEnum):
    """What can be listed."""

    models = "models"
    parameters = "parameters"
    schemes = "schemes"
    observables = "observables"
    rules = "rules"
    designs = "designs"


def rows_of(topic: Topic) -> list[dict[str, Any]]:
    """The entries of a topic, one dict each."""
    if topic is Topic.models:
        return [{"model": model.name, "schemes": ", ".join(model.schemes), "description": model.description} for model in MODELS.values()]
    if topic is Topic.schemes:
        return [{"scheme": s.name, "reads": ", ".join(s.reads) or "-", "description": s.description} for s in SCHEMES.values()]
    if topic is Topic.designs:
        return [{"design": name, "description": description} for name, description in DESIGNS.items()]
    if topic is Topic.rules:
        return [
            {"parameters": ", ".join(rule.parameters), "rule": rule.sentence, "model": m.name} for m in MODELS.values() for rule in m.rules
        ]
    if topic is Topic.observables:
        return [
            {"observable": q.name, "unit": q.unit, "description": meaning_of(q), "model": m.name}
            for m in MODELS.values()
            for q in m.observables
        ]
    return [
        {"parameter": q.name, "unit": q.unit, "default": default_of(q), "bounds": q.bounds, "description": q.description, "model": m.name}
        for m in MODELS.values()
        for q in m.parameters
    ]


def meaning_of(quantity: Quantity) -> str:
    """The description of an observable, with its words where it has them."""
    return f"{quantity.description}: {', '.join(quantity.words)}" if quantity.words else quantity.description


def default_of(quantity: Quantity) -> str:
    """The default of a parameter: its value, or how it is derived."""
    return quantity.default_rule or f"{quantity.default:.7g}"


def print_topics(topics: list[Topic], as_json: bool) -> None:
    """Print topics on stdout, as tables or as one JSON object."""
    listed = {topic.value: rows_of(topic) for topic in topics}
    if as_json:
        print_json(listed)
        return
    for title, rows in listed.items():
        print_table(title, list(rows[0]), [list(row.values()) for row in rows], prose=PROSE)
        emit("")
