"""The grammar of a study as JSON Schema, from the data that validation uses, so that editors complete and check TOML files.

It covers sections, keys, types, words, and bounds of single values. What depends on several keys, on files or on the model, only
tribosweep checks.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import SCHEMES
from tribosweep.sweep.cli.topics import default_of, listed_models
from tribosweep.sweep.design.axis import DRAW, INTEGER, RECORD, SCHEME
from tribosweep.sweep.design.distributions import DISTRIBUTIONS
from tribosweep.sweep.io.units import in_unit
from tribosweep.sweep.io.values import DEFAULT, written
from tribosweep.sweep.study.branches import Branches
from tribosweep.sweep.study.calibration import Calibrate
from tribosweep.sweep.study.optimise import Optimise
from tribosweep.sweep.study.schema import TIME_KEYS, WINDOW, Document, Range
from tribosweep.sweep.study.schema_structure import OF_A_FILE, TABLE
from tribosweep.sweep.study.value_types import TEXT, UNIT, Schema, bounded, either, list_of, one_of

AFTER = r"(1/)?[^0-9.\s+-].*$"  # a unit
WITH_UNIT = rf"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*{AFTER}"
NAMED = r"\[[^\]]+\]"  # of a support, a load or a mode: its name in brackets
# units that parameters may be mistaken for; those of another quantity than a parameter's are refused where they stand alone
COMMON = (
    "kg", "mg", "t", "lb", "m", "mm", "cm", "um", "nm", "km", "in", "ft", "s", "ms", "us", "min", "h", "Hz", "kHz", "MHz", "rpm",
    "rad/s", "rad", "deg", "%", "N", "mN", "kN", "MN", "lbf", "Pa", "kPa", "MPa", "GPa", "bar", "psi", "W", "mW", "kW", "J", "mJ", "kJ",
    "m/s", "mm/s", "km/h", "m/s^2", "mm/s^2", "g", "N/m", "kN/m", "MN/m", "N/mm", "kN/mm", "N s/m", "N*s/m", "kN s/m", "N m", "m^2",
    "mm^2", "m^3", "mm^3", "1/s", "1/Pa", "V", "A", "K",
)  # fmt: skip
NUMBER: Schema = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": WITH_UNIT}]}


def table(properties: Mapping[str, Schema], descriptions: Mapping[str, str] | None = None, required: Iterable[str] = ()) -> Schema:
    """A table that has no other keys."""
    told = {key: {**each, **({"description": descriptions[key]} if descriptions else {})} for key, each in properties.items()}
    return {"type": "object", "properties": told, "additionalProperties": False, "required": list(required)}


class AnyStudy(Document):
    """A study of any command."""

    calibration: Calibrate | None = None
    optimise: Optimise | None = None
    branches: Branches | None = None


@functools.cache
def pattern_of(unit: str) -> str:
    """The pattern of a number with a unit that may be converted to `unit`: any but the COMMON ones of other quantities.

    What can be converted is without end (kN/mm, lbf/in, ...), so that it is the other way round: nothing right is refused.
    """
    wrong = []
    for each in COMMON:
        try:
            in_unit(f"1 {each}", unit)
        except ValueError:
            wrong.append(re.escape(each).replace("\\ ", " ").replace("\\%", "%").replace("\\/", "/"))
    head, tail = WITH_UNIT[: -len(AFTER)], AFTER
    return f"{head}(?!(?:{'|'.join(wrong)})\\s*$){tail}"


def of_quantity(q: Quantity) -> Schema:
    """The values of a parameter: a number or a text with a unit, a whole number, a word, or a list."""
    if q.name == RECORD:
        return {"type": ["string", "integer"]}
    if q.kind == "word":
        return one_of(q.words)
    single = tidy(bounded(q))
    return list_of(single) if q.kind == "list" else single


def name_of(unit: str) -> str:
    """The name of the definition of texts with a unit: "In.N_per_m"."""
    words = {"/": "_per_", "^": "", " ": "_", "*": "_", "%": "percent"}
    return "In." + "".join(words.get(letter, letter if letter.isalnum() else "") for letter in unit)


def described(q: Quantity, form: Schema) -> Schema:
    """A form with the description, the unit and the default of its parameter."""
    unit = f" [{q.unit}]" if q.unit_suffix else ""
    default = f"; default {default_of(q)}" if q.default is not None or q.default_rule else ""
    plain = q.default is not None and not q.default_rule
    return {"description": f"{q.description}{unit}{default}", **form, **({"default": written(q, q.default)} if plain else {})}


def parameters() -> dict[str, Quantity]:
    """All parameters of all models and of [excitation], by name; NAME[SUPPORT] stands for that of any support."""
    draw = Quantity(DRAW, "", "number of a random draw of [excitation.random]", kind="integer", default=0.0, lower=0.0)
    basis = Quantity("basis", "", "modal basis of the row, by its file's name", default_rule="the first")
    found = {DRAW: draw, "basis": basis}
    for model in reversed(listed_models().values()):
        found |= {q.name: q for q in model.parameters}
    return found


def axis_of(form: Schema) -> Schema:
    """An axis of a parameter: a list, a range or a distribution."""
    keys = Range.model_json_schema(by_alias=True)["properties"]
    ends = {key: {**form, "description": keys[key]["description"]} for key in ("from", "to")}
    count = {"type": "integer", "minimum": 1, "description": keys["count"]["description"]}
    spacing = {**one_of(("linear", "log", INTEGER)), "description": keys["spacing"]["description"]}
    listed = list_of(either(form, {"const": DEFAULT}), 1)
    return either(listed, table({**ends, "count": count, "spacing": spacing}, required=ends), {"$ref": "#/$defs/Distribution"})


def named_tables(forms: Mapping[str, Schema]) -> Schema:
    """A table with one key for each name; NAME[SUPPORT] becomes a pattern."""
    plain = {name: each for name, each in forms.items() if "[" not in name}
    patterns = {f"^{re.escape(name.partition('[')[0])}{NAMED}$": each for name, each in forms.items() if "[" in name}
    return {"type": "object", "properties": plain, "patternProperties": patterns, "additionalProperties": False}


def of_document() -> tuple[Schema, dict[str, Schema]]:
    """The schema of a study and its definitions, as pydantic has them."""
    whole = tidy(AnyStudy.model_json_schema(by_alias=True))
    return whole, whole.pop("$defs")


def tidy(schema: Any) -> Any:
    """A schema of pydantic without titles and null, whose numbers may be texts with units."""
    if isinstance(schema, list):
        return [tidy(each) for each in schema if each != {"type": "null"}]
    if not isinstance(schema, dict):
        return schema
    if (unit := schema.get(UNIT)) is not None:
        words = {key: schema[key] for key in ("description", "default") if schema.get(key) is not None}
        if not unit:
            return {**NUMBER, **words}
        number = {key: value for key, value in schema.items() if key not in (UNIT, "title", *words)}
        return {**either(number, {"$ref": f"#/$defs/{name_of(unit)}"}), **words}
    left = {
        key: {name: tidy(inner) for name, inner in value.items()} if key in ("properties", "$defs") else tidy(value)
        for key, value in schema.items()
        if not (key == "title" and not isinstance(value, dict)) and not (key == "default" and value in (None, {}, []))
    }
    forms = left.get("anyOf", [])
    return {**{key: value for key, value in left.items() if key != "anyOf"}, **forms[0]} if len(forms) == 1 else left


def study_schema() -> Schema:
    """The JSON Schema (draft 7, which editors of TOML read) of a study or a calibration."""
    whole, shapes = of_document()
    known = parameters()
    forms = {name: TEXT if name == "basis" else of_quantity(q) for name, q in known.items()}
    timed = {name: form for name, form in forms.items() if name in TIME_KEYS}
    for name, form in timed.items():
        if name not in WINDOW:
            shapes["Time"]["properties"][name] = described(known[name], form)
    for part, suffix in (("SupportTable", "SUPPORT"), ("LoadTable", "LOAD")):
        for key in shapes[part]["properties"]:
            if (q := known.get(f"{key}[{suffix}]")) is not None:
                shapes[part]["properties"][key] = described(q, of_quantity(q))
    models = listed_models()
    shapes["Study"]["properties"]["model"] |= one_of(models)
    given = {name: described(known[name], form) for name, form in forms.items() if name not in TIME_KEYS}
    given |= {name: {**TEXT, "description": OF_A_FILE} for name in (TABLE, f"{TABLE}[LOAD]")}
    shapes |= {
        name_of(unit): {"type": "string", "pattern": pattern_of(unit)} for unit in sorted({q.unit for q in known.values() if q.unit})
    }
    alike: dict[str, str] = {}  # parameters of the same values share the definition of their axes
    for name, form in forms.items():
        alike.setdefault(json.dumps(form), name)
    shapes |= {f"Axis.{name}": axis_of(forms[name]) for name in alike.values()}
    axes = {
        name: {"description": known[name].description, "allOf": [{"$ref": f"#/$defs/Axis.{alike[json.dumps(form)]}"}]}
        for name, form in forms.items()
    }
    axes[SCHEME] = {"description": "schemes that compute the same points", **list_of(one_of((*SCHEMES, DEFAULT)), 1)}
    shapes["Sweep"]["properties"]["axes"] |= named_tables(axes)
    shapes["Distribution"] = distribution()
    whole["properties"]["parameters"] = {"description": "[parameters]: what is not swept", **named_tables(given)}
    sweep = {"$ref": "#/$defs/Sweep"}
    whole["properties"]["sweep"] = {"description": "[sweep] or several [[sweep]]: the points", **either(sweep, list_of(sweep, 1))}
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Study of tribosweep"}
    return {**head, **whole, "$defs": shapes}


def distribution() -> Schema:
    """A distribution of an axis: its word, and the keys of any of them."""
    keys = dict.fromkeys(key for names in DISTRIBUTIONS.values() for key in names.split(", "))
    properties: dict[str, Schema] = dict.fromkeys(keys, NUMBER)
    properties |= {"values": {"type": "array", "minItems": 1}, "weights": list_of({"type": "number", "minimum": 0})}
    words = {"distribution": one_of(DISTRIBUTIONS), "times": list_of(NUMBER, 1), "spacing": one_of(("linear", "log"))}
    either_key = [{"required": ["distribution"]}, {"required": ["times"]}]
    return {**table({**words, **properties}), "anyOf": either_key}


def as_text() -> str:
    """The schema as the text of a file."""
    return json.dumps(study_schema(), indent=1, ensure_ascii=False) + "\n"
